//! `framegate check`, the built binary: its input, its reports and its exit codes.

use crate::program::{Ran, Scratch, bytes, ndjson, path, run, run_without_reader};
use serde_json::{Value, json};

fn event(n: u64, kind: &str, payload: &Value) -> Value {
    json!({
        "event_id": format!("evt_{n:04}"), "session_id": "s", "run_id": "r", "type": kind,
        "ts": "2026-02-14T21:03:00Z", "payload": payload,
    })
}

/// A clean run of `sse.v1`.
fn clean() -> Vec<Value> {
    vec![
        event(0, "run_started", &json!({"status": "running"})),
        event(1, "assistant_delta", &json!({"text": "SECRET é"})),
        event(2, "run_completed", &json!({"status": "completed", "final_text": "SECRET é"})),
    ]
}

/// The same with one error: the text of the second event is a number.
fn broken() -> Vec<Value> {
    let mut events = clean();
    events[1]["payload"]["text"] = json!(77_001);
    events
}

fn sse(events: &[Value]) -> String {
    let block = |event: &Value| {
        let (id, kind) = (event["event_id"].as_str().unwrap(), event["type"].as_str().unwrap());
        format!("id: {id}\nevent: {kind}\ndata: {event}\n\n")
    };
    events.iter().map(block).collect()
}

fn check(more: &[&str], input: impl AsRef<[u8]>) -> Ran {
    run(&[&["check", "--contract", "sse.v1"], more].concat(), input)
}

/// The record and rule of every finding.
fn findings(input: impl AsRef<[u8]>) -> Vec<(u64, String, String)> {
    let report = check(&["--format", "json"], input).json();
    let list = report["findings"].as_array().unwrap();
    list.iter()
        .map(|finding| {
            let text = |key: &str| finding[key].as_str().unwrap().to_owned();
            (finding["record"].as_u64().unwrap_or_default(), text("severity"), text("rule"))
        })
        .collect()
}

fn finding(record: u64, severity: &str, rule: &str) -> (u64, String, String) {
    (record, severity.to_owned(), rule.to_owned())
}

#[test]
fn every_form_of_a_stream_is_recognised() {
    for (events, expected) in [(clean(), vec![]), (broken(), vec![finding(2, "error", "schema")])] {
        let lines = ndjson(&events);
        let pretty = serde_json::to_string_pretty(&events).unwrap();
        for input in [
            lines.clone(),
            lines.replace('\n', "\r\n\r\n"),
            lines.trim_end().to_owned(),
            format!("\u{FEFF}{lines}"),
            sse(&events),
            format!("\u{FEFF}: hello\n\n{}", sse(&events).replace('\n', "\r\n")),
            Value::from(events.clone()).to_string(),
            pretty.clone(),
            format!("\n{pretty}\n"),
            json!({"object": "list", "data": events}).to_string(),
            serde_json::to_string_pretty(&json!({"data": events, "object": "list", "has_more": false})).unwrap(),
            events.iter().map(|event| format!("{event:#}\n")).collect(),
        ] {
            assert_eq!(findings(&input), expected, "{input}");
            let summary = &check(&["--format", "json"], &input).json()["summary"];
            assert_eq!(summary["events"], 3, "{input}");
        }
    }
}

#[test]
fn the_exit_code_distinguishes_clean_findings_and_unreadable() {
    let scratch = Scratch::new("check-codes");
    let good = scratch.file("good", ndjson(&clean()));
    let bad = scratch.file("bad", ndjson(&broken()));
    let binary = scratch.file("binary", [&b"{\"a\":1}\n"[..], b"\xFF\xFE\n"].concat());
    let missing = scratch.missing();
    check(&[&good], "").exits(0).prints(&["0 errors, 0 warnings in 3 events of 1 file\n"]);
    check(&["-", &good], ndjson(&clean())).exits(0).prints(&["in 6 events of 2 files\n"]);
    check(&[&good, &bad, &good], "").exits(1).prints(&["1 error, 0 warnings in 9 events of 3 files\n", &bad]);
    check(&[&missing, &bad], "")
        .exits(2)
        .says(&["cannot read", &missing, "No such file"])
        .prints(&["error[schema]", "of 2 files; 1 file could not be read\n"]);
    check(&[&binary], "").exits(2).says(&[&binary, "not valid UTF-8 (near byte 8)"]);
    check(&[], b"data: \xFF\n\n").exits(2).says(&["standard input", "not valid UTF-8"]);
    check(&[env!("CARGO_MANIFEST_DIR")], "").exits(2).says(&["directory"]);
    run(&["check"], "").exits(2).says(&["--contract <NAME>"]);
    run(&["check", "--contract", "raw"], "")
        .exits(2)
        .says(&["'raw'", "frames.v1, frames.v2, sse.v1, agent-manager.v1"]);
    run(&["check", "--contract", "sse.v2"], "").exits(2).says(&["'sse.v1'"]);
}

