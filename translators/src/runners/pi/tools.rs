//! Calls: proposed by the reply that contains them, started and ended by the records of their execution.
//!
//! Input: calls of replies, `tool_execution_*`, results. Output: tool frames, and the changes of files. Never: output twice, although
//! each update repeats all output so far; a call of a broken reply reported as executed.

use super::decoder::Pi;
use super::extension::CallProgress;
use super::message::text_of;
use super::numbered_diff;
use super::outcome::Verdict;
use crate::frame::{Body, FileChangeKind, FileChanged, OutputStream, RawJson, SharedStr, Tool, ToolCall, ToolKind};
use crate::hash::hasher;
use crate::json::{Json, Kind, Object, to_raw};
use crate::normalizer::{Normalizer, Target};
use std::hash::{Hash, Hasher};

/// A call without its result.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: Tool,
    pub(super) name: SharedStr,
    args: RawJson,
    pub(super) is_started: bool,
    output: Output,
    /// Whether it is known to run: it showed some progress.
    pub(super) shows_progress: bool,
}

/// What names a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mention {
    /// The reply that contains it, or the beginning of its execution.
    First,
    /// Something that follows.
    Later,
}

/// What was reported of a call's output.
#[derive(Debug, Default)]
enum Output {
    /// Nothing yet.
    #[default]
    None,
    /// A text of this length and hash, which the runner may replace with a longer one that begins with it.
    Text { bytes: usize, hash: u64 },
    /// A text that the runner replaced with another one: it shows only the end of a long output. The rest comes with the result.
    Replaced,
}

impl Output {
    /// What is new in a text that replaces the output so far.
    fn grow(&mut self, text: &str) -> Option<String> {
        let new = match &*self {
            Self::None => text,
            Self::Text { bytes, hash } => match text.split_at_checked(*bytes) {
                Some((known, new)) if hash_of(known) == *hash => new,
                _ => {
                    *self = Self::Replaced;
                    return None;
                }
            },
            Self::Replaced => return None,
        };
        let new = new.to_owned();
        if !text.is_empty() {
            *self = Self::Text { bytes: text.len(), hash: hash_of(text) };
        }
        Some(new).filter(|new| !new.is_empty())
    }
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = hasher();
    text.hash(&mut hasher);
    hasher.finish()
}

/// How a client displays a tool.
pub(super) fn kind_of(name: &str) -> ToolKind {
    match name {
        "bash" => ToolKind::Shell,
        "read" => ToolKind::Read,
        "write" => ToolKind::Write,
        "edit" => ToolKind::Edit,
        "grep" | "find" | "ls" => ToolKind::Search,
        _ => ToolKind::Other,
    }
}

/// The ids of the newest call with this id. They are derived within the session, so they are the same in every run.
fn tool_of(target: Target, call_id: &str, normalizer: &Normalizer) -> Tool {
    normalizer.newest_tool(target.stream, normalizer.session_id_of(target.stream), call_id)
}

impl Pi {
    /// A whole call of the model.
    pub(super) fn called(&mut self, target: Target, block: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(id) = block.str("id").filter(|id| !id.is_empty()) else {
            return normalizer.add_error("a call without an id");
        };
        let name = block.str("name").unwrap_or_default();
        self.know(target, &id, &name, block.get("arguments"), Mention::First, normalizer);
    }

    /// The ids of the call that is meant by an id from now on. The models of some providers use the same id again.
    pub(super) fn tool(&self, target: Target, id: &str, normalizer: &mut Normalizer) -> Tool {
        match self.runs.open.as_ref().and_then(|run| run.calls.get(id)) {
            Some(call) => call.tool.clone(),
            None => normalizer.tool_of_new_call(target, normalizer.session_id_of(target.stream), id),
        }
    }

