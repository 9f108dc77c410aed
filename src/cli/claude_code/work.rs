//! What the conversation asks for, done at the proxy.
//!
//! Input: one thing to do. Output: reports of what came of it. Never: a report after the conversation is over; the messages of a run out of
//! order.

use super::conversation::{Action, Report};
use super::fields::Fields;
use crate::cli::bridge::{Order, Proxy, Started};
use framegate_translators::contracts::claude_code::V1;
use hyper::StatusCode;
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use uuid::Uuid;

/// Does what the conversation asks for.
#[derive(Clone)]
pub(super) struct Worker {
    proxy: Proxy,
    reports: Sender<Report>,
    has_partial_messages: bool,
}

impl Worker {
    pub(super) fn new(proxy: Proxy, reports: Sender<Report>, has_partial_messages: bool) -> Self {
        Self { proxy, reports, has_partial_messages }
    }

    /// Does it. Actions that are not for the proxy do nothing.
    pub(super) async fn run(self, action: Action) {
        match action {
            Action::Start(turn, order) => self.start(turn, &order).await,
            Action::Decide { turn, run, approval, decision } => {
                if let Err(failure) = self.proxy.decide(run, &approval, &decision).await {
                    self.report(Report::NotDecided { turn, run, approval, decision, failure }).await;
                }
            }
            Action::Interrupt { run, request } => {
                let outcome = match self.proxy.interrupt(run).await {
                    // The run has ended already.
                    Err(failure) if failure.status() == Some(StatusCode::CONFLICT) => Ok(()),
                    outcome => outcome.map_err(|failure| failure.to_string()),
                };
                self.report(Report::Interrupted { request, outcome }).await;
            }
            Action::Write(_) | Action::Remember { .. } | Action::Warn(_) => {}
        }
    }

    async fn report(&self, report: Report) {
        // Without a receiver, the conversation is over.
        let _ = self.reports.send(report).await;
    }

    async fn start(&self, turn: u64, order: &Order) {
        let started = match self.proxy.start(order).await {
            Ok(started) => started,
            Err(failure) => return self.report(Report::Started { turn, outcome: Err(failure.to_string()) }).await,
        };
        let run = started.run_id;
        let name = self.name_of(&started).await;
        self.report(Report::Started { turn, outcome: Ok((started, name)) }).await;
        self.follow(turn, run).await;
    }

    /// The runner's own name of the session; empty if it is not known.
    async fn name_of(&self, started: &Started) -> String {
        let status = self.proxy.get(&format!("/v1/runs/{}", started.run_id)).await;
        let name = status.ok().and_then(|status| Some(status.get("session_name")?.as_str()?.to_owned()));
        name.unwrap_or_default()
    }

    async fn follow(&self, turn: u64, run: Uuid) {
        let options = if self.has_partial_messages { "experimental=1" } else { "" };
        let mut events = self.proxy.events(run, &V1, options);
        let reason = loop {
            match events.next().await {
                Ok(Some(event)) => match Fields::read(&event) {
                    Ok(event) => self.report(Report::Event { turn, event }).await,
                    Err(error) => tracing::warn!(%run, %error, "an event is not valid JSON"),
                },
                Ok(None) => break "the run's events ended without a result".to_owned(),
                Err(failure) => break failure.to_string(),
            }
        };
        // After the result, the run is over, and this is ignored.
        self.report(Report::Ended { turn, reason }).await;
    }
}

/// Checks that the upstream takes prompts.
///
/// # Errors
/// Why it does not.
pub(super) async fn check(proxy: &Proxy, upstream: &str) -> anyhow::Result<()> {
    let list = proxy.get("/v1/upstreams").await?;
    let listed = list.get("upstreams").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |entry: &Value| entry.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    match listed.iter().find(|entry| name(entry) == upstream) {
        Some(entry) if entry.get("takes_prompts").and_then(Value::as_bool) == Some(true) => Ok(()),
        Some(_) => anyhow::bail!("the upstream {upstream:?} does not start runs"),
        None => {
            let names: Vec<String> = listed.iter().map(name).collect();
            anyhow::bail!("the proxy has no upstream {upstream:?}; it has: {}", names.join(", "))
        }
    }
}
