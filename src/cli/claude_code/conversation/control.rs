//! The client's requests over the control protocol.
//!
//! Input: a request. Output: its answer, and what follows from it. Never: a success for a request that has no effect; a request without an answer.

use super::{Action, Conversation};
use crate::cli::claude_code::invocation::model;
use crate::cli::claude_code::permissions::Mode;
use crate::cli::claude_code::replies;
use serde_json::{Value, json};

/// The fields of `initialize` that must be empty, because they would have no effect: hooks may forbid what the upstream would do.
const REFUSED: &[&str] = &[
    "hooks",
    "sdkMcpServers",
    "mcpServers",
    "jsonSchema",
    "agents",
    "plugins",
    "disallowedTools",
    "settings",
    "managedSettings",
    "toolAliases",
];

impl Conversation {
    /// Takes a request.
    pub(super) fn request(&mut self, id: &str, subtype: &str, fields: &Value) -> Vec<Action> {
        let outcome = match subtype {
            "initialize" => self.initialize(fields),
            "interrupt" => return self.interrupted(id, fields),
            "set_permission_mode" => self.set_mode(fields),
            "set_model" => {
                let name = fields.get("model").and_then(Value::as_str);
                self.model = name.and_then(model).or_else(|| self.settings.model.clone());
                Ok((json!({}), None))
            }
            "cancel_async_message" => {
                let uuid = fields.get("message_uuid").and_then(Value::as_str).unwrap_or_default();
                Ok((json!({"cancelled": self.waiting.cancel(uuid)}), None))
            }
            "" => Err("a control request has no subtype".to_owned()),
            _ => Err(format!("framegate does not support the control request {subtype}")),
        };
        match outcome {
            Ok((response, warning)) => {
                let answer = Action::Write(replies::success(id, &response));
                warning.map(Action::Warn).into_iter().chain([answer]).collect()
            }
            Err(error) => vec![Action::Write(replies::error(id, &error))],
        }
    }

    fn initialize(&mut self, fields: &Value) -> Result<(Value, Option<String>), String> {
        let is_set = |name: &&&str| match fields.get(**name) {
            None | Some(Value::Null) => false,
            Some(Value::Object(object)) => !object.is_empty(),
            Some(Value::Array(list)) => !list.is_empty(),
            Some(_) => true,
        };
        if let Some(name) = REFUSED.iter().find(is_set) {
            let reason = format!("framegate does not support {name}: configure the upstream itself instead");
            self.refusal = Some(reason.clone());
            return Err(reason);
        }
        self.refusal = None;
        let system: Vec<String> = match fields.get("systemPrompt") {
            Some(Value::Array(parts)) => parts.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(Value::String(text)) => vec![text.clone()],
            _ => Vec::new(),
        };
        let more = fields.get("appendSystemPrompt").and_then(Value::as_str).map(str::to_owned);
        if !std::mem::replace(&mut self.is_initialized, true) {
            self.instructions.extend(system.into_iter().chain(more).filter(|text| !text.trim().is_empty()));
        }
        Ok((replies::initialized(), None))
    }

    fn set_mode(&mut self, fields: &Value) -> Result<(Value, Option<String>), String> {
        let mode = Mode::read(fields.get("mode").and_then(Value::as_str).unwrap_or_default())?;
        if mode == Mode::BypassPermissions && !self.permissions.may_bypass {
            return Err("the session was not started with --allow-dangerously-skip-permissions".to_owned());
        }
        self.permissions.mode = mode;
        Ok((json!({"mode": mode.name()}), mode.caveat().map(str::to_owned)))
    }

    fn interrupted(&mut self, id: &str, fields: &Value) -> Vec<Action> {
        let mut cancelled = None;
        if fields.get("cancel_queued").and_then(Value::as_bool) == Some(true) {
            cancelled = Some(self.waiting.cancel_all());
        }
        if self.run.is_some() && cancelled.is_none() {
            return self.interrupt(Some(id.to_owned()));
        }
        let mut receipt = self.receipt();
        if let (Some(cancelled), Some(receipt)) = (cancelled, receipt.as_object_mut()) {
            receipt.insert("cancelled".to_owned(), json!(cancelled));
        }
        let mut actions = vec![Action::Write(replies::success(id, &receipt))];
        actions.extend(self.interrupt(None));
        actions
    }

    /// Interrupts the run in progress, as soon as it has begun.
    pub(super) fn interrupt(&mut self, request: Option<String>) -> Vec<Action> {
        let Some(run) = &mut self.run else { return Vec::new() };
        match run.id {
            Some(run) => vec![Action::Interrupt { run, request }],
            None => {
                run.interruptions.push(request);
                Vec::new()
            }
        }
    }

    /// What the client learns about an interruption: which of its prompts still wait.
    pub(super) fn receipt(&self) -> Value {
        json!({"still_queued": self.waiting.ids().collect::<Vec<_>>()})
    }
}
