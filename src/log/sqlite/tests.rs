//! Reads that wait for a connection while streams are dropped and begin again.

use super::*;
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::runner;
use framegate_translators::sequence::Identity;
use std::pin::Pin;
use std::task::{Context, Waker};
use uuid::Uuid;

fn run(number: u128) -> Vec<Arc<Frame>> {
    let identity = Identity { run_id: Uuid::from_u128(number), session_id: Some(Uuid::from_u128(number << 32)) };
    let mut ingest = Ingest::new(runner("claude-code").unwrap(), None, Limits::default(), identity);
    let bytes = include_bytes!("../../../tests/fixtures/claude-code/text_plain.partial.ndjson");
    let mut frames: Vec<_> = ingest.feed(bytes, 1).map(Arc::new).collect();
    frames.extend(ingest.finish(1).map(Arc::new));
    frames.retain(|frame| frame.stream.id == Uuid::from_u128(number));
    frames
}

/// Polls a future once; it must not be ready.
fn begin<T>(future: &mut Pin<Box<impl Future<Output = T> + ?Sized>>) {
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_read_never_gets_frames_of_another_stream() {
    let dir = std::env::temp_dir().join(format!("framegate-waited-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let (readers, max_runs) = (NonZeroUsize::MIN, 0);
    let log = SqliteLog::open(Options { readers, max_runs, ..Options::new(dir.join("log.db")) }).unwrap();
    let (first, second) = (run(1), run(2));
    let id = stream_id(&first[0]);
    log.append(&first, Vec::new()).await.unwrap();
    let checkpoint_of = |view: &str| Checkpoint { view: view.into(), frame: 1, event: 1, last: None, state: vec![1] };
    log.keep_checkpoints(id, vec![checkpoint_of("view")]).await.unwrap();

    // All connections of the pool are in use.
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    let mut busy = Box::pin(log.readers.clone().with(move |_, _| {
        let _ = wait.recv();
        Ok(())
    }));
    begin(&mut busy);
    let mut read = Box::pin(log.read(id, 0, 5));
    let mut beyond = Box::pin(log.first_within(id, 0));
    let at = CheckpointAt::Frame(9);
    let mut checkpoint = Box::pin(log.checkpoint(id, "view", &at));
    begin(&mut read);
    begin(&mut beyond);
    begin(&mut checkpoint);
    // One stream is dropped to make room for the other.
    log.append(&second, Vec::new()).await.unwrap();
    assert_eq!(log.take_dropped().await, [id]);
    log.keep_checkpoints(stream_id(&second[0]), vec![checkpoint_of("view")]).await.unwrap();
    drop(go_on);
    busy.await.unwrap();
    assert!(matches!(read.await, Err(LogError::Dropped { .. })));
    assert_eq!((beyond.await.unwrap(), checkpoint.await.unwrap()), (0, None));
    assert_eq!(log.read(stream_id(&second[0]), 0, 5).await.unwrap().len(), 5);
    drop(log);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_read_of_a_recreated_stream_gets_the_new_one() {
    let dir = std::env::temp_dir().join(format!("framegate-reborn-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let (readers, max_runs) = (NonZeroUsize::MIN, 0);
    let log = SqliteLog::open(Options { readers, max_runs, ..Options::new(dir.join("log.db")) }).unwrap();
    let (first, second) = (run(1), run(2));
    log.append(&first, Vec::new()).await.unwrap();
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    let mut busy = Box::pin(log.readers.clone().with(move |_, _| {
        let _ = wait.recv();
        Ok(())
    }));
    begin(&mut busy);
    let mut read = Box::pin(log.read(stream_id(&first[0]), 0, 9));
    begin(&mut read);
    log.append(&second, Vec::new()).await.unwrap();
    log.append(&first[..3], Vec::new()).await.unwrap();
    drop(go_on);
    busy.await.unwrap();
    assert_eq!(read.await.unwrap().len(), 3);
    drop(log);
    std::fs::remove_dir_all(&dir).unwrap();
}
