//! Appending.
//!
//! Input: the frames of an append, of any number of streams. Output: messages at the servers, all or none. Never: a frame that
//! does not follow the frames of its stream, whichever proxy wrote those; a second append to a stream before the outcome of the first is known.
//!
//! The frames of one stream become one message, which is cut into several if it is large. Several messages are written as an atomic batch. The
//! first message of each stream names the message that it follows, so of two proxies that write one stream only one succeeds.

use super::index::{MOST_FRAMES, position};
use super::note::{FramesNote, Note};
use super::publish::{MOST_AT_ONCE, Outgoing, Refusal, new_message_id};
use super::{JetstreamLog, envelope};
use crate::log::{ByStream, LogError, Place, StreamId, Summary, stream_id};
use bytes::Bytes;
use framegate_translators::frame::stored::Header;
use framegate_translators::frame::{Frame, Stream};
use framegate_translators::pipeline::is_last;
use std::sync::Arc;

/// The most bytes of frames in one message. The servers accept 1 MiB unless they are configured otherwise.
pub(super) const MESSAGE_BYTES: usize = 512 << 10;

/// How often an append is tried if messages without frames come first.
const ATTEMPTS: u32 = 4;

/// The frames of one stream in an append.
pub(super) struct Part {
    id: StreamId,
    stream: Arc<Stream>,
    frames: Vec<Arc<Frame>>,
}

/// The frames by stream, in the order in which the streams come first.
fn parts(frames: &[Arc<Frame>]) -> Vec<Part> {
    let (mut parts, mut places): (Vec<Part>, ByStream<usize>) = (Vec::with_capacity(1), ByStream::default());
    for group in frames.chunk_by(|one, other| stream_id(one) == stream_id(other)) {
        let Some(first) = group.first() else { continue };
        let id = stream_id(first);
        let at = *places.entry(id).or_insert_with(|| {
            parts.push(Part { id, stream: first.stream.clone(), frames: Vec::new() });
            parts.len() - 1
        });
        if let Some(part) = parts.get_mut(at) {
            part.frames.extend(group.iter().cloned());
        }
    }
    parts
}

impl Part {
    fn first(&self) -> u64 {
        self.frames.first().map_or(0, |frame| frame.seq)
    }

    fn is_over(&self) -> bool {
        self.frames.iter().any(|frame| is_last(frame))
    }

    fn content(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.frames.iter().for_each(|frame| envelope::write(frame, &mut out));
        out
    }
}

