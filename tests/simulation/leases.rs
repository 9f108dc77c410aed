//! Proxies that are lost.

use crate::proxy::Proxy;
use crate::servers::{Asked, Costs, Servers};
use crate::{number, seconds, simulate};
use framegate::log::StreamId;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

const LEASE: Duration = Duration::from_secs(15);

/// How long the leases have to be readable before a proxy may count as lost.
const STEADY: Duration = Duration::from_secs(20);

pub struct Cluster {
    pub servers: Arc<Servers>,
    pub proxies: Vec<Proxy>,
    pub runs: Vec<StreamId>,
}

/// Proxies that have been running for a while, each with its share of open runs, which have so many messages more than the recording.
pub async fn cluster(proxies: u32, runs: u32, messages: usize) -> Cluster {
    let servers = Servers::new(Costs::MEASURED);
    let mut all = Vec::new();
    for number in 0..proxies {
        all.push(Proxy::start(&servers, number, LEASE).await);
        // Machines do not start at the same moment.
        tokio::time::sleep(Duration::from_millis(37)).await;
    }
    let (mut open, mut ids) = (Vec::new(), Vec::new());
    for session in 0..runs {
        let proxy = &all[(session % proxies) as usize];
        let (ingest, id) = proxy.open_run(u128::from(session) + 1, messages).await;
        open.push(ingest);
        ids.push(id);
    }
    // The ingests of a proxy that is killed are not ended by it.
    open.into_iter().for_each(std::mem::forget);
    tokio::time::sleep(STEADY).await;
    Cluster { servers, proxies: all, runs: ids }
}

/// Waits until no run is open; returns how long that took.
async fn all_over(servers: &Servers, open: usize, limit: Duration) -> Duration {
    let begun = Instant::now();
    while servers.open_and_ended_twice().0 > open {
        assert!(begun.elapsed() < limit, "{} runs are still open", servers.open_and_ended_twice().0 - open);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    begun.elapsed()
}

#[test]
fn leases_cost_three_requests_each_and_none_are_lost_while_all_live() {
    for proxies in [3, 30, 100] {
        simulate(async {
            let Cluster { servers, proxies: all, .. } = cluster(proxies, 0, 0).await;
            servers.asked();
            tokio::time::sleep(LEASE * 8).await;
            let asked = servers.asked();
            // A round takes a little longer than the pause between two.
            let (each, rounds) = (u64::from(proxies) * 3, 8 * 4);
            assert!((each * (rounds - 1)..=each * (rounds + 1)).contains(&asked.leases), "{asked:?}");
            assert_eq!(Asked { leases: 0, ..asked }, Asked::default(), "nothing else is asked for");
            assert!(all.iter().all(|proxy| proxy.log.alive() == proxies as usize));
            println!("{proxies} proxies: {:.1} requests/s for leases", asked.leases as f64 / seconds(LEASE * 8));
        });
    }
}

#[test]
fn the_runs_of_a_lost_proxy_are_divided_among_the_others_and_each_is_read_once() {
    let (proxies, runs) = (number("SIMULATION_PROXIES", 20), number("SIMULATION_RUNS", 1000));
    simulate(async {
        let Cluster { servers, proxies: mut all, .. } = cluster(proxies, runs, 0).await;
        let left = servers.open_and_ended_twice().0;
        assert_eq!(left, runs as usize);
        let lost = all.remove(0);
        let lost_runs = runs.div_ceil(proxies) as usize;
        servers.asked();
        lost.kill().await;
        // Its lease is valid for as long as it would be if it lived.
        tokio::time::sleep(LEASE * 3 / 4 - Duration::from_millis(100)).await;
        assert_eq!(servers.open_and_ended_twice(), (left, 0), "no run is ended before the lease has lapsed");
        let took = all_over(&servers, left - lost_runs, LEASE * 3).await + LEASE * 3 / 4;
        tokio::time::sleep(LEASE * 4).await;
        assert_eq!(
            servers.open_and_ended_twice(),
            (left - lost_runs, 0),
            "each run of the lost proxy has one end, all others go on"
        );
        let asked = servers.asked();
        assert!(took <= LEASE * 3 / 2, "{took:?}");
        assert_eq!(asked.refused, 0, "no two proxies try to end the same run: {asked:?}");
        let lost_runs = lost_runs as u64;
        // One append for the run and its thread.
        assert!((lost_runs..=2 * lost_runs).contains(&asked.appends), "{asked:?}");
        assert!(asked.reads <= 4 * lost_runs, "each run and its thread are read once, up to their end: {asked:?}");
        let workers = servers.writers().len();
        assert!(workers >= all.len().min(lost_runs as usize / 3), "{workers} of {} proxies helped", all.len());
        println!("{proxies} proxies, {runs} runs, one proxy lost: over after {:.1} s, {asked:?}", seconds(took));
    });
}

#[test]
fn if_the_proxy_that_should_end_a_run_is_lost_too_the_next_one_does() {
    simulate(async {
        let Cluster { servers, proxies: mut all, .. } = cluster(6, 120, 0).await;
        for lost in all.drain(..3) {
            lost.kill().await;
        }
        // The others divide the runs of the first three; then two of them are lost before any lease has lapsed.
        tokio::time::sleep(LEASE / 2).await;
        for lost in all.drain(..2) {
            lost.kill().await;
        }
        let took = all_over(&servers, 20, LEASE * 6).await;
        tokio::time::sleep(LEASE * 4).await;
        assert_eq!(servers.open_and_ended_twice(), (20, 0), "the last proxy's own runs go on");
        assert!(took <= LEASE * 5, "{took:?}");
    });
}
