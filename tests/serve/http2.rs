//! HTTP/2 without TLS (RFC 9113, section 3.3), with the same rules as for HTTP/1.1.

use crate::client::connect;
use crate::proxy::{Proxy, recording};
use bytes::Bytes;
use h2::client::{Connection, SendRequest};
use hyper::{HeaderMap, Method, Request};
use std::io::Read;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

/// One connection with prior knowledge.
pub struct Http2 {
    runtime: Runtime,
    address: SocketAddr,
    sender: SendRequest<Bytes>,
}

pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Http2 {
    pub fn connect(address: SocketAddr) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let sender = runtime.block_on(async {
            let stream = TcpStream::connect(address).await.unwrap();
            let (sender, connection): (_, Connection<TcpStream, Bytes>) = h2::client::handshake(stream).await.unwrap();
            tokio::spawn(connection);
            sender
        });
        Self { runtime, address, sender }
    }

    /// Sends a request, and disconnects without reading the answer once `is_time` returns true.
    pub fn send_and_disconnect(self, path: &str, body: String, is_time: impl Fn() -> bool) {
        let request =
            Request::post(format!("http://{}{path}", self.address)).header("content-type", "application/json");
        let request = request.body(()).unwrap();
        let probe = format!("http://{}/healthz", self.address);
        let mut sender = self.sender;
        self.runtime.block_on(async move {
            futures_util::future::poll_fn(|context| sender.poll_ready(context)).await.unwrap();
            let (answer, mut stream) = sender.send_request(request, false).unwrap();
            stream.send_data(body.into(), true).unwrap();
            while !is_time() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            drop((answer, stream));
            // The reset may be sent after the first of these requests, but not after the second one: when that is answered, the
            // proxy has read the reset.
            for _ in 0..2 {
                futures_util::future::poll_fn(|context| sender.poll_ready(context)).await.unwrap();
                let (answer, _) = sender.send_request(Request::get(probe.as_str()).body(()).unwrap(), true).unwrap();
                assert_eq!(answer.await.unwrap().status().as_u16(), 200);
            }
        });
    }

    pub fn get(&mut self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(Method::GET, path, headers, None).unwrap()
    }

    pub fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Result<Answer, h2::Error> {
        let mut request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(()).unwrap();
        let mut sender = self.sender.clone();
        self.runtime.block_on(async move {
            futures_util::future::poll_fn(|context| sender.poll_ready(context)).await?;
            let (answer, mut stream) = sender.send_request(request, body.is_none())?;
            if let Some(body) = body {
                stream.send_data(body.into(), true)?;
            }
            let (head, mut body) = answer.await?.into_parts();
            let mut text = Vec::new();
            while let Some(piece) = body.data().await {
                let piece = piece?;
                body.flow_control().release_capacity(piece.len())?;
                text.extend_from_slice(&piece);
            }
            Ok(Answer { status: head.status.as_u16(), headers: head.headers, body: String::from_utf8(text).unwrap() })
        })
    }
}

#[test]
fn runs_are_ingested_and_read_over_one_connection() {
    let proxy = Proxy::start();
    let mut http2 = Http2::connect(proxy.address);
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let made = http2.send(Method::POST, "/v1/ingest/claude-code", &[], Some(bytes)).unwrap();
    assert_eq!(made.status, 201, "{}", made.body);
    let made: serde_json::Value = serde_json::from_str(&made.body).unwrap();
    let path = format!("/v1/runs/{}/events?contract=sse.v1", made["runs"][0]["run_id"].as_str().unwrap());
    let over_http2 = http2.get(&path, &[]);
    assert_eq!(over_http2.headers["content-type"], "text/event-stream; contract=sse.v1");
    assert_eq!(over_http2.headers["referrer-policy"], "no-referrer");
    assert_eq!(over_http2.body, crate::client::get(proxy.address, &path, &[]).text(), "byte for byte");
}

