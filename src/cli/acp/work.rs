//! What the agent asks for, done at the proxy.
//!
//! Input: one thing to do. Output: reports of what came of it. Never: a report after the agent is gone; the messages of a run out of order.

use super::agent::{Abilities, Action, Open, Report};
use super::modes::Mode;
use super::rpc;
use crate::cli::bridge::{Events, Failure, Proxy, nesting};
use crate::runs::RunState;
use anyhow::{Context, anyhow};
use framegate_translators::contracts::{Contract, contract};
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;
use uuid::Uuid;

/// Runs on a page of a session's runs.
const PAGE: usize = 200;

/// The runs of a session that are replayed. An older one is left out.
const MAX_RUNS: usize = 2000;

/// Does what the agent asks for.
#[derive(Clone)]
pub(super) struct Worker {
    proxy: Proxy,
    upstream: String,
    contract: &'static Contract,
    reports: Sender<Report>,
}

/// A run in the list of runs.
#[derive(Deserialize)]
struct Run {
    run_id: Uuid,
    state: RunState,
}

/// An upstream in the list of upstreams.
#[derive(Deserialize)]
struct Listed {
    name: String,
    takes_prompts: bool,
    /// Older proxies do not say it.
    #[serde(default)]
    takes_images: bool,
    #[serde(default)]
    modes: Vec<Mode>,
    #[serde(default)]
    mode: Option<String>,
}

impl Worker {
    pub(super) fn new(proxy: Proxy, upstream: String, reports: Sender<Report>) -> anyhow::Result<Self> {
        let contract = contract("acp.v1").context("acp.v1 is not registered")?;
        Ok(Self { proxy, upstream, contract, reports })
    }

    /// Does it. Actions that are not for the proxy do nothing.
    pub(super) async fn run(self, action: Action) {
        match action {
            Action::Check { request } => {
                let outcome = self.check().await.map_err(|error| format!("{error:#}"));
                self.report(Report::Checked { request, outcome }).await;
            }
            Action::Start { turn, order } => {
                let outcome = self.proxy.start(&order.of(&self.upstream)).await.map_err(|failure| failure.to_string());
                let run = outcome.as_ref().ok().map(|started| started.run_id);
                self.report(Report::Started { turn, outcome }).await;
                if let Some(run) = run {
                    self.follow(turn, run, None).await;
                }
            }
            Action::Follow { turn, run, after } => self.follow(turn, run, after).await,
            Action::Decide { run, approval, decision } => match self.proxy.decide(run, &approval, &decision).await {
                // The question is over, or its run is.
                Err(failure) if matches!(failure.status(), Some(StatusCode::CONFLICT | StatusCode::NOT_FOUND)) => {}
                Err(failure) => {
                    let reason = failure.to_string();
                    self.report(Report::NotDecided { run, approval, decision, reason }).await;
                }
                Ok(()) => {}
            },
            Action::Interrupt { run } => match self.proxy.interrupt(run).await {
                // The run has ended.
                Ok(()) | Err(Failure::Refused { status: StatusCode::CONFLICT, .. }) => {}
                Err(failure) => {
                    tracing::warn!(%run, %failure, "the run was not interrupted");
                    if failure.status().is_none() {
                        self.report(Report::NotInterrupted { run, reason: failure.to_string() }).await;
                    }
                }
            },
            Action::Load { load, session_id, replays } => {
                let outcome = self.load(load, session_id, replays).await.map_err(|failure| failure.to_string());
                self.report(Report::Loaded { load, outcome }).await;
            }
            Action::Send(_) | Action::Remember(_) | Action::Warn(_) => {}
        }
    }

    async fn report(&self, report: Report) {
        // Without the agent, the client has left.
        let _ = self.reports.send(report).await;
    }

    /// What the upstream can do.
    async fn check(&self) -> anyhow::Result<Abilities> {
        let list = self.proxy.get("/v1/upstreams").await?;
        let listed = list.get("upstreams").cloned().unwrap_or_default();
        let upstreams: Vec<Listed> = serde_json::from_value(listed).context("the list of upstreams")?;
        match upstreams.iter().find(|upstream| upstream.name == self.upstream) {
            Some(Listed { takes_prompts: true, takes_images, modes, mode, .. }) => {
                Ok(Abilities { takes_images: *takes_images, modes: modes.clone(), mode: mode.clone() })
            }
            Some(_) => Err(anyhow!("the upstream {:?} does not start runs", self.upstream)),
            None => {
                let names: Vec<&str> = upstreams.iter().map(|upstream| upstream.name.as_str()).collect();
                Err(anyhow!("the proxy has no upstream {:?}; it has: {}", self.upstream, names.join(", ")))
            }
        }
    }

