//! The disk returns other bytes than were written: the log detects this, and nothing else is affected.

use crate::client::{get, post};
use crate::proxy::{Proxy, another, recording};
use crate::scratch::{Scratch, log, number};
use rusqlite::Connection;
use serde_json::Value;
use std::time::{Duration, Instant};

fn start(scratch: &Scratch) -> Proxy {
    let path = scratch.path().to_str().unwrap().to_owned();
    Proxy::with(&[
        ("FRAMEGATE__LOG__KIND", "sqlite"),
        ("FRAMEGATE__LOG__PATH", &path),
        // All reads come from the file.
        ("FRAMEGATE__LOG__RECENT_BYTES", "0"),
    ])
}

/// Ingests a recording; returns the run's id.
fn ingested(proxy: &Proxy, name: &str) -> String {
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], &another("claude-code", name)).json();
    made["runs"][0]["run_id"].as_str().unwrap().to_owned()
}

/// Changes rows of a run's frames without the proxy's knowledge.
fn corrupt(scratch: &Scratch, run: &str, sql: &str) {
    let database = Connection::open(scratch.path()).unwrap();
    database.busy_timeout(Duration::from_secs(5)).unwrap();
    let of = format!("stream = (SELECT key FROM streams WHERE id = '{run}')");
    assert!(database.execute(&sql.replace("{of}", &of), []).unwrap() > 0);
}

fn status(proxy: &Proxy, run: &str) -> Value {
    get(proxy.address, &format!("/v1/runs/{run}"), &[]).json()
}

/// Changes letters of a body, as a flipped bit might; the JSON stays valid.
const FLIPPED: &str = "UPDATE frames SET body = replace(body, 'a', 'c') WHERE {of} AND seq = 12";

#[test]
fn a_corrupted_frame_is_never_served_and_intact_ones_are() {
    let scratch = Scratch::new("flipped");
    let proxy = start(&scratch);
    let (corrupted, whole) =
        (ingested(&proxy, "parallel_tools.partial.ndjson"), ingested(&proxy, "text_plain.partial.ndjson"));
    let path = |run: &str, form: &str| format!("/v1/runs/{run}/events?contract=frames.v2{form}");
    let before = get(proxy.address, &path(&corrupted, ""), &[("accept", "application/x-ndjson")]).text();
    assert!(status(&proxy, &corrupted).get("damaged").is_none());
    corrupt(&scratch, &corrupted, FLIPPED);
    // A new process, so that nothing is cached in memory.
    drop(proxy);
    let proxy = start(&scratch);
    for accept in ["application/x-ndjson", "text/event-stream"] {
        let answer = get(proxy.address, &path(&corrupted, ""), &[("accept", accept)]);
        assert_eq!(answer.status, 200);
        let (text, is_whole) = answer.rest();
        assert!(!is_whole, "the response must break off");
        // Events before the damage are returned unchanged.
        let last = before.lines().nth(11).unwrap();
        assert!(text.contains(last) && !text.contains(before.lines().nth(12).unwrap()), "{text}");
    }
    let page = get(proxy.address, &path(&corrupted, "&limit=500"), &[("accept", "application/json")]);
    assert_eq!(page.status, 503);
    let damaged = status(&proxy, &corrupted)["damaged"].as_str().unwrap().to_owned();
    assert!(damaged.contains("the checksum of frame 12"), "{damaged}");
    // The other run is not affected, and the feed continues after the damage.
    assert_eq!(get(proxy.address, &path(&whole, ""), &[]).status, 200);
    assert!(status(&proxy, &whole).get("damaged").is_none());
    let mut feed = get(proxy.address, "/v1/events?contract=frames.v2", &[]);
    let (mut notices, mut ended) = (0, false);
    while !ended {
        let event = feed.event().unwrap();
        notices += u32::from(event.data.contains("the log is damaged here"));
        let event = event.json();
        ended = event["type"] == "session_ended" && event["stream_id"] == *whole;
    }
    assert_eq!(notices, 1);
    drop(proxy);
    let (is_well, said) = log(&scratch, &["verify"]);
    assert!(!is_well && said.contains("the checksum of frame 12"), "{said}");
}

