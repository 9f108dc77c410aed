//! The order of all kept frames, as steps: consecutive frames of one stream.
//!
//! Input: what the log appended, and what it dropped. Output: the step at a position. Never: two frames at one position; a step
//! that costs more because there are many; more dropped streams remembered than a limit.

use crate::log::{ByStream, DroppedStream, Run, StreamId, stream_id};
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::frame::{Frame, Stream};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

/// After how many drops of streams, or cuts of a stream's front, obsolete steps are removed.
pub(super) const DROPPED: usize = 64;

/// How many steps that are still needed a removal passes over before it stops.
pub(super) const PASSED: usize = 256;

/// How many dropped streams are remembered, so that readers that had not caught up can be told.
pub(super) const REMEMBERED: usize = 4096;

/// How many appends may wait for an earlier one to be announced. Beyond that, one that never is announced is skipped.
const WAITING: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct FeedIndex {
    pub(super) list: VecDeque<Step>,
    /// Appends that are announced before an earlier append is: by their first position, with the position after them and their
    /// steps.
    pub(super) waiting: BTreeMap<u64, (u64, Vec<Step>)>,
    /// The position of the next frame.
    pub(super) next: u64,
    /// The position of the last frame of each kept stream.
    pub(super) last: ByStream<u64>,
    /// Dropped streams, and the order in which they were dropped.
    pub(super) gone: ByStream<Arc<Gone>>,
    pub(super) order: VecDeque<StreamId>,
    /// How many streams have been dropped so far.
    pub(super) drops: u64,
    /// For streams that are kept without their front: how many frames are gone.
    pub(super) cut: ByStream<u64>,
    /// How often a front was cut.
    pub(super) cuts: u64,
    /// How many steps were left when all of them were last checked.
    pub(super) cleaned: usize,
}

impl FeedIndex {
    /// Adds frames that are in the log from position `place` on. They are published once everything before them is announced:
    /// appends may be announced in another order than the log kept them.
    pub(super) fn append(&mut self, place: u64, frames: &[Arc<Frame>]) {
        let mut start = place;
        let steps = frames.chunk_by(|one, other| stream_id(one) == stream_id(other)).filter_map(|group| {
            let (first, count) = (group.first()?, group.len() as u64);
            let step = Step { stream: stream_id(first), start, first: first.seq, count };
            start += count;
            Some(step)
        });
        if place == self.next && self.waiting.is_empty() {
            for step in steps {
                self.publish(step);
            }
        } else {
            let steps = steps.collect();
            self.waiting.insert(place, (start, steps));
            self.settle();
        }
    }

    /// Skips frames that nothing will announce.
    pub(super) fn abandon(&mut self, place: u64, frames: u64) {
        self.waiting.insert(place, (place + frames, Vec::new()));
        self.settle();
    }

    fn settle(&mut self) {
        while let Some(entry) = self.waiting.first_entry()
            && (*entry.key() <= self.next || self.waiting.len() > WAITING)
            && let Some((_, (end, steps))) = self.waiting.pop_first()
        {
            steps.into_iter().for_each(|step| self.publish(step));
            self.next = self.next.max(end);
        }
    }

    pub(super) fn publish(&mut self, step: Step) {
        let Step { stream, start, first, count } = step;
        self.next = start + count;
        self.last.insert(stream, self.next - 1);
        // A dropped thread stream may begin again.
        self.gone.remove(&stream);
        let follows = |last: &&mut Step| {
            last.stream == stream && last.first + last.count == first && last.start + last.count == start
        };
        match self.list.back_mut().filter(follows) {
            Some(last) => last.count += count,
            None => self.list.push_back(step),
        }
    }

    /// Adds a stream that was kept before. If its front is gone, `gone` is the position and number of the last frame of the
    /// front: it stays as a step, for the gap event.
    pub(super) fn learn(&mut self, stream: StreamId, gone: Option<(u64, u64)>, runs: &[Run]) {
        let gap = gone.map(|(start, first)| Step { stream, start, first, count: 1 });
        let kept = runs.iter().map(|run| Step { stream, start: run.position, first: run.seq, count: run.frames });
        for step in gap.into_iter().chain(kept) {
            self.last.insert(stream, step.start + step.count - 1);
            self.list.push_back(step);
        }
    }

