//! The runs of a log that several proxies share.
//!
//! Input: the news of the log, in its order. Output: the same streams, statuses and feed at every proxy. Never: a frame of this proxy
//! that is known here in another order than elsewhere; a run closed whose proxy lives; a wait for the log while news are taken in,
//! except for a status that is too long for them.
//!
//! Frames that this proxy appends are taken in like all others, when the log names their place. What is known of them beyond the news waits here
//! meanwhile ([`Expected`]).

use super::append::Touched;
use super::recovery::{known_status, labels_of};
use super::{Entry, RunStatus, Runs};
use crate::clock::Moment;
use crate::log::{ByStream, DroppedStream, Gone, Heard, KeptStream, Loading, LogError, News, Run, StreamId};
use framegate_translators::frame::{Stream, StreamKind};
use framegate_translators::normalizer::{PROXY_LOST, RunEnd};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};

/// The error code of a run that ended because the log failed.
pub const LOG_FAILED: &str = "log_failed";

/// The longest wait for what other proxies have written, when a client asks.
const CATCH_UP: Duration = Duration::from_secs(2);

/// The first and the longest pause before streams are closed whose frames came late.
const TRY_AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// How often frames of a shared stream are numbered anew because another proxy was first.
pub(super) const ATTEMPTS: u32 = 64;

/// The position that counts as heard once there are no more news.
const OVER: u64 = u64::MAX;

/// What the runs know of the log's order.
#[derive(Default)]
pub(super) struct SharedOrder {
    /// The position behind what was taken in.
    heard: watch::Sender<u64>,
    expected: Mutex<HashMap<(StreamId, u64), Touched>>,
    news: Mutex<Option<mpsc::Receiver<Heard>>>,
    /// Runs and tasks whose frames came into the log after their ingest had given up.
    unattended: Mutex<Vec<StreamId>>,
    has_unattended: Notify,
    /// How often the runs were asked to look at the servers.
    looks: AtomicU64,
    /// How many of these requests had come before the last look began.
    served: tokio::sync::Mutex<u64>,
}

impl SharedOrder {
    fn expected(&self) -> MutexGuard<'_, HashMap<(StreamId, u64), Touched>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what is known of frames until the log names their place.
    pub(super) fn expect(&self, touched: Vec<Touched>) -> Expected<'_> {
        let mut keys = Vec::with_capacity(touched.len());
        let mut expected = self.expected();
        for known in touched {
            keys.push((known.id, known.first));
            expected.insert((known.id, known.first), known);
        }
        drop(expected);
        Expected { order: self, keys }
    }

    /// Takes what is known of the frames that the log has stored with a status.
    fn take(&self, id: StreamId, first: u64, status: Option<&str>) -> Option<Touched> {
        let mut expected = self.expected();
        expected.get(&(id, first)).filter(|known| known.is_of(status))?;
        expected.remove(&(id, first))
    }

    /// Waits until everything before a position is taken in. Returns whether it was; it is not if the log has lost it.
    pub(super) async fn wait_for(&self, position: u64) -> bool {
        let mut heard = self.heard.subscribe();
        // The sender lives as long as the runs.
        heard.wait_for(|heard| *heard >= position).await.is_ok_and(|heard| *heard < OVER)
    }
}

/// Frames whose place is not known yet. If they are not appended, nothing is kept of them.
pub(super) struct Expected<'a> {
    order: &'a SharedOrder,
    keys: Vec<(StreamId, u64)>,
}

impl Expected<'_> {
    /// Takes back what was kept.
    pub(super) fn take_back(self) -> Vec<Touched> {
        let mut expected = self.order.expected();
        self.keys.iter().filter_map(|key| expected.remove(key)).collect()
    }
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        let mut expected = self.order.expected();
        self.keys.iter().for_each(|key| drop(expected.remove(key)));
    }
}

impl Runs {
    /// Takes in everything that the log has. Called once, before anything is appended.
    pub(super) async fn load_shared(&self) -> Result<(), LogError> {
        let Some(shared) = self.log.shared() else { return Ok(()) };
        let Loading { mut loaded, behind, news } = shared.load().await?;
        let dropped = std::mem::take(&mut loaded.dropped);
        let streams = loaded.into_streams();
        for kept in &streams {
            let gone = kept.gone.and_then(|gone| Some((kept.gone_position?, gone.frames.checked_sub(1)?)));
            self.feed.learn(kept.id(), gone, &kept.runs);
        }
        self.feed.learnt_shared(dropped, behind);
        for kept in streams {
            self.meet(kept).await;
        }
        self.shared_order.heard.send_replace(behind);
        *self.shared_order.news.lock().unwrap_or_else(PoisonError::into_inner) = Some(news);
        Ok(())
    }

