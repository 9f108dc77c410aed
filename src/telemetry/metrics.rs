//! framegate's own metrics, for Prometheus (text exposition format 0.0.4).
//!
//! Input: one call for each occurrence; the state of the stores, at a scrape. Output: the text of `GET /metrics`. Never: a
//! label whose values a client or a runner can invent (a run, a path, a model); a lock held across a wait.
//!
//! This uses the `prometheus` crate rather than `prometheus-client`, which writes only OpenMetrics 1.0. A 0.0.4 scraper
//! treats the counter names of that format as untyped. Without its default features the crate does not depend on protobuf.

mod budgets;
mod costs;
mod meters;
mod readers;
mod register;
mod shared_log;
mod upstreams;
mod webhooks;

pub use costs::RunBill;
pub use meters::{ClientMeter, IngestMeter};
pub use upstreams::UpstreamMeter;
pub use webhooks::{WebhookMeter, WebhookOutcome};

use crate::log::SharedFigures;
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::frame::{Body, Frame, ProviderEvent, ProviderStatus, StreamKind};
use framegate_translators::runners::RUNNERS;
use framegate_translators::warnings::Warning;
use hyper::{Method, StatusCode};
use prometheus::{
    Encoder, Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Registry, TextEncoder,
};
use readers::Readers;
use register::Register;
use shared_log::SharedLogMetrics;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The media type of the text.
pub const CONTENT_TYPE: &str = prometheus::TEXT_FORMAT;

/// The route label of a request for an unknown path.
pub const NO_ROUTE: &str = "none";

/// The wire formats of event streams, as label values.
pub const WIRES: [&str; 2] = ["sse", "ndjson"];

/// Why spans are dropped, as label values: too many open, queue full, refused by the collector, proxy stopped.
const SPANS_DROPPED: [&str; 4] = ["too_many_open", "queue_full", "not_taken", "stopped"];

/// All metrics.
pub struct Metrics {
    registry: Registry,
    ingest_bytes: IntCounterVec,
    ingests_open: IntGaugeVec,
    ingests_ended: IntCounterVec,
    records: IntCounterVec,
    invalid_records: IntCounterVec,
    records_with_errors: IntCounterVec,
    redactions: IntCounterVec,
    frames: IntCounterVec,
    runs_started: IntCounterVec,
    runs_ended: IntCounterVec,
    warnings: IntCounterVec,
    drift: IntCounterVec,
    events_checked: IntCounterVec,
    validation_failures: IntCounterVec,
    events_withheld: IntCounterVec,
    clients: IntGaugeVec,
    bytes_sent: IntCounterVec,
    events_sent: IntCounterVec,
    lag_frames: IntGaugeVec,
    added_latency: HistogramVec,
    log_append: Histogram,
    log_append_errors: IntCounter,
    log_bytes: IntGauge,
    shared_log: SharedLogMetrics,
    log_streams: IntGauge,
    artifact_bytes: IntGauge,
    artifacts: IntGauge,
    artifact_errors: IntCounter,
    requests: IntCounterVec,
    upstream_ended: IntCounterVec,
    spans_sent: IntCounter,
    spans_dropped: IntCounterVec,
    upstreams: upstreams::Families,
    costs: costs::Costs,
    webhooks: webhooks::Families,
    budgets_passed: IntCounterVec,
    tasks: IntGauge,
    /// The rule names that redaction marks may contain.
    rules: OnceLock<Vec<String>>,
    readers: Readers,
}

