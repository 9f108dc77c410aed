//! Events that an encoder holds back, in a live view and in a replay.

use super::*;
use crate::config::GateMode;
use crate::gate::Gate;
use crate::log::MemoryLog;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::sequence::Identity;
use uuid::Uuid;

const ASK: Ask<'static> =
    Ask { from: 0, frames: u64::MAX, wire: Wire::Ndjson, max_bytes: usize::MAX, max_events: 1_000_000, types: None };

/// The records of a Codex command that writes two pieces at once; the second one is held for more.
const TWO_PIECES: &str = concat!(
    r#"{"method":"thread/started","params":{"thread":{"id":"t"}}}"#,
    "\n",
    r#"{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","status":"inProgress","items":[]}}}"#,
    "\n",
    r#"{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"commandExecution","id":"c","command":"make","cwd":"/","status":"inProgress","commandActions":[]}}}"#,
    "\n",
    r#"{"method":"item/commandExecution/outputDelta","params":{"threadId":"t","turnId":"u","itemId":"c","delta":"one "}}"#,
    "\n",
    r#"{"method":"item/commandExecution/outputDelta","params":{"threadId":"t","turnId":"u","itemId":"c","delta":"two "}}"#,
    "\n",
);

#[tokio::test]
async fn a_pause_emits_held_events_and_a_replay_gives_them_the_same_place() {
    let contract = framegate_translators::contracts::contract("hecate.v1").unwrap();
    let runs = Runs::new(Arc::new(MemoryLog::new(1 << 30, 100)), Gate::new(GateMode::Enforce).unwrap());
    let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
    let mut ingest =
        Ingest::new(framegate_translators::runners::runner("codex").unwrap(), None, Limits::default(), identity);
    let frames: Vec<Arc<Frame>> = ingest.feed(TWO_PIECES.as_bytes(), 1_000).map(Arc::new).collect();
    runs.append(&frames).await.unwrap();
    let entry = runs.find((StreamKind::Session, Uuid::from_u128(1))).unwrap();
    let mut live = runs.reader(&entry, contract, &EncoderOptions::default()).unwrap();
    let ask = |from: u64| Ask { from, frames: entry.tail().borrow().frames, ..ASK };
    let before = live.read(&runs, ask(0)).await.unwrap();
    let text = |batch: &Batch| String::from_utf8(batch.chunks.concat()).unwrap();
    assert!(text(&before).contains("one ") && !text(&before).contains("two "));

    for pause in ingest.take_pauses(ingest.deadline().unwrap()) {
        runs.pause(pause.stream, pause.until_ms);
    }
    let paused = live.read(&runs, ask(before.next)).await.unwrap();
    assert_eq!(paused.events, 1);
    assert!(text(&paused).contains("two "));
    assert_eq!(live.read(&runs, ask(paused.next)).await.unwrap().events, 0, "the pause is over");
    // The feed orders events by frames, so it waits for the frame.
    let read = |frames: u64| Read { from: before.next, frames, max_bytes: usize::MAX, max_events: 100 };
    let kept = entry.tail().borrow().frames;
    assert_eq!(live.events(&runs, read(kept)).await.unwrap().0.len(), 0);

    let rest: Vec<Arc<Frame>> = ingest.finish(1_001).map(Arc::new).collect();
    runs.append(&rest).await.unwrap();
    let places = |singles: Vec<Single>| -> Vec<_> {
        singles.into_iter().map(|single| (single.frame, single.nth, single.line)).collect()
    };
    let of_live = places(live.events(&runs, read(u64::MAX)).await.unwrap().0);
    assert!(of_live.len() > 1 && of_live[0].0 == kept);
    // Without the shared window, the events are encoded again.
    drop(live);
    let mut replay = runs.reader(&entry, contract, &EncoderOptions::default()).unwrap();
    assert_eq!(places(replay.events(&runs, read(u64::MAX)).await.unwrap().0), of_live);
}
