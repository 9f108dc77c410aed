//! Streams that continue after their end, in a full log: they are evicted as a whole, and only after they have ended.

use crate::proxy::recording;
use crate::scratch::{Scratch, frames, run_of, wait};
use async_trait::async_trait;
use framegate::config::GateMode;
use framegate::gate::Gate;
use framegate::log::sqlite::Options;
use framegate::log::{
    Checkpoint, FrameLog, Gone, LogError, MemoryLog, Order, Place, SqliteLog, StreamId, Summary, stream_id,
};
use framegate::runs::Runs;
use framegate_translators::frame::{Frame, Stream, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::{Ingest, is_last};
use framegate_translators::runners::runner;
use framegate_translators::sequence::Identity;
use std::sync::{Arc, Mutex};
use uuid::Uuid;

/// Both kinds of log, each with these limits.
fn logs(name: &str, max_bytes: u64, max_runs: usize) -> (Scratch, [Arc<dyn FrameLog>; 2]) {
    let scratch = Scratch::new(name);
    let options = Options { max_bytes, max_runs, recent_bytes: 1 << 20, ..Options::new(scratch.path()) };
    let sqlite = Arc::new(SqliteLog::open(options).unwrap());
    (scratch, [sqlite, Arc::new(MemoryLog::new(max_bytes, max_runs))])
}

fn runs(log: Arc<dyn FrameLog>) -> Runs {
    Runs::new(log, Gate::new(GateMode::Warn).unwrap())
}

/// A run that begins a task; the task ends after the run. All these runs refer to the same task and to the same session's
/// thread.
fn with_task(run: u128) -> Vec<Arc<Frame>> {
    let identity = Identity { run_id: Uuid::from_u128(run), session_id: None };
    let mut ingest = Ingest::new(runner("claude-code").unwrap(), None, Limits::default(), identity);
    let bytes = recording("claude-code", "bash_background.partial.ndjson");
    let mut frames: Vec<Frame> = ingest.feed(&bytes, 1_770_000_000_000).collect();
    frames.extend(ingest.finish(1_770_000_000_000));
    frames.into_iter().map(Arc::new).collect()
}

/// The frames of that task alone, numbered from `from`.
fn task(from: u64) -> Vec<Arc<Frame>> {
    let mine = with_task(1).into_iter().filter(|frame| frame.stream.kind == StreamKind::Task);
    let mine: Vec<_> = (from..).zip(mine).map(|(seq, frame)| Arc::new(Frame { seq, ..Frame::clone(&frame) })).collect();
    assert!(mine.len() > 1 && is_last(&mine[mine.len() - 1]));
    mine
}

/// A run in one append.
fn whole(run: u128) -> Vec<Arc<Frame>> {
    let mut frames = frames("claude-code", "text_plain.partial.ndjson", run);
    frames.retain(|frame| frame.stream.kind == StreamKind::Session);
    frames
}

/// The numbers of all frames of a stream that are in the log.
async fn numbers(log: &dyn FrameLog, stream: StreamId) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::new();
    loop {
        let more = log.read(stream, found.last().map_or(0, |last| last + 1), 50).await.unwrap();
        if more.is_empty() {
            return found;
        }
        found.extend(more.iter().map(|frame| frame.seq));
    }
}

/// The frames of another task, with that number as its id.
fn other_task(number: u128) -> Vec<Arc<Frame>> {
    let frames = task(0);
    let Stream { kind, session, origin_run, provider, .. } = &*frames[0].stream;
    let (id, session) = (Uuid::from_u128(number), session.clone());
    let stream = Arc::new(Stream { kind: *kind, id, session, origin_run: *origin_run, provider: *provider });
    frames.iter().map(|frame| Arc::new(Frame { stream: stream.clone(), ..Frame::clone(frame) })).collect()
}

#[test]
fn a_task_that_is_reopened_repeatedly_stays_complete_in_a_full_log() {
    let (_scratch, [_, unbounded]) = logs("again-measured", 1 << 30, 1000);
    wait(unbounded.append(&with_task(1), Vec::new())).unwrap();
    let (one, _) = wait(unbounded.usage()).unwrap();
    let (_scratch, logs) = logs("again-full", one * 5 / 2, 1000);
    for log in logs {
        let runs = runs(log.clone());
        wait(async {
            for run in 1..=30 {
                for part in with_task(run).chunks(7) {
                    runs.append(part).await.unwrap();
                }
                let mut tasks = 0;
                for entry in runs.entries() {
                    let there: Vec<u64> = (0..entry.status().frames).collect();
                    assert_eq!(numbers(&*log, entry.id()).await, there, "{:?} after {run}", entry.id());
                    tasks += usize::from(entry.id().0 == StreamKind::Task);
                }
                assert_eq!(tasks, 1);
            }
            let (bytes, _) = log.usage().await.unwrap();
            assert!(bytes <= one * 5 / 2, "{bytes} of {one} * 2.5");
        });
    }
}

#[test]
fn a_task_is_evicted_by_its_last_end_and_counts_once() {
    let (_scratch, logs) = logs("order", 1 << 30, 2);
    for log in logs {
        let tasks = task(0).len() as u64;
        let id = stream_id(&task(0)[0]);
        wait(async {
            for nth in 0..5 {
                log.append(&task(nth * tasks), Vec::new()).await.unwrap();
            }
            for run in 1..=4 {
                log.append(&whole(run), Vec::new()).await.unwrap();
            }
            // There are two other runs, however often the task has ended.
            log.append(&task(5 * tasks), Vec::new()).await.unwrap();
            let dropped = log.take_dropped().await;
            assert!(!dropped.contains(&id) && dropped.contains(&run_of(&whole(1))), "{dropped:?}");
            assert_eq!(numbers(&*log, id).await.len() as u64, 6 * tasks);
        });
    }
}

