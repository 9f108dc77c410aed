//! Recognises runs that are ingested again.
//!
//! Input: the frames and artifacts of an ingest before they are stored. Output: the same without the runs that the log already
//! has, and the list of those runs. Never: two different runs taken for one (every record must be equal, byte for byte, and one of
//! them must carry an id, a time or a usage figure of the runner's); more bytes held back than a bound; a live run held back whose
//! first record carries none of these.
//!
//! A run is held back while its records equal those of a finished run of the same session. If it ends there, it is dropped. If it
//! continues where the stored run ended only because its input broke off, it replaces the stored run. Otherwise it is a new run. The runs of
//! session files are held back to their ends, if the log may have them from another output of the runner.

use super::bounds::Account;
use super::counterparts::{self, Counterparts};
use super::same_record::{is_same, is_start_of, is_unique};
use super::thread_records::ThreadRecords;
use super::was_cut;
use crate::log::{ByStream, LogError, StreamId, stream_id, weight};
use crate::runs::{Entry, RunStatus, Runs};
use framegate_translators::artifacts::Artifact;
use framegate_translators::frame::{Body, Frame, ProviderEvent, Stream, StreamKind};
use framegate_translators::pipeline::is_last;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// How many bytes of frames and artifacts of one ingest are held back at most. A larger run is stored, even if it is a repetition.
const HELD_BYTES: u64 = 16 << 20;

/// The same for a session file.
const HISTORY_BYTES: u64 = 256 << 20;

/// How many stored runs a run is compared with: those with the same first record, newest first.
const COMPARED: usize = 64;

/// How many frames of a stored run are read at once: the first time, and later.
const AT_ONCE: (usize, usize) = (16, 128);

/// The runs of one ingest that are held back, dropped or replaced.
#[derive(Default)]
pub(super) struct Repeats {
    /// Whether the input was complete before it was sent, so that no reader waits for its first frames.
    is_complete: bool,
    /// The runs that the log has from another output of the runner; `None` if they are not looked for.
    counterparts: Option<Counterparts>,
    held_bytes: u64,
    held: ByStream<Held>,
    bytes: u64,
    /// The runs of this ingest that are dropped, and the stored runs that they repeat.
    dropped: HashSet<StreamId>,
    again: Vec<Arc<Entry>>,
    /// Stored runs, and the longer ones that replace them once those are stored.
    superseded: Vec<(Arc<Entry>, StreamId)>,
    /// How many runs of this ingest have replaced stored ones.
    replaced: u64,
    /// Stored runs, and what this ingest says of them.
    completed: Vec<(Arc<Entry>, RunStatus)>,
    /// The records of threads that the log has.
    threads: ThreadRecords,
    /// Whether the last run that ended was a repetition. Only the first run of a whole document has a record.
    was_known: bool,
}

#[derive(Default)]
struct Held {
    frames: Vec<Arc<Frame>>,
    artifacts: Vec<Artifact>,
    bytes: u64,
    /// The stored runs with the same records so far.
    like: Vec<Kept>,
    /// Those with the same first record.
    begun_alike: Vec<Arc<Entry>>,
    /// The last of them that ended before this run did.
    behind: Option<Arc<Entry>>,
    /// Whether the log lacks one of the records that follow those of `behind`. It may have them in the thread of the session.
    has_more: bool,
    records: u64,
    /// Whether a record so far belongs to this run only.
    is_unique: bool,
    /// Whether the log may have the run from another output of the runner, so that its records need not be equal.
    may_differ: bool,
}

/// A stored run, and how far it was read.
struct Kept {
    entry: Arc<Entry>,
    next: u64,
    read: VecDeque<Arc<Frame>>,
}

impl Kept {
    /// The frame of its next record; `None` after the last one.
    async fn record(&mut self, runs: &Runs) -> Result<Option<Arc<Frame>>, LogError> {
        loop {
            while let Some(frame) = self.read.pop_front() {
                if matches!(frame.body, Body::ProviderEvent(_)) {
                    return Ok(Some(frame));
                }
            }
            if self.next >= self.entry.tail().borrow().frames {
                return Ok(None);
            }
            let at_once = if self.next == 0 { AT_ONCE.0 } else { AT_ONCE.1 };
            let more = runs.log().read(self.entry.id(), self.next, at_once).await?;
            let Some(last) = more.last() else { return Ok(None) };
            self.next = last.seq + 1;
            self.read.extend(more);
        }
    }
}

