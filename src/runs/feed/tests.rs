//! Notices of dropped runs, for readers of the feed and of one run.

use super::index::{DROPPED, PASSED, REMEMBERED};
use super::*;
use crate::config::GateMode;
use crate::gate::Gate;
use crate::log::{MemoryLog, stream_id};
use crate::runs::{Batch, Follower};
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::runner;
use framegate_translators::schema::Schemas;
use framegate_translators::sequence::Identity;
use serde_json::Value;

/// A log that keeps only one ended run.
fn runs() -> Arc<Runs> {
    Arc::new(Runs::new(Arc::new(MemoryLog::new(1 << 30, 1)), Gate::new(GateMode::Warn).unwrap()))
}

/// The frames of the run with that number.
fn run(number: u128) -> Vec<Arc<Frame>> {
    let input = include_bytes!("../../../tests/fixtures/claude-code/bash_ok.partial.ndjson");
    let identity = Identity { run_id: Uuid::from_u128(number), session_id: Some(Uuid::from_u128(number << 32)) };
    let mut ingest = Ingest::new(runner("claude-code").unwrap(), None, Limits::default(), identity);
    let mut frames: Vec<Arc<Frame>> = ingest.feed(input, 0).map(Arc::new).collect();
    frames.extend(ingest.finish(0).map(Arc::new));
    frames
}

fn follower(runs: &Arc<Runs>, contract: &'static Contract, scope: Scope, at: Position) -> FeedFollower {
    FeedFollower::new(runs.clone(), scope, contract, EncoderOptions::default(), at)
}

/// All available events: each with its type and JSON, and the last cursor.
async fn all(follower: &mut FeedFollower) -> (Vec<Value>, Option<String>) {
    let (mut events, mut cursor) = (Vec::new(), None);
    loop {
        let more = follower.ready(7).await.unwrap();
        if more.is_empty() {
            return (events, cursor);
        }
        for event in more {
            events.push(serde_json::from_slice(&event.line).unwrap());
            cursor = Some(event.cursor);
        }
    }
}

fn is_notice(event: &Value) -> bool {
    event.to_string().contains("this run is no longer kept")
}

#[tokio::test]
async fn a_reader_gets_a_notice_in_its_contract_if_a_run_is_dropped_before_it_was_read() {
    for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        let schemas = Schemas::compile(contract.schemas).unwrap();
        let runs = runs();
        let (first, second) = (run(1), run(2));
        let mut reader_behind = follower(&runs, contract, Scope::default(), Position::default());
        let elsewhere = Scope { session: Some(Uuid::from_u128(7)), ..Scope::default() };
        let mut elsewhere = follower(&runs, contract, elsewhere, Position::default());
        let (half, rest) = first.split_at(first.len() / 2);
        runs.append(half).await.unwrap();
        let (seen, cursor) = all(&mut reader_behind).await;
        assert!(!seen.is_empty() && !seen.iter().any(is_notice), "{}", contract.name);
        runs.append(rest).await.unwrap();
        runs.append(&second).await.unwrap();
        assert!(runs.find(stream_id(&first[0])).is_none(), "the first run is dropped");

        let (more, last) = all(&mut reader_behind).await;
        let notices: Vec<&Value> = more.iter().filter(|event| is_notice(event)).collect();
        assert_eq!(notices.len(), 1, "{}: {more:?}", contract.name);
        assert!(is_notice(&more[0]), "{}: the notice must be first", contract.name);
        let kind = framegate_translators::event_kind::kind_of(contract.type_key, notices[0]).unwrap();
        assert_eq!(schemas.check_value(kind, notices[0]), Ok(()), "{}", notices[0]);
        assert_eq!(kind, contract.notice_type);
        // A notice that says what is missing is exact. Whether it says so is up to its schema.
        if let Some(from) = notices[0].get("first_seq") {
            let (missed, frames) = (half.len() as u64, first.len() as u64);
            assert_eq!((from, &notices[0]["last_seq"]), (&missed.into(), &(frames - 1).into()));
            assert_eq!(notices[0]["seq"], frames);
        }
        if let Some(last) = notices[0].pointer("/data/last_pruned_sequence") {
            assert_eq!(notices[0]["sequence"], seen.len());
            assert_eq!(*last, seen.len() - 1);
        }

        // The same from the cursor that the reader had; nothing of the run from the cursor after it.
        let at = runs.feed_position(&cursor.unwrap()).unwrap();
        let (again, _) = all(&mut follower(&runs, contract, Scope::default(), at)).await;
        assert_eq!(again.iter().filter(|event| is_notice(event)).count(), 1, "{}", contract.name);
        let at = runs.feed_position(&last.unwrap()).unwrap();
        assert_eq!(all(&mut follower(&runs, contract, Scope::default(), at)).await.0, Vec::<Value>::new());
        // A reader that starts now has missed nothing. A reader that may not see the run, or asked for another session, is not
        // told.
        let (fresh, _) = all(&mut follower(&runs, contract, Scope::default(), Position::default())).await;
        assert!(!fresh.is_empty() && !fresh.iter().any(is_notice), "{}", contract.name);
        assert_eq!(all(&mut elsewhere).await.0, Vec::<Value>::new());
    }
}

