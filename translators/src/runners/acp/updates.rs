//! `session/update`: what an agent tells about a session.
//!
//! Input: one update, of either version. Output: frames of the session's turn, or of its thread between turns. Never: a turn that
//! begins because of a list of commands, a mode or a figure; a replayed message in a frame.

use super::calls::{Place, Told};
use super::content::{piece_of, text_of};
use super::decoder::Acp;
use super::notices;
use super::plan;
use super::sessions::{Replay, Session, Turn};
use super::usage;
use crate::derived::numbered;
use crate::frame::{Body, LogLevel, SharedStr, UserMessage};
use crate::json::{Json, Object, Utf16Text};
use crate::normalizer::{BlockKind, Normalizer};
use std::borrow::Cow;

/// Kinds that say nothing about a turn.
const ASIDE: &[&str] = &[
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
    "notice",
];

/// Kinds that are part of a turn.
const OF_TURN: &[&str] = &[
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "user_message",
    "agent_message",
    "agent_thought",
    "tool_call",
    "tool_call_update",
    "tool_call_content_chunk",
    "terminal_update",
    "terminal_output_chunk",
    "plan",
    "plan_update",
    "plan_removed",
    "compaction_update",
    "compaction_summary_chunk",
    "state_update",
];

impl Acp {
    pub(super) fn update(&mut self, params: &Object<'_>, normalizer: &mut Normalizer) {
        let name = params.str("sessionId").map(|name| SharedStr::from(&*name));
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            normalizer.unknown("an update without a sessionId");
            return;
        };
        self.sessions.enter(&name, normalizer);
        let Some(update) = params.object("update") else {
            normalizer.unknown("a session/update without an update");
            return;
        };
        let kind = update.str("sessionUpdate").unwrap_or_default();
        let is_of_turn = OF_TURN.contains(&&*kind);
        if !is_of_turn && !ASIDE.contains(&&*kind) {
            if !kind.starts_with('_') {
                normalizer.unknown(format!("unknown update {kind:?}"));
            }
            return;
        }
        let session = self.sessions.enter(&name, normalizer);
        session.note(&kind, &update);
        session.has_ids |= is_of_turn && update.some("messageId").is_some();
        match session.replay {
            Replay::Runs => {
                session.has_history |= is_of_turn;
                return;
            }
            Replay::GoesOn => {
                if kind == "available_commands_update" {
                    session.replay = Replay::No;
                }
                return;
            }
            Replay::MayGoOn if is_of_turn => {
                let goes_on = kind == "user_message_chunk" && update.some("messageId").is_none();
                session.replay = if goes_on { Replay::GoesOn } else { Replay::No };
                if goes_on {
                    return;
                }
            }
            Replay::MayGoOn | Replay::No => {}
        }
        if kind == "state_update" && self.connection.is_hosted {
            // The client of version 1 has no states: only the answer to a prompt ends its turn.
            return normalizer.unknown("a state of version 2");
        }
        if kind == "state_update" {
            return self.state(&name, &update, normalizer);
        }
        if is_of_turn && session.running.is_none() && self.connection.is_alone() {
            let is_user = matches!(&*kind, "user_message_chunk" | "user_message");
            // The client resumes a session without its history.
            session.is_open |= self.has_resumed && is_user && update.some("messageId").is_some();
            self.has_resumed &= !session.is_open;
            if is_user && self.is_whole && !session.is_open {
                // The client loads a session.
                (session.replay, session.has_history) = (Replay::Runs, true);
                self.replaying = Some(name);
                return;
            }
            if session.has_states && !is_user {
                return session.tell(&kind, &update, normalizer);
            }
            let input = if is_user { update.get("content").map(text_of) } else { None };
            session.has_idled = false;
            self.begin(&name, None, input.unwrap_or_default(), normalizer);
        }
        if is_of_turn {
            self.sessions.works(&name);
        }
        let session = self.sessions.enter(&name, normalizer);
        if is_of_turn || matches!(&*kind, "usage_update" | "notice") {
            session.turn.is_alone = self.connection.is_alone();
            session.tell(&kind, &update, normalizer);
        }
    }

    /// A question begins a turn as well, if the client's lines are not there.
    pub(super) fn ensure_turn(&mut self, name: &SharedStr, normalizer: &mut Normalizer) {
        let session = self.sessions.enter(name, normalizer);
        if session.running.is_none() && self.connection.is_alone() && session.replay == Replay::No {
            self.begin(name, None, String::new(), normalizer);
        }
    }

    /// The state of version 2: it begins and ends turns.
    fn state(&mut self, name: &SharedStr, update: &Object<'_>, normalizer: &mut Normalizer) {
        self.connection.is_v2 = true;
        let state = update.str("state").unwrap_or_default();
        let session = self.sessions.enter(name, normalizer);
        session.has_states = true;
        let is_running = session.running.is_some();
        match &*state {
            "idle" => {
                if is_running {
                    session.has_idled = true;
                    self.end_turn(name, update, None, normalizer);
                }
                return;
            }
            "running" if !is_running && !self.connection.is_hosted => {
                session.has_idled = false;
                self.begin(name, None, String::new(), normalizer);
            }
            _ => {}
        }
        let session = self.sessions.enter(name, normalizer);
        if session.running.is_none() || state.is_empty() {
            return;
        }
        let new_status = SharedStr::from(&*state);
        let old = session.turn.state.replace(new_status.clone()).unwrap_or_else(|| SharedStr::from("running"));
        if old != new_status {
            let mut place = session.place(normalizer);
            session.turn.start_ready(&mut place);
            let body = Body::StatusChanged { old_status: old, new_status, reason: None };
            place.normalizer.push(place.target, body);
        }
    }
}

