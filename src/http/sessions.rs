//! Runs that clients start with a prompt: one logic for every path that takes prompts.
//!
//! Input: an upstream, and what to start it with. Output: the run, as soon as the runner has begun it. Never: a run that the caller may
//! not see; a second run for a request that was sent again; a run that ends because the client that started it left.
//!
//! Whether a session is free, and what a question of the runner's is answered with by rule, is up to the upstream (`crate::upstream`),
//! so it is the same on every path.

use super::events::unreadable;
use super::idempotency::REPLAYED;
use super::limits::later;
use super::negotiate::{Form, Negotiated};
use super::problem::Problem;
use super::repeats::{Once, Slot};
use super::reply::Body;
use super::shared::Shared;
use crate::config::unknown;
use crate::runs::labels::Labels;
use crate::runs::{Entry, Follower, RunStatus, Wire};
use crate::upstream::elsewhere::{self, Start};
use crate::upstream::{StartError, Upstream};
use framegate_translators::contracts::Contract;
use framegate_translators::frame::StreamKind;
use framegate_translators::host::Opening;
use framegate_translators::sequence::session_id_of;
use hyper::Response;
use hyper::StatusCode;
use hyper::header::{HeaderName, HeaderValue};
use std::sync::Arc;
use std::time::Duration;
use tracing::Instrument;
use uuid::Uuid;

/// The header that names a session, in requests and in responses.
pub(super) const SESSION: HeaderName = HeaderName::from_static("framegate-session");
/// The header of a response that names the run.
const RUN: HeaderName = HeaderName::from_static("framegate-run");

/// The header of a response that names the parameters that had no effect.
const IGNORED: HeaderName = HeaderName::from_static("framegate-ignored-parameters");

/// What to start.
pub(super) struct Order {
    pub(super) upstream: Arc<dyn Upstream>,
    pub(super) opening: Opening,
    /// What the client says about the run.
    pub(super) labels: Labels,
}

/// What a request with a prompt leads to.
pub(super) enum Claim {
    /// The request was sent before; it started this run.
    Repeat(Arc<Entry>),
    /// The request may start a run.
    New(Claimed),
}

/// The right to start a run for a request.
pub(super) struct Claimed {
    shared: Arc<Shared>,
    slot: Option<Slot>,
}

/// Finds out whether a request was sent before. While the first one is starting its run, the second one waits.
///
/// # Errors
/// 422 if its `Idempotency-Key` was sent with another request, 410 if the run of its key is no longer stored.
pub(super) async fn claim(once: Option<Once>, shared: &Arc<Shared>) -> Result<Claim, Problem> {
    let Some(once) = once else { return Ok(Claim::New(Claimed { shared: shared.clone(), slot: None })) };
    let mut slot = shared.repeats.slot(once, &shared.caller.name).await?;
    if let Some(run) = slot.run() {
        match shared.find(StreamKind::Session, run) {
            Some(entry) if slot.applies_to(&entry.status()) => return Ok(Claim::Repeat(entry)),
            None if slot.has_key() => {
                let detail =
                    "the run that this Idempotency-Key started is no longer stored; use a new key to start another one";
                return Err(Problem::new(StatusCode::GONE, detail));
            }
            _ => slot.clear(),
        }
    }
    Ok(Claim::New(Claimed { shared: shared.clone(), slot: Some(slot) }))
}

impl Claimed {
    /// Starts the run in a task of its own, so that a client that leaves meanwhile and sends the request again gets the same run.
    /// `on_start` is called in this task, before a second request can see the run.
    ///
    /// # Errors
    /// Why there is no run. The request can be sent again then.
    pub(super) async fn start(
        self,
        order: Order,
        on_start: impl FnOnce(&Entry) + Send + 'static,
    ) -> Result<Arc<Entry>, Problem> {
        admit(&order, &self.shared)?;
        let Self { shared, slot } = self;
        let task = async move {
            let entry = begin(order, &shared).await?;
            on_start(&entry);
            if let Some(slot) = slot {
                slot.started(entry.stream.id);
            }
            Ok(entry)
        };
        let lost = |_| Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the run could not be started"));
        tokio::spawn(task.in_current_span()).await.unwrap_or_else(lost)
    }
}

