//! `codex app-server`: JSON-RPC lines, with many threads on one pipe.
//!
//! Input: notifications, server requests and responses, plus the client's own lines if the stream has both directions. Output:
//! one run for each turn of a thread; a subagent's thread is reported in its parent's run. Never: records of one thread
//! reported in another's run; a client's id taken for one of the server's.

mod approvals;
mod dialogue;
mod older_events;
mod threads;

use super::errors::Failure;
use super::items::{Agents, Item, Phase, Status, plan_entries, raw_reasoning, report, user_message};
use super::snake;
use super::thread_context::CompactionRecord;
use super::usage::Tokens;
use crate::frame::{Body, ErrorReported, ErrorScope, LogLevel, SharedStr};
use crate::json::{Json, Object};
use crate::normalizer::{Block, Normalizer, Target};
use approvals::Approvals;
use older_events::OlderEvents;
use std::borrow::Cow;
use threads::Threads;

pub(super) use dialogue::Client;

/// Decodes the lines of the app-server.
#[derive(Debug, Default)]
pub(super) struct AppServer {
    threads: Threads,
    agents: Agents,
    approvals: Approvals,
    older_events: OlderEvents,
    /// The last reported time. Requests and responses carry none.
    last_ms: Option<u64>,
}

/// Notifications without a corresponding frame.
const SILENT: &[&str] = &[
    "initialized",
    "item/reasoning/summaryPartAdded",
    "item/fileChange/patchUpdated",
    "item/fileChange/outputDelta",
    "turn/diff/updated",
    "skills/changed",
    "project/changed",
    "autoApprovalReview/strictReviewRequired",
    "command/exec/outputDelta",
    "process/outputDelta",
    "process/exited",
    "app/list/updated",
    "fs/changed",
];

/// Families of notifications that are not about turns.
const SILENT_FAMILIES: &[&str] = &[
    "thread/",
    "hook/",
    "item/autoApprovalReview/",
    "mcpServer/",
    "account/",
    "remoteControl/",
    "externalAgentConfig/",
    "model/",
    "modelProvider/",
    "windows/",
    "windowsSandbox/",
    "fuzzyFileSearch/",
];

impl AppServer {
    pub(super) fn record(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let params = fields.object("params").unwrap_or_default();
        self.last_ms = fields.u64("emittedAtMs").or(self.last_ms);
        if let Some(ms) = self.last_ms {
            normalizer.set_time(ms);
        }
        match (fields.str("method"), fields.some("id")) {
            (Some(method), Some(id)) => self.request(&method, id, &params, normalizer),
            (Some(method), None) => self.notification(&method, &params, normalizer),
            (None, Some(id)) => self.response(id, fields, normalizer),
            (None, None) => normalizer.unknown("neither a notification nor a response"),
        }
    }

    /// Handles the end of the input.
    pub(super) fn finish(&mut self, normalizer: &mut Normalizer) {
        self.threads.finish(normalizer);
        self.older_events.finish(normalizer);
    }

    fn request(&mut self, method: &str, id: Json<'_>, params: &Object<'_>, normalizer: &mut Normalizer) {
        let thread = thread_of(params);
        self.threads.address(&thread, normalizer);
        match method {
            // A request of the client. It contains the input of the next turn.
            "turn/start" => {
                let message = user_message("", &params.items("input"));
                self.threads.thread(&thread).input = Some(message.text);
            }
            _ => {
                if let Some(mut context) = self.threads.context(&thread, normalizer) {
                    self.approvals.asked(&mut context, &thread, method, id, params);
                }
            }
        }
    }

    /// Handles a response to the client, or the client's answer to a question. The two id spaces overlap.
    fn response(&mut self, id: Json<'_>, fields: &Object<'_>, normalizer: &mut Normalizer) {
        if let Some(error) = fields.object("error") {
            let message = error.str("message").unwrap_or_default().into_owned();
            let code = error
                .i64("code")
                .map_or_else(|| SharedStr::from("rpc_error"), |code| SharedStr::from(code.to_string()));
            let target = Target::main(normalizer.thread());
            let error = ErrorReported {
                scope: ErrorScope::Provider,
                code,
                message,
                retryable: false,
                attempt: None,
                max_attempts: None,
                http_status: None,
            };
            normalizer.push(target, Body::ErrorReported(Box::new(error)));
            return;
        }
        let result = fields.object("result").unwrap_or_default();
        if self.approvals.answered(id, &result, normalizer) {
            return;
        }
        if let Some(thread) = result.object("thread") {
            self.threads.known(&thread, result.str("model"), normalizer);
        }
    }

