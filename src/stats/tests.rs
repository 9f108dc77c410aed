//! Sums of statuses that are made up, where the recordings have none: limits, absent figures, days, labels.

use super::*;
use crate::runs::RunStatus;
use crate::runs::labels::Labels;
use crate::runs::tool_figures::MOST_TOOLS as TOOLS_OF_RUN;
use serde_json::{Value, json};

/// A status from its stored form.
fn run(more: Value) -> RunStatus {
    let mut status = json!({
        "run_id": "01890000-0000-7000-8000-000000000001", "session_id": "01890000-0000-7000-8000-00000000000a",
        "runner": "codex", "state": "completed", "started_at_ms": 1_000, "updated_at_ms": 4_000, "ended_at_ms": 4_000,
        "frames": 1, "records": 1, "invalid_records": 0, "records_with_errors": 0, "tool_calls": 0, "usage": {}, "warnings": {},
        "pending_approvals": [], "validation_failures": {}, "turns": 1, "failed_tool_calls": 0, "tools": [],
    });
    let fields = status.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    fields.retain(|_, value| !value.is_null());
    serde_json::from_value(status).unwrap()
}

fn report(question: Question, runs: &[RunStatus]) -> Value {
    let mut stats = Stats::new(question);
    for run in runs {
        stats.add(run);
    }
    serde_json::to_value(stats.report()).unwrap()
}

fn by(list: &str) -> Question {
    Question { by: By::list(list).unwrap(), ..Question::default() }
}

fn tool(name: &str, calls: u64, failed: u64, duration_ms: Option<u64>) -> Value {
    let timed = if duration_ms.is_some() { calls } else { 0 };
    json!({"name": name, "kind": "shell", "calls": calls, "failed": failed, "duration_ms": duration_ms, "timed_calls": timed})
}

#[test]
fn what_no_run_reported_is_absent_and_what_one_reported_is_there() {
    let nothing = run(json!({"state": "running", "ended_at_ms": null}));
    let total = &report(by(""), std::slice::from_ref(&nothing))["total"];
    assert_eq!(
        *total,
        json!({"runs": 1, "completed": 0, "failed": 0, "interrupted": 0, "open": 1, "turns": 1, "tool_calls": 0,
            "failed_tool_calls": 0, "runs_with_usage": 0, "runs_with_cost": 0, "warnings": 0,
            "runs_with_computed_cost": 0, "runs_with_approximate_cost": 0, "unpriced_runs": 1})
    );
    let usage = run(
        json!({"usage": {"input_tokens": 0, "output_tokens": 5, "cost_usd": 0.25}, "warnings": {"message.empty_content": 2}}),
    );
    let total = &report(by(""), &[nothing, usage])["total"];
    let expected = [
        ("input_tokens", json!(0)),
        ("output_tokens", json!(5)),
        ("cost_usd", json!(0.25)),
        ("runs_with_cost", json!(1)),
        ("runs_with_usage", json!(1)),
        ("duration_ms", json!(3_000)),
        ("warnings", json!(2)),
        ("open", json!(1)),
    ];
    for (name, figure) in expected {
        assert_eq!(total[name], figure, "{name}");
    }
    assert!(total.get("cache_read_tokens").is_none() && total.get("reasoning_tokens").is_none());
}

