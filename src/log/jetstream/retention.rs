//! Dropping streams and fronts of streams, and their checkpoints.
//!
//! Input: the bounds; fronts that the runs cut. Output: marks in the place of what was dropped, which every proxy hears, and room at the
//! servers. Never: an open run dropped for room; frames dropped that another proxy was just adding to; two proxies that drop for room at the
//! same time (one is elected by the leases).

use super::JetstreamLog;
use super::append::MESSAGE_BYTES;
use super::engine::Failure;
use super::index::{Held, position};
use super::note::{CheckpointNote, CutNote, DroppedNote, LastEvent, Note};
use super::publish::{Outgoing, Refusal, new_message_id};
use crate::artifacts::ArtifactStore;
use crate::log::{Checkpoint, CheckpointAt, Gone, LogError, StreamId, Summary};
use bytes::Bytes;
use framegate_translators::encode::EventId;
use framegate_translators::frame::stored::Header;
use std::collections::{BTreeMap, HashSet};

/// How long the mark of a dropped stream stays, in seconds. Readers that come back later get "not found" instead of a notice.
const MARK_SECONDS: u64 = 7 * 24 * 3600;

/// How often a drop is tried again if the stream goes on meanwhile.
const ATTEMPTS: u32 = 8;

/// Where a front ends.
struct Edge {
    /// The sequence of the message that has the first frame behind it.
    first: u64,
    /// The position of the last frame of the front.
    position: u64,
    /// Bytes of the messages that are dropped with it.
    bytes: u64,
}

impl JetstreamLog {
    /// Drops a stream. Returns the sequence of its mark; `None` if there is no such stream.
    pub(super) async fn drop_frames(&self, id: StreamId) -> Result<Option<u64>, LogError> {
        let name = self.engine.names.frames_stream();
        let subject = self.engine.names.frames(id);
        for _ in 0..ATTEMPTS {
            let _turn = self.turns([id].into_iter()).await;
            let Some(held) = self.index().get(id).cloned() else { return Ok(None) };
            let note = Note::Dropped(DroppedNote {
                stream: Header::of(&held.stream),
                frames: held.frames,
                position: held.position,
                dropped_ms: self.clock.now_ms(),
                events: BTreeMap::new(),
            });
            let mark = Outgoing {
                subject: subject.clone(),
                after: Some(held.last_seq),
                id: Some(new_message_id()),
                note: Some(note.text()),
                headers: vec![("Nats-TTL", format!("{MARK_SECONDS}s"))],
                payload: Bytes::new(),
            };
            match self.engine.publish(&name, &[mark]).await {
                Ok(seq) => {
                    self.tombstones().insert(id, seq);
                    self.index().dropped(id);
                    self.tail_cache.forget(id);
                    self.read_cache.forget(id);
                    let purged = async {
                        self.engine.purge(&name, &subject, Some(seq)).await?;
                        self.engine.purge(&name, &self.engine.names.checkpoints(id), None).await?;
                        self.engine.purge(&name, &self.engine.names.status(id), None).await
                    };
                    if let Err(failure) = purged.await {
                        let error = self.engine.error(&failure);
                        tracing::warn!(stream = %id.1, %error, "the frames of a dropped stream still take room");
                    }
                    if let Err(error) = self.drop_run(id).await {
                        tracing::warn!(stream = %id.1, %error, "the artifacts of a dropped stream still take room");
                    }
                    return Ok(Some(seq));
                }
                Err(Refusal::Overtaken(Some(last))) => self.hear_up_to(last.seq).await,
                Err(Refusal::Overtaken(None)) => return Ok(None),
                Err(refusal) => return Err(self.not_written(refusal)),
            }
        }
        Err(self.not_written_at_all())
    }

    /// Drops what exceeds the bounds, if this proxy is elected for it.
    pub(super) async fn make_room(&self) {
        while self.leases.membership().is_elected() {
            let next = {
                let index = self.index();
                let old = self.max_age.and_then(|age| {
                    let before = self.clock.now_ms().saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
                    index.room.idle().find(|id| index.get(*id).is_some_and(|held| held.stored_ms < before))
                });
                old.or_else(|| index.room.next_to_go(0, &[], &HashSet::new()))
            };
            let Some(id) = next else { return };
            if let Err(error) = self.drop_frames(id).await {
                tracing::warn!(stream = %id.1, %error, "a stream could not be dropped");
                return;
            }
        }
    }