    async fn follow(&self, turn: u64, run: Uuid, after: Option<u64>) {
        let options = after.map(|after| format!("after={after}")).unwrap_or_default();
        let mut events = self.proxy.events(run, self.contract, &options);
        let reason = loop {
            match events.next().await {
                Ok(Some(event)) => match nesting::read(&event) {
                    Ok(event) => self.report(Report::Event { turn, event }).await,
                    Err(error) => tracing::warn!(%run, %error, "an event is not valid JSON"),
                },
                Ok(None) => break "the run's events ended without an answer".to_owned(),
                Err(failure) => break failure.to_string(),
            }
        };
        // After the answer, the turn is over, and this is ignored.
        self.report(Report::Ended { turn, reason }).await;
    }

    /// Reads the runs of a session, the first one first. Returns the run in progress, or `None` if there is no run.
    async fn load(&self, load: u64, session: Uuid, replays: bool) -> Result<Option<Option<Open>>, Failure> {
        let mut runs: Vec<Run> = Vec::new();
        while runs.len() < MAX_RUNS {
            let page =
                self.proxy.get(&format!("/v1/runs?session_id={session}&limit={PAGE}&skip={}", runs.len())).await?;
            let page: Vec<Run> = serde_json::from_value(page.get("data").cloned().unwrap_or_default())
                .map_err(|error| Failure::Strange(error.to_string()))?;
            let length = page.len();
            runs.extend(page);
            if length < PAGE {
                break;
            }
        }
        if runs.is_empty() {
            return Ok(None);
        }
        let mut open = None;
        for Run { run_id, state } in runs.into_iter().rev() {
            let ended = !matches!(state, RunState::Running | RunState::WaitingApproval);
            if ended && replays {
                let read = self.replay(load, self.proxy.events(run_id, self.contract, "user_messages=1")).await;
                if let Err(failure) = read {
                    self.leave_out(load, run_id, failure).await?;
                }
            } else if !ended {
                open = self.open_run(load, run_id, replays).await?;
            }
        }
        Ok(Some(open))
    }

    /// Reads the run in progress. If its first events are no longer stored, only what follows is shown.
    async fn open_run(&self, load: u64, run: Uuid, replays: bool) -> Result<Option<Open>, Failure> {
        let after = match self.replay_so_far(load, run, None, replays).await {
            Err(failure) => {
                let kept = failure.available_after();
                self.leave_out(load, run, failure).await?;
                match kept {
                    Some(kept) => self.replay_so_far(load, run, Some(kept), false).await?,
                    None => return Ok(None),
                }
            }
            read => read?,
        };
        Ok(Some(Open { run, after }))
    }

    /// Reports that a run is left out of the history because its events are no longer stored.
    ///
    /// # Errors
    /// The failure, if it has another reason.
    async fn leave_out(&self, load: u64, run: Uuid, failure: Failure) -> Result<(), Failure> {
        if !failure.is_gone() {
            return Err(failure);
        }
        tracing::warn!(%run, %failure, "a run is left out of the history of its session");
        let notice = json!({
            "severity": "warning",
            "title": "A part of the session is left out, because it is no longer stored",
            "description": failure.to_string(),
            "code": "events_pruned",
        });
        let event = rpc::notification(
            "session/update",
            json!({
                "sessionId": null,
                "update": {"sessionUpdate": "session_info_update"},
                "_meta": {"framegate": {"runId": run, "notice": notice}},
            }),
        );
        self.report(Report::History { load, event }).await;
        Ok(())
    }

    async fn replay(&self, load: u64, mut events: Events) -> Result<(), Failure> {
        while let Some(event) = events.next().await? {
            match nesting::read(&event) {
                Ok(event) => self.report(Report::History { load, event }).await,
                Err(error) => tracing::warn!(%error, "an event is not valid JSON"),
            }
        }
        Ok(())
    }

    /// Reads what a run in progress has so far after a message. Returns the number of its last message.
    async fn replay_so_far(
        &self,
        load: u64,
        run: Uuid,
        mut after: Option<u64>,
        replays: bool,
    ) -> Result<Option<u64>, Failure> {
        loop {
            let from = after.map(|after: u64| format!("&after={after}")).unwrap_or_default();
            let name = self.contract.name;
            let path = format!("/v1/runs/{run}/events?contract={name}&user_messages=1&limit={PAGE}{from}");
            let page = self.proxy.get(&path).await?;
            let events = page.get("data").and_then(Value::as_array).cloned().unwrap_or_default();
            let Some(last) = events.last().and_then(number) else { return Ok(after) };
            after = Some(last);
            for event in events.into_iter().filter(|_| replays) {
                self.report(Report::History { load, event }).await;
            }
        }
    }
}

/// The number of a message in its run, which is its cursor.
fn number(event: &Value) -> Option<u64> {
    let places = ["/params/_meta/framegate/seq", "/result/_meta/framegate/seq", "/error/data/framegate/seq"];
    places.iter().find_map(|place| event.pointer(place)).and_then(Value::as_u64)
}
