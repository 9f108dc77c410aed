//! Clients that read a live run or the feed at another proxy than the one that takes it in, and that move between proxies.

use crate::client::Event;
use crate::proxies::{Live, three};
use crate::proxy::Proxy;
use crate::reading::{Wanderer, count, events_path, opened, same_in_every_form, take, wait_until_alike};
use crate::servers::Servers;
use framegate_translators::contracts::{CONTRACTS, names_with_schemas};

const RECORDING: &str = "parallel_tools.partial.ndjson";

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_live_run_is_read_at_the_other_proxies_as_it_goes() {
    let servers = Servers::three();
    let proxies = three(&servers);
    let mut live = Live::streaming(&proxies[0], RECORDING);
    let path = events_path(&live.run, "frames.v2");
    let mut readers = [1, 2].map(|nth: usize| opened(&proxies[nth], &path, &[]));
    let mut read = 0;
    while live.left() > 0 {
        // Nothing more is sent until both readers have what the client of the ingest has.
        for event in &live.events[read..] {
            for reader in &mut readers {
                assert_eq!(reader.event().unwrap().data, *event);
            }
        }
        read = live.events.len();
        live.send(1);
    }
    live.finish();
    for mut reader in readers {
        let rest = std::iter::from_fn(|| reader.event()).map(|event| event.data);
        assert_eq!(rest.collect::<Vec<_>>(), live.events[read..]);
    }
    wait_until_alike(&proxies);
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_reader_of_a_live_run_that_moves_sees_each_event_once() {
    let servers = Servers::three();
    let proxies = three(&servers);
    for (at, contract) in (0..).zip(CONTRACTS.iter().map(|contract| contract.name)) {
        let owner = &proxies[at % 3];
        let mut live = Live::streaming(owner, RECORDING);
        let path = events_path(&live.run, contract);
        let mut reader = Wanderer::new(&proxies, at + 1, path.clone(), None);
        while live.left() > 1 {
            reader.read_to(count(owner, &path));
            live.send(1);
        }
        reader.read_to(count(owner, &path));
        let moves = reader.moves;
        live.finish();
        while reader.next() {}
        assert!(moves > 0, "{contract}: the reader must move while the run is open");
        for proxy in &proxies {
            let all: Vec<Event> = opened(proxy, &path, &[]).events();
            assert_eq!(reader.seen, all, "{contract}");
        }
        wait_until_alike(&proxies);
        same_in_every_form(&proxies, &live.run, contract);
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_reader_of_the_feed_that_moves_sees_each_event_once() {
    let servers = Servers::three();
    let proxies = three(&servers);
    for contract in names_with_schemas() {
        let path = format!("/v1/events?contract={contract}");
        let last = last_cursor(&proxies[0], &path);
        let after = last.as_ref().map_or_else(|| path.clone(), |last| format!("{path}&after={last}"));
        let mut reader = Wanderer::new(&proxies, 1, path, last);
        let names = [RECORDING, "text_plain.partial.ndjson", "bash_ok.partial.ndjson"];
        let mut lives: Vec<Live> =
            proxies.iter().zip(names).map(|(proxy, name)| Live::streaming(proxy, name)).collect();
        while lives.iter().any(|live| live.left() > 0) {
            for live in lives.iter_mut().filter(|live| live.left() > 0) {
                live.send(1);
            }
            reader.read_to(count(&proxies[0], &after));
        }
        let moves = reader.moves;
        lives.iter_mut().for_each(Live::finish);
        assert!(moves > 0, "{contract}: the reader must move while the runs are open");
        wait_until_alike(&proxies);
        let total = count(&proxies[0], &after);
        reader.read_to(total);
        for proxy in &proxies {
            assert_eq!(count(proxy, &after), total, "{contract}");
            assert_eq!(reader.seen, take(proxy, &after, &[], total), "{contract}");
        }
    }
}

/// The cursor of the last event in the feed.
fn last_cursor(proxy: &Proxy, path: &str) -> Option<String> {
    let all = take(proxy, path, &[], count(proxy, path));
    all.into_iter().next_back().and_then(|event| event.id)
}
