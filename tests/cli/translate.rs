//! `framegate translate`, the built binary: a filter that streams, loses nothing, and is repeatable.

use crate::program::{Scratch, binary, bytes, path, recording, run};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

const IDS: [&str; 6] = ["--run-id", "my-run", "--session-id", "my-session", "--epoch-ms", "1770000000000"];

fn translate(contract: &str, more: &[&str]) -> Vec<String> {
    let mut args = vec!["translate", "--from", "claude-code", "--to", contract];
    args.extend_from_slice(more);
    args.into_iter().map(str::to_owned).collect()
}

fn ran(contract: &str, more: &[&str], input: impl AsRef<[u8]>) -> crate::program::Ran {
    let args = translate(contract, more);
    run(&args.iter().map(String::as_str).collect::<Vec<_>>(), input)
}

fn records(events: &[Value]) -> Vec<&Value> {
    events.iter().filter(|event| event["type"] == "provider_event").collect()
}

#[test]
fn every_record_of_a_file_or_standard_input_becomes_a_provider_event() {
    for name in ["bash_ok.ndjson", "bash_unicode_ansi.partial.ndjson"] {
        let input = bytes(name);
        let lines: Vec<Value> = String::from_utf8(input.clone())
            .unwrap()
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let from_file = ran("frames.v2", &[&[&path(name)[..]], &IDS[..]].concat(), "").exits(0);
        let events = from_file.events();
        let data: Vec<&Value> = records(&events).into_iter().map(|event| &event["data"]).collect();
        assert_eq!(data, lines.iter().collect::<Vec<_>>(), "{name}");
        for more in [&["-"][..], &[]] {
            assert_eq!(ran("frames.v2", &[more, &IDS[..]].concat(), &input).exits(0).out, from_file.out);
        }
        assert_eq!(ran("raw", &[], &input).exits(0).out.as_bytes(), input, "{name}");
    }
}

#[test]
fn with_given_ids_and_time_the_output_depends_only_on_the_input() {
    let input = bytes("bash_ok.ndjson");
    for contract in framegate_translators::contracts::names_with_schemas() {
        let once = ran(contract, &IDS, &input).exits(0);
        let again = ran(contract, &IDS, &input).exits(0);
        assert_eq!(once.out, again.out, "{contract}");
    }
    let random = |more: &[&str]| ran("frames.v2", more, "{\"a\":1}\n").exits(2).events()[0]["id"].clone();
    assert_ne!(random(&[]), random(&[]), "without given ids each run must have its own");
    assert_eq!(random(&["--run-id", "x"]), random(&["--run-id", "x"]));
    assert_ne!(random(&["--run-id", "x"]), random(&["--run-id", "y"]));
}

#[test]
fn a_given_uuid_is_used_and_other_text_becomes_one() {
    let session =
        |id: &str| ran("frames.v2", &["--session-id", id], "{\"a\":1}\n").exits(2).events()[0]["session_id"].clone();
    let uuid = "019a0000-0000-7000-8000-00000000000a";
    assert_eq!(session(uuid), json!(uuid));
    assert_eq!(session("é \u{1F600}"), session("é \u{1F600}"));
    assert_ne!(session("a"), session("b"));
}

