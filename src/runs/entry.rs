//! One stream in memory: its status, its tail, and what its readers share.
//!
//! Input: the status after each append. Output: the status and the tail for followers; the checkpoints of each contract.
//! Never: a tail that is ahead of its status.

use super::checkpoints::SharedCheckpoints;
use super::recovery::LEFT_OPEN;
use super::retention::artifact_refs::ArtifactRefs;
use super::retention::pruning::Pruning;
use super::view::View;
use super::{RunStatus, Tail};
use crate::clock::Moment;
use crate::log::{Gone, LogError, StreamId};
use framegate_translators::encode::{EncoderOptions, NewEncoder};
use framegate_translators::frame::Stream;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::watch;

/// The key of a stream's views: the contract's name, and the options.
pub(super) type ViewKey = (&'static str, EncoderOptions);

/// One stream.
pub struct Entry {
    /// The stream's description, known from its first frame on.
    pub stream: Arc<Stream>,
    /// The configured name of the upstream whose run this is; `None` for input that a client sent, and for runs of an earlier process.
    pub(super) upstream: Option<Arc<str>>,
    pub(super) tail: watch::Sender<Tail>,
    pub(super) status: Mutex<RunStatus>,
    pub(super) views: Mutex<HashMap<ViewKey, (SharedCheckpoints, Weak<View>)>>,
    pub(super) pruning: Mutex<Pruning>,
    /// The artifacts that frames refer to, for when those frames are pruned.
    pub(super) artifact_refs: Mutex<ArtifactRefs>,
    /// Held while the stream's front is dropped.
    pub(super) prune_turn: tokio::sync::Mutex<()>,
    /// The frame up to which its checkpoints were made.
    pub(super) checkpointed: AtomicU64,
    /// Whether readers have counted events since the counts were last saved.
    pub(super) has_counted: AtomicBool,
    /// Whether the metrics have counted what the run cost.
    pub(super) is_billed: AtomicBool,
    /// Its number in the order in which the runs began.
    pub(super) began: AtomicU64,
    /// Whether the log has dropped the stream. A stream that has its id later is a different one.
    pub(super) dropped: AtomicBool,
}

impl Entry {
    pub(super) fn new(stream: Arc<Stream>, status: RunStatus) -> Self {
        let tail = watch::Sender::new(Tail { frames: status.frames, ended: status.ended, ..Tail::default() });
        Self {
            stream,
            upstream: None,
            tail,
            status: Mutex::new(status),
            views: Mutex::default(),
            pruning: Mutex::default(),
            artifact_refs: Mutex::default(),
            prune_turn: tokio::sync::Mutex::default(),
            checkpointed: AtomicU64::default(),
            has_counted: AtomicBool::default(),
            is_billed: AtomicBool::default(),
            began: AtomicU64::default(),
            dropped: AtomicBool::default(),
        }
    }

    pub(super) fn pruning(&self) -> MutexGuard<'_, Pruning> {
        self.pruning.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn artifact_refs(&self) -> MutexGuard<'_, ArtifactRefs> {
        self.artifact_refs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pruned front of the stream, if any.
    pub fn gone(&self) -> Option<Gone> {
        self.pruning().gone
    }

    /// The checkpoints of the stream in a contract, and their key; `None` if the contract leaves the stream out. `view`
    /// names the form of the events, since a contract can have two. `name` names the encoder's state.
    pub(super) fn checkpoints(
        &self,
        view: &'static str,
        name: &'static str,
        make: NewEncoder,
        options: &EncoderOptions,
    ) -> Option<(ViewKey, SharedCheckpoints)> {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        let as_asked = (view, options.clone());
        if let Some((checkpoints, _)) = views.get(&as_asked) {
            return Some((as_asked, checkpoints.clone()));
        }
        // If the encoder ignores the options, there is one view for all options.
        let encoder = make(&self.stream, options)?;
        let options = if encoder.uses_options() { options.clone() } else { EncoderOptions::default() };
        let key = (view, options.clone());
        let new = || (SharedCheckpoints::new(name, make, options, encoder), Weak::new());
        let checkpoints = views.entry(key.clone()).or_insert_with(new).0.clone();
        Some((key, checkpoints))
    }

    /// The checkpoints in every contract that a reader has asked for.
    pub(super) fn all_checkpoints(&self) -> Vec<SharedCheckpoints> {
        let views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        views.values().map(|(checkpoints, _)| checkpoints.clone()).collect()
    }

    /// Replaces the status after frames were kept, and wakes the readers.
    pub(super) fn adopt(&self, status: RunStatus, arrived: Moment) {
        let arrived = Some(arrived);
        let tail = Tail { frames: status.frames, ended: status.ended, arrived, paused_until_ms: None };
        {
            let mut now = self.status();
            // Readers may have checked events in the meantime; their counts are kept.
            let events_checked = std::mem::take(&mut now.events_checked);
            let validation_failures = std::mem::take(&mut now.validation_failures);
            let events_withheld = std::mem::take(&mut now.events_withheld);
            let (pruned_frames, exit, damaged) = (now.pruned_frames, now.exit, now.damaged.take());
            let labels = now.labels.clone();
            *now = RunStatus {
                events_checked,
                validation_failures,
                events_withheld,
                pruned_frames,
                exit,
                damaged,
                labels,
                ..status
            };
        }
        self.tail.send_replace(tail);
    }

    /// Takes what another proxy noted about the stream without new frames: its labels, how its program exited, what readers
    /// counted there, and what another output of its runner says of it.
    pub(super) fn adopt_notes(&self, mut noted: RunStatus) {
        let mut now = self.status();
        now.labels = std::mem::take(&mut noted.labels);
        now.exit = noted.exit.or(now.exit);
        for (contract, events) in std::mem::take(&mut noted.events_checked) {
            let counted = now.events_checked.entry(contract).or_default();
            *counted = (*counted).max(events);
        }
        if now.ended {
            now.complement(noted);
        }
    }

    /// The stream's id.
    pub fn id(&self) -> StreamId {
        (self.stream.kind, self.stream.id)
    }

    /// The configured name of the upstream whose run this is.
    pub fn upstream(&self) -> Option<&str> {
        self.upstream.as_deref()
    }

    /// The run's current status.
    pub fn status(&self) -> MutexGuard<'_, RunStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of frames, including pruned ones.
    pub(super) fn frames(&self) -> u64 {
        self.tail.borrow().frames
    }

    /// Whether the log has dropped the stream.
    pub fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::Acquire)
    }

    /// What the pruned part of the stream left open, if that is known here.
    pub(super) fn left_open(&self) -> Option<Vec<u8>> {
        let (_, checkpoints) = self.checkpoints(LEFT_OPEN.0, LEFT_OPEN.0, LEFT_OPEN.1, &EncoderOptions::default())?;
        let gone = self.gone()?;
        checkpoints.start_state(gone.frames)
    }

    /// Records that a part of the stream is damaged and cannot be read. It is logged once.
    pub(super) fn note_damage(&self, error: &LogError) {
        let mut status = self.status();
        if let Some(damage) = error.damage()
            && status.damaged.is_none()
        {
            tracing::error!(stream = %self.stream.id, %error, "a stream cannot be read");
            status.damaged = Some(damage);
        }
    }

    /// Subscribes to the stream's tail.
    pub fn tail(&self) -> watch::Receiver<Tail> {
        self.tail.subscribe()
    }
}
