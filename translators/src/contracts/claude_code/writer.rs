//! The envelope of each message: its type, its session and its id.

use super::line::Text;
use crate::contracts::wire::Times;
use crate::derived::numbered;
use crate::encode::{EventId, Events, ObjectWriter, PreparedFields, Value, key};
use crate::frame::Stream;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Writes the messages of one stream.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Writer {
    #[serde(skip)]
    run: Uuid,
    /// The session, for messages of either thread; and also the constant parent of the main thread.
    #[serde(skip)]
    session: PreparedFields,
    #[serde(skip)]
    main_thread: PreparedFields,
    #[serde(skip)]
    times: Times,
    next: u64,
}

/// What a message has besides its own fields.
#[derive(Clone, Copy, Debug)]
pub(super) enum Envelope<'a> {
    /// The type alone: a control message.
    None,
    /// Its session and id.
    Session,
    /// Also the call that started the subagent, or `null`.
    Thread(Option<&'a str>),
    /// Also the time in Unix epoch milliseconds.
    Timed(Option<&'a str>, u64),
}

/// The `uuid` of a stream's message.
pub(super) fn uuid_of(run: &Uuid, seq: u64) -> Uuid {
    numbered(run, "claude-code/", seq)
}

impl Writer {
    pub(super) fn new(stream: &Stream) -> Self {
        Self::at(stream, 0)
    }

    /// A writer whose next message has that number.
    pub(super) fn at(stream: &Stream, next: u64) -> Self {
        let session = PreparedFields::new(|map| map.id(key!("session_id"), &stream.session.id));
        let main_thread = PreparedFields::new(|map| {
            map.raw(key!("parent_tool_use_id"), "null");
            map.id(key!("session_id"), &stream.session.id);
        });
        Self { run: stream.id, session, main_thread, times: Times::MILLIS, next }
    }

    /// The same state with the constant fields of another writer for the stream.
    pub(super) fn named_as(self, other: &Self) -> Self {
        Self { next: self.next, ..other.clone() }
    }

    /// An id that no other message and no model message of the stream has.
    pub(super) fn derived(&self, prefix: &str, number: u64) -> Uuid {
        numbered(&self.run, prefix, number)
    }

    /// Writes the next message.
    pub(super) fn message(
        &mut self,
        kind: &'static str,
        envelope: Envelope<'_>,
        out: &mut Events,
        fields: impl Fn(&mut ObjectWriter<'_>),
    ) {
        let seq = self.next;
        self.next += 1;
        let (run, session, main_thread) = (&self.run, &self.session, &self.main_thread);
        let time = match envelope {
            Envelope::Timed(_, ms) => Some(self.times.text(ms)),
            Envelope::None | Envelope::Session | Envelope::Thread(_) => None,
        };
        out.object(kind, EventId::Number(seq), |map| {
            map.word(key!("type"), kind);
            fields(map);
            match envelope {
                Envelope::None => return,
                Envelope::Session => map.prepared(session),
                Envelope::Thread(None) | Envelope::Timed(None, _) => map.prepared(main_thread),
                Envelope::Thread(Some(parent)) | Envelope::Timed(Some(parent), _) => {
                    Text(parent).field(key!("parent_tool_use_id"), map);
                    map.prepared(session);
                }
            }
            map.id(key!("uuid"), &uuid_of(run, seq));
            if let Some(time) = time {
                map.time(key!("timestamp"), time);
            }
        });
    }
}
