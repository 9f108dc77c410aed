//! Reading frames.
//!
//! Input: a stream and a number. Output: its frames from there on, from memory if they are new or were read lately, otherwise from any server that has them.
//! Never: more than [`READ_BYTES`] at once, plus one message; a frame that the servers have not confirmed; a shorter answer because a server lags behind.

use super::engine::Failure;
use super::note::{FramesNote, NOTE, Note};
use super::{JetstreamLog, envelope};
use crate::log::{LogError, StreamId};
use async_nats::{HeaderMap, Message, StatusCode};
use bytes::Bytes;
use framegate_translators::frame::{Frame, Stream};
use futures_util::StreamExt;
use serde_json::json;
use std::sync::Arc;

/// How many bytes of messages are read at a time.
const READ_BYTES: usize = 4 << 20;

/// How many messages are asked for at a time.
const MESSAGES: usize = 256;

/// One message, as it was stored.
pub(super) struct Stored {
    pub(super) seq: u64,
    pub(super) note: Option<Note>,
    pub(super) payload: Bytes,
}

impl JetstreamLog {
    pub(super) async fn read_frames(&self, id: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        if let Some(frames) = self.tail_cache.read(id, from, max) {
            return Ok(frames);
        }
        let (from, end) = {
            let index = self.index();
            let held = index.get(id).ok_or(LogError::Dropped { stream: id.1 })?;
            (from.max(held.first()), held.frames)
        };
        if from >= end || max == 0 {
            return Ok(Vec::new());
        }
        self.read_cache.read(id, from, max, end, |from, max| self.read_stored(id, from, max)).await
    }

    /// Reads frames at the servers.
    async fn read_stored(&self, id: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        let (stream, mark, first, reached) = {
            let index = self.index();
            let held = index.get(id).ok_or(LogError::Dropped { stream: id.1 })?;
            (held.stream.clone(), held.mark(from.max(held.first())), held.first(), index.reached(id))
        };
        let from = from.max(first);
        let Some(mark) = mark.filter(|_| from < reached.frames && max > 0) else { return Ok(Vec::new()) };
        let subject = self.engine.names.frames(id);
        let (mut next, mut frames, mut bytes) = (mark.seq, Vec::new(), 0);
        while next <= reached.last_seq && frames.len() < max && bytes < READ_BYTES {
            let stored = self.fetch(&subject, next, reached.last_seq).await?;
            let Some(last) = stored.last() else { break };
            next = last.seq + 1;
            bytes += stored.iter().map(|stored| stored.payload.len()).sum::<usize>();
            let mut stored = stored.into_iter().peekable();
            while let Some(head) = stored.next() {
                // Marks of a cut say nothing about frames.
                let Some(Note::Frames(note)) = head.note else { continue };
                let mut content = head.payload;
                if note.messages > 1 {
                    let mut whole = content.to_vec();
                    while let Some(more) = stored.next_if(|more| matches!(more.note, Some(Note::More))) {
                        whole.extend_from_slice(&more.payload);
                    }
                    while whole.len() < usize::try_from(note.bytes).unwrap_or(usize::MAX) {
                        let more = self.fetch(&subject, next, reached.last_seq).await?;
                        let Some(last) = more.last() else { break };
                        next = last.seq + 1;
                        let count = more.iter().take_while(|more| matches!(more.note, Some(Note::More))).count();
                        more.iter().take(count).for_each(|more| whole.extend_from_slice(&more.payload));
                        if let Some(other) = more.get(count) {
                            // The next append is read again.
                            next = other.seq;
                            break;
                        }
                    }
                    content = Bytes::from(whole);
                }
                if note.first + note.frames > from {
                    self.unpack(&stream, &note, &content, from, &mut frames)?;
                }
            }
        }
        // What follows a missing message is not returned: the next read reports it.
        let end = frames.iter().zip(from..).take_while(|(frame, seq)| frame.seq == *seq).count();
        frames.truncate(end.min(max));
        if frames.is_empty() {
            if self.index().get(id).is_none_or(|held| held.first() > from) {
                return Err(LogError::Dropped { stream: id.1 });
            }
            return Err(LogError::Lacking { stream: id.1, frame: from });
        }
        Ok(frames)
    }

