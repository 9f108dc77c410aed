//! Reads frames back.
//!
//! Input: the records of `frames.v1` or `frames.v2`. Output: the same frames. The first frame of a run that names no runner (v1,
//! and other writers) waits for the next one, whose record names it. Never: a record that is not a frame taken for one; it is
//! kept as a record, with the reason.

use super::body;
use super::envelope::Envelope;
use super::fields::{Fields, Read};
use crate::decode::{Decoder, Record};
use crate::derived::uuid_v5;
use crate::frame::{Body, Provider, Session, Stream, StreamKind};
use crate::normalizer::{Adopted, Normalizer};
use std::collections::VecDeque;
use std::sync::Arc;
use uuid::Uuid;

/// How many first frames wait at most.
const WAITING: usize = 64;

/// How many runs are remembered, for the tasks that they start.
const RUNS: usize = 1024;

/// Why a frame cannot follow the earlier ones of its stream.
type Taken = Result<(), &'static str>;

/// The decoder.
#[derive(Default)]
pub(super) struct Frames {
    /// First frames whose runner is not known yet, oldest first.
    waiting: VecDeque<Adopted>,
    /// The newest streams of runs, oldest first.
    runs: VecDeque<Arc<Stream>>,
}

impl Decoder for Frames {
    fn record(&mut self, record: &Record<'_>, normalizer: &mut Normalizer) {
        match self.frame(Fields::new(&record.fields), normalizer) {
            Ok(Some(Ok(()))) => {}
            Ok(Some(Err(reason))) => normalizer.unknown(reason),
            Ok(None) => {
                normalizer.unknown(format!("unknown frame type {:?}", record.fields.str("type").unwrap_or_default()))
            }
            Err(wrong) => normalizer.unknown(wrong.to_string()),
        }
    }

    fn end(&mut self, normalizer: &mut Normalizer) {
        for first in std::mem::take(&mut self.waiting) {
            self.remember(&first);
            normalizer.adopt_first(first);
        }
    }
}

impl Frames {
    /// Takes the frame of a record; `None` if its type is unknown.
    fn frame(&mut self, fields: Fields<'_, '_>, normalizer: &mut Normalizer) -> Read<Option<Taken>> {
        let envelope = Envelope::read(fields)?;
        if envelope.stream_id.is_nil() {
            // The feed of a framegate says that it does not continue at the reader's cursor.
            let reason = format!("the feed says: {}", fields.nullable_text("reason")?.unwrap_or_default());
            normalizer.adopted_break(&reason);
            normalizer.unknown(reason);
            return Ok(Some(Ok(())));
        }
        let Some(body) = body::read(&envelope.kind, fields.in_stream(envelope.stream_id))? else { return Ok(None) };
        let named = provider_of(fields)?;
        let stream = match self.waiting_for(&envelope) {
            Some(first) => {
                let stream = with_provider(&first.stream, named);
                let first = Adopted { stream: stream.clone(), ..first };
                self.remember(&first);
                normalizer.adopt_first(first);
                stream
            }
            None => match open_stream(&envelope, normalizer) {
                Some(stream) => stream,
                None => Arc::new(self.new_stream(&envelope, &body, named, fields)?),
            },
        };
        let is_unnamed = stream.provider == super::PROVIDER;
        let is_new = normalizer.adopted_stream((stream.kind, stream.id)).is_none();
        let is_first = is_unnamed && is_new && matches!(body, Body::SessionStarted { .. });
        let frame = Adopted {
            stream,
            seq: envelope.seq,
            id: envelope.id,
            timestamp_ms: envelope.timestamp_ms,
            parent_tool_id: envelope.parent_tool_id,
            body,
            lacks_texts: envelope.stream_kind.is_none(),
        };
        if is_first {
            match normalizer.reserve(&frame) {
                Ok(true) => {}
                Ok(false) => return Ok(Some(Ok(()))),
                Err(reason) => return Ok(Some(Err(reason))),
            }
            self.waiting.push_back(frame);
            if self.waiting.len() > WAITING
                && let Some(oldest) = self.waiting.pop_front()
            {
                self.remember(&oldest);
                normalizer.adopt_first(oldest);
            }
            return Ok(Some(Ok(())));
        }
        self.remember(&frame);
        Ok(Some(normalizer.adopt(frame)))
    }

    /// Remembers the run that begins with this frame.
    fn remember(&mut self, frame: &Adopted) {
        if frame.stream.kind == StreamKind::Session && matches!(frame.body, Body::SessionStarted { .. }) {
            self.runs.push_back(frame.stream.clone());
            if self.runs.len() > RUNS {
                self.runs.pop_front();
            }
        }
    }

    fn waiting_for(&mut self, envelope: &Envelope<'_>) -> Option<Adopted> {
        let is_it = |first: &Adopted| {
            let kind = envelope.stream_kind.unwrap_or(first.stream.kind);
            (kind, envelope.stream_id) == (first.stream.kind, first.stream.id)
        };
        let at = self.waiting.iter().position(is_it)?;
        self.waiting.remove(at)
    }

    /// The stream of its first frame.
    fn new_stream(
        &self,
        envelope: &Envelope<'_>,
        body: &Body,
        named: Option<Provider>,
        fields: Fields<'_, '_>,
    ) -> Read<Stream> {
        let (kind, id) = (envelope.kind_of_stream(), envelope.stream_id);
        let origin = match body {
            Body::Task(event) => event.origin(),
            _ => None,
        };
        let origin = origin.and_then(|origin| self.runs.iter().rev().find(|run| run.id == origin));
        let session = match (kind, origin) {
            (_, Some(run)) => run.session.clone(),
            (StreamKind::Thread, None) => self.session(id).unwrap_or_else(|| session(id, "")),
            (_, None) => match fields.nullable_id("thread_id")? {
                Some(thread) => session(thread, &fields.nullable_text("thread_name")?.unwrap_or_default()),
                None => session(uuid_v5(&id, b"session"), ""),
            },
        };
        let provider = named.or(origin.map(|run| run.provider)).unwrap_or(super::PROVIDER);
        Ok(Stream { kind, id, session, origin_run: origin.map(|run| run.id), provider })
    }

    /// The session of an earlier run.
    fn session(&self, id: Uuid) -> Option<Arc<Session>> {
        self.runs.iter().rev().map(|run| &run.session).find(|session| session.id == id).cloned()
    }
}

fn session(id: Uuid, name: &str) -> Arc<Session> {
    Arc::new(Session { id, name: Arc::from(name) })
}

/// The stream, if it is open.
fn open_stream(envelope: &Envelope<'_>, normalizer: &Normalizer) -> Option<Arc<Stream>> {
    let id = envelope.stream_id;
    match envelope.stream_kind {
        Some(kind) => normalizer.adopted_stream((kind, id)),
        None => StreamKind::ALL.into_iter().find_map(|kind| normalizer.adopted_stream((kind, id))),
    }
}

/// The runner that a frame names.
fn provider_of(fields: Fields<'_, '_>) -> Read<Option<Provider>> {
    Ok(fields.nullable_text("provider")?.and_then(|name| known(&name)))
}

fn known(name: &str) -> Option<Provider> {
    crate::runners::PROVIDERS.iter().find(|provider| provider.name == name).copied()
}

fn with_provider(stream: &Arc<Stream>, provider: Option<Provider>) -> Arc<Stream> {
    match provider {
        None => stream.clone(),
        Some(provider) => Arc::new(Stream {
            kind: stream.kind,
            id: stream.id,
            session: stream.session.clone(),
            origin_run: stream.origin_run,
            provider,
        }),
    }
}
