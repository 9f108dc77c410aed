//! The event feeds of `opencode serve`: `/event`, `/global/event`, and the older shapes of the first release.
//!
//! Input: interleaved events of many sessions. Output: one run for each prompt of a root session. Text of a child session is
//! part of its parent's run, attributed to the task call. Never: a duplicate of an event; a run started by a late update of an
//! old message; a run that ends before its last text.
//!
//! **Start.** A user message alone does not start a run, because it may only add to the context. A run starts when its session
//! starts to work; the prompt is known by then. A prompt that arrives while the session works is queued into the same run.
//!
//! **End.** A session reports that it is idle. If all its messages are complete, the run ends at once; any error has already
//! been reported. After an abort or an error, idle comes first and closing updates follow. In that case an assistant message is
//! still open, and the run ends with the update that completes the last open message. If that update never arrives, the run
//! ends with a second idle, the next prompt, or the end of the input. The same rule ends a child session.
//!
//! **Updates from a later state.** The server serialises a message's update when the update is sent, so it shows the message as
//! it is then. Under load, the first update may already say how the message ends, before its parts arrive. Such a message stays
//! open until its next update of that kind, the session's next message, or idle.

use super::super::clock::Clock;
use super::approvals;
use super::clock::timestamp;
use super::duplicates::unversioned;
use super::failure::Failure;
use super::files;
use super::sessions::Feed;
use crate::json::Object;
use crate::normalizer::{Normalizer, Target};
use std::borrow::Cow;

/// One event, from any envelope.
pub(super) struct Event<'a, 'e> {
    pub(super) kind: &'a str,
    pub(super) props: &'a Object<'e>,
    /// Whether the event has no id of its own, as in the first release.
    pub(super) old: bool,
}

impl Feed {
    /// Decodes an event in any envelope.
    pub(super) fn record(&mut self, record: &Object<'_>, clock: &mut Clock, normalizer: &mut Normalizer) {
        let payload = record.object("payload");
        let event = payload.as_ref().unwrap_or(record);
        let sync = event.object("syncEvent");
        let event = sync.as_ref().unwrap_or(event);
        let id = event.str("id");
        let kind = event.str("type").unwrap_or_default();
        let kind = if sync.is_some() { unversioned(&kind) } else { &kind };
        let Some(props) = event.object("properties").or_else(|| event.object("data")) else {
            return normalizer.unknown(format!("unknown event {kind:?}: it has no properties"));
        };
        let event = Event { kind, props: &props, old: id.is_none() };
        let session = session_of(&event);
        // Only the global feed contains duplicates.
        if payload.is_some() && self.duplicates.is_duplicate(id.as_deref().unwrap_or_default()) {
            return self.keep(session.as_deref(), normalizer);
        }
        match &session {
            Some(session) => self.event(&event, session, clock, normalizer),
            None => serverwide(&event, normalizer),
        }
        self.keep(session.as_deref(), normalizer);
        self.bound_runs(normalizer);
    }

    /// Assigns the record to its session: to the open run, or else to the thread.
    fn keep(&mut self, session: Option<&str>, normalizer: &mut Normalizer) {
        let root = session.map(|session| self.root(session).0);
        normalizer.set_session(root.as_deref().unwrap_or_default());
        if let Some(run) = root.and_then(|root| self.sessions.get(&root)?.run) {
            normalizer.record_on(run);
        }
    }

