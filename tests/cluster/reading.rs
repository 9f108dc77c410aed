//! What proxies serve, and whether it is the same at each of them.
//!
//! Input: proxies. Output: their runs and events, compared byte for byte. Never: a difference that is passed over, except in the counts
//! that each process keeps of its own readers.

use crate::client::{Answer, Event, get};
use crate::proxy::Proxy;
use framegate_translators::contracts::CONTRACTS;
use serde_json::Value;
use std::thread;
use std::time::{Duration, Instant};

/// The maximum time that a test waits for an expected state.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The counts of a status that each process begins at zero.
const COUNTS: [&str; 3] = ["validation_failures", "events_checked", "events_withheld"];

/// The media types of streams and pages.
pub const SSE: &str = "text/event-stream";
pub const NDJSON: &str = "application/x-ndjson";
pub const JSON: &str = "application/json";

/// Waits until `found` finds something.
#[track_caller]
pub fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// All runs as a proxy lists them, without the counts of its readers.
pub fn runs(proxy: &Proxy) -> Vec<Value> {
    let runs = get(proxy.address, "/v1/runs?limit=100000", &[]).json();
    runs["data"].as_array().unwrap().iter().cloned().map(without_counts).collect()
}

/// A run's status, without the counts of readers.
pub fn status(proxy: &Proxy, run: &str) -> Value {
    let answer = get(proxy.address, &format!("/v1/runs/{run}"), &[]);
    assert_eq!(answer.status, 200, "{run}");
    without_counts(answer.json())
}

fn without_counts(mut status: Value) -> Value {
    for count in COUNTS {
        status.as_object_mut().unwrap().remove(count);
    }
    status
}

/// The ids of runs, in the order of a list.
pub fn ids(runs: &[Value]) -> Vec<String> {
    runs.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect()
}

/// Waits until all runs are over and every proxy lists the same ones with the same statuses; returns them.
#[track_caller]
pub fn wait_until_alike(proxies: &[Proxy]) -> Vec<Value> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let lists: Vec<Vec<Value>> = proxies.iter().map(runs).collect();
        let are_over = lists[0].iter().all(|run| run["ended_at_ms"].is_u64());
        if are_over && lists.iter().all(|list| *list == lists[0]) {
            return lists.into_iter().next().unwrap();
        }
        assert!(Instant::now() < deadline, "the proxies do not agree: {}", first_difference(&lists));
        thread::sleep(Duration::from_millis(50));
    }
}

fn first_difference(lists: &[Vec<Value>]) -> String {
    let longest = lists.iter().map(Vec::len).max().unwrap_or_default();
    let rows = (0..longest).map(|at| lists.iter().map(|list| list.get(at)).collect::<Vec<_>>());
    let is_other = |row: &Vec<Option<&Value>>| row.iter().any(|run| *run != row[0]);
    let is_open = |row: &Vec<Option<&Value>>| row[0].is_some_and(|run| !run["ended_at_ms"].is_u64());
    let lengths: Vec<usize> = lists.iter().map(Vec::len).collect();
    format!("{lengths:?} runs; first: {:#?}", rows.into_iter().find(|row| is_other(row) || is_open(row)))
}

/// The events of an ended run at every proxy, which must be the same bytes; returns them.
#[track_caller]
pub fn same(proxies: &[Proxy], path: &str, accept: &str) -> Vec<u8> {
    let read = |proxy: &Proxy| {
        let answer = get(proxy.address, path, &[("accept", accept)]);
        (answer.status, answer.header("content-type").to_owned(), answer.bytes())
    };
    let mut all: Vec<(u16, String, Vec<u8>)> = thread::scope(|scope| {
        let reads: Vec<_> = proxies.iter().map(|proxy| scope.spawn(move || read(proxy))).collect();
        reads.into_iter().map(|read| read.join().unwrap()).collect()
    });
    let first = all.remove(0);
    assert_eq!(first.0, 200, "{path} as {accept}: {}", String::from_utf8_lossy(&first.2));
    for (nth, other) in (1..).zip(&all) {
        assert_eq!((first.0, &first.1), (other.0, &other.1), "{path} as {accept} at proxy {nth}");
        if first.2 == other.2 {
            continue;
        }
        let (first, other) = (String::from_utf8_lossy(&first.2), String::from_utf8_lossy(&other.2));
        let at = first.lines().zip(other.lines()).take_while(|(one, other)| one == other).count();
        panic!(
            "{path} as {accept} differs at proxy {nth} from line {} on:\n{:?}\n{:?}",
            at + 1,
            first.lines().nth(at),
            other.lines().nth(at)
        );
    }
    first.2
}

pub fn events_path(run: &str, contract: &str) -> String {
    format!("/v1/runs/{run}/events?contract={contract}")
}

/// A run is the same at every proxy, in every contract and in every form.
#[track_caller]
pub fn same_run(proxies: &[Proxy], run: &str) {
    for contract in CONTRACTS.iter().map(|contract| contract.name) {
        same_in_every_form(proxies, run, contract);
    }
}

