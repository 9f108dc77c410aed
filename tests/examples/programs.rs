//! The Rust programs in `examples/`, run on recordings. `cargo test` builds them; `cargo test --test examples` alone does not.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What an example writes for a recording.
fn output(example: &str, recording: &str) -> String {
    output_for(example, Stdio::from(std::fs::File::open(Path::new("tests/fixtures").join(recording)).unwrap()))
}

fn output_for(example: &str, input: Stdio) -> String {
    let target = Path::new(env!("CARGO_BIN_EXE_framegate")).parent().unwrap();
    let program = target.join("examples").join(example);
    assert!(program.exists(), "{} is missing: run cargo build --examples", program.display());
    let output = Command::new(program).stdin(input).output().unwrap();
    assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_decoder_translates_its_own_format() {
    let (input, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"{\"say\":\"Hi\"}\n{\"say\":\" there\"}\n{\"done\":true}\n").unwrap();
    drop(writer);
    let events = output_for("decoder", Stdio::from(input));
    let events: Vec<serde_json::Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let deltas = events.iter().filter_map(|event| event["delta"].as_str());
    assert_eq!(deltas.collect::<String>(), "Hi there");
    assert_eq!(events.last().unwrap()["reason"], "completed");
}

#[test]
fn the_encoder_writes_an_event_for_each_tool() {
    let events = output("encoder", "claude-code/bash_ok.partial.ndjson");
    let kinds: Vec<serde_json::Value> =
        events.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["kind"].take()).collect();
    assert_eq!(kinds, ["began", "ended"]);
}

#[test]
fn the_filter_writes_the_answer() {
    let answer = "Hello. This is a plain answer with no tools.\n\nSecond paragraph.\n";
    assert_eq!(output("filter", "codex/exec-text-plain.ndjson"), answer);
}

#[test]
fn examples_are_short() {
    for example in std::fs::read_dir("examples").unwrap() {
        let path = example.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines < 40, "{} has {lines} lines; an example has fewer than 40", path.display());
        }
    }
}
