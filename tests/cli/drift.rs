//! `framegate check --runner` and `translate --from auto`, the built binary: which runner wrote the input, and whether it still
//! matches what is known of the runner.

use crate::program::{Scratch, run};
use framegate_translators::framing::Limits;
use framegate_translators::recognise::{Recogniser, Verdict, Window};
use framegate_translators::runners::{FRAMES, RUNNERS};
use serde_json::{Value, json};

const IDS: [&str; 6] = ["--run-id", "my-run", "--session-id", "my-session", "--epoch-ms", "1770000000000"];

/// The sample of each runner: the runner, the surface, and the file.
fn samples() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    RUNNERS.iter().map(|runner| {
        let mut recogniser = Recogniser::new(None, Limits::default(), Window::default());
        recogniser.feed(runner.sample.bytes);
        let Verdict::Found(found) = recogniser.finish() else {
            panic!("the sample of {} is not recognised", runner.name)
        };
        (runner.name, found.surface.name, runner.sample.file)
    })
}

fn path(runner: &str, name: &str) -> String {
    format!("{}/tests/fixtures/{runner}/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn clean() -> String {
    path("open-responses", "fastresponses__text.sse")
}

fn check(args: &[&str], input: &str) -> crate::program::Ran {
    run(&[&["check", "--runner", "open-responses"], args].concat(), input)
}

#[test]
fn auto_recognises_the_runner_and_loses_nothing() {
    for (runner, surface, name) in samples() {
        let file = path(runner, name);
        let translate = |from: &str| {
            run(&[&["translate", "--log", "info", "--from", from, "--to", "frames.v2", &file], &IDS[..]].concat(), "")
                .exits(0)
        };
        let auto = translate("auto").says(&[&format!("recognised as {runner} ({surface}): "), "reason="]);
        assert!(!auto.out.is_empty());
        assert_eq!(auto.out, translate(runner).out, "{name}");
        let raw = |from: &str| run(&["translate", "--from", from, "--to", "raw", &file], "").exits(0).out;
        let auto = raw("auto");
        assert_eq!(auto, raw(runner), "{name}");
        // Frames are no records. Those that they contain are fewer.
        let lines = std::fs::read_to_string(&file).unwrap().lines().count();
        assert!(auto.lines().count() == lines || runner == FRAMES.name, "{name}");
    }
}

#[test]
fn unrecognised_input_is_an_error_that_names_every_runner() {
    for input in ["\n", "{\"a\":1}\n", "nonsense\n", &"{\"a\":1}\n".repeat(1000)] {
        let ran = run(&["translate", "--from", "auto", "--to", "frames.v2"], input).exits(2);
        assert_eq!(ran.out, "");
        ran.says(&["standard input", "claude-code, codex, opencode, open-responses", "--from"]);
    }
}

#[test]
fn a_wrong_runner_is_reported_once_and_nothing_is_lost() {
    for (runner, surface, name) in samples() {
        for (said, _, _) in samples() {
            let file = path(runner, name);
            let code = if said == runner { 0 } else { 2 };
            let ran = run(&["translate", "--from", said, "--to", "frames.v2", &file], "").exits(code);
            let reported = ran.err.matches("the records look like").count();
            assert_eq!(reported, usize::from(said != runner), "{name} as {said}: {}", ran.err);
            if said != runner {
                let instead = format!("the input looks like {runner} ({surface}); use --from {runner}");
                let ran = ran.says(&[
                    &format!("the records look like {runner} ({surface}): "),
                    &format!("no run of {said} was found"),
                    &instead,
                ]);
                let kept = ran.events().iter().filter(|event| event["type"] == "provider_event").count();
                let raw = run(&["translate", "--from", said, "--to", "raw", &file], "").exits(2).out;
                assert!(kept > 1, "{name} as {said}");
                assert_eq!(raw.lines().count(), std::fs::read_to_string(&file).unwrap().lines().count());
            }
        }
    }
}

#[test]
fn a_runner_that_does_not_drift_is_clean() {
    let text = check(&[&clean()], "").exits(0);
    assert!(text.out.starts_with("0 errors, 0 warnings in ") && text.out.ends_with(" records of 1 file\n"), "{text:?}");
    let json = check(&["--format", "json", &clean()], "").exits(0).json();
    assert_eq!(json["runner"], "open-responses");
    assert_eq!((&json["findings"], &json["files"][0]["surface"]), (&json!([]), &json!("sse")));
    assert!(json["summary"]["records"].as_u64().unwrap() > 5);
    check(&["--format", "junit", &clean()], "")
        .exits(0)
        .prints(&["<testsuite name=\"framegate check open-responses\""]);
}

/// The clean recording with a renamed field in every delta, and the number of deltas.
fn drifted() -> (String, u64) {
    let text = std::fs::read_to_string(clean()).unwrap();
    let deltas = text.matches("\"type\":\"response.output_text.delta\"").count() as u64;
    assert!(deltas > 1, "{text}");
    (text.replace("\"delta\":", "\"piece\":"), deltas)
}

#[test]
fn drift_is_counted_by_location_with_its_first_record() {
    let scratch = Scratch::new("drift");
    let (text, deltas) = drifted();
    let file = scratch.file("drifted.sse", &text);
    let json = check(&["--format", "json", &clean(), &file], "").exits(1).json();
    let findings = json["findings"].as_array().unwrap();
    let rules: Vec<&str> = findings.iter().map(|finding| finding["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["drift.unknown_field", "drift.missing_field"], "{json:#}");
    let first = &findings[0];
    assert_eq!((&first["pointer"], &first["type"]), (&json!("/piece"), &json!("response.output_text.delta")));
    assert_eq!((&first["count"], &first["file"]), (&json!(deltas), &Value::from(file.as_str())));
    let offset = first["offset"].as_u64().unwrap() as usize;
    assert!(text[offset..].lines().take(2).any(|line| line.contains("response.output_text.delta")), "{offset}");
    assert_eq!(first["record"], text[..offset].matches("data:").count() as u64 + 1);
    assert!(first["suggestion"].as_str().unwrap().contains("\"delta\""), "{first}");
    assert_eq!(json["summary"]["errors"], 2);
    let text = check(&[&file], "").exits(1);
    let expected =
        format!("({deltas} times, first in the record at byte {offset}): if this is \"delta\" under a new name,");
    text.prints(&["error[drift.unknown_field] response.output_text.delta /piece: ", &expected, "2 errors, 0 warnings"]);
    check(&["--format", "junit", &file], "")
        .exits(1)
        .prints(&["<failure type=\"drift.missing_field\"", "failures=\"1\""]);
}

#[test]
fn the_surface_can_be_given_if_the_records_do_not_show_it() {
    check(&[], "nonsense\n{\"a\":1}\n").exits(2).says(&["standard input", "--surface (sse, ndjson, response)"]);
    let ran = check(&["--surface", "sse"], "nonsense\n{\"a\":1}\n").exits(1);
    ran.prints(&["stdin:1: error[drift.not_json]", "stdin:2: error[drift.unknown_type]", "the record has no type"]);
    check(&["--surface", "sse"], "").exits(1).prints(&["error[records.none]"]);
    check(&["--surface", "ws"], "").exits(2).says(&["\"ws\"", "sse, ndjson, response"]);
}

#[test]
fn input_that_cannot_be_compared_fails() {
    let scratch = Scratch::new("drift-unreadable");
    check(&[&scratch.missing(), &clean()], "").exits(2).says(&["cannot read", "No such file"]);
    let codex = path("codex", "exec-text-plain.ndjson");
    check(&[&codex], "").exits(2).says(&["the records look like codex (exec): "]);
    run(&["check", &clean()], "").exits(2).says(&["--contract <NAME>", "--runner <NAME>"]);
    check(&["--contract", "sse.v1"], "").exits(2).says(&["cannot be used with"]);
    check(&["--show-payload"], "").exits(2).says(&["cannot be used with"]);
    run(&["check", "--contract", "sse.v1", "--surface", "sse"], "").exits(2);
}