/// Checks that the caller will see the run.
fn admit(order: &Order, shared: &Shared) -> Result<(), Problem> {
    let restriction = &shared.caller.restriction;
    let is_of = |list: &[String], name: &str| list.is_empty() || list.iter().any(|known| known == name);
    // A token that is restricted to existing runs can never see a new one.
    if !restriction.runs.is_empty()
        || !is_of(&restriction.runners, order.upstream.runner().name)
        || !is_of(&restriction.sessions, order.opening.session.as_deref().unwrap_or_default())
    {
        return Err(Problem::new(StatusCode::FORBIDDEN, "the token is restricted to other sessions or runners"));
    }
    let provider = order.upstream.runner().provider.name;
    let session = order.opening.session.as_deref().map(|name| session_id_of(provider, name));
    affordable(session, &order.labels, shared)
}

/// Checks that no budget forbids a prompt in this session, or in a new one, whose run gets these labels.
///
/// # Errors
/// 429: a budget is spent.
pub(super) fn affordable(session: Option<Uuid>, labels: &Labels, shared: &Shared) -> Result<(), Problem> {
    match shared.budgets.as_ref().and_then(|budgets| budgets.refusal(session, labels)) {
        Some(detail) => Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).without_retry()),
        None => Ok(()),
    }
}

async fn begin(order: Order, shared: &Shared) -> Result<Arc<Entry>, Problem> {
    let place = shared.meters.started_run(&shared.client(), &shared.control.live().rates)?;
    let Order { upstream, opening, labels } = order;
    let restriction = shared.caller.restriction.clone();
    let start = Start { upstream: &*upstream, opening: &opening, restriction: &restriction, labels: &labels };
    let elsewhere = elsewhere::start(&shared.runs, start).await;
    let is_elsewhere = elsewhere.is_some();
    let started = match elsewhere {
        Some(started) => started,
        None => upstream.start(opening, restriction).await,
    };
    let run = started.map_err(|error| problem_of(&error))?;
    let entry = shared.find(StreamKind::Session, run);
    let entry = entry.ok_or_else(|| {
        let detail = if is_elsewhere {
            "another proxy has started the run, but this one does not know it yet; GET /v1/runs will list it"
        } else {
            "the run was already dropped"
        };
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail).without_retry()
    })?;
    if !labels.is_empty() && !is_elsewhere {
        shared.runs.label(&entry, labels).await;
    }
    let mut tail = entry.tail();
    let open = entry.clone();
    tokio::spawn(async move {
        let _held = place;
        while !tail.borrow_and_update().ended && !open.is_dropped() && tail.changed().await.is_ok() {}
    });
    Ok(entry)
}

/// The upstream of this name that starts runs.
///
/// # Errors
/// 404 with the known names.
pub(super) fn upstream(name: &str, shared: &Shared) -> Result<Arc<dyn Upstream>, Problem> {
    shared.upstreams.find(name).cloned().ok_or_else(|| {
        let known: Vec<&str> = shared.upstreams.iter().map(|upstream| upstream.name()).collect();
        Problem::not_found(if known.is_empty() {
            "no upstream that starts runs is configured ([[upstream]] of kind \"command\")".to_owned()
        } else {
            unknown("upstream", name, known.into_iter())
        })
    })
}

/// The runner's own name of a session. A known session may also be given by the proxy's id.
///
/// # Errors
/// 409 if the runner has no name for the session.
pub(super) fn runners_own(session: String, shared: &Shared) -> Result<String, Problem> {
    let Ok(id) = Uuid::try_parse(&session) else { return Ok(session) };
    match newest_run(id, shared) {
        Some(known) if known.session_name.is_empty() => Err(Problem::new(
            StatusCode::CONFLICT,
            "the run has no session name of the runner, so the session cannot be continued",
        )),
        Some(known) => Ok(known.session_name),
        None => Ok(session),
    }
}