#[test]
fn a_task_that_fills_the_log_is_evicted_for_its_own_continuation() {
    let tasks = task(0).len() as u64;
    let (_scratch, unbounded) = logs("own-measured", 1 << 30, 1000);
    for (nth, unbounded) in unbounded.into_iter().enumerate() {
        wait(unbounded.append(&task(0), Vec::new())).unwrap();
        let (bytes, _) = wait(unbounded.usage()).unwrap();
        let (_scratch, logs) = logs("own", bytes, 1000);
        let log = logs[nth].clone();
        let runs = runs(log.clone());
        wait(async {
            for _ in 0..3 {
                runs.append(&task(0)).await.unwrap();
                assert_eq!(numbers(&*log, stream_id(&task(0)[0])).await, (0..tasks).collect::<Vec<_>>());
                assert!(log.usage().await.unwrap().0 <= bytes);
            }
            // An append that would not fit even after eviction is refused, and nothing is evicted for it.
            let more: Vec<_> = (0..tasks * 2).zip(task(0).into_iter().chain(task(0))).collect();
            let more: Vec<_> =
                more.into_iter().map(|(seq, frame)| Arc::new(Frame { seq, ..Frame::clone(&frame) })).collect();
            let refused = runs.append(&more).await.unwrap_err();
            assert!(matches!(refused, LogError::Full { .. }), "{refused}");
            assert_eq!(log.usage().await.unwrap().0, bytes);
        });
    }
}

/// A log in which other appends happen immediately before the next append, and immediately after it, before its caller gets the
/// result.
struct InterleavedLog {
    log: Arc<dyn FrameLog>,
    others: Mutex<Vec<Vec<Arc<Frame>>>>,
    after: Mutex<Vec<Vec<Arc<Frame>>>>,
}

#[async_trait]
impl FrameLog for InterleavedLog {
    async fn append(&self, frames: &[Arc<Frame>], summaries: Vec<Summary>) -> Result<Place, LogError> {
        let others = std::mem::take(&mut *self.others.lock().unwrap());
        for other in others {
            self.log.append(&other, Vec::new()).await?;
        }
        let place = self.log.append(frames, summaries).await?;
        let after = std::mem::take(&mut *self.after.lock().unwrap());
        for other in &after {
            self.log.append(other, Vec::new()).await?;
        }
        if !after.is_empty() {
            // The other appenders take the notice of what was dropped.
            self.log.take_dropped().await;
        }
        Ok(place)
    }

    fn order(&self) -> Order {
        self.log.order()
    }

    async fn drop_stream(&self, stream: StreamId) -> Result<(), LogError> {
        self.log.drop_stream(stream).await
    }

    async fn read(&self, stream: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        self.log.read(stream, from, max).await
    }

    async fn prune(&self, stream: StreamId, gone: Gone, checkpoints: Vec<Checkpoint>) -> Result<(), LogError> {
        self.log.prune(stream, gone, checkpoints).await
    }

    async fn first_within(&self, stream: StreamId, max_bytes: u64) -> Result<u64, LogError> {
        self.log.first_within(stream, max_bytes).await
    }

    async fn take_dropped(&self) -> Vec<StreamId> {
        self.log.take_dropped().await
    }
}

#[test]
fn a_task_that_is_evicted_while_it_continues_starts_over() {
    let (_scratch, logs) = logs("interleaved", 1 << 30, 1);
    let id = stream_id(&task(0)[0]);
    for log in logs {
        let interleaved =
            Arc::new(InterleavedLog { log: log.clone(), others: Mutex::default(), after: Mutex::default() });
        let runs = runs(interleaved.clone());
        wait(async {
            runs.append(&task(0)).await.unwrap();
            *interleaved.others.lock().unwrap() = vec![other_task(1), other_task(2)];
            let kept = runs.append(&task(0)[..1]).await.unwrap().into_owned();
            assert_eq!(kept.iter().map(|frame| frame.seq).collect::<Vec<_>>(), [0]);
            assert_eq!(numbers(&*log, id).await, [0]);
            assert_eq!(runs.find(id).unwrap().status().frames, 1);
            runs.append(&task(0)[1..]).await.unwrap();
            assert_eq!(numbers(&*log, id).await.len(), task(0).len());
            // Frames that do not follow are an error at once.
            let after = whole(3).split_off(1);
            let wrong = runs.append(&after).await;
            assert!(matches!(wrong, Err(LogError::Sequence { expected: 0, found: 1, .. })), "{wrong:?}");
        });
    }
}

#[test]
fn a_stream_that_is_evicted_before_it_is_registered_is_not_listed() {
    let (_scratch, logs) = logs("after", 1 << 30, 1);
    let id = stream_id(&task(0)[0]);
    for log in logs {
        let interleaved =
            Arc::new(InterleavedLog { log: log.clone(), others: Mutex::default(), after: Mutex::default() });
        let runs = runs(interleaved.clone());
        wait(async {
            let after = |first: u128, other: fn(u128) -> Vec<Arc<Frame>>| (first..first + 3).map(other).collect();
            for (new, others) in [(task(0), after(10, other_task)), (whole(1), after(20, whole))] {
                *interleaved.after.lock().unwrap() = others;
                runs.append(&new).await.unwrap();
                assert!(runs.find(stream_id(&new[0])).is_none() && runs.entries().is_empty());
            }
            assert!(runs.list(&|_| true, 0, 10).is_empty());
            // Continuing the task starts a new stream.
            runs.append(&task(0)).await.unwrap();
            assert_eq!(numbers(&*log, id).await.len(), task(0).len());
            assert_eq!(runs.entries().len(), 1);
        });
    }
}