    fn notification(&mut self, method: &str, params: &Object<'_>, normalizer: &mut Normalizer) {
        let thread = thread_of(params);
        self.threads.address(&thread, normalizer);
        let is_older = method.starts_with("codex/event");
        if self.older_events.have_turns_of(&thread) || (is_older && !self.threads.knows(&thread)) {
            if is_older {
                self.older_events.event(&thread, params, normalizer);
            }
            self.older_events.keep(&thread, normalizer);
            return;
        }
        match method {
            "thread/started" => {
                if let Some(thread) = params.object("thread") {
                    self.threads.known(&thread, None, normalizer);
                }
            }
            "turn/started" => {
                let turn = params.object("turn").unwrap_or_default();
                self.threads.turn_started(&thread, &turn, &mut self.agents, normalizer);
            }
            "turn/completed" => {
                self.approvals.turn_over(&thread, normalizer);
                let turn = params.object("turn").unwrap_or_default();
                self.threads.turn_completed(&thread, &turn, normalizer);
            }
            "item/started" => self.item(&thread, Phase::Started, params, normalizer),
            "item/updated" => self.item(&thread, Phase::Updated, params, normalizer),
            "item/completed" => self.item(&thread, Phase::Completed, params, normalizer),
            "thread/tokenUsage/updated" => self.usage(&thread, params, normalizer),
            "thread/status/changed" => {
                let status = params.object("status").unwrap_or_default();
                self.threads.status(&thread, &status, normalizer);
            }
            "serverRequest/resolved" => {
                if let Some(id) = params.some("requestId") {
                    self.approvals.resolved(id, normalizer);
                }
            }
            "configWarning" | "deprecationNotice" | "warning" => {
                let target = self.target(&thread, normalizer);
                let message = params.str("message").or_else(|| params.str("summary")).unwrap_or_default();
                let message = match params.str("details") {
                    Some(details) if !details.is_empty() => format!("{message}\n{details}"),
                    _ => message.into_owned(),
                };
                normalizer.push(target, Body::LogEmitted { level: LogLevel::Warn, message });
            }
            "mcpServer/startupStatus/updated" if params.some("error").is_some() => {
                let (name, error) = (params.str("name").unwrap_or_default(), params.str("error").unwrap_or_default());
                let message = format!("MCP server {name} did not start: {error}");
                let target = self.target(&thread, normalizer);
                normalizer.push(target, Body::LogEmitted { level: LogLevel::Warn, message });
            }
            _ if is_older => {}
            _ => self.of_turn(method, &thread, params, normalizer),
        }
        // A record about a thread with a running turn belongs to that run.
        if let Some(context) = self.threads.context(&thread, normalizer) {
            let stream = context.target.stream;
            normalizer.record_on(stream);
        }
    }

    /// The place for a report about a thread: its running turn, or else the thread stream.
    fn target(&mut self, thread: &str, normalizer: &mut Normalizer) -> Target {
        match self.threads.context(thread, normalizer) {
            Some(context) => context.target,
            None => Target::main(normalizer.thread()),
        }
    }

