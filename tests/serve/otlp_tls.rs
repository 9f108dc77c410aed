//! `[otlp]` over gRPC with TLS: a scripted collector speaks HTTP/2, which the proxy must ask for in the TLS handshake.

use crate::authority::Authority;
use crate::client::post;
use crate::otlp::{metric, wait_until};
use crate::proxy::{Folder, Proxy, recording};
use bytes::Bytes;
use hyper::header::HeaderMap;
use hyper::http::Response;
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// The maximum time until a request arrives.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the collector received: the path, the content type, and the body.
type Received = (String, String, Vec<u8>);

/// A collector that accepts everything.
fn collector(authority: &Authority) -> (SocketAddr, mpsc::Receiver<Received>) {
    let mut config = authority.server("127.0.0.1");
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let (received, requests) = mpsc::channel();
    let (bound, address) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            bound.send(listener.local_addr().unwrap()).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, received) = (acceptor.clone(), received.clone());
                tokio::spawn(async move {
                    // A client that does not trust the certificate ends the handshake.
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
                    let mut connection = h2::server::handshake(stream).await.unwrap();
                    while let Some(Ok((request, mut answer))) = connection.accept().await {
                        let received = received.clone();
                        tokio::spawn(async move {
                            let (head, mut body) = request.into_parts();
                            let mut bytes = Vec::new();
                            while let Some(Ok(piece)) = body.data().await {
                                body.flow_control().release_capacity(piece.len()).unwrap();
                                bytes.extend_from_slice(&piece);
                            }
                            let content_type = head.headers["content-type"].to_str().unwrap().to_owned();
                            received.send((head.uri.path().to_owned(), content_type, bytes)).unwrap();
                            let response = Response::builder().header("content-type", "application/grpc");
                            let mut answer = answer.send_response(response.body(()).unwrap(), false).unwrap();
                            // An empty message: everything was accepted.
                            answer.send_data(Bytes::from_static(&[0; 5]), false).unwrap();
                            let mut trailers = HeaderMap::new();
                            trailers.insert("grpc-status", "0".parse().unwrap());
                            answer.send_trailers(trailers).unwrap();
                        });
                    }
                });
            }
        });
    });
    (address.recv().unwrap(), requests)
}

fn proxy(collector: SocketAddr, trusted: &Authority, folder: &Folder) -> Proxy {
    let trusted = folder.write("trusted.pem", &trusted.pem);
    let log = std::fs::File::create(folder.path("log")).unwrap();
    let endpoint = format!("https://{collector}");
    let settings = [
        ("FRAMEGATE__OTLP__ENDPOINT", &*endpoint),
        ("FRAMEGATE__OTLP__PROTOCOL", "grpc"),
        ("FRAMEGATE__OTLP__CA_FILE", &*trusted),
        ("FRAMEGATE__OTLP__INTERVAL_MS", "10"),
    ];
    let proxy = Proxy::logging(&settings, log);
    let run = recording("codex", "exec-command-ok.ndjson");
    assert_eq!(post(proxy.address, "/v1/ingest/codex", &[], &run).status, 201);
    proxy
}

#[test]
fn spans_are_sent_over_grpc_with_tls() {
    let (ours, folder) = (Authority::new("ours"), Folder::new());
    let (address, requests) = collector(&ours);
    let proxy = proxy(address, &ours, &folder);
    let (path, content_type, body) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(path, "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
    assert_eq!(content_type, "application/grpc");
    // The prefix of an uncompressed message, and field 1 of the message, which has all spans.
    let length = u32::from_be_bytes(body[1..5].try_into().unwrap());
    assert_eq!((body[0], length as usize, body[5]), (0, body.len() - 5, 0x0a));
    assert!(body.windows(5).any(|bytes| bytes == b"codex"));
    wait_until("spans are counted", || metric(&proxy, "framegate_spans_sent_total ") > 2);
}

#[test]
fn a_collector_whose_certificate_is_not_trusted_gets_no_span() {
    let (ours, other, folder) = (Authority::new("ours"), Authority::new("other"), Folder::new());
    let (address, requests) = collector(&other);
    let proxy = proxy(address, &ours, &folder);
    let said = folder.wait_for("log", "the collector does not accept spans");
    assert!(said.contains("UnknownIssuer"), "{said}");
    assert!(requests.try_recv().is_err());
    assert_eq!(metric(&proxy, "framegate_spans_sent_total "), 0);
}