#[test]
fn a_finding_has_its_location_its_rule_and_a_remedy() {
    let out = check(&[], ndjson(&broken())).exits(1).out;
    let line = out.lines().next().unwrap();
    assert!(line.starts_with("stdin:2: error[schema] assistant_delta /payload/text: "), "{line}");
    assert!(line.ends_with("is not of type \"string\""), "{line}");
    let out = check(&[], ndjson(&clean()[..2])).exits(1).out;
    assert!(out.starts_with("stdin: error[end.missing]: the stream has no end: its last event must be run_"), "{out}");
    let out = check(&[], "{\"type\":\"x\\ny\\u001b[2J\"}\n").exits(1).out;
    assert!(out.starts_with("stdin:1: error[schema.type] x\\ny\\u{1b}[2J /type: sse.v1 has no such event"), "{out}");
    let out = check(&[], "{\"cut\":").exits(1).out;
    assert!(out.starts_with("stdin:1: error[json]: not JSON (line 1, column 7)"), "{out}");
}

#[test]
fn an_event_is_printed_only_on_request() {
    for format in ["text", "json", "junit", "github"] {
        let quiet = check(&["--format", format], ndjson(&broken())).exits(1);
        assert!(!quiet.out.contains("77001") && !quiet.err.contains("77001"), "{quiet:#?}");
        check(&["--format", format, "--show-payload"], ndjson(&broken())).exits(1).prints(&["77001"]);
    }
    let report = check(&["--format", "json", "--show-payload"], ndjson(&broken())).json();
    let payload: Value = serde_json::from_str(report["findings"][0]["payload"].as_str().unwrap()).unwrap();
    assert_eq!(payload, broken()[1]);
}

#[test]
fn warnings_are_printed_and_do_not_fail_the_check() {
    let mut events = clean();
    events.insert(2, event(2, "tool_result", &json!({"tool_name": "Bash", "success": false, "result": ""})));
    events[3]["event_id"] = json!("evt_0003");
    let ran = check(&[], ndjson(&events)).exits(0);
    ran.prints(&[
        "stdin:3: warning[tool_result.no_error_details] tool_result /payload/result: failed tool result with no error",
        "0 errors, 1 warning in 4 events of 1 file\n",
    ]);
    check(&["--format", "junit"], ndjson(&events)).exits(0).prints(&["failures=\"0\"", "<system-out>stdin:3: warning"]);
}

#[test]
fn a_file_without_events_fails_the_check() {
    for input in ["", "\n\n", ": only a comment\n\n", "[]", "[\n]\n", "{\"object\":\"list\",\"data\":[]}"] {
        assert_eq!(findings(input), [finding(0, "error", "events.none")], "{input:?}");
        check(&[], input).exits(1).prints(&["no sse.v1 events in the file"]);
    }
}

#[test]
fn sse_fields_must_match_their_event() {
    let clean = sse(&clean());
    assert_eq!(findings(&clean), []);
    for (from, to, expected) in [
        ("id: evt_0001", "id: evt_0002", vec![finding(2, "error", "sse.id")]),
        ("id: evt_0001\n", "", vec![finding(2, "warning", "sse.id")]),
        ("id: evt_0001", "id:evt_0001\nid: evt_0009", vec![finding(2, "error", "sse.id")]),
        ("id: evt_0001", "id:evt_0001", vec![]),
        ("event: assistant_delta", "event: run_started", vec![finding(2, "error", "sse.event")]),
        ("event: assistant_delta\n", "", vec![finding(2, "warning", "sse.event")]),
        ("evt_0001\nevent: assistant_delta\ndata:", "evt_0001\nevent: assistant_delta\nretry: 5\n: hi\ndata:", vec![]),
    ] {
        let input = clean.replacen(from, to, 1);
        assert_ne!(input, clean, "{from}");
        assert_eq!(findings(&input), expected, "{from} -> {to}");
    }
    assert_eq!(findings(clean.trim_end()), [finding(3, "error", "sse.cut")]);
}

