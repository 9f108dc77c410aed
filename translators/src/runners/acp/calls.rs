//! The tool calls of a turn.
//!
//! Input: `tool_call`, `tool_call_update`, the calls in questions. Output: calls with their arguments, output,
//! changed files and ends. Never: a call that starts before its arguments are known although they are being written; the
//! arguments of a running call as its output; a second end.
//!
//! Agents tell the arguments in pieces while the model writes them. A call starts when the agent says that it runs, asks about it,
//! or tells anything that is no call: then the model has finished writing.

use super::super::names::NameMap;
use super::content::{Content, unfenced};
use super::files::Change;
use super::sessions::Turn;
use super::terminals::Terminal;
use super::{approvals, exit_code, plan};
use crate::frame::{FileChanged, RawJson, SharedStr, Tool, ToolCall, ToolKind};
use crate::json::{Json, Kind, Object, Utf16Text, empty_object, to_raw};
use crate::normalizer::{Normalizer, Target};
use std::collections::VecDeque;
use uuid::Uuid;

/// The calls of a turn that have not ended.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub(super) open: NameMap<Call>,
    /// Their ids, oldest first; perhaps also ids of calls that ended.
    pub(super) order: VecDeque<SharedStr>,
    /// Calls with arguments that have not started.
    ready: Vec<SharedStr>,
    pub(super) terminals: NameMap<Terminal>,
}

/// What tells about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Its announcement, whose text describes it.
    Announcement,
    /// A later word.
    Update,
    /// A question about it, whose text is for the person who answers.
    Question,
}

/// A call.
#[derive(Debug)]
pub(super) struct Call {
    /// The agent's id. An earlier call may have had it.
    pub(super) id: SharedStr,
    pub(super) tool: Tool,
    pub(super) target: Target,
    name: Option<SharedStr>,
    title: Option<SharedStr>,
    kind: Option<SharedStr>,
    args: Option<RawJson>,
    is_started: bool,
    /// The agent said that it runs.
    is_running: bool,
    /// What looks like its arguments while the model writes them.
    written: Option<String>,
    /// The output so far.
    pub(super) shown: String,
    /// A later output that does not continue it.
    pub(super) other: Option<String>,
    /// The output comes from a terminal.
    pub(super) is_streamed: bool,
    changes: Vec<Change>,
    pub(super) exit_code: Option<i32>,
    /// The client did not allow it.
    pub(super) is_denied: bool,
    /// Open questions about it.
    pub(super) questions: Vec<SharedStr>,
}

/// Where the frames of a turn go.
pub(super) struct Place<'l> {
    pub(super) normalizer: &'l mut Normalizer,
    pub(super) target: Target,
    /// Separates equal call ids of different sessions.
    pub(super) scope: Uuid,
}

impl Place<'_> {
    /// The place of an update: that of the subagent that it belongs to, if there is one.
    pub(super) fn target_of(&self, update: &Object<'_>) -> Target {
        let parent = || update.object("_meta")?.object("claudeCode")?.str("parentToolUseId");
        let parent = parent().map(|parent| self.normalizer.tool(self.scope, &parent).id);
        Target { parent, ..self.target }
    }
}

impl Call {
    pub(super) fn name(&self) -> SharedStr {
        let of_id = || {
            let (name, _) = self.id.split_once("__")?;
            (!name.is_empty()).then(|| SharedStr::from(name))
        };
        let title = self.title.clone();
        self.name.clone().or_else(of_id).or(title).unwrap_or_else(|| SharedStr::from(""))
    }

    /// The arguments: those that the agent told, otherwise those that it showed while the model wrote them.
    pub(super) fn args(&self) -> RawJson {
        let written = || {
            let json = Json::parse(self.written.as_deref()?.trim()).ok()?;
            json.object().map(|_| json.to_raw())
        };
        self.args.clone().or_else(written).unwrap_or_else(empty_object)
    }

