//! Run status: a summary of a run.

use super::labels::Labels;
use super::model_calls::ModelCalls;
use super::registry::{openings, responses};
use super::title::title;
use super::tool_figures::RunTools;
use super::usage_total::UsageTotal;
use super::workspace;
use crate::platform::exit;
use crate::prices::ComputedCost;
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::drift::DriftKind;
use framegate_translators::frame::{
    Body, EndReason, Figures, Frame, ProviderStatus, Stream, StreamKind, Tool, UsageScope,
};
use framegate_translators::runners::{RUNNERS, Workspace, name_of};
use framegate_translators::warnings::{Warning, Watch};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::process::ExitStatus;
use uuid::Uuid;

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// The run goes on.
    Running,
    /// The run waits for a decision.
    WaitingApproval,
    /// The runner reported success.
    Completed,
    /// The runner reported failure.
    Failed,
    /// The run was stopped, or its stream broke off.
    Interrupted,
}

impl RunState {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::Running, Self::WaitingApproval, Self::Completed, Self::Failed, Self::Interrupted];

    /// The name of the state in the APIs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::WaitingApproval => "waiting_approval",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A static string. It has a type alias because serde borrows a field written as `&str` from its input.
type Word = &'static str;

/// Status of a run: `GET /v1/runs/{run_id}`. Unknown values are absent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunStatus {
    /// The run's id.
    pub run_id: Uuid,
    /// The id of its session.
    pub session_id: Uuid,
    /// The runner's own name for the session.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub session_name: String,
    /// The id that the upstream gave the response; absent for other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The runner's name.
    #[serde(deserialize_with = "runner_name")]
    pub runner: Word,
    /// The run's first prompt on one line, with white space folded, cut after 120 characters; absent if the runner did not report
    /// it, and for runs that an older version stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The model that the run named last, as the runner spells it; absent if it named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where the run works; absent if its runner did not report it, and for runs that an older version stored.
    #[serde(default, skip_serializing_if = "Workspace::is_empty")]
    pub workspace: Workspace,
    /// The run's state.
    pub state: RunState,
    /// Time of the first frame, in Unix epoch milliseconds.
    pub started_at_ms: u64,
    /// Time of the newest frame, in Unix epoch milliseconds.
    pub updated_at_ms: u64,
    /// Time of the last frame, in Unix epoch milliseconds; absent while the run is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<u64>,
    /// Number of frames so far.
    pub frames: u64,
    /// How many frames at the start of the stream are not kept any more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pruned_frames: u64,
    /// Upstream records so far.
    pub records: u64,
    /// Upstream records that were not JSON.
    pub invalid_records: u64,
    /// Upstream records with errors.
    pub records_with_errors: u64,
    /// What the client that sent or started the run said about it.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Model calls of the main thread; absent if an older version stored the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Tool calls that began, including those of subagents.
    pub tool_calls: u64,
    /// Tool calls that were refused or interrupted, that never ran, or that ended with an exit code other than 0; absent if an older
    /// version stored the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_tool_calls: Option<u64>,
    /// The tool calls by tool; absent if an older version stored the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<RunTools>,
    /// Set only in the stored form: running calls with the places of their tools. Empty in memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) kept_calls: Vec<(Uuid, usize)>,
    /// Tokens, and the cost that the runner reported.
    pub usage: UsageTotal,
    /// The model calls that the runner reported one by one, by model; absent if an older version stored the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<ModelCalls>,
    /// What the tokens cost. Set only in what clients get, since it depends on the prices of the time when they ask.
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub computed_cost: Option<Box<ComputedCost>>,
    /// How often each warning was raised, by its code.
    #[serde(deserialize_with = "warnings")]
    pub warnings: BTreeMap<Word, u64>,
    /// How often upstream records differed from the runner's known format, by the kind of difference.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "drift")]
    pub drift: BTreeMap<Word, u64>,
    /// Events that were checked against their schema, by contract. An event is only encoded, and counted, in contracts that a
    /// reader asked for. This count and the next two are saved every minute, and when the proxy stops.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "by_contract")]
    pub events_checked: BTreeMap<Word, u64>,
    /// Events that broke their schema, by contract.
    #[serde(default, deserialize_with = "by_contract")]
    pub validation_failures: BTreeMap<Word, u64>,
    /// Events that broke their schema and were withheld, by contract.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "by_contract")]
    pub events_withheld: BTreeMap<Word, u64>,
    /// Ids of the approvals that wait for an answer.
    pub pending_approvals: Vec<String>,
    /// The same approvals with their details.
    #[serde(default)]
    pub approvals: Vec<Waiting>,
    /// The last complete text of the main thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_text: Option<String>,
    /// Set only in the stored form: whether the last frame alone has the final text. `None` in memory, and in a status that
    /// does not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) is_final_text_long: Option<bool>,
    /// Set only in the stored form: the digest of the record that the run began with. `None` in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kept_opening: Option<u64>,
    /// Digest of the record that the run began with; `None` before the first record.
    #[serde(skip)]
    pub(super) opening: Option<u64>,
    /// A stable error code if the run failed or was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// A message for people if the run failed or was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why the newest frames of the run are not kept: `log_full` or `log_failed`. They cannot be read, and the run cannot end
    /// before there is room. Absent if all frames are kept.
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<Word>,
    /// Which part of the stream cannot be read because the log is damaged. Absent if no damage was found.
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
    /// How the program that the proxy started for the run exited. Absent until it has exited. If one program did several runs,
    /// only the last run has this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exited>,
    /// Set only in the stored form: the runner's running total of the session after the run. `None` in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) running: Option<Box<Figures>>,
    /// The runner's running total of the session after the run.
    #[serde(skip)]
    pub(super) running_total: Option<Box<Figures>>,
    /// Whether a record of the run itself named its directory. No further records are searched for it then.
    #[serde(skip)]
    pub(super) is_placed: bool,
    /// Whether the stream is over.
    #[serde(skip)]
    pub ended: bool,
    #[serde(skip)]
    pub(super) watch: Watch,
}