#[test]
fn a_run_counts_on_the_day_on_which_it_began() {
    // 2026-11-25T00:00:00Z.
    let midnight = 1_795_564_800_000_u64;
    let runs = [midnight - 1, midnight, midnight + 23 * 3_600_000]
        .map(|at| run(json!({"started_at_ms": at, "ended_at_ms": at + 90_000_000})));
    let days = |zone: &str, since: Option<u64>, until: Option<u64>| {
        let question = Question { zone: zone.parse().unwrap(), since_ms: since, until_ms: until, ..by("day") };
        let report = report(question, &runs);
        let rows = report["data"].as_array().unwrap().iter();
        rows.map(|row| format!("{} {}", row["day"].as_str().unwrap(), row["runs"])).collect::<Vec<_>>()
    };
    assert_eq!(days("Z", None, None), ["2026-11-24 1", "2026-11-25 2"]);
    assert_eq!(days("+01:00", None, None), ["2026-11-25 2", "2026-11-26 1"]);
    assert_eq!(days("-14:00", None, None), ["2026-11-24 2", "2026-11-25 1"]);
    // The first moment counts, the last one does not.
    assert_eq!(days("Z", Some(midnight), None), ["2026-11-25 2"]);
    assert_eq!(days("Z", Some(midnight + 1), Some(midnight + 23 * 3_600_000)), Vec::<String>::new());
    assert_eq!(days("Z", None, Some(midnight)), ["2026-11-24 1"]);
}

#[test]
fn computed_costs_are_summed_exactly_and_reasons_are_counted() {
    let usage = |input: u64| json!({"input_tokens": input, "output_tokens": 0, "model": "gpt-5.5"});
    let at = 1_795_564_800_000_u64;
    let priced = |input: u64| run(json!({"started_at_ms": at, "model": "gpt-5.5", "usage": usage(input)}));
    // A size that costs more, of which the runner does not report the calls.
    let approximate = run(json!({"started_at_ms": at, "model": "gpt-5.5", "usage": usage(300_000)}));
    let unknown = run(json!({"started_at_ms": at, "model": "big", "usage": {"input_tokens": 1, "output_tokens": 1}}));
    let report = report(by("model"), &[priced(1), priced(2), approximate, unknown, run(json!({}))]);
    let total = &report["total"];
    assert_eq!(total["computed_cost_usd"], json!(1.500015));
    let counts =
        ["runs_with_computed_cost", "runs_with_approximate_cost", "unpriced_runs"].map(|key| total[key].as_u64());
    assert_eq!(counts, [Some(3), Some(1), Some(2)]);
    assert_eq!(
        report["unpriced"],
        json!([{"reason": "no_price", "model": "big", "runs": 1}, {"reason": "no_usage", "runs": 1}])
    );
    assert_eq!(report["data"][0].get("computed_cost_usd"), None, "the row of big has no cost: {report:#}");
}