/// A message of the agent for the user.
fn notice(update: &Object<'_>, place: &mut Place<'_>) {
    let level = match update.str("severity").as_deref() {
        Some("error") => LogLevel::Error,
        Some("warning") => LogLevel::Warn,
        _ => LogLevel::Info,
    };
    let title = update.str("title").unwrap_or_default();
    let message = match update.str("description").filter(|text| !text.is_empty()) {
        Some(description) => format!("{title}\n{description}"),
        None => title.into_owned(),
    };
    place.normalizer.push(place.target, Body::LogEmitted { level, message });
}

impl Session {
    /// Reports an update, in the running turn or between turns.
    fn tell(&mut self, kind: &str, update: &Object<'_>, normalizer: &mut Normalizer) {
        let model = self.model.clone();
        let mut place = self.place(normalizer);
        self.turn.told(kind, update, model, &mut place);
    }

    /// Notes what an update says about the session itself.
    fn note(&mut self, kind: &str, update: &Object<'_>) {
        match kind {
            "usage_update" => {
                self.cost.note(update, self.running.is_some());
                let model = update
                    .object("_meta")
                    .and_then(|meta| meta.str("_claude/model").map(|model| SharedStr::from(&*model)));
                self.model = model.or_else(|| self.model.take());
            }
            "config_option_update" => self.configured(update),
            "session_info_update" => {
                let codex = update.object("_meta").and_then(|meta| meta.object("codex"));
                if let Some(status) = codex.and_then(|codex| codex.object("threadStatus")) {
                    self.turn.has_failed = status.str("type").as_deref() == Some("systemError");
                }
            }
            _ => {}
        }
    }

    /// Notes the model in a session's options.
    pub(super) fn configured(&mut self, fields: &Object<'_>) {
        let is_model =
            |option: &Object<'_>| option.str("category").or_else(|| option.str("id")).as_deref() == Some("model");
        let options = fields.items("configOptions").into_iter().filter_map(Json::object);
        let of_options = options.filter(is_model).find_map(|option| option.str("currentValue").map(Cow::into_owned));
        let of_models = || fields.object("models")?.str("currentModelId").map(Cow::into_owned);
        if let Some(model) = of_options.or_else(of_models).filter(|model| !model.is_empty()) {
            self.model = Some(SharedStr::from(model));
        }
    }

    /// A turn begins: the text between turns is complete.
    pub(super) fn close_between(&mut self, normalizer: &mut Normalizer) {
        self.turn.texts.complete(normalizer);
        self.turn = Turn::default();
    }
}

