//! Turns: from a prompt to its answer, with the questions in between.
//!
//! Input: a prompt, the messages of its run, the client's answers and its wish to cancel. Output: the messages of the turn, and decisions for the proxy. Never:
//! a question that waits after the turn; a cancelled turn with another answer than `cancelled`.

use super::{Action, Agent, Answered, Asked, OrderKey, Turn, at_work, text};
use crate::cli::acp::event::Event;
use crate::cli::acp::prompt::Prompt;
use crate::cli::acp::rpc::{self, INTERNAL_ERROR, RpcError};
use crate::cli::acp::session::title_of;
use crate::cli::acp::terminals::Terminals;
use crate::cli::bridge::Started;
use serde_json::{Value, json};
use uuid::Uuid;

impl Agent {
    pub(super) fn prompt(&mut self, request: &Value, params: &Value) -> Answered {
        let id = text(params, "sessionId")?;
        let session = self.sessions.open(id)?;
        if session.turn.is_some() || session.is_loading {
            return Err(at_work());
        }
        let prompt = Prompt::read(params.get("prompt").unwrap_or(&Value::Null))?;
        session.updated_at_ms = self.settings.clock.now_ms();
        if session.title.is_empty() {
            session.title = title_of(&prompt.text);
        }
        let order = OrderKey {
            prompt,
            session_id: session.at_proxy,
            cwd: self.settings.sends_cwd.then(|| session.cwd.clone()),
            model: session.model.clone().or_else(|| self.settings.models.first().cloned()),
            mode: self.modes.of_prompt(session.mode.as_deref()),
        };
        let turn = self.begin(id, Some(request.clone()));
        self.actions.push(Action::Start { turn, order });
        Ok(None)
    }

    pub(super) fn begin(&mut self, session: &str, request: Option<Value>) -> u64 {
        self.last += 1;
        let turn =
            Turn { session: session.to_owned(), request, run: None, is_cancelled: false, terminals: self.terminals() };
        self.turns.insert(self.last, turn);
        if let Some(session) = self.sessions.get_mut(session) {
            session.turn = Some(self.last);
        }
        self.last
    }

    pub(super) fn started(&mut self, turn: u64, outcome: Result<Started, String>) {
        let Started { run_id, session_id } = match outcome {
            Ok(started) => started,
            Err(reason) => return self.end(turn, Err(reason)),
        };
        let Some(Turn { session: id, run, is_cancelled, .. }) = self.turns.get_mut(&turn) else { return };
        *run = Some(run_id);
        if *is_cancelled {
            self.actions.push(Action::Interrupt { run: run_id });
        }
        let id = id.clone();
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let is_first = session.at_proxy.is_none();
        session.at_proxy = Some(session_id);
        let record = session.record(&id);
        if is_first {
            let update = json!({"sessionUpdate": "session_info_update", "title": session.title});
            self.send(rpc::notification("session/update", json!({"sessionId": id, "update": update})));
        }
        self.actions.extend(record.map(Action::Remember));
    }

