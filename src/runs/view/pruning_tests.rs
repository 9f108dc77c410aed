//! Readers whose stream is pruned while they read.

use super::tests::{frames_of, long};
use super::*;
use crate::config::GateMode;
use crate::gate::Gate;
use crate::log::MemoryLog;
use framegate_translators::contracts::contract;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::{Frame, StreamKind};
use uuid::Uuid;

const ASK: Ask<'static> =
    Ask { from: 0, frames: u64::MAX, wire: Wire::Ndjson, max_bytes: usize::MAX, max_events: 1_000_000, types: None };

async fn kept(frames: &[Arc<Frame>]) -> (Runs, Arc<Entry>) {
    let runs = Runs::new(Arc::new(MemoryLog::new(1 << 30, 100)), Gate::new(GateMode::Off).unwrap());
    runs.append(frames).await.unwrap();
    let entry = runs.find((StreamKind::Session, Uuid::from_u128(1))).unwrap();
    (runs, entry)
}

#[tokio::test]
async fn a_window_that_pruning_has_overtaken_only_serves_events_that_it_has() {
    let frames = frames_of(&long(200));
    let (runs, entry) = kept(&frames).await;
    let contract = contract("hecate.v1").unwrap();
    let mut reader = runs.reader(&entry, contract, &EncoderOptions::default()).unwrap();
    let next = reader.read(&runs, Ask { max_bytes: 1, ..ASK }).await.unwrap().next;
    let (end, frame) = {
        let shared = reader.view.shared.lock().await;
        let shared = shared.as_ref().unwrap();
        (shared.next(), shared.next_frame())
    };
    assert!(0 < next && next <= end && frame < frames.len() as u64);
    runs.prune(&entry, frame + 1, 1).await.unwrap();
    {
        let shared = reader.view.shared.lock().await;
        let choose = |from: u64, kept_from: u64| Serves::choose(shared.as_ref(), from, kept_from);
        assert!(matches!(choose(end - 1, frame + 1), Serves::Shared));
        assert!(matches!(choose(end, frame), Serves::Shared));
        assert!(matches!(choose(end, frame + 1), Serves::Next));
        assert!(matches!(choose(end + 1, 0), Serves::Next));
        assert!(matches!(Serves::choose(None, 0, 0), Serves::Next));
    }
    // The first call already succeeds: it does not have to find out that the window cannot be advanced.
    let wants = Read { from: end + 5, frames: u64::MAX, max_bytes: 1, max_events: 1 };
    assert!(reader.over(&runs, wants, frame + 1, |_| ()).await.unwrap().is_some());
}

#[tokio::test]
async fn a_reader_gets_through_a_stream_that_is_pruned_all_the_time() {
    let frames = frames_of(&long(400));
    for name in ["hecate.v1", "frames.v2"] {
        let (runs, entry) = kept(&frames).await;
        let contract = contract(name).unwrap();
        let reader = || runs.reader(&entry, contract, &EncoderOptions::default()).unwrap();
        let all = reader().read(&runs, ASK).await.unwrap();
        let lines = all.chunks.concat();
        let lines: Vec<&[u8]> = lines.split_inclusive(|byte| *byte == b'\n').collect();
        let pruning = async {
            for cut in 1..frames.len() as u64 {
                runs.prune(&entry, cut, 1).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let reading = async {
            let (mut reader, mut from, mut gaps) = (reader(), 0, 0);
            while from < all.next {
                let batch = reader.read(&runs, Ask { from, max_bytes: 1, max_events: 1, ..ASK }).await.unwrap();
                assert_eq!(batch.events, 1, "{name} {from}");
                if batch.next == from + 1 && batch.chunks.concat() == lines[usize::try_from(from).unwrap()] {
                    from += 1;
                } else {
                    // The gap event stands for everything up to the first kept event.
                    assert!(batch.next > from, "{name} {from}");
                    (from, gaps) = (batch.next, gaps + 1);
                }
                tokio::task::yield_now().await;
            }
            gaps
        };
        let ((), gaps) = tokio::join!(pruning, reading);
        assert!(gaps < frames.len(), "{name}");
    }
}

#[test]
fn a_read_starts_over_only_if_the_front_has_moved() {
    let gone = |frames| LogError::Gone { stream: Uuid::nil(), frames };
    assert!(has_moved(&gone(6), 5));
    assert!(!has_moved(&gone(5), 5) && !has_moved(&gone(0), 0));
    assert!(!has_moved(&LogError::Dropped { stream: Uuid::nil() }, 0));
}
