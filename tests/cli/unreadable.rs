//! Input that is unreadable, or partly so: the messages and the exit codes of a filter.

use crate::program::{Ran, Scratch, bytes, ndjson, path, run};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Command;

fn translate(more: &[&str], input: impl AsRef<[u8]>) -> Ran {
    run(&[&["translate", "--from", "claude-code", "--to", "frames.v2"], more].concat(), input)
}

/// One complete run.
fn whole(session: &str) -> String {
    ndjson(&[
        json!({"type": "system", "subtype": "init", "session_id": session, "model": "m", "cwd": "/", "tools": []}),
        json!({"type": "result", "subtype": "success", "is_error": false, "session_id": session, "result": "ok"}),
    ])
}

/// The lines on stderr that contain the text.
fn lines<'r>(ran: &'r Ran, text: &str) -> Vec<&'r str> {
    ran.err.lines().filter(|line| line.contains(text)).collect()
}

#[test]
fn files_in_other_forms_are_refused_with_a_command_that_reads_them() {
    let scratch = Scratch::new("unreadable-forms");
    let text = String::from_utf8(bytes("bash_ok.ndjson")).unwrap();
    let wide: Vec<u8> = std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for (name, content, expected) in [
        ("a.bz2", b"BZh91AY&SY\n".to_vec(), "the input is compressed with bzip2: bzip2 -dc "),
        ("a.xz", b"\xFD7zXZ\0\n".to_vec(), "the input is compressed with xz: xz -dc "),
        ("a.txt", wide.clone(), "the input is encoded in UTF-16: iconv -f UTF-16 -t UTF-8 "),
        ("b.txt", wide[2..].to_vec(), "the input is encoded in UTF-16: iconv -f UTF-16LE -t UTF-8 "),
    ] {
        let file = scratch.file(name, &content);
        for from in ["claude-code", "auto"] {
            for to in ["frames.v2", "raw"] {
                let ran = run(&["translate", "--from", from, "--to", to, &file], "").exits(2);
                assert_eq!(ran.out, "", "{name}");
                ran.says(&[expected, &format!("{file} | framegate translate …")]);
            }
            let ran = run(&["check", "--from", from, "--contract", "sse.v1", &file], "").exits(2);
            ran.says(&[expected, "| framegate check …"]);
        }
        run(&["check", "--contract", "sse.v1", &file], "").exits(2).says(&[expected]);
        let (form, reader) = expected.split_once(": ").unwrap();
        let imported = run(&["import", "--db", &scratch.missing(), &file], "").exits(2);
        let imported = imported.says(&[&format!("{form}: write it to another file with {reader}{file}")]);
        assert!(!imported.err.contains("| framegate"), "{}", imported.err);
        run(&["check", "--runner", "claude-code", &file], "").exits(2).says(&[expected]);
        let piped = translate(&[], &content).exits(2);
        piped.says(&[expected.split(": ").next().unwrap(), "… | ", " | framegate translate …"]);
    }
}

#[test]
fn the_suggested_command_reads_a_file() {
    let scratch = Scratch::new("unreadable-utf-16");
    let text = String::from_utf8(bytes("bash_ok.ndjson")).unwrap();
    let wide: Vec<u8> = std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let file = scratch.file("it's a run.ndjson", wide);
    let ran = translate(&[&file], "").exits(2);
    let command = ran.err.split("in UTF-16: ").nth(1).unwrap().split(" | framegate").next().unwrap();
    let read = Command::new("sh").args(["-c", command]).output().unwrap();
    assert_eq!(read.stdout, bytes("bash_ok.ndjson"), "{command}");
}

#[test]
fn compressed_input_is_read_as_the_text_in_it() {
    let scratch = Scratch::new("unreadable-compressed");
    let text = bytes("bash_ok.ndjson");
    let gzip = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |text: &[u8]| ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest);
    let raw = |more: &[&str], input: &[u8]| {
        run(&[&["translate", "--from", "claude-code", "--to", "raw"], more].concat(), input)
    };
    let plain = raw(&[], &text).exits(0).out;
    // The name does not matter.
    for (name, content) in [("a.gz", gzip(&text)), ("a.zst", zstd(&text)), ("b.ndjson", gzip(&text))] {
        let file = scratch.file(name, &content);
        for from in ["claude-code", "auto"] {
            assert_eq!(run(&["translate", "--from", from, "--to", "raw", &file], "").exits(0).out, plain, "{name}");
        }
        assert_eq!(raw(&[], &content).exits(0).out, plain, "{name} on standard input");
        run(&["check", "--runner", "claude-code", &file], "").exits(0);
        run(&["check", "--from", "claude-code", "--contract", "sse.v1", &file], "").exits(0);
    }
    // What is left of a damaged file counts, and the exit code says that it is not whole.
    for (name, content, part) in [("cut.gz", gzip(&text), "gzip"), ("cut.zst", zstd(&text), "zstd")] {
        let file = scratch.file(name, &content[..content.len() - 1]);
        raw(&[&file], b"").exits(2).says(&[&format!("ends in the middle of its {part} data"), &file]);
    }
    // Compressed twice.
    let file = scratch.file("twice.gz", gzip(&gzip(&text)));
    translate(&[&file], "").exits(2).says(&["the input is compressed with gzip"]);
}