    /// How a client displays the tool.
    fn kind(&self) -> ToolKind {
        let name = self.name();
        if name.starts_with("mcp__") {
            return ToolKind::Mcp;
        }
        let lower: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
        match lower.as_str() {
            "todowrite" | "todoread" | "todolist" | "todo" | "updateplan" | "settodolist" | "writetodos" => {
                return ToolKind::Plan;
            }
            "task" | "agent" | "subagent" => return ToolKind::Subagent,
            "glob" | "grep" | "ls" | "websearch" => return ToolKind::Search,
            "write" | "writefile" | "create" | "createfile" => return ToolKind::Write,
            _ => {}
        }
        match self.kind.as_deref() {
            Some("execute") => ToolKind::Shell,
            Some("read") => ToolKind::Read,
            Some("edit") if self.is_new_file() => ToolKind::Write,
            Some("edit" | "delete" | "move") => ToolKind::Edit,
            Some("search") => ToolKind::Search,
            Some("fetch") => ToolKind::Fetch,
            _ => ToolKind::Other,
        }
    }

    fn is_new_file(&self) -> bool {
        let is_new = |change: &Change| change.kind == crate::frame::FileChangeKind::Add;
        !self.changes.is_empty() && self.changes.iter().all(is_new)
    }

    /// Notes what an update says about the call. Absent and null leave everything as it was. A question may show the arguments in a
    /// form for people, so those that the agent told before stay.
    fn learn(&mut self, told: Told, update: &Object<'_>) {
        let word = |fields: &Object<'_>, key: &str| {
            fields.str(key).filter(|word| !word.is_empty()).map(|word| SharedStr::from(&*word))
        };
        if self.name.is_none() {
            let of_meta = || {
                let meta = update.object("_meta")?;
                let own = word(&meta, "toolName").or_else(|| word(&meta, "tool_name"));
                own.or_else(|| word(&meta.object("claudeCode")?, "toolName"))
            };
            self.name = word(update, "name").or_else(of_meta);
        }
        self.title = self.title.take().or_else(|| word(update, "title"));
        self.kind = word(update, "kind").or_else(|| self.kind.take());
        let is_for_people = told == Told::Question && self.args.is_some();
        if let Some(input) = update.some("rawInput").filter(|_| !is_for_people) {
            match input.object() {
                Some(fields) if fields.is_empty() => {}
                Some(_) => self.args = Some(input.to_raw()),
                None => {
                    let text = input.str().map_or_else(|| input.text().to_owned(), std::borrow::Cow::into_owned);
                    self.args = Some(to_raw(&text));
                }
            }
        }
        self.exit_code = exit_code::of_fields(update).or(self.exit_code);
    }

    /// Whether a text is the call's arguments, which some agents show as content while the model writes them.
    pub(super) fn is_args(&self, text: &str) -> bool {
        let text = text.trim();
        if !text.starts_with('{') {
            return text.is_empty();
        }
        let Some(args) = &self.args else {
            return self.written.as_deref().is_some_and(|written| text.starts_with(written.trim()));
        };
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        read(text).is_some_and(|value| Some(value) == read(args.get()))
    }
}

impl Turn {
    /// Reports everything about a call that an update says.
    pub(super) fn tool_update(&mut self, told: Told, update: &Object<'_>, place: &mut Place<'_>) {
        let Some(id) = update.str("toolCallId").filter(|id| !id.is_empty()) else {
            place.normalizer.add_error("a tool's update without a toolCallId");
            return;
        };
        self.used_tools = true;
        self.texts.interrupted(place.normalizer);
        let Some(mut call) = self.take(&id, told, update, place) else { return };
        call.learn(told, update);
        let content = update.some("content").filter(|content| content.kind() == Kind::Array).map(Content::read);
        let status = update.str("status");
        let is_over = status.as_deref().is_some_and(is_end);
        let runs = status.as_deref() == Some("in_progress");
        let has_terminal = content.as_ref().is_some_and(|content| !content.terminals.is_empty());
        if self.is_alone && told == Told::Update && ((runs && !call.is_running) || has_terminal) {
            // It begins to run after the question, so it was allowed to.
            for question in std::mem::take(&mut call.questions) {
                approvals::by_start(question, call.target.stream, place.normalizer);
            }
        }
        call.is_running |= runs;
        if let Some(content) = &content {
            if !content.changes.is_empty() {
                call.changes.clone_from(&content.changes);
            }
            for terminal in &content.terminals {
                self.link(terminal, &mut call, place);
            }
        }
        // What a call ends with is its result.
        let may_be_args = |text: &str| text.trim().is_empty() || text.trim_start().starts_with('{');
        let is_being_written = call.args.is_none()
            && !is_over
            && content.as_ref().and_then(|content| content.text.as_deref()).is_some_and(may_be_args);
        if is_being_written {
            call.written = content.as_ref().and_then(|content| content.text.clone());
        }
        if call.is_running && !is_being_written {
            self.start(&mut call, place);
        }
        self.stream(&mut call, update, place);
        if let Some(status) = status.filter(|_| is_over) {
            let text = content.and_then(|content| content.text);
            self.end(call, &status, text, update.some("rawOutput"), place);
            return;
        }
        if let Some(text) = content.and_then(|content| content.text)
            && told == Told::Update
            && call.is_running
            && call.is_started
            && !call.is_args(&text)
        {
            call.show(text, place);
        }
        self.put(call);
    }

