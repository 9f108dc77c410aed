//! Measures the fan-out of one run to many clients.

use crate::proxy::Proxy;
use crate::wire::{Counter, Upload, request};
use crate::{Scale, records, row};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) fn one_run_to_many(scale: Scale) {
    for contract in ["sse.v1", "frames.v2"] {
        live(scale, contract, &[Proxy::start(&[])]);
    }
}

/// All clients connect before the run's first piece, and receive it while the first proxy takes it in as fast as it can. The clients
/// are spread over the proxies.
pub(crate) fn live(scale: Scale, contract: &str, proxies: &[Proxy]) {
    let proxy = &proxies[0];
    let mut upload = Upload::start(proxy.address);
    upload.send(&records::opening(0));
    let path = format!("/v1/runs/{}/events?contract={contract}", proxy.newest_run());
    let places: Vec<_> = proxies.iter().map(|proxy| (proxy.address, request(proxy.address, &path, None))).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let clients: Vec<TcpStream> = runtime.block_on(async {
        let mut clients = Vec::new();
        for (address, head) in places.iter().cycle().take(scale.fanout_clients) {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.readable().await.unwrap();
            clients.push(stream);
        }
        clients
    });
    let begin = Instant::now();
    let sender = std::thread::spawn(move || {
        for record in 0..scale.fanout_records {
            upload.send(&records::piece(0, &format!("piece {record:06} of a text ")));
        }
        upload.send(&records::closing(0));
        upload.finish();
    });
    let counts: Vec<u64> = runtime.block_on(async {
        let readers: Vec<_> = clients
            .into_iter()
            .map(|mut stream| {
                tokio::spawn(async move {
                    let (mut counter, mut buffer) = (Counter::default(), vec![0; 16_384]);
                    loop {
                        let read = stream.read(&mut buffer).await.unwrap();
                        counter.take(&buffer[..read]);
                        // The final chunk may be read on its own. No other chunk ends with these bytes.
                        if read == 0 || buffer[..read].ends_with(b"0\r\n\r\n") {
                            return counter.events;
                        }
                    }
                })
            })
            .collect();
        let mut counts = Vec::new();
        for reader in readers {
            counts.push(reader.await.unwrap());
        }
        counts
    });
    let took = begin.elapsed();
    sender.join().unwrap();
    assert!(counts[0] > scale.fanout_records as u64 && counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    let all: u64 = counts.iter().sum();
    row(
        &format!(
            "fan-out of one run to {} clients at {} proxies, {contract}, live",
            scale.fanout_clients,
            proxies.len()
        ),
        &format!("{:.0} events/s delivered ({all} in {took:.2?})", all as f64 / took.as_secs_f64()),
    );
}