/// How a program exited. At most one field is set, as the system reports it.
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
    /// Converts what the system reports.
    pub fn of(status: ExitStatus) -> Self {
        Self { status: status.code(), signal: exit::signal(status) }
    }
}

/// An approval that waits for an answer. The approval's event has the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The id for answering it.
    pub approval_id: String,
    /// The tool that wants to run.
    pub tool_name: String,
    /// Why approval is needed, as the runner put it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Time of its frame, in Unix epoch milliseconds.
    pub requested_at_ms: u64,
    /// The sequence number of its frame.
    pub seq: u64,
}

impl RunStatus {
    pub(crate) fn new(first: &Frame) -> Self {
        let mut status = Self::of_stream(&first.stream, 0);
        (status.started_at_ms, status.updated_at_ms) = (first.timestamp_ms, first.timestamp_ms);
        status
    }

    /// Status of a stream of which nothing else is known.
    pub(super) fn of_stream(stream: &Stream, frames: u64) -> Self {
        Self {
            run_id: stream.id,
            session_id: stream.session.id,
            session_name: stream.session.name.to_string(),
            response_id: None,
            runner: name_of(stream.provider.name),
            title: None,
            model: None,
            workspace: Workspace::default(),
            state: RunState::Running,
            started_at_ms: 0,
            updated_at_ms: 0,
            ended_at_ms: None,
            frames,
            pruned_frames: 0,
            records: 0,
            invalid_records: 0,
            records_with_errors: 0,
            labels: Labels::default(),
            turns: Some(0),
            tool_calls: 0,
            failed_tool_calls: Some(0),
            tools: Some(RunTools::default()),
            kept_calls: Vec::new(),
            usage: UsageTotal::default(),
            models: Some(ModelCalls::default()),
            computed_cost: None,
            warnings: BTreeMap::new(),
            drift: BTreeMap::new(),
            events_checked: BTreeMap::new(),
            validation_failures: BTreeMap::new(),
            events_withheld: BTreeMap::new(),
            pending_approvals: Vec::new(),
            approvals: Vec::new(),
            final_text: None,
            is_final_text_long: None,
            kept_opening: None,
            opening: None,
            error_code: None,
            message: None,
            not_kept: None,
            damaged: None,
            exit: None,
            running: None,
            running_total: None,
            is_placed: false,
            ended: false,
            watch: Watch::default(),
        }
    }