impl JetstreamLog {
    pub(super) async fn append_frames(
        &self,
        frames: &[Arc<Frame>],
        summaries: Vec<Summary>,
    ) -> Result<Place, LogError> {
        let parts = parts(frames);
        if parts.is_empty() {
            let next = position(self.heard() + 1);
            return Ok(Place { first: next, behind: next });
        }
        let _turns = self.turns(parts.iter().map(|part| part.id)).await;
        self.check_health()?;
        self.check_room(frames)?;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let refusal = match self.append_once(&parts, &summaries).await? {
                Ok(place) => return Ok(place),
                Err(refusal) => refusal,
            };
            let Refusal::Overtaken(last) = refusal else { return Err(self.not_written(refusal)) };
            tracing::debug!(seq = last.map(|last| last.seq), "another message came first");
            for part in &parts {
                self.look_again(part.id).await;
            }
            let behind = parts.iter().find(|part| self.index().reached(part.id).frames != part.first());
            // A message without frames may have come first: a mark, or its end.
            if behind.is_none() && attempts < ATTEMPTS {
                continue;
            }
            let part = behind.or(parts.first());
            let (stream, found) = part.map_or_else(Default::default, |part| (part.id.1, part.first()));
            let expected = part.map_or(0, |part| self.index().reached(part.id).frames);
            return Err(LogError::Sequence { stream, expected, found });
        }
    }

    /// Appends once.
    ///
    /// # Errors
    /// The frames do not follow, or are too many. The refusal of the servers is inside.
    async fn append_once(&self, parts: &[Part], summaries: &[Summary]) -> Result<Result<Place, Refusal>, LogError> {
        let (mut messages, mut notes) = (Vec::new(), Vec::new());
        for part in parts {
            let summary = summaries.iter().rev().find(|summary| summary.stream == part.id);
            notes.push((messages.len(), self.lay_down(part, summary, &mut messages)?));
        }
        if messages.len() > MOST_AT_ONCE {
            let bytes = messages.iter().map(|message| message.payload.len() as u64).sum();
            return Err(LogError::TooLarge { bytes, most: (MOST_AT_ONCE * MESSAGE_BYTES) as u64 });
        }
        let _permit = if messages.len() > 1 { Some(self.batches.acquire().await) } else { None };
        let name = self.engine.names.frames_stream();
        let first = match self.engine.publish(&name, &messages).await {
            Ok(first) => first,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut index = self.index();
        for (part, (at, note)) in parts.iter().zip(&notes) {
            index.frames(first + *at as u64, note, &part.stream);
        }
        drop(index);
        for part in parts {
            self.tail_cache.add(part.id, &part.frames);
        }
        Ok(Ok(Place { first: position(first), behind: position(first + messages.len() as u64) }))
    }

    /// Makes the messages of a part.
    fn lay_down(
        &self,
        part: &Part,
        summary: Option<&Summary>,
        out: &mut Vec<Outgoing>,
    ) -> Result<FramesNote, LogError> {
        let reached = self.index().reached(part.id);
        let first = part.first();
        if first != reached.frames {
            return Err(LogError::Sequence { stream: part.id.1, expected: reached.frames, found: first });
        }
        let after = if reached.last_seq > 0 { reached.last_seq } else { self.tombstone(part.id) };
        let content = Bytes::from(part.content());
        let frames = part.frames.len() as u64;
        if frames > MOST_FRAMES {
            return Err(LogError::TooManyFrames { frames, most: MOST_FRAMES });
        }
        let messages = content.len().div_ceil(MESSAGE_BYTES).max(1);
        let note = FramesNote {
            stream: Header::of(&part.stream),
            first,
            frames,
            bytes: content.len() as u64,
            messages: u32::try_from(messages).unwrap_or(u32::MAX),
            ended: part.is_over(),
            writer: self.proxy,
            stored_ms: self.clock.now_ms(),
            status: summary.map(|summary| summary.status.as_str().into()),
            labels: None,
        }
        .fitting();
        let subject = self.engine.names.frames(part.id);
        let id = new_message_id();
        let mut rest = content;
        let mut head = Some((after, id, Note::Frames(note.clone())));
        while head.is_some() || !rest.is_empty() {
            let payload = rest.split_to(rest.len().min(MESSAGE_BYTES));
            let (after, id, note) = match head.take() {
                Some((after, id, note)) => (Some(after), Some(id), note),
                None => (None, None, Note::More),
            };
            let (subject, note) = (subject.clone(), Some(note.text()));
            out.push(Outgoing { subject, after, id, note, headers: Vec::new(), payload });
        }
        Ok(note)
    }

    /// Waits until the index has what the servers have of a stream, after another message came first.
    async fn look_again(&self, id: StreamId) {
        let name = self.engine.names.frames_stream();
        match self.engine.last_of(&name, &self.engine.names.frames(id)).await {
            Ok(Some(last)) => self.hear_up_to(last.seq).await,
            // The mark of a dropped stream has expired.
            Ok(None) => drop(self.tombstones().remove(&id)),
            Err(_) => {}
        }
    }

    /// Checks that the open runs leave room for these frames.
    fn check_room(&self, frames: &[Arc<Frame>]) -> Result<(), LogError> {
        let more = frames.iter().map(|frame| crate::log::weight(frame)).sum();
        let is_closing = frames.iter().any(|frame| is_last(frame));
        self.index().room.refuses(more, is_closing).map_or(Ok(()), Err)
    }
}
