//! Readers that come to another proxy, all at once.

use crate::leases::{Cluster, cluster};
use crate::proxy::Proxy;
use crate::{number, seconds, simulate};
use framegate::log::StreamId;
use framegate::runs::{Follower, Runs, Wire};
use framegate_translators::contracts::contract;
use framegate_translators::encode::{EncoderOptions, EventId};
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How many events the readers have before they move.
const FIRST: usize = 200;

/// How many messages a run has.
const MESSAGES: usize = 300;

/// The events of a run that a reader has got, and where it resumes.
#[derive(Clone)]
struct Got {
    text: Vec<u8>,
    last: Option<EventId>,
}

/// What a request for the events of a run does: waits for what other proxies have written, finds the place, and reads what is there.
async fn read(runs: &Arc<Runs>, run: StreamId, before: Got, max_events: Option<usize>) -> Got {
    runs.catch_up().await;
    let entry = runs.find(run).expect("the proxy knows the run");
    let mut reader = runs.reader(&entry, contract("sse.v1").unwrap(), &EncoderOptions::default()).unwrap();
    let from = match &before.last {
        Some(cursor) => reader.after(runs, cursor).await.unwrap().expect("the proxy knows the cursor"),
        None => 0,
    };
    let mut follower = Follower::new(runs.clone(), reader, Wire::Ndjson, from).within(max_events);
    let mut got = before;
    while let Some(batch) = follower.next_at_hand().await.unwrap() {
        got.text.extend(batch.chunks.iter().flatten());
        got.last = batch.last_id.or(got.last);
        if max_events.is_some() {
            break;
        }
    }
    got
}

#[test]
fn readers_of_a_lost_proxy_go_on_at_the_others_for_few_requests() {
    let (proxies, runs) = (number("SIMULATION_PROXIES", 10), number("SIMULATION_RUNS", 100));
    let readers = number("SIMULATION_READERS", 5000);
    simulate(async {
        let Cluster { servers, proxies: mut all, runs: ids, .. } = cluster(proxies, runs, MESSAGES).await;
        let lost = all.remove(0);
        let nothing = Got { text: Vec::new(), last: None };
        // What each of its readers has read there: the first events of a run.
        let mut half = Vec::new();
        for run in &ids {
            half.push(read(&lost.runs, *run, nothing.clone(), Some(FIRST)).await);
        }
        let mut whole = Vec::new();
        for run in &ids {
            whole.push(read(&lost.runs, *run, nothing.clone(), None).await.text);
        }
        assert!(
            whole.iter().zip(&half).all(|(whole, half)| whole.starts_with(&half.text) && whole.len() > half.text.len())
        );
        servers.asked();
        let begun = Instant::now();
        lost.kill().await;
        let mut reading = JoinSet::new();
        for reader in 0..readers {
            let nth = (reader % runs) as usize;
            let proxy: &Proxy = &all[(reader / 7) as usize % all.len()];
            let (runs, run, before) = (proxy.runs.clone(), ids[nth], half[nth].clone());
            reading.spawn(async move { (nth, read(&runs, run, before, None).await) });
        }
        while let Some(done) = reading.join_next().await {
            let (nth, got) = done.unwrap();
            assert!(got.text == whole[nth], "a reader that moves has each event once");
        }
        let (took, asked) = (begun.elapsed(), servers.asked());
        println!("{readers} readers of {runs} runs move to {} proxies: {:.2} s, {asked:?}", all.len(), seconds(took));
        // However many readers there are: a proxy asks once for all that come while it asks.
        assert!(asked.reached <= 4 * all.len() as u64, "{asked:?}");
        assert!(
            asked.reads <= 4 * u64::from(runs) * all.len() as u64,
            "each proxy reads each run, not for each reader: {asked:?}"
        );
    });
}