    /// Reads the frames of an append, from number `from` on.
    fn unpack(
        &self,
        stream: &Arc<Stream>,
        note: &FramesNote,
        content: &[u8],
        from: u64,
        out: &mut Vec<Arc<Frame>>,
    ) -> Result<(), LogError> {
        let mut rest = content;
        for seq in note.first..note.first + note.frames {
            let entry = envelope::next(&mut rest);
            if seq < from {
                continue;
            }
            match entry.and_then(|entry| entry.frame(stream, seq)) {
                Some(frame) => out.push(Arc::new(frame)),
                None if out.is_empty() => {
                    return Err(self.damaged(&format!("frame {seq} of stream {} cannot be read", stream.id)));
                }
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// The messages of a subject from a sequence on; at least one, since the last one has the sequence `last`.
    async fn fetch(&self, subject: &str, from: u64, last: u64) -> Result<Vec<Stored>, LogError> {
        let name = self.engine.names.frames_stream();
        let fetched = self.engine.patiently(|| async {
            let found = self.get_many(&name, subject, from).await?;
            if !found.is_empty() {
                return Ok(found);
            }
            // A server may lag behind. The leader does not.
            let which = json!({"seq": from, "next_by_subj": subject});
            match self.engine.message(&name, &which).await? {
                Some((seq, headers, payload)) => {
                    let note = super::publish::header(&headers, NOTE).and_then(|note| Note::read(&note).ok());
                    Ok(vec![Stored { seq, note, payload: payload.into() }])
                }
                None => Ok(Vec::new()),
            }
        });
        let found = fetched.await.map_err(|failure| self.engine.error(&failure))?;
        Ok(found.into_iter().filter(|stored| stored.seq <= last).collect())
    }

    /// Messages of a subject from a sequence on, from any server that has them.
    pub(super) async fn get_many(&self, name: &str, subject: &str, from: u64) -> Result<Vec<Stored>, Failure> {
        let client = &self.engine.client;
        let failed = |error: String| Failure::Silent(error);
        let inbox = client.new_inbox();
        let mut answers = client.subscribe(inbox.clone()).await.map_err(|error| failed(error.to_string()))?;
        let body =
            json!({"seq": from, "next_by_subj": subject, "batch": MESSAGES, "max_bytes": READ_BYTES}).to_string();
        let what = format!("$JS.API.DIRECT.GET.{name}");
        client.publish_with_reply(what, inbox, body.into()).await.map_err(|error| failed(error.to_string()))?;
        let mut found = Vec::new();
        loop {
            let next = tokio::time::timeout(self.engine.timeout, answers.next()).await;
            let message = match next {
                Ok(Some(message)) => message,
                Ok(None) => return Err(failed("the connection was lost".to_owned())),
                Err(_) => return Err(failed(format!("no answer within {} ms", self.engine.timeout.as_millis()))),
            };
            match message.status {
                // The end of the batch; no messages there; no server that has the stream.
                Some(StatusCode::NOT_FOUND) => return Ok(found),
                Some(StatusCode::NO_RESPONDERS) => return Err(failed("no server has the stream".to_owned())),
                Some(status) if status.as_u16() == 204 => return Ok(found),
                Some(status) => return Err(Failure::Odd(format!("status {status} instead of messages"))),
                None => found.extend(stored(message)),
            }
        }
    }

    pub(super) fn damaged(&self, detail: &str) -> LogError {
        LogError::Damaged { path: self.engine.names.frames_stream().into(), detail: detail.to_owned() }
    }
}

fn stored(message: Message) -> Option<Stored> {
    let headers = message.headers?;
    let text = |name: &str, headers: &HeaderMap| headers.get(name).map(|value| value.as_str().to_owned());
    let seq = text("Nats-Sequence", &headers)?.parse().ok()?;
    let note = text(NOTE, &headers).and_then(|note| Note::read(&note).ok());
    Some(Stored { seq, note, payload: message.payload })
}
