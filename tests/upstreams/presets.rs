//! `framegate run` and `serve` with presets: the environment of the runners, and the results of failures and interruptions.

use crate::proxy::Folder;
use crate::started::{Started, framegate};
use serde_json::json;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};

/// All names of the presets, and the program of each.
const NAMES: [(&str, &str); 7] = [
    ("claude-code", "claude"),
    ("claude", "claude"),
    ("codex-exec", "codex"),
    ("codex", "codex"),
    ("codex-app-server", "codex"),
    ("opencode-run", "opencode"),
    ("opencode", "opencode"),
];

/// A folder with programs that have the runners' names.
fn programs() -> Folder {
    let folder = Folder::new();
    for name in ["claude", "codex", "opencode"] {
        let fake = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstreams/fake/presets.sh");
        std::os::unix::fs::symlink(fake, folder.path(name)).unwrap();
    }
    folder
}

fn command(folder: &Folder, fake: &str, arguments: &[&str]) -> Command {
    let path = format!("{}:{}", folder.path("").display(), std::env::var("PATH").unwrap());
    let mut command = framegate();
    command.args(["run", "--config", "/dev/null"]).args(arguments).env("PATH", path).env("FAKE", fake);
    command.env("ANTHROPIC_API_KEY", "of-anthropic").env("OPENAI_API_KEY", "of-openai").env("UNRELATED", "unrelated");
    command.env("CODEX_HOME", "/codex").env("XDG_CONFIG_HOME", "/xdg").env_remove("FRAMEGATE_LOG");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn ran(folder: &Folder, fake: &str, name: &str) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command(folder, fake, &[name, "go", "--to", "sse.v1"]).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn a_preset_is_found_by_name_or_program_and_passes_the_whole_environment() {
    let folder = programs();
    for (name, _) in NAMES {
        let (code, out, err) = ran(&folder, "works", name);
        assert_eq!(code, Some(0), "{name}: {err}{out}");
        assert!(out.contains("run_completed"), "{name}: {out}");
        if name != "codex-app-server" {
            assert!(out.contains("of-anthropic|of-openai|/codex|/xdg|unrelated"), "{name}: {out}");
        }
    }
    let output = command(&folder, "works", &["cluade", "go"]).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && err.contains("did you mean \"claude\"?"), "{err}");
}

#[test]
fn a_failed_run_is_reported_although_its_program_exited_with_0() {
    let folder = programs();
    for (name, _) in NAMES {
        let (code, out, err) = ran(&folder, "fails", name);
        assert_eq!(code, Some(1), "{name}: {err}{out}");
        assert!(out.contains("run_failed"), "{name}: {out}");
        assert!(err.contains("framegate: the run failed"), "{name}: {err}");
        assert!(err.contains("framegate: the last records of the runner's output:\n"), "{name}: {err}");
    }
    let (_, _, err) = ran(&folder, "fails", "claude");
    assert_eq!(
        err.matches("claude: the key is wrong\n").count(),
        2,
        "once when printed, and once in the summary: {err}"
    );
    assert!(err.contains("the last lines of the runner's standard error:\n  claude: the key is wrong\n"), "{err}");
    assert!(
        err.matches("Invalid API key. Please run /login").count() >= 2,
        "once as the reason, and once in the record: {err}"
    );
    let (_, _, err) = ran(&folder, "fails", "codex");
    assert!(err.contains("framegate: record 3 of the runner at byte "), "{err}");
    assert!(
        err.contains("not JSON") && err.contains("  no record at all\n") && err.contains("401 Unauthorized"),
        "{err}"
    );
}

fn started(folder: &Folder, name: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = command(folder, "hangs", &[name, "go", "--to", "frames.v2"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    assert!(!first.is_empty(), "{name}");
    (child, lines)
}

#[test]
fn an_interruption_sets_the_exit_code_whatever_the_program_exits_with() {
    let folder = programs();
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        for name in ["codex-exec", "codex-app-server", "opencode-run"] {
            let (mut child, mut lines) = started(&folder, name);
            let mut seen = String::new();
            while !seen.contains("turn_started") {
                assert_ne!(lines.read_line(&mut seen).unwrap(), 0, "{name}: {seen}");
            }
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
            lines.read_to_string(&mut seen).unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(code), "{name}: {seen}");
            assert!(seen.contains("session_ended"), "{name}: {seen}");
        }
    }
}

#[test]
fn a_preset_under_serve_passes_only_the_variables_its_runner_needs() {
    let folder = programs();
    for (preset, program, expected) in [
        ("claude-code", "claude", "of-anthropic|||/xdg|"),
        ("codex-exec", "codex", "|of-openai|/codex|/xdg|"),
        ("opencode-run", "opencode", "of-anthropic|of-openai||/xdg|"),
    ] {
        for (more, expected) in [
            ("", expected),
            ("pass_environment = [\"PATH\"]\n", "||||"),
            ("pass_environment = [\"*\"]\n", "of-anthropic|of-openai|/codex|/xdg|unrelated"),
        ] {
            let program = folder.path(program);
            let table = format!(
                "[[upstream]]\nname = \"fake\"\nkind = \"command\"\npreset = \"{preset}\"\nprogram = \"{}\"\n{more}",
                program.display()
            );
            let started = Started::with(
                &table,
                &[
                    ("ANTHROPIC_API_KEY", "of-anthropic"),
                    ("OPENAI_API_KEY", "of-openai"),
                    ("CODEX_HOME", "/codex"),
                    ("XDG_CONFIG_HOME", "/xdg"),
                    ("UNRELATED", "unrelated"),
                ],
            );
            let run = started.run_of(&json!({"upstream": "fake", "prompt": "go"}));
            let status = started.wait_for_end(&run);
            assert_eq!(status["final_text"], expected, "{preset} {more}: {status:#}");
        }
    }
}