    /// Proposes a call, unless it is known. A first mention of a call that is over is a new call.
    fn know(
        &mut self,
        target: Target,
        id: &str,
        name: &str,
        args: Option<Json<'_>>,
        mention: Mention,
        normalizer: &mut Normalizer,
    ) {
        let is_open = self.runs.open.as_ref().is_none_or(|run| run.calls.contains_key(id));
        let is_over =
            || mention == Mention::Later && normalizer.tool_known(target.stream, &tool_of(target, id, normalizer));
        if is_open || is_over() {
            return;
        }
        let tool = self.tool(target, id, normalizer);
        let Some(run) = self.runs.open.as_mut() else { return };
        if run.calls.len() >= run.forget_at.max(normalizer.most_open()) {
            run.calls.retain(|_, call| call.is_started && normalizer.tool_runs(target.stream, &call.tool));
            run.forget_at = run.calls.len() * 2;
        }
        let id = if *tool.call_id == *id { tool.call_id.clone() } else { SharedStr::from(id) };
        let (name, args) = (SharedStr::from(name), arguments(args));
        let call = ToolCall { tool: tool.clone(), name: name.clone(), kind: kind_of(&name), args: args.clone() };
        normalizer.tool_proposed(target, call);
        let call = Call { tool, name, args, is_started: false, output: Output::None, shows_progress: false };
        run.calls.insert(id, call);
    }

    /// Starts a call, which is proposed first if its reply was lost. Returns whether it runs.
    fn start(&mut self, target: Target, fields: &Object<'_>, mention: Mention, normalizer: &mut Normalizer) -> bool {
        let Some(id) = fields.str("toolCallId").filter(|id| !id.is_empty()) else {
            normalizer.add_error("a call without an id");
            return false;
        };
        let name = fields.str("toolName").unwrap_or_default();
        self.know(target, &id, &name, fields.get("args"), mention, normalizer);
        self.start_known(&id, normalizer)
    }

    /// Starts a call that was proposed. Returns whether it runs.
    pub(super) fn start_known(&mut self, id: &str, normalizer: &mut Normalizer) -> bool {
        let Some(run) = self.runs.open.as_mut() else { return false };
        let target = Target::main(run.key);
        let Some(call) = run.calls.get_mut(id) else { return false };
        if !std::mem::replace(&mut call.is_started, true) {
            let kind = kind_of(&call.name);
            let seconds = Object::parse(call.args.get()).and_then(|args| args.f64("timeout"));
            let seconds = seconds.filter(|seconds| kind == ToolKind::Shell && (0.0..1e9).contains(seconds));
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
            let timeout_ms = seconds.map(|seconds| (seconds * 1000.0) as u64);
            let (tool, name, args) = (call.tool.clone(), call.name.clone(), call.args.clone());
            normalizer.tool_started(target, ToolCall { tool, name, kind, args }, timeout_ms);
        }
        true
    }

    pub(super) fn tool_start(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let target = Target::main(self.runs.ensure(normalizer).key);
        self.start(target, fields, Mention::First, normalizer);
    }

    pub(super) fn tool_update(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let target = Target::main(self.runs.ensure(normalizer).key);
        if !self.start(target, fields, Mention::Later, normalizer) {
            return;
        }
        let text = fields.object("partialResult").map(|result| text_of(&result.items("content"))).unwrap_or_default();
        let id = fields.str("toolCallId").unwrap_or_default();
        self.answered(&id, CallProgress::Runs, normalizer);
        let Some(call) = self.runs.open.as_mut().and_then(|run| run.calls.get_mut(&*id)) else { return };
        call.shows_progress = true;
        if let Some(new) = call.output.grow(&text) {
            normalizer.tool_output(target, &call.tool, OutputStream::Stdout, new);
        }
    }

    pub(super) fn tool_end(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let target = Target::main(self.runs.ensure(normalizer).key);
        if self.start(target, fields, Mention::Later, normalizer) {
            let result = fields.object("result").unwrap_or_default();
            self.returned(target, fields, &result, normalizer);
        }
    }

