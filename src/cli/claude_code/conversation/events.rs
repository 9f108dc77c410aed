//! The messages of the run in progress, and its questions.
//!
//! Input: the run's messages in the contract, the client's answers, and reports about them. Output: the messages as the client expects them;
//! decisions. Never: a question to a client that cannot answer it; a withdrawal of a question that the client answered itself.

use super::{Action, Conversation, Prompt, Question, Run};
use crate::cli::bridge::Failure;
use crate::cli::claude_code::fields::Fields;
use crate::cli::claude_code::permissions::Verdict;
use crate::cli::claude_code::{decision, replies};
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

/// A request of the runner for a permission.
#[derive(Deserialize)]
struct CanUseTool {
    tool_name: String,
    #[serde(default)]
    input: Value,
}

/// Withdraws a question.
pub(super) fn withdrawal(request: &str) -> Fields {
    Fields::of(&json!({"type": "control_cancel_request", "request_id": request}))
}

impl Conversation {
    /// Takes a message of the run.
    pub(super) fn event(&mut self, mut event: Fields, actions: &mut Vec<Action>) {
        let kind = event.text("type");
        match (kind.as_str(), event.text("subtype").as_str()) {
            ("control_request", _) => return self.asked(event, actions),
            ("control_cancel_request", _) => return self.withdrawn(&event.text("request_id"), actions),
            ("stream_event", _) if !self.settings.has_partial_messages => return,
            // The client's own message is repeated instead, with its id.
            ("user", _) if event.get("isReplay") == Some(true) => return,
            ("system", "init") => {
                event.set("cwd", &self.settings.shown_cwd);
                event.set("permissionMode", &self.permissions.mode.name());
            }
            ("assistant", _) => self.count(&event, actions),
            ("result", _) => return self.ended(event, actions),
            _ => {}
        }
        let is_init = kind == "system" && event.text("subtype") == "init";
        self.pass(event, actions);
        if is_init {
            self.repeat_prompt(actions);
        }
    }

    /// Writes a message with the client's id of the session.
    fn pass(&self, mut event: Fields, actions: &mut Vec<Action>) {
        if let Some(shown) = self.session.shown.as_ref().filter(|_| event.has("session_id")) {
            event.set("session_id", shown);
        }
        actions.push(Action::Write(event));
    }

    /// Repeats the prompt of the run, once.
    fn repeat_prompt(&mut self, actions: &mut Vec<Action>) {
        if let Some(prompt) = self.run.as_mut().and_then(|run| run.prompt.take()) {
            self.repeat(&prompt, actions);
        }
    }

    /// Repeats a prompt, if the client wants that.
    pub(super) fn repeat(&self, prompt: &Prompt, actions: &mut Vec<Action>) {
        let Some(message) = prompt.message.as_ref().filter(|_| self.settings.repeats_prompts) else { return };
        let uuid = if prompt.uuid.is_empty() { self.new_id() } else { prompt.uuid.clone() };
        let session = self.session.shown.clone().unwrap_or_default();
        actions.push(Action::Write(replies::repeated(message, &session, &uuid, self.settings.clock.now_ms())));
    }

    /// Counts the model messages of the main thread, and interrupts a run with too many.
    fn count(&mut self, event: &Fields, actions: &mut Vec<Action>) {
        let Some((run, max)) = self.run.as_mut().zip(self.settings.max_turns) else { return };
        let message: Value = event.get("message").unwrap_or_default();
        let id = message.get("id").and_then(Value::as_str).unwrap_or_default();
        // A message in the model's place reports an error.
        if event.get::<String>("parent_tool_use_id").is_some() || event.has("error") || run.is_over_limit {
            return;
        }
        if run.messages.last().is_none_or(|last| last != id) {
            run.messages.push(id.to_owned());
        }
        if run.messages.len() as u64 > max {
            run.is_over_limit = true;
            actions.extend(self.interrupt(None));
        }
    }

    /// The run is over.
    fn ended(&mut self, mut result: Fields, actions: &mut Vec<Action>) {
        let Some(run) = self.run.take() else { return };
        if let Some(max) = self.settings.max_turns.filter(|_| run.is_over_limit) {
            replies::limit(&mut result, max);
        }
        self.has_failed = result.get("is_error") != Some(false);
        for request in run.interruptions.into_iter().flatten() {
            actions.push(Action::Write(replies::success(&request, &self.receipt())));
        }
        self.pass(result, actions);
        self.go_on(actions);
    }

