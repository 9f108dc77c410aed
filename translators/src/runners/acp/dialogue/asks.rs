//! The agent's questions, and their answers.
//!
//! Input: a question, and what a person decided. Output: the result for the agent. Never: an option whose kind permits more than the
//! person did, or that the agent did not offer.

use super::super::super::elicitation::{Form, object_of};
use super::super::permission;
use super::scope_of;
use crate::frame::{Decision, RawJson};
use crate::host::{Answer, OpenQuestion, SendError};
use crate::json::{Json, Object, to_raw};
use serde_json::json;

/// A question that awaits its answer.
#[derive(Debug)]
pub(super) struct Ask {
    /// The request's id, as the agent wrote it.
    pub(super) id: RawJson,
    args: Option<RawJson>,
    wants: Wants,
}

/// The kind of answer that a question takes.
#[derive(Debug)]
enum Wants {
    /// One of these options, by id and kind.
    Option(Vec<(String, String)>),
    /// The content of a form, or why this host cannot fill it in.
    Form(Result<Form, String>),
}

impl Ask {
    /// Reads a question; `None` if the request is no question to a person.
    pub(super) fn read(method: &str, id: RawJson, params: &Object<'_>) -> Option<Self> {
        match method {
            "session/request_permission" => {
                let args =
                    params.object("toolCall").and_then(|call| call.some("rawInput").map(Json::to_raw_as_it_came));
                Some(Self { id, args, wants: Wants::Option(permission::options(params)) })
            }
            "elicitation/create" => {
                let form = Form::asked(params.str("mode").as_deref(), params.some("requestedSchema"));
                Some(Self { id, args: None, wants: Wants::Form(form) })
            }
            _ => None,
        }
    }

    /// The question as the host sees it.
    pub(super) fn question(&self) -> OpenQuestion {
        let form = match &self.wants {
            Wants::Form(form) => Some(form),
            Wants::Option(_) => None,
        };
        OpenQuestion {
            args: self.args.clone(),
            wants_answers: form.is_some_and(|form| form.as_ref().is_ok_and(|form| !form.is_empty())),
            unanswerable: form.and_then(|form| form.as_ref().err().cloned()),
        }
    }

    /// The result without a decision.
    pub(super) fn cancelled(&self) -> RawJson {
        match self.wants {
            Wants::Option(_) => to_raw(&json!({"outcome": {"outcome": "cancelled"}})),
            Wants::Form(_) => to_raw(&json!({"action": "cancel"})),
        }
    }

    /// The result for an answer.
    ///
    /// # Errors
    /// The agent does not offer such an answer, or a form is not filled in correctly.
    pub(super) fn result(&self, answer: &Answer) -> Result<RawJson, SendError> {
        let scope = scope_of(answer)?;
        match &self.wants {
            Wants::Option(options) => match permission::choose(options, answer.decision, scope) {
                Some(option) => Ok(to_raw(&json!({"outcome": {"outcome": "selected", "optionId": option}}))),
                None if answer.decision == Decision::Approved => {
                    Err(SendError::Unsupported("the agent does not offer an approval with this scope"))
                }
                // Without an option that rejects, the question is cancelled.
                None => Ok(self.cancelled()),
            },
            Wants::Form(Err(why)) if answer.decision == Decision::Approved => {
                Err(SendError::InvalidAnswer(why.clone()))
            }
            Wants::Form(form) => {
                let none = Form::default();
                let (action, content) = form.as_ref().unwrap_or(&none).response(answer)?;
                let action = to_raw(action);
                let content = content.as_ref().map(|content| ("content", content.get()));
                Ok(object_of([("action", action.get())].into_iter().chain(content)))
            }
        }
    }
}
