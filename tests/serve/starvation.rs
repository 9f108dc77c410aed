//! Clients that occupy every slot: others are still served, and probes are answered.

use crate::auth::{bearer, token};
use crate::client::{Answer, Upload, connect, get, post};
use crate::proxy::{Folder, Proxy, another, recording};
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const INGEST: &str = "/v1/ingest/claude-code";

/// A connection from another address of this machine.
fn connect_from(address: &str, to: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SockAddr::from(SocketAddr::new(address.parse().unwrap(), 0))).unwrap();
    socket.connect(&SockAddr::from(to)).unwrap();
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

fn post_from(address: &str, proxy: &Proxy, body: &[u8]) -> Answer {
    let mut stream = connect_from(address, proxy.address);
    write!(stream, "POST {INGEST} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len()).unwrap();
    stream.write_all(body).unwrap();
    Answer::read(stream)
}

fn first_record() -> Vec<u8> {
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let line_end = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    bytes[..line_end].to_vec()
}

#[test]
fn silent_ingests_of_one_client_do_not_block_others() {
    let proxy = Proxy::start();
    let bytes = recording("claude-code", "text_plain.ndjson");
    let silent: Vec<Upload> = (0..256).map(|_| Upload::start(proxy.address, INGEST, &[])).collect();
    // The limit for one address is open, and the others were refused.
    let refused = post(proxy.address, INGEST, &[], &bytes);
    if refused.status != 201 {
        assert_eq!((refused.status, refused.header("retry-after")), (429, "1"));
        assert!(refused.json()["detail"].as_str().unwrap().contains("limits.max_ingests_per_address"));
    }
    assert_eq!(post_from("127.0.0.2", &proxy, &another("claude-code", "text_plain.ndjson")).status, 201);
    // After the announced delay, the address is served too: ingests that have sent nothing make room.
    let deadline = Instant::now() + Duration::from_secs(20);
    while post(proxy.address, INGEST, &[], &another("claude-code", "text_plain.ndjson")).status != 201 {
        assert!(Instant::now() < deadline, "silent ingests block their own address");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(silent);
}

#[test]
fn only_silent_ingests_are_displaced_and_they_get_the_reason() {
    let proxy = Proxy::with(&[("FRAMEGATE__INGEST__MAX_OPEN", "2")]);
    let bytes = recording("claude-code", "text_plain.ndjson");
    let mut speaking = Upload::start(proxy.address, INGEST, &[("accept", "text/event-stream")]);
    speaking.send(&first_record());
    let mut events = speaking.answer();
    assert!(events.event().is_some());
    let silent = Upload::start(proxy.address, INGEST, &[]);
    let deadline = Instant::now() + Duration::from_secs(20);
    // Both have their places before the next one asks for one.
    while !get(proxy.address, "/metrics", &[]).text().contains("framegate_ingests_open{runner=\"claude-code\"} 2\n") {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
    }
    while post(proxy.address, INGEST, &[], &bytes).status != 201 {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(50));
    }
    let displaced = silent.answer();
    assert_eq!(displaced.status, 408);
    assert!(displaced.json()["detail"].as_str().unwrap().contains("another ingest needed its place"));
    let other = Upload::start(proxy.address, INGEST, &[]);
    speaking.send(&recording("claude-code", "text_plain.partial.ndjson")[first_record().len()..]);
    speaking.end();
    let last = events.events().pop().unwrap();
    assert!(last.data.contains("completed"), "the active ingest must continue: {}", last.data);
    drop(other);
}

#[test]
fn active_ingests_are_limited_by_address_and_by_token() {
    let folder = Folder::new();
    let tokens = [token(&folder, "one", "scopes = [\"ingest\"]"), token(&folder, "two", "scopes = [\"ingest\"]")];
    let tokens = folder.write("tokens.toml", &tokens.concat());
    let bytes = recording("claude-code", "text_plain.ndjson");
    let proxy = Proxy::with(&[
        ("FRAMEGATE__AUTH__TOKENS_FILE", &tokens),
        ("FRAMEGATE__LIMITS__MAX_INGESTS_PER_CLIENT", "1"),
        ("FRAMEGATE__LIMITS__MAX_INGESTS_PER_ADDRESS", "2"),
    ]);
    let (one, two) = (bearer("one"), bearer("two"));
    let open = |who: &str| {
        let headers = [("authorization", who), ("accept", "text/event-stream; contract=raw")];
        let mut upload = Upload::start(proxy.address, INGEST, &headers);
        upload.send(&first_record());
        assert_eq!(upload.answer().status, 200);
        upload
    };
    let _first = open(&one);
    let refused = post(proxy.address, INGEST, &[("authorization", &one)], &bytes);
    assert_eq!((refused.status, refused.header("retry-after")), (429, "1"));
    assert!(refused.json()["detail"].as_str().unwrap().contains("limits.max_ingests_per_client"));
    let _second = open(&two);
    let refused = post(proxy.address, INGEST, &[("authorization", &two)], &bytes);
    assert_eq!(refused.status, 429);
}

#[test]
fn behind_a_trusted_proxy_each_client_has_its_own_limits() {
    let proxy = Proxy::with(&[
        ("FRAMEGATE__SERVER__TRUSTED_PROXIES", "127.0.0.1"),
        ("FRAMEGATE__LIMITS__MAX_EVENT_STREAMS_PER_ADDRESS", "1"),
        ("FRAMEGATE__LIMITS__MAX_CONNECTIONS_PER_ADDRESS", "1"),
    ]);
    let stream = |client: &str| get(proxy.address, "/v1/events", &[("x-forwarded-for", client)]);
    let open = [stream("203.0.113.1"), stream("203.0.113.2")];
    assert!(open.iter().all(|answer| answer.status == 200), "the trusted proxy's connections must not be limited");
    let third = stream("203.0.113.1");
    assert_eq!(third.status, 429);
    assert!(third.json()["detail"].as_str().unwrap().contains("limits.max_event_streams_per_address"));
    assert_eq!(stream("198.51.100.1, 203.0.113.1").status, 429, "addresses that the client adds must not count");
}

#[test]
fn an_ingest_that_never_sends_a_record_is_ended() {
    let proxy = Proxy::with(&[("FRAMEGATE__INGEST__START_TIMEOUT_MS", "300")]);
    let mut speaking = Upload::start(proxy.address, INGEST, &[]);
    speaking.send(&first_record());
    let deadline = Instant::now() + Duration::from_secs(20);
    while !get(proxy.address, "/v1/runs", &[]).text().contains("run_id") {
        assert!(Instant::now() < deadline, "the ingest has no run");
        std::thread::sleep(Duration::from_millis(5));
    }
    // This one begins later: when its time is over, that of the other one is too.
    let silent = Upload::start(proxy.address, INGEST, &[]).answer();
    assert_eq!(silent.status, 408);
    assert!(silent.json()["detail"].as_str().unwrap().contains("ingest.start_timeout_ms"));
    assert_eq!(speaking.finish().status, 201, "an ingest that has sent a record must not be ended");
}

#[test]
fn event_streams_leave_room_for_probes() {
    let proxy = Proxy::start();
    let streams: Vec<Answer> = (0..1024).map(|_| get(proxy.address, "/v1/events", &[])).collect();
    assert!(streams.iter().all(|answer| answer.status == 200));
    let start = Instant::now();
    for probe in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(get(proxy.address, probe, &[]).status, 200, "{probe}");
    }
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn probes_are_answered_when_all_connections_are_taken() {
    let proxy = Proxy::with(&[("FRAMEGATE__SERVER__MAX_CONNECTIONS", "10")]);
    let streams: Vec<Answer> = (0..10).map(|_| get(proxy.address, "/v1/events", &[])).collect();
    assert!(streams.iter().all(|answer| answer.status == 200));
    // Silent connections take the reserved slots too, each for a moment.
    let silent: Vec<TcpStream> = (0..200).map(|_| connect(proxy.address)).collect();
    for _ in 0..3 {
        let mut stream = connect_from("127.0.0.2", proxy.address);
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        assert_eq!(Answer::read(stream).status, 200);
    }
    // The slots are freed.
    for mut stream in silent {
        assert_eq!(stream.read(&mut [0; 1024]).unwrap_or_default(), 0, "no request was sent");
    }
    let refused = get(proxy.address, "/v1/runs", &[]);
    assert_eq!((refused.status, refused.header("retry-after")), (503, "1"));
}

#[test]
fn one_address_cannot_take_every_connection() {
    let proxy = Proxy::with(&[("FRAMEGATE__LIMITS__MAX_CONNECTIONS_PER_ADDRESS", "3")]);
    let streams: Vec<Answer> = (0..3).map(|_| get(proxy.address, "/v1/events", &[])).collect();
    assert!(streams.iter().all(|answer| answer.status == 200));
    assert_eq!(get(proxy.address, "/v1/runs", &[]).status, 503);
    let mut other = connect_from("127.0.0.2", proxy.address);
    other.write_all(b"GET /v1/runs HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    assert_eq!(Answer::read(other).status, 200);
}

#[test]
fn contradictory_limits_are_reported_at_the_start() {
    let folder = Folder::new();
    let _quiet = Proxy::logging_to(&folder.path("quiet"), &[]);
    assert!(
        !folder.read("quiet").contains("WARN"),
        "the defaults must not contradict each other: {}",
        folder.read("quiet")
    );
    let settings = [("FRAMEGATE__LIMITS__MAX_EVENT_STREAMS", "20000"), ("FRAMEGATE__INGEST__MAX_OPEN", "10")];
    let _proxy = Proxy::logging_to(&folder.path("log"), &settings);
    let log = folder.wait_for("log", "listening");
    assert!(log.contains("limits.max_event_streams (20000)") && log.contains("server.max_connections (4096)"), "{log}");
    assert!(log.contains("limits.max_ingests_per_address (256) is more than ingest.max_open (10)"), "{log}");
}

#[test]
#[cfg(target_os = "linux")]
fn the_send_queue_of_a_client_that_does_not_read_is_bounded() {
    const CLIENTS: usize = 20;
    let proxy = Proxy::start();
    let line = format!("{{\"type\":\"mystery\",\"session_id\":\"s\",\"text\":\"{}\"}}\n", "x".repeat(100_000));
    // Records of unknown types are stored too.
    assert_eq!(post(proxy.address, INGEST, &[], line.repeat(200).as_bytes()).json()["records"], 200);
    let stalled: Vec<TcpStream> = (0..CLIENTS)
        .map(|_| {
            let mut stream = connect(proxy.address);
            stream.write_all(b"GET /v1/events?contract=frames.v2 HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
            stream
        })
        .collect();
    let queues = crate::slow::wait_until_stalled(&proxy, CLIENTS);
    let most = queues.iter().max().unwrap();
    eprintln!("{queues:?}");
    assert!(*most <= 192 << 10, "{queues:?}");
    drop(stalled);
}