    /// Observes the next frame of the stream, and adds new warnings to `warned`.
    pub(crate) fn observe(&mut self, frame: &Frame, warned: &mut Vec<(Warning, u64)>) {
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
                if self.records == 1 {
                    self.opening = Some(openings::opening(record));
                }
                if let Some(data) = record.data.as_deref() {
                    if self.response_id.is_none() && frame.stream.kind == StreamKind::Session {
                        self.response_id = responses::id_in(self.runner, self.records, data);
                    }
                    if !self.is_placed {
                        let found = workspace::of_record(self.runner, self.records, frame, data);
                        self.is_placed = found.directory.is_some();
                        self.workspace.complete(found);
                    }
                }
                self.invalid_records += u64::from(record.status == ProviderStatus::InvalidJson);
                for kind in &record.drift {
                    *self.drift.entry(kind.as_str()).or_default() += 1;
                }
                self.records_with_errors += u64::from(!record.errors.is_empty() || !record.response_errors.is_empty());
            }
            Body::SessionStarted { input } => self.entitle(input),
            // A subagent's prompt is not the run's.
            Body::UserMessage(message) if !frame.is_subagent() => self.entitle(&message.text),
            Body::TurnStarted { model, .. } if !frame.is_subagent() => {
                self.turns = self.turns.map(|turns| turns + 1);
                self.note_model(model.as_deref());
            }
            Body::ToolStarted { call, .. } => {
                self.tool_calls += 1;
                if let Some(tools) = &mut self.tools {
                    tools.began(call, self.records);
                }
            }
            Body::ToolEnded { tool, exit_code, duration_ms, .. } => {
                self.tool_is_over(tool, *exit_code != 0, Some(*duration_ms));
            }
            Body::ToolFailed { tool, .. } => self.tool_is_over(tool, true, None),
            Body::UsageReported(usage) => {
                if !frame.is_subagent() {
                    self.note_model(usage.model.as_deref());
                }
                self.usage.add(usage);
                if let Some(models) = self.models.as_mut().filter(|_| usage.scope == UsageScope::Turn) {
                    models.add(usage);
                }
                if let Some(running) = &usage.running {
                    self.running_total = Some(running.clone());
                }
            }
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
        // A later ingest may continue a task. Nothing follows the end of a run.
        self.ended = framegate_translators::pipeline::is_last(frame);
        self.ended_at_ms = self.ended.then_some(frame.timestamp_ms);
    }

    fn tool_is_over(&mut self, tool: &Tool, is_failure: bool, duration_ms: Option<u64>) {
        self.failed_tool_calls = self.failed_tool_calls.map(|failed| failed + u64::from(is_failure));
        if let Some(tools) = &mut self.tools {
            tools.ended(tool, is_failure, duration_ms, self.records);
        }
    }

    /// Takes the title from a prompt, if there is none yet.
    fn entitle(&mut self, prompt: &str) {
        if self.title.is_none() {
            self.title = title(prompt);
        }
    }

    fn note_model(&mut self, model: Option<&str>) {
        if let Some(model) = model.filter(|model| !model.is_empty() && self.model.as_deref() != Some(*model)) {
            self.model = Some(model.chars().take(MODEL_CHARS).collect());
        }
    }

    /// Logs a warning.
    pub(super) fn tell(&self, warning: Warning, seq: u64) {
        tracing::warn!(
            run = %self.run_id, session = %self.session_id, runner = self.runner, seq, code = warning.code(), "{}",
            warning.message()
        );
    }
}

/// Maximum length of a model's name, in characters.
const MODEL_CHARS: usize = 200;

/// Logs the start and the end of a run; called once the frame is kept.
pub(super) fn tell_bounds(frame: &Frame) {
    let stream = &frame.stream;
    if stream.kind != StreamKind::Session {
        return;
    }
    let (run, session, runner) = (stream.id, stream.session.id, name_of(stream.provider.name));
    match &frame.body {
        Body::SessionStarted { .. } => tracing::info!(%run, %session, runner, "a run began"),
        Body::SessionEnded(end) => {
            let (reason, code) = (end.reason.as_str(), end.error_code.as_deref());
            tracing::info!(%run, %session, runner, reason, code, "a run ended");
        }
        _ => {}
    }
}

/// Reads a runner's name. Statuses of earlier versions have the `provider` of the run's frames instead.
fn runner_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(deserializer)?;
    let known = RUNNERS.iter().find(|runner| runner.name == name || runner.provider.name == name);
    known.map(|runner| runner.name).ok_or_else(|| serde::de::Error::custom(format_args!("unknown runner {name:?}")))
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

/// Reads counters with known names. Other names are from another version, and their counts mean nothing here.
fn counts<'de, D: Deserializer<'de>>(
    deserializer: D,
    known: impl IntoIterator<Item = &'static str> + Clone,
) -> Result<BTreeMap<Word, u64>, D::Error> {
    let counts = BTreeMap::<String, u64>::deserialize(deserializer)?;
    let named = |(name, count)| Some((known.clone().into_iter().find(|known| *known == name)?, count));
    Ok(counts.into_iter().filter_map(named).collect())
}