    /// The runner asks.
    fn asked(&mut self, mut event: Fields, actions: &mut Vec<Action>) {
        let approval = event.text("request_id");
        let Some((run, id)) = self.run.as_mut().and_then(|run| run.id.map(|id| (run, id))) else { return };
        // Questions that are open are repeated after a reconnect.
        if run.questions.contains_key(&approval) {
            return;
        }
        let turn = run.turn;
        let Ok(CanUseTool { tool_name, input }) = serde_json::from_value(event.value("request")) else {
            let reason = "a question of the upstream cannot be read";
            run.questions.insert(approval.clone(), Question::Settled);
            actions.push(Action::Warn(format!("{reason}: it is denied")));
            actions.push(Action::Decide { turn, run: id, approval, decision: decision::rejected(reason) });
            return;
        };
        let wants_answers = input.get("questions").is_some_and(Value::is_array);
        let (question, decision) = match self.permissions.verdict(&tool_name, wants_answers) {
            Verdict::Approve => (Question::Settled, Some(json!({"decision": "approved"}))),
            Verdict::Deny(reason) => (Question::Settled, Some(decision::rejected(reason))),
            Verdict::Leave => {
                if !std::mem::replace(&mut self.has_left_a_question, true) {
                    let text = "the upstream asks for a permission, which another client of the proxy has to answer";
                    actions.push(Action::Warn(text.to_owned()));
                }
                (Question::Settled, None)
            }
            Verdict::Ask => {
                self.questions += 1;
                // Runners number their questions from the start in each run, but an SDK answers an id only once.
                let request = format!("{id}/{}", self.questions);
                event.set("request_id", &request);
                (Question::Asked { request, input }, None)
            }
        };
        let is_asked = matches!(question, Question::Asked { .. });
        run.questions.insert(approval.clone(), question);
        if is_asked {
            actions.push(Action::Write(event));
            self.tell_state(actions);
        }
        actions.extend(decision.map(|decision| Action::Decide { turn, run: id, approval, decision }));
    }

    /// The question is decided or over.
    fn withdrawn(&mut self, approval: &str, actions: &mut Vec<Action>) {
        let question = self.run.as_mut().and_then(|run| run.questions.remove(approval));
        if let Some(Question::Asked { request, .. }) = question {
            actions.push(Action::Write(withdrawal(&request)));
            self.tell_state(actions);
        }
    }

    /// The client answers a question.
    pub(super) fn answer(&mut self, request: &str, outcome: &Result<Value, String>) -> Vec<Action> {
        let mut actions = Vec::new();
        let Some((turn, run, approval, input)) = self.run.as_mut().and_then(|run| run.settle(request)) else {
            // The question was withdrawn meanwhile, or the run is over.
            return actions;
        };
        let decided = decision::of(&input, outcome);
        actions.extend(decided.warning.map(|warning| Action::Warn(warning.to_owned())));
        actions.push(Action::Decide { turn, run, approval, decision: decided.decision });
        self.tell_state(&mut actions);
        actions
    }

    /// The proxy did not take an answer. The client believes that it counts, so that the question must not stay open.
    pub(super) fn not_decided(
        &mut self,
        turn: u64,
        run: Uuid,
        approval: String,
        decision: &Value,
        failure: &Failure,
        actions: &mut Vec<Action>,
    ) {
        // The question or the run is over.
        if !self.is_current(turn) || matches!(failure.status(), Some(StatusCode::CONFLICT | StatusCode::NOT_FOUND)) {
            return;
        }
        let was_approved = decision.get("decision").and_then(Value::as_str) == Some("approved");
        if was_approved {
            let reason = format!("the approval has no effect: {failure}");
            let decision = decision::rejected(&reason);
            actions.push(Action::Warn(format!("{reason}; the call is denied")));
            actions.push(Action::Decide { turn, run, approval, decision });
        } else {
            actions.push(Action::Warn(format!("a denial was not passed on, so the run is interrupted: {failure}")));
            actions.push(Action::Interrupt { run, request: None });
        }
    }
}

impl Run {
    /// Marks the question of a request as answered. Returns the turn, the run, the approval, and the arguments.
    fn settle(&mut self, request: &str) -> Option<(u64, Uuid, String, Value)> {
        let is_it =
            |question: &Question| matches!(question, Question::Asked { request: asked, .. } if asked == request);
        let (approval, question) = self.questions.iter_mut().find(|(_, question)| is_it(question))?;
        match std::mem::replace(question, Question::Settled) {
            Question::Asked { input, .. } => Some((self.turn, self.id?, approval.clone(), input)),
            Question::Settled => None,
        }
    }
}