    fn event(&mut self, event: &Event<'_, '_>, session: &str, clock: &mut Clock, normalizer: &mut Normalizer) {
        let props = event.props;
        let id = self.enter(session);
        if let "session.created" | "session.updated" = event.kind
            && let Some(info) = props.object("info")
        {
            self.adopt(&id, info.str("parentID").as_deref());
            self.titled(&id, info.str("title").as_deref());
        }
        normalizer.set_session(&self.root(&id).0);
        match event.kind {
            "session.created" | "session.updated" | "session.diff" | "command.executed" => {}
            "session.deleted" => self.deleted(&id, normalizer),
            "session.status" => self.status(&id, props, normalizer),
            "session.idle" => self.idle(&id, 1, normalizer),
            "session.error" => self.error(&id, props, normalizer),
            "session.compacted" => self.compacted(&id, normalizer),
            "message.updated" => self.message(&id, props, clock, normalizer),
            "message.removed" => {
                let removed = props.str("messageID").unwrap_or_default();
                self.session(&id).message_log.remove(&removed);
                self.end_if_over(&id, normalizer);
            }
            "message.part.updated" => self.part(&id, event, clock, normalizer),
            "message.part.delta" => self.delta(&id, props, normalizer),
            "message.part.removed" => {}
            "permission.asked" | "permission.updated" | "permission.v2.asked" => {
                clock.at(props.object("time").and_then(|time| time.u64("created")), normalizer);
                self.work(&id, normalizer);
                self.with_context(&id, normalizer, |context, _| approvals::permission(context, props));
            }
            "permission.replied" | "permission.v2.replied" => {
                self.with_context(&id, normalizer, |context, _| approvals::permission_answered(context, props));
            }
            "question.asked" | "question.v2.asked" => {
                self.work(&id, normalizer);
                self.with_context(&id, normalizer, |context, _| approvals::question(context, props));
            }
            "question.replied" | "question.v2.replied" => {
                self.with_context(&id, normalizer, |context, _| approvals::question_answered(context, props));
            }
            "question.rejected" | "question.v2.rejected" => {
                self.with_context(&id, normalizer, |context, _| approvals::question_rejected(context, props));
            }
            "todo.updated" => {
                self.with_context(&id, normalizer, |context, message_log| {
                    files::plan(context, message_log, &props.items("todos"))
                });
            }
            kind => match kind.strip_prefix("session.next.") {
                Some(step) => {
                    clock.at(props.get("timestamp").and_then(timestamp), normalizer);
                    self.session_next(&id, step, props, normalizer);
                }
                None => serverwide(event, normalizer),
            },
        }
    }
}

/// The session that an event names. In the first release, the id is inside the object that the event is about.
fn session_of<'e>(event: &Event<'_, 'e>) -> Option<Cow<'e, str>> {
    let own = event.props.str("sessionID").filter(|id| !id.is_empty());
    if own.is_some() {
        return own;
    }
    let about = match event.kind {
        "message.part.updated" => event.props.object("part")?.str("sessionID"),
        "message.updated" => event.props.object("info")?.str("sessionID"),
        kind if kind.starts_with("session.") => event.props.object("info")?.str("id"),
        _ => None,
    };
    about.filter(|id| !id.is_empty())
}

/// Handles events that belong to the server or only repeat other events.
fn serverwide(event: &Event<'_, '_>, normalizer: &mut Normalizer) {
    const KNOWN: [&str; 24] = [
        "server.connected",
        "server.heartbeat",
        "server.instance.disposed",
        "global.disposed",
        "file.edited",
        "file.watcher.updated",
        "plugin.added",
        "catalog.updated",
        "reference.updated",
        "integration.updated",
        "integration.connection.updated",
        "command.executed",
        "mcp.tools.changed",
        "mcp.browser.open.failed",
        "project.updated",
        "project.directories.updated",
        "vcs.branch.updated",
        "lsp.updated",
        "lsp.client.diagnostics",
        "models-dev.refreshed",
        "todo.updated",
        "session.diff",
        "installation.updated",
        "installation.update-available",
    ];
    const FAMILIES: [&str; 5] = ["installation.", "pty.", "tui.", "workspace.", "worktree."];
    let kind = event.kind;
    if kind == "session.error" {
        let failure = Failure::read(event.props.some("error"));
        normalizer.set_session("");
        let thread = normalizer.thread();
        normalizer.push(Target::main(thread), failure.reported(false));
    } else if !KNOWN.contains(&kind) && !FAMILIES.iter().any(|family| kind.starts_with(family)) {
        normalizer.unknown(format!("unknown event type {kind:?}"));
    }
}
