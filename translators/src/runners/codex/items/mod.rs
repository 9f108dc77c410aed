//! Items: the contents of a turn, equal on all three surfaces except for the spelling.
//!
//! Input: an item, and the phase that the record reports. Output: frames. Never: an item reported twice because both its start
//! and its end contain the whole item.

mod agents;
mod commands;
mod files;
mod outputs;
mod texts;

pub(super) use agents::Agents;
pub(super) use commands::{begin_command, command_args, end_command};
pub(super) use files::{begin_edit, changes_of, edit_args, end_edit, patch_changes};
pub(super) use outputs::{content_text, error_text, result_text};
pub(super) use texts::{plan_entries, raw_reasoning, user_message};

use super::snake;
use super::thread_context::{CompactionRecord, ThreadContext};
use crate::frame::{LogLevel, OutputStream, RawJson, ToolKind};
use crate::json::{Json, Kind, Object, to_raw};
use std::borrow::Cow;

/// The phase of an item that a record reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Started,
    Updated,
    Completed,
}

/// The status of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Running,
    Completed,
    Failed,
    /// A person or the policy refused it.
    Declined,
    Interrupted,
}

/// An item, in any spelling.
pub(super) struct Item<'a> {
    /// The item's id. If the key occurs twice, the first one is the item's own.
    pub(super) id: Cow<'a, str>,
    /// The type, in the spelling of `exec`.
    pub(super) word: String,
    fields: Object<'a>,
}

impl<'a> Item<'a> {
    pub(super) fn read(fields: Object<'a>) -> Self {
        let id = fields.iter().find(|(key, _)| *key == "id").and_then(|(_, id)| id.str()).unwrap_or_default();
        let word = fields.str("type").or_else(|| fields.str("item_type")).map(|word| snake(&word)).unwrap_or_default();
        let word = match word.as_str() {
            "assistant_message" => "agent_message".to_owned(),
            "collab_agent_tool_call" => "collab_tool_call".to_owned(),
            _ => word,
        };
        Self { id, word, fields }
    }

    fn get(&self, snake: &str, camel: &str) -> Option<Json<'a>> {
        self.fields.some(snake).or_else(|| self.fields.some(camel))
    }

    fn str(&self, snake: &str, camel: &str) -> Option<Cow<'a, str>> {
        self.get(snake, camel)?.str()
    }

    /// The item's own status; `None` if it has none. The phase of the record then decides whether it is complete.
    pub(super) fn status(&self) -> Option<Status> {
        Some(match snake(&self.fields.str("status")?).as_str() {
            "in_progress" => Status::Running,
            "completed" => Status::Completed,
            "failed" => Status::Failed,
            "declined" => Status::Declined,
            "interrupted" => Status::Interrupted,
            _ => return None,
        })
    }

    /// The duration in milliseconds, from any of its three spellings.
    fn duration_ms(&self) -> Option<u64> {
        if let Some(ms) = self.get("duration_ms", "durationMs") {
            return ms.u64();
        }
        if let Some(duration) = self.fields.object("duration") {
            return Some(duration.u64("secs")?.saturating_mul(1000) + duration.u64("nanos").unwrap_or(0) / 1_000_000);
        }
        let (start, end) = (self.fields.u64("startedAtMs")?, self.fields.u64("completedAtMs")?);
        end.checked_sub(start)
    }

    /// The fields that describe the item, as the arguments of a call.
    fn rest(&self, leave_out: &[&str]) -> RawJson {
        const BOOKS: [&str; 8] =
            ["id", "type", "item_type", "status", "startedAtMs", "completedAtMs", "durationMs", "duration"];
        // How long to sleep is what the model asked for, and not how long the item took.
        let is_asked = |key: &str| self.word == "sleep" && matches!(key, "durationMs" | "duration_ms");
        let keep = |key: &str| is_asked(key) || !BOOKS.contains(&key) && !leave_out.contains(&key);
        let fields: serde_json::Map<_, _> = self
            .fields
            .iter()
            .filter(|(key, value)| keep(key) && !value.is_null())
            .filter_map(|(key, value)| Some((snake(key), crate::json::value(value.text().as_bytes()).ok()?)))
            .collect();
        to_raw(&fields)
    }
}