/// The runner's name of the session that goes on after a run; `None` if the session has moved on, or if the runner has no name for it.
///
/// # Errors
/// 409 if a run of the session is in progress.
pub(super) fn continuable(entry: &Entry, shared: &Shared) -> Result<Option<String>, Problem> {
    let session = &entry.stream.session;
    let Some(newest) = newest_run(session.id, shared) else { return Ok(None) };
    if newest.ended_at_ms.is_none() {
        let run = newest.run_id;
        let detail = format!(
            "the run of the last prompt is still in progress; GET /v1/runs/{run}/events follows it, POST /v1/runs/{run}/interrupt \
             ends it"
        );
        return Err(Problem::new(StatusCode::CONFLICT, detail));
    }
    Ok((newest.run_id == entry.stream.id && !session.name.is_empty()).then(|| session.name.to_string()))
}

/// Follows a run in the contract of an API, from the event with number `from`. The first events are read, so that an error can still have
/// its own status.
///
/// # Errors
/// The events cannot be read.
pub(super) async fn follow(
    entry: &Arc<Entry>,
    contract: &'static Contract,
    wire: Wire,
    from: u64,
    shared: &Shared,
) -> Result<Follower, Problem> {
    let reader = shared.runs.reader(entry, contract, &shared.settings.encoder).ok_or_else(|| {
        let detail = format!("the run has no events in {}", contract.name);
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    })?;
    let mut follower = Follower::new(shared.runs.clone(), reader, wire, from);
    follower.begin().await.map_err(|error| unreadable(&error))?;
    Ok(follower)
}

/// What is sent of a run to a client of an API: server-sent events of its contract.
pub(super) fn negotiated(contract: &'static Contract, shared: &Shared) -> Negotiated {
    Negotiated { contract, options: shared.settings.encoder.clone(), form: Form::Sse }
}

/// Adds the headers that say what became of a request: whether an earlier one started its run, and which parameters had no effect.
pub(super) fn tell_outcome<N: AsRef<str>>(response: &mut Response<Body>, is_repeat: bool, ignored: &[N]) {
    let headers = response.headers_mut();
    if is_repeat {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
    let names = ignored.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    if !names.is_empty()
        && let Ok(value) = HeaderValue::from_str(&names)
    {
        tracing::info!(parameters = names, "parameters of a request were ignored");
        headers.insert(IGNORED, value);
    }
}

/// Adds the headers that name a run and its session.
pub(super) fn name_run(response: &mut Response<Body>, entry: &Entry) {
    for (name, id) in [(SESSION, entry.stream.session.id), (RUN, entry.stream.id)] {
        if let Ok(value) = HeaderValue::from_str(&id.to_string()) {
            response.headers_mut().insert(name, value);
        }
    }
}

/// The newest run of a session that the caller sees.
pub(super) fn newest_run(session: Uuid, shared: &Shared) -> Option<RunStatus> {
    let of_session =
        |status: &RunStatus| status.session_id == session && shared.find(StreamKind::Session, status.run_id).is_some();
    shared.runs.list(&of_session, 0, 1).pop()
}

fn problem_of(error: &StartError) -> Problem {
    let detail = error.to_string();
    match error {
        StartError::Full(_) | StartError::Busy(_) => {
            later(StatusCode::SERVICE_UNAVAILABLE, detail, Duration::from_secs(1))
        }
        StartError::LogFull(_) => Problem::new(StatusCode::INSUFFICIENT_STORAGE, detail),
        StartError::Conflict(_) => Problem::new(StatusCode::CONFLICT, detail),
        StartError::Refused(_) => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail),
        // The runner may have read the prompt.
        StartError::Failed(_) => Problem::new(StatusCode::BAD_GATEWAY, detail).without_retry(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_is_507_and_a_busy_proxy_503() {
        let status = |error| problem_of(&error).status().as_u16();
        assert_eq!(status(StartError::LogFull("the log is full".to_owned())), 507);
        assert_eq!(status(StartError::Busy("the proxy is stopping".to_owned())), 503);
    }
}
