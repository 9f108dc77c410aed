//! Any sequence of operations has the same outcome in every kind of log.
//!
//! Input: appends of any size, wrong ones among them, cuts, drops, checkpoints and reads, in any order. Output: the same results, errors and
//! contents in memory, in a file, at servers, and at another proxy that only follows. Never: a difference between two kinds.

use crate::kinds::{Kind, Kinds, options, read, streams, text};
use crate::scratch::frames;
use framegate::log::jetstream::JetstreamLog;
use framegate::log::{Checkpoint, CheckpointAt, FrameLog, Gone, SharedLog, StreamId, stream_id};
use framegate_translators::frame::Frame;
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof};
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::watch;

const CASES: u32 = 150;

/// A step. Numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Step {
    /// The next frames of the recording.
    Append(usize),
    /// Frames of one stream whose numbers are wrong by this much.
    Wrong {
        stream: usize,
        by: u8,
    },
    /// The front of a stream goes.
    Cut {
        stream: usize,
        frames: u64,
    },
    Drop(usize),
    Checkpoint {
        stream: usize,
        frame: u64,
    },
    Find {
        stream: usize,
        frame: u64,
    },
    Read {
        stream: usize,
        from: u64,
        max: usize,
    },
    /// How many frames fit into so many bytes.
    Within {
        stream: usize,
        bytes: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let stream = || any::<usize>();
    prop_oneof![
        6 => (1..40_usize).prop_map(Step::Append),
        1 => (stream(), any::<u8>()).prop_map(|(stream, by)| Step::Wrong { stream, by }),
        2 => (stream(), any::<u64>()).prop_map(|(stream, frames)| Step::Cut { stream, frames }),
        1 => stream().prop_map(Step::Drop),
        1 => (stream(), any::<u64>()).prop_map(|(stream, frame)| Step::Checkpoint { stream, frame }),
        1 => (stream(), any::<u64>()).prop_map(|(stream, frame)| Step::Find { stream, frame }),
        4 => (stream(), any::<u64>(), prop_oneof![Just(1), 1..300_usize])
            .prop_map(|(stream, from, max)| Step::Read { stream, from, max }),
        1 => (stream(), any::<u64>()).prop_map(|(stream, bytes)| Step::Within { stream, bytes }),
    ]
}

/// What a stream has, as far as the test has written it.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    first: u64,
    end: u64,
}

/// One recording on its way into the logs.
struct Writing {
    frames: Vec<Arc<Frame>>,
    next: usize,
    ids: Vec<StreamId>,
    written: BTreeMap<StreamId, Written>,
}

impl Writing {
    /// The streams have ids that no other case has.
    fn new(number: u128) -> Self {
        let frames = frames("claude-code", "bash_background.partial.ndjson", number);
        let ids = streams(&frames);
        Self { frames, next: 0, ids, written: BTreeMap::new() }
    }

    fn id(&self, choice: usize) -> StreamId {
        self.ids[choice % self.ids.len()]
    }

    /// The next frames, numbered as the logs expect it: a stream that was dropped begins again.
    fn take(&mut self, count: usize) -> Vec<Arc<Frame>> {
        let end = (self.next + count).min(self.frames.len());
        let taken = self.frames[self.next..end].to_vec();
        self.next = end;
        let number = |frame: Arc<Frame>| {
            let written = self.written.entry(stream_id(&frame)).or_default();
            written.end += 1;
            Arc::new(Frame { seq: written.end - 1, ..Frame::clone(&frame) })
        };
        taken.into_iter().map(number).collect()
    }

    /// Does a step with one log. Returns the outcome as text.
    async fn does(&self, step: &Step, appended: &[Arc<Frame>], log: &dyn FrameLog) -> String {
        let reached = |id| self.written.get(&id).copied().unwrap_or_default();
        match step {
            Step::Append(_) => format!("{:?}", log.append(appended, Vec::new()).await.map(drop)),
            Step::Wrong { stream, by } => {
                let id = self.id(*stream);
                let wrong = reached(id).end + 1 + u64::from(*by);
                let frame = self.frames.iter().find(|frame| stream_id(frame) == id).unwrap();
                let frame = Arc::new(Frame { seq: wrong, ..Frame::clone(frame) });
                format!("{:?}", log.append(&[frame], Vec::new()).await.map(drop))
            }
            Step::Cut { stream, frames } => {
                let (id, Written { first, end }) = (self.id(*stream), reached(self.id(*stream)));
                // The last frame of a stream always stays.
                if end - first < 2 {
                    return String::new();
                }
                let gone = Gone { frames: first + 1 + frames % (end - first - 1), last_ms: 5, pruned_ms: 6 };
                format!("{:?}", log.prune(id, gone, vec![checkpoint(gone.frames)]).await)
            }
            Step::Drop(stream) => format!("{:?}", log.drop_stream(self.id(*stream)).await),
            Step::Checkpoint { stream, frame } => {
                let (id, Written { first, end }) = (self.id(*stream), reached(self.id(*stream)));
                if end == first {
                    return String::new();
                }
                format!("{:?}", log.keep_checkpoints(id, vec![checkpoint(first + frame % (end - first))]).await)
            }
            Step::Find { stream, frame } => {
                let (id, end) = (self.id(*stream), reached(self.id(*stream)).end);
                format!("{:?}", log.checkpoint(id, "view", &CheckpointAt::Frame(frame % (end + 2))).await)
            }
            Step::Read { stream, from, max } => {
                let (id, end) = (self.id(*stream), reached(self.id(*stream)).end);
                match log.read(id, from % (end + 2), *max).await {
                    // How many come at once is the log's own affair.
                    Ok(found) => found.first().map_or("none".to_owned(), |frame| format!("{frame:?}")),
                    Err(error) => format!("{error:?}"),
                }
            }
            Step::Within { stream, bytes } => {
                let id = self.id(*stream);
                // The kinds measure frames differently, so only the extremes are alike.
                let bytes = if bytes % 2 == 0 { 0 } else { u64::MAX };
                format!("{:?}", log.first_within(id, bytes).await)
            }
        }
    }