impl Turn {
    /// Reports an update.
    fn told(&mut self, kind: &str, update: &Object<'_>, model: Option<SharedStr>, place: &mut Place<'_>) {
        let is_user = kind.starts_with("user_message");
        if !is_user {
            self.say_user(place);
            if std::mem::take(&mut self.follows_user) {
                place.normalizer.turn_started(place.target.stream, model.clone());
            }
        }
        if !matches!(kind, "tool_call" | "tool_call_update" | "tool_call_content_chunk" | "terminal_update") {
            self.start_ready(place);
        }
        let target = place.target_of(update);
        match kind {
            "agent_message_chunk" | "agent_thought_chunk" => {
                let block = if kind == "agent_message_chunk" { BlockKind::Text } else { BlockKind::Reasoning };
                let piece = update.object("content").and_then(|content| piece_of(&content));
                let notice = piece.as_ref().filter(|_| block == BlockKind::Text);
                let notice = notice.and_then(|piece| notices::of_chunk(update, &piece.text, self.has_failed));
                if let Some(notice) = notice {
                    self.texts.interrupted(place.normalizer);
                    place.normalizer.push(target, notice);
                } else if let Some(piece) = piece {
                    let id = message_id(update);
                    self.texts.chunk(target, block, id.as_deref(), piece, place.normalizer);
                } else if update.some("content").is_none() {
                    place.normalizer.add_error("a chunk without content");
                }
                usage::of_chunk(update, target, model, place.normalizer);
            }
            "agent_message" | "agent_thought" => {
                let block = if kind == "agent_message" { BlockKind::Text } else { BlockKind::Reasoning };
                if let (Some(id), Some(content)) = (message_id(update), update.get("content")) {
                    let text = if content.is_null() { String::new() } else { text_of(content) };
                    self.texts.replace(target, block, &id, &text, place.normalizer);
                }
            }
            "user_message" | "user_message_chunk" => self.user(kind, update, place),
            "tool_call" => self.tool_update(Told::Announcement, update, place),
            "tool_call_update" => self.tool_update(Told::Update, update, place),
            "tool_call_content_chunk" => self.content_chunk(update, place),
            "terminal_update" => self.terminal_update(update, false, place),
            "terminal_output_chunk" => self.terminal_update(update, true, place),
            "plan" | "plan_update" => {
                let list = update.get("entries").or_else(|| update.object("plan")?.get("entries"));
                if let Some(list) = list {
                    self.texts.interrupted(place.normalizer);
                    self.plan(target, plan::entries(list), place.normalizer);
                }
            }
            "compaction_update" | "compaction_summary_chunk" => self.compaction(kind, update, place),
            "notice" => notice(update, place),
            _ => {}
        }
    }

    /// A message of the user. Agents may repeat the prompt.
    fn user(&mut self, kind: &str, update: &Object<'_>, place: &mut Place<'_>) {
        let id = message_id(update).unwrap_or_default();
        let text = update.get("content").map(text_of).unwrap_or_default();
        match &mut self.user {
            Some((known, so_far)) if **known == *id => {
                if kind == "user_message" {
                    *so_far = text;
                } else {
                    so_far.push_str(&text);
                }
            }
            _ => {
                self.say_user(place);
                self.user = Some((SharedStr::from(id), text));
            }
        }
    }

    /// Reports the message of the user, unless it is the agent's copy of the prompt, which only the first one may be.
    pub(super) fn say_user(&mut self, place: &mut Place<'_>) {
        let Some((id, text)) = self.user.take() else { return };
        if text.is_empty() || self.prompt.take().is_some_and(|prompt| text.contains(&prompt)) {
            return;
        }
        self.user_messages += 1;
        self.texts.interrupted(place.normalizer);
        let message_id = if id.is_empty() {
            let stream = place.normalizer.stream(place.target.stream).map(|stream| stream.id).unwrap_or_default();
            SharedStr::from(numbered(&stream, "user-", self.user_messages).to_string())
        } else {
            id
        };
        let message = UserMessage { message_id, text, attachments: Vec::new() };
        place.normalizer.push(place.target, Body::UserMessage(Box::new(message)));
    }

    fn compaction(&mut self, kind: &str, update: &Object<'_>, place: &mut Place<'_>) {
        let id = SharedStr::from(&*update.str("compactionId").unwrap_or_default());
        if kind == "compaction_summary_chunk" {
            let piece = update.object("content").and_then(|content| piece_of(&content)).map(Utf16Text::into_string);
            match &mut self.compaction {
                Some((known, so_far)) if *known == id => so_far.push_str(&piece.unwrap_or_default()),
                _ => self.compaction = Some((id, piece.unwrap_or_default())),
            }
            return;
        }
        let told = || match update.get("summary").filter(|summary| !summary.is_null()) {
            Some(summary) => summary.str().map(Cow::into_owned).or_else(|| Some(text_of(summary))),
            None => None,
        };
        match update.str("status").as_deref() {
            Some("completed") => {
                let chunks = self.compaction.take_if(|(known, _)| *known == id).map(|(_, summary)| summary);
                let summary = told().or(chunks).filter(|summary| !summary.is_empty());
                let body = Body::HistoryCompacted { trigger: None, tokens_before: None, tokens_after: None, summary };
                place.normalizer.push(place.target, body);
            }
            Some("failed") => {
                let error = update.str("error").map(Cow::into_owned);
                let error = error.or_else(|| update.object("error")?.str("message").map(Cow::into_owned));
                let message = format!("the history was not compacted: {}", error.unwrap_or_default());
                place.normalizer.push(place.target, Body::LogEmitted { level: LogLevel::Warn, message });
            }
            _ => {}
        }
    }
}

/// The id of a message; `None` if it is absent or empty.
fn message_id<'a>(update: &Object<'a>) -> Option<Cow<'a, str>> {
    update.str("messageId").filter(|id| !id.is_empty())
}
