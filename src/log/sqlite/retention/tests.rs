use super::super::Shared;
use super::super::database::{Lock, open_writable};
use super::*;
use crate::clock::Clock;
use crate::log::{Checkpoint, Gone, stream_id};
use framegate_translators::artifacts::{Artifact, ArtifactKind};
use framegate_translators::frame::{Frame, Stream, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::runner;
use framegate_translators::sequence::Identity;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::oneshot;
use uuid::Uuid;

/// A writer without its thread, in its own directory.
struct TestWriter {
    writer: Writer,
    dir: PathBuf,
}

impl TestWriter {
    fn new(name: &str, set: impl FnOnce(&mut Options)) -> Self {
        let dir = std::env::temp_dir().join(format!("framegate-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        let mut options = Options { clock: Clock::Fixed(1_000), ..Options::new(dir.join("log.db")) };
        set(&mut options);
        let lock = Lock::take(&options.path).unwrap();
        let database = open_writable(&options.path, &lock, options.fsync, false, None).unwrap();
        Self { writer: Writer::new(database, lock, options, Arc::new(Shared::default())).unwrap(), dir }
    }

    /// Appends all of these at once.
    fn append(&mut self, appends: &[&[Arc<Frame>]]) -> Vec<Result<Vec<i64>, LogError>> {
        let (group, answers): (Vec<_>, Vec<_>) = appends
            .iter()
            .map(|frames| {
                let (done, answer) = oneshot::channel();
                ((Append::new(frames, Vec::new(), &self.writer.shared.texts), done), answer)
            })
            .unzip();
        self.writer.commit(group);
        answers.into_iter().map(|mut answer| Ok(answer.try_recv().unwrap()?.claim().0)).collect()
    }

    fn append_one(&mut self, frames: &[Arc<Frame>]) {
        self.append(&[frames]).into_iter().for_each(|appended| drop(appended.unwrap()));
    }

    fn has(&self, frames: &[Arc<Frame>]) -> bool {
        self.writer.key_of(stream_id(&frames[0])).is_some()
    }
}

impl TestWriter {
    /// Lets the next `commits` transactions through and makes the following ones fail; `None` lets all through.
    fn fail_after(&mut self, commits: Option<usize>) {
        let hook = commits.map(|mut left| {
            move || {
                let fails = left == 0;
                left = left.saturating_sub(1);
                fails
            }
        });
        self.writer.database.commit_hook(hook).unwrap();
    }

    fn free_pages(&self) -> u64 {
        self.writer.database.query_row("PRAGMA freelist_count", [], |row| row.get(0)).unwrap()
    }
}

impl Drop for TestWriter {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// The frames that a recording with a task makes for one kind of stream.
fn frames(run: u128, kind: StreamKind) -> Vec<Arc<Frame>> {
    let identity = Identity { run_id: Uuid::from_u128(run), session_id: None };
    let mut ingest = Ingest::new(runner("claude-code").unwrap(), None, Limits::default(), identity);
    let bytes = include_bytes!("../../../../tests/fixtures/claude-code/bash_background.partial.ndjson");
    let mut frames: Vec<_> = ingest.feed(bytes, 1).collect();
    frames.extend(ingest.finish(1));
    frames
        .retain(|frame| frame.stream.kind == kind && (kind != StreamKind::Session || frame.stream.id.as_u128() == run));
    frames.into_iter().map(Arc::new).collect()
}

#[test]
fn a_continued_stream_does_not_prevent_others_from_being_dropped_by_age() {
    let mut test = TestWriter::new("age", |options| options.max_age = Some(Duration::from_secs(1)));
    let (task, run) = (frames(1, StreamKind::Task), frames(1, StreamKind::Session));
    let again: Vec<_> =
        (task.len() as u64..).zip(&task).map(|(seq, frame)| Arc::new(Frame { seq, ..Frame::clone(frame) })).collect();
    test.append_one(&task);
    test.append_one(&run);
    test.writer.options.clock = Clock::Fixed(2_000);
    test.append_one(&again[..1]);
    test.writer.tick();
    assert!(test.has(&task) && test.has(&run));
    test.writer.options.clock = Clock::Fixed(2_001);
    test.writer.tick();
    assert!(test.has(&task) && !test.has(&run));
    // A task is as old as its last frame.
    test.append_one(&again[1..]);
    test.writer.options.clock = Clock::Fixed(3_001);
    test.writer.tick();
    assert!(test.has(&task));
    test.writer.options.clock = Clock::Fixed(3_002);
    test.writer.tick();
    assert!(!test.has(&task) && test.writer.room.idle().count() == 0);
}

/// A thread with that number; its frames have the bodies of a run's frames.
fn thread(number: u128, from: u64) -> Vec<Arc<Frame>> {
    let run = frames(1, StreamKind::Session);
    let Stream { session, origin_run, provider, .. } = &*run[0].stream;
    let stream = Arc::new(Stream {
        kind: StreamKind::Thread,
        id: Uuid::from_u128(number),
        session: session.clone(),
        origin_run: *origin_run,
        provider: *provider,
    });
    let frame =
        |(seq, frame): (u64, &Arc<Frame>)| Arc::new(Frame { seq, stream: stream.clone(), ..Frame::clone(frame) });
    (from..from + 3).zip(&run).map(frame).collect()
}

#[test]
fn threads_are_dropped_by_count_age_and_size() {
    let mut test = TestWriter::new("threads", |options| {
        options.max_age = Some(Duration::from_secs(1));
        options.max_runs = 2;
    });
    let threads: Vec<_> = (1..=4).map(|number| thread(number, 0)).collect();
    let there = |test: &TestWriter| threads.iter().map(|thread| test.has(thread)).collect::<Vec<_>>();
    for frames in &threads {
        test.append_one(frames);
    }
    test.writer.make_room(std::iter::empty());
    assert_eq!(there(&test), [false, false, true, true]);
    // A thread that is appended to again is the newest.
    test.writer.options.clock = Clock::Fixed(2_000);
    test.append_one(&thread(3, 3));
    test.append_one(&threads[0]);
    test.writer.make_room(std::iter::empty());
    assert_eq!(there(&test), [true, false, true, false]);
    test.writer.options.clock = Clock::Fixed(3_000);
    test.append_one(&thread(1, 3));
    test.writer.options.clock = Clock::Fixed(3_001);
    test.writer.tick();
    assert_eq!(there(&test), [true, false, false, false]);
    // Threads are dropped by size; the one that the append continues only as the last.
    let (all, one) = (test.writer.room.bytes(), thread(2, 0));
    test.writer.room.bounds.max_bytes = all + all / 4;
    test.append_one(&one);
    assert_eq!(there(&test), [false, true, false, false]);
    let mut refused = 0;
    for from in (3..60).step_by(3) {
        match test.append(&[&thread(2, from)]).remove(0) {
            Ok(_) => assert!(test.writer.room.bytes() <= all + all / 4),
            Err(error) => {
                // The frames are numbered for a thread that was dropped to make room for them. The caller numbers them again.
                assert!(matches!(error, LogError::Sequence { expected: 0, .. }), "{error}");
                refused += 1;
                break;
            }
        }
    }
    assert_eq!((refused, test.writer.room.len()), (1, 0));
}

#[test]
fn an_append_without_room_in_its_group_is_retried_after_it() {
    let runs: Vec<_> = (1..5).map(|run| frames(run, StreamKind::Session)).collect();
    let mut test = TestWriter::new("group", |_| {});
    test.append_one(&runs[0]);
    let one = test.writer.room.bytes();
    test.writer.room.bounds.max_bytes = one * 3 / 2;
    test.writer.options.max_bytes = one * 3 / 2;
    let all: Vec<&[Arc<Frame>]> = runs[1..].iter().map(|run| &run[..]).collect();
    assert!(test.append(&all).iter().all(Result::is_ok));
    assert!(test.writer.room.bytes() <= one * 3 / 2);
}

#[test]
fn an_aged_run_that_could_not_be_dropped_is_dropped_later() {
    let mut test = TestWriter::new("age-fault", |options| options.max_age = Some(Duration::from_secs(1)));
    let (first, second) = (frames(1, StreamKind::Session), frames(2, StreamKind::Session));
    test.append_one(&first);
    test.append_one(&second);
    test.writer.options.clock = Clock::Fixed(9_000);
    let fault = "CREATE TRIGGER fault BEFORE DELETE ON streams BEGIN SELECT RAISE(ABORT, 'a fault'); END";
    test.writer.database().execute_batch(fault).unwrap();
    for _ in 0..3 {
        test.writer.tick();
        assert_eq!((test.has(&first), test.has(&second), test.writer.room.idle().count()), (true, true, 2));
    }
    test.writer.database().execute_batch("DROP TRIGGER fault").unwrap();
    test.writer.tick();
    assert_eq!((test.has(&first), test.has(&second), test.writer.room.idle().count()), (false, false, 0));
    assert_eq!(test.writer.room.bytes(), 0);
}

#[test]
fn a_run_that_cannot_be_dropped_does_not_block_others() {
    let mut test = TestWriter::new("stuck", |options| {
        options.max_age = Some(Duration::from_secs(1));
        options.max_runs = 2;
    });
    let runs: Vec<_> = (1..6).map(|run| frames(run, StreamKind::Session)).collect();
    test.append_one(&runs[0]);
    let fault =
        "CREATE TRIGGER fault BEFORE DELETE ON streams WHEN old.key = 1 BEGIN SELECT RAISE(ABORT, 'a fault'); END";
    test.writer.database().execute_batch(fault).unwrap();
    let there = |test: &TestWriter| runs.iter().map(|run| test.has(run)).collect::<Vec<_>>();
    // Dropped to make room.
    for run in &runs[1..] {
        test.append_one(run);
    }
    assert_eq!(there(&test), [true, false, false, true, true]);
    test.writer.make_room(std::iter::empty());
    assert_eq!((there(&test), test.writer.owed), (vec![true, false, false, false, true], None));
    test.writer.check_writable().unwrap();
    assert_eq!(test.writer.stuck.len(), 1, "the error must be reported once");
    // Dropped because of their age.
    test.writer.options.clock = Clock::Fixed(9_000);
    test.writer.tick();
    assert_eq!(there(&test), [true, false, false, false, false]);
    // If no other stream is left to drop, the error is reported.
    test.writer.room.bounds.max_streams = 0;
    test.writer.make_room(std::iter::empty());
    let error = test.writer.check_writable().unwrap_err();
    assert!(error.to_string().contains("a fault"), "{error}");
    test.writer.database().execute_batch("DROP TRIGGER fault").unwrap();
    test.writer.check_writable().unwrap();
    assert_eq!((test.writer.room.idle().count(), test.writer.stuck.len()), (0, 0));
}

#[test]
fn attempts_to_drop_stuck_runs_are_bounded() {
    let mut test = TestWriter::new("stuck-many", |_| {});
    let most = MOST_STUCK as u128;
    let runs: Vec<_> = (1..=most + 1).map(|run| frames(run, StreamKind::Session)).collect();
    runs.iter().for_each(|run| test.append_one(run));
    let fault = |keys: u128| {
        format!(
            "DROP TRIGGER IF EXISTS fault; CREATE TRIGGER fault BEFORE DELETE ON streams WHEN old.key <= {keys} BEGIN SELECT RAISE(ABORT, 'a fault'); END"
        )
    };
    test.writer.room.bounds.max_streams = runs.len() - 1;
    test.writer.database().execute_batch(&fault(most)).unwrap();
    assert!(test.writer.check_writable().is_ok());
    test.writer.make_room(std::iter::empty());
    assert!(test.has(&runs[MOST_STUCK]) && test.writer.check_writable().is_err(), "the error must be reported");
    test.writer.database().execute_batch(&fault(most - 1)).unwrap();
    test.writer.make_room(std::iter::empty());
    assert!(!test.has(&runs[MOST_STUCK - 1]) && test.writer.check_writable().is_ok());
}

#[test]
fn a_run_with_a_future_time_does_not_prevent_others_from_being_dropped_by_age() {
    let mut test = TestWriter::new("ahead", |options| {
        options.max_age = Some(Duration::from_secs(1));
        options.clock = Clock::Fixed(50_000);
    });
    let (ahead, old, new) =
        (frames(1, StreamKind::Session), frames(2, StreamKind::Session), frames(3, StreamKind::Session));
    test.append_one(&ahead);
    test.writer.options.clock = Clock::Fixed(1_000);
    test.append_one(&old);
    test.writer.options.clock = Clock::Fixed(2_001);
    test.append_one(&new);
    test.writer.tick();
    assert_eq!([&ahead, &old, &new].map(|frames| test.has(frames)), [true, false, true]);
    // It is dropped once the clock has passed its time.
    test.writer.options.clock = Clock::Fixed(51_000);
    test.writer.tick();
    assert_eq!([&ahead, &old, &new].map(|frames| test.has(frames)), [true, false, false]);
    test.writer.options.clock = Clock::Fixed(51_001);
    test.writer.tick();
    assert!(!test.has(&ahead));
}

#[test]
fn drops_succeed_although_free_pages_could_not_be_returned() {
    let mut test = TestWriter::new("give-back", |options| options.max_runs = 1);
    let (first, second, third) =
        (frames(1, StreamKind::Session), frames(2, StreamKind::Session), frames(3, StreamKind::Session));
    test.append_one(&first);
    test.append_one(&second);
    let id = stream_id(&second[0]);
    let content = vec![7; 200_000].into_boxed_slice();
    let artifact = Artifact {
        stream: second[0].stream.clone(),
        digest: [3; 32],
        kind: ArtifactKind::Image,
        mime: "image/png".into(),
        bytes_total: content.len() as u64,
        content,
        created_at_ms: 5,
        call_id: None,
        patched: None,
    };
    artifacts::put(&test.writer.database, &artifact, &mut test.writer.artifact_bytes, 1 << 20).unwrap();
    assert_eq!(test.writer.artifact_bytes, 200_000);

    // Pruning a front.
    let (before, frames) = (test.writer.room.bytes(), second.len() as u64);
    test.fail_after(Some(1));
    let key = test.writer.key_of(id).unwrap();
    let gone = Gone { frames: frames - 1, last_ms: 1, pruned_ms: 2 };
    test.writer.prune(id, key, gone, &[]).unwrap();
    assert!(test.writer.keeps_freed && test.free_pages() > 0 && test.writer.room.bytes() < before);
    let sql = "SELECT pruned_frames FROM streams WHERE key = ?1";
    assert_eq!(test.writer.database.query_row(sql, [key], |row| row.get::<_, u64>(0)).unwrap(), frames - 1);

    // Removing an artifact.
    test.fail_after(Some(1));
    test.writer.let_go(id, &[artifact.id().to_string()]).unwrap();
    assert_eq!((test.writer.artifact_bytes, test.writer.keeps_freed), (0, true));

    // Dropping a run.
    test.fail_after(Some(1));
    test.writer.make_room(std::iter::empty());
    assert!(!test.has(&first) && test.has(&second) && test.writer.owed.is_none() && test.writer.keeps_freed);

    // Later all freed pages are returned.
    test.fail_after(None);
    assert!(test.free_pages() > 20);
    test.append_one(&third[..1]);
    assert_eq!((test.free_pages(), test.writer.keeps_freed), (0, false));
}

#[test]
fn operations_on_a_dropped_stream_do_not_affect_its_successor() {
    let mut test = TestWriter::new("again", |options| options.max_runs = 0);
    let (task, run) = (frames(1, StreamKind::Task), frames(1, StreamKind::Session));
    let id = stream_id(&task[0]);
    test.append_one(&task);
    let before = test.writer.key_of(id).unwrap();
    test.append_one(&run[..1]);
    assert!(!test.has(&task));
    test.append_one(&task);
    let now = test.writer.key_of(id).unwrap();
    assert!(now > before, "{now} {before}");
    let gone = Gone { frames: 1, last_ms: 1, pruned_ms: 2 };
    let checkpoint = Checkpoint { view: "view".into(), frame: 1, event: 1, last: None, state: vec![1] };
    test.writer.prune(id, before, gone, std::slice::from_ref(&checkpoint)).unwrap();
    test.writer.keep_checkpoints(id, before, std::slice::from_ref(&checkpoint)).unwrap();
    let count =
        |test: &TestWriter, sql: &str| -> u64 { test.writer.database.query_row(sql, [], |row| row.get(0)).unwrap() };
    let (frames, checkpoints) = (
        "SELECT count(*) FROM frames WHERE stream = (SELECT key FROM streams WHERE kind = 'task')",
        "SELECT count(*) FROM marks",
    );
    assert_eq!((count(&test, frames), count(&test, checkpoints)), (task.len() as u64, 0));
    test.writer.prune(id, now, gone, &[checkpoint]).unwrap();
    assert_eq!((count(&test, frames), count(&test, checkpoints)), (task.len() as u64 - 1, 1));
}

#[test]
fn the_size_of_artifacts_is_tracked_as_runs_are_dropped() {
    let mut test = TestWriter::new("artifact-bytes", |_| {});
    let runs = [1, 2, 3].map(|run| frames(run, StreamKind::Session));
    runs.iter().for_each(|run| test.append_one(run));
    let mut put = |run: &[Arc<Frame>], digest: u8, bytes: usize| {
        let artifact = Artifact {
            stream: run[0].stream.clone(),
            digest: [digest; 32],
            kind: ArtifactKind::Image,
            mime: "image/png".into(),
            bytes_total: bytes as u64,
            content: vec![digest; bytes].into_boxed_slice(),
            created_at_ms: 5,
            call_id: None,
            patched: None,
        };
        artifacts::put(&test.writer.database, &artifact, &mut test.writer.artifact_bytes, 1 << 20).unwrap();
    };
    // The first two runs share one artifact, and two artifacts belong to one run each.
    put(&runs[0], 1, 1_000);
    put(&runs[1], 1, 1_000);
    put(&runs[0], 2, 200);
    put(&runs[1], 3, 30);
    for (left, bytes) in [(3, 1_230), (2, 1_030), (1, 0), (0, 0)] {
        test.writer.room.bounds.max_streams = left;
        test.writer.make_room(std::iter::empty());
        assert_eq!((test.writer.room.idle().count(), test.writer.artifact_bytes), (left, bytes));
        assert_eq!(
            artifacts::total(&test.writer.database).unwrap(),
            bytes,
            "the count must equal the sum in the database"
        );
    }
}
