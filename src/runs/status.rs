//! What is known of a run at a glance.

use super::responses;
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::drift::DriftKind;
use framegate_translators::frame::{Body, EndReason, Frame, ProviderStatus, StreamKind, Usage, UsageScope};
use framegate_translators::runners::RUNNERS;
use framegate_translators::warnings::{Warning, Watch};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::process::ExitStatus;
use uuid::Uuid;

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// A word of the program. Under a name of its own, for serde takes a reference that it sees for one into its input.
type Word = &'static str;

/// A run at a glance: `GET /v1/runs/{run_id}`. What is not known is absent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunStatus {
    /// The run.
    pub run_id: Uuid,
    /// Its session.
    pub session_id: Uuid,
    /// The session in the runner's spelling.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub session_name: String,
    /// Of a response: the id that its upstream gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The runner.
    #[serde(deserialize_with = "provider")]
    pub runner: Word,
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
    /// The first so many of them are not kept any more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pruned_frames: u64,
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
    #[serde(deserialize_with = "warnings")]
    pub warnings: BTreeMap<Word, u64>,
    /// How often upstream records differed from what is known of the runner, by the kind of difference.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "drift")]
    pub drift: BTreeMap<Word, u64>,
    /// Events that were checked against their schema, by contract. One that nobody asked for in a contract is not made in
    /// it. These counts and the next two are kept every minute, and where the proxy stops.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "by_contract")]
    pub events_checked: BTreeMap<Word, u64>,
    /// Events that broke their schema, by contract.
    #[serde(default, deserialize_with = "by_contract")]
    pub validation_failures: BTreeMap<Word, u64>,
    /// Those of them that were withheld, by contract.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "by_contract")]
    pub events_withheld: BTreeMap<Word, u64>,
    /// Approvals that wait for an answer.
    pub pending_approvals: Vec<String>,
    /// The same with what is known of them.
    #[serde(default)]
    pub approvals: Vec<Waiting>,
    /// The main thread's last whole text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_text: Option<String>,
    /// As it is kept: whether the final text stands in the last frame alone. `None` here, and where that was not noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) is_final_text_long: Option<bool>,
    /// A stable code where the run failed or was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// What a person is told where the run failed or was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why the last that came of the run is not kept, so that nobody can read it and the run does not end before there is room:
    /// `log_full` or `log_failed`. Absent where all is.
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<Word>,
    /// How the program left that the proxy started for the run, once it has. Of several runs of one program, the last one
    /// has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exited>,
    /// Whether the stream is over.
    #[serde(skip)]
    pub ended: bool,
    #[serde(skip)]
    pub(super) watch: Watch,
}

/// How a program left: one of the two, where the system says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exited {
    /// Its exit status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    /// The number of the signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

impl Exited {
    /// As the system tells it.
    pub fn of(status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt;
        Self { status: status.code(), signal: status.signal() }
    }
}

/// A question that waits for its answer. What is asked about stands in its event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Its id, under which it is answered.
    pub approval_id: String,
    /// The tool that wants to run.
    pub tool_name: String,
    /// Why it is asked, as the runner says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Unix epoch milliseconds of its frame.
    pub requested_at_ms: u64,
    /// The number of its frame.
    pub seq: u64,
}

/// Tokens and money of a run. What no record told is absent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
            response_id: None,
            runner: stream.provider,
            state: RunState::Running,
            started_at_ms: first.timestamp_ms,
            updated_at_ms: first.timestamp_ms,
            ended_at_ms: None,
            frames: 0,
            pruned_frames: 0,
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
            approvals: Vec::new(),
            final_text: None,
            is_final_text_long: None,
            error_code: None,
            message: None,
            not_kept: None,
            exit: None,
            ended: false,
            watch: Watch::default(),
        }
    }

    /// Takes the next frame of the stream.
    pub(super) fn observe(&mut self, frame: &Frame, warned: &mut Vec<(Warning, u64)>) {
        self.frames += 1;
        self.updated_at_ms = frame.timestamp_ms;
        if frame.stream.kind == StreamKind::Session {
            for warning in self.watch.frame(frame) {
                *self.warnings.entry(warning.code()).or_default() += 1;
                warned.push((warning, frame.seq));
            }
        }
        match &frame.body {
            Body::ProviderEvent(record) => {
                self.records += 1;
                if self.response_id.is_none()
                    && let Some(data) = record.data.as_deref().filter(|_| frame.stream.kind == StreamKind::Session)
                {
                    self.response_id = responses::told(self.runner, self.records, data);
                }
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
                self.approvals.push(Waiting {
                    approval_id: request.approval_id.to_string(),
                    tool_name: request.tool_name.to_string(),
                    reason: request.reason.clone(),
                    requested_at_ms: frame.timestamp_ms,
                    seq: frame.seq,
                });
                self.state = RunState::WaitingApproval;
            }
            Body::ApprovalResolved(answer) => {
                self.pending_approvals.retain(|pending| **pending != *answer.approval_id);
                self.approvals.retain(|waiting| *waiting.approval_id != *answer.approval_id);
                if self.pending_approvals.is_empty() {
                    self.state = RunState::Running;
                }
            }
            Body::SessionEnded(end) => {
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
        // A task may be gone on with by a later ingest; nothing follows the end of a run.
        self.ended = framegate_translators::pipeline::is_last(frame);
        self.ended_at_ms = self.ended.then_some(frame.timestamp_ms);
    }

    /// Tells what is worth a warning.
    pub(super) fn tell(&self, warning: Warning, seq: u64) {
        tracing::warn!(
            run = %self.run_id, session = %self.session_id, runner = self.runner, seq, code = warning.code(), "{}",
            warning.message()
        );
    }
}

/// Tells of a run's beginning and end, once they are kept.
pub(super) fn tell_bounds(frame: &Frame) {
    let stream = &frame.stream;
    if stream.kind != StreamKind::Session {
        return;
    }
    let (run, session, runner) = (stream.id, stream.session.id, stream.provider);
    match &frame.body {
        Body::SessionStarted { .. } => tracing::info!(%run, %session, runner, "a run began"),
        Body::SessionEnded(end) => {
            let (reason, code) = (end.reason.as_str(), end.error_code.as_deref());
            tracing::info!(%run, %session, runner, reason, code, "a run ended");
        }
        _ => {}
    }
}

fn provider<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(deserializer)?;
    let known = RUNNERS.iter().map(|runner| runner.provider).find(|known| *known == name);
    known.ok_or_else(|| serde::de::Error::custom(format_args!("there is no provider {name:?}")))
}

fn warnings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Word, u64>, D::Error> {
    counts(deserializer, Warning::ALL.map(Warning::code))
}

fn drift<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Word, u64>, D::Error> {
    counts(deserializer, DriftKind::ALL.map(DriftKind::as_str))
}

fn by_contract<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Word, u64>, D::Error> {
    counts(deserializer, CONTRACTS.iter().map(|contract| contract.name))
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Counts under names that are known; others are those of another version, whose counts mean nothing here.
fn counts<'de, D: Deserializer<'de>>(
    deserializer: D,
    known: impl IntoIterator<Item = &'static str> + Clone,
) -> Result<BTreeMap<Word, u64>, D::Error> {
    let counts = BTreeMap::<String, u64>::deserialize(deserializer)?;
    let named = |(name, count)| Some((known.clone().into_iter().find(|known| *known == name)?, count));
    Ok(counts.into_iter().filter_map(named).collect())
}