#[tokio::test]
async fn a_reader_that_had_the_whole_run_gets_no_notice() {
    let hecate = framegate_translators::contracts::contract("hecate.v1").unwrap();
    let runs = runs();
    runs.append(&run(1)).await.unwrap();
    let mut reader = follower(&runs, hecate, Scope::default(), Position::default());
    let (_, cursor) = all(&mut reader).await;
    runs.append(&run(2)).await.unwrap();
    let at = runs.feed_position(&cursor.unwrap()).unwrap();
    for mut reader in [reader, follower(&runs, hecate, Scope::default(), at)] {
        let (more, _) = all(&mut reader).await;
        assert!(!more.is_empty() && !more.iter().any(is_notice), "{more:?}");
    }
}

#[tokio::test]
async fn a_follower_of_a_dropped_run_gets_the_notice_last() {
    for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        for wire in [Wire::Sse, Wire::Ndjson] {
            let runs = runs();
            let first = run(1);
            let (half, rest) = first.split_at(first.len() / 2);
            runs.append(half).await.unwrap();
            let entry = runs.find(stream_id(&first[0])).unwrap();
            let reader = runs.reader(&entry, contract, &EncoderOptions::default()).unwrap();
            let mut reader_behind = Follower::new(runs.clone(), reader, wire, 0);
            let text = |batch: Option<Batch>| {
                batch.map(|batch| String::from_utf8(batch.chunks.concat()).unwrap()).unwrap_or_default()
            };
            let front = text(reader_behind.next().await.unwrap());
            assert!(!front.is_empty() && !front.contains("no longer kept"));
            runs.append(rest).await.unwrap();
            runs.append(&run(2)).await.unwrap();
            let last = text(reader_behind.next().await.unwrap());
            assert_eq!(last.starts_with('{'), wire == Wire::Ndjson, "{last}");
            let json = last
                .lines()
                .find_map(|line| line.strip_prefix("data: ").or(Some(line).filter(|_| wire == Wire::Ndjson)));
            let event: Value = serde_json::from_str(json.unwrap()).unwrap();
            assert!(is_notice(&event) && last.matches("no longer kept").count() == 1, "{last}");
            assert!(reader_behind.next().await.unwrap().is_none(), "{}: the notice must be last", contract.name);
        }
    }
}

/// The same frames as frames of another stream, numbered from `seq` on.
fn frames_of(run: &[Arc<Frame>], id: u128, places: &[usize], seq: u64) -> Vec<Arc<Frame>> {
    let Stream { kind, session, provider, .. } = &*run[0].stream;
    let id = Uuid::from_u128(id);
    let stream = Arc::new(Stream { kind: *kind, id, session: session.clone(), origin_run: None, provider: *provider });
    let frames = places.iter().zip(seq..);
    frames.map(|(&at, seq)| Arc::new(Frame { stream: stream.clone(), seq, ..Frame::clone(&run[at]) })).collect()
}

#[tokio::test]
async fn the_memory_of_dropped_runs_is_bounded() {
    let runs = runs();
    let first = run(1);
    for number in 0..REMEMBERED as u128 + 200 {
        // The first and the last frame alone are a complete run.
        runs.append(&frames_of(&first, number + 10, &[0, first.len() - 1], 0)).await.unwrap();
    }
    let steps = runs.feed.steps();
    assert!(steps.gone.len() <= REMEMBERED + DROPPED, "{}", steps.gone.len());
    assert!(steps.gone.len() >= REMEMBERED, "{}", steps.gone.len());
    assert!(steps.list.len() <= REMEMBERED + 2 * DROPPED && steps.order.len() <= REMEMBERED + DROPPED);
    assert_eq!(steps.last.len(), 1, "one run is kept");
}

#[tokio::test]
async fn steps_of_dropped_runs_are_removed_even_between_remaining_ones() {
    const ROUNDS: u64 = 3 * REMEMBERED as u64;
    let runs = runs();
    let first = run(1);
    // A run that never ends, with other runs between its frames that are dropped.
    let open = frames_of(&first, 1, &[0], 0);
    let id = stream_id(&open[0]);
    runs.append(&open).await.unwrap();
    for round in 0..ROUNDS {
        runs.append(&frames_of(&first, u128::from(round) + 10, &[0, first.len() - 1], 0)).await.unwrap();
        runs.append(&frames_of(&first, 1, &[1], round + 1)).await.unwrap();
    }
    let of_open = |steps: &FeedIndex| steps.list.iter().filter(|step| step.stream == id).count() as u64;
    {
        let steps = runs.feed.steps();
        let starts: Vec<u64> = steps.list.iter().map(|step| step.start).collect();
        assert!(starts.is_sorted(), "in order");
        assert_eq!(of_open(&steps), ROUNDS + 1, "each of its frames must have a step");
        let others = steps.list.len() as u64 - of_open(&steps);
        assert!(others < ROUNDS && steps.list.len() <= 2 * steps.cleaned + REMEMBERED + PASSED, "{others}");
        let is_reported = steps.gone.values().all(|gone| steps.list.iter().any(|step| gone.is_announced_by(step)));
        assert!(is_reported, "each remembered run must have the step that reports it");
    }
    // Its front is pruned, and its obsolete steps are removed.
    for gone in ROUNDS - 2 * DROPPED as u64..ROUNDS {
        runs.feed.forget_pruned(id, gone);
    }
    let steps = runs.feed.steps();
    assert!(of_open(&steps) <= 2 * DROPPED as u64, "{}", of_open(&steps));
    assert!(steps.list.len() <= REMEMBERED + 4 * DROPPED, "{}", steps.list.len());
}
