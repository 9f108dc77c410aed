//! `framegate run`.

use crate::proxy::Folder;
use crate::started::{filled, framegate, table};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

fn run(folder: &Folder, script: &str, more: &str, arguments: &[&str], input: &str) -> Ran {
    let mut child = start(folder, script, more, arguments);
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn start(folder: &Folder, script: &str, more: &str, arguments: &[&str]) -> Child {
    let config = folder.write("config.toml", &filled(&table(script, more), folder));
    let mut command = framegate();
    command.args(["run", "--config", &config]).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn run_prints_the_translation_and_exits_with_the_runners_status() {
    let folder = Folder::new();
    let ran = run(&folder, "badly", "", &["fake", "go", "--to", "sse.v1"], "");
    assert_eq!(ran.code, Some(7), "{}", ran.err);
    assert!(ran.out.lines().count() > 3 && ran.out.lines().last().unwrap().contains("run_completed"), "{}", ran.out);
    let ran = run(&folder, "well", "", &["fake", "go", "--to", "frames.v1", "--as", "sse"], "");
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.contains("\ndata: "), "{}", ran.out);
    let ran = run(&folder, "early", "", &["fake", "go"], "");
    assert_eq!(ran.code, Some(3));
    assert!(ran.out.contains("runner_exited"), "{}", ran.out);
    let ran = run(&folder, "half", "", &["fake", "go"], "");
    assert_eq!(ran.code, Some(128 + 9));
}

#[test]
fn a_command_line_needs_no_upstream() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let recorded = std::fs::read_to_string(root.join("tests/fixtures/codex/exec-command-ok.ndjson")).unwrap();
    let of_command = |options: &[&str], script: &str, input: &str| {
        let mut command = framegate();
        command.arg("run").args(options).args(["--", "sh", "-c", script, "sh", "--flag", "{x}"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    };
    let of_codex = ["--from", "codex", "--to", "sse.v1"];
    let ran = of_command(&of_codex, "echo \"$@\" >&2; cat; exit 3", &recorded);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.out.lines().last().is_some_and(|last| last.contains("run_completed")), "{}", ran.out);
    assert!(ran.err.contains("--flag {x}"), "{}", ran.err);
    assert_eq!(of_command(&of_codex, "cat", &recorded).code, Some(0));
    // A program that is named with its arguments needs no prompt.
    let prints = format!("cat {}", root.join("tests/fixtures/codex/exec-command-ok.ndjson").display());
    let ran = of_command(&of_codex, &prints, "");
    assert!(ran.code == Some(0) && ran.out.contains("run_completed"), "{}{}", ran.out, ran.err);
    for (options, expected) in [(&[][..], "--from <RUNNER>"), (&["--from", "codex", "claude"], "cannot be used with")] {
        let ran = of_command(options, "cat", "");
        assert!(ran.code == Some(2) && ran.err.contains(expected), "{}", ran.err);
    }
    let output = framegate().args(["run", "--from", "codex"]).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.code() == Some(2) && String::from_utf8_lossy(&output.stderr).contains("COMMAND"));
}

#[test]
fn closing_the_output_ends_the_runner_and_is_no_success() {
    let folder = Folder::new();
    let mut child = start(&folder, "flood", "", &["fake", "go"]);
    drop(child.stdin.take());
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.code().is_some_and(|code| code != 0 && code != 2), "{:?}", output.status);
    assert!(String::from_utf8_lossy(&output.stderr).contains("framegate: "), "{output:?}");
}

#[test]
fn the_prompt_can_be_piped() {
    let folder = Folder::new();
    let ran = run(&folder, "echo", "", &["fake"], "from a pipe");
    assert!(ran.out.contains("from a pipe|"), "{}", ran.out);
    let ran = run(&folder, "echo", "", &["fake", "-"], "from a pipe");
    assert!(ran.out.contains("from a pipe|"), "{}", ran.out);
}

#[test]
fn a_run_that_cannot_be_started_is_reported() {
    let folder = Folder::new();
    let ran = run(&folder, "nothing", "", &["fake", "go"], "");
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""), "{}", ran.err);
    assert!(ran.err.contains("exited with status 4 before it began a run"), "{}", ran.err);
    for (arguments, expected) in [
        (vec!["fak", "go"], "did you mean \"fake\"?"),
        (vec!["fake", ""], "the prompt is empty"),
        (vec!["fake", "go", "--session", "s"], "cannot continue sessions"),
        (vec!["fake", "go", "--cwd", "/no/such"], "cannot use /no/such"),
        (vec!["fake", "go", "--mode", "plan"], "--mode: without a preset, the arguments must contain {mode}"),
    ] {
        let ran = run(&folder, "well", "", &arguments, "");
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(expected), "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn a_signal_interrupts_the_run() {
    let folder = Folder::new();
    let mut child = start(&folder, "hang", "", &["fake", "go", "--to", "frames.v2"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    assert!(first.contains("session_started"), "{first}");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("a signal interrupted the run"), "{rest}");
    assert_eq!(child.wait().unwrap().code(), Some(128 + 2));
}
