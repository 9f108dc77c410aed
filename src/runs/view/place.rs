//! Places in a stream: where an encoder stands, and what of that outlives the process.
//!
//! In: frames, or a mark that was kept. Out: the place behind them, and its mark. Never: events that anybody gets.

use super::SharedMarks;
use crate::log::{LogError, Mark, MarkAt};
use crate::runs::front::MARK_EVERY;
use crate::runs::{Entry, Runs};
use framegate_translators::encode::{Encoder, EventId, Events};
use framegate_translators::frame::Frame;

/// A place from which a window can begin.
pub(in crate::runs) struct Place {
    /// The frame that is encoded next.
    pub(in crate::runs) frame: u64,
    /// The number that the next event gets.
    pub(in crate::runs) event: u64,
    /// The last event before it that has a cursor, and its number.
    pub(in crate::runs) last: Option<(EventId, u64)>,
    /// The encoder that stands there.
    pub(in crate::runs) encoder: Box<dyn Encoder>,
}

impl Place {
    /// The same place, for a window of its own.
    pub(in crate::runs) fn fork(&self) -> Self {
        Self { frame: self.frame, event: self.event, last: self.last.clone(), encoder: self.encoder.fork() }
    }

    /// Goes on behind the next frame. Frames before it are passed over.
    pub(in crate::runs) fn pass(&mut self, frame: &Frame, scratch: &mut Events) {
        if frame.seq != self.frame {
            return;
        }
        scratch.clear();
        self.encoder.frame(frame, scratch);
        for event in scratch.iter() {
            if *event.id != EventId::None {
                self.last = Some((event.id.clone(), self.event));
            }
            self.event += 1;
        }
        self.frame += 1;
    }
}

impl SharedMarks {
    /// The place of a mark that was kept; `None` where it is of another version.
    fn place(&self, entry: &Entry, mark: Mark) -> Option<Place> {
        let mut encoder = (self.0.make)(&entry.stream, &self.0.options)?;
        let Mark { frame, event, last, state, .. } = mark;
        encoder.restore(&state).then_some(Place { frame, event, last, encoder })
    }

    /// The mark of a place; `None` where nothing needs to be kept to begin there, or nothing can be.
    pub(in crate::runs) fn mark(&self, place: &Place) -> Option<Mark> {
        let Place { frame, event, last, encoder } = place;
        let view = self.0.name.clone();
        Some(Mark { view, frame: *frame, event: *event, last: last.clone(), state: encoder.save()? })
    }

    /// The last known place that is not behind the one that is asked for, in memory or in the log. What an older version left
    /// in the log counts only where nothing else can: at the start of what is kept.
    pub(in crate::runs) async fn start(
        &self,
        runs: &Runs,
        entry: &Entry,
        at: &MarkAt,
    ) -> Result<Option<Place>, LogError> {
        let frames = entry.tail.borrow().frames;
        let (known, is_free) = self.with(|marks| (marks.before(at, frames), marks.is_free()));
        // A short stream has no marks but where its front is gone.
        let may_be_kept = frames >= MARK_EVERY || entry.gone().is_some();
        if is_free || !may_be_kept || !runs.log().is_durable() {
            return Ok(known);
        }
        let kept = runs.log().mark(entry.id(), &self.0.name, at).await?;
        let is_later = |mark: &Mark| known.as_ref().is_none_or(|known| known.frame < mark.frame);
        let Some(place) = kept.filter(is_later).and_then(|mark| self.place(entry, mark)) else { return Ok(known) };
        self.with(|marks| marks.note(place.frame, place.encoder.held_bytes(), || place.fork()));
        Ok(Some(place))
    }

    /// The place at which what is kept of a stream begins, its first `frames` frames being gone; `None` where nobody can
    /// stand there any more.
    pub(in crate::runs) async fn start_of_kept(
        &self,
        runs: &Runs,
        entry: &Entry,
        frames: u64,
    ) -> Result<Option<Place>, LogError> {
        let known = self.with(|marks| marks.start_at(frames).or_else(|| free(marks.anywhere(frames)?)));
        if known.is_some() {
            return Ok(known);
        }
        let kept = runs.log().mark(entry.id(), &self.0.name, &MarkAt::Frame(frames)).await?;
        let place = kept.filter(|mark| mark.frame == frames).and_then(|mark| self.place(entry, mark));
        if let Some(place) = &place {
            self.with(|marks| marks.begin_at(place.fork()));
        }
        Ok(place)
    }
}

/// Where an encoder can begin anywhere, events have the numbers of frames.
fn free(place: Place) -> Option<Place> {
    let last = place.event.checked_sub(1).map(|last| (EventId::Number(last), last));
    Some(Place { last, ..place })
}
