//! The order of all frames, as far as they are kept: steps of frames of one stream in a row.
//!
//! In: what the log got, and what it lost. Out: the step at a place. Never: a place that two frames have; a step that costs
//! more because there are many; more dropped streams remembered than a bound.

use crate::log::{ByStream, StreamId, stream_id};
use framegate_translators::frame::{Frame, Stream};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// How many streams are dropped, or lose some of their front, before their steps are taken out.
pub(super) const DROPPED: usize = 64;

/// How many steps that are still needed are passed over where those at the front are taken out.
pub(super) const PASSED: usize = 256;

/// How many dropped streams are remembered, so that readers who were behind can be told of them.
pub(super) const REMEMBERED: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Steps {
    pub(super) list: VecDeque<Step>,
    /// The place of the next frame.
    pub(super) next: u64,
    /// The place of each kept stream's last frame.
    pub(super) last: ByStream<u64>,
    /// Streams that were dropped, and in which order.
    pub(super) gone: ByStream<Arc<Gone>>,
    pub(super) order: VecDeque<StreamId>,
    /// How many streams were ever dropped.
    pub(super) drops: u64,
    /// How many frames are gone of the front of streams that are kept.
    pub(super) cut: ByStream<u64>,
    /// How often that was more.
    pub(super) cuts: u64,
    /// How many steps there were when all of them were looked at last.
    pub(super) cleaned: usize,
}

impl Steps {
    /// Frames are in the log.
    pub(super) fn append(&mut self, frames: &[Arc<Frame>]) {
        for group in frames.chunk_by(|one, other| stream_id(one) == stream_id(other)) {
            let Some(first) = group.first() else { continue };
            let (stream, start, count) = (stream_id(first), self.next, group.len() as u64);
            self.next += count;
            self.last.insert(stream, self.next - 1);
            // A session whose thread was dropped may speak again.
            self.gone.remove(&stream);
            match self.list.back_mut().filter(|last| last.stream == stream && last.first + last.count == first.seq) {
                Some(last) => last.count += count,
                None => self.list.push_back(Step { stream, start, first: first.seq, count }),
            }
        }
    }

    /// A stream has so many frames from before, the first of which are gone. The last of those has a place, for the gap.
    pub(super) fn learn(&mut self, stream: StreamId, gone: u64, frames: u64) {
        let first = gone.saturating_sub(1);
        let (start, count) = (self.next, frames.saturating_sub(first));
        self.next += count;
        if count > 0 {
            self.last.insert(stream, start + count - 1);
            self.list.push_back(Step { stream, start, first, count });
        }
    }

    /// The first so many of the stream's frames are gone. The place of the last of them stays, for the gap.
    pub(super) fn forget_front(&mut self, stream: StreamId, gone: u64) {
        // What is dropped meanwhile is gone as a whole.
        if !self.last.contains_key(&stream) {
            return;
        }
        self.cut.insert(stream, gone);
        self.cuts += 1;
        if self.cuts.is_multiple_of(DROPPED as u64) {
            self.clean();
        }
    }

    /// A stream that had so many frames is gone, and so many events were counted of it in each contract.
    pub(super) fn forget(&mut self, stream: Arc<Stream>, frames: u64, events: BTreeMap<&'static str, u64>, at_ms: u64) {
        let id = (stream.kind, stream.id);
        let Some(last) = self.last.remove(&id) else { return };
        self.cut.remove(&id);
        self.gone.insert(id, Arc::new(Gone { stream, frames, last, nth: self.drops, at_ms, events }));
        self.drops += 1;
        self.order.push_back(id);
        if self.drops.is_multiple_of(DROPPED as u64) {
            let beyond = self.order.len().saturating_sub(REMEMBERED);
            for forgotten in self.order.drain(..beyond) {
                self.gone.remove(&forgotten);
            }
            self.clean();
        }
    }

    /// Takes out the steps of what is gone: those at the front, where the oldest are; all of them only when there are twice as
    /// many as the last time, so that a step costs the same however many there are.
    fn clean(&mut self) {
        let Self { list, last, gone, cut, cleaned, .. } = self;
        let is_told = |step: &Step| gone.get(&step.stream).is_some_and(|gone| gone.is_told_by(step));
        let is_kept = |step: &Step| {
            let gone = cut.get(&step.stream).copied().unwrap_or_default();
            last.contains_key(&step.stream) && step.first + step.count >= gone
        };
        if list.len() >= 2 * *cleaned + REMEMBERED + PASSED {
            list.retain(|step| is_kept(step) || is_told(step));
            *cleaned = list.len();
            return;
        }
        let (mut needed, mut passed) = (Vec::new(), 0);
        while passed < PASSED
            && let Some(step) = list.pop_front()
        {
            if is_kept(&step) {
                passed += 1;
                needed.push(step);
            } else if is_told(&step) {
                // Of each stream that is remembered, the step stays at which it is told.
                needed.push(step);
            }
        }
        needed.into_iter().rev().for_each(|step| list.push_front(step));
    }

    /// What is known of a stream that was dropped, where the step is its last one.
    pub(super) fn gone_at(&self, step: &Step) -> Option<&Arc<Gone>> {
        self.gone.get(&step.stream).filter(|gone| gone.is_told_by(step))
    }

    /// The place of a stream's frame among all frames; `None` where it is not kept.
    pub(super) fn place_of(&self, stream: StreamId, seq: u64) -> Option<u64> {
        let has = |step: &&Step| step.stream == stream && (step.first..step.first + step.count).contains(&seq);
        self.list.iter().rev().find(has).map(|step| step.start + (seq - step.first))
    }

    /// The step that has the frame at that place, or the next one that is kept.
    pub(super) fn step_at(&self, position: u64) -> Option<Step> {
        let at = self.list.partition_point(|step| step.start + step.count <= position);
        self.list.get(at).copied()
    }
}

/// A stream that was dropped.
#[derive(Debug)]
pub(super) struct Gone {
    pub(super) stream: Arc<Stream>,
    /// How many frames it had.
    pub(super) frames: u64,
    /// The place of its last frame among all frames: there its readers are told.
    pub(super) last: u64,
    /// How many streams were dropped before it.
    pub(super) nth: u64,
    pub(super) at_ms: u64,
    /// How many events were counted in each contract.
    pub(super) events: BTreeMap<&'static str, u64>,
}

impl Gone {
    pub(super) fn is_told_by(&self, step: &Step) -> bool {
        step.start <= self.last && self.last < step.start + step.count
    }
}

/// Frames of one stream in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) stream: StreamId,
    /// The place of the first of them among all frames.
    pub(super) start: u64,
    /// The number of the first of them in its stream.
    pub(super) first: u64,
    pub(super) count: u64,
}
