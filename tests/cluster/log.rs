//! The log at servers does what the logs in memory and in a file do.

use crate::harness::request;
use crate::kinds::{Kinds, opened, options, read, streams, text};
use crate::scratch::{artifact, frames, run_of};
use crate::servers::Servers;
use framegate::artifacts::{ArtifactStore, Key};
use framegate::log::jetstream::{JetstreamLog, JetstreamOptions, StorageKind};
use framegate::log::{Checkpoint, CheckpointAt, FrameLog, Gone, LogError, Summary, stream_id};
use framegate_translators::encode::EventId;
use framegate_translators::frame::{Frame, StreamKind};
use std::sync::Arc;

/// Recordings with tasks, threads, large records and failures.
const RECORDINGS: &[(&str, &str)] = &[
    ("claude-code", "bash_background.partial.ndjson"),
    ("claude-code", "parallel_tools.partial.ndjson"),
    ("codex", "exec-mixed-session.ndjson"),
];

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn frames_are_read_back_as_they_were_from_every_number_on() {
    let kinds = Kinds::new();
    for (number, (runner, name)) in (1..).zip(RECORDINGS) {
        let frames = frames(runner, name, number);
        for kind in &kinds.all {
            kinds.runtime.block_on(async {
                for part in frames.chunks(7) {
                    kind.log.append(part, Vec::new()).await.unwrap();
                }
                for id in streams(&frames) {
                    let mine: Vec<Arc<Frame>> = frames.iter().filter(|frame| stream_id(frame) == id).cloned().collect();
                    for (from, max) in [(0, 1), (0, 1000), (1, 3), (mine.len() as u64 / 2, 5)] {
                        let found = read(&*kind.log, id, from, max).await;
                        let wanted = mine.get(usize::try_from(from).unwrap()..).unwrap_or_default();
                        assert_eq!(text(&found), text(wanted), "{} in {}", name, kind.name);
                    }
                    assert!(kind.log.read(id, mine.len() as u64, 10).await.unwrap().is_empty());
                }
            });
        }
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn frames_that_do_not_follow_are_refused_and_nothing_of_their_append_is_kept() {
    let kinds = Kinds::new();
    let frames = frames("claude-code", "bash_background.partial.ndjson", 1);
    let run = run_of(&frames);
    let other = *streams(&frames).iter().find(|id| **id != run).unwrap();
    for kind in &kinds.all {
        kinds.runtime.block_on(async {
            kind.log.append(&frames, Vec::new()).await.unwrap();
            let ends: Vec<u64> = [run, other]
                .iter()
                .map(|id| frames.iter().filter(|frame| stream_id(frame) == *id).count() as u64)
                .collect();
            let numbered = |id, seq| {
                let frame = frames.iter().find(|frame| stream_id(frame) == id).unwrap();
                Arc::new(Frame { seq, ..Frame::clone(frame) })
            };
            // The first part would follow, the second one does not.
            for wrong in [0, ends[0] - 1, ends[0] + 1] {
                let append = [numbered(other, ends[1]), numbered(run, wrong)];
                let refused = kind.log.append(&append, Vec::new()).await;
                assert!(
                    matches!(&refused, Err(LogError::Sequence { stream, expected, found })
                        if *stream == run.1 && *expected == ends[0] && *found == wrong),
                    "{}: {refused:?}",
                    kind.name
                );
                assert!(kind.log.read(other, ends[1], 1).await.unwrap().is_empty(), "{}", kind.name);
            }
            kind.log.append(&[numbered(other, ends[1])], Vec::new()).await.unwrap();
            assert_eq!(kind.log.read(other, ends[1], 1).await.unwrap().len(), 1);
        });
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_dropped_stream_is_gone_and_may_begin_again() {
    let kinds = Kinds::new();
    let frames = frames("claude-code", "parallel_tools.partial.ndjson", 1);
    let run = run_of(&frames);
    for kind in &kinds.all {
        kinds.runtime.block_on(async {
            for _ in 0..3 {
                let dropped = kind.log.read(run, 0, 1).await;
                assert!(matches!(dropped, Err(LogError::Dropped { .. })), "{}: {dropped:?}", kind.name);
                kind.log.append(&frames, Vec::new()).await.unwrap();
                assert!(!kind.log.read(run, 0, 1).await.unwrap().is_empty());
                for id in streams(&frames) {
                    kind.log.drop_stream(id).await.unwrap();
                }
            }
            assert_eq!(kind.log.usage().await, Some((0, 0)), "{}", kind.name);
            // What is not there can be dropped.
            kind.log.drop_stream(run).await.unwrap();
        });
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_stream_without_its_front_goes_on() {
    let kinds = Kinds::new();
    let frames = frames("claude-code", "parallel_tools.partial.ndjson", 1);
    let run = run_of(&frames);
    let mine: Vec<Arc<Frame>> = frames.iter().filter(|frame| stream_id(frame) == run).cloned().collect();
    let (early, late) = mine.split_at(mine.len() * 3 / 4);
    let cut = early.len() as u64 / 2 + 1;
    for kind in &kinds.all {
        kinds.runtime.block_on(async {
            for part in early.chunks(5) {
                kind.log.append(part, Vec::new()).await.unwrap();
            }
            let gone = Gone { frames: cut, last_ms: 5, pruned_ms: 6 };
            kind.log.prune(run, gone, Vec::new()).await.unwrap();
            let kept = &mine[usize::try_from(cut).unwrap()..early.len()];
            assert_eq!(text(&read(&*kind.log, run, cut, 1000).await), text(kept), "{}", kind.name);
            // A read of the dropped front begins at the first frame that is kept.
            assert_eq!(text(&read(&*kind.log, run, 0, 1000).await), text(kept), "{}", kind.name);
            kind.log.append(late, Vec::new()).await.unwrap();
            let rest = &mine[usize::try_from(cut).unwrap()..];
            assert_eq!(text(&read(&*kind.log, run, cut, 3).await), text(rest), "{}", kind.name);
            let first = kind.log.first_within(run, 1).await.unwrap();
            assert_eq!(first, mine.len() as u64 - 1, "{}: the last frame always stays", kind.name);
            assert_eq!(kind.log.first_within(run, u64::MAX).await.unwrap(), cut, "{}", kind.name);
        });
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn artifacts_are_there_for_as_long_as_a_stream_refers_to_them() {
    let kinds = Kinds::new();
    let (one, two) = (frames(RECORDINGS[1].0, RECORDINGS[1].1, 1), frames(RECORDINGS[1].0, RECORDINGS[1].1, 2));
    let (first, second) = (run_of(&one), run_of(&two));
    let frame = |frames: &[Arc<Frame>], id| frames.iter().find(|frame| stream_id(frame) == id).unwrap().clone();
    let (one, two) = (frame(&one, first), frame(&two, second));
    for kind in &kinds.all {
        let store: &dyn ArtifactStore = &*kind.store;
        let key = |byte| Key::Digest([byte; 32]);
        kinds.runtime.block_on(async {
            // An empty one, a small one, and one that is more than a message.
            for (byte, size) in [(1, 0), (2, 100), (3, 3 << 20)] {
                let put = artifact(&one, byte, size);
                store.put(put.clone()).await.unwrap();
                for key in [key(byte), Key::Front(key(byte).front())] {
                    let found = store.get(key).await.unwrap().unwrap();
                    assert!(format!("{found:?}") == format!("{put:?}"), "{}: {size} bytes", kind.name);
                    assert_eq!(store.streams(key).await.unwrap(), [first], "{}", kind.name);
                }
                store.put(artifact(&two, byte, size)).await.unwrap();
                let mut streams = store.streams(key(byte)).await.unwrap();
                streams.sort_by_key(|(_, id)| *id);
                assert_eq!(streams, [first, second], "{}", kind.name);
            }
            let mut other = [2; 32];
            other[31] = 0;
            assert!(store.get(Key::Digest(other)).await.unwrap().is_none(), "{}", kind.name);
            store.let_go(first, &[[1; 32], [9; 32]]).await.unwrap();
            assert_eq!(store.streams(key(1)).await.unwrap(), [second], "{}", kind.name);
            store.let_go(second, &[[1; 32]]).await.unwrap();
            assert!(store.get(key(1)).await.unwrap().is_none(), "{}", kind.name);
            assert!(store.streams(key(1)).await.unwrap().is_empty(), "{}", kind.name);
            // What was removed can be stored again.
            store.put(artifact(&one, 1, 10)).await.unwrap();
            assert_eq!(store.get(key(1)).await.unwrap().unwrap().content.len(), 10, "{}", kind.name);
        });
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn checkpoints_are_found_by_number_and_by_cursor() {
    let kinds = Kinds::new();
    let frames = frames("claude-code", "parallel_tools.partial.ndjson", 1);
    let run = run_of(&frames);
    let point = |view: &str, frame: u64, size: usize| Checkpoint {
        view: view.into(),
        frame,
        event: frame * 2,
        last: (frame > 0).then(|| (EventId::Number(frame * 10), frame * 2 - 1)),
        state: vec![u8::try_from(frame).unwrap(); size],
    };
    // The log in memory keeps no checkpoints.
    for kind in &kinds.all[1..] {
        kinds.runtime.block_on(async {
            kind.log.append(&frames, Vec::new()).await.unwrap();
            let points = [point("a", 0, 3), point("a", 4, 2 << 20), point("a", 8, 0), point("b", 5, 1)];
            kind.log.keep_checkpoints(run, points.to_vec()).await.unwrap();
            for (view, at, wanted) in [
                ("a", CheckpointAt::Frame(3), Some(&points[0])),
                ("a", CheckpointAt::Frame(7), Some(&points[1])),
                ("a", CheckpointAt::Event(16), Some(&points[2])),
                ("a", CheckpointAt::Event(15), Some(&points[1])),
                ("a", CheckpointAt::Cursor(EventId::Number(79)), Some(&points[1])),
                ("a", CheckpointAt::Cursor(EventId::Number(80)), Some(&points[2])),
                ("b", CheckpointAt::Frame(4), None),
                ("b", CheckpointAt::Frame(5), Some(&points[3])),
                ("c", CheckpointAt::Frame(9), None),
            ] {
                let found = kind.log.checkpoint(run, view, &at).await.unwrap();
                assert!(found.as_ref() == wanted, "{}: {view} {at:?}", kind.name);
            }
        });
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn of_two_writers_of_one_run_one_succeeds() {
    for start in [Servers::one, Servers::three] {
        let servers = start();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let logs = [opened(options(&servers, "two")).await, opened(options(&servers, "two")).await];
            for run in 1..=20 {
                let frames = frames("codex", "exec-mixed-session.ndjson", run);
                let id = run_of(&frames);
                let mine: Vec<Arc<Frame>> = frames.into_iter().filter(|frame| stream_id(frame) == id).collect();
                for part in mine.chunks(9) {
                    let (one, two) = tokio::join!(logs[0].append(part, Vec::new()), logs[1].append(part, Vec::new()));
                    let refused = match (&one, &two) {
                        (Ok(_), Err(error)) | (Err(error), Ok(_)) => error,
                        both => panic!("{both:?}"),
                    };
                    assert!(matches!(refused, LogError::Sequence { .. }), "{refused:?}");
                }
                for log in &logs {
                    assert_eq!(text(&read(&**log, id, 0, 7).await), text(&mine));
                }
            }
        });
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn what_exceeds_the_limits_is_dropped_by_one_proxy_and_open_runs_stay() {
    let servers = Servers::one();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let limited = || framegate::log::jetstream::JetstreamOptions { max_runs: 3, ..options(&servers, "limited") };
        let logs = [opened(limited()).await, opened(limited()).await];
        let run = |number| {
            let mut frames = frames("codex", "exec-mixed-session.ndjson", number);
            frames.retain(|frame| frame.stream.kind == StreamKind::Session);
            frames
        };
        let open = run(1);
        let id = run_of(&open);
        logs[0].append(&open[..open.len() - 1], Vec::new()).await.unwrap();
        for number in 2..=10 {
            let frames = run(number);
            let summary = Summary { stream: run_of(&frames), status: "{}".to_owned() };
            logs[number as usize % 2].append(&frames, vec![summary]).await.unwrap();
        }
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        loop {
            let left: Vec<u64> = {
                let mut left = Vec::new();
                for log in &logs {
                    left.push(FrameLog::usage(&**log).await.unwrap().1);
                }
                left
            };
            if left == [4, 4] {
                break;
            }
            assert!(std::time::Instant::now() < deadline, "{left:?} streams are left");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        for log in &logs {
            assert_eq!(text(&read(&**log, id, 0, 100).await), text(&open[..open.len() - 1]));
            for number in 2..=7 {
                let dropped = log.read(run_of(&run(number)), 0, 1).await;
                assert!(matches!(dropped, Err(LogError::Dropped { .. })), "{number}: {dropped:?}");
            }
        }
        logs[0].append(&open[open.len() - 1..], Vec::new()).await.unwrap();
    });
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_status_of_any_length_keeps_no_frames_out() {
    let servers = Servers::one();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let log = opened(options(&servers, "status")).await;
        // Quotes take two bytes in JSON, and four in JSON within JSON. The limit of the servers is 64 KiB for all headers.
        for (run, size) in (1..).zip([100, 13_000, 13_900, 14_000, 14_100, 14_300, 16_000, 40_000]) {
            let frames = frames("codex", "exec-mixed-session.ndjson", run);
            let status = serde_json::to_string(&serde_json::json!({"text": "\"".repeat(size)})).unwrap();
            let id = run_of(&frames);
            log.append(&frames, vec![Summary { stream: id, status: status.clone() }]).await.unwrap();
            log.keep_status(vec![Summary { stream: id, status }]).await.unwrap();
            let mine: Vec<Arc<Frame>> = frames.iter().filter(|frame| stream_id(frame) == id).cloned().collect();
            assert_eq!(text(&read(&*log, id, 0, 100).await), text(&mine), "{size}");
        }
    });
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_full_stream_refuses_frames_and_takes_them_again_after_a_drop() {
    let servers = Servers::one();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        // The servers refuse first: the limit of the log itself is far away.
        let small =
            framegate::log::jetstream::JetstreamOptions { max_stream_bytes: 1 << 20, ..options(&servers, "full") };
        let log = opened(small).await;
        let run = |number| frames("codex", "exec-mixed-session.ndjson", number);
        let mut kept = Vec::new();
        let full = loop {
            let frames = run(kept.len() as u128 + 1);
            match log.append(&frames, Vec::new()).await {
                Ok(_) => kept.push(frames),
                Err(error) => break error,
            }
            assert!(kept.len() < 1_000, "the stream is never full");
        };
        assert!(matches!(full, LogError::Full { limit, .. } if limit == 1 << 20), "{full:?}");
        let refused = run(kept.len() as u128 + 1);
        let there = log.read(run_of(&refused), 0, 1).await;
        assert!(matches!(there, Err(LogError::Dropped { .. })), "nothing of a refused append is kept: {there:?}");
        for id in kept[..2].iter().flat_map(|frames| streams(frames)) {
            log.drop_stream(id).await.unwrap();
        }
        log.append(&refused, Vec::new()).await.unwrap();
        for frames in &kept[2..] {
            let id = run_of(frames);
            let mine: Vec<Arc<Frame>> = frames.iter().filter(|frame| stream_id(frame) == id).cloned().collect();
            assert_eq!(text(&read(&*log, id, 0, 100).await), text(&mine));
        }
    });
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn servers_keep_a_log_in_memory_if_it_is_configured_so() {
    let servers = Servers::one();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let frames = frames("claude-code", "parallel_tools.partial.ndjson", 1);
    let mine: Vec<Arc<Frame>> = frames.iter().filter(|frame| stream_id(frame) == run_of(&frames)).cloned().collect();
    // The servers of the tests have 256 MB of memory for streams.
    let small = |prefix, storage| JetstreamOptions {
        storage,
        max_bytes: 32 << 20,
        max_stream_bytes: 64 << 20,
        max_artifact_bytes: 16 << 20,
        ..options(&servers, prefix)
    };
    for (storage, name) in [(StorageKind::Memory, "memory"), (StorageKind::File, "file")] {
        runtime.block_on(async {
            let log = opened(small(name, storage)).await;
            log.append(&frames, Vec::new()).await.unwrap();
            assert_eq!(text(&read(&*log, run_of(&frames), 0, 1000).await), text(&mine), "{name}");
        });
        for stream in ["frames", "artifacts"] {
            let subject = format!("$JS.API.STREAM.INFO.{name}_{stream}");
            let info = request(servers.addresses()[0], &subject, "", "").unwrap();
            assert_eq!(info["config"]["storage"], name, "{info}");
        }
    }
    // A log does not change its kind.
    let refused = runtime.block_on(JetstreamLog::open(small("memory", StorageKind::File)));
    let refused = refused.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("storage"), "{refused:?}");
}
