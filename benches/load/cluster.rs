//! Measures a log at NATS servers: one server (R1) and three (R3), all on this machine and its disk.
//!
//! What JetStream itself takes for messages of the same size is measured beside it, with the client library that the proxy uses.

use crate::proxy::Proxy;
use crate::servers::Servers;
use crate::{Scale, durable, fanout, latency, row, stored};
use async_nats::jetstream::consumer::push::OrderedConfig;
use bytes::Bytes;
use futures_util::StreamExt;
use std::time::{Duration, Instant};

/// The settings of a proxy, by environment variable.
type Settings = Vec<(&'static str, String)>;

pub(crate) fn shared_log(scale: Scale) {
    if std::env::var_os("NATS_SERVER").is_none() {
        row("a log at NATS servers", "not measured: NATS_SERVER is not the path of nats-server");
        return;
    }
    let (one, three) = (Servers::one(), Servers::three());
    for (name, servers) in [("R1", &one), ("R3", &three)] {
        for bytes in [300, 16 << 10, 256 << 10] {
            straight(name, servers, bytes, scale);
        }
        side_by_side(name, servers, scale);
    }
    durable::ingests_at(
        scale,
        &[("jetstream R1", settings(&one, "ingest")), ("jetstream R3", settings(&three, "ingest"))],
    );
    for (name, servers) in [("R1", &one), ("R3", &three)] {
        let what = format!("latency of a record, sse.v1, one run, 10,000 events/s, jetstream {name}");
        latency::one_run_with(&what, scale, &borrowed(&settings(servers, "latency")));
        let proxies = two(servers, "fanout");
        for contract in ["sse.v1", "frames.v2"] {
            fanout::live(scale, contract, &proxies);
        }
        let proxies = two(servers, "resuming");
        stored::resuming_elsewhere(scale, &proxies[0], &proxies[1]);
    }
}

fn settings(servers: &Servers, prefix: &str) -> Settings {
    vec![
        ("FRAMEGATE__LOG__KIND", "jetstream".to_owned()),
        ("FRAMEGATE__LOG__SERVERS", servers.urls().join(", ")),
        ("FRAMEGATE__LOG__REPLICAS", servers.count().to_string()),
        ("FRAMEGATE__LOG__PREFIX", prefix.to_owned()),
        // Streams reserve their size at the servers.
        ("FRAMEGATE__LOG__MAX_BYTES", (512 << 20_u32).to_string()),
        ("FRAMEGATE__LOG__MAX_STREAM_BYTES", (640 << 20_u32).to_string()),
        ("FRAMEGATE__ARTIFACTS__MAX_TOTAL_BYTES", (64 << 20_u32).to_string()),
    ]
}

fn borrowed(settings: &Settings) -> Vec<(&'static str, &str)> {
    settings.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

fn two(servers: &Servers, prefix: &str) -> [Proxy; 2] {
    let settings = settings(servers, prefix);
    [(); 2].map(|()| Proxy::start(&borrowed(&settings)))
}

/// Makes a stream for messages without a proxy.
async fn make_stream(client: &async_nats::Client, name: &str, replicas: usize) {
    let stream = serde_json::json!({
        "name": name, "subjects": [format!("{name}.*")], "storage": "file",
        "num_replicas": replicas, "max_bytes": 256 << 20, "discard": "old",
    });
    client.request(format!("$JS.API.STREAM.CREATE.{name}"), stream.to_string().into()).await.unwrap();
}

/// Writes guarded messages of one subject, one after the other, until it is time. Returns how long each took.
async fn write(
    client: async_nats::Client,
    subject: String,
    note: String,
    payload: Bytes,
    until: Instant,
) -> Vec<Duration> {
    let (mut times, mut last) = (Vec::new(), 0_u64);
    while Instant::now() < until {
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("Nats-Expected-Last-Subject-Sequence", last.to_string());
        headers.insert("Note", note.as_str());
        let sent = Instant::now();
        let request = async_nats::Request::new().payload(payload.clone()).headers(headers);
        // A new stream has no leader yet.
        let Ok(answer) = client.send_request(subject.clone(), request).await else { continue };
        let answer: serde_json::Value = serde_json::from_slice(&answer.payload).unwrap();
        match answer["seq"].as_u64().filter(|seq| *seq > 0) {
            Some(seq) => {
                last = seq;
                times.push(sent.elapsed());
            }
            None => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
    times
}

/// Guarded messages without a proxy, by one writer.
fn straight(name: &str, servers: &Servers, bytes: usize, scale: Scale) {
    let mut times: Vec<Duration> = runtime().block_on(async {
        let client = async_nats::connect(servers.urls()[0].as_str()).await.unwrap();
        let stream = format!("floor_{bytes}");
        make_stream(&client, &stream, servers.count()).await;
        let until = Instant::now() + Duration::from_secs(scale.seconds.min(3));
        write(client, format!("{stream}.one"), "x".to_owned(), vec![b'x'; bytes].into(), until).await
    });
    times.sort_unstable();
    assert!(!times.is_empty(), "the servers store nothing");
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let all: Duration = times.iter().sum();
    row(
        &format!("floor: JetStream {name}, guarded messages of {bytes} bytes, one after the other"),
        &format!(
            "p50 {:.0?}  p99 {:.0?}, {:.0}/s, {:.1} MiB/s",
            at(0.5),
            at(0.99),
            times.len() as f64 / all.as_secs_f64(),
            (times.len() * bytes) as f64 / all.as_secs_f64() / f64::from(1 << 20)
        ),
    );
}

/// As many writers at once, each with its own subject, as the servers can take; then how fast one follower reads the headers of what was
/// written. The headers have the size of a proxy's.
fn side_by_side(name: &str, servers: &Servers, scale: Scale) {
    const WRITERS: usize = 128;
    const NOTE_BYTES: usize = 900;
    let (written, followed) = runtime().block_on(async {
        let client = async_nats::connect(servers.urls()[0].as_str()).await.unwrap();
        make_stream(&client, "beside", servers.count()).await;
        let begin = Instant::now();
        let until = begin + Duration::from_secs(scale.seconds.min(5));
        let writers = (0..WRITERS).map(|nth| {
            let payload = Bytes::from(vec![b'x'; 600]);
            tokio::spawn(write(client.clone(), format!("beside.{nth}"), "x".repeat(NOTE_BYTES), payload, until))
        });
        let written: usize =
            futures_util::future::join_all(writers).await.iter().map(|times| times.as_ref().unwrap().len()).sum();
        let took = begin.elapsed();
        let stream = async_nats::jetstream::new(client.clone()).get_stream("beside").await.unwrap();
        let config =
            OrderedConfig { deliver_subject: client.new_inbox(), headers_only: true, ..OrderedConfig::default() };
        let mut messages = stream.create_consumer(config).await.unwrap().messages().await.unwrap();
        let begin = Instant::now();
        // The servers may have dropped the oldest messages.
        let mut read = 0_u32;
        loop {
            let message = messages.next().await.unwrap().unwrap();
            read += 1;
            if message.info().unwrap().pending == 0 {
                break;
            }
        }
        let followed = f64::from(read) / begin.elapsed().as_secs_f64();
        (written as f64 / took.as_secs_f64(), followed)
    });
    row(
        &format!("floor: JetStream {name}, guarded messages of 600 bytes, {WRITERS} writers"),
        &format!("{written:.0}/s"),
    );
    row(
        &format!("floor: JetStream {name}, headers of {NOTE_BYTES} bytes, followed by one"),
        &format!("{followed:.0}/s"),
    );
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