    /// Drops idle streams without being elected: those that got nothing since `before_ms` (Unix epoch milliseconds), and of
    /// each kind all but the newest `keep`. Returns how many streams and frames were dropped.
    ///
    /// # Errors
    /// The servers do not answer, or refuse. What was dropped before stays dropped.
    pub async fn drop_idle(&self, before_ms: u64, keep: Option<usize>) -> Result<(u64, u64), LogError> {
        self.hear_all().await?;
        let goes = {
            let index = self.index();
            let mut idle: BTreeMap<&'static str, Vec<&Held>> = BTreeMap::new();
            for held in index.room.idle().filter_map(|id| index.get(id)) {
                idle.entry(held.stream.kind.as_str()).or_default().push(held);
            }
            let mut goes = Vec::new();
            for streams in idle.into_values() {
                let beyond = keep.map_or(0, |keep| streams.len().saturating_sub(keep));
                let dropped = |(nth, held): &(usize, &Held)| *nth < beyond || held.stored_ms < before_ms;
                let of_kind = streams.into_iter().enumerate().filter(dropped);
                goes.extend(of_kind.map(|(_, held)| (held.id(), held.last_seq, held.frames - held.first())));
            }
            goes
        };
        let (mut streams, mut frames) = (0, 0);
        for (id, last_seq, kept) in goes {
            // A task or a thread that a proxy goes on with is not idle.
            let is_same = self.index().reached(id).last_seq == last_seq;
            if is_same && self.drop_frames(id).await?.is_some() {
                (streams, frames) = (streams + 1, frames + kept);
            }
        }
        Ok((streams, frames))
    }

    /// Cuts the front of a stream. Messages go whole: the one that has the first kept frame stays.
    pub(super) async fn cut(&self, id: StreamId, gone: Gone, checkpoints: Vec<Checkpoint>) -> Result<(), LogError> {
        self.keep(id, checkpoints).await?;
        let name = self.engine.names.frames_stream();
        let subject = self.engine.names.frames(id);
        let _turn = self.turns([id].into_iter()).await;
        let Some(held) = self.index().get(id).cloned() else { return Ok(()) };
        let Some(edge) = self.edge(&held, gone.frames).await.map_err(|failure| self.engine.error(&failure))? else {
            return Ok(());
        };
        let note = CutNote {
            stream: Header::of(&held.stream),
            frames: gone.frames,
            last_ms: gone.last_ms,
            pruned_ms: gone.pruned_ms,
            position: edge.position,
            first: edge.first,
            bytes: held.bytes.saturating_sub(edge.bytes),
        };
        let message = Outgoing {
            subject: subject.clone(),
            after: Some(held.last_seq),
            id: Some(new_message_id()),
            note: Some(Note::Cut(note.clone()).text()),
            headers: Vec::new(),
            payload: Bytes::new(),
        };
        let seq = match self.engine.publish(&name, &[message]).await {
            Ok(seq) => seq,
            Err(refusal) => return Err(self.not_written(refusal)),
        };
        self.index().cut(seq, &note, &held.stream);
        self.tail_cache.drop_front(id, gone.frames);
        self.read_cache.drop_front(id, gone.frames);
        let purged = async {
            self.engine.purge(&name, &subject, Some(edge.first)).await?;
            self.drop_checkpoints(id, gone.frames).await
        };
        purged.await.map_err(|failure| self.engine.error(&failure))
    }

    /// Where the front of a stream ends: before the frame with that number.
    async fn edge(&self, held: &Held, frames: u64) -> Result<Option<Edge>, Failure> {
        let (name, subject) = (self.engine.names.frames_stream(), self.engine.names.frames(held.id()));
        let (Some(mark), Some(front)) = (held.mark(frames.saturating_sub(1)), held.mark(held.first())) else {
            return Ok(None);
        };
        let (mut at, mut last) = (mark.seq, 0);
        let mut bytes = mark.bytes.saturating_sub(front.bytes);
        loop {
            let stored = self.engine.patiently(|| self.get_many(&name, &subject, at)).await?;
            let Some(behind) = stored.last().map(|stored| stored.seq + 1) else { return Ok(None) };
            at = behind;
            for (seq, note) in stored.into_iter().filter_map(|stored| match stored.note {
                Some(Note::Frames(note)) => Some((stored.seq, note)),
                _ => None,
            }) {
                if note.first < frames {
                    last = position(seq) + (frames - 1 - note.first).min(note.frames.saturating_sub(1));
                }
                if note.first + note.frames > frames {
                    return Ok(Some(Edge { first: seq, position: last, bytes }));
                }
                bytes += note.bytes;
            }
        }
    }