    /// One more item of a call's content (version 2). An item of a call that is over changes nothing.
    pub(super) fn content_chunk(&mut self, update: &Object<'_>, place: &mut Place<'_>) {
        let Some(id) = update.str("toolCallId") else { return };
        let Some(item) = update.object("content") else { return };
        let Some(mut call) = self.calls.open.remove(&*id) else { return };
        let mut content = Content::default();
        content.add(&item);
        call.changes.extend(content.changes);
        for terminal in &content.terminals {
            self.link(terminal, &mut call, place);
        }
        if let Some(text) = content.text {
            self.start(&mut call, place);
            call.append(&text, place);
        }
        self.put(call);
    }

    /// Takes a call out of the open ones. A new call is announced by this; `None` if the call is over. An announcement of a
    /// call that is over, or a question about it, begins a new call with the same id, unless it repeats the end.
    pub(super) fn take(&mut self, id: &str, told: Told, update: &Object<'_>, place: &mut Place<'_>) -> Option<Call> {
        if let Some(call) = self.calls.open.remove(id) {
            return Some(call);
        }
        let stream = place.target.stream;
        let mut tool = place.normalizer.newest_tool(stream, place.scope, id);
        if place.normalizer.tool_known(stream, &tool) {
            if told == Told::Update || update.str("status").as_deref().is_some_and(is_end) {
                return None;
            }
            tool = place.normalizer.tool_of_new_call(place.target, place.scope, id);
        }
        let id = match *tool.call_id == *id {
            true => tool.call_id.clone(),
            false => SharedStr::from(id),
        };
        while self.calls.open.len() >= place.normalizer.most_open() {
            let oldest = self.calls.order.pop_front()?;
            if let Some(mut oldest) = self.calls.open.remove(&oldest) {
                // The normalizer gives up the oldest call itself.
                self.start(&mut oldest, place);
            }
        }
        self.calls.order.push_back(id.clone());
        if self.calls.order.len() > 2 * place.normalizer.most_open() {
            let Calls { open, order, .. } = &mut self.calls;
            order.retain(|other| open.contains_key(other) || *other == id);
        }
        Some(Call {
            id,
            tool,
            target: place.target_of(update),
            name: None,
            title: None,
            kind: None,
            args: None,
            is_started: false,
            is_running: false,
            written: None,
            shown: String::new(),
            other: None,
            is_streamed: false,
            changes: Vec::new(),
            exit_code: None,
            is_denied: false,
            questions: Vec::new(),
        })
    }

    pub(super) fn put(&mut self, call: Call) {
        let id = call.id.clone();
        if call.args.is_some() && !call.is_started {
            self.calls.ready.push(id.clone());
        }
        self.calls.open.insert(id, call);
    }

    /// An open call.
    pub(super) fn call(&mut self, id: &str) -> Option<&mut Call> {
        self.calls.open.get_mut(id)
    }

    /// Starts the calls whose arguments are known, because the agent goes on.
    pub(super) fn start_ready(&mut self, place: &mut Place<'_>) {
        for id in std::mem::take(&mut self.calls.ready) {
            if let Some(mut call) = self.calls.open.remove(&id) {
                self.start(&mut call, place);
                self.calls.open.insert(id, call);
            }
        }
    }

    /// Starts a call, once.
    pub(super) fn start(&mut self, call: &mut Call, place: &mut Place<'_>) {
        if std::mem::replace(&mut call.is_started, true) {
            return;
        }
        let (kind, args) = (call.kind(), call.args());
        let plan = Object::parse(args.get()).and_then(|args| plan::of_args(&args));
        let of_call = ToolCall { tool: call.tool.clone(), name: call.name(), kind, args };
        place.normalizer.tool_proposed(call.target, of_call.clone());
        place.normalizer.tool_started(call.target, of_call, None);
        if let Some(entries) = plan {
            self.plan(call.target, entries, place.normalizer);
        }
        if kind == ToolKind::Subagent {
            let args = call.args();
            let fields = Object::parse(args.get()).unwrap_or_default();
            let agent = fields.str("subagent_type").map(|agent| SharedStr::from(&*agent));
            let task = fields.str("prompt").map(std::borrow::Cow::into_owned);
            let id = Some(call.tool.id);
            place.normalizer.subagent_started(call.target, &call.tool.call_id, id, agent, task, 1);
        }
    }