impl Held {
    /// Compares the next record of the run. Returns whether a stored run is equal up to here.
    async fn compare(
        &mut self,
        record: &ProviderEvent,
        stream: &Stream,
        is_complete: bool,
        (runs, account): (&Runs, &Account),
    ) -> bool {
        self.is_unique = self.is_unique || is_unique(record, &stream.session.name);
        if self.records == 0 && (self.is_unique || is_complete) {
            let like = runs.begun_like(stream, record).into_iter();
            let like = like.filter(|entry| account.admits(&entry.stream)).take(COMPARED);
            self.like = like.map(|entry| Kept { entry, next: 0, read: VecDeque::new() }).collect();
        }
        self.records += 1;
        let mut like = Vec::new();
        for mut kept in std::mem::take(&mut self.like) {
            match kept.record(runs).await {
                Ok(Some(frame)) => match &frame.body {
                    Body::ProviderEvent(other) if is_same(record, other) => like.push(kept),
                    Body::ProviderEvent(other) if is_start_of(other, record) => {
                        // The stored run's input broke off within this record.
                        if matches!(kept.record(runs).await, Ok(None)) {
                            self.is_longer_than(kept.entry);
                        }
                    }
                    _ => {}
                },
                Ok(None) => self.is_longer_than(kept.entry),
                // A run that cannot be read is not a known repetition.
                Err(_) => {}
            }
        }
        self.like = like;
        if self.records == 1 {
            self.begun_alike = self.like.iter().map(|kept| kept.entry.clone()).collect();
        }
        !self.like.is_empty()
    }

    /// Whether a stored run is of the same output, which had fewer records when it was stored: those of subagents were missing.
    fn is_more_of(&self, stored: &Arc<Entry>) -> bool {
        let is_same_output = self.begun_alike.iter().any(|entry| Arc::ptr_eq(entry, stored));
        is_same_output && stored.status().records < self.records
    }

    /// The run goes on after a stored one with the same records.
    fn is_longer_than(&mut self, stored: Arc<Entry>) {
        (self.behind, self.has_more) = (Some(stored), false);
    }

    /// The stored run that has only the beginning of this one, if `known`, which has all of it, is stored beside it.
    fn leftover(&self, known: &Arc<Entry>) -> Option<Arc<Entry>> {
        self.behind.clone().filter(|shorter| self.has_more && !Arc::ptr_eq(shorter, known))
    }

    /// The stored run that has the same records and no more.
    async fn same(&mut self, runs: &Runs) -> Option<Arc<Entry>> {
        for mut kept in self.like.drain(..).filter(|_| self.is_unique) {
            if matches!(kept.record(runs).await, Ok(None)) {
                return Some(kept.entry);
            }
        }
        None
    }
}

/// The run that a frame or artifact belongs to; for a task, the run that started it.
fn run_of(stream: &Stream) -> Option<StreamId> {
    match stream.kind {
        StreamKind::Session => Some((StreamKind::Session, stream.id)),
        StreamKind::Task => stream.origin_run.map(|run| (StreamKind::Session, run)),
        _ => None,
    }
}

/// Whether a longer run replaces a stored one.
fn is_replaced(counterparts: Option<&Counterparts>, stored: &Entry) -> bool {
    counterparts.is_some() || was_cut(stored)
}

impl Repeats {
    /// An empty state. `is_complete`: the input was complete before it was sent.
    pub(super) fn new(is_complete: bool) -> Self {
        Self { is_complete, held_bytes: HELD_BYTES, ..Self::default() }
    }

    /// An empty state for a session file, whose runs the log may have from another output of the runner.
    pub(super) fn in_history() -> Self {
        Self { counterparts: Some(Counterparts::default()), held_bytes: HISTORY_BYTES, ..Self::new(true) }
    }

    /// Holds back at most so many bytes.
    #[cfg(test)]
    pub(super) fn holding(&mut self, bytes: u64) {
        self.held_bytes = bytes;
    }

    /// Whether a run begins that the log may have.
    fn begins(&self, frame: &Frame, runs: &Runs, arrived_ms: u64) -> bool {
        let is_first = frame.seq == 0 && frame.stream.kind == StreamKind::Session;
        is_first && (runs.has_runs_like(&frame.stream) || self.may_differ(frame, runs, arrived_ms))
    }

    /// Whether the log may have the run that begins with this frame from another output of the runner.
    fn may_differ(&self, first: &Frame, runs: &Runs, arrived_ms: u64) -> bool {
        self.counterparts.as_ref().is_some_and(|counterparts| counterparts.may_have(runs, first, arrived_ms))
    }

