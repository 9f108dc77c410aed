//! `framegate contracts`, `runners`, `schema` and `rules`, the built binary.

use crate::program::{run, run_without_reader};
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::runners::RUNNERS;
use serde_json::Value;

#[test]
fn every_contract_and_runner_is_listed() {
    let (contracts, runners) = (run(&["contracts"], "").exits(0), run(&["runners"], "").exits(0));
    assert_eq!(contracts.out.lines().count(), CONTRACTS.len());
    assert_eq!(runners.out.lines().count(), RUNNERS.len());
    for (line, contract) in contracts.out.lines().zip(CONTRACTS) {
        assert!(line.starts_with(contract.name) && line.ends_with(contract.about), "{line}");
    }
    let contracts = run(&["contracts", "--json"], "").exits(0).json();
    let runners = run(&["runners", "--json"], "").exits(0).json();
    let names = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&contracts), CONTRACTS.iter().map(|contract| contract.name).collect::<Vec<_>>());
    assert_eq!(names(&runners), RUNNERS.iter().map(|runner| runner.name).collect::<Vec<_>>());
    for (entry, contract) in contracts.as_array().unwrap().iter().zip(CONTRACTS) {
        assert_eq!(entry["types"].as_array().unwrap().len(), contract.schemas.len());
        assert_eq!(entry["log"], contract.log.is_some(), "{}", contract.name);
    }
}

#[test]
fn every_redaction_rule_is_listed_with_what_it_finds() {
    use framegate_translators::redact::{Rules, Settings, rule_names};
    let table = run(&["rules"], "").exits(0);
    let lines: Vec<&str> = table.out.lines().collect();
    assert_eq!(lines.len(), rule_names().count());
    for (line, (name, about)) in lines.into_iter().zip(rule_names()) {
        assert!(line.starts_with(name) && line.ends_with(about), "{line}");
    }
    let json = run(&["rules", "--json"], "").exits(0).json();
    let rules = json.as_array().unwrap();
    for rule in rules {
        let name = rule["name"].as_str().unwrap();
        let expected: Vec<&str> = rule_names().filter(|(of, _)| *of == name).map(|(_, about)| about).collect();
        assert_eq!(rule["finds"], serde_json::json!(expected));
        // Each name can be disabled.
        assert!(Rules::new(Settings { disabled: vec![name.to_owned()], ..Settings::default() }).is_ok());
    }
    assert_eq!(rules.iter().filter(|rule| rule["name"] == "github-token").count(), 1);
}

#[test]
fn every_schema_is_printed_unchanged() {
    for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        let bundle = run(&["schema", contract.name], "").exits(0).json();
        let all = bundle["$defs"].as_object().unwrap();
        assert_eq!(all.len(), contract.schemas.len(), "{}", contract.name);
        assert_eq!(bundle["oneOf"].as_array().unwrap().len(), contract.schemas.len(), "{}", contract.name);
        for file in contract.schemas {
            assert_eq!(all[file.kind], serde_json::from_str::<Value>(file.text()).unwrap());
        }
        let file = &contract.schemas[0];
        assert_eq!(run(&["schema", contract.name, file.kind], "").exits(0).out.trim_end(), file.text().trim_end());
    }
}

#[test]
fn document_schemas_are_printed_whole_and_by_type() {
    for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        let whole = run(&["schema", contract.name, "--document"], "").exits(0).out;
        assert_eq!(whole.trim_end(), contract.document_schema.unwrap().text().trim_end());
    }
    let one = run(&["schema", "hecate.v1", "approval.requested", "--document"], "").exits(0).json();
    let names: Vec<&String> = one["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["approval.requested", "event"]);
    assert_eq!(one["$ref"], "#/$defs/approval.requested");
    let data = &one["$defs"]["approval.requested"]["properties"]["data"];
    assert_eq!(data["required"], serde_json::json!(["approval_id", "tool_call_id", "kind", "summary"]));
    run(&["schema", "pixir.v1", "turn_faild", "--document"], "").exits(2).says(&["did you mean \"turn_failed\"?"]);
    run(&["schema", "sse.v1", "--document", "--typescript"], "").exits(2);
}

#[test]
fn the_typescript_declarations_are_printed_as_published() {
    for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        let path = format!("{}/schemas/types/{}.d.ts", env!("CARGO_MANIFEST_DIR"), contract.name);
        let out = run(&["schema", contract.name, "--typescript"], "").exits(0).out;
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            out == kept,
            "{path} differs; FRAMEGATE_BLESS=1 cargo test -p framegate-translators --test contracts published rewrites it"
        );
    }
    run(&["schema", "sse.v1", "run_started", "--typescript"], "")
        .exits(2)
        .says(&["--typescript", "cannot be used with"]);
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    run(&["schema", "sse.v1", "run_stated"], "").exits(2).says(&[
        "sse.v1 has no event type \"run_stated\"",
        "did you mean \"run_started\"?",
        "known: run_started, ",
    ]);
    run(&["schema", "sse.1"], "").exits(2).says(&["'sse.1'", "'sse.v1'"]);
    run(&["schema", "raw"], "").exits(2).says(&["'raw'", "frames.v1"]);
    run(&["tranlate"], "").exits(2).says(&["'tranlate'", "'translate'"]);
}

#[test]
fn a_closed_output_ends_the_command_quietly() {
    assert_eq!(run_without_reader(&["schema", "frames.v2"]), (Some(0), String::new()));
}