/// JSON as arguments on one line. Values other than objects become a string, or an empty object if null or missing.
pub(super) fn arguments(json: Option<Json<'_>>) -> RawJson {
    let Some(json) = json else { return crate::json::empty_object() };
    match json.kind() {
        Kind::Null => crate::json::empty_object(),
        Kind::Object if !json.text().contains(['\n', '\r']) => json.to_raw(),
        Kind::Object => crate::json::value(json.text().as_bytes()).map_or_else(|_| to_raw(json.text()), |v| to_raw(&v)),
        Kind::String => to_raw(&*json.str().unwrap_or_default()),
        _ => to_raw(json.text()),
    }
}

/// Reports an item. Returns `false` if its type is unknown.
pub(super) fn report(context: &mut ThreadContext<'_>, agents: &mut Agents, item: &Item<'_>, phase: Phase) -> bool {
    let done = phase == Phase::Completed;
    if phase == Phase::Started {
        context.first_mention(&item.id);
    }
    match item.word.as_str() {
        "agent_message" | "plan" => texts::message(context, item, done),
        "reasoning" => texts::reasoning(context, item, done),
        "user_message" if done => texts::user(context, item),
        "todo_list" => texts::todo_list(context, item),
        "error" if done => context.log(LogLevel::Warn, item.str("message", "message").unwrap_or_default()),
        "command_execution" => commands::command(context, item, done),
        "file_change" => files::file_change(context, item, done),
        "mcp_tool_call" => outputs::mcp(context, item, done),
        "dynamic_tool_call" => outputs::dynamic(context, item, done),
        "function_call_output" if done => outputs::function_output(context, item),
        "collab_tool_call" => agents.collab(context, item, done),
        "sub_agent_activity" if done => agents.activity(context, item),
        "web_search" => web_search(context, item, done),
        "image_view" => simple(context, item, ToolKind::Read, done),
        "image_generation" | "sleep" | "extension" => simple(context, item, ToolKind::Other, done),
        "context_compaction" if done => context.compaction(CompactionRecord::Item, None),
        "entered_review_mode" if done => {
            let what = item.str("user_facing_hint", "review").unwrap_or_default();
            context.log(LogLevel::Info, format!("review started: {what}"));
        }
        "exited_review_mode" if done => context.log(LogLevel::Info, "review ended"),
        "user_message"
        | "error"
        | "function_call_output"
        | "sub_agent_activity"
        | "context_compaction"
        | "entered_review_mode"
        | "exited_review_mode"
        | "hook_prompt" => {}
        _ => return false,
    }
    true
}

/// The start of a search does not contain the query, so its call is reported at the end.
fn web_search(context: &mut ThreadContext<'_>, item: &Item<'_>, done: bool) {
    if !done {
        let most = context.normalizer.most_open();
        return context.turn.searches.begin(&item.id, most);
    }
    context.turn.searches.end(&item.id);
    context.begin(&item.id, "web_search", ToolKind::Search, || item.rest(&["results"]));
    if let Some(results) = item.get("results", "results") {
        context.output(&item.id, OutputStream::Stdout, content_text(results));
    }
    context.end(&item.id, 0, item.duration_ms());
}

/// Reports an item that is its own tool and has no separate result.
fn simple(context: &mut ThreadContext<'_>, item: &Item<'_>, kind: ToolKind, done: bool) {
    const RESULT: [&str; 6] = ["result", "failure", "savedPath", "saved_path", "fileId", "file_id"];
    context.begin(&item.id, &item.word, kind, || item.rest(&RESULT));
    if !done {
        return;
    }
    let path = item.str("saved_path", "savedPath").or_else(|| item.str("file_id", "fileId"));
    context.output(&item.id, OutputStream::Stdout, path.unwrap_or_default());
    let failure = item.get("failure", "failure");
    if let Some(failure) = failure {
        context.output(&item.id, OutputStream::Stderr, content_text(failure));
    }
    let failed = failure.is_some() || item.status() == Some(Status::Failed);
    context.end(&item.id, i32::from(failed), item.duration_ms());
}