/// The size of the stores at the time of a scrape. A store that does not report its size is `None`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kept {
    /// Bytes and streams in the log.
    pub log: Option<(u64, u64)>,
    /// Bytes and number of artifacts.
    pub artifacts: Option<(u64, u64)>,
    /// Figures of a log that several proxies share.
    pub shared: Option<SharedFigures>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Metrics in which every count is 0.
    pub fn new() -> Self {
        let registry = Registry::new();
        let to = Register(registry.clone());
        let built = to.gauges("framegate_build_info", "Always 1; the version is a label.", &["version"]);
        built.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        let runner = &["runner"][..];
        let contract = &["contract"][..];
        let client = &["contract", "wire"][..];
        let metrics = Self {
            ingest_bytes: to.counters(
                "framegate_ingest_bytes_total",
                "Bytes of runner output received, by the runner that the request named.",
                runner,
            ),
            ingests_open: to.gauges(
                "framegate_ingests_open",
                "Open ingests, by the runner that the request named.",
                runner,
            ),
            ingests_ended: to.counters(
                "framegate_ingests_ended_total",
                "Finished ingests, by the runner that the request named and the reason of the end.",
                &["runner", "reason"],
            ),
            records: to.counters("framegate_records_total", "Upstream records.", runner),
            invalid_records: to.counters(
                "framegate_invalid_records_total",
                "Upstream records that are not JSON.",
                runner,
            ),
            records_with_errors: to.counters(
                "framegate_records_with_errors_total",
                "Upstream records with errors.",
                runner,
            ),
            redactions: to.counters(
                "framegate_redactions_total",
                "Redacted secrets in upstream records, by rule.",
                &["runner", "rule"],
            ),
            frames: to.counters("framegate_frames_total", "Frames appended to the log, by type.", &["runner", "type"]),
            runs_started: to.counters("framegate_runs_started_total", "Runs that began.", runner),
            runs_ended: to.counters("framegate_runs_ended_total", "Runs that ended, by reason.", &["runner", "reason"]),
            warnings: to.counters("framegate_warnings_total", "Warnings about runs, by code.", &["runner", "code"]),
            drift: to.counters(
                "framegate_drift_total",
                "Differences between upstream records and the known schemas of their runner.",
                &["runner", "kind"],
            ),
            events_checked: to.counters(
                "framegate_events_checked_total",
                "Events that were checked against their schema; each event of a run counts once, however many clients \
                 read it.",
                contract,
            ),
            validation_failures: to.counters(
                "framegate_validation_failures_total",
                "Events that violate their schema.",
                contract,
            ),
            events_withheld: to.counters(
                "framegate_events_withheld_total",
                "Events that were withheld because they violate their schema.",
                contract,
            ),
            clients: to.gauges("framegate_clients", "Open event streams.", client),
            bytes_sent: to.counters("framegate_event_bytes_sent_total", "Bytes of events sent to clients.", client),
            events_sent: to.counters("framegate_events_sent_total", "Events sent to clients of event streams.", client),
            lag_frames: to.gauges(
                "framegate_client_lag_frames",
                "Frames that the slowest client has not received yet.",
                client,
            ),
            added_latency: to.add(HistogramVec::new(
                Register::seconds(
                    "framegate_added_latency_seconds",
                    "Time from the arrival of the newest record in a batch until its events are sent to a waiting \
                     client.",
                ),
                contract,
            )),
            log_append: to.add(Histogram::with_opts(Register::seconds(
                "framegate_log_append_seconds",
                "Time to append one batch of frames to the log.",
            ))),
            log_append_errors: to.counter("framegate_log_append_errors_total", "Batches that the log did not accept."),
            shared_log: SharedLogMetrics::new(&to),
            log_bytes: to.gauge("framegate_log_bytes", "Bytes of stored frames."),
            log_streams: to.gauge("framegate_log_streams", "Stored streams: runs, tasks and threads."),
            artifact_bytes: to.gauge("framegate_artifact_bytes", "Bytes of stored artifacts."),
            artifacts: to.gauge("framegate_artifacts", "Stored artifacts."),
            artifact_errors: to.counter("framegate_artifact_errors_total", "Artifacts that could not be stored."),
            requests: to.counters(
                "framegate_http_requests_total",
                "Answered requests, by the pattern of their path; an event stream counts when it begins.",
                &["method", "route", "status"],
            ),
            upstream_ended: to.counters(
                "framegate_upstream_requests_total",
                "Finished requests to upstreams, by upstream and outcome.",
                &["upstream", "outcome"],
            ),
            spans_sent: to.counter("framegate_spans_sent_total", "Spans that the OpenTelemetry collector accepted."),
            spans_dropped: to.counters(
                "framegate_spans_dropped_total",
                "Spans that were not sent to the OpenTelemetry collector, by reason.",
                &["reason"],
            ),
            upstreams: upstreams::Families::new(&to),
            costs: costs::Costs::new(&to),
            webhooks: webhooks::Families::new(&to),
            budgets_passed: budgets::passed(&to),
            tasks: to.gauge("framegate_tasks", "Running tasks of the async runtime."),
            rules: OnceLock::new(),
            readers: Readers::default(),
            registry,
        };
        metrics.begin_at_zero();
        metrics
    }

    /// Creates the series whose labels are known beforehand with value 0, so that a rate includes their first increment.
    fn begin_at_zero(&self) {
        for runner in RUNNERS {
            let name = runner.name;
            self.ingests_open.with_label_values(&[name]);
            self.ingest_bytes.with_label_values(&[name]);
            let by_provider = [&self.records, &self.invalid_records, &self.records_with_errors, &self.runs_started];
            for family in by_provider {
                family.with_label_values(&[name]);
            }
            for reason in ["completed", "failed", "interrupted"] {
                self.runs_ended.with_label_values(&[name, reason]);
            }
            for warning in Warning::ALL {
                self.warnings.with_label_values(&[name, warning.code()]);
            }
        }
        for reason in SPANS_DROPPED {
            self.spans_dropped.with_label_values(&[reason]);
        }
        for contract in CONTRACTS {
            for family in [&self.events_checked, &self.validation_failures, &self.events_withheld] {
                family.with_label_values(&[contract.name]);
            }
            for wire in WIRES {
                self.clients.with_label_values(&[contract.name, wire]);
                self.lag_frames.with_label_values(&[contract.name, wire]);
            }
        }
    }

    /// Counts frames that the log accepted.
    pub fn kept(&self, frames: &[Arc<Frame>]) {
        // An ingest has one runner and few frame types. Count locally first, then update the shared counters.
        let Some(runner) = frames.first().map(|frame| runner_of(frame.stream.provider.name)) else { return };
        let mut kinds: Vec<(&'static str, u64)> = Vec::new();
        let mut records = [0u64; 3];
        for frame in frames {
            let kind = frame.body.kind();
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, count)) => *count += 1,
                None => kinds.push((kind, 1)),
            }
            match &frame.body {
                Body::ProviderEvent(record) => {
                    let [all, invalid, wrong] = &mut records;
                    *all += 1;
                    *invalid += u64::from(record.status == ProviderStatus::InvalidJson);
                    *wrong += u64::from(!record.errors.is_empty() || !record.response_errors.is_empty());
                    if !record.redacted_paths.is_empty() {
                        self.redacted(runner, record);
                    }
                    for kind in &record.drift {
                        self.drift.with_label_values(&[runner, kind.as_str()]).inc();
                    }
                }
                Body::SessionStarted { .. } if frame.stream.kind == StreamKind::Session => {
                    self.runs_started.with_label_values(&[runner]).inc();
                }
                Body::SessionEnded(end) if frame.stream.kind == StreamKind::Session => {
                    self.runs_ended.with_label_values(&[runner, end.reason.as_str()]).inc();
                }
                _ => {}
            }
        }
        for (kind, count) in kinds {
            self.frames.with_label_values(&[runner, kind]).inc_by(count);
        }
        let families = [&self.records, &self.invalid_records, &self.records_with_errors];
        for (family, count) in families.into_iter().zip(records).filter(|(_, count)| *count > 0) {
            family.with_label_values(&[runner]).inc_by(count);
        }
    }

    /// Counts what a run that has ended used and cost.
    pub fn run_ended(&self, bill: &RunBill<'_>) {
        self.costs.ended(bill);
    }

    /// Sets the rule names that redaction marks may contain. Only the first call has an effect.
    pub fn redacts(&self, rules: impl Iterator<Item = String>) {
        let _ = self.rules.set(rules.collect());
    }

    /// Counts the redaction marks of a record. A mark whose name is not one of our rules is the runner's own text and is
    /// ignored.
    fn redacted(&self, runner: &str, record: &ProviderEvent) {
        let rules = self.rules.get().map(Vec::as_slice).unwrap_or_default();
        let data = record.data.as_deref().map(str::as_bytes);
        let text = String::from_utf8_lossy(data.or(record.raw.as_deref()).unwrap_or_default());
        for mark in text.split("[REDACTED:").skip(1) {
            let name = mark.split_once(']').map_or("", |(name, _)| name);
            if rules.iter().any(|rule| rule == name) {
                self.redactions.with_label_values(&[runner, name]).inc();
            }
        }
    }

    /// Counts one append to the log, with its duration and whether it succeeded.
    pub fn appended(&self, took: Duration, well: bool) {
        self.log_append.observe(took.as_secs_f64());
        if !well {
            self.log_append_errors.inc();
        }
    }

    /// Counts spans that the collector accepted.
    pub fn spans_sent(&self, spans: u64) {
        self.spans_sent.inc_by(spans);
    }

    /// Counts dropped spans. `reason` is one of the label's known values.
    pub fn spans_dropped(&self, reason: &'static str, spans: u64) {
        if spans > 0 {
            self.spans_dropped.with_label_values(&[reason]).inc_by(spans);
        }
    }

    /// Counts a warning about a run.
    pub fn warned(&self, provider: &str, warning: Warning) {
        self.warnings.with_label_values(&[runner_of(provider), warning.code()]).inc();
    }

    /// Counts an artifact that could not be stored.
    pub fn artifact_failed(&self) {
        self.artifact_errors.inc();
    }

    /// Counts events of a contract that were checked for the first time.
    pub fn checked(&self, contract: &str, events: u64) {
        self.events_checked.with_label_values(&[contract]).inc_by(events);
    }

    /// Counts an event that violates its schema.
    pub fn broke(&self, contract: &str, withheld: bool) {
        self.validation_failures.with_label_values(&[contract]).inc();
        if withheld {
            self.events_withheld.with_label_values(&[contract]).inc();
        }
    }

    /// Counts an answered request.
    pub fn request(&self, method: &Method, route: &str, status: StatusCode) {
        // Clients can invent methods, so unknown ones share a label.
        let known =
            [Method::GET, Method::HEAD, Method::POST, Method::OPTIONS, Method::PUT, Method::PATCH, Method::DELETE];
        let method = if known.contains(method) { method.as_str() } else { "other" };
        self.requests.with_label_values(&[method, route, status.as_str()]).inc();
    }

    /// Counts a request to an upstream that ended. `upstream` is a configured name.
    pub fn upstream_ended(&self, upstream: &str, outcome: &'static str) {
        self.upstream_ended.with_label_values(&[upstream, outcome]).inc();
    }

    /// Sets whether the feed of an upstream is connected.
    pub fn upstream_connected(&self, upstream: &str, is_connected: bool) {
        self.upstreams.set_connected(upstream, is_connected);
    }

    /// Counts the loss of an upstream's feed that was connected.
    pub fn upstream_connection_lost(&self, upstream: &str) {
        self.upstreams.lost(upstream);
    }

    /// The meter for the runs of one upstream. `name` is a configured name.
    pub fn upstream(&self, name: &str) -> UpstreamMeter {
        self.upstreams.meter(name)
    }

    /// Starts metering an ingest. `runner` is the one that the request named, or `auto`.
    pub fn ingest(&self, runner: &'static str) -> IngestMeter {
        let open = self.ingests_open.with_label_values(&[runner]);
        open.inc();
        let bytes = self.ingest_bytes.with_label_values(&[runner]);
        IngestMeter { runner, open, bytes, ended: self.ingests_ended.clone(), reason: "internal" }
    }

    /// Starts metering a client that reads an event stream. `lag` returns how many frames it has not got yet.
    pub fn client(
        self: &Arc<Self>,
        contract: &'static str,
        wire: &'static str,
        lag: impl Fn() -> u64 + Send + 'static,
    ) -> ClientMeter {
        let labels = &[contract, wire];
        let open = self.clients.with_label_values(labels);
        open.inc();
        let number = self.readers.enter(contract, wire, Box::new(lag));
        ClientMeter {
            number,
            open,
            bytes: self.bytes_sent.with_label_values(labels),
            events: self.events_sent.with_label_values(labels),
            latency: self.added_latency.with_label_values(&[contract]),
            metrics: self.clone(),
        }
    }

    /// The text for a scrape.
    pub fn text(&self, kept: Kept) -> Vec<u8> {
        if let Some((bytes, streams)) = kept.log {
            self.log_bytes.set(signed(bytes));
            self.log_streams.set(signed(streams));
        }
        if let Some((bytes, count)) = kept.artifacts {
            self.artifact_bytes.set(signed(bytes));
            self.artifacts.set(signed(count));
        }
        if let Some(figures) = &kept.shared {
            self.shared_log.set(figures);
        }
        self.measure_lag();
        let runtime = tokio::runtime::Handle::try_current().map(|runtime| runtime.metrics().num_alive_tasks() as u64);
        self.tasks.set(signed(runtime.unwrap_or_default()));
        let mut families = self.registry.gather();
        // Unknown values are absent, never 0.
        families.retain(|family| match family.name() {
            "framegate_log_bytes" | "framegate_log_streams" => kept.log.is_some(),
            "framegate_artifact_bytes" | "framegate_artifacts" => kept.artifacts.is_some(),
            name => kept.shared.is_some() || !name.starts_with(shared_log::PREFIX),
        });
        let mut text = Vec::with_capacity(16 << 10);
        if let Err(error) = TextEncoder::new().encode(&families, &mut text) {
            tracing::error!(%error, "the metrics could not be written");
        }
        text
    }

    fn measure_lag(&self) {
        let most = self.readers.most_lag();
        for contract in CONTRACTS {
            for wire in WIRES {
                let lag = most.get(&(contract.name, wire)).copied().unwrap_or_default();
                self.lag_frames.with_label_values(&[contract.name, wire]).set(signed(lag));
            }
        }
    }
}

/// The runner label for a runner's name or the `provider` of its frames; `other` if unknown.
fn runner_of(name: &str) -> &'static str {
    let known = RUNNERS.iter().find(|runner| runner.name == name || runner.provider.name == name);
    known.map_or("other", |runner| runner.name)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