    /// Registers a stream that this proxy did not know.
    async fn meet(&self, kept: KeptStream) {
        let mut status = match known_status(&kept) {
            Some(status) => status,
            None => {
                let status = self.status_from_frames(&kept.stream, None, kept.gone, kept.frames).await;
                RunStatus { labels: labels_of(&kept), ..status }
            }
        };
        status.ended = kept.ended;
        self.complete_final_text(&kept.stream, &mut status).await;
        self.learn(&kept, status);
    }

    /// Takes in the news for as long as there are any.
    pub async fn hear_on(&self) {
        let news = self.shared_order.news.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut news) = news else { return };
        while let Some(heard) = news.recv().await {
            match heard.news {
                Some(News::Frames { stream, run, ended, is_own, status, labels }) => {
                    let kept = KeptStream {
                        frames: run.seq + run.frames,
                        ended,
                        status: status.map(String::from),
                        labels: labels.map(String::from),
                        ..KeptStream::new(stream)
                    };
                    self.hear_frames(kept, run, is_own, heard.arrived).await;
                }
                Some(News::Cut { stream, gone, .. }) => self.hear_cut((stream.kind, stream.id), gone),
                Some(News::Dropped(dropped)) => self.hear_drop(&dropped),
                Some(News::Status { stream, status }) => self.hear_status(stream, &status),
                None => {}
            }
            self.shared_order.heard.send_replace(heard.behind);
        }
        // Appends that wait for their frames to be heard must not wait for ever.
        self.shared_order.heard.send_replace(OVER);
    }

    async fn hear_frames(&self, kept: KeptStream, run: Run, is_own: bool, arrived: Moment) {
        let (id, frames, ended) = (kept.id(), kept.frames, kept.ended);
        let expected = if is_own { self.shared_order.take(id, run.seq, kept.status.as_deref()) } else { None };
        if let Some(touched) = expected {
            self.register(touched, arrived);
        } else {
            if is_own && !ended && id.0 != StreamKind::Thread {
                // The servers stored the frames, but this proxy got no answer in time.
                self.shared_order.unattended.lock().unwrap_or_else(PoisonError::into_inner).push(id);
                self.shared_order.has_unattended.notify_one();
            }
            match self.find(id) {
                None => self.meet(kept).await,
                Some(entry) if entry.frames() < frames => {
                    let mut status = match known_status(&kept) {
                        Some(status) => status,
                        None => {
                            let before = entry.status().clone();
                            let status =
                                self.status_from_frames(&kept.stream, Some(before), entry.gone(), frames).await;
                            RunStatus { labels: labels_of(&kept), ..status }
                        }
                    };
                    status.ended = ended;
                    status.running_total = status.running.take().or(status.running_total.take());
                    if let Some(running) = &status.running_total {
                        self.totals.learn(kept.stream.session.id, running);
                    }
                    self.complete_final_text(&kept.stream, &mut status).await;
                    status.is_final_text_long = None;
                    self.registry.learn(&entry, &status);
                    entry.adopt(status, arrived);
                }
                Some(_) => {}
            }
        }
        self.feed.heard(id, run, arrived);
    }

    /// The status after the first `frames` frames of a stream, of which `before` is known. If they cannot be read, the status
    /// has their number only.
    async fn status_from_frames(
        &self,
        stream: &Arc<Stream>,
        before: Option<RunStatus>,
        gone: Option<Gone>,
        frames: u64,
    ) -> RunStatus {
        let id = (stream.kind, stream.id);
        let mut at = before.as_ref().map_or(gone.map_or(0, |gone| gone.frames), |status| status.frames);
        let mut status = before;
        while at < frames {
            let read = self.log.read(id, at, usize::try_from(frames - at).unwrap_or(usize::MAX).min(1024)).await;
            let read = match read {
                Ok(read) if !read.is_empty() => read,
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(stream = %stream.id, %error, "the status of a run of another proxy could not be read");
                    break;
                }
            };
            for frame in &read {
                // The proxy that wrote the frames has logged the warnings.
                status.get_or_insert_with(|| self.begun(frame)).observe(frame, &mut Vec::new());
                at = frame.seq + 1;
            }
        }
        let mut status = status.unwrap_or_else(|| RunStatus::of_stream(stream, frames));
        status.frames = frames;
        status
    }

    /// A long final text is only in the last frame.
    async fn complete_final_text(&self, stream: &Arc<Stream>, status: &mut RunStatus) {
        if stream.kind == StreamKind::Session && status.ended && status.is_final_text_long == Some(true) {
            status.final_text = self.final_text_of(stream, status.frames).await;
        }
    }

    fn hear_cut(&self, id: StreamId, gone: Gone) {
        let Some(entry) = self.find(id) else { return };
        if entry.gone().is_some_and(|known| known.frames >= gone.frames) {
            return;
        }
        entry.pruning().gone = Some(gone);
        entry.status().pruned_frames = gone.frames;
        self.mark_changed(id);
        self.feed.forget_pruned(id, gone.frames);
    }

    fn hear_drop(&self, dropped: &DroppedStream) {
        let id = (dropped.stream.kind, dropped.stream.id);
        if let Some(entry) = self.find(id) {
            self.mark_dropped(&entry, dropped.dropped_ms);
            self.registry.remove(id, Some(&entry));
        }
    }

    fn hear_status(&self, id: StreamId, status: &str) {
        let Some(entry) = self.find(id) else { return };
        match serde_json::from_str::<RunStatus>(status) {
            Ok(status) => entry.adopt_notes(status),
            Err(error) => tracing::warn!(stream = %id.1, %error, "a status of another proxy cannot be read"),
        }
    }

    /// Waits until what other proxies have written so far is known here. Does not wait for servers that do not answer.
    pub async fn catch_up(&self) {
        let Some(shared) = self.log.shared().filter(|shared| shared.is_reachable()) else { return };
        let asked = self.shared_order.looks.fetch_add(1, Ordering::Relaxed);
        let mut served = self.shared_order.served.lock().await;
        // One look serves all requests that came before it began.
        if *served > asked {
            return;
        }
        *served = self.shared_order.looks.load(Ordering::Relaxed);
        let caught_up = async {
            if let Ok(position) = shared.reached().await {
                self.shared_order.wait_for(position).await;
            }
        };
        if tokio::time::timeout(CATCH_UP, caught_up).await.is_err() {
            tracing::debug!("this proxy does not know yet what other proxies have written");
        }
    }

    /// Ends what lost proxies left open, for as long as the proxy lives.
    pub async fn close_orphans(&self) {
        let Some(shared) = self.log.shared() else { return };
        // Threads have no end, so those that were looked at are remembered.
        let mut done: ByStream<u64> = ByStream::default();
        loop {
            let orphans = shared.orphans().await;
            self.catch_up().await;
            let entries: Vec<Arc<Entry>> = orphans.into_iter().filter_map(|id| self.find(id)).collect();
            let broken: HashSet<_> = entries
                .iter()
                .filter(|entry| entry.stream.kind == StreamKind::Session)
                .map(|entry| entry.stream.session.id)
                .collect();
            done.retain(|id, _| self.find(*id).is_some());
            for entry in entries {
                let (id, frames) = (entry.id(), entry.frames());
                let is_untouched = id.0 == StreamKind::Thread && !broken.contains(&entry.stream.session.id);
                if entry.status().ended || is_untouched || done.get(&id) == Some(&frames) {
                    continue;
                }
                let message = "the proxy that had this run was lost before the run ended";
                match self.cut_short(&entry, &RunEnd::interrupted(PROXY_LOST, message)).await {
                    Ok(()) => {
                        done.insert(id, entry.frames());
                        if id.0 == StreamKind::Session && entry.frames() > frames {
                            tracing::warn!(run = %id.1, "a run of a lost proxy ends as interrupted");
                        }
                    }
                    // Another proxy was first, or the run goes on after all.
                    Err(LogError::Sequence { .. }) => {}
                    Err(error) => {
                        tracing::warn!(stream = %id.1, %error, "a stream of a lost proxy could not be closed yet")
                    }
                }
            }
        }
    }

    /// Ends runs and tasks whose frames came into the log after their ingest had given up, for as long as the proxy lives.
    pub async fn close_unattended(&self) {
        let (mut pause, most) = TRY_AGAIN;
        loop {
            self.shared_order.has_unattended.notified().await;
            // What was sent before may still come.
            tokio::time::sleep(pause).await;
            let streams =
                std::mem::take(&mut *self.shared_order.unattended.lock().unwrap_or_else(PoisonError::into_inner));
            let mut left = Vec::new();
            for id in streams {
                let Some(entry) = self.find(id) else { continue };
                let message = "the servers of the frame log stored the last frames, but did not answer in time";
                match self.cut_short(&entry, &RunEnd::interrupted(LOG_FAILED, message)).await {
                    Ok(()) => {}
                    Err(error) => {
                        tracing::warn!(stream = %id.1, %error, "a stream could not be closed yet");
                        left.push(id);
                    }
                }
            }
            pause = if left.is_empty() { TRY_AGAIN.0 } else { (pause * 2).min(most) };
            if !left.is_empty() {
                self.shared_order.unattended.lock().unwrap_or_else(PoisonError::into_inner).extend(left);
                self.shared_order.has_unattended.notify_one();
            }
        }
    }

    /// Whether this proxy may drop the front of a stream.
    pub(super) fn may_prune(&self, entry: &Entry) -> bool {
        self.log
            .shared()
            .is_none_or(|shared| shared.is_writer(entry.id()) || (shared.is_elected() && entry.status().ended))
    }

    /// Tells the other proxies that this one stops. Called once its own runs are closed.
    pub async fn leave_log(&self) {
        if let Some(shared) = self.log.shared() {
            shared.leave().await;
        }
    }
}
