//! Cases of the runners' documented formats that no recording covers: other orders, other tools, other surfaces. Each one is
//! translated to every contract, and the checks of every contract must find no error.

mod agent_manager;
mod calls;
mod limits;
mod reviews;
mod subagents;
mod usage;

use framegate_translators::contracts::contract;
use framegate_translators::runners::runner;
use serde_json::Value;

/// The events of a runner's records in one contract. Also checks the events in every contract.
pub fn events_of(runner_name: &str, name: &str, records: &[Value]) -> Vec<Value> {
    let runner = runner(runner_name).unwrap();
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let bytes = lines.join("\n").into_bytes();
    for contract in crate::support::json_contracts() {
        crate::support::assert_clean(contract, &crate::support::translate(runner, contract, &bytes), runner_name);
    }
    crate::support::well_formed(&crate::support::frames(runner, &bytes), runner_name);
    crate::support::events(runner, contract(name).unwrap(), &bytes)
}

/// The frames of these types, from runs only.
pub fn frames(runner: &str, records: &[Value], kinds: &[&str]) -> Vec<Value> {
    let of_run = |frame: &Value| frame["stream_kind"] == "session";
    let mut frames = events_of(runner, "frames.v2", records);
    frames.retain(|frame| of_run(frame) && kinds.contains(&frame["type"].as_str().unwrap()));
    frames
}

/// The ends of the runs: reason, code and final text of each.
pub fn ends(runner: &str, records: &[Value]) -> Vec<(String, String, String)> {
    let text = |frame: &Value, key: &str| frame[key].as_str().unwrap_or_default().to_owned();
    let ended = frames(runner, records, &["session_ended"]);
    ended.iter().map(|end| (text(end, "reason"), text(end, "error_code"), text(end, "final_text"))).collect()
}

/// The data of the events of one type.
pub fn data<'e>(events: &'e [Value], type_key: &str, kind: &str, data_key: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event[type_key] == kind).map(|event| &event[data_key]).collect()
}