    pub(super) fn event(&mut self, number: u64, event: Value) {
        let Some(turn) = self.turns.get(&number) else { return };
        let run = turn.run;
        let Some(event) = self.reader(&turn.session).adapt(event) else { return };
        if self.has_seen(number, &event) {
            return;
        }
        match event {
            Event::Update(update) => {
                let session = turn.session.clone();
                let mut terminals = self.turns.get_mut(&number).and_then(|turn| turn.terminals.take());
                self.send_update(&session, update, &mut terminals);
                if let Some(turn) = self.turns.get_mut(&number) {
                    turn.terminals = terminals;
                }
            }
            Event::Question { approval, params } => {
                let Some(run) = run else { return };
                let call = params.pointer("/toolCall/toolCallId").and_then(Value::as_str).unwrap_or_default();
                let announced = self.turns.get_mut(&number).and_then(|turn| turn.terminals.as_mut()?.announced(call));
                announced.into_iter().for_each(|announced| self.send(announced));
                self.last += 1;
                let id = self.last;
                self.asked.insert(id, Asked { turn: number, run, approval });
                let request =
                    json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params});
                self.send(request);
            }
            Event::Withdrawn { approval } => self.withdraw(|asked| asked.turn == number && asked.approval == approval),
            Event::Answer(answer) => self.end(number, Ok(answer)),
        }
    }

    /// Whether the client has this already: its own prompt, which the proxy's settings may make part of each run, or a question that the
    /// proxy repeats after a lost connection.
    fn has_seen(&self, number: u64, event: &Event) -> bool {
        match event {
            Event::Update(update) => {
                let is_own = self.turns.get(&number).is_some_and(|turn| turn.request.is_some());
                let kind = update.pointer("/params/update/sessionUpdate").and_then(Value::as_str);
                is_own && kind == Some("user_message_chunk")
            }
            Event::Question { approval, .. } => {
                self.asked.values().any(|asked| asked.turn == number && asked.approval == *approval)
            }
            Event::Withdrawn { .. } | Event::Answer(_) => false,
        }
    }

    /// Withdraws questions that the client has not answered.
    fn withdraw(&mut self, is_over: impl Fn(&Asked) -> bool) {
        let over: Vec<u64> = self.asked.iter().filter(|(_, asked)| is_over(asked)).map(|(id, _)| *id).collect();
        for id in over {
            self.asked.remove(&id);
            self.send(rpc::notification("$/cancel_request", json!({"requestId": id})));
        }
    }

    /// The client's answer to a question.
    pub(super) fn answer(&mut self, id: &Value, outcome: Result<Value, String>) {
        // An answer to a question that was withdrawn is no news.
        let Some(Asked { run, approval, .. }) = id.as_u64().and_then(|id| self.asked.remove(&id)) else { return };
        let decision = match outcome {
            Ok(result) => match result.pointer("/outcome/optionId").and_then(Value::as_str) {
                Some("allow_once") => json!({"decision": "approved"}),
                Some("allow_always") => json!({"decision": "approved", "scope": "session"}),
                Some("reject_once") => json!({"decision": "rejected"}),
                Some(other) => {
                    self.actions.push(Action::Warn(format!("the client chose {other:?}, which was not offered")));
                    json!({"decision": "rejected"})
                }
                None => json!({"decision": "cancelled"}),
            },
            Err(reason) => json!({"decision": "rejected", "reason": reason}),
        };
        self.actions.push(Action::Decide { run, approval, decision });
    }

    /// A question that stays open would keep its run waiting, so the next weaker answer is given: an approval that only covers this call,
    /// a rejection, and none.
    pub(super) fn not_decided(&mut self, run: Uuid, approval: String, decision: &Value, reason: &str) {
        let weaker = match (decision["decision"].as_str(), decision.get("scope")) {
            (Some("approved"), Some(_)) => json!({"decision": "approved"}),
            (Some("approved"), None) => json!({"decision": "rejected", "reason": reason}),
            (Some("rejected"), _) => json!({"decision": "cancelled"}),
            _ => {
                let text = format!("a question stays open, because no answer was accepted: {reason}");
                return self.actions.push(Action::Warn(text));
            }
        };
        self.actions.push(Action::Warn(format!("an answer was refused, so {weaker} is sent instead: {reason}")));
        self.actions.push(Action::Decide { run, approval, decision: weaker });
    }

    pub(super) fn cancel(&mut self, number: u64) {
        let Some(turn) = self.turns.get_mut(&number) else { return };
        if !std::mem::replace(&mut turn.is_cancelled, true)
            && let Some(run) = turn.run
        {
            self.actions.push(Action::Interrupt { run });
        }
    }

    /// Without the proxy, a turn that the client cancelled need not be waited for.
    pub(super) fn not_interrupted(&mut self, run: Uuid, reason: String) {
        let turn = self.turns.iter().find(|(_, turn)| turn.run == Some(run)).map(|(number, _)| *number);
        if let Some(turn) = turn {
            self.end(turn, Err(reason));
        }
    }

    /// Ends a turn with the answer of the contract, or with the reason why there is none.
    pub(super) fn end(&mut self, number: u64, outcome: Result<Value, String>) {
        self.withdraw(|asked| asked.turn == number);
        let Some(mut turn) = self.turns.remove(&number) else { return };
        turn.terminals.iter_mut().flat_map(Terminals::left).for_each(|announced| self.send(announced));
        if let Some(session) = self.sessions.get_mut(&turn.session) {
            session.turn = None;
        }
        let Some(request) = turn.request else { return };
        let mut answer = match outcome {
            Ok(answer) => answer,
            Err(reason) => rpc::error(&request, &RpcError::new(INTERNAL_ERROR, reason)),
        };
        rpc::set(&mut answer, "id", request);
        if turn.is_cancelled && answer.pointer("/result/stopReason") != Some(&json!("cancelled")) {
            answer = cancelled(answer);
        }
        self.send(answer);
    }
}

/// The answer to a prompt that the client cancelled, however its run ended.
fn cancelled(answer: Value) -> Value {
    let mut result = json!({"stopReason": "cancelled"});
    let usage = answer.pointer("/result/usage").or_else(|| answer.pointer("/error/data/usage"));
    if let Some(usage) = usage.filter(|usage| usage.is_object()) {
        rpc::set(&mut result, "usage", usage.clone());
    }
    if let Some(own) = answer.pointer("/result/_meta") {
        rpc::set(&mut result, "_meta", own.clone());
    }
    rpc::result(answer.get("id").unwrap_or(&Value::Null), result)
}
