//! How turns end.
//!
//! Input: the answer to a prompt, or the state of version 2. Output: the end of a run. Never: a run that ends twice, because an agent of
//! version 2 answers like one of version 1, or the other way round.

use super::super::failure::{self, Failure};
use super::super::stops::Stop;
use super::decoder::Acp;
use super::sessions::Prompt;
use crate::frame::{EndReason, ErrorScope, SharedStr};
use crate::json::{Json, Kind, Object};
use crate::normalizer::{Normalizer, RunEnd, Target};
use std::borrow::Cow;

/// The code of a run whose prompt was answered with an error.
const FAILED: &str = "execution_error";

/// The code of a run that was cancelled.
const CANCELLED: &str = "interrupted";

/// The code of the answer to a request that was cancelled.
const REQUEST_CANCELLED: i64 = -32_800;

/// An error, with its details. Some agents have the HTTP status of a failed model request as its code.
pub(super) fn failure_of(error: Json<'_>) -> Failure {
    let fields = error.object().unwrap_or_default();
    let http_status = failure::status_of(fields.u64("code"));
    let code = match (http_status.and_then(failure::code_of), fields.i64("code")) {
        (Some(code), _) => code.to_owned(),
        (None, Some(-32_000)) => "authentication_failed".to_owned(),
        (None, Some(code)) => code.to_string(),
        (None, None) => FAILED.to_owned(),
    };
    let mut message = fields.str("message").map(Cow::into_owned).unwrap_or_default();
    let details = fields.some("data").and_then(|data| match data.kind() {
        Kind::String => data.str().map(Cow::into_owned),
        Kind::Object => {
            let data = data.object()?;
            let read = |key: &&str| data.str(key).map(Cow::into_owned);
            ["details", "message", "error", "reason"].iter().find_map(read)
        }
        _ => None,
    });
    if let Some(details) = details.filter(|details| !details.is_empty() && !message.contains(details.as_str())) {
        message = if message.is_empty() { details } else { format!("{message}: {details}") };
    }
    if message.is_empty() {
        "the agent reported an error without a message".clone_into(&mut message);
    }
    Failure { code: SharedStr::from(code), message, http_status }
}

/// The run's end for a stop reason.
fn end_of(reason: Option<&str>) -> RunEnd {
    match reason {
        Some("cancelled") => RunEnd::interrupted(CANCELLED, "the turn was cancelled"),
        Some("error") => RunEnd::failed(FAILED, "the turn failed"),
        // The work was not done.
        Some("max_turn_requests") => RunEnd::failed("error_max_turns", "the run reached its limit of turns"),
        Some(word) => Stop::of(word).map_or_else(RunEnd::completed, |stop| stop.end(word, None)),
        None => RunEnd::completed(),
    }
}

impl Acp {
    /// The answer to a prompt that is in the input.
    pub(super) fn prompt_answered(
        &mut self,
        name: &SharedStr,
        id: &SharedStr,
        result: &Object<'_>,
        error: Option<Json<'_>>,
        normalizer: &mut Normalizer,
    ) {
        let Some(session) = self.sessions.get(name) else { return };
        let is_running = session.running.as_ref().is_some_and(|running| running.prompt.as_ref() == Some(id));
        let waits = session.queue.iter().position(|prompt| prompt.id == *id);
        // In version 2, the answer only takes the prompt.
        let is_taken = error.is_none()
            && result.str("stopReason").is_none()
            && (result.str("messageId").is_some() || session.turn.state.is_some() || self.connection.is_v2);
        if is_taken {
            return;
        }
        if is_running {
            self.end_turn(name, result, error, normalizer);
        } else if let Some(prompt) = waits.and_then(|at| session.queue.remove(at)) {
            self.aside(name, prompt, result, error, normalizer);
        }
    }

    /// A prompt that waited is answered while another turn runs: a run of its own.
    fn aside(
        &mut self,
        name: &SharedStr,
        prompt: Prompt,
        result: &Object<'_>,
        error: Option<Json<'_>>,
        normalizer: &mut Normalizer,
    ) {
        let run = normalizer.open_run(prompt.message.text.clone());
        normalizer.record_on(run);
        let end = report(run, result, error, normalizer);
        normalizer.turn_ended(run, result.str("stopReason").map(|word| SharedStr::from(&*word)));
        normalizer.end_run(run, end);
        self.sessions.enter(name, normalizer);
    }

    /// The answer to a prompt that is not in the input. A turn that told nothing is a run as well.
    pub(super) fn end_unseen(
        &mut self,
        name: &SharedStr,
        result: &Object<'_>,
        error: Option<Json<'_>>,
        normalizer: &mut Normalizer,
    ) {
        let session = self.sessions.enter(name, normalizer);
        session.replay = super::sessions::Replay::No;
        if session.running.is_none() {
            if std::mem::take(&mut session.has_idled) {
                // The state ended the turn before this answer.
                return;
            }
            self.begin(name, None, String::new(), normalizer);
        }
        self.end_turn(name, result, error, normalizer);
    }

    /// Ends the running turn of a session; then the next prompt that waits has its turn.
    pub(super) fn end_turn(
        &mut self,
        name: &SharedStr,
        answer: &Object<'_>,
        error: Option<Json<'_>>,
        normalizer: &mut Normalizer,
    ) {
        let counting = self.connection.counting;
        let Some(running) = self.sessions.over(name) else { return };
        let session = self.sessions.enter(name, normalizer);
        let run = running.run;
        let stop_reason = answer.str("stopReason").map(|word| SharedStr::from(&*word));
        let mut place = session.place(normalizer);
        place.target = Target::main(run);
        place.scope = place.normalizer.session_id_of(run);
        session.turn.say_user(&mut place);
        session.turn.start_all(&mut place);
        let error = error.or_else(|| answer.some("error"));
        // An agent may answer a prompt that was cancelled with the error of what it stopped.
        let end = match error.filter(|_| session.turn.cancelled) {
            Some(_) => end_of(Some("cancelled")),
            None => report(run, answer, error, normalizer),
        };
        if end.reason == EndReason::Completed && end.error_code.is_none() {
            session.turn.texts.complete(normalizer);
        } else {
            session.turn.texts.end_early(normalizer);
        }
        session.total(run, answer, counting, normalizer);
        session.turn = super::sessions::Turn::default();
        normalizer.close_work(run, &end);
        normalizer.turn_ended(run, stop_reason);
        normalizer.end_run(run, end);
        if let Some(next) = session.queue.pop_front() {
            self.begin(name, Some(next), String::new(), normalizer);
        }
    }
}

/// Reports the error of an answer; returns how the run ends.
fn report(
    run: crate::sequence::StreamKey,
    answer: &Object<'_>,
    error: Option<Json<'_>>,
    normalizer: &mut Normalizer,
) -> RunEnd {
    let reason = answer.str("stopReason");
    let Some(error) = error.filter(|_| !matches!(reason.as_deref(), Some("cancelled"))) else {
        return end_of(reason.as_deref());
    };
    if error.object().and_then(|error| error.i64("code")) == Some(REQUEST_CANCELLED) {
        return end_of(Some("cancelled"));
    }
    let failure = failure_of(error);
    normalizer.push(Target::main(run), failure.body(ErrorScope::Run));
    RunEnd::failed(failure.code, failure.message)
}
