//! Bounds of a log at servers: the frames of one append, and what a proxy that reads slowly has to catch up with.

use crate::every_kind::runtime;
use crate::kinds::{opened, options, read};
use crate::scratch::{frames, run_of};
use crate::servers::Servers;
use framegate::log::jetstream::{JetstreamLog, JetstreamOptions};
use framegate::log::{FrameLog, LogError, SharedLog, StreamId, stream_id};
use framegate_translators::frame::Frame;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most frames of one append, which a position has room for.
const MOST_FRAMES: u64 = 1 << 20;

/// Small frames of one stream, which is open.
fn many(run: u128, count: u64) -> (StreamId, Vec<Arc<Frame>>) {
    let made = frames("codex", "exec-mixed-session.ndjson", run);
    let id = run_of(&made);
    // Neither the first nor the last frame: they begin and end the run.
    let mine: Vec<_> = made.iter().filter(|frame| stream_id(frame) == id).collect();
    let smallest = mine[1..mine.len() - 1].iter().min_by_key(|frame| format!("{frame:?}").len()).unwrap();
    (id, (0..count).map(|seq| Arc::new(Frame { seq, ..Frame::clone(smallest) })).collect())
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn an_append_has_at_most_as_many_frames_as_a_position_can_number() {
    let (servers, runtime) = (Servers::one(), runtime());
    runtime.block_on(async {
        let roomy = JetstreamOptions { max_bytes: 1 << 30, max_stream_bytes: 2 << 30, ..options(&servers, "bounds") };
        let log = opened(roomy).await;
        let (id, mut frames) = many(1, MOST_FRAMES + 1);
        let refused = log.append(&frames, Vec::new()).await;
        assert!(
            matches!(refused, Err(LogError::TooManyFrames { frames, most }) if (frames, most) == (MOST_FRAMES + 1, MOST_FRAMES)),
            "{refused:?}"
        );
        let there = log.read(id, 0, 1).await;
        assert!(matches!(there, Err(LogError::Dropped { .. })), "nothing of a refused append is kept: {there:?}");
        let next = frames.pop().unwrap();
        log.append(&frames, Vec::new()).await.unwrap();
        log.append(std::slice::from_ref(&next), Vec::new()).await.unwrap();
        for from in [0, MOST_FRAMES / 2, MOST_FRAMES - 2] {
            let found: Vec<u64> = log.read(id, from, 2).await.unwrap().iter().map(|frame| frame.seq).collect();
            assert_eq!(found, [from, from + 1]);
        }
        assert_eq!(read(&*log, id, MOST_FRAMES - 1, 10).await.len(), 2);
    });
}

/// How many appends a proxy is behind, which is more than the client of the servers holds for it.
const BEHIND: u64 = 70_000;

/// How many runs they belong to. Appends of one run follow each other.
const RUNS: u64 = 100;

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_proxy_that_hears_the_news_late_hears_all_of_them() {
    let (servers, runtime) = (Servers::one(), runtime());
    runtime.block_on(async {
        let slow = JetstreamLog::open(options(&servers, "slow")).await.unwrap();
        // These news are not taken before everything is written.
        let mut news = slow.load().await.unwrap().news;
        let log = opened(options(&servers, "slow")).await;
        let writing = (0..RUNS).map(|run| {
            let log = log.clone();
            tokio::spawn(async move {
                let (id, frames) = many(u128::from(run) + 1, BEHIND / RUNS);
                for frame in &frames {
                    log.append(std::slice::from_ref(frame), Vec::new()).await.unwrap();
                }
                id
            })
        });
        let mut ids = Vec::new();
        for run in writing.collect::<Vec<_>>() {
            ids.push(run.await.unwrap());
        }
        let end = log.reached().await.unwrap();
        let (mut heard, mut behind) = (0, 0);
        let deadline = Instant::now() + Duration::from_secs(120);
        while behind < end {
            let next = tokio::time::timeout_at(deadline.into(), news.recv()).await;
            let next = next.unwrap_or_else(|_| panic!("{heard} of {BEHIND} were heard: {:?}", slow.figures())).unwrap();
            assert!(next.behind > behind, "news come in the order of the log");
            behind = next.behind;
            heard += u64::from(next.news.is_some());
        }
        assert_eq!(heard, BEHIND);
        let figures = slow.figures();
        assert_eq!((figures.pending, figures.is_connected), (0, true), "{figures:?}");
        for id in ids {
            assert_eq!(read(&*slow, id, 0, 1_000).await.len() as u64, BEHIND / RUNS);
        }
    });
}