#[test]
fn an_event_name_in_a_contract_without_names_is_a_finding() {
    let frame = json!({
        "id": "00000000-0000-5000-8000-000000000001", "session_id": "00000000-0000-5000-8000-000000000000",
        "stream_kind": "thread", "stream_id": "00000000-0000-5000-8000-000000000000", "timestamp_ms": 0, "seq": 0,
        "type": "log_emitted", "level": "info", "message": "x",
    });
    let check = |lead: &str, more: &[&str]| {
        let args = [&["check", "--contract", "frames.v2", "--format", "json"], more].concat();
        let report = run(&args, format!("{lead}data: {frame}\n\n")).json();
        let findings = report["findings"].as_array().unwrap().iter();
        findings.map(|finding| (finding["rule"].clone(), finding["severity"].clone())).collect::<Vec<_>>()
    };
    let found = |rule: &str, severity: &str| vec![(json!(rule), json!(severity))];
    assert_eq!(check("id: 0\n", &[]), []);
    assert_eq!(check("id: 0\nevent: message\n", &[]), []);
    // The contract's document leaves the form of streams open.
    assert_eq!(check("id: 0\nevent: log_emitted\n", &[]), found("sse.event", "warning"));
    assert_eq!(check("id: 0\nevent: log_emitted\n", &["--strict"]), found("sse.event", "error"));
    assert_eq!(check("id: 0\nevent: session_started\n", &[]), found("sse.event", "error"));
    assert_eq!(check("id: 1\n", &[]), found("sse.id", "error"));
}

#[test]
fn the_json_report_is_one_object() {
    let scratch = Scratch::new("check-json");
    let bad = scratch.file("bad \"1\"", ndjson(&broken()));
    let missing = scratch.missing();
    let report = check(&["--format", "json", &bad, &missing], "").exits(2).json();
    assert_eq!(report["contract"], "sse.v1");
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    let finding = &report["findings"][0];
    assert_eq!(finding["file"], bad);
    assert_eq!((&finding["record"], &finding["type"]), (&json!(2), &json!("assistant_delta")));
    assert_eq!((&finding["pointer"], &finding["severity"]), (&json!("/payload/text"), &json!("error")));
    let files = report["files"].as_array().unwrap();
    assert_eq!(files.len(), 2);
    assert_eq!((&files[0]["events"], &files[0]["errors"]), (&json!(3), &json!(1)));
    assert_eq!(files[0]["unreadable"], Value::Null);
    assert!(files[1]["unreadable"].as_str().unwrap().contains("No such file"));
    assert_eq!(report["summary"], json!({"files": 2, "events": 3, "errors": 1, "warnings": 0, "unreadable": 1}));
}

#[test]
fn the_junit_report_is_well_formed_with_hostile_names() {
    let scratch = Scratch::new("check-junit");
    let good = scratch.file("good", ndjson(&clean()));
    let hostile = scratch.file("a<b>&\"c\" 'd'", format!("{}]]>\u{1B}<![CDATA[\n", ndjson(&broken())));
    let missing = scratch.missing();
    let args = ["--format", "junit", "--show-payload", &good, &hostile, &missing];
    let out = check(&args, "").exits(2).out;
    let elements = xml_elements(&out);
    let count = |name: &str| elements.iter().filter(|element| *element == name).count();
    assert_eq!((count("testsuites"), count("testsuite"), count("testcase")), (1, 1, 3));
    assert!(count("failure") >= 2 && count("error") == 1, "{out}");
    assert!(out.contains("tests=\"3\" failures=\"1\" errors=\"1\""), "{out}");
    assert!(out.contains("a&lt;b&gt;&amp;&quot;c&quot; &apos;d&apos;"), "{out}");
}

