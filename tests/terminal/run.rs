//! `framegate run` on a terminal.

use crate::proxy::Folder;
use crate::watch::press_until;
use crate::window::{Window, piped};

/// An upstream that plays a recording slowly, and writes to standard error meanwhile.
fn upstream(folder: &Folder, pause: &str) -> String {
    let fixture = format!("{}/tests/fixtures/claude-code/bash_ok.partial.ndjson", env!("CARGO_MANIFEST_DIR"));
    let place = folder.path("").canonicalize().unwrap();
    let place = place.to_str().unwrap();
    let script = format!(
        "#!/bin/sh\nread -r line\nprintf 'a note \\033[2J' >&2; echo >&2\nwhile IFS= read -r line; do printf '%s\\n' \"$line\"; sleep {pause}; done < {fixture}\n"
    );
    let script = folder.write("play.sh", &script);
    std::process::Command::new("chmod").args(["+x", &script]).status().unwrap();
    folder.write(
        "config.toml",
        &format!(
            "[[upstream]]\nname = \"slow\"\nkind = \"command\"\nprogram = \"{script}\"\nrunner = \"claude-code\"\ndirectories = [\"{place}\"]\n"
        ),
    )
}

#[test]
fn a_run_is_text_with_a_status_line_that_leaves_nothing_behind() {
    let folder = Folder::new();
    let config = upstream(&folder, "0.1");
    let mut window = Window::run(&["run", "--config", &config, "slow", "go"], 70, &[]);
    window.wait_for("● ");
    // The terminal becomes narrower while lines are drawn.
    window.resize(50);
    let status = window.wait();
    let text = window.text();
    assert_eq!(status.code(), Some(0), "{text}");
    assert!(text.contains("$ ") && text.contains("✓ completed") && text.contains("tokens: "), "{text}");
    // The message on standard error is above what is drawn, and does not act.
    assert!(text.contains("a note") && !text.contains("2J"), "{text}");
    assert!(!text.contains("● ") && text.lines().last().unwrap().contains("tokens"), "{text}");
    let bytes = String::from_utf8(window.bytes()).unwrap();
    assert!(bytes.contains("● ") && bytes.contains("\x1b[J") && bytes.contains("\x1b[1m"), "{bytes:?}");
}

#[test]
fn without_colours_there_is_still_a_status_line() {
    let folder = Folder::new();
    let config = upstream(&folder, "0.05");
    let mut window = Window::run(&["run", "--config", &config, "slow", "go"], 70, &[("NO_COLOR", "1")]);
    assert_eq!(window.wait().code(), Some(0));
    let bytes = String::from_utf8(window.bytes()).unwrap();
    assert!(bytes.contains("● ") && !bytes.contains("m● ") && !bytes.contains("\x1b[0m"), "{bytes:?}");
}

#[test]
fn ctrl_c_interrupts_the_run_and_leaves_nothing_behind() {
    let folder = Folder::new();
    let config = upstream(&folder, "1");
    let mut window = Window::run(&["run", "--config", &config, "slow", "go"], 70, &[]);
    window.wait_for("● ");
    window.press("\x03");
    window.press("\x03");
    let code = window.wait().code();
    assert_eq!(code, Some(130), "{}", window.text());
    assert!(!window.text().contains("● "), "{}", window.text());
}

#[test]
fn in_a_pipe_a_run_is_events_unless_text_is_asked_for() {
    let folder = Folder::new();
    let config = upstream(&folder, "0");
    let (code, out, _) = piped(&["run", "--config", &config, "slow", "go"], b"", &[]);
    assert!(code == Some(0) && out.lines().all(|line| line.starts_with('{')), "{out}");
    let (code, out, err) = piped(&["run", "--config", &config, "slow", "go", "--to", "text"], b"", &[]);
    assert!(code == Some(0) && out.contains("✓ completed") && !out.contains('\x1b'), "{out}{err}");
    assert!(err.contains("a note"), "{err}");
}

#[test]
fn keys_answer_the_questions_of_the_runner() {
    let mut window = Window::run(&["run", "demo", "Write a note and run a command"], 90, &[]);
    window.wait_for("y approve · n reject");
    assert!(!window.is_cooked());
    press_until(&mut window, "y", "✓ Edit approved");
    window.wait_until("the second question", |text| text.contains("Bash") && text.contains("y approve"));
    press_until(&mut window, "n", "✗ Bash rejected");
    assert_eq!(window.wait().code(), Some(0), "{}", window.text());
    let text = window.text();
    assert!(text.contains("✓ completed") && !text.contains("y approve"), "{text}");
    assert!(window.is_cooked());
}

#[test]
fn without_a_terminal_questions_are_decided_at_once() {
    let prompt = "Write a note and run a command";
    let ended = |out: &str| out.contains("\"type\":\"approval_resolved\"") && out.contains("session_ended");
    let (code, out, _) = piped(&["run", "demo", prompt], b"", &[]);
    assert!(ended(&out) && out.contains("no client can answer here") && out.contains("timed_out"), "{out}");
    assert_eq!(code, Some(0), "{out}");
    // What the settings say about unanswered questions holds here too.
    let (_, out, _) = piped(&["run", "demo", prompt], b"", &[("FRAMEGATE__APPROVALS__UNANSWERED", "allow")]);
    assert!(ended(&out) && out.contains("\"decision\":\"approved\"") && !out.contains("timed_out"), "{out}");
}
