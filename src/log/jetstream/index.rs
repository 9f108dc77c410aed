//! What every proxy knows of all streams.
//!
//! Input: the notes of all stored messages, in their order; what this proxy wrote, as soon as the servers confirm it. Output: where
//! the frames of a stream are, how far each stream has got, and which proxy writes it. Never: the content of a frame, or a mark for each
//! message of a long stream.

use super::note::{CheckpointNote, CutNote, DroppedNote, FramesNote};
use crate::log::room::{Room, RoomBounds};
use crate::log::{ByStream, Gone, LeftOpen, StreamId};
use framegate_translators::frame::Stream;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use uuid::Uuid;

/// After how many messages, or bytes, of a stream the index has the next mark. A read begins at a mark.
const MARK: (u32, u64) = (64, 256 << 10);

/// How many positions a message takes: a frame's position is that of its message, and its number in it.
pub(super) const POSITION_BITS: u32 = 20;

/// The most frames in one message.
pub(super) const MOST_FRAMES: u64 = 1 << POSITION_BITS;

/// The position of the first frame of a message.
pub(super) fn position(seq: u64) -> u64 {
    seq << POSITION_BITS
}

/// The index.
#[derive(Debug)]
pub(super) struct Index {
    streams: ByStream<Held>,
    pub(super) room: Room,
    /// The streams that each proxy wrote last and that are not over.
    open: HashMap<Uuid, HashSet<StreamId>>,
    checkpoints: ByStream<Vec<(u64, CheckpointNote)>>,
}

/// One stream.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) stream: Arc<Stream>,
    pub(super) frames: u64,
    pub(super) gone: Option<CutNote>,
    pub(super) bytes: u64,
    pub(super) ended: bool,
    pub(super) writer: Uuid,
    /// The sequence of the last message of its subject.
    pub(super) last_seq: u64,
    /// The position of its last frame.
    pub(super) position: u64,
    pub(super) stored_ms: u64,
    marks: Vec<Mark>,
    /// Messages and bytes since the last mark.
    unmarked: (u32, u64),
}

/// Where a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The number of the frame.
    pub(super) frame: u64,
    /// The sequence of its message.
    pub(super) seq: u64,
    /// Bytes of the stream's frames before it, cut ones included.
    pub(super) bytes: u64,
}

/// How far a stream has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) frames: u64,
    pub(super) last_seq: u64,
    pub(super) ended: bool,
}

impl Index {
    pub(super) fn new(bounds: RoomBounds) -> Self {
        Self {
            streams: ByStream::default(),
            room: Room::new(bounds),
            open: HashMap::new(),
            checkpoints: ByStream::default(),
        }
    }

    /// A stream that is kept.
    pub(super) fn get(&self, id: StreamId) -> Option<&Held> {
        self.streams.get(&id)
    }

    /// Every stream.
    pub(super) fn all(&self) -> impl Iterator<Item = &Held> {
        self.streams.values()
    }

    /// How far a stream has got; all zero if there is none.
    pub(super) fn reached(&self, id: StreamId) -> Reached {
        self.streams.get(&id).map_or_else(Reached::default, |held| Reached {
            frames: held.frames,
            last_seq: held.last_seq,
            ended: held.ended,
        })
    }

    /// The streams that are open and whose last writer does not live.
    pub(super) fn left_open(&self, lives: impl Fn(Uuid) -> bool) -> Vec<LeftOpen> {
        let lost = self.open.iter().filter(|(writer, _)| !lives(**writer)).flat_map(|(_, streams)| streams);
        let known = lost.filter_map(|id| Some((*id, self.get(*id)?)));
        known.map(|(stream, held)| LeftOpen { stream, session: held.stream.session.id }).collect()
    }

    /// Takes in frames. Returns whether they are new: this proxy's own are taken in twice.
    pub(super) fn frames(&mut self, seq: u64, note: &FramesNote, stream: &Arc<Stream>) -> bool {
        let id = (stream.kind, stream.id);
        let last = seq + u64::from(note.messages.saturating_sub(1));
        let held = self.streams.entry(id).or_insert_with(|| Held::new(stream.clone(), note.first));
        if last <= held.last_seq {
            return false;
        }
        if held.writer != note.writer
            && let Some(open) = self.open.get_mut(&held.writer)
        {
            open.remove(&id);
            if open.is_empty() {
                self.open.remove(&held.writer);
            }
        }
        held.grow(seq, last, note);
        if note.ended {
            self.open.get_mut(&note.writer).map(|open| open.remove(&id));
        } else {
            self.open.entry(note.writer).or_default().insert(id);
        }
        self.room.grown(id, held.bytes, note.ended);
        true
    }