#[test]
fn input_without_a_run_fails_with_the_reason() {
    let scratch = Scratch::new("unreadable-none");
    let binary = scratch.file("binary", b"text\n\0\x01\x02\n");
    let empty = scratch.file("empty", "");
    let prose = scratch.file("prose.txt", "Dear reader,\nthis is a letter.\n");
    let heartbeat = scratch.file("heartbeat", "{\"type\":\"keep_alive\"}\n");
    let folder = scratch.missing().replace("missing", "");
    for (file, parts) in [
        (&binary, &["no run was found: the input is binary", "2 records: 2 not JSON"][..]),
        (&empty, &["the input is empty"]),
        (
            &prose,
            &[
                "no run was found when reading the input as output of claude-code",
                "2 records: 2 not JSON; first: line 1: not JSON",
                "--from auto",
            ],
        ),
        (&heartbeat, &["no run was found when reading the input as output of claude-code (1 record)"]),
        (&folder, &["it is a directory; name the files in it, for example "]),
    ] {
        translate(&[file], "").exits(2).says(parts).says(&["cannot read", file]);
        let ran = run(&["check", "--from", "claude-code", "--contract", "sse.v1", file], "").exits(2);
        ran.says(parts).says(&["cannot read", file]);
    }
    let ran = run(&["translate", "--from", "auto", "--to", "sse.v1", &prose], "").exits(2);
    ran.says(&["are not recognised as output of any runner", "2 records: 2 not JSON", "name the runner with --from"]);
    // A runner that was recognised need not be recognised again.
    let head = scratch
        .file("head", r#"{"type":"session","version":3,"id":"s","timestamp":"2026-11-23T03:43:51.330Z","cwd":"/w"}"#);
    let ran = run(&["translate", "--from", "auto", "--to", "sse.v1", &head], "").exits(2);
    assert!(!ran.err.contains("--from"), "{}", ran.err);
    ran.says(&["the input looks like output of pi, but it has no record with which a run begins (1 record)"]);
}

#[test]
fn bad_records_are_listed_with_their_location_up_to_a_limit() {
    let input = format!("{}\nnot json\r\n\n{{\"type\":\"zzz\"}}\n{{\"cut\":", whole("s"));
    let ran = translate(&[], &input).exits(0);
    let bad = lines(&ran, "stdin:");
    assert_eq!(bad.len(), 3, "{}", ran.err);
    let at = |text: &str| input.find(text).unwrap();
    for (line, (number, record, offset, what)) in bad.iter().zip([
        (4, 3, at("not json"), "cannot be read: not JSON"),
        (6, 4, at("{\"type\":\"zzz"), "is not recognised: unknown type \"zzz\""),
        (7, 5, at("{\"cut"), "cannot be read: the input ended inside the record"),
    ]) {
        assert!(line.contains(&format!("stdin:{number}: record {record} at byte {offset} {what}")), "{line}");
    }
    let many = format!("{}{}", "junk\n".repeat(5000), whole("s"));
    let ran = translate(&[], &many).exits(0);
    assert_eq!(lines(&ran, "cannot be read").len(), 20, "{}", ran.err);
    ran.says(&["stdin: 4980 more bad records are not listed; 5002 records: 5000 not JSON"]);
    let ran = translate(&["--max-reports", "2"], &many).exits(0);
    assert_eq!(lines(&ran, "cannot be read").len(), 2, "{}", ran.err);
    assert_eq!(lines(&translate(&["--max-reports", "0"], &many).exits(0), "cannot be read").len(), 0);
}

#[test]
fn strict_fails_on_any_bad_record() {
    translate(&["--strict"], whole("s")).exits(0);
    for bad in ["nope\n", "{\"type\":\"zzz\"}\n", "\"text\"\n", "{\"type\":\"system\",\"subtype\":\"zzz\"}\n"] {
        let input = format!("{}{bad}", whole("s"));
        translate(&[], &input).exits(0);
        translate(&["--strict"], &input).exits(1);
    }
    translate(&["--strict"], "nope\n").exits(2);
}

#[test]
fn repeated_warnings_are_one_line_per_kind_and_run() {
    let call = |nth: usize| {
        json!({"type": "assistant", "session_id": "s", "parent_tool_use_id": null, "message": {"id": format!("msg_{nth}"),
            "role": "assistant", "content": [{"type": "tool_use", "id": format!("toolu_{nth}"), "name": "Bash", "input": {}}]}})
    };
    let whole = whole("s");
    let (init, result) = whole.split_once('\n').unwrap();
    let run = format!("{init}\n{}{result}", ndjson(&(0..300).map(call).collect::<Vec<_>>()));
    let ran = translate(&[], format!("{run}{run}")).exits(0);
    let warnings = lines(&ran, "tool_call.empty_input");
    assert_eq!(warnings.len(), 2, "{}", ran.err);
    assert!(
        warnings.iter().all(|line| line.contains("count=300") && line.contains("300 times in this run")),
        "{warnings:?}"
    );
}

#[test]
fn several_files_are_translated_one_after_the_other() {
    let (one, two) = (path("bash_ok.ndjson"), path("edit_file.ndjson"));
    let ids = ["--run-id", "r", "--epoch-ms", "5"];
    let alone = |file: &str| translate(&[&ids[..], &[file]].concat(), "").exits(0).out;
    let both = translate(&[&ids[..], &[&one, &two]].concat(), "").exits(0);
    assert!(both.out.starts_with(&alone(&one)));
    let rest = &both.out[alone(&one).len()..];
    assert_eq!(rest.lines().count(), alone(&two).lines().count());
    let runs: Vec<Value> = both.events().iter().filter(|event| event["type"] == "session_started").cloned().collect();
    assert_ne!(runs[0]["stream_id"], runs[1]["stream_id"], "each file must have its own runs");
    assert_eq!(translate(&[&ids[..], &[&one, &two]].concat(), "").out, both.out);
    let list = translate(&["--as", "list", &one, &two], "").exits(0).json();
    assert_eq!(list.as_array().unwrap().len(), both.out.lines().count());
    // An unreadable file does not prevent the others from being translated.
    let scratch = Scratch::new("unreadable-several");
    let ran = translate(&[&ids[..], &[&scratch.missing(), &one]].concat(), "").exits(2);
    ran.says(&["cannot read", "missing"]).prints(&["session_ended"]);
    // Each file may have a different form, also with `--from auto`.
    let sse = scratch.file("feed.sse", "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"object\":\"response\"}}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"object\":\"response\",\"status\":\"completed\",\"output\":[]}}\n\n");
    let ran = run(&["translate", "--from", "auto", "--to", "frames.v2", &one, &sse], "").exits(0);
    let providers: Vec<Value> =
        ran.events().iter().map(|event| event["provider"].clone()).filter(|name| !name.is_null()).collect();
    assert!(providers.contains(&json!("claude-code")) && providers.contains(&json!("openresponses")), "{providers:?}");
}

#[test]
fn a_file_starts_at_its_first_recorded_time_and_time_never_runs_backwards() {
    let scratch = Scratch::new("unreadable-time");
    let run_at = |session: &str, time: &str| {
        let answer = json!({"type": "assistant", "session_id": session, "timestamp": time, "parent_tool_use_id": null,
            "message": {"id": format!("m{session}"), "role": "assistant", "content": [{"type": "text", "text": "hi"}]}});
        let whole = whole(session);
        let (init, result) = whole.split_once('\n').unwrap();
        format!("{init}\n{answer}\n{result}")
    };
    let text = run_at("a", "2025-03-04T05:06:07.000Z") + &run_at("b", "2025-03-04T06:00:00.000Z");
    let file = scratch.file("runs.ndjson", &text);
    let times = |ran: Ran| -> Vec<u64> {
        ran.exits(0).events().iter().map(|event| event["timestamp_ms"].as_u64().unwrap()).collect()
    };
    let (first, second) = (1_741_064_767_000, 1_741_068_000_000);
    for from in ["claude-code", "auto"] {
        let of_file = times(run(&["translate", "--from", from, "--to", "frames.v2", &file], ""));
        assert!(of_file.is_sorted(), "{of_file:?}");
        assert!((first..first + 60_000).contains(&of_file[0]), "{from}: {of_file:?}");
        assert!((second..second + 60_000).contains(of_file.last().unwrap()), "{from}: {of_file:?}");
        // A file as standard input is treated as a file.
        let input = std::fs::File::open(&file).unwrap();
        let output = crate::program::binary()
            .args(["translate", "--from", from, "--to", "frames.v2"])
            .stdin(input)
            .output()
            .unwrap();
        let line: Value = serde_json::from_slice(output.stdout.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
        assert!((first..first + 60_000).contains(&line["timestamp_ms"].as_u64().unwrap()), "{line}");
    }
    // The future content of a pipe is unknown: its time starts now, and does not run backwards either.
    let piped = times(translate(&[], &text));
    assert!(piped.is_sorted() && piped[0] > second, "{piped:?}");
    assert!(times(translate(&["--epoch-ms", "7", &file], ""))[0] == 7);
}

#[test]
fn the_users_redaction_settings_apply() {
    let scratch = Scratch::new("unreadable-redaction");
    let config = scratch.file("own.toml", "[redaction]\npatterns = { badge = \"BDG-[0-9]{4}\" }\n");
    let answer = json!({"type": "assistant", "session_id": "s", "parent_tool_use_id": null, "message": {"id": "m",
        "role": "assistant", "content": [{"type": "text", "text": "the badge is BDG-1234."}]}});
    let input = format!("{answer}\n{}", whole("s"));
    assert!(translate(&[], &input).exits(0).out.contains("BDG-1234"));
    let ran = translate(&["--config", &config], &input).exits(0);
    assert!(ran.out.contains("[REDACTED:badge]") && !ran.out.contains("BDG-1234"), "{}", ran.out);
    let off = scratch.file("off.toml", "[redaction]\nenabled = false\npatterns = { badge = \"BDG-[0-9]{4}\" }\n");
    assert!(translate(&["--config", &off], &input).exits(0).out.contains("BDG-1234"));
    assert!(!translate(&["--config", &off, "--redact"], &input).exits(0).out.contains("BDG-1234"));
    let wrong = scratch.file("wrong.toml", "[redaction]\npattern = {}\n");
    translate(&["--config", &wrong], &input).exits(2).says(&["redaction.pattern", "did you mean \"patterns\"?"]);
    // The payload of a broken event is shown redacted.
    let gate = ["check", "--from", "claude-code", "--contract", "sse.v1", "--show-payload"];
    let junk = format!("{}not json: BDG-1234\n", input);
    for (more, is_redacted) in [(&[][..], false), (&["--config", &config], true)] {
        let ran = run(&[&gate[..], more].concat(), &junk).exits(1);
        assert_eq!(ran.out.contains("BDG-1234"), !is_redacted && ran.out.contains("badge is"), "{}", ran.out);
    }
}

#[test]
fn the_configuration_of_another_program_is_recognised() {
    let scratch = Scratch::new("unreadable-config");
    let folder = scratch.missing().replace("missing", "");
    scratch.file("config.toml", "baseURL = \"https://example.org\"\n[params]\na = 1\n");
    let ran = crate::program::binary()
        .current_dir(&folder)
        .args(["translate", "--from", "claude-code", "--to", "sse.v1", &path("bash_ok.ndjson")])
        .output()
        .unwrap();
    let err = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(2), "{err}");
    assert!(err.contains("--config"), "{err}");
}

#[test]
fn checking_a_runners_output_as_events_is_reported() {
    let sample = path("bash_ok.ndjson");
    let runner = std::path::Path::new(&sample).parent().and_then(|folder| folder.file_name()).unwrap();
    for contract in framegate_translators::contracts::names_with_schemas() {
        let ran = run(&["check", "--contract", contract, &path("bash_ok.ndjson")], "");
        // The events of a contract that is named as the runner are the runner's own output.
        if contract.split('.').next() == runner.to_str() {
            ran.exits(0);
        } else {
            let ran = ran.exits(1);
            ran.prints(&["error[events.of_a_runner]", "claude-code (stream-json)", "--from auto"]);
        }
        let events =
            run(&["translate", "--from", "claude-code", "--to", contract, &path("bash_ok.ndjson")], "").exits(0);
        let ran = run(&["check", "--contract", contract], &events.out).exits(0);
        assert!(!ran.out.contains("of_a_runner"), "{}", ran.out);
    }
}

#[test]
fn a_summary_is_printed_only_on_a_terminal() {
    let scratch = Scratch::new("unreadable-terminal");
    let file = scratch.file("runs.ndjson", format!("{}nope\n{{\"type\":\"zzz\"}}\n{}", whole("a"), whole("b")));
    let summary = "framegate: 2 runs, 6 records (1 not JSON, 1 of unknown types), ";
    let binary = env!("CARGO_BIN_EXE_framegate");
    let command = format!("'{binary}' translate --from claude-code --to sse.v1 '{file}' >/dev/null");
    let seen = Command::new("script").args(["-qec", &command, "/dev/null"]).output().unwrap();
    let seen = String::from_utf8(seen.stdout).unwrap();
    assert!(seen.contains(summary) && seen.contains("runs.ndjson:3: record 3 at byte "), "{seen}");
    let piped = translate(&[&file], "").exits(0);
    assert!(!piped.err.contains(summary), "{}", piped.err);
}