/// A run is the same at every proxy in that contract: as a stream of events, as lines and as a page.
#[track_caller]
pub fn same_in_every_form(proxies: &[Proxy], run: &str, contract: &str) {
    let path = events_path(run, contract);
    for accept in [SSE, NDJSON] {
        assert!(!same(proxies, &path, accept).is_empty(), "{path} has no events");
    }
    same(proxies, &format!("{path}&limit=100000"), JSON);
}

/// The feed of that contract is the same at every proxy: as pages, and as a stream.
#[track_caller]
pub fn same_feed(proxies: &[Proxy], contract: &str) {
    let path = format!("/v1/events?contract={contract}");
    let page: Value = serde_json::from_slice(&same(proxies, &format!("{path}&limit=100000"), JSON)).unwrap();
    assert_eq!(page["next"], Value::Null, "{path}: one page must have all events");
    let count = page["data"].as_array().unwrap().len();
    assert!(count > 0, "{path} has no events");
    // A stream with a limit ends after that many events.
    same(proxies, &format!("{path}&limit={count}"), SSE);
}

/// The ends of a run in its frames. A run has one.
pub fn ends(proxy: &Proxy, run: &str) -> Vec<Value> {
    let frames = get(proxy.address, &events_path(run, "frames.v2"), &[]).events();
    let frames = frames.iter().map(Event::json);
    frames.filter(|frame| frame["type"] == "session_ended").collect()
}

/// The bytes of a run's records at every proxy are these.
#[track_caller]
pub fn has_records(proxies: &[Proxy], run: &str, body: &[u8]) {
    let found = same(proxies, &events_path(run, "raw"), "application/octet-stream");
    assert!(found == body, "{run} has other records:\n{}", String::from_utf8_lossy(&found));
}

/// Opens a stream, and waits until the proxy knows the run.
#[track_caller]
pub fn opened(proxy: &Proxy, path: &str, headers: &[(&str, &str)]) -> Answer {
    wait_for(&format!("{path} is not found"), || {
        let answer = get(proxy.address, path, headers);
        (answer.status != 404).then_some(answer)
    })
}

/// A client that reconnects at the next proxy after each few events, with the id of the last one.
pub struct Wanderer<'p> {
    proxies: &'p [Proxy],
    path: String,
    /// At which proxy it is.
    at: usize,
    answer: Option<Answer>,
    last: Option<String>,
    since: usize,
    pub moves: usize,
    pub seen: Vec<Event>,
}

/// How many events a [`Wanderer`] reads from one proxy.
const STAY: usize = 3;

impl<'p> Wanderer<'p> {
    /// Begins at that proxy, after that event.
    pub fn new(proxies: &'p [Proxy], at: usize, path: String, last: Option<String>) -> Self {
        Self { proxies, path, at, answer: None, last, since: 0, moves: 0, seen: Vec::new() }
    }

    /// Reads the next event; `false` if the run is over.
    #[track_caller]
    pub fn next(&mut self) -> bool {
        loop {
            let mut answer = match self.answer.take() {
                Some(answer) => answer,
                None => self.connect(),
            };
            if answer.status == 204 {
                return false;
            }
            assert_eq!(answer.status, 200, "{} after {:?}", self.path, self.last);
            let Some(event) = answer.event() else {
                // The end of the stream. A browser connects once more, and gets 204.
                self.leave();
                continue;
            };
            self.since += 1;
            self.last = event.id.clone().or_else(|| self.last.take());
            let stays = event.id.is_none() || self.since < STAY;
            self.seen.push(event);
            if stays {
                self.answer = Some(answer);
            } else {
                self.leave();
            }
            return true;
        }
    }

    /// Reads until it has seen that many events.
    #[track_caller]
    pub fn read_to(&mut self, count: usize) {
        while self.seen.len() < count {
            assert!(self.next(), "{} ends after {} of {count} events", self.path, self.seen.len());
        }
    }

    fn leave(&mut self) {
        (self.at, self.moves, self.since) = (self.at + 1, self.moves + 1, 0);
    }

    #[track_caller]
    fn connect(&self) -> Answer {
        let headers = self.last.as_deref().map(|last| ("last-event-id", last));
        opened(&self.proxies[self.at % self.proxies.len()], &self.path, headers.as_slice())
    }
}

/// How many events a page at `path` has, which is everything so far.
pub fn count(proxy: &Proxy, path: &str) -> usize {
    let page = get(proxy.address, &format!("{path}&limit=100000"), &[("accept", JSON)]).json();
    page["data"].as_array().unwrap_or_else(|| panic!("{page:#}")).len()
}

/// That many events of a stream that may go on.
pub fn take(proxy: &Proxy, path: &str, headers: &[(&str, &str)], events: usize) -> Vec<Event> {
    let mut answer = opened(proxy, path, headers);
    assert_eq!(answer.status, 200, "{path}");
    (0..events).map(|_| answer.event().unwrap()).collect()
}
