//! The API traffic in session files: calls with their outputs, and reasoning with its encrypted form.
//!
//! Input: `response_item` lines. Output: the calls, under the names that items use, and their ends if no item reports them.
//! Never: a message; events report those.

use super::super::items::{
    Agents, Status, arguments, begin_command, begin_edit, changes_of, content_text, end_command, end_edit,
    patch_changes, plan_entries, raw_reasoning,
};
use super::super::thread_context::{Caller, ThreadContext};
use super::Rollout;
use super::events::nameless;
use super::report::{Report, seconds_ms};
use super::sessions::Sessions;
use crate::frame::{OutputStream, RawJson, ToolKind};
use crate::json::{Json, Object, to_raw};
use crate::normalizer::{Block, Normalizer};
use std::borrow::Cow;

/// Items that events report, or that have no corresponding frame.
const SILENT: &[&str] = &[
    "message",
    "agent_message",
    "additional_tools",
    "web_search_call",
    "configuration_update",
    "compaction",
    "compaction_summary",
    "compaction_trigger",
    "context_compaction",
    "ghost_snapshot",
    "other",
];

/// Items with which the model makes a call that another item answers.
const CALLS: &[&str] = &["function_call", "custom_tool_call", "local_shell_call", "tool_search_call"];

/// The name that items give to calls that manage agents.
const COLLAB: &str = "collab_tool_call";

impl Rollout {
    pub(super) fn item_of_api(&mut self, json: Json<'_>, item: &Object<'_>, normalizer: &mut Normalizer) {
        let word = item.str("type").unwrap_or_default();
        let from_model = match &*word {
            "message" => item.str("role").as_deref() == Some("assistant"),
            "reasoning" | "web_search_call" | "image_generation_call" => true,
            word => CALLS.contains(&word),
        };
        if from_model {
            self.ensure_model_call(normalizer);
        }
        let cwd = std::mem::take(&mut self.cwd);
        let mut sessions = std::mem::take(&mut self.sessions);
        let id = item.str("call_id").or_else(|| item.str("id")).unwrap_or_default();
        self.with_context(normalizer, |context, agents| {
            if CALLS.contains(&&*word) {
                context.first_mention(&id);
            }
            match &*word {
                "reasoning" if id.is_empty() => {
                    // A line without an id gets one, so that its text is not part of another line's block.
                    let name = nameless(context, &word);
                    context.turn.nameless += 1;
                    reasoning(context, &name, json, item);
                }
                "reasoning" => reasoning(context, &id, json, item),
                "function_call" | "tool_search_call" => {
                    let name = item.str("name").unwrap_or(Cow::Borrowed("tool_search"));
                    // The model's arguments are JSON in a string, and may be invalid JSON.
                    let text = item.get("arguments").and_then(|args| args.str().or(Some(Cow::Borrowed(args.text()))));
                    let text = text.unwrap_or_default();
                    if &*name == "write_stdin" {
                        sessions.written(&id, &text, context);
                    }
                    let namespace = item.str("namespace").unwrap_or_default();
                    begin((context, agents), &id, (&namespace, &name), &text, &cwd);
                }
                "custom_tool_call" => {
                    let (name, input) = (item.str("name").unwrap_or_default(), item.str("input").unwrap_or_default());
                    match &*name {
                        "apply_patch" => begin_edit(context, &id, &patch_changes(&input, &cwd), "in_progress"),
                        _ => context.begin(&id, &name, ToolKind::Other, || to_raw(&*input)),
                    }
                }
                "local_shell_call" => {
                    let action = item.object("action").unwrap_or_default();
                    begin_command(context, Caller::Model, &id, action.some("command"));
                }
                "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
                    let output = item.get("output").or_else(|| item.get("tools"));
                    end((context, agents), &id, &output.map(content_text).unwrap_or_default(), &mut sessions);
                }
                "message" if item.str("role").as_deref() == Some("user") => {
                    for part in item.items("content") {
                        if let Some(text) = part.object().and_then(|part| part.str("text"))
                            && let Some(notice) = agent_notice(&text)
                        {
                            agents.notified(context, notice);
                        }
                    }
                }
                "image_generation_call" => {
                    let prompt = item.str("revised_prompt");
                    context.begin(&id, "image_generation", ToolKind::Other, || {
                        to_raw(&serde_json::json!({ "revised_prompt": prompt }))
                    });
                    let failed = item.str("status").as_deref() == Some("failed");
                    context.end(&id, i32::from(failed), None);
                }
                _ => {}
            }
        });
        self.cwd = cwd;
        self.sessions = sessions;
        let known = from_model || word.ends_with("_output") || SILENT.contains(&&*word);
        if !known {
            normalizer.unknown(format!("unknown item of the API {word:?}"));
        }
    }
}