    /// Takes in that the front of a stream was cut.
    pub(super) fn cut(&mut self, seq: u64, note: &CutNote, stream: &Arc<Stream>) -> bool {
        let id = (stream.kind, stream.id);
        let held = self.streams.entry(id).or_insert_with(|| Held::new(stream.clone(), note.frames));
        if seq <= held.last_seq {
            return false;
        }
        held.last_seq = seq;
        held.frames = held.frames.max(note.frames);
        let all = held.all_bytes();
        held.bytes = note.bytes;
        let beyond = held.marks.partition_point(|mark| mark.frame <= note.frames);
        let front = Mark { frame: note.frames, seq: note.first, bytes: all.saturating_sub(note.bytes) };
        held.marks.splice(..beyond, [front]);
        held.gone = Some(note.clone());
        self.room.cut(id, note.bytes);
        true
    }

    /// Takes in that a stream was dropped. Returns whether it was kept.
    pub(super) fn dropped(&mut self, id: StreamId) -> bool {
        self.room.remove(id);
        self.checkpoints.remove(&id);
        let Some(held) = self.streams.remove(&id) else { return false };
        if let Some(open) = self.open.get_mut(&held.writer) {
            open.remove(&id);
            if open.is_empty() {
                self.open.remove(&held.writer);
            }
        }
        true
    }

    /// Takes in a checkpoint.
    pub(super) fn checkpoint(&mut self, seq: u64, id: StreamId, note: CheckpointNote) {
        let known = self.checkpoints.entry(id).or_default();
        if known.iter().all(|(other, _)| *other != seq) {
            known.push((seq, note));
        }
    }

    /// The checkpoints of a stream, with the sequences of their first messages.
    pub(super) fn checkpoints(&self, id: StreamId) -> &[(u64, CheckpointNote)] {
        self.checkpoints.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Forgets the checkpoints of a stream that are before a frame. Returns the sequence before which they are.
    pub(super) fn forget_checkpoints(&mut self, id: StreamId, before: u64) -> Option<u64> {
        let known = self.checkpoints.get_mut(&id)?;
        let removed = known.extract_if(.., |(_, note)| note.frame < before).count();
        (removed > 0).then(|| known.first().map_or(u64::MAX, |(seq, _)| *seq))
    }
}

impl Held {
    fn new(stream: Arc<Stream>, first: u64) -> Self {
        Self {
            stream,
            frames: first,
            gone: None,
            bytes: 0,
            ended: false,
            writer: Uuid::nil(),
            last_seq: 0,
            position: 0,
            stored_ms: 0,
            marks: Vec::new(),
            unmarked: (0, 0),
        }
    }

    fn grow(&mut self, seq: u64, last: u64, note: &FramesNote) {
        let (messages, bytes) = self.unmarked;
        if self.marks.is_empty() || messages >= MARK.0 || bytes >= MARK.1 {
            let before = self.marks.last().map_or(0, |mark| mark.bytes) + bytes;
            self.marks.push(Mark { frame: note.first, seq, bytes: before });
            self.unmarked = (1, note.bytes);
        } else {
            self.unmarked = (messages + 1, bytes + note.bytes);
        }
        self.frames = note.first + note.frames;
        self.bytes += note.bytes;
        self.ended = note.ended;
        self.writer = note.writer;
        self.last_seq = last;
        self.position = position(seq) + note.frames.saturating_sub(1);
        self.stored_ms = note.stored_ms;
    }

    /// Its kind and id.
    pub(super) fn id(&self) -> StreamId {
        (self.stream.kind, self.stream.id)
    }

    /// The number of the first frame that is kept.
    pub(super) fn first(&self) -> u64 {
        self.gone.as_ref().map_or(0, |gone| gone.frames)
    }

    /// The part of its front that was dropped.
    pub(super) fn gone(&self) -> Option<Gone> {
        self.gone.as_ref().map(CutNote::gone)
    }

    /// The last mark that is not behind a frame.
    pub(super) fn mark(&self, frame: u64) -> Option<Mark> {
        let at = self.marks.partition_point(|mark| mark.frame <= frame);
        self.marks.get(at.saturating_sub(1)).copied()
    }

    /// Bytes of all frames so far, as the marks count them.
    fn all_bytes(&self) -> u64 {
        self.marks.last().map_or(0, |mark| mark.bytes) + self.unmarked.1
    }

    /// The number of the first frame from which on at most `max_bytes` are kept, as exactly as the marks say.
    pub(super) fn first_within(&self, max_bytes: u64) -> u64 {
        let all = self.all_bytes();
        let found = self.marks.iter().find(|mark| all - mark.bytes <= max_bytes);
        let last = self.frames.saturating_sub(1);
        found.map_or(last, |mark| mark.frame).max(self.first()).min(last)
    }
}

/// What was dropped, from its note.
pub(super) fn dropped_stream(note: &DroppedNote, stream: Arc<Stream>) -> crate::log::DroppedStream {
    crate::log::DroppedStream {
        stream,
        frames: note.frames,
        position: note.position,
        dropped_ms: note.dropped_ms,
        events: note.events.clone(),
    }
}