#[test]
fn a_response_breaks_off_at_missing_frames() {
    let scratch = Scratch::new("lacking");
    let proxy = start(&scratch);
    let run = ingested(&proxy, "parallel_tools.partial.ndjson");
    let path = format!("/v1/runs/{run}/events?contract=frames.v2");
    corrupt(&scratch, &run, "DELETE FROM frames WHERE {of} AND seq BETWEEN 20 AND 25");
    drop(proxy);
    let proxy = start(&scratch);
    let (text, is_whole) = get(proxy.address, &path, &[("accept", "application/x-ndjson")]).rest();
    // Events before the damage are returned up to the last frame.
    assert!(!is_whole);
    let has = |seq: u64| text.contains(&format!("\"seq\":{seq},"));
    assert_eq!((0..40).filter(|seq| has(*seq)).collect::<Vec<_>>(), (0..20).collect::<Vec<_>>(), "{text}");
    assert!(status(&proxy, &run)["damaged"].as_str().unwrap().contains("frame 20"));
    let sse = get(proxy.address, &path, &[("accept", "text/event-stream")]).rest();
    assert!(!sse.1 && sse.0.contains("\"seq\":19,") && !sse.0.contains("\"seq\":20,"), "{}", sse.0);
    // Pages are only returned if they are complete.
    let page = get(proxy.address, &format!("{path}&limit=20"), &[("accept", "application/json")]);
    assert_eq!(page.status, 503, "whether more events follow is unknown");
    let page = get(proxy.address, &format!("{path}&limit=19"), &[("accept", "application/json")]);
    assert_eq!((page.status, page.json()["data"].as_array().unwrap().len()), (200, 19));
    // The feed returns the same frames, and reports that the others cannot be read.
    let mut feed = get(proxy.address, "/v1/events?contract=frames.v2", &[]);
    let (mut served, mut event) = (Vec::new(), feed.event().unwrap());
    while !event.data.contains("the log is damaged here") {
        let frame = event.json();
        served.extend((frame["stream_id"] == *run).then(|| frame["seq"].as_u64().unwrap()));
        event = feed.event().unwrap();
    }
    assert_eq!(served, (0..20).collect::<Vec<_>>());
    // An export returns the same frames too, and says why it ends there.
    for contract in ["frames.v2", "stored"] {
        let (is_well, said) = log(&scratch, &["export", &run, "--to", contract]);
        assert!(
            !is_well && said.contains("frame 20 of stream") && said.contains("is missing from the frame log"),
            "{said}"
        );
        let served = said.lines().filter(|line| line.starts_with('{')).count();
        assert_eq!(served, 20, "{contract}: {said}");
    }
    let (is_well, said) = log(&scratch, &["verify"]);
    assert!(!is_well && said.contains("frame 26 follows after 20 frames"), "{said}");
    // All frames of the run are missing: the error is in the response's status.
    corrupt(&scratch, &run, "DELETE FROM frames WHERE {of}");
    for form in ["text/event-stream", "application/x-ndjson", "application/json"] {
        assert_eq!(get(proxy.address, &format!("{path}&limit=7"), &[("accept", form)]).status, 503, "{form}");
    }
}

#[test]
fn commits_lost_from_a_damaged_write_ahead_log_are_detected() {
    let scratch = Scratch::new("wal");
    let proxy = start(&scratch);
    let runs: Vec<String> = (0..6).map(|_| ingested(&proxy, "text_plain.partial.ndjson")).collect();
    // The proxy is killed before pages are moved to the database, so that all data is in the write-ahead log.
    drop(proxy);
    let mut name = scratch.path().into_os_string();
    name.push("-wal");
    let mut wal = std::fs::read(&name).unwrap();
    let middle = wal.len() / 2;
    wal[middle] ^= 1;
    std::fs::write(&name, &wal).unwrap();
    let (is_well, said) = log(&scratch, &["verify"]);
    assert!(!is_well && said.contains("frames were committed after position"), "{said}");
    let positions = |sql: &str| number(&Connection::open(scratch.path()).unwrap(), sql);

    let proxy = start(&scratch);
    let there = get(proxy.address, "/v1/runs?limit=100", &[]).json()["data"].as_array().unwrap().len();
    assert!(there < runs.len(), "SQLite ignores what follows the damage");
    assert_eq!(positions("SELECT count(*) FROM losses"), 1);
    // No position is reused, and later appends do not erase the record of the loss.
    let lost = positions("SELECT position + frames FROM losses");
    ingested(&proxy, "text_plain.partial.ndjson");
    assert!(positions("SELECT max(position) FROM frames") >= lost);
    drop(proxy);
    let (is_well, said) = log(&scratch, &["verify"]);
    assert!(!is_well && said.contains("were missing when framegate started at"), "{said}");
    // A log without losses has no finding.
    let whole = Scratch::new("wal-whole");
    let proxy = start(&whole);
    ingested(&proxy, "text_plain.partial.ndjson");
    drop(proxy);
    let (is_well, said) = log(&whole, &["verify"]);
    assert!(is_well && said.contains(" 0 findings"), "{said}");
}