    /// Whether a frame is in a thread of which the log may have the records.
    fn may_be_known(&self, frame: &Frame) -> bool {
        frame.stream.kind == StreamKind::Thread && (self.counterparts.is_some() || !self.again.is_empty())
    }

    /// Removes repeated runs and holds back runs that may turn out to be repeated. Returns everything else. The input arrived at
    /// `arrived_ms`, by the clock that frames without a time of their own get theirs from.
    pub(super) async fn sift(
        &mut self,
        frames: Vec<Arc<Frame>>,
        artifacts: Vec<Artifact>,
        (runs, account): (&Runs, &Account),
        arrived_ms: u64,
    ) -> (Vec<Arc<Frame>>, Vec<Artifact>) {
        if let Some(counterparts) = &mut self.counterparts {
            let first = frames.iter().filter(|frame| frame.seq == 0 && frame.stream.kind == StreamKind::Session);
            first.for_each(|frame| counterparts.take(stream_id(frame)));
        }
        let is_new = |frame: &Arc<Frame>| !self.begins(frame, runs, arrived_ms) && !self.may_be_known(frame);
        let is_idle = self.held.is_empty() && self.dropped.is_empty() && frames.iter().all(is_new);
        if is_idle {
            return (frames, artifacts);
        }
        let mut out = (Vec::with_capacity(frames.len()), Vec::with_capacity(artifacts.len()));
        for frame in frames {
            let Some(run) = run_of(&frame.stream) else {
                // In the output of a live session, equal records need not be the same.
                let must_be_unique = self.counterparts.is_none();
                if !self.may_be_known(&frame) || !self.threads.has(&frame, must_be_unique, runs).await {
                    out.0.push(frame);
                }
                continue;
            };
            if self.dropped.contains(&run) {
                continue;
            }
            if self.begins(&frame, runs, arrived_ms) {
                let may_differ = self.may_differ(&frame, runs, arrived_ms);
                self.held.insert(run, Held { may_differ, ..Held::default() });
            }
            let Some(held) = self.held.get_mut(&run) else {
                out.0.push(frame);
                continue;
            };
            let bytes = weight(&frame);
            (held.bytes, self.bytes) = (held.bytes + bytes, self.bytes + bytes);
            held.frames.push(frame.clone());
            let is_like = match &frame.body {
                Body::ProviderEvent(record) if stream_id(&frame) == run => {
                    let is_like = held.compare(record, &frame.stream, self.is_complete, (runs, account)).await;
                    if held.behind.is_some() {
                        held.has_more = held.has_more
                            || self.counterparts.is_none()
                            || !self.threads.take(&frame.stream, record, runs).await;
                    }
                    is_like || (held.behind.is_some() && !held.has_more)
                }
                _ => true,
            };
            if is_last(&frame) && stream_id(&frame) == run {
                self.end(run, (runs, account), &mut out).await;
            } else if (!is_like && (held.behind.is_some() || !held.may_differ)) || self.bytes > self.held_bytes {
                self.release(run, runs, &mut out);
            }
        }
        for artifact in artifacts {
            let run = run_of(&artifact.stream);
            match run.and_then(|run| self.held.get_mut(&run)) {
                Some(held) => {
                    let bytes = artifact.content.len() as u64;
                    (held.bytes, self.bytes) = (held.bytes + bytes, self.bytes + bytes);
                    held.artifacts.push(artifact);
                }
                None if run.is_some_and(|run| self.dropped.contains(&run)) => {}
                None => out.1.push(artifact),
            }
        }
        out
    }