/// Reports reasoning with one block per part. The encrypted form is attached to the last block, or to an empty one.
fn reasoning(context: &mut ThreadContext<'_>, id: &str, json: Json<'_>, item: &Object<'_>) {
    let texts = |key| -> Vec<String> {
        let parts = item.items(key).into_iter().filter_map(Json::object);
        parts.filter_map(|part| Some(part.str("text")?.into_owned())).filter(|text| !text.is_empty()).collect()
    };
    let mut opaque = item.some("encrypted_content").map(|_| arguments(Some(json)));
    let (summary, raw) = (texts("summary"), texts("content"));
    let raw_id = raw_reasoning(id);
    let blocks: Vec<(Block<'_>, &str)> = (0..)
        .zip(&summary)
        .map(|(index, text)| (Block::reasoning(id, index), text.as_str()))
        .chain((0..).zip(&raw).map(|(index, text)| (Block::reasoning(&raw_id, index), text.as_str())))
        .collect();
    let last = blocks.len().saturating_sub(1);
    for (at, (block, text)) in blocks.iter().enumerate() {
        let opaque = if at == last { opaque.take() } else { None };
        context.complete(*block, text, opaque);
    }
    if let Some(opaque) = opaque {
        context.complete(Block::reasoning(id, 0), "", Some(opaque));
    }
}

/// Starts a call of the model, under the name that its item uses.
fn begin(
    (context, agents): (&mut ThreadContext<'_>, &mut Agents),
    id: &str,
    (namespace, name): (&str, &str),
    text: &str,
    cwd: &str,
) {
    let args = Object::parse(text);
    let given = || match Json::parse(text) {
        Ok(json) if args.is_some() => arguments(Some(json)),
        _ => to_raw(text),
    };
    let get = |key: &str| args.as_ref().and_then(|args| args.some(key));
    match name {
        "exec_command" => match get("cmd") {
            Some(command) => begin_command(context, Caller::Model, id, Some(command)),
            None => context.begin(id, "bash", ToolKind::Shell, given),
        },
        "shell" | "shell_command" | "local_shell" | "container.exec" => match get("command") {
            Some(command) => match patch_of(command) {
                Some(patch) => begin_edit(context, id, &patch_changes(&patch, cwd), "in_progress"),
                None => begin_command(context, Caller::Model, id, Some(command)),
            },
            None => context.begin(id, "bash", ToolKind::Shell, given),
        },
        "apply_patch" => match get("input").or_else(|| get("patch")).and_then(Json::str) {
            Some(patch) => begin_edit(context, id, &patch_changes(&patch, cwd), "in_progress"),
            None => context.begin(id, "file_change", ToolKind::Edit, given),
        },
        "update_plan" => match get("plan") {
            Some(plan) => context.plan(plan_entries(plan)),
            None => context.begin(id, name, ToolKind::Plan, given),
        },
        "view_image" => context.begin(id, "image_view", ToolKind::Read, given),
        "write_stdin" => context.begin(id, name, ToolKind::Shell, given),
        _ if namespace.starts_with("multi_agent") || namespace == "collaboration" => {
            context.begin(id, COLLAB, ToolKind::Subagent, || collab_args(name, args.as_ref()));
            if name == "spawn_agent" {
                agents.asked(context, id, get("message").and_then(Json::str).map(Cow::into_owned));
            }
        }
        _ if namespace.is_empty() => {
            let kind = if name.starts_with("mcp__") { ToolKind::Mcp } else { ToolKind::Other };
            context.begin(id, name, kind, given);
        }
        _ => {
            let kind = if namespace.starts_with("mcp__") { ToolKind::Mcp } else { ToolKind::Other };
            context.begin(id, &format!("{namespace}__{name}"), kind, given);
        }
    }
}

/// The JSON of a notice by which the runner tells the model how an agent ended.
fn agent_notice(text: &str) -> Option<&str> {
    text.trim().strip_prefix("<subagent_notification>")?.strip_suffix("</subagent_notification>").map(str::trim)
}

/// The patch of a command that older versions apply themselves and do not run: `["apply_patch", patch]`.
fn patch_of(command: Json<'_>) -> Option<Cow<'_, str>> {
    let words = command.items();
    let [program, patch] = words.as_slice() else { return None };
    matches!(&*program.str()?, "apply_patch" | "applypatch").then(|| patch.str())?
}

/// The arguments of a call that manages agents, as its item would contain them.
fn collab_args(name: &str, args: Option<&Object<'_>>) -> RawJson {
    let tool = if name == "wait_agent" { "wait" } else { name };
    let mut fields = serde_json::Map::new();
    fields.insert("tool".to_owned(), tool.into());
    for (key, value) in args.into_iter().flat_map(Object::iter) {
        let key = match key {
            "message" => "prompt",
            "targets" => "receiver_thread_ids",
            key => key,
        };
        if let Ok(value) = crate::json::value(value.text().as_bytes()) {
            fields.insert(key.to_owned(), value);
        }
    }
    to_raw(&fields)
}

/// Handles an output sent to the model. If the call still runs, no item reported its end: it has no item, or it never ran.
fn end((context, agents): (&mut ThreadContext<'_>, &mut Agents), id: &str, text: &str, sessions: &mut Sessions) {
    let tool = context.tool(id);
    let Some(name) = context.normalizer.tool_name(context.target.stream, &tool) else { return };
    let report = Report::read(text);
    match &*name {
        "write_stdin" => sessions.answered(id, &report, context),
        COLLAB => agents.answered(context, id, text),
        _ => {}
    }
    match &*name {
        "bash" => match report {
            Report::Running { session, output } => sessions.yielded(session, id, output, context),
            Report::Exited { code, output, wall_ms } => end_command(context, id, output, None, Some(code), wall_ms),
            Report::Other => context.fail(id, text),
        },
        "file_change" => {
            let files = context.turn.edits.get(id).cloned();
            let files = files.as_deref().and_then(|args| Json::new(args).object()?.get("files"));
            let changes = files.map(changes_of).unwrap_or_default();
            match report {
                Report::Exited { code, output, .. } => {
                    let status = if code == 0 { Status::Completed } else { Status::Failed };
                    end_edit(context, id, &changes, status, &output, "");
                }
                _ => {
                    context.turn.edits.remove(id);
                    context.fail(id, text);
                }
            }
        }
        _ => match Verdict::read(text) {
            Verdict::NeverRan => context.fail(id, text),
            Verdict::Failed(wall_ms) => {
                context.output(id, OutputStream::Stdout, text);
                context.end(id, 1, wall_ms);
            }
            Verdict::Done(wall_ms) => {
                context.output(id, OutputStream::Stdout, text);
                context.end(id, 0, wall_ms);
            }
        },
    }
}

/// The verdict on a call whose output has no exit code. Only the runner's own text at the start of the output identifies it.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    NeverRan,
    /// It failed, after this many milliseconds if known.
    Failed(Option<u64>),
    Done(Option<u64>),
}

impl Verdict {
    /// The beginnings of texts by which the runner reports a failed tool.
    const FAILED: &[&str] = &[
        "tool call error: ",
        "tool call failed for ",
        "unable to locate image",
        "unable to process image",
        "unable to read image",
        "image path ",
        "write_stdin failed",
        "exec_command failed",
        "collab spawn failed",
        "collab tool failed",
        "collab manager unavailable",
        "agent with id ",
        "Mcp error: ",
        "MCP error",
        "resources/list failed",
        "resources/read failed",
        "resources/templates/list failed",
        "Fatal error: ",
    ];
    /// The beginnings of texts by which the runner reports that a call never reached its tool.
    const NEVER_RAN: &[&str] = &[
        "unsupported c",
        "failed to parse function arguments",
        "failed to parse exec arguments",
        "approval policy is ",
        "view_image is not allowed",
    ];

    fn read(text: &str) -> Self {
        if Self::NEVER_RAN.iter().any(|known| text.starts_with(known)) || text.ends_with("aborted by user") {
            return Self::NeverRan;
        }
        if let Some(rest) = text.strip_prefix("Script ") {
            let (word, after) = rest.split_once('\n').unwrap_or((rest, ""));
            let wall_ms = after.lines().next().and_then(|line| seconds_ms(line.strip_prefix("Wall time ")?));
            return match word.trim_end_matches([':', '.']) {
                "failed" | "error" | "terminated" | "timed out" | "crashed" => Self::Failed(wall_ms),
                _ => Self::Done(wall_ms),
            };
        }
        // MCP results may follow a line with the wall time, with or without an `Output:` line.
        let (wall_ms, output) = match text.strip_prefix("Wall time: ").and_then(|rest| rest.split_once('\n')) {
            Some((wall, rest)) => (seconds_ms(wall), rest.strip_prefix("Output:\n").unwrap_or(rest)),
            None => (None, text),
        };
        if Self::FAILED.iter().any(|known| output.starts_with(known)) || is_error_object(output) {
            Self::Failed(wall_ms)
        } else {
            Self::Done(wall_ms)
        }
    }
}

/// Whether an output is an MCP result that is marked as an error.
fn is_error_object(output: &str) -> bool {
    output.starts_with('{')
        && Object::parse(output.trim_end()).is_some_and(|fields| {
            fields.bool("isError").or_else(|| fields.bool("is_error")) == Some(true)
                || fields.bool("success") == Some(false)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_tools_are_recognised_by_the_runners_phrases() {
        for (text, verdict) in [
            ("Script completed\nWall time 0.2 seconds\nOutput:\n\nScript failed\n", Verdict::Done(Some(200))),
            ("Script failed\nWall time 0.1 seconds\nOutput:\n\nError: boom\n", Verdict::Failed(Some(100))),
            ("Script failed", Verdict::Failed(None)),
            ("unable to locate image at `/w/a.png`: No such file or directory (os error 2)", Verdict::Failed(None)),
            ("image path `/w` is not a file", Verdict::Failed(None)),
            (
                "Wall time: 0.5 seconds\nOutput:\ntool call error: tool call failed for `a/b`",
                Verdict::Failed(Some(500)),
            ),
            ("Wall time: 0.5 seconds\nOutput:\n3", Verdict::Done(Some(500))),
            (r#"{"content":[],"isError":true}"#, Verdict::Failed(None)),
            ("unsupported call: nope", Verdict::NeverRan),
            ("Wall time: 1.2 seconds\naborted by user", Verdict::NeverRan),
            ("a text that says: unable to locate image", Verdict::Done(None)),
            ("", Verdict::Done(None)),
        ] {
            assert_eq!(Verdict::read(text), verdict, "{text}");
        }
    }
}
