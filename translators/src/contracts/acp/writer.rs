//! The messages around the data: methods, ids, and what framegate adds in `_meta`.

use crate::derived::numbered;
use crate::encode::{Data, EventId, Events, ObjectWriter, PreparedFields, key};
use crate::frame::Stream;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Writes the messages of one stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Writer {
    #[serde(skip)]
    envelope: Envelope,
    next: u64,
    /// How many fresh ids were given.
    ids: u64,
}

/// What all messages of a stream have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Envelope {
    stream: Uuid,
    session: Uuid,
    /// The fields of a notification about the session, before its parameters.
    update: PreparedFields,
    /// The constant fields of `_meta.framegate`.
    meta: PreparedFields,
}

/// No fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nothing;

impl Data for Nothing {
    fn fields(&self, _: &mut ObjectWriter<'_>) {}
}

impl Envelope {
    pub(super) fn new(stream: &Stream) -> Self {
        Self {
            stream: stream.id,
            session: stream.session.id,
            update: PreparedFields::new(|map| {
                map.word(key!("jsonrpc"), "2.0");
                map.word(key!("method"), "session/update");
            }),
            meta: PreparedFields::new(|map| map.id(key!("runId"), &stream.id)),
        }
    }

    fn own(&self, seq: u64, about: &dyn Data, map: &mut ObjectWriter<'_>) {
        map.object(key!("framegate"), |map| {
            map.prepared(&self.meta);
            map.entry(key!("seq"), &seq);
            about.fields(map);
        });
    }

    /// What framegate adds to a message.
    fn meta(&self, seq: u64, about: &dyn Data, map: &mut ObjectWriter<'_>) {
        map.object(key!("_meta"), |map| self.own(seq, about, map));
    }

    /// Writes a `session/update`. `about` are more fields of framegate's own.
    pub(super) fn update(&self, seq: u64, kind: &'static str, data: &dyn Data, about: &dyn Data, out: &mut Events) {
        out.object(kind, EventId::Number(seq), |map| {
            map.prepared(&self.update);
            map.object(key!("params"), |map| {
                map.id(key!("sessionId"), &self.session);
                map.object(key!("update"), |map| {
                    map.word(key!("sessionUpdate"), kind);
                    data.fields(map);
                });
                self.meta(seq, about, map);
            });
        });
    }

    /// Writes a `session/request_permission`.
    pub(super) fn ask(&self, seq: u64, id: &str, data: &dyn Data, about: &dyn Data, out: &mut Events) {
        out.object("request_permission", EventId::Number(seq), |map| {
            map.word(key!("jsonrpc"), "2.0");
            map.text(key!("id"), id);
            map.word(key!("method"), "session/request_permission");
            map.object(key!("params"), |map| {
                map.id(key!("sessionId"), &self.session);
                data.fields(map);
                self.meta(seq, about, map);
            });
        });
    }

    /// Writes a `$/cancel_request`.
    pub(super) fn cancel(&self, seq: u64, id: &str, about: &dyn Data, out: &mut Events) {
        out.object("cancel_request", EventId::Number(seq), |map| {
            map.word(key!("jsonrpc"), "2.0");
            map.word(key!("method"), "$/cancel_request");
            map.object(key!("params"), |map| {
                map.text(key!("requestId"), id);
                self.meta(seq, about, map);
            });
        });
    }

    /// Writes the answer of the prompt.
    pub(super) fn result(&self, seq: u64, data: &dyn Data, about: &dyn Data, out: &mut Events) {
        out.object("result", EventId::Number(seq), |map| {
            map.word(key!("jsonrpc"), "2.0");
            map.id(key!("id"), &self.stream);
            map.object(key!("result"), |map| {
                data.fields(map);
                self.meta(seq, about, map);
            });
        });
    }

    /// Writes the answer of a prompt that failed.
    pub(super) fn error(
        &self,
        seq: u64,
        code: i32,
        message: &str,
        data: &dyn Data,
        about: &dyn Data,
        out: &mut Events,
    ) {
        out.object("error", EventId::Number(seq), |map| {
            map.word(key!("jsonrpc"), "2.0");
            map.id(key!("id"), &self.stream);
            map.object(key!("error"), |map| {
                map.entry(key!("code"), &code);
                map.text(key!("message"), message);
                map.object(key!("data"), |map| {
                    data.fields(map);
                    self.own(seq, about, map);
                });
            });
        });
    }
}

impl Writer {
    pub(super) fn new(stream: &Stream) -> Self {
        Self { envelope: Envelope::new(stream), next: 0, ids: 0 }
    }

    /// The same state with the envelope of another writer for the stream.
    pub(super) fn named_as(self, other: &Self) -> Self {
        Self { envelope: other.envelope.clone(), ..self }
    }

    /// An id that no other message or call of any run has; a replay gives the same one.
    pub(super) fn fresh_id(&mut self) -> Uuid {
        let id = numbered(&self.envelope.stream, "acp-", self.ids);
        self.ids += 1;
        id
    }

    fn number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// Writes the next message, a `session/update`.
    pub(super) fn update(&mut self, kind: &'static str, data: &dyn Data, out: &mut Events) {
        self.update_about(kind, data, &Nothing, out);
    }

    /// Writes the next message, a `session/update`. `about` are more fields of framegate's own.
    pub(super) fn update_about(&mut self, kind: &'static str, data: &dyn Data, about: &dyn Data, out: &mut Events) {
        let seq = self.number();
        self.envelope.update(seq, kind, data, about, out);
    }

    /// Writes the next message, which has only data of framegate's own.
    pub(super) fn own(&mut self, about: &dyn Data, out: &mut Events) {
        self.update_about("session_info_update", &Nothing, about, out);
    }

    /// Writes the next message, a question.
    pub(super) fn ask(&mut self, id: &str, data: &dyn Data, about: &dyn Data, out: &mut Events) {
        let seq = self.number();
        self.envelope.ask(seq, id, data, about, out);
    }

    /// Writes the next message: a question is over.
    pub(super) fn cancel(&mut self, id: &str, about: &dyn Data, out: &mut Events) {
        let seq = self.number();
        self.envelope.cancel(seq, id, about, out);
    }

    /// Writes the last message.
    pub(super) fn result(&mut self, data: &dyn Data, about: &dyn Data, out: &mut Events) {
        let seq = self.number();
        self.envelope.result(seq, data, about, out);
    }

    /// Writes the last message of a run that failed.
    pub(super) fn error(&mut self, code: i32, message: &str, data: &dyn Data, about: &dyn Data, out: &mut Events) {
        let seq = self.number();
        self.envelope.error(seq, code, message, data, about, out);
    }
}
