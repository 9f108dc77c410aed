//! Which model the usage of a call names: the thread's, the one that the parent's thread names for a subagent, or the one that the
//! provider put in its place.

use super::{A, B, begin, end, events, item, refs};
use framegate_translators::contracts::contract;
use framegate_translators::runners::runner;
use serde_json::Value;

fn thread_of(of: &str) -> &str {
    of.split('"').nth(3).unwrap()
}

/// The response to a client that started a thread.
fn opened(of: &str, model: &str) -> String {
    format!(r#"{{"id":1,"result":{{"thread":{{"id":"{}"}},"model":"{model}"}}}}"#, thread_of(of))
}

fn used(of: &str, total: u64) -> String {
    let tokens = |count: u64| format!(r#"{{"inputTokens":{count},"outputTokens":{count},"cachedInputTokens":0}}"#);
    format!(
        r#"{{"method":"thread/tokenUsage/updated","params":{{{of},"tokenUsage":{{"total":{},"last":{}}}}}}}"#,
        tokens(total),
        tokens(10)
    )
}

fn spawn(status: &str, model: &str, receivers: &str) -> String {
    format!(
        r#"{{"type":"collabAgentToolCall","id":"s","tool":"spawnAgent","status":"{status}","receiverThreadIds":[{receivers}],"prompt":"p","model":"{model}","agentsStates":{{}}}}"#
    )
}

/// The scope, model and input tokens of each `usage_reported`.
fn usage(lines: &[String]) -> Vec<String> {
    let frames = events(runner("codex").unwrap(), contract("frames.v2").unwrap(), refs(lines).join("\n").as_bytes());
    let brief =
        |frame: &Value| format!("{} {} {}", frame["scope"], frame["model"], frame["input_tokens"]).replace('"', "");
    frames.iter().filter(|frame| frame["type"] == "usage_reported").map(brief).collect()
}

#[test]
fn calls_of_a_subagent_name_its_model_and_a_mixed_total_names_none() {
    let run = |child: &str| {
        let named = format!("\"{}\"", thread_of(B));
        usage(&[
            opened(A, "big"),
            begin(A, "ta", "ta"),
            item("started", A, &spawn("inProgress", "", "")),
            item("completed", A, &spawn("completed", child, &named)),
            begin(B, "tb", "ta"),
            used(B, 10),
            end(B, "tb", "completed"),
            used(A, 10),
            end(A, "ta", "completed"),
        ])
    };
    assert_eq!(run("small"), ["turn small 10", "turn big 10", "run null 20"]);
    assert_eq!(run("big"), ["turn big 10", "turn big 10", "run big 20"]);
    assert_eq!(run(""), ["turn null 10", "turn big 10", "run null 20"]);
}

#[test]
fn an_activity_names_the_model_of_a_subagent() {
    let activity = format!(
        r#"{{"type":"subAgentActivity","id":"s","kind":"started","agentThreadId":"{}","agentPath":"/root/x","model":"small"}}"#,
        thread_of(B)
    );
    let lines = [
        opened(A, "big"),
        begin(A, "ta", "ta"),
        item("completed", A, &activity),
        begin(B, "tb", "ta"),
        used(B, 10),
        end(B, "tb", "completed"),
        end(A, "ta", "completed"),
    ];
    assert_eq!(usage(&lines), ["turn small 10", "run small 10"]);
}

#[test]
fn a_rerouted_turn_names_the_model_that_answers() {
    let reroute =
        format!(r#"{{"method":"model/rerouted","params":{{{A},"turnId":"ta","fromModel":"big","toModel":"small"}}}}"#);
    let lines = [
        opened(A, "big"),
        begin(A, "ta", "ta"),
        reroute,
        used(A, 10),
        end(A, "ta", "completed"),
        begin(A, "tb", "tb"),
        used(A, 20),
        end(A, "tb", "completed"),
    ];
    assert_eq!(usage(&lines), ["turn small 10", "run small 10", "turn big 10", "run big 10"]);
}