    /// Ends a call: its last output, its files, its end.
    fn end(
        &mut self,
        mut call: Call,
        status: &str,
        content: Option<String>,
        raw: Option<Json<'_>>,
        place: &mut Place<'_>,
    ) {
        self.start(&mut call, place);
        let (is_ok, stream) = (status == "completed", call.target.stream);
        let is_shell = call.kind() == ToolKind::Shell;
        // The raw output may be what the call printed before it was stopped.
        let is_plain = raw.is_some_and(|raw| raw.kind() == Kind::String);
        let reason = content.as_deref().filter(|_| !is_ok && !is_plain).map(|text| unfenced(text).to_owned());
        let text = call.last_text(content, raw, is_shell);
        let said = text.as_deref().or(Some(&*call.shown)).filter(|_| is_shell);
        let said =
            said.and_then(|text| exit_code::of_text(text).or_else(|| exit_code::of_failure(text).filter(|_| !is_ok)));
        // A command that failed although it exited with 0 was stopped.
        let code = call.exit_code.or(said).filter(|code| is_ok || *code != 0);
        let outcome = approvals::Outcome {
            is_ok,
            has_code: code.is_some(),
            text: text.as_deref().unwrap_or_default(),
            has_output: !call.shown.is_empty(),
        };
        for question in std::mem::take(&mut call.questions) {
            call.is_denied |= approvals::by_outcome(question, stream, &outcome, place.normalizer);
        }
        // What exited did run, whatever was decided.
        let was_denied = call.is_denied && !is_ok && code.is_none();
        // The text of a call that never ran is no output.
        if let Some(text) = text.as_deref().filter(|_| !was_denied) {
            call.show_last(text, place);
        }
        let (kind, target, tool) = (call.kind(), call.target, call.tool);
        if is_ok {
            for Change { path, kind, diff } in call.changes {
                let change = FileChanged { tool_id: Some(tool.id), path, kind, diff, artifact_id: None };
                place.normalizer.push(target, crate::frame::Body::FileChanged(Box::new(change)));
            }
        }
        let never_ended = status == "cancelled" || (self.cancelled && !is_ok && code.is_none());
        if was_denied || never_ended {
            let error = reason.or(text).filter(|text| !text.is_empty()).unwrap_or_else(|| status.to_owned());
            place.normalizer.tool_failed(target, &tool, error);
        } else {
            place.normalizer.tool_ended(target, &tool, code.unwrap_or(i32::from(!is_ok)), None, None);
        }
        if kind == ToolKind::Subagent {
            let status = if is_ok { "completed" } else { "failed" };
            place.normalizer.subagent_ended(stream, &tool.call_id, status, None);
        }
    }

    /// Output in the metadata of an update, as it is written or at the end.
    fn stream(&mut self, call: &mut Call, update: &Object<'_>, place: &mut Place<'_>) {
        let Some(meta) = update.object("_meta") else { return };
        let non_execution = || meta.object("claudeCode")?.str("nonExecutionKind").map(drop);
        call.is_denied |= non_execution().is_some();
        let read = |key: &str| meta.object(key)?.get("data").and_then(Json::utf16).map(Utf16Text::into_string);
        if let Some(piece) = read("terminal_output_delta") {
            call.is_streamed = true;
            self.start(call, place);
            call.append(&piece, place);
        }
        if let Some(whole) = read("terminal_output") {
            call.is_streamed = true;
            self.start(call, place);
            call.show_last(&whole, place);
        }
    }

    /// The turn ends: calls that were announced but have not started do so, because they are part of the run.
    pub(super) fn start_all(&mut self, place: &mut Place<'_>) {
        for id in std::mem::take(&mut self.calls.order) {
            if let Some(mut call) = self.calls.open.remove(&id) {
                self.start(&mut call, place);
            }
        }
        self.calls = Calls::default();
    }
}

/// Whether a status is that of a call that is over.
fn is_end(status: &str) -> bool {
    matches!(status, "completed" | "failed" | "cancelled")
}