#[test]
fn an_event_is_written_before_the_next_record_arrives() {
    for (form, lead) in [("ndjson", ""), ("sse", "id: 0\ndata: "), ("list", "[\n")] {
        let mut child = binary()
            .args(translate("frames.v2", &["--as", form]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        // The first half of a record yields nothing, the second half everything.
        stdin.write_all(b"{\"n\":").unwrap();
        stdin.write_all(b"1}\n").unwrap();
        let mut got = Vec::new();
        while !got.ends_with(b"\"response_errors\":[]}") {
            let mut byte = [0];
            stdout.read_exact(&mut byte).unwrap();
            got.push(byte[0]);
        }
        let got = String::from_utf8(got).unwrap();
        let event: Value = serde_json::from_str(got.strip_prefix(lead).unwrap()).unwrap();
        assert_eq!(event["data"], json!({"n": 1}), "{form}");
        stdin.write_all(b"{\"n\":2}\n").unwrap();
        drop(stdin);
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("\"data\":{\"n\":2}"), "{form}: {rest}");
        assert_eq!(child.wait().unwrap().code(), Some(2), "the input has no run");
    }
}

#[test]
fn the_possible_start_of_a_secret_is_held_only_for_a_limited_time() {
    let mut child =
        binary().args(translate("sse.v1", &[])).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for event in [
        json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "model": "m", "content": []}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "the key is ghp_"}}),
    ] {
        let record = json!({"type": "stream_event", "event": event, "session_id": "s", "parent_tool_use_id": null});
        writeln!(stdin, "{record}").unwrap();
    }
    // The input stays open without more bytes: held text must be written after a timeout.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.find(|line| line.contains("assistant_delta")).unwrap();
    assert!(said.contains("the key is "), "{said}");
    drop(stdin);
    assert!(lines.last().unwrap().contains("run_interrupted"));
    assert!(child.wait().unwrap().success());
}

#[test]
fn all_output_forms_have_the_same_events() {
    let input = bytes("bash_ok.ndjson");
    let with = |form: &str| ran("frames.v2", &[&["--as", form], &IDS[..]].concat(), &input).exits(0);
    let lines = with("ndjson").events();
    assert!(!lines.is_empty());
    assert_eq!(with("list").json(), Value::from(lines.clone()));
    let sse = with("sse").out;
    let blocks: Vec<&str> = sse.split_terminator("\n\n").collect();
    assert_eq!(blocks.len(), lines.len());
    for (block, event) in blocks.iter().zip(&lines) {
        let (id, data) = block.split_once('\n').unwrap();
        assert_eq!(id, format!("id: {}", event["seq"]));
        assert_eq!(serde_json::from_str::<Value>(data.strip_prefix("data: ").unwrap()).unwrap(), *event);
    }
}

#[test]
fn a_log_contains_the_numbered_events_and_is_a_valid_stream() {
    let input = bytes("control_permission.partial.ndjson");
    let all = ran("pixir.v1", &IDS, &input).exits(0).events();
    let log = ran("pixir.v1", &[&["--as", "log"], &IDS[..]].concat(), &input).exits(0);
    let numbered: Vec<Value> = all.iter().filter(|event| !event["seq"].is_null()).cloned().collect();
    assert!(numbered.len() > 5 && numbered.len() < all.len());
    assert_eq!(log.events(), numbered);
    let checked = run(&["check", "--contract", "pixir.v1"], &log.out).exits(0);
    assert!(checked.out.starts_with("0 errors, "), "{}", checked.out);
    let sse = ran("pixir.v1", &[&["--as", "sse"], &IDS[..]].concat(), &input).exits(0);
    run(&["check", "--contract", "pixir.v1"], &sse.out).exits(0);
    let ids = |block: &str| block.lines().find_map(|line| line.strip_prefix("id: ")).unwrap_or("null").to_owned();
    let mut ids: Vec<String> = sse.out.split_terminator("\n\n").map(ids).collect();
    // The terminal marker has no number, but its own cursor.
    let last = numbered.last().unwrap();
    assert_eq!(ids.pop(), Some(format!("{}.end", last["seq"])));
    let seqs: Vec<String> = all.iter().map(|event| event["seq"].to_string()).collect();
    assert_eq!(ids, seqs[..seqs.len() - 1]);
    ran("sse.v1", &["--as", "log"], "").exits(2).says(&["sse.v1 has no log form", "pixir.v1"]);
}

#[test]
fn bad_records_do_not_fail_the_translation() {
    let result = format!(
        "{}\n",
        json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s", "result": "ok"})
    );
    let input = [&b"{\"a\":1}\nnot json\n\xFF\n[]\n"[..], result.as_bytes(), b"{\"cut\":"].concat();
    let ran = ran("frames.v2", &IDS, input).exits(0);
    let events = ran.events();
    let statuses: Vec<&Value> = records(&events).into_iter().map(|event| &event["status"]).collect();
    assert_eq!(statuses, ["event", "invalid_json", "invalid_json", "event", "event", "invalid_json"]);
    ran.says(&["stdin:2: record 2 at byte 8 cannot be read: not JSON", "stdin:6: record 6 at byte "]);
}

