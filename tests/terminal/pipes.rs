//! Text in a pipe: no colours, no status line, nothing but the text.

use crate::proxy::{Folder, recording};
use crate::window::piped;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const TRANSLATE: [&str; 5] = ["translate", "--from", "auto", "--to", "text"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TRANSLATE[..], more].concat()
}

#[test]
fn a_pipe_gets_plain_text_of_80_columns() {
    let input = recording("claude-code", "json_schema_retry.ndjson");
    let (code, out, _) = piped(&with(&[]), &input, &[("TERM", "xterm")]);
    assert_eq!(code, Some(0));
    assert!(!out.contains('\x1b') && out.contains("✓ completed"), "{out}");
    assert!(
        out.lines().any(|line| line.chars().count() > 60) && out.lines().all(|line| line.chars().count() <= 80),
        "{out}"
    );
    let edit = recording("claude-code", "edit_file.partial.ndjson");
    let (code, out, _) = piped(&with(&[]), &edit, &[("TERM", "xterm")]);
    assert!(code == Some(0) && !out.contains('\x1b') && out.contains("✓ completed") && out.contains("✎ "), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let (_, narrow, _) = piped(&with(&["--width", "40"]), &input, &[]);
    assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
}

#[test]
fn options_and_environment_decide_about_colours() {
    let input = recording("claude-code", "text_plain.ndjson");
    let has_colour = |more: &[&str], set: &[(&str, &str)]| piped(&with(more), &input, set).1.contains("\x1b[");
    assert!(has_colour(&["--color", "always"], &[]) && has_colour(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(
        has_colour(&[], &[("CLICOLOR_FORCE", "1")]) && !has_colour(&["--color", "never"], &[("CLICOLOR_FORCE", "1")])
    );
    assert!(!has_colour(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn text_is_written_while_it_comes() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
    let mut child = command.args(with(&[])).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut stdin = child.stdin.take().unwrap();
    let input = recording("claude-code", "text_multiblock.partial.ndjson");
    let (all, last) = input.split_at(input.len() - 5);
    stdin.write_all(all).unwrap();
    let mut seen = String::new();
    // The run has not ended.
    while !seen.contains("Done") && seen.lines().count() < 2 {
        seen.push_str(&lines.next().unwrap().unwrap());
        seen.push('\n');
    }
    stdin.write_all(last).unwrap();
    drop(stdin);
    assert!(lines.map(Result::unwrap).any(|line| line.contains("completed")));
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let input = recording("codex", "exec-text-200k.ndjson");
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
    let mut child =
        command.args(with(&[])).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let feed = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feed.join().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn options_that_do_not_belong_together_are_refused() {
    for (arguments, expected) in [
        (with(&["--as", "sse"]), "--as and --gate cannot be used with --to text"),
        (
            vec!["translate", "--from", "auto", "--to", "raw", "--width", "80"],
            "--width has no effect without --to text",
        ),
        (vec!["run", "demo", "x", "--to", "text", "--as", "sse"], "--as cannot be used with --to text"),
        (with(&["--width", "3"]), "20..=1000"),
    ] {
        let (code, _, err) = piped(&arguments, b"", &[]);
        assert!(code == Some(2) && err.contains(expected), "{arguments:?}: {err}");
    }
    // Text is no contract.
    let (_, out, _) = piped(&["contracts"], b"", &[]);
    assert!(!out.lines().any(|line| line.starts_with("text")), "{out}");
}

#[test]
fn a_stored_run_is_shown_as_text() {
    let folder = Folder::new();
    let db = folder.path("log.db");
    let db = db.to_str().unwrap();
    let frames = {
        let input = recording("claude-code", "edit_file.partial.ndjson");
        let (code, text, _) = piped(&with(&["--run-id", "0198aaaa-0000-7000-8000-000000000001"]), &input, &[]);
        assert_eq!(code, Some(0));
        text
    };
    let stored = {
        let settings = [("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", db)];
        let mut proxy = crate::proxy::Proxy::with(&settings);
        let input = recording("claude-code", "edit_file.partial.ndjson");
        let made = crate::client::post(proxy.address, "/v1/ingest/claude-code", &[], &input).json();
        assert!(proxy.terminate().success());
        made["runs"][0]["run_id"].as_str().unwrap().to_owned()
    };
    let (code, out, err) = piped(&["log", "--db", db, "show", &stored, "--to", "text"], b"", &[]);
    assert_eq!(code, Some(0), "{err}");
    // The same text; only the time of the end may differ.
    let without_time = |text: &str| text.lines().filter(|line| !line.contains(" · ")).collect::<Vec<_>>().join("\n");
    assert_eq!(without_time(&out), without_time(&frames));
}
