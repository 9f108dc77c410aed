//! Load tests of the built proxy: latency, fan-out, memory, resuming, and the cost of durability.
//!
//! The proxy is a separate process. The load comes from this process over loopback, so the two share the machine's cores. The
//! latency is printed next to a floor from the same run: the same records through a relay that only copies bytes. Memory is the
//! resident set of the proxy's process (Linux only).
//!
//! `cargo bench --bench load [-- latency|runs|fanout|idle|stored|flat|one-run|durable|cluster]...`; `FRAMEGATE_BINARY` names another
//! build to measure. `cluster` needs `--features jetstream`, and the path of a NATS server in `NATS_SERVER`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing, missing_docs, reason = "a benchmark")]

#[cfg(feature = "jetstream")]
mod cluster;
mod durable;
mod fanout;
mod idle;
mod latency;
#[cfg(feature = "jetstream")]
#[allow(unreachable_pub, reason = "shared with tests/cluster")]
#[path = "../../tests/cluster/ports.rs"]
mod ports;
mod proxy;
mod records;
#[cfg(feature = "jetstream")]
#[allow(dead_code, unreachable_pub, clippy::panic, clippy::print_stderr, reason = "shared with tests/cluster")]
#[path = "../../tests/cluster/servers.rs"]
mod servers;
mod stored;
mod wire;

/// A build without the feature `jetstream`.
#[cfg(not(feature = "jetstream"))]
mod cluster {
    pub(crate) fn shared_log(_: crate::Scale) {
        crate::row("a log at NATS servers", "not measured: build with --features jetstream");
    }
}

/// The size of each part: for a measurement, or just enough to show that it works.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) seconds: u64,
    pub(crate) runs: usize,
    pub(crate) fanout_clients: usize,
    pub(crate) fanout_records: usize,
    pub(crate) idle_clients: [usize; 2],
    pub(crate) stored_records: [usize; 2],
    pub(crate) flat_runs: usize,
    pub(crate) long_run: usize,
    pub(crate) durable_rounds: usize,
    pub(crate) request_bytes: usize,
}

const WHOLE: Scale = Scale {
    seconds: 10,
    runs: 200,
    fanout_clients: 1_000,
    fanout_records: 2_000,
    idle_clients: [1_000, 10_000],
    stored_records: [500, 500_000],
    flat_runs: 200,
    long_run: 5_000_000,
    durable_rounds: 9,
    request_bytes: durable::REQUEST_BYTES,
};

/// The scale for `cargo test --benches`, which keeps this program working.
const QUICK: Scale = Scale {
    seconds: 1,
    runs: 4,
    fanout_clients: 10,
    fanout_records: 100,
    idle_clients: [10, 50],
    stored_records: [500, 5_000],
    flat_runs: 4,
    long_run: 40_000,
    durable_rounds: 1,
    request_bytes: 1 << 16,
};

/// A part of the load, and its name on the command line.
type Part = (&'static str, fn(Scale));

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let scale = if args.iter().any(|arg| arg == "--bench") { WHOLE } else { QUICK };
    if proxy::raise_file_limit() {
        return;
    }
    let words: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let parts: [Part; 9] = [
        ("latency", latency::one_run),
        ("runs", latency::many_runs),
        ("fanout", fanout::one_run_to_many),
        ("idle", idle::clients),
        ("stored", stored::frames_and_resuming),
        ("flat", stored::flat),
        ("one-run", stored::one_run),
        ("durable", durable::ingests),
        ("cluster", cluster::shared_log),
    ];
    for word in &words {
        assert!(parts.iter().any(|(name, _)| name == word), "unknown part {word:?}");
    }
    for (name, part) in parts {
        if words.is_empty() || words.iter().any(|word| *word == name) {
            part(scale);
        }
    }
}

/// The text for a figure that this system does not provide.
pub(crate) fn not_measured() -> String {
    "not measured: there is no /proc".to_owned()
}

/// Prints one line of the table.
pub(crate) fn row(what: &str, value: &str) {
    println!("{what:<64} {value}");
}