#[test]
fn a_deleted_or_replaced_database_accepts_no_frames() {
    let scratch = Scratch::new("replaced");
    let aside = scratch.dir().join("aside.db");
    for replace in [false, true] {
        let _ = std::fs::remove_file(scratch.path());
        let proxy = start(&scratch);
        ingested(&proxy, "text_plain.partial.ndjson");
        assert_eq!(get(proxy.address, "/readyz", &[]).status, 200);
        std::fs::rename(scratch.path(), &aside).unwrap();
        if replace {
            std::fs::write(scratch.path(), b"").unwrap();
        }
        let how = if replace { "was replaced by another file" } else { "was deleted" };
        let body = recording("claude-code", "text_plain.partial.ndjson");
        let refused = post(proxy.address, "/v1/ingest/claude-code", &[], &body);
        assert_eq!(refused.status, 503);
        let text = refused.text();
        assert!(text.contains(how) && text.contains("while the proxy is running"), "{text}");
        let ready = get(proxy.address, "/readyz", &[]);
        assert_eq!(ready.status, 503);
        assert!(ready.text().contains(how));
        // When the file is put back, the log can be used again.
        std::fs::rename(&aside, scratch.path()).unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        while get(proxy.address, "/readyz", &[]).status != 200 {
            assert!(Instant::now() < deadline);
            std::thread::sleep(Duration::from_millis(20));
        }
        ingested(&proxy, "text_plain.partial.ndjson");
    }
}

#[test]
fn over_http2_a_failed_read_resets_only_its_own_stream() {
    let scratch = Scratch::new("reset");
    let proxy = start(&scratch);
    let run = ingested(&proxy, "parallel_tools.partial.ndjson");
    corrupt(&scratch, &run, FLIPPED);
    drop(proxy);
    let proxy = start(&scratch);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(proxy.address).await.unwrap();
        let (sender, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        let mut sender: h2::client::SendRequest<bytes::Bytes> = sender.ready().await.unwrap();
        let mut ask = |path: &str| {
            let request = hyper::Request::get(format!("http://{}{path}", proxy.address)).body(()).unwrap();
            sender.send_request(request, true).unwrap().0
        };
        for (accept, seen, unseen) in [("frames.v2", "\"seq\":11,", "\"seq\":12,"), ("sse.v1", "", "\"seq\":12,")] {
            let answer = ask(&format!("/v1/runs/{run}/events?contract={accept}")).await.unwrap();
            assert_eq!(answer.status(), 200);
            let (mut body, mut text) = (answer.into_body(), Vec::new());
            let error = loop {
                match body.data().await.expect("the stream must not end normally") {
                    Ok(piece) => text.extend_from_slice(&piece),
                    Err(error) => break error,
                }
            };
            assert!(error.is_reset() && error.is_remote(), "{error}");
            assert_eq!(error.reason(), Some(h2::Reason::INTERNAL_ERROR));
            let text = String::from_utf8(text).unwrap();
            assert!(text.contains(seen) && !text.contains(unseen), "{text}");
            // The connection still serves other requests.
            assert_eq!(ask("/healthz").await.unwrap().status(), 200);
        }
    });
}

#[test]
fn frames_before_a_corrupt_page_are_served() {
    let scratch = Scratch::new("page");
    let mut proxy = start(&scratch);
    let run = ingested(&proxy, "parallel_tools.partial.ndjson");
    let path = format!("/v1/runs/{run}/events?contract=frames.v2");
    let whole = get(proxy.address, &path, &[("accept", "application/x-ndjson")]).text();
    assert!(proxy.terminate().success());
    let database = Connection::open(scratch.path()).unwrap();
    let page_bytes = number(&database, "PRAGMA page_size") as usize;
    // A text from a frame in the middle identifies the page that contains the frame.
    let middle = whole.lines().count() / 2;
    let body = |database: &Connection, seq: usize| {
        let sql = "SELECT body FROM frames WHERE stream = (SELECT key FROM streams WHERE id = ?1) AND seq = ?2";
        database.query_row(sql, (&run, seq), |row| row.get::<_, String>(0))
    };
    let text = body(&database, middle).unwrap();
    drop(database);
    let mut file = std::fs::read(scratch.path()).unwrap();
    let text = &text.as_bytes()[..text.len().min(200)];
    let at = file.windows(text.len()).position(|bytes| bytes == text).unwrap();
    let page = at / page_bytes * page_bytes;
    file[page..page + 16].fill(0xAA);
    std::fs::write(scratch.path(), &file).unwrap();
    let database = Connection::open(scratch.path()).unwrap();
    let readable = (0..).take_while(|seq| body(&database, *seq).is_ok()).count();
    assert!((1..=middle).contains(&readable), "{readable} of {middle}");
    drop(database);
    let proxy = start(&scratch);
    for accept in ["application/x-ndjson", "text/event-stream"] {
        let (text, is_whole) = get(proxy.address, &path, &[("accept", accept)]).rest();
        let has = |seq: &usize| text.contains(&format!("\"seq\":{seq},"));
        let served: Vec<usize> = (0..whole.lines().count()).filter(has).collect();
        assert!(!is_whole && served == (0..readable).collect::<Vec<_>>(), "{served:?} of {readable}");
    }
}