#[test]
fn the_junit_report_of_a_long_bad_file_is_bounded() {
    let out = check(&["--format", "junit"], "{}\n".repeat(3000)).exits(1).out;
    let elements = xml_elements(&out);
    assert_eq!(elements.iter().filter(|element| *element == "failure").count(), 1001);
    assert!(out.contains("more findings are not shown"), "{}", &out[out.len() - 400..]);
}

/// The names of all elements. Fails unless the text is well-formed XML of the kind that `check` writes.
fn xml_elements(text: &str) -> Vec<String> {
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").expect("a declaration");
    let (mut open, mut names) = (Vec::new(), Vec::new());
    let is_text = |text: &str| {
        let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#9;", "&#10;", "&#13;"];
        let plain = entities.iter().fold(text.to_owned(), |text, entity| text.replace(entity, ""));
        !plain.contains(['<', '>', '&']) && plain.chars().all(|c| c == '\n' || !c.is_control() || c == '\u{7F}')
    };
    while let Some((before, tail)) = rest.split_once('<') {
        assert!(is_text(before), "{before:?}");
        // No attribute contains a bare `>`, because they are escaped.
        let (tag, tail) = tail.split_once('>').expect("a tag ends");
        rest = tail;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "elements must be closed in order");
            continue;
        }
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
        let mut attributes = attributes;
        while !attributes.is_empty() {
            let (key, tail) = attributes.split_once("=\"").expect("an attribute has a value");
            let (value, tail) = tail.split_once('"').expect("a value ends");
            assert!(key.chars().all(|c| c.is_ascii_lowercase()) && is_text(value) && !value.contains('\n'), "{tag}");
            attributes = tail.trim_start();
        }
        names.push(name.to_owned());
        if !closed {
            open.push(name.to_owned());
        }
    }
    assert!(is_text(rest) && open.is_empty(), "{open:?}");
    names
}

#[test]
fn findings_set_the_exit_code_even_without_a_reader() {
    let scratch = Scratch::new("check-pipe");
    let bad = scratch.file("bad", "{}\n".repeat(20_000));
    assert_eq!(run_without_reader(&["check", "--contract", "sse.v1", &bad]), (Some(1), String::new()));
}

#[test]
fn a_finding_has_the_line_of_its_event_in_every_form_of_input() {
    let line = |input: &str| check(&["--format", "json"], input).json()["findings"][0]["line"].clone();
    let events = broken();
    assert_eq!(line(&ndjson(&events)), 2);
    assert_eq!(line(&ndjson(&events).replace('\n', "\r\n\r\n")), 3);
    assert_eq!(line(&sse(&events)), 5);
    assert_eq!(line(&Value::from(events.clone()).to_string()), 1);
    // Each event of a list has its own line, in both kinds of list.
    let rows: Vec<String> = events.iter().map(Value::to_string).collect();
    assert_eq!(line(&format!("[\n{}\n]\n", rows.join(",\n"))), 3);
    assert_eq!(line(&format!("\n{{\"object\":\"list\",\"data\":[\n{}\n]}}\n", rows.join(",\n"))), 4);
    let pretty: String = events.iter().map(|event| format!("{event:#}\n")).collect();
    let first = format!("{:#}\n", events[0]).matches('\n').count();
    assert_eq!(line(&pretty), first + 1);
    // A finding about a missing end has no line.
    assert_eq!(line(&ndjson(&clean()[..2])), Value::Null);
}

#[test]
fn every_contract_can_be_checked_in_every_form() {
    let ids = ["--run-id", "one", "--session-id", "two", "--epoch-ms", "0"];
    for known in framegate_translators::contracts::CONTRACTS.iter().filter(|known| !known.schemas.is_empty()) {
        let contract = known.name;
        for form in ["ndjson", "sse", "list"] {
            let translate = ["translate", "--from", "claude-code", "--to", contract, "--as", form];
            let events = run(&[&translate[..], &ids].concat(), bytes("bash_ok.ndjson")).exits(0).out;
            let gate = ["check", "--contract", contract, "--format", "json"];
            let report = run(&gate, &events).exits(0).json();
            assert_eq!(report["findings"], json!([]), "{contract} as {form}");
            let enveloped = if form == "list" && events.starts_with('[') {
                format!("{{\"object\":\"list\",\"data\":{}}}", events.trim_end())
            } else {
                events.clone()
            };
            run(&gate, enveloped).exits(0);
            // A change in one event is found in each form.
            // Of several places of the type, the first one. Its last key precedes the type.
            let place = known.type_key.split('|').next().unwrap();
            let key = format!("\"{}\":\"", place.rsplit('.').next().unwrap());
            // An event's content may have the key too, but not with an event's type.
            let kinds = known.schemas.iter().map(|file| format!("{key}{}\"", file.kind));
            let at = kinds.filter_map(|kind| events.rfind(&kind)).max().unwrap() + key.len();
            let broken = format!("{}no_such_{}", &events[..at], &events[at..]);
            // The document may leave the set of types open, but framegate never writes this type.
            let report = run(&[&gate[..], &["--strict"]].concat(), broken).exits(1).json();
            let rules: Vec<&str> =
                report["findings"].as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap()).collect();
            assert!(rules.contains(&"schema.type"), "{contract} as {form}: {rules:?}");
        }
    }
}