    /// Handles an event within a turn. Outside a turn, only its record is kept.
    fn of_turn(&mut self, method: &str, thread: &str, params: &Object<'_>, normalizer: &mut Normalizer) {
        let known = matches!(
            method,
            "item/agentMessage/delta"
                | "item/plan/delta"
                | "item/reasoning/summaryTextDelta"
                | "item/reasoning/textDelta"
                | "item/commandExecution/outputDelta"
                | "item/commandExecution/terminalInteraction"
                | "item/mcpToolCall/progress"
                | "turn/plan/updated"
                | "error"
                | "thread/compacted"
                | "model/rerouted"
        );
        if !known {
            if !SILENT.contains(&method) && !SILENT_FAMILIES.iter().any(|family| method.starts_with(family)) {
                normalizer.unknown(format!("unknown notification {method:?}"));
            }
            return;
        }
        if method.starts_with("item/") {
            self.threads.join(thread, params, &mut self.agents, normalizer);
        }
        let Some(mut context) = self.threads.context(thread, normalizer) else { return };
        let item = params.str("itemId").unwrap_or_default();
        let delta = params.get("delta").and_then(Json::utf16);
        let index = |key| params.u64(key).and_then(|index| u32::try_from(index).ok()).unwrap_or_default();
        match (method, delta) {
            ("item/agentMessage/delta" | "item/plan/delta", Some(delta)) => context.delta(Block::text(&item, 0), delta),
            ("item/reasoning/summaryTextDelta", Some(delta)) => {
                context.delta(Block::reasoning(&item, index("summaryIndex")), delta);
            }
            ("item/reasoning/textDelta", Some(delta)) => {
                context.delta(Block::reasoning(&raw_reasoning(&item), index("contentIndex")), delta);
            }
            ("item/commandExecution/outputDelta", Some(delta)) => {
                // A command that writes output was approved.
                self.approvals.outcome(thread, &item, None, context.normalizer);
                context.stream(&item, &delta.into_string());
            }
            ("item/commandExecution/terminalInteraction", _) => {
                let stdin = params.str("stdin").unwrap_or_default();
                if !stdin.is_empty() {
                    context.log(LogLevel::Info, format!("written to the command's standard input: {stdin}"));
                }
            }
            ("item/mcpToolCall/progress", _) => {
                context.log(LogLevel::Info, params.str("message").unwrap_or_default());
            }
            ("turn/plan/updated", _) => {
                if let Some(plan) = params.get("plan") {
                    context.plan(plan_entries(plan));
                }
            }
            ("thread/compacted", _) => {
                context.compaction(CompactionRecord::Event, None);
            }
            ("model/rerouted", _) => {
                let (from, to) = (params.str("fromModel"), params.str("toModel"));
                let (from, to) = (from.unwrap_or_default(), to.unwrap_or_default());
                context.log(LogLevel::Warn, format!("model rerouted from {from} to {to}"));
                self.threads.rerouted(thread, &to);
            }
            ("error", _) => {
                let failure = Failure::of_event(params);
                let retries = params.bool("willRetry").unwrap_or_default();
                if retries { context.retry(&failure) } else { context.fatal(&failure) }
            }
            _ => context.normalizer.add_error("a delta without text"),
        }
    }

    fn item(&mut self, thread: &str, phase: Phase, params: &Object<'_>, normalizer: &mut Normalizer) {
        self.threads.join(thread, params, &mut self.agents, normalizer);
        let Some(fields) = params.object("item") else {
            normalizer.add_error("an item event without an item");
            return;
        };
        let item = Item::read(fields);
        let Some(mut context) = self.threads.context(thread, normalizer) else { return };
        if phase == Phase::Completed {
            let status = item.status().unwrap_or(Status::Completed);
            self.approvals.outcome(thread, &item.id, Some(status), context.normalizer);
        }
        if !report(&mut context, &mut self.agents, &item, phase) {
            context.normalizer.unknown(format!("unknown item type {:?}", item.word));
        }
    }

    fn usage(&mut self, thread: &str, params: &Object<'_>, normalizer: &mut Normalizer) {
        let usage = params.object("tokenUsage").unwrap_or_default();
        let read = |key| usage.object(key).and_then(|tokens| Tokens::read(&tokens));
        let Some(total) = read("total") else { return };
        let (last, state) = (read("last"), self.threads.thread(thread));
        if state.meter.is_fresh() && last.is_none() {
            state.meter.recall(&normalizer.known_totals(), total);
        }
        let model = state.model().or_else(|| self.agents.model(thread));
        let added = state.meter.total(total, last);
        match (self.threads.context(thread, normalizer), added) {
            (Some(mut context), Some(added)) => context.call_used(added, model),
            // These tokens belong to no turn.
            (None, _) => drop(self.threads.thread(thread).meter.end_turn()),
            (Some(_), None) => {}
        }
    }
}

/// The thread that a record is about; "" if it names none.
fn thread_of<'a>(params: &Object<'a>) -> Cow<'a, str> {
    params
        .str("threadId")
        .or_else(|| params.str("conversationId"))
        .or_else(|| params.object("thread")?.str("id"))
        .unwrap_or_default()
}

/// A field's word, in the snake case that frames use.
fn word(fields: &Object<'_>, key: &str) -> String {
    fields.str(key).map(|word| snake(&word)).unwrap_or_default()
}
