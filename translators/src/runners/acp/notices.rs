//! Chunks of messages that the agent itself wrote, and not the model.
//!
//! Input: a chunk of a message without thoughts, and whether the agent has said that its model failed. Output: an error or a log line in
//! place of a text. Never: words of the model taken for the agent's, unless they are exactly one of its sentences.
//!
//! Agents that end a failed turn like a good one put the error into a message. Each has a mark of its own: the adapter of Codex gives such a
//! chunk no id, and reports the status `systemError` first; that of Claude Code has `_meta.claudeCode.kind`, or fixed words with an id of its
//! own; Gemini CLI and Copilot have fixed words, in a chunk that is nothing else.

use super::super::failure::{self, Failure};
use crate::frame::{Body, ErrorScope, LogLevel};
use crate::json::{Json, Object};
use uuid::Uuid;

/// How Gemini CLI and Qwen Code announce a mode in the answer.
const MODE: &str = "[MODE_UPDATE] ";

/// What Copilot says if the client cancels, or refuses, a call.
const CANCELLED: &str = "Info: Operation cancelled by user";

/// How an error of the adapter of Claude Code begins; the HTTP status follows.
const API_ERROR: &str = "API Error: ";

/// How an error of Copilot begins; the HTTP status follows.
const ERROR: &str = "Error: ";

/// The frame for a chunk that is not the model's; `None` if it is.
pub(super) fn of_chunk(update: &Object<'_>, text: &str, has_failed: bool) -> Option<Body> {
    let meta = update.object("_meta").and_then(|meta| meta.object("claudeCode"));
    if let Some(meta) = meta.filter(|meta| meta.str("kind").as_deref() == Some("informational")) {
        return Some(log(
            if meta.str("level").as_deref() == Some("warning") { LogLevel::Warn } else { LogLevel::Info },
            text,
        ));
    }
    if let Some(id) = update.str("messageId") {
        // The ids of the model's messages are not UUIDs.
        return of_status(text.strip_prefix(API_ERROR).filter(|_| Uuid::try_parse(&id).is_ok())?);
    }
    if has_failed {
        return Some(of_codex(text.trim_end()).body(ErrorScope::Provider));
    }
    if text == CANCELLED || text.strip_prefix(MODE).is_some_and(is_word) {
        return Some(log(LogLevel::Info, text));
    }
    of_status(text.strip_prefix(ERROR)?)
}

/// An error that begins with an HTTP status.
fn of_status(text: &str) -> Option<Body> {
    let status = text.split_once(' ')?.0.parse().ok()?;
    Some(Failure::new(failure::code_of(status)?, text, Some(status)).body(ErrorScope::Provider))
}

fn log(level: LogLevel, text: &str) -> Body {
    Body::LogEmitted { level, message: text.trim_end().to_owned() }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
}

/// An error of Codex: the provider's own JSON, or a sentence.
fn of_codex(text: &str) -> Failure {
    let error = Json::parse(text).ok().and_then(Json::object).and_then(|answer| answer.object("error"));
    let Some(error) = error else { return Failure::new("", text, None) };
    let code = error.str("type").and_then(|kind| failure::code_of_type(&kind)).unwrap_or_default();
    Failure::new(code, &error.str("message").unwrap_or_default(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(update: &str, text: &str, has_failed: bool) -> Option<String> {
        Some(match of_chunk(&Object::parse(update).unwrap(), text, has_failed)? {
            Body::LogEmitted { level, message } => format!("{} {message}", level.as_str()),
            Body::ErrorReported(error) => format!("{} {} {:?}", error.code, error.message, error.http_status),
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn every_agent_has_its_own_mark() {
        let claude = r#"{"messageId":"m","_meta":{"claudeCode":{"kind":"informational","level":"warning"}}}"#;
        assert_eq!(of(claude, "**Warning:** x", false).unwrap(), "warn **Warning:** x");
        let refused = r#"{"error": {"message": "No.", "type": "invalid_request_error", "code": null}}"#;
        assert_eq!(of("{}", &format!("{refused}\n\n"), true).unwrap(), "invalid_request No. None");
        assert_eq!(
            of("{}", "Incomplete response returned\n\n", true).unwrap(),
            "error Incomplete response returned None"
        );
        assert_eq!(of("{}", "[MODE_UPDATE] plan", false).unwrap(), "info [MODE_UPDATE] plan");
        assert_eq!(
            of("{}", "Info: Operation cancelled by user", false).unwrap(),
            "info Info: Operation cancelled by user"
        );
        assert_eq!(of("{}", "Error: 429 Slow down", false).unwrap(), "rate_limit 429 Slow down Some(429)");
    }

    #[test]
    fn an_error_of_claude_code_has_an_id_of_its_own() {
        let error = "API Error: 400 No.";
        let own = r#"{"messageId":"27e4a2f5-af98-45ca-953b-45304b798ebe"}"#;
        assert_eq!(of(own, error, false).unwrap(), "invalid_request 400 No. Some(400)");
        assert_eq!(of(r#"{"messageId":"msg_01"}"#, error, false), None);
        assert_eq!(of(own, "API Error: none", false), None);
    }

    #[test]
    fn words_of_the_model_stay_a_text() {
        let named = r#"{"messageId":"m"}"#;
        for text in ["[MODE_UPDATE] plan", "Error: 400 bad", CANCELLED] {
            assert_eq!(of(named, text, true), None);
        }
        for text in
            ["Error: no such file", "Error: 200 lines", "[MODE_UPDATE] is a marker", "Info: x", "", "Error: 400"]
        {
            assert_eq!(of("{}", text, false), None, "{text}");
        }
    }
}