#[test]
fn the_output_of_a_runner_is_translated_and_checked_in_one_step() {
    for contract in framegate_translators::contracts::names_with_schemas() {
        for from in ["claude-code", "auto"] {
            let ran = run(&["check", "--from", from, "--contract", contract, &path("bash_ok.ndjson")], "").exits(0);
            assert!(ran.out.starts_with("0 errors, 0 warnings in "), "{contract}: {}", ran.out);
        }
    }
    run(&["check", "--from", "auto", "--contract", "sse.v1"], "{\"x\":1}\n".repeat(2000))
        .exits(2)
        .says(&["the first records are not recognised as output of any runner"]);
    run(&["check", "--from", "codex", "--contract", "sse.v1"], "")
        .exits(2)
        .says(&["standard input: the input is empty"]);
    run(&["check", "--from", "codex"], "").exits(2).says(&["--contract <NAME>"]);
    run(&["check", "--from", "codex", "--runner", "codex"], "").exits(2).says(&["cannot be used with"]);
}

#[test]
fn a_finding_in_translated_output_has_its_source_record() {
    let mut lines: Vec<String> =
        String::from_utf8(bytes("bash_ok.ndjson")).unwrap().lines().map(str::to_owned).collect();
    let call = lines.iter().position(|line| line.contains("\"tool_use\"")).unwrap();
    let mut record: Value = serde_json::from_str(&lines[call]).unwrap();
    let parts = record["message"]["content"].as_array_mut().unwrap();
    parts.iter_mut().find(|part| part["type"] == "tool_use").unwrap()["input"] = json!({});
    lines[call] = record.to_string();
    // A blank line and a broken line come first, so that line numbers and record numbers differ.
    lines.splice(0..0, [String::new(), "{\"cut\":".to_owned()]);
    let input = lines.join("\n") + "\n";
    let offset = |line: usize| lines[..line].iter().map(|line| line.len() + 1).sum::<usize>();
    for contract in framegate_translators::contracts::names_with_schemas() {
        let args = ["check", "--from", "claude-code", "--contract", contract, "--format", "json"];
        let report = run(&args, &input).exits(1).json();
        let place = |rule: &str| {
            let list = report["findings"].as_array().unwrap();
            let matching: Vec<&Value> = list.iter().filter(|one| one["rule"] == rule).collect();
            assert_eq!(matching.len(), 1, "{contract} {rule}: {list:#?}");
            (matching[0]["line"].clone(), matching[0]["source"].clone())
        };
        assert_eq!(place("record.invalid"), (json!(2), json!({"record": 1, "offset": offset(1)})), "{contract}");
        let source = json!({"record": call + 2, "offset": offset(call + 2)});
        assert_eq!(place("tool_call.empty_input"), (json!(call + 3), source), "{contract}");
    }
    let text = run(&["check", "--from", "claude-code", "--contract", "frames.v2"], &input).exits(1).out;
    let expected = format!("stdin:{}: warning[tool_call.empty_input] ", call + 2);
    assert!(text.contains(&expected), "{text}");
    assert!(text.contains(&format!(", record at byte {})", offset(call + 2))), "{text}");
}

