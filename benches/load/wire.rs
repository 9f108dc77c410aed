//! A minimal HTTP client for load: requests are written verbatim, answers are read as bytes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    // A load test that hangs would report nothing.
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    stream
}

/// The head of a request for events.
pub(crate) fn request(address: SocketAddr, path: &str, last_event_id: Option<&str>) -> String {
    let cursor = last_event_id.map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
    format!("GET {path} HTTP/1.1\r\nhost: {address}\r\naccept: text/event-stream\r\n{cursor}\r\n")
}

/// Requests events, and returns before reading the answer.
pub(crate) fn events(address: SocketAddr, path: &str, last_event_id: Option<&str>) -> TcpStream {
    let mut stream = connect(address);
    stream.write_all(request(address, path, last_event_id).as_bytes()).unwrap();
    stream
}

/// Reads until `text` has been seen; returns all bytes that were read.
pub(crate) fn read_until(stream: &mut TcpStream, text: &[u8]) -> Vec<u8> {
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "closed after {:?}", String::from_utf8_lossy(&all));
        all.extend_from_slice(&buffer[..read]);
        if all.windows(text.len()).any(|window| window == text) {
            return all;
        }
    }
}

/// Returns a whole answer, head and body.
pub(crate) fn get_text(address: SocketAddr, path: &str) -> String {
    let mut stream = connect(address);
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    text
}

/// An ingest whose body is sent in chunks.
pub(crate) struct Upload {
    stream: TcpStream,
    piece: Vec<u8>,
}

impl Upload {
    pub(crate) fn start(address: SocketAddr) -> Self {
        let mut stream = connect(address);
        let head =
            format!("POST /v1/ingest/claude-code HTTP/1.1\r\nhost: {address}\r\ntransfer-encoding: chunked\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        Self { stream, piece: Vec::new() }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.piece.clear();
        write!(self.piece, "{:x}\r\n", bytes.len()).unwrap();
        self.piece.extend_from_slice(bytes);
        self.piece.extend_from_slice(b"\r\n");
        self.stream.write_all(&self.piece).unwrap();
    }

    /// Ends the body and waits for the answer.
    pub(crate) fn finish(mut self) {
        self.stream.write_all(b"0\r\n\r\n").unwrap();
        let answer = read_until(&mut self.stream, b"\r\n\r\n");
        assert!(answer.starts_with(b"HTTP/1.1 201"), "{}", String::from_utf8_lossy(&answer));
    }
}

/// Counts server-sent events in bytes that are split anywhere. Each event ends in an empty line, and the framing of the chunked
/// coding contains none.
#[derive(Default)]
pub(crate) struct Counter {
    pub(crate) events: u64,
    last: u8,
}

impl Counter {
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let Some(first) = bytes.first() else { return };
        self.events += u64::from(self.last == b'\n' && *first == b'\n');
        let pairs = bytes.iter().zip(&bytes[1..]);
        self.events += pairs.filter(|(one, other)| **one == b'\n' && **other == b'\n').count() as u64;
        self.last = bytes[bytes.len() - 1];
    }
}
