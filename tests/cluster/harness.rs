//! The NATS servers of the tests, by themselves: they start, keep what is stored over a kill, and can be silenced.

use crate::reading::wait_for;
use crate::servers::Servers;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The maximum time that a server may take for an answer.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// One request, on a connection of its own; `None` if the server does not answer it. Messages with the same id are stored once.
pub fn request(address: SocketAddr, subject: &str, id: &str, body: &str) -> Option<Value> {
    let mut stream = TcpStream::connect_timeout(&address, TIME_LIMIT).ok()?;
    stream.set_read_timeout(Some(TIME_LIMIT)).ok()?;
    write!(stream, "CONNECT {{\"verbose\":false,\"headers\":true}}\r\nSUB harness.answer 1\r\n").ok()?;
    // A request of the servers' own interface has no id.
    let header = if id.is_empty() { String::new() } else { format!("Nats-Msg-Id: {id}\r\n") };
    let head = format!("NATS/1.0\r\n{header}\r\n");
    let (before, length) = (head.len(), head.len() + body.len());
    write!(stream, "HPUB {subject} harness.answer {before} {length}\r\n{head}{body}\r\n").ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some(head) = line.strip_prefix("MSG ") else {
            assert!(!line.starts_with("-ERR"), "{line}");
            if line.is_empty() {
                return None;
            }
            continue;
        };
        let mut answer = vec![0; head.trim().rsplit(' ').next()?.parse().ok()?];
        reader.read_exact(&mut answer).ok()?;
        return serde_json::from_slice(&answer).ok();
    }
}

/// Makes a stream with a copy on each server.
fn make_stream(servers: &Servers) {
    let stream = json!({"name": "harness", "subjects": ["kept.*"], "storage": "file", "num_replicas": servers.count()});
    // The cluster may still be busy with its own beginning.
    wait_for("the stream is not made", || {
        let answer = request(servers.addresses()[0], "$JS.API.STREAM.CREATE.harness", "", &stream.to_string())?;
        assert!(answer["error"].is_null() || answer["error"]["code"] == 503, "{answer}");
        answer["config"].is_object().then_some(())
    });
}

/// Stores one message more; returns its number.
fn store(address: SocketAddr, id: &str) -> u64 {
    wait_for("the message is not stored", || request(address, "kept.message", id, "x")?["seq"].as_u64())
}

/// How many messages are stored.
fn stored(address: SocketAddr) -> u64 {
    wait_for("the stream has no state", || {
        request(address, "$JS.API.STREAM.INFO.harness", "", "")?["state"]["messages"].as_u64()
    })
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn one_server_starts_and_restarts_on_its_store() {
    let mut servers = Servers::one();
    let address = servers.addresses()[0];
    assert_eq!(servers.urls(), [format!("nats://{address}")]);
    make_stream(&servers);
    assert_eq!((store(address, "one"), store(address, "two")), (1, 2));
    servers.kill(0);
    assert!(!servers.is_running(0));
    assert_eq!(request(address, "kept.message", "none", "x"), None);
    servers.start(0);
    servers.wait_ready();
    assert!(servers.is_running(0));
    assert_eq!(stored(address), 2);
    assert_eq!(store(address, "three"), 3);
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn three_servers_start_and_restart_and_two_of_them_suffice() {
    let mut servers = Servers::three();
    let addresses = servers.addresses();
    make_stream(&servers);
    assert_eq!(store(addresses[0], "first"), 1);
    for (nth, number) in [(0, 2), (2, 3)] {
        servers.kill(nth);
        servers.wait_ready();
        assert_eq!(store(addresses[(nth + 1) % 3], &format!("without {nth}")), number);
        servers.start(nth);
        servers.wait_ready();
    }
    servers.kill_all();
    assert!((0..3).all(|nth| !servers.is_running(nth)));
    servers.start_all();
    servers.wait_ready();
    assert!(addresses.iter().all(|address| stored(*address) == 3));
    // One of three servers stores nothing.
    servers.kill(0);
    servers.kill(1);
    let refused = request(addresses[2], "kept.message", "refused", "x");
    assert!(refused.as_ref().is_none_or(|answer| answer["seq"].is_null()), "{refused:?}");
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_paused_server_is_silent_until_it_goes_on() {
    let mut servers = Servers::three();
    let addresses = servers.addresses();
    make_stream(&servers);
    assert_eq!(store(addresses[0], "first"), 1);
    servers.pause_all();
    assert!((0..3).all(|nth| servers.is_running(nth)), "a paused server is still there");
    assert_eq!(request(addresses[0], "kept.message", "second", "x"), None);
    servers.resume_all();
    servers.wait_ready();
    // The server may have found the message when it went on.
    assert_eq!(store(addresses[0], "second"), 2);
    servers.pause(1);
    servers.wait_ready();
    assert_eq!(store(addresses[0], "third"), 3);
    // A paused server can be killed too.
    servers.kill(1);
    servers.start(1);
    servers.wait_ready();
    assert_eq!(stored(addresses[1]), 3);
}