#[test]
fn hosts_and_heads_are_checked_over_http2_too() {
    let proxy = Proxy::with(&[("FRAMEGATE__SERVER__MAX_HEADER_BYTES", "8192")]);
    let mut http2 = Http2::connect(proxy.address);
    assert_eq!(http2.get("/v1/runs", &[]).status, 200);
    // `:authority` is the proxy's name, but `host` is not: neither may name another host.
    assert_eq!(http2.get("/v1/runs", &[("host", "evil.example")]).status, 421);
    let filler = "x".repeat(7000);
    assert_eq!(http2.get("/v1/runs", &[("x-filler", &filler)]).status, 200);
    let filler = "x".repeat(9000);
    // The library refuses the head with 431, or resets the stream.
    match http2.send(Method::GET, "/v1/runs", &[("x-filler", &filler)], None) {
        Ok(answer) => assert_eq!(answer.status, 431),
        Err(error) => assert!(error.is_reset() || error.is_go_away(), "{error}"),
    }
    assert_eq!(Http2::connect(proxy.address).get("/v1/runs", &[]).status, 200, "the proxy must keep running");
}

#[test]
fn open_requests_of_a_connection_are_limited() {
    let proxy = Proxy::with(&[("FRAMEGATE__SERVER__HTTP2_MAX_STREAMS", "2")]);
    let http2 = Http2::connect(proxy.address);
    http2.runtime.block_on(async {
        let ask = || Request::builder().uri(format!("http://{}/v1/events", proxy.address)).body(()).unwrap();
        let mut open = Vec::new();
        for _ in 0..2 {
            let mut sender = http2.sender.clone().ready().await.unwrap();
            let (answer, _) = sender.send_request(ask(), true).unwrap();
            open.push(answer.await.unwrap());
        }
        let mut sender = http2.sender.clone().ready().await.unwrap();
        let (answer, _) = sender.send_request(ask(), true).unwrap();
        tokio::pin!(answer);
        // The client knows the limit and holds back the third request.
        assert!(tokio::time::timeout(Duration::from_millis(500), &mut answer).await.is_err());
        open.pop();
        let third = tokio::time::timeout(Duration::from_secs(30), answer).await.unwrap().unwrap();
        assert_eq!(third.status().as_u16(), 200);
    });
}

#[test]
fn rapid_resets_end_the_connection() {
    let proxy = Proxy::start();
    let http2 = Http2::connect(proxy.address);
    let address = proxy.address;
    let ended = http2.runtime.block_on(async {
        for _ in 0..20_000 {
            let Ok(mut sender) = http2.sender.clone().ready().await else { return true };
            let request = Request::builder().uri(format!("http://{address}/v1/events")).body(()).unwrap();
            match sender.send_request(request, true) {
                Ok((_, mut stream)) => stream.send_reset(h2::Reason::CANCEL),
                Err(_) => return true,
            }
            tokio::task::yield_now().await;
        }
        false
    });
    assert!(ended, "20000 streams could be opened and reset");
    assert_eq!(crate::client::get(proxy.address, "/healthz", &[]).status, 200, "the proxy must keep running");
}

#[test]
fn a_client_that_never_finishes_its_preface_is_cut_off() {
    let proxy = Proxy::with(&[("FRAMEGATE__SERVER__HEADER_READ_TIMEOUT_MS", "200")]);
    for begin in [&b""[..], b"PRI * HTTP/2.0\r\n"] {
        let mut stream = connect(proxy.address);
        std::io::Write::write_all(&mut stream, begin).unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty(), "{:?}", String::from_utf8_lossy(&rest));
    }
}

#[test]
fn a_client_that_does_not_answer_a_ping_is_cut_off() {
    let proxy = Proxy::with(&[
        ("FRAMEGATE__SERVER__HTTP2_PING_MS", "100"),
        ("FRAMEGATE__SERVER__HTTP2_PING_TIMEOUT_MS", "100"),
    ]);
    let mut stream = connect(proxy.address);
    // A preface, empty settings, and a request for a feed with a head from HPACK's static table. Nothing follows.
    let head = [0x82, 0x86, 0x84, 0x01, 0x09, b'l', b'o', b'c', b'a', b'l', b'h', b'o', b's', b't'];
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    bytes.extend([0, 0, u8::try_from(head.len()).unwrap(), 1, 5, 0, 0, 0, 1]);
    bytes.extend(head);
    std::io::Write::write_all(&mut stream, &bytes).unwrap();
    // The read would time out if the proxy did not close the connection.
    let mut rest = Vec::new();
    let outcome = stream.read_to_end(&mut rest);
    let timed_out = outcome.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
    assert!(!timed_out, "the connection was not cut off");
    assert!(rest.len() > 9, "the request must be answered first");
}
