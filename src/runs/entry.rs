//! One stream as it is in memory: its status, how far it has come, and what its readers share.
//!
//! In: the status behind each append. Out: the status and the tail, to whoever follows; the marks of each contract. Never: a
//! tail that is ahead of its status.

use super::front::Front;
use super::referred::Referred;
use super::view::{SharedMarks, View};
use super::{RunStatus, Tail};
use crate::clock::Moment;
use crate::log::{Gone, StreamId};
use framegate_translators::encode::{EncoderOptions, NewEncoder};
use framegate_translators::frame::Stream;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::watch;

/// What tells the views of one stream apart: the contract's name, and the options.
pub(super) type ViewKey = (&'static str, EncoderOptions);

/// One stream.
pub struct Entry {
    /// What is known of it from its first frame on.
    pub stream: Arc<Stream>,
    pub(super) tail: watch::Sender<Tail>,
    pub(super) status: Mutex<RunStatus>,
    pub(super) views: Mutex<HashMap<ViewKey, (SharedMarks, Weak<View>)>>,
    pub(super) front: Mutex<Front>,
    /// What frames refer to whose turn to go may come.
    pub(super) referred: Mutex<Referred>,
    /// Held by the one who drops its front.
    pub(super) dropping: tokio::sync::Mutex<()>,
    /// Up to which frame its marks are kept.
    pub(super) marked: AtomicU64,
    /// Whether readers have counted events since the counts were kept.
    pub(super) has_counted: AtomicBool,
}

impl Entry {
    pub(super) fn new(stream: Arc<Stream>, status: RunStatus) -> Self {
        let tail = watch::Sender::new(Tail { frames: status.frames, ended: status.ended, arrived: None });
        Self {
            stream,
            tail,
            status: Mutex::new(status),
            views: Mutex::default(),
            front: Mutex::default(),
            referred: Mutex::default(),
            dropping: tokio::sync::Mutex::default(),
            marked: AtomicU64::default(),
            has_counted: AtomicBool::default(),
        }
    }

    pub(super) fn front(&self) -> MutexGuard<'_, Front> {
        self.front.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn referred(&self) -> MutexGuard<'_, Referred> {
        self.referred.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The front of the stream, where that is not kept any more.
    pub fn gone(&self) -> Option<Gone> {
        self.front().gone
    }

    /// The marks of the stream in a contract, and their key; `None` where the contract leaves the stream out.
    pub(super) fn marks(
        &self,
        name: &'static str,
        make: NewEncoder,
        options: &EncoderOptions,
    ) -> Option<(ViewKey, SharedMarks)> {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        let as_asked = (name, options.clone());
        if let Some((marks, _)) = views.get(&as_asked) {
            return Some((as_asked, marks.clone()));
        }
        // Whatever the options are, where nothing depends on them there is one view.
        let encoder = make(&self.stream, options)?;
        let options = if encoder.heeds_options() { options.clone() } else { EncoderOptions::default() };
        let key = (name, options.clone());
        let new = || (SharedMarks::new(name, make, options, encoder), Weak::new());
        let marks = views.entry(key.clone()).or_insert_with(new).0.clone();
        Some((key, marks))
    }

    /// The marks in every contract that anybody has asked for.
    pub(super) fn all_marks(&self) -> Vec<SharedMarks> {
        let views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        views.values().map(|(marks, _)| marks.clone()).collect()
    }

    /// Takes the status behind frames that were kept, and wakes the readers.
    pub(super) fn adopt(&self, status: RunStatus, arrived: Moment) {
        let tail = Tail { frames: status.frames, ended: status.ended, arrived: Some(arrived) };
        {
            let mut now = self.status();
            // Readers may have checked events meanwhile; what they counted stays.
            let events_checked = std::mem::take(&mut now.events_checked);
            let validation_failures = std::mem::take(&mut now.validation_failures);
            let events_withheld = std::mem::take(&mut now.events_withheld);
            let (pruned_frames, exit) = (now.pruned_frames, now.exit);
            *now = RunStatus { events_checked, validation_failures, events_withheld, pruned_frames, exit, ..status };
        }
        self.tail.send_replace(tail);
    }

    /// The stream's id.
    pub fn id(&self) -> StreamId {
        (self.stream.kind, self.stream.id)
    }

    /// The run's status as of now.
    pub fn status(&self) -> MutexGuard<'_, RunStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows how far the stream has come.
    pub fn tail(&self) -> watch::Receiver<Tail> {
        self.tail.subscribe()
    }
}
