//! What is known of a run at a glance.

use crate::telemetry::metrics::Metrics;
use framegate_translators::frame::{Body, EndReason, Frame, ProviderStatus, StreamKind, Usage, UsageScope};
use framegate_translators::warnings::{Warning, Watch};
use serde::Serialize;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It goes on.
    Running,
    /// It waits for a decision.
    WaitingApproval,
    /// The runner says that it went well.
    Completed,
    /// The runner says that it went badly.
    Failed,
    /// It was stopped, or its stream broke off.
    Interrupted,
}

/// A run at a glance: `GET /v1/runs/{run_id}`. What is not known is absent.
#[derive(Clone, Debug, Serialize)]
pub struct RunStatus {
    /// The run.
    pub run_id: Uuid,
    /// Its session.
    pub session_id: Uuid,
    /// The session in the runner's spelling.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub session_name: String,
    /// The runner.
    pub runner: &'static str,
    /// Where it stands.
    pub state: RunState,
    /// Unix epoch milliseconds of the first frame.
    pub started_at_ms: u64,
    /// Unix epoch milliseconds of the newest frame.
    pub updated_at_ms: u64,
    /// Unix epoch milliseconds of the last frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<u64>,
    /// Frames so far.
    pub frames: u64,
    /// Upstream records so far.
    pub records: u64,
    /// Upstream records that were not JSON.
    pub invalid_records: u64,
    /// Upstream records with something wrong in them.
    pub records_with_errors: u64,
    /// Tool calls that ran.
    pub tool_calls: u64,
    /// Tokens and money.
    pub usage: UsageTotal,
    /// How often each of the warnings was given, by its code.
    pub warnings: BTreeMap<&'static str, u64>,
    /// How often upstream records differed from what is known of the runner, by the kind of difference.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub drift: BTreeMap<&'static str, u64>,
    /// Events that were checked against their schema, by contract. One that nobody asked for in a contract is not made in it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub events_checked: BTreeMap<&'static str, u64>,
    /// Events that broke their schema, by contract.
    pub validation_failures: BTreeMap<&'static str, u64>,
    /// Those of them that were withheld, by contract.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub events_withheld: BTreeMap<&'static str, u64>,
    /// Approvals that wait for an answer.
    pub pending_approvals: Vec<String>,
    /// The main thread's last whole text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_text: Option<String>,
    /// A stable code where the run failed or was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// What a person is told where the run failed or was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the stream is over.
    #[serde(skip)]
    pub ended: bool,
    #[serde(skip)]
    watch: Watch,
}

/// Tokens and money of a run. What no record told is absent.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UsageTotal {
    /// Tokens read outside the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens written, reasoning among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens read from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_tokens: Option<u64>,
    /// The part of `output_tokens` that was reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The runner gave its own total: the turns are in it.
    #[serde(skip)]
    is_run_total: bool,
}

impl UsageTotal {
    fn add(&mut self, usage: &Usage) {
        match (usage.scope, self.is_run_total) {
            (UsageScope::Turn, true) => return,
            (UsageScope::Run, false) => *self = Self { is_run_total: true, ..Self::default() },
            _ => {}
        }
        plus(&mut self.input_tokens, Some(usage.input_tokens));
        plus(&mut self.output_tokens, Some(usage.output_tokens));
        plus(&mut self.cache_read_tokens, usage.cache_read_tokens);
        plus(&mut self.cache_creation_tokens, usage.cache_creation_tokens);
        plus(&mut self.reasoning_tokens, usage.reasoning_tokens);
        if let Some(cost) = usage.cost_usd {
            self.cost_usd = Some(self.cost_usd.unwrap_or_default() + cost);
        }
    }
}

fn plus(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or_default().saturating_add(more));
    }
}

impl RunStatus {
    pub(super) fn new(first: &Frame) -> Self {
        let stream = &first.stream;
        Self {
            run_id: stream.id,
            session_id: stream.session.id,
            session_name: stream.session.name.to_string(),
            runner: stream.provider,
            state: RunState::Running,
            started_at_ms: first.timestamp_ms,
            updated_at_ms: first.timestamp_ms,
            ended_at_ms: None,
            frames: 0,
            records: 0,
            invalid_records: 0,
            records_with_errors: 0,
            tool_calls: 0,
            usage: UsageTotal::default(),
            warnings: BTreeMap::new(),
            drift: BTreeMap::new(),
            events_checked: BTreeMap::new(),
            validation_failures: BTreeMap::new(),
            events_withheld: BTreeMap::new(),
            pending_approvals: Vec::new(),
            final_text: None,
            error_code: None,
            message: None,
            ended: false,
            watch: Watch::default(),
        }
    }

    /// Takes the next frame of the stream.
    pub(super) fn observe(&mut self, frame: &Frame, metrics: &Metrics) {
        self.frames += 1;
        self.updated_at_ms = frame.timestamp_ms;
        if frame.stream.kind == StreamKind::Session {
            for warning in self.watch.frame(frame) {
                metrics.warned(self.runner, warning);
                self.warn(warning, frame);
            }
        }
        match &frame.body {
            Body::ProviderEvent(record) => {
                self.records += 1;
                self.invalid_records += u64::from(record.status == ProviderStatus::InvalidJson);
                for kind in &record.drift {
                    *self.drift.entry(kind.as_str()).or_default() += 1;
                }
                self.records_with_errors += u64::from(!record.errors.is_empty() || !record.response_errors.is_empty());
            }
            Body::ToolStarted { .. } => self.tool_calls += 1,
            Body::UsageReported(usage) => self.usage.add(usage),
            Body::ApprovalRequested(request) => {
                self.pending_approvals.push(request.approval_id.to_string());
                self.state = RunState::WaitingApproval;
            }
            Body::ApprovalResolved(answer) => {
                self.pending_approvals.retain(|pending| **pending != *answer.approval_id);
                if self.pending_approvals.is_empty() {
                    self.state = RunState::Running;
                }
            }
            Body::SessionStarted { .. } if frame.stream.kind == StreamKind::Session => {
                tracing::info!(run = %self.run_id, session = %self.session_id, runner = self.runner, "a run began");
            }
            Body::SessionEnded(end) => {
                tracing::info!(
                    run = %self.run_id, session = %self.session_id, runner = self.runner, reason = end.reason.as_str(),
                    code = end.error_code.as_deref(), "a run ended"
                );
                self.state = match end.reason {
                    EndReason::Completed => RunState::Completed,
                    EndReason::Failed => RunState::Failed,
                    EndReason::Interrupted => RunState::Interrupted,
                };
                self.final_text.clone_from(&end.final_text);
                self.error_code = end.error_code.as_deref().map(str::to_owned);
                self.message.clone_from(&end.message);
            }
            _ => {}
        }
        if framegate_translators::pipeline::is_last(frame) {
            self.ended = true;
            self.ended_at_ms = Some(frame.timestamp_ms);
        }
    }

    fn warn(&mut self, warning: Warning, frame: &Frame) {
        *self.warnings.entry(warning.code()).or_default() += 1;
        tracing::warn!(
            run = %self.run_id, session = %self.session_id, runner = self.runner, seq = frame.seq, code = warning.code(), "{}", warning.message()
        );
    }
}