    /// Stores checkpoints.
    pub(super) async fn keep(&self, id: StreamId, checkpoints: Vec<Checkpoint>) -> Result<(), LogError> {
        let name = self.engine.names.frames_stream();
        for Checkpoint { view, frame, event, last, state } in checkpoints {
            let messages = state.len().div_ceil(MESSAGE_BYTES).max(1);
            let last = last.and_then(|(id, number)| match id {
                EventId::Number(id) => Some((LastEvent::Number(id), number)),
                EventId::Text(id) => Some((LastEvent::Id(id.into()), number)),
                _ => None,
            });
            let messages_in_note = u32::try_from(messages).unwrap_or(u32::MAX);
            let note = CheckpointNote { view: view.as_ref().into(), frame, event, last, messages: messages_in_note };
            let mut rest = Bytes::from(state);
            let mut out = Vec::with_capacity(messages);
            for nth in 0..messages {
                let payload = rest.split_to(rest.len().min(MESSAGE_BYTES));
                let text = if nth == 0 { Note::Checkpoint(note.clone()).text() } else { Note::More.text() };
                let subject = self.engine.names.checkpoints(id);
                out.push(Outgoing { subject, after: None, id: None, note: Some(text), headers: Vec::new(), payload });
            }
            let _permit = if out.len() > 1 { Some(self.batches.acquire().await) } else { None };
            match self.engine.publish(&name, &out).await {
                Ok(seq) => self.index().checkpoint(seq, id, note),
                Err(refusal) => return Err(self.not_written(refusal)),
            }
        }
        Ok(())
    }

    /// Removes the checkpoints before the first frame that is kept. The one at that frame is needed for as long as the frame is kept.
    async fn drop_checkpoints(&self, id: StreamId, before: u64) -> Result<(), Failure> {
        let Some(seq) = self.index().forget_checkpoints(id, before) else { return Ok(()) };
        let subject = self.engine.names.checkpoints(id);
        self.engine.purge(&self.engine.names.frames_stream(), &subject, (seq < u64::MAX).then_some(seq)).await
    }

    /// Finds a checkpoint.
    pub(super) async fn find_checkpoint(
        &self,
        id: StreamId,
        view: &str,
        at: &CheckpointAt,
    ) -> Result<Option<Checkpoint>, LogError> {
        let found = {
            let index = self.index();
            let of_view = || index.checkpoints(id).iter().filter(|(_, note)| &*note.view == view);
            let fits = |note: &CheckpointNote| match at {
                CheckpointAt::Event(event) => note.event <= *event,
                CheckpointAt::Frame(frame) => note.frame <= *frame,
                CheckpointAt::Cursor(cursor) => match (note.last.as_ref().map(|(last, _)| last), cursor) {
                    (None, _) => true,
                    (Some(LastEvent::Number(last)), EventId::Number(cursor)) => last <= cursor,
                    (Some(LastEvent::Id(last)), EventId::Text(cursor)) => **last <= **cursor,
                    _ => false,
                },
            };
            of_view().filter(|(_, note)| fits(note)).max_by_key(|(_, note)| note.frame).cloned()
        };
        self.load(id, found).await
    }

    /// Reads the state of a checkpoint.
    async fn load(&self, id: StreamId, found: Option<(u64, CheckpointNote)>) -> Result<Option<Checkpoint>, LogError> {
        let Some((seq, note)) = found else { return Ok(None) };
        let name = self.engine.names.frames_stream();
        let mut state = Vec::new();
        for nth in 0..u64::from(note.messages) {
            let which = serde_json::json!({"seq": seq + nth});
            let read = self.engine.patiently(|| self.engine.message(&name, &which)).await;
            match read.map_err(|failure| self.engine.error(&failure))? {
                Some((_, _, payload)) => state.extend_from_slice(&payload),
                // Another proxy has removed it.
                None => return Ok(None),
            }
        }
        let last = note.last.map(|(last, number)| match last {
            LastEvent::Number(id) => (EventId::Number(id), number),
            LastEvent::Id(id) => (EventId::Text(id.into()), number),
        });
        tracing::trace!(stream = %id.1, frame = note.frame, "read a checkpoint");
        Ok(Some(Checkpoint { view: (&*note.view).into(), frame: note.frame, event: note.event, last, state }))
    }

    /// Stores statuses that changed without frames.
    pub(super) async fn keep_statuses(&self, summaries: Vec<Summary>) -> Result<(), LogError> {
        let name = self.engine.names.frames_stream();
        for Summary { stream, status } in summaries {
            let note = Note::Status { status: status.into() }.text();
            if !Note::fits(&note) {
                continue;
            }
            let message = Outgoing {
                subject: self.engine.names.status(stream),
                after: None,
                id: None,
                note: Some(note),
                headers: vec![("Nats-Rollup", "sub".to_owned())],
                payload: Bytes::new(),
            };
            self.engine.publish(&name, &[message]).await.map_err(|refusal| self.not_written(refusal))?;
        }
        Ok(())
    }

    /// The log's error for a message that was not stored.
    pub(super) fn not_written(&self, refusal: Refusal) -> LogError {
        match refusal {
            Refusal::Unknown(failure) | Refusal::Denied(failure) => self.engine.error(&failure),
            Refusal::Full(_) => LogError::Full { bytes: self.index().room.bytes(), limit: self.max_stream_bytes },
            Refusal::Overtaken(_) => self.not_written_at_all(),
        }
    }

    fn not_written_at_all(&self) -> LogError {
        self.engine.error(&Failure::Odd("another proxy writes to the same stream at the same time".to_owned()))
    }
}