    /// The message with a call's result, which repeats the end of the execution. A session file has only the message.
    pub(super) fn tool_result(&mut self, message: &Object<'_>, normalizer: &mut Normalizer) {
        let target = Target::main(self.runs.ensure(normalizer).key);
        let id = message.str("toolCallId").unwrap_or_default();
        let is_over = normalizer.tool_known(target.stream, &tool_of(target, &id, normalizer))
            && self.runs.open.as_ref().is_some_and(|run| !run.calls.contains_key(&*id));
        if !is_over && self.start(target, message, Mention::Later, normalizer) {
            self.returned(target, message, message, normalizer);
        }
    }

    /// Ends a call. `result` has `content` and `details`.
    fn returned(&mut self, target: Target, fields: &Object<'_>, result: &Object<'_>, normalizer: &mut Normalizer) {
        let id = fields.str("toolCallId").unwrap_or_default();
        let Some(mut call) = self.runs.open.as_mut().and_then(|run| run.calls.remove(&*id)) else { return };
        let text = text_of(&result.items("content"));
        let is_error = fields.bool("isError") == Some(true);
        let verdict = Verdict::of(is_error, &call.name, &text);
        let was_refused = self.answered(&id, CallProgress::Over(verdict, &text), normalizer);
        let verdict = match verdict {
            Verdict::Failed if was_refused => Verdict::Refused,
            Verdict::Failed => Verdict::Ended(1),
            other => other,
        };
        if !is_error {
            changed(target, &call, result, normalizer);
        }
        let rest = match call.output {
            // The end of a long output stands in the result, below the part that was reported.
            Output::Replaced => Some(text.clone()),
            _ => call.output.grow(&text).or_else(|| matches!(call.output, Output::Replaced).then(|| text.clone())),
        };
        if let Some(rest) = rest.filter(|rest| !rest.is_empty() && matches!(verdict, Verdict::Ended(_))) {
            normalizer.tool_output(target, &call.tool, OutputStream::Stdout, rest);
        }
        match verdict {
            Verdict::Ended(exit_code) => normalizer.tool_ended(target, &call.tool, exit_code, None, None),
            Verdict::Aborted | Verdict::Refused | Verdict::Failed => normalizer.tool_failed(target, &call.tool, text),
        }
    }
}

/// Reports the file that a call changed.
fn changed(target: Target, call: &Call, result: &Object<'_>, normalizer: &mut Normalizer) {
    let kind = kind_of(&call.name);
    if !matches!(kind, ToolKind::Edit | ToolKind::Write) {
        return;
    }
    let Some(path) = Object::parse(call.args.get()).and_then(|args| args.str("path").map(String::from)) else { return };
    let details = result.object("details");
    let shown = |key: &str| details.as_ref().and_then(|details| details.str(key));
    let patch = shown("patch").map(String::from);
    let diff = patch.or_else(|| numbered_diff::unified(&path, &shown("diff")?));
    let change = FileChanged {
        tool_id: Some(call.tool.id),
        path,
        // The runner does not say whether a written file was there before.
        kind: FileChangeKind::Modify,
        diff,
        artifact_id: None,
    };
    normalizer.push(target, Body::FileChanged(Box::new(change)));
}

/// The arguments: the object, or else a string with what the model wrote instead.
fn arguments(args: Option<Json<'_>>) -> RawJson {
    match args {
        Some(args) if matches!(args.kind(), Kind::Object | Kind::String) => args.to_raw(),
        Some(args) if !args.is_null() => to_raw(args.text()),
        _ => crate::json::empty_object(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_replace_the_output_so_far() {
        let mut output = Output::default();
        assert_eq!(output.grow(""), None);
        assert_eq!(output.grow("one\n").as_deref(), Some("one\n"));
        assert_eq!(output.grow("one\n"), None);
        assert_eq!(output.grow("one\ntwo\n").as_deref(), Some("two\n"));
        assert_eq!(output.grow("two\nthree\n"), None, "the beginning was left out");
        assert!(matches!(output, Output::Replaced));
        assert_eq!(output.grow("one\ntwo\nthree\n"), None);
    }
}
