use super::super::Shared;
use super::super::database::{Lock, open_writable};
use super::*;
use crate::clock::Clock;
use crate::log::{Gone, Mark, stream_id};
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
struct Alone {
    writer: Writer,
    dir: PathBuf,
}

impl Alone {
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

    fn kept(&mut self, frames: &[Arc<Frame>]) {
        self.append(&[frames]).into_iter().for_each(|kept| drop(kept.unwrap()));
    }

    fn has(&self, frames: &[Arc<Frame>]) -> bool {
        self.writer.key_of(stream_id(&frames[0])).is_some()
    }
}

impl Alone {
    /// Lets the next `commits` transactions through and makes the following ones fail; `None` lets all through.
    fn only(&mut self, commits: Option<usize>) {
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

impl Drop for Alone {
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
fn a_stream_that_is_gone_on_with_keeps_no_other_from_going_by_its_age() {
    let mut alone = Alone::new("age", |options| options.max_age = Some(Duration::from_secs(1)));
    let (task, run) = (frames(1, StreamKind::Task), frames(1, StreamKind::Session));
    let again: Vec<_> =
        (task.len() as u64..).zip(&task).map(|(seq, frame)| Arc::new(Frame { seq, ..Frame::clone(frame) })).collect();
    alone.kept(&task);
    alone.kept(&run);
    alone.writer.options.clock = Clock::Fixed(2_000);
    alone.kept(&again[..1]);
    alone.writer.tick();
    assert!(alone.has(&task) && alone.has(&run));
    alone.writer.options.clock = Clock::Fixed(2_001);
    alone.writer.tick();
    assert!(alone.has(&task) && !alone.has(&run));
    // A task is as old as its last frame.
    alone.kept(&again[1..]);
    alone.writer.options.clock = Clock::Fixed(3_001);
    alone.writer.tick();
    assert!(alone.has(&task));
    alone.writer.options.clock = Clock::Fixed(3_002);
    alone.writer.tick();
    assert!(!alone.has(&task) && alone.writer.room.idle().count() == 0);
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
        provider,
    });
    let frame =
        |(seq, frame): (u64, &Arc<Frame>)| Arc::new(Frame { seq, stream: stream.clone(), ..Frame::clone(frame) });
    (from..from + 3).zip(&run).map(frame).collect()
}

#[test]
fn threads_go_by_their_number_their_age_and_their_bytes() {
    let mut alone = Alone::new("threads", |options| {
        options.max_age = Some(Duration::from_secs(1));
        options.max_runs = 2;
    });
    let threads: Vec<_> = (1..=4).map(|number| thread(number, 0)).collect();
    let there = |alone: &Alone| threads.iter().map(|thread| alone.has(thread)).collect::<Vec<_>>();
    for frames in &threads {
        alone.kept(frames);
    }
    alone.writer.make_room(std::iter::empty());
    assert_eq!(there(&alone), [false, false, true, true]);
    // A thread that is appended to again is the newest.
    alone.writer.options.clock = Clock::Fixed(2_000);
    alone.kept(&thread(3, 3));
    alone.kept(&threads[0]);
    alone.writer.make_room(std::iter::empty());
    assert_eq!(there(&alone), [true, false, true, false]);
    alone.writer.options.clock = Clock::Fixed(3_000);
    alone.kept(&thread(1, 3));
    alone.writer.options.clock = Clock::Fixed(3_001);
    alone.writer.tick();
    assert_eq!(there(&alone), [true, false, false, false]);
    // Threads are dropped by size; the one that the append continues only as the last.
    let (all, one) = (alone.writer.room.bytes(), thread(2, 0));
    alone.writer.room.bounds.max_bytes = all + all / 4;
    alone.kept(&one);
    assert_eq!(there(&alone), [false, true, false, false]);
    let mut refused = 0;
    for from in (3..60).step_by(3) {
        match alone.append(&[&thread(2, from)]).remove(0) {
            Ok(_) => assert!(alone.writer.room.bytes() <= all + all / 4),
            Err(error) => {
                // The frames are numbered for a thread that was dropped to make room for them. The caller numbers them again.
                assert!(matches!(error, LogError::Sequence { expected: 0, .. }), "{error}");
                refused += 1;
                break;
            }
        }
    }
    assert_eq!((refused, alone.writer.room.len()), (1, 0));
}

#[test]
fn one_append_of_a_group_that_finds_no_room_beside_the_others_finds_it_after_them() {
    let runs: Vec<_> = (1..5).map(|run| frames(run, StreamKind::Session)).collect();
    let mut alone = Alone::new("group", |_| {});
    alone.kept(&runs[0]);
    let one = alone.writer.room.bytes();
    alone.writer.room.bounds.max_bytes = one * 3 / 2;
    alone.writer.options.max_bytes = one * 3 / 2;
    let all: Vec<&[Arc<Frame>]> = runs[1..].iter().map(|run| &run[..]).collect();
    assert!(alone.append(&all).iter().all(Result::is_ok));
    assert!(alone.writer.room.bytes() <= one * 3 / 2);
}

#[test]
fn a_run_that_is_too_old_and_could_not_be_dropped_is_dropped_later() {
    let mut alone = Alone::new("age-fault", |options| options.max_age = Some(Duration::from_secs(1)));
    let (first, second) = (frames(1, StreamKind::Session), frames(2, StreamKind::Session));
    alone.kept(&first);
    alone.kept(&second);
    alone.writer.options.clock = Clock::Fixed(9_000);
    let fault = "CREATE TRIGGER fault BEFORE DELETE ON streams BEGIN SELECT RAISE(ABORT, 'a fault'); END";
    alone.writer.database().execute_batch(fault).unwrap();
    for _ in 0..3 {
        alone.writer.tick();
        assert_eq!((alone.has(&first), alone.has(&second), alone.writer.room.idle().count()), (true, true, 2));
    }
    alone.writer.database().execute_batch("DROP TRIGGER fault").unwrap();
    alone.writer.tick();
    assert_eq!((alone.has(&first), alone.has(&second), alone.writer.room.idle().count()), (false, false, 0));
    assert_eq!(alone.writer.room.bytes(), 0);
}

#[test]
fn one_run_that_cannot_be_dropped_holds_up_no_other() {
    let mut alone = Alone::new("stuck", |options| {
        options.max_age = Some(Duration::from_secs(1));
        options.max_runs = 2;
    });
    let runs: Vec<_> = (1..6).map(|run| frames(run, StreamKind::Session)).collect();
    alone.kept(&runs[0]);
    let fault =
        "CREATE TRIGGER fault BEFORE DELETE ON streams WHEN old.key = 1 BEGIN SELECT RAISE(ABORT, 'a fault'); END";
    alone.writer.database().execute_batch(fault).unwrap();
    let there = |alone: &Alone| runs.iter().map(|run| alone.has(run)).collect::<Vec<_>>();
    // Dropped to make room.
    for run in &runs[1..] {
        alone.kept(run);
    }
    assert_eq!(there(&alone), [true, false, false, true, true]);
    alone.writer.make_room(std::iter::empty());
    assert_eq!((there(&alone), alone.writer.owed), (vec![true, false, false, false, true], None));
    alone.writer.check_writable().unwrap();
    assert_eq!(alone.writer.stuck.len(), 1, "that is told once");
    // Dropped because of their age.
    alone.writer.options.clock = Clock::Fixed(9_000);
    alone.writer.tick();
    assert_eq!(there(&alone), [true, false, false, false, false]);
    // If no other stream is left to drop, the error is reported.
    alone.writer.room.bounds.max_streams = 0;
    alone.writer.make_room(std::iter::empty());
    let error = alone.writer.check_writable().unwrap_err();
    assert!(error.to_string().contains("a fault"), "{error}");
    alone.writer.database().execute_batch("DROP TRIGGER fault").unwrap();
    alone.writer.check_writable().unwrap();
    assert_eq!((alone.writer.room.idle().count(), alone.writer.stuck.len()), (0, 0));
}

#[test]
fn where_very_many_cannot_be_dropped_no_more_are_tried() {
    let mut alone = Alone::new("stuck-many", |_| {});
    let most = MOST_STUCK as u128;
    let runs: Vec<_> = (1..=most + 1).map(|run| frames(run, StreamKind::Session)).collect();
    runs.iter().for_each(|run| alone.kept(run));
    let fault = |keys: u128| {
        format!(
            "DROP TRIGGER IF EXISTS fault; CREATE TRIGGER fault BEFORE DELETE ON streams WHEN old.key <= {keys} BEGIN SELECT RAISE(ABORT, 'a fault'); END"
        )
    };
    alone.writer.room.bounds.max_streams = runs.len() - 1;
    alone.writer.database().execute_batch(&fault(most)).unwrap();
    assert!(alone.writer.check_writable().is_ok());
    alone.writer.make_room(std::iter::empty());
    assert!(alone.has(&runs[MOST_STUCK]) && alone.writer.check_writable().is_err(), "it is not the runs");
    alone.writer.database().execute_batch(&fault(most - 1)).unwrap();
    alone.writer.make_room(std::iter::empty());
    assert!(!alone.has(&runs[MOST_STUCK - 1]) && alone.writer.check_writable().is_ok());
}

#[test]
fn a_run_of_a_time_when_the_clock_was_ahead_keeps_no_other_from_going_by_its_age() {
    let mut alone = Alone::new("ahead", |options| {
        options.max_age = Some(Duration::from_secs(1));
        options.clock = Clock::Fixed(50_000);
    });
    let (ahead, old, new) =
        (frames(1, StreamKind::Session), frames(2, StreamKind::Session), frames(3, StreamKind::Session));
    alone.kept(&ahead);
    alone.writer.options.clock = Clock::Fixed(1_000);
    alone.kept(&old);
    alone.writer.options.clock = Clock::Fixed(2_001);
    alone.kept(&new);
    alone.writer.tick();
    assert_eq!([&ahead, &old, &new].map(|frames| alone.has(frames)), [true, false, true]);
    // It is dropped once the clock has passed its time.
    alone.writer.options.clock = Clock::Fixed(51_000);
    alone.writer.tick();
    assert_eq!([&ahead, &old, &new].map(|frames| alone.has(frames)), [true, false, false]);
    alone.writer.options.clock = Clock::Fixed(51_001);
    alone.writer.tick();
    assert!(!alone.has(&ahead));
}

#[test]
fn what_is_settled_is_told_although_its_room_could_not_be_given_back() {
    let mut alone = Alone::new("give-back", |options| options.max_runs = 1);
    let (first, second, third) =
        (frames(1, StreamKind::Session), frames(2, StreamKind::Session), frames(3, StreamKind::Session));
    alone.kept(&first);
    alone.kept(&second);
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
    artifacts::put(&alone.writer.database, &artifact, &mut alone.writer.artifact_bytes, 1 << 20).unwrap();
    assert_eq!(alone.writer.artifact_bytes, 200_000);

    // Pruning a front.
    let (before, frames) = (alone.writer.room.bytes(), second.len() as u64);
    alone.only(Some(1));
    let key = alone.writer.key_of(id).unwrap();
    let gone = Gone { frames: frames - 1, last_ms: 1, pruned_ms: 2 };
    alone.writer.drop_front(id, key, gone, &[]).unwrap();
    assert!(alone.writer.keeps_freed && alone.free_pages() > 0 && alone.writer.room.bytes() < before);
    let sql = "SELECT pruned_frames FROM streams WHERE key = ?1";
    assert_eq!(alone.writer.database.query_row(sql, [key], |row| row.get::<_, u64>(0)).unwrap(), frames - 1);

    // Removing an artifact.
    alone.only(Some(1));
    alone.writer.let_go(id, &[artifact.id().to_string()]).unwrap();
    assert_eq!((alone.writer.artifact_bytes, alone.writer.keeps_freed), (0, true));

    // Dropping a run.
    alone.only(Some(1));
    alone.writer.make_room(std::iter::empty());
    assert!(!alone.has(&first) && alone.has(&second) && alone.writer.owed.is_none() && alone.writer.keeps_freed);

    // Later all freed pages are returned.
    alone.only(None);
    assert!(alone.free_pages() > 20);
    alone.kept(&third[..1]);
    assert_eq!((alone.free_pages(), alone.writer.keeps_freed), (0, false));
}

#[test]
fn a_stream_that_came_again_loses_nothing_to_whoever_meant_the_one_before() {
    let mut alone = Alone::new("again", |options| options.max_runs = 0);
    let (task, run) = (frames(1, StreamKind::Task), frames(1, StreamKind::Session));
    let id = stream_id(&task[0]);
    alone.kept(&task);
    let before = alone.writer.key_of(id).unwrap();
    alone.kept(&run[..1]);
    assert!(!alone.has(&task));
    alone.kept(&task);
    let now = alone.writer.key_of(id).unwrap();
    assert!(now > before, "{now} {before}");
    let gone = Gone { frames: 1, last_ms: 1, pruned_ms: 2 };
    let mark = Mark { view: "view".into(), frame: 1, event: 1, last: None, state: vec![1] };
    alone.writer.drop_front(id, before, gone, std::slice::from_ref(&mark)).unwrap();
    alone.writer.keep_marks(id, before, std::slice::from_ref(&mark)).unwrap();
    let count =
        |alone: &Alone, sql: &str| -> u64 { alone.writer.database.query_row(sql, [], |row| row.get(0)).unwrap() };
    let (frames, marks) = (
        "SELECT count(*) FROM frames WHERE stream = (SELECT key FROM streams WHERE kind = 'task')",
        "SELECT count(*) FROM marks",
    );
    assert_eq!((count(&alone, frames), count(&alone, marks)), (task.len() as u64, 0));
    alone.writer.drop_front(id, now, gone, &[mark]).unwrap();
    assert_eq!((count(&alone, frames), count(&alone, marks)), (task.len() as u64 - 1, 1));
}

#[test]
fn what_artifacts_take_is_known_as_runs_go() {
    let mut alone = Alone::new("artifact-bytes", |_| {});
    let runs = [1, 2, 3].map(|run| frames(run, StreamKind::Session));
    runs.iter().for_each(|run| alone.kept(run));
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
        artifacts::put(&alone.writer.database, &artifact, &mut alone.writer.artifact_bytes, 1 << 20).unwrap();
    };
    // The first two runs share one artifact, and two artifacts belong to one run each.
    put(&runs[0], 1, 1_000);
    put(&runs[1], 1, 1_000);
    put(&runs[0], 2, 200);
    put(&runs[1], 3, 30);
    for (left, bytes) in [(3, 1_230), (2, 1_030), (1, 0), (0, 0)] {
        alone.writer.room.bounds.max_streams = left;
        alone.writer.make_room(std::iter::empty());
        assert_eq!((alone.writer.room.idle().count(), alone.writer.artifact_bytes), (left, bytes));
        assert_eq!(artifacts::total(&alone.writer.database).unwrap(), bytes, "as they are added up");
    }
}