#[test]
fn a_run_is_in_the_row_of_each_of_its_labels_and_once_in_the_total() {
    let labelled =
        run(json!({"labels": {"team": "web", "env": "ci"}, "usage": {"output_tokens": 7, "input_tokens": 1}}));
    let runs = [labelled, run(json!({"labels": {"team": "web"}})), run(json!({}))];
    let all = report(by("label"), &runs);
    let rows: Vec<_> = all["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["label"].as_str(), row["runs"].as_u64().unwrap()))
        .collect();
    assert_eq!(rows, [(Some("env:ci"), 1), (Some("team:web"), 2), (None, 1)]);
    assert_eq!((&all["total"]["runs"], &all["total"]["output_tokens"]), (&json!(3), &json!(7)));
    let labels = vec!["team:web".parse().unwrap(), "env:ci".parse().unwrap()];
    let only = Question { runs: RunFilter { labels, ..RunFilter::default() }, ..by("") };
    assert_eq!(report(only, &runs)["total"]["runs"], 1);
}

#[test]
fn a_row_of_a_tool_has_its_calls_and_no_figures_of_whole_runs() {
    let usage = json!({"output_tokens": 9, "input_tokens": 1, "cost_usd": 1.0});
    let both = run(json!({"tool_calls": 5, "failed_tool_calls": 2, "usage": usage,
        "tools": [tool("bash", 3, 1, Some(30)), tool("read", 2, 1, None)]}));
    let failed = run(
        json!({"state": "failed", "tool_calls": 1, "failed_tool_calls": 1, "tools": [tool("bash", 1, 1, Some(4))]}),
    );
    let old = run(json!({"tool_calls": 8, "tools": null, "failed_tool_calls": null, "turns": null}));
    let report = report(by("tool"), &[both, failed, old, run(json!({}))]);
    let none = json!({"completed": 1, "failed": 0, "interrupted": 0, "open": 0, "runs": 1});
    let row = |more: Value| {
        let mut row = none.as_object().unwrap().clone();
        row.extend(more.as_object().unwrap().clone());
        Value::Object(row)
    };
    assert_eq!(
        report["data"],
        json!([
            row(
                json!({"tool": "bash", "runs": 2, "failed": 1, "tool_calls": 4, "failed_tool_calls": 2, "tool_duration_ms": 34})
            ),
            row(json!({"tool": "read", "tool_calls": 2, "failed_tool_calls": 1})),
            row(json!({"tool_calls": 8})),
        ])
    );
    assert_eq!((&report["total"]["runs"], &report["total"]["tool_calls"]), (&json!(4), &json!(14)));
    assert_eq!((&report["total"]["failed_tool_calls"], &report["runs_without_tools"]), (&json!(3), &json!(1)));
    assert_eq!(report["tools"][0], tool("bash", 4, 2, Some(34)));
    assert_eq!(report["tools"].as_array().unwrap().len(), 2);
}

#[test]
fn a_tool_of_two_kinds_counts_its_run_once() {
    let mut search = tool("find", 2, 0, None);
    search["kind"] = json!("search");
    let two = run(json!({"tool_calls": 3, "tools": [tool("find", 1, 0, None), search]}));
    let report = report(by("tool"), &[two]);
    assert_eq!((&report["data"][0]["runs"], &report["data"][0]["tool_calls"]), (&json!(1), &json!(3)));
    assert_eq!((report["data"].as_array().unwrap().len(), report["tools"].as_array().unwrap().len()), (1, 2));
}

#[test]
fn groups_beyond_the_limit_are_summed_in_a_row_that_says_so() {
    let session = |nth: usize| format!("01890000-0000-7000-8000-{nth:012x}");
    let beyond = 7;
    let runs: Vec<RunStatus> = (0..MOST_ROWS + beyond)
        .flat_map(|nth| [json!({"session_id": session(nth)}), json!({"session_id": session(nth), "labels": {"a": "1", "b": "2"}})])
        .map(|more| run(json!({"session_id": more["session_id"], "labels": more["labels"], "usage": {"output_tokens": 1, "input_tokens": 1}})))
        .collect();
    let report = report(by("session"), &runs);
    let rows = report["data"].as_array().unwrap();
    assert_eq!(rows.len(), MOST_ROWS + 1);
    let rest = rows.last().unwrap();
    assert_eq!((&rest["rest"], rest.get("session"), &rest["runs"]), (&json!(true), None, &json!(2 * beyond)));
    let sum: u64 = rows.iter().map(|row| row["output_tokens"].as_u64().unwrap()).sum();
    assert_eq!(report["total"]["output_tokens"], sum);
}

#[test]
fn a_run_beyond_the_limit_counts_once_in_the_rest() {
    let mut stats = Stats::new(by("label,tool"));
    stats.rows =
        (0..MOST_ROWS).map(|nth| (vec![group::Part::Model(nth.to_string().into())], Figures::default())).collect();
    let tools = [tool("bash", 3, 1, Some(30)), tool("read", 2, 1, None)];
    let steps = stats.add(&run(json!({"tool_calls": 5, "labels": {"a": "1", "b": "2"}, "tools": tools})));
    assert_eq!(steps, 5, "two labels and two tools are four groups");
    let rest = serde_json::to_value(stats.rest.unwrap()).unwrap();
    assert_eq!(
        rest,
        json!({"runs": 1, "completed": 1, "failed": 0, "interrupted": 0, "open": 0, "tool_calls": 5, "failed_tool_calls": 2,
            "tool_duration_ms": 30})
    );
}

#[test]
fn tools_beyond_the_limits_are_summed_in_an_entry_that_says_so() {
    let mut rest = tool("other", 4, 1, Some(6));
    rest["rest"] = json!(true);
    let runs: Vec<RunStatus> = (0..MOST_TOOLS + 3)
        .map(|nth| run(json!({"tool_calls": 5, "tools": [tool(&format!("tool {nth}"), 1, 0, None), rest]})))
        .collect();
    let report = report(by("tool"), &runs);
    let tools = report["tools"].as_array().unwrap();
    assert_eq!(tools.len(), MOST_TOOLS + 1);
    let all: u64 = tools.iter().map(|tool| tool["calls"].as_u64().unwrap()).sum();
    assert_eq!(report["total"]["tool_calls"], all);
    let last = tools.last().unwrap();
    assert_eq!((&last["rest"], &last["calls"]), (&json!(true), &json!((MOST_TOOLS + 3) * 4 + 3)));
    let row = report["data"].as_array().unwrap().iter().find(|row| row["rest"] == true).unwrap();
    assert_eq!(
        (&row["runs"], &row["tool_calls"], row.get("tool")),
        (&json!(MOST_TOOLS + 3), &json!((MOST_TOOLS + 3) * 4), None)
    );
}

/// The work for a run does not depend on the number of runs, only on the groups that the run is in.
#[test]
fn ten_thousand_runs_take_a_step_for_each_group_of_each() {
    let labels = json!({"team": "web", "env": "ci"});
    let tools = [tool("bash", 3, 1, Some(30)), tool("read", 2, 1, None), tool("edit", 2, 1, None)];
    let runs: Vec<RunStatus> = (0..10_000_u64)
        .map(|nth| run(json!({"started_at_ms": nth * 3_600_000, "ended_at_ms": nth * 3_600_000 + 1, "labels": labels, "tool_calls": 7, "tools": tools})))
        .collect();
    for (list, groups) in
        [("", 0), ("day,runner,model", 1), ("session", 1), ("day,label", 2), ("day,tool", 3), ("label,tool", 6)]
    {
        let mut stats = Stats::new(by(list));
        let steps: usize = runs.iter().map(|run| stats.add(run)).sum();
        assert_eq!(steps, 10_000 * (groups + 1), "{list}");
        assert!(stats.rows.len() <= MOST_ROWS + 1);
    }
    // The most groups that a run can be in.
    let most = TOOLS_OF_RUN + 1;
    let tools: Vec<Value> = (0..most).map(|nth| tool(&nth.to_string(), 1, 0, None)).collect();
    let labels = Labels::of((0..16).map(|nth| format!("k{nth}:v").parse().unwrap())).unwrap();
    assert_eq!(
        Stats::new(by("label,tool")).add(&run(json!({"tool_calls": most, "tools": tools, "labels": labels}))),
        16 * most + 1
    );
}

#[test]
fn sums_of_hostile_figures_stay_numbers() {
    let large = run(
        json!({"usage": {"input_tokens": u64::MAX, "output_tokens": u64::MAX, "cost_usd": f64::MAX}, "tool_calls": u64::MAX}),
    );
    let report = report(by("runner"), &[large.clone(), large]);
    assert_eq!((&report["total"]["input_tokens"], &report["total"]["cost_usd"]), (&json!(u64::MAX), &json!(f64::MAX)));
    assert_eq!(report["data"][0]["tool_calls"], json!(u64::MAX));
    let earlier = run(json!({"started_at_ms": u64::MAX, "ended_at_ms": 0}));
    let report = self::report(by("day"), &[earlier]);
    assert_eq!((&report["data"][0]["day"], &report["total"]["duration_ms"]), (&json!("9999-12-30"), &json!(0)));
}

#[test]
fn a_report_is_read_as_it_was_written() {
    let runs = [
        run(json!({"labels": {"a": "1"}, "tool_calls": 1, "tools": [tool("bash", 1, 0, Some(1))]})),
        run(json!({"tools": null})),
    ];
    let mut stats = Stats::new(by("day,label,tool"));
    for run in &runs {
        stats.add(run);
    }
    let report = stats.report();
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
}