#[test]
fn an_input_without_records_gives_an_empty_output() {
    assert_eq!(ran("frames.v2", &[], "").exits(2).says(&["the input is empty"]).out, "");
    assert_eq!(ran("frames.v2", &["--as", "sse"], "\n\n").exits(2).says(&["(no records)"]).out, "");
    assert_eq!(ran("frames.v2", &["--as", "list"], "").exits(2).json(), json!([]));
}

#[test]
fn raw_returns_every_record() {
    for input in ["{\"b\": 1,  \"a\":1e2}\nnope\n", "event: x\ndata: {}\n\ndata: {\"a\":1}\n\n"] {
        assert_eq!(ran("raw", &[], input).exits(2).out, input, "the input has no run, and every byte must be returned");
    }
    ran("raw", &["--as", "sse"], "").exits(2).says(&["--as cannot be used with --to raw", "keep their framing"]);
}

#[test]
fn unreadable_files_are_named() {
    let scratch = Scratch::new("translate-missing");
    let missing = scratch.missing();
    ran("frames.v2", &[&missing], "").exits(2).says(&[&missing, "cannot read", "No such file"]);
    let directory = recording("").to_str().unwrap().to_owned();
    ran("frames.v2", &[&directory], "").exits(2).says(&[&directory, "cannot read", "directory"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_output_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = binary()
        .args(translate("frames.v2", &[&path("bash_ok.ndjson")]))
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.starts_with("error: cannot write: "), "{error}");
}

#[test]
fn unknown_names_are_answered_with_the_nearest_and_all_known_ones() {
    run(&["translate", "--from", "claude", "--to", "frames.v2"], "").exits(2).says(&["'claude'", "claude-code"]);
    ran("frame.v2", &[], "").exits(2).says(&["'frame.v2'", "frames.v1, frames.v2, sse.v1", "similar", "'frames.v2'"]);
    ran("frames.v2", &["--as", "xml"], "").exits(2).says(&["'xml'", "ndjson, sse, list, log"]);
    ran("frames.v2", &["--epoch-ms", "-1"], "").exits(2).says(&["-1"]);
    ran("frames.v2", &["--log", "loud"], "").exits(2).says(&["\"loud\"", "off, error, warn, info, debug, trace"]);
}

#[test]
fn a_closed_output_ends_the_translation_quietly() {
    let mut child = binary()
        .args(translate("frames.v2", &[]))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(b"{\"type\":\"keep_alive\"}\n").unwrap();
    stdout.read_line(&mut String::new()).unwrap();
    drop(stdout);
    // The input continues as long as it is read.
    while stdin.write_all(b"{\"type\":\"keep_alive\"}\n").is_ok() {}
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
}

#[test]
fn log_off_is_silent_and_the_json_format_is_used() {
    let input = bytes("bash_ok.ndjson");
    let quiet = ran("frames.v2", &["--log", "off"], &input).exits(0);
    assert_eq!(quiet.err, "");
    let loud = ran("frames.v2", &["--log", "info", "--log-format", "json"], &input).exits(0);
    let last: Value = serde_json::from_str(loud.err.lines().last().unwrap()).unwrap();
    assert_eq!(last["message"], "done");
    assert_eq!(last["violations"], 0, "framegate's own events must be valid");
    assert_eq!(last["records"], records(&loud.events()).len());
}

#[test]
fn the_gates_mode_does_not_change_valid_events() {
    let input = bytes("bash_ok.ndjson");
    let off = ran("frames.v2", &[&["--gate", "off"], &IDS[..]].concat(), &input).exits(0);
    assert_eq!(off.out, ran("frames.v2", &IDS, &input).exits(0).out);
    let enforced = ran("frames.v2", &[&["--gate", "enforce"], &IDS[..]].concat(), &input).exits(0);
    assert_eq!(off.out, enforced.out);
    ran("frames.v2", &["--gate", "enforced"], "").exits(2).says(&["'enforced'", "off, warn, enforce"]);
}

#[test]
fn its_own_output_passes_the_check() {
    for name in ["bash_ok.ndjson", "bash_unicode_ansi.partial.ndjson", "control_permission.ndjson"] {
        for form in ["ndjson", "sse", "list"] {
            for contract in ["frames.v2", "hecate.v1"] {
                let events = ran(contract, &["--as", form], bytes(name)).exits(0);
                let checked = run(&["check", "--contract", contract], &events.out).exits(0);
                assert!(checked.out.starts_with("0 errors, "), "{name} as {form}: {}", checked.out);
            }
        }
    }
}

#[test]
fn a_hecate_list_has_the_documents_form() {
    let list = ran("hecate.v1", &[&["--as", "list"], &IDS[..]].concat(), bytes("bash_ok.ndjson")).exits(0).json();
    let events = ran("hecate.v1", &IDS, bytes("bash_ok.ndjson")).exits(0).events();
    assert_eq!(list, json!({"object": "list", "data": events}));
    let thinking =
        |more: &[&str]| ran("hecate.v1", more, bytes("thinking_text.ndjson")).exits(0).out.contains("thinking_");
    assert!(!thinking(&[]) && thinking(&["--experimental"]));
}

#[test]
fn a_held_artifact_exists_when_it_is_announced() {
    let scratch = Scratch::new("waiting");
    let dir = scratch.missing();
    let state = json!({"status": "completed", "input": {"command": "x"}, "output": "x".repeat(100_000), "title": "",
        "metadata": {}, "time": {"start": 1, "end": 2}});
    // The piece may be the start of a secret, so its record waits for the next one.
    let record = json!({"type": "message.part.updated", "properties": {"delta": "ghp_q7ZkVx2mPt", "part": {"id": "p",
        "sessionID": "s", "messageID": "a", "type": "tool", "tool": "bash", "callID": "c", "state": state}}});
    let mut child = binary()
        .args(["translate", "--from", "opencode", "--to", "frames.v2", "--artifacts", &dir])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(format!("{record}\n").as_bytes()).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let written = lines.find_map(|line| {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        (event["type"] == "artifact_written").then_some(event)
    });
    let written = written.unwrap();
    let name = written["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
    // The artifact exists before the next record.
    assert_eq!(std::fs::read_to_string(format!("{dir}/{name}")).unwrap(), "x".repeat(100_000));
    drop(input);
    assert!(lines.any(|line| line.unwrap().contains("session_ended")));
    assert!(child.wait().unwrap().success());
}

#[test]
fn artifacts_are_written_by_hash_and_without_a_directory_nothing_is_cut() {
    let scratch = Scratch::new("artifacts");
    let dir = scratch.missing();
    let result = json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t", "content": "x".repeat(100_000)}]}});
    let call = json!({"type": "assistant", "session_id": "s", "message": {"id": "m", "role": "assistant",
        "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "x"}}]}});
    let input = format!("{call}\n{result}\n");
    let stored = ran("frames.v2", &[&["--artifacts", &dir][..], &IDS[..]].concat(), &input).exits(0).events();
    let written: Vec<&Value> = stored.iter().filter(|event| event["type"] == "artifact_written").collect();
    assert_eq!(written.len(), 1);
    let name = written[0]["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
    let files: Vec<String> =
        std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(files, [name]);
    assert_eq!(std::fs::read_to_string(format!("{dir}/{name}")).unwrap(), "x".repeat(100_000));
    let whole = ran("frames.v2", &IDS, &input).exits(0).events();
    assert!(whole.iter().any(|event| event["chunk"].as_str().is_some_and(|chunk| chunk.len() == 100_000)));
    assert!(whole.iter().all(|event| event["type"] != "artifact_written"));
    assert_eq!(ran("raw", &["--artifacts", &dir], &input).exits(0).out, input);
    let file = scratch.file("taken", "");
    ran("frames.v2", &["--artifacts", &file], &input).exits(2).says(&["--artifacts: cannot create the directory"]);
}