    /// A run that was held back is over: it is a repetition, or a new run.
    async fn end(
        &mut self,
        run: StreamId,
        (runs, account): (&Runs, &Account),
        out: &mut (Vec<Arc<Frame>>, Vec<Artifact>),
    ) {
        let Some(held) = self.held.get_mut(&run) else { return };
        let same = held.same(runs).await;
        let known = match (held.records, held.frames.first()) {
            (0, Some(first)) if self.was_known => runs
                .without_records(&first.stream)
                .into_iter()
                .find(|entry| self.again.iter().all(|again| !Arc::ptr_eq(again, entry))),
            _ => same,
        };
        // A run that goes on here is replaced. In a session file, so is one that seemed to be over, unless the log has the rest in the
        // thread of the session.
        let is_longer = held.like.is_empty() && held.behind.is_some();
        let is_behind = is_longer && !held.has_more;
        let known = known.or_else(|| held.behind.clone().filter(|_| is_behind));
        let known = match (&mut self.counterparts, known) {
            // The log has all records of the run, but not its end; or the run of an earlier state of the document.
            (Some(_), Some(known))
                if was_cut(&known) && !counterparts::ends_cut(&held.frames)
                    || counterparts::adds_work(&known, &held.frames) =>
            {
                runs.is_to_be_replaced(&known, run);
                self.superseded.push((known, run));
                None
            }
            (Some(counterparts), Some(known)) => {
                counterparts.take(known.id());
                Some(known)
            }
            (Some(counterparts), None) if !is_longer => match counterparts.find((runs, account), &held.frames) {
                Some(found) if found.is_replaced || held.is_more_of(&found.stored) => {
                    runs.is_to_be_replaced(&found.stored, run);
                    self.superseded.push((found.stored, run));
                    None
                }
                found => found.map(|found| {
                    self.completed.push((found.stored.clone(), found.seen));
                    found.stored
                }),
            },
            (_, known) => known,
        };
        let Some(known) = known else {
            self.was_known = false;
            return self.release(run, runs, out);
        };
        // An ingest that was killed may have stored the longer run, and not have dropped the shorter one.
        if let Some(shorter) = held.leftover(&known).filter(|shorter| is_replaced(self.counterparts.as_ref(), shorter))
        {
            runs.is_to_be_replaced(&shorter, known.id());
            self.superseded.push((shorter, known.id()));
        }
        tracing::info!(
            run = %known.stream.id,
            session = %known.stream.session.id,
            "a run was sent again; it is stored only once"
        );
        self.bytes -= held.bytes;
        self.held.remove(&run);
        self.dropped.insert(run);
        self.again.push(known);
        self.was_known = true;
    }

    /// A run that was held back is new.
    fn release(&mut self, run: StreamId, runs: &Runs, out: &mut (Vec<Arc<Frame>>, Vec<Artifact>)) {
        let Some(held) = self.held.remove(&run) else { return };
        self.bytes -= held.bytes;
        let replaced =
            held.behind.filter(|known| held.like.is_empty() && is_replaced(self.counterparts.as_ref(), known));
        if let Some(known) = replaced {
            runs.is_to_be_replaced(&known, run);
            self.superseded.push((known, run));
        }
        out.0.extend(held.frames);
        out.1.extend(held.artifacts);
    }

    /// The ingest stops before its end: removes the runs that are held back, and the frames that close them.
    pub(super) fn give_up(&mut self, frames: &mut Vec<Arc<Frame>>) {
        let goes = |run: &StreamId| self.held.contains_key(run) || self.dropped.contains(run);
        frames.retain(|frame| run_of(&frame.stream).is_none_or(|run| !goes(&run)));
        self.held.clear();
        self.superseded.clear();
        self.completed.clear();
    }

    /// The stored runs that were repeated.
    pub(super) fn again(&self) -> &[Arc<Entry>] {
        &self.again
    }

    /// How many runs of this ingest have replaced stored ones.
    pub(super) fn replaced(&self) -> u64 {
        self.replaced
    }

    /// Whether stored runs are replaced or completed as soon as this can be done: the input may go on for long.
    pub(super) fn updates_at_once(&self) -> bool {
        let is_over = |(entry, _): &(Arc<Entry>, RunStatus)| entry.status().ended;
        self.counterparts.is_some() && (!self.superseded.is_empty() || self.completed.iter().any(is_over))
    }

    /// Updates stored runs: drops those that longer ones of this input replace, which must be stored and get the labels; and adds what this
    /// input says of the others. A run that is still open is left for later: it may yet say that itself.
    pub(super) async fn update_stored(&mut self, runs: &Runs) {
        let mut replacing = HashSet::new();
        for (entry, longer) in std::mem::take(&mut self.superseded) {
            tracing::info!(run = %entry.stream.id, "a run was sent again with more records; the longer run replaces \
                                                    the earlier one");
            let labels = entry.status().labels.clone();
            if !labels.is_empty()
                && let Some(longer) = runs.find(longer)
                && longer.status().labels.is_empty()
            {
                runs.label(&longer, labels).await;
            }
            if let Err(error) = runs.drop_stream(&entry).await {
                tracing::warn!(run = %entry.stream.id, %error, "a run that was replaced could not be dropped");
            }
            if self.again.iter().all(|known| known.id() != longer) {
                replacing.insert(longer);
            }
        }
        self.replaced += replacing.len() as u64;
        for (entry, seen) in std::mem::take(&mut self.completed) {
            let is_over = entry.status().ended;
            match is_over {
                true => runs.complement(&entry, seen).await,
                false => self.completed.push((entry, seen)),
            }
        }
    }
}
