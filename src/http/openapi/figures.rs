//! The description of `GET /v1/stats`, and the schemas of its answer.

use super::{body, costs, described, merged, problems};
use crate::runs::labels::{KEY_BYTES, MOST_LABELS, VALUE_BYTES};
use crate::runs::tool_figures::MOST_TOOLS as TOOLS_OF_RUN;
use crate::stats::{By, MOST_ROWS, MOST_TOOLS};
use serde_json::{Value, json};

/// `GET /v1/stats`.
pub(in crate::http) fn stats() -> Value {
    let csv = json!({"schema": {"type": "string", "description": "The rows (without `by`: the total), with a header. An absent figure \
        is an empty cell; a text that a spreadsheet would take for a formula has an apostrophe before it."}});
    let mut figures = body("The figures.", "application/json", "Stats");
    if let Some(content) = figures.pointer_mut("/content").and_then(Value::as_object_mut) {
        content.insert("text/csv".to_owned(), csv);
    }
    described(
        "getStats",
        "Figures over the stored runs: how they ended, time, tokens, cost, tools.",
        merged(&[json!({"200": figures}), problems(&[400, 406], "Problem")]),
        &["by", "tz", "since", "until", "runner", "session_id", "model", "directory", "repository", "branch", "label"],
    )
}

/// The parameters that only figures have.
pub(super) fn parameters() -> Value {
    let by: Vec<&str> = By::ALL.into_iter().map(By::as_str).collect();
    let query = |name: &str, about: &str, schema: Value| json!({"name": name, "in": "query", "description": about, "schema": schema});
    let since = json!({"type": "integer", "minimum": 0});
    let about = format!(
        "What makes a group, separated by commas: {}. Without it, there is only the total.",
        by.iter().map(|by| format!("`{by}`")).collect::<Vec<_>>().join(", ")
    );
    let label = format!("Only runs with this label, as `key:value`. It may be given up to {MOST_LABELS} times.");
    json!({
        "by": query("by", &about, json!({"type": "string"})),
        "tz": query("tz", "Where days begin: an offset from UTC such as `-08:00` or `%2B02:00`. Default: UTC.", json!({"type": "string"})),
        "since": query("since", "Only runs that began then or later, in Unix epoch milliseconds.", since.clone()),
        "until": query("until", "Only runs that began before, in Unix epoch milliseconds.", since),
        "model": query("model", "Only runs that named this model last, as the runner spells it.", json!({"type": "string"})),
        "directory": query("directory", "Only runs in this working directory, as the runner spells it.", json!({"type": "string"})),
        "repository": query("repository", "Only runs in this repository, as `host/path`.", json!({"type": "string"})),
        "branch": query("branch", "Only runs on this branch.", json!({"type": "string"})),
        "label": query("label", &label, labels_of_query()),
        "history": query("history", "The body is a session file that the runner has written: runs that the proxy has from another output of the runner are not stored again.", json!({"enum": ["0", "1", "true", "false"]})),
        "new_label": query("label", &format!("A label of the runs that this body begins, as `key:value`. {}", label_bounds()), labels_of_query()),
    })
}

fn labels_of_query() -> Value {
    json!({"type": "array", "items": {"type": "string"}, "maxItems": MOST_LABELS})
}

fn label_bounds() -> String {
    format!(
        "At most {MOST_LABELS}; a key has 1 to {KEY_BYTES} of the characters `a-z A-Z 0-9 . _ - /` and begins with a letter or digit, a \
         value has 1 to {VALUE_BYTES} bytes."
    )
}

/// The labels of a run, in a status or in a request.
pub(in crate::http) fn labels(about: &str) -> Value {
    json!({"type": "object", "description": format!("{about} {}", label_bounds()), "maxProperties": MOST_LABELS,
        "additionalProperties": {"type": "string"}})
}

/// The fields of a run's status from which the figures come.
pub(super) fn of_run() -> Value {
    let count = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
    json!({
        "labels": labels("What the client that sent or started the run said about it."),
        "turns": count("Model calls of the main thread; absent if an older version stored the status."),
        "tool_calls": count("Tool calls that began, including those of subagents."),
        "failed_tool_calls": count("Tool calls that were refused or interrupted, that never ran, or that ended with an exit code other \
            than 0; absent if an older version stored the status."),
        "tools": {"type": "array", "items": {"$ref": "#/components/schemas/ToolFigures"},
            "description": "The tool calls by tool, in the order of the first calls; absent if an older version stored the status."},
    })
}