    /// Called once all kept streams are added: adds the dropped ones, and sorts the steps by position.
    pub(super) fn learnt(&mut self, dropped: Vec<DroppedStream>) {
        // If a stream was dropped more than once, the last time counts.
        let mut known: HashSet<StreamId> = self.last.keys().copied().collect();
        let mut gone: Vec<DroppedStream> = dropped
            .into_iter()
            .rev()
            .filter(|dropped| known.insert((dropped.stream.kind, dropped.stream.id)))
            .collect();
        gone.reverse();
        for DroppedStream { stream, frames, position, dropped_ms, events } in gone {
            let id = (stream.kind, stream.id);
            let name = |name: &str| CONTRACTS.iter().map(|contract| contract.name).find(|known| *known == name);
            let events = events.iter().filter_map(|(contract, events)| Some((name(contract)?, *events))).collect();
            self.list.push_back(Step { stream: id, start: position, first: frames.saturating_sub(1), count: 1 });
            self.gone.insert(
                id,
                Arc::new(Gone { stream, frames, last: position, nth: self.drops, at_ms: dropped_ms, events }),
            );
            self.order.push_back(id);
            self.drops += 1;
        }
        self.list.make_contiguous().sort_unstable_by_key(|step| step.start);
        self.cleaned = self.list.len();
    }

    /// Removes the first `gone` frames of the stream. The position of the last of them stays, for the gap event.
    pub(super) fn forget_pruned(&mut self, stream: StreamId, gone: u64) {
        // A stream that was dropped in the meantime is gone as a whole.
        if !self.last.contains_key(&stream) {
            return;
        }
        self.cut.insert(stream, gone);
        self.cuts += 1;
        if self.cuts.is_multiple_of(DROPPED as u64) {
            self.clean();
        }
    }

    /// Removes a dropped stream. `frames` is the number of frames it had, `events` the number of its counted events by
    /// contract.
    pub(super) fn forget(&mut self, stream: Arc<Stream>, frames: u64, events: BTreeMap<&'static str, u64>, at_ms: u64) {
        let id = (stream.kind, stream.id);
        self.waiting.values_mut().for_each(|(_, steps)| steps.retain(|step| step.stream != id));
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

    /// Removes the steps of dropped streams. Normally only at the front, where the oldest steps are. All steps are checked only
    /// when there are twice as many as after the last full check, so that the cost for each step stays constant.
    fn clean(&mut self) {
        let Self { list, last, gone, cut, cleaned, .. } = self;
        let is_announced = |step: &Step| gone.get(&step.stream).is_some_and(|gone| gone.is_announced_by(step));
        let is_kept = |step: &Step| {
            let gone = cut.get(&step.stream).copied().unwrap_or_default();
            last.contains_key(&step.stream) && step.first + step.count >= gone
        };
        if list.len() >= 2 * *cleaned + REMEMBERED + PASSED {
            list.retain(|step| is_kept(step) || is_announced(step));
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
            } else if is_announced(&step) {
                // The last step of a remembered stream stays: there the notice is sent.
                needed.push(step);
            }
        }
        needed.into_iter().rev().for_each(|step| list.push_front(step));
    }

    /// The record of a dropped stream, if `step` is its last step.
    pub(super) fn gone_at(&self, step: &Step) -> Option<&Arc<Gone>> {
        self.gone.get(&step.stream).filter(|gone| gone.is_announced_by(step))
    }

    /// The position of a stream's frame among all frames; `None` if it is not kept.
    pub(super) fn place_of(&self, stream: StreamId, seq: u64) -> Option<u64> {
        let has = |step: &&Step| step.stream == stream && (step.first..step.first + step.count).contains(&seq);
        self.list.iter().rev().find(has).map(|step| step.start + (seq - step.first))
    }

    /// The step that has the frame at that position, or else the next step that is kept.
    pub(super) fn step_at(&self, position: u64) -> Option<Step> {
        let at = self.list.partition_point(|step| step.start + step.count <= position);
        self.list.get(at).copied()
    }
}

/// A stream that was dropped.
#[derive(Debug)]
pub(super) struct Gone {
    pub(super) stream: Arc<Stream>,
    /// The number of frames it had.
    pub(super) frames: u64,
    /// The position of its last frame among all frames. There its readers get the notice.
    pub(super) last: u64,
    /// How many streams were dropped before it.
    pub(super) nth: u64,
    pub(super) at_ms: u64,
    /// The number of counted events by contract.
    pub(super) events: BTreeMap<&'static str, u64>,
}

impl Gone {
    pub(super) fn is_announced_by(&self, step: &Step) -> bool {
        step.start <= self.last && self.last < step.start + step.count
    }
}

/// Consecutive frames of one stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) stream: StreamId,
    /// The position of the first frame among all frames.
    pub(super) start: u64,
    /// The number of the first frame in its stream.
    pub(super) first: u64,
    pub(super) count: u64,
}