    /// Notes what a step has changed.
    fn done(&mut self, step: &Step) {
        match step {
            Step::Cut { stream, frames } => {
                let id = self.id(*stream);
                if let Some(written) = self.written.get_mut(&id).filter(|written| written.end - written.first >= 2) {
                    written.first += 1 + frames % (written.end - written.first - 1);
                }
            }
            Step::Drop(stream) => drop(self.written.remove(&self.id(*stream))),
            _ => {}
        }
    }

    /// Everything that a log has of these streams.
    async fn contents(&self, log: &dyn FrameLog) -> Vec<String> {
        let mut found = Vec::new();
        for id in self.written.keys() {
            for max in [1, 7, 1000] {
                found.push(format!("{id:?} {:?}", text(&read(log, *id, 0, max).await)));
            }
        }
        found
    }
}

fn checkpoint(frame: u64) -> Checkpoint {
    Checkpoint { view: "view".into(), frame, event: frame * 2, last: None, state: frame.to_be_bytes().to_vec() }
}

/// Another proxy at the servers, which keeps few of the frames that it reads.
struct Follower {
    log: Arc<JetstreamLog>,
    heard: watch::Receiver<u64>,
}

impl Follower {
    async fn new(kinds: &Kinds) -> Self {
        let mut options = options(kinds.servers(), "kinds");
        options.recent_bytes = 16 << 10;
        let log = JetstreamLog::open(options).await.unwrap();
        let mut loading = log.load().await.unwrap();
        let (sender, heard) = watch::channel(loading.behind);
        tokio::spawn(async move {
            while let Some(news) = loading.news.recv().await {
                sender.send_replace(news.behind);
            }
        });
        Self { log, heard }
    }

    /// Waits until it knows everything that was written.
    async fn catch_up(&self) {
        let reached = self.log.reached().await.unwrap();
        self.heard.clone().wait_for(|heard| *heard >= reached).await.unwrap();
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn any_sequence_of_operations_has_the_same_outcome_in_every_kind_of_log() {
    let kinds = Kinds::new();
    let follower = kinds.runtime.block_on(Follower::new(&kinds));
    let mut runner =
        TestRunner::new(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() });
    let number = std::cell::Cell::new(1_000);
    let outcome = runner.run(&vec(step(), 1..60), |steps| {
        number.set(number.get() + 1);
        let mut writing = Writing::new(number.get());
        kinds.runtime.block_on(async {
            for step in &steps {
                let before = writing.written.clone();
                let appended = if let Step::Append(count) = step { writing.take(*count) } else { Vec::new() };
                if matches!(step, Step::Append(_)) && appended.is_empty() {
                    continue;
                }
                let mut outcomes = Vec::new();
                for Kind { name, log, .. } in &kinds.all {
                    // Only a log that outlives the process keeps checkpoints.
                    if matches!(step, Step::Find { .. }) && !log.is_durable() {
                        continue;
                    }
                    outcomes.push((name, writing.does(step, &appended, &**log).await));
                }
                let all_alike = outcomes.iter().all(|(_, outcome)| *outcome == outcomes[0].1);
                assert!(all_alike, "{step:?} after {before:?}: {outcomes:#?}");
                writing.done(step);
            }
            let mut contents = Vec::new();
            for kind in &kinds.all {
                contents.push((kind.name, writing.contents(&*kind.log).await));
            }
            follower.catch_up().await;
            contents.push(("another proxy", writing.contents(&*follower.log).await));
            for (name, found) in &contents[1..] {
                assert!(*found == contents[0].1, "{name} differs from {}", contents[0].0);
            }
        });
        Ok(())
    });
    outcome.unwrap();
}