#[test]
fn the_github_report_has_one_command_per_finding() {
    let scratch = Scratch::new("check-github");
    let bad = scratch.file("a,b:c%.ndjson", ndjson(&broken()));
    let missing = scratch.missing();
    let out = check(&["--format", "github", "--show-payload", &bad, &missing], "").exits(2).out;
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 3, "{out}");
    let file = bad.replace('%', "%25").replace(':', "%3A").replace(',', "%2C");
    let start = format!("::error file={file},line=2,title=schema::");
    let message = lines[0].strip_prefix(&start).unwrap_or_else(|| panic!("{out} should begin {start}"));
    assert!(message.contains("a,b:c%25.ndjson:2: error[schema] assistant_delta /payload/text: "), "{message}");
    assert!(message.contains("%0A{\"event_id\""), "{message}");
    assert!(lines[1].starts_with("::error file=") && lines[1].contains(",title=unreadable::cannot read: "), "{out}");
    assert!(lines[2].starts_with("1 error, 0 warnings in 3 events of 2 files"), "{out}");
    let hostile = "{\"type\":\"x\\n::error::y\"}\n";
    let out = check(&["--format", "github"], hostile).exits(1).out;
    assert!(out.lines().all(|line| line.starts_with("::error file=stdin,") || line.contains(" in 1 event ")), "{out}");
}

#[test]
fn a_stream_is_checked_by_the_document_unless_strict() {
    let mut events = clean();
    events[1]["payload"]["language"] = json!("en");
    events[1]["trace"] = json!("t");
    check(&[], ndjson(&events)).exits(0).prints(&["0 errors, 0 warnings in 3 events"]);
    check(&["--strict"], ndjson(&events)).exits(1).prints(&["error[schema] assistant_delta"]);
    check(&["--strict"], ndjson(&clean())).exits(0);
    run(&["check", "--runner", "codex", "--strict"], "").exits(2).says(&["--strict"]);
}

#[test]
fn a_resumed_stream_needs_no_start() {
    let rest = ndjson(&clean()[1..]);
    check(&[], &rest).exits(1).prints(&["start.missing"]);
    check(&["--resumed"], &rest).exits(0);
    check(&["--after", "evt_0000"], &rest).exits(0);
    check(&["--after", "evt_0001"], &rest)
        .exits(1)
        .prints(&["stdin:1: error[resume.repeat] assistant_delta /event_id"]);
    check(&["--resumed", "--strict"], &rest).exits(0);
    check(&["--resumed"], ndjson(&clean()[..2])).exits(1).prints(&["end.missing"]);
    check(&["--after", "x", "--resumed"], "").exits(2).says(&["--resumed"]);
    run(&["check", "--contract", "hecate.v1", "--after", "evt_1"], "{}")
        .exits(2)
        .says(&["invalid cursor", "hecate.v1"]);
    run(&["check", "--contract", "frames.v1", "--after", "-1"], "{}").exits(1);
    run(&["check", "--from", "codex", "--contract", "frames.v1", "--after", "1"], "").exits(2);
}

#[test]
fn lists_and_envelopes_of_other_servers_are_read() {
    let events = clean();
    for list in ["list", "events", "task_run_events"] {
        let text = json!({"object": list, "data": events, "next_after_sequence": 3}).to_string();
        assert_eq!(findings(&text), [], "{list}");
    }
    let run = "run_01JXMZH0000000000000000000";
    let event = |at: usize, kind: &str, data: &Value| {
        json!({"schema_version": "1", "event_id": format!("evt_01JXMZH{at:019}"), "run_id": run, "sequence": at,
            "occurred_at": "2026-05-03T10:23:45.123Z", "type": kind, "data": data})
    };
    let events = [
        event(0, "run.started", &json!({"worker_id": "w", "lease_until": "2026-05-03T10:24:15Z"})),
        event(1, "run.cancelled", &json!({"by": "operator", "reason": ""})),
    ];
    let block = |event: &Value| {
        let wrapped = json!({"object": "event", "data": event});
        format!("id: {}\nevent: event\ndata: {wrapped}\n\n", event["sequence"])
    };
    let feed: String = [": ok\n".to_owned()].into_iter().chain(events.iter().map(block)).collect();
    crate::program::run(&["check", "--contract", "hecate.v1"], &feed)
        .exits(0)
        .prints(&["0 errors, 0 warnings in 2 events"]);
    crate::program::run(&["check", "--contract", "hecate.v1", "--strict"], &feed).exits(1);
}
