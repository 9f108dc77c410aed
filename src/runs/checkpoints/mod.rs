//! Checkpoints: saved states of encoders, from which the events of a stream can be encoded without the frames before.
//!
//! Input: points that encoders reach, while they serve readers or in the background. Output: the best point to start from, from
//! memory or from the log. Never: events for a reader; a point before the kept part of the stream, once the front is pruned;
//! memory that grows with the length of the stream.

mod keeper;
mod list;
mod resume_point;

pub(super) use resume_point::ResumePoint;

use framegate_translators::encode::{Encoder, EncoderOptions, NewEncoder};
use list::CheckpointList;
use std::sync::{Arc, Mutex, PoisonError};

/// The checkpoints of a stream in a contract. They outlive its readers.
#[derive(Clone)]
pub(super) struct SharedCheckpoints(Arc<OfView>);

/// The checkpoints of one view, with the name under which the log keeps them.
struct OfView {
    name: Arc<str>,
    make: NewEncoder,
    options: EncoderOptions,
    checkpoints: Mutex<CheckpointList>,
}

impl SharedCheckpoints {
    /// Starts with one checkpoint, the beginning of the stream. `encoder` is the encoder there, which `make` created with
    /// these options.
    pub(super) fn new(name: &str, make: NewEncoder, options: EncoderOptions, encoder: Box<dyn Encoder>) -> Self {
        let name = if encoder.uses_options() { named(name, &options) } else { Arc::from(name) };
        Self(Arc::new(OfView { name, make, options, checkpoints: Mutex::new(CheckpointList::new(encoder)) }))
    }

    fn with<T>(&self, ask: impl FnOnce(&mut CheckpointList) -> T) -> T {
        ask(&mut self.0.checkpoints.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a checkpoint at a point, if a checkpoint is worthwhile there.
    pub(super) fn note(&self, point: &ResumePoint) {
        self.note_at(point.frame, point.encoder.held_bytes(), || point.fork());
    }

    /// Like [`SharedCheckpoints::note`], for a point that is only made if the checkpoint is worthwhile.
    pub(super) fn note_at(&self, frame: u64, held_bytes: usize, point: impl FnOnce() -> ResumePoint) {
        self.with(|checkpoints| checkpoints.note(frame, held_bytes, point));
    }

    /// The stream begins at that point from now on.
    pub(super) fn begin_at(&self, point: ResumePoint) {
        self.with(|checkpoints| checkpoints.begin_at(point));
    }

    /// Whether both belong to the same view.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether the encoder can start at any frame, without the frames before it.
    pub(super) fn is_free(&self) -> bool {
        self.with(|checkpoints| checkpoints.is_free())
    }
}

/// The name of a contract together with its options.
fn named(name: &str, options: &EncoderOptions) -> Arc<str> {
    let EncoderOptions { experimental, thinking, user_messages, artifacts, task_budget_micros_usd } = options;
    let budget = task_budget_micros_usd.map_or_else(String::new, |budget| format!(";budget={budget}"));
    let told = |word: &'static str, is_told: bool| if is_told { word } else { "" };
    let (experimental, thinking) = (told(";experimental", *experimental), told(";thinking", *thinking));
    let (artifacts, user_messages) = (told(";artifacts", *artifacts), told(";user_messages", *user_messages));
    format!("{name}{experimental}{thinking}{artifacts}{user_messages}{budget}").into()
}
