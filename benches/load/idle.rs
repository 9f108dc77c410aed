//! Measures the memory of a client that follows a run in which nothing happens.

use crate::proxy::Proxy;
use crate::wire::{Upload, events, read_until};
use crate::{Scale, not_measured, records, row};
use std::thread;
use std::time::Duration;

pub(crate) fn clients(scale: Scale) {
    for count in scale.idle_clients {
        let proxy = Proxy::start(&[]);
        let mut upload = Upload::start(proxy.address);
        upload.send(&records::opening(0));
        upload.send(&records::piece(0, "some text"));
        let path = format!("/v1/runs/{}/events?contract=sse.v1", proxy.newest_run());
        let client = || {
            let mut stream = events(proxy.address, &path, None);
            read_until(&mut stream, b"\n\n");
            stream
        };
        // The first clients cause the allocations that do not depend on the number of clients.
        let first: Vec<_> = (0..4).map(|_| client()).collect();
        // Allocations may continue for a moment after the first event; nothing observable marks their end.
        thread::sleep(Duration::from_millis(200));
        let before = proxy.resident();
        let more: Vec<_> = (0..count).map(|_| client()).collect();
        thread::sleep(Duration::from_millis(500));
        let each =
            before.zip(proxy.resident()).map(|(before, after)| after.saturating_sub(before) as f64 / count as f64);
        row(
            &format!("memory of an idle SSE client, {count} of them"),
            &each.map_or_else(not_measured, |bytes| format!("{:.1} KiB", bytes / 1024.0)),
        );
        drop((first, more, upload));
    }
}