pub(super) fn schemas() -> Value {
    let count = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
    let text = |about: &str| json!({"type": "string", "description": about});
    let tool = json!({
        "type": "object",
        "description": "The calls of a tool.",
        "required": ["name", "kind", "calls", "failed", "timed_calls"],
        "properties": {
            "name": text("The tool's name as the runner spells it, cut after 120 characters."),
            "kind": {"enum": ["shell", "read", "write", "edit", "search", "fetch", "mcp", "plan", "subagent", "other"]},
            "calls": count("Calls that began."),
            "failed": count("Calls that were refused or interrupted, that never ran, or that ended with an exit code other than 0."),
            "duration_ms": count("The sum of the durations of `timed_calls`, in milliseconds; absent if there are none."),
            "timed_calls": count("Calls that ran to their end, successfully or not, and whose duration is known."),
            "rest": {"type": "boolean", "description": format!("True in the last entry if it sums the tools beyond the first \
                {TOOLS_OF_RUN} of a run, or beyond {MOST_TOOLS} of an answer; its name is `other`.")},
        },
    });
    let figures = json!({
        "runs": count("The runs of the group."),
        "completed": count("Runs that succeeded."),
        "failed": count("Runs that failed."),
        "interrupted": count("Runs that were stopped, or whose stream broke off."),
        "open": count("Runs that have not ended yet."),
        "duration_ms": count("The time from the first to the last frame of the runs that have ended, in milliseconds."),
        "turns": count("Model calls of the main threads."),
        "tool_calls": count("Tool calls that began."),
        "failed_tool_calls": count("Tool calls that were refused or interrupted, that never ran, or that ended with an exit code other than 0."),
        "tool_duration_ms": count("The time of the tool calls that ran to their end, in milliseconds. Calls at the same time count separately."),
        "input_tokens": count("Input tokens read outside the cache."),
        "output_tokens": count("Output tokens, including reasoning."),
        "cache_read_tokens": count("Input tokens read from the cache."),
        "cache_creation_tokens": count("Input tokens written to the cache."),
        "reasoning_tokens": count("The part of `output_tokens` that was reasoning."),
        "runs_with_usage": count("The runs that reported tokens."),
        "runs_with_cost": count("The runs that reported a cost."),
        "warnings": count("Warnings about the runs."),
    });
    let required = ["runs", "completed", "failed", "interrupted", "open", "tool_calls"];
    let keys = json!({
        "day": text("The day on which the runs began, as YYYY-MM-DD."),
        "runner": text("Their runner."),
        "model": text("The last model that they named."),
        "session": text("The id of their session."),
        "label": text("A label of theirs, as `key:value`. A run is in the group of each of its labels."),
        "directory": text("Their working directory."),
        "repository": text("Their repository, as `host/path`."),
        "branch": text("Their branch."),
        "tool": text("A tool that they called. Its calls are the only ones in the row, which has no figures of whole runs."),
        "rest": {"type": "boolean", "description": format!("True in a row that sums what is beyond a limit: without keys, the groups \
            beyond the first {MOST_ROWS}; with keys, the tools beyond the first {TOOLS_OF_RUN} of a run.")},
    });
    let by: Vec<&str> = By::ALL.into_iter().map(By::as_str).collect();
    let list = |name: &str| json!({"type": "array", "items": {"$ref": format!("#/components/schemas/{name}")}});
    json!({
        "ToolFigures": tool,
        "StatsFigures": {"type": "object", "required": required, "properties": merged(&[figures.clone(), costs::figures()]),
            "description": "Sums over a group of runs. A figure that no run of the group reported is absent."},
        "StatsRow": {"type": "object", "required": required, "properties": merged(&[keys, figures, costs::figures()]),
            "description": "One group. What its runs do not have, and what none of them reported, is absent."},
        "Stats": {"type": "object", "required": ["object", "by", "data", "total", "tools"], "properties": {
            "object": {"const": "list"},
            "by": {"type": "array", "items": {"enum": by}},
            "data": list("StatsRow"),
            "total": {"$ref": "#/components/schemas/StatsFigures"},
            "tools": list("ToolFigures"),
            "runs_without_tools": count("Runs whose tools are not known, because an older version stored their status; absent if there are none."),
            "unpriced": costs::unpriced(),
        }},
    })
}
