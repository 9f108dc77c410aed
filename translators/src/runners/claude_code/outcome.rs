//! The outcome of a call, read from its result.
//!
//! Input: the result block, and what the runner adds to it. Output: a verdict, and the result as text. Never: base64.

use super::tools::Call;
use crate::frame::{TIMED_OUT, ToolKind};
use crate::json::{Json, Object};
use std::borrow::Cow;
use std::fmt::Write;

/// What the runner adds to a result, in the spelling of either surface.
#[derive(Debug, Default)]
pub(super) struct Outcome<'a> {
    /// The tool's own structured result.
    pub(super) result: Option<Json<'a>>,
    /// Why the call never ran.
    pub(super) non_execution: Option<Cow<'a, str>>,
    /// `accept`, `reject` or `cancelled`.
    pub(super) decision: Option<Cow<'a, str>>,
    /// Who made the decision.
    pub(super) decided_by: Option<Cow<'a, str>>,
}

/// The verdict on a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The call ran and had this exit code.
    Ended(i32),
    /// The call never ran.
    Refused(String),
    /// The call was interrupted.
    Cancelled(String),
}

/// How texts of refused calls start in older versions, which do not mark a refusal in another way.
const REFUSALS: &[&str] = &[
    "The user doesn't want to proceed with this tool use.",
    "Claude requested permissions to ",
    "Permission to use ",
    "PreToolUse:",
    "Hook PreToolUse:",
];

impl<'a> Outcome<'a> {
    /// Reads the entry of `tool_result_meta` for the call.
    pub(super) fn of_frame(fields: &Object<'a>, call_id: &str) -> Self {
        let entries = fields.items("tool_result_meta").into_iter().filter_map(Json::object);
        let meta = entries.into_iter().find(|entry| entry.str("id").as_deref() == Some(call_id)).unwrap_or_default();
        let decision = meta.object("permission_decision").unwrap_or_default();
        Self {
            result: fields.some("tool_use_result"),
            non_execution: meta.str("non_execution_kind"),
            decision: decision.str("decision"),
            decided_by: decision.str("source"),
        }
    }

    /// Reads the same from a transcript, which has these fields on the record itself.
    pub(super) fn of_entry(fields: &Object<'a>) -> Self {
        let decision = fields.object("permissionDecision").unwrap_or_default();
        Self {
            result: fields.some("toolUseResult"),
            non_execution: fields.str("toolDenialKind"),
            decision: decision.str("decision"),
            decided_by: decision.str("source"),
        }
    }

    /// Derives the verdict from a result.
    pub(super) fn verdict(&self, is_error: bool, text: &str, call: Option<&Call>) -> Verdict {
        if !is_error {
            return Verdict::Ended(if self.took_too_long() { TIMED_OUT } else { 0 });
        }
        let tagged = text.strip_prefix("<tool_use_error>").map(|text| text.trim_end_matches("</tool_use_error>"));
        let error = || tagged.unwrap_or(text).to_owned();
        let by_user = call.is_some_and(|call| call.denied) || REFUSALS.iter().any(|known| text.starts_with(known));
        match (self.non_execution.as_deref(), self.decision.as_deref()) {
            (Some("interrupted" | "cancelled"), _) | (_, Some("cancelled")) => Verdict::Cancelled(error()),
            (Some(_), _) | (_, Some("reject")) => Verdict::Refused(error()),
            _ if tagged.is_some() || by_user => Verdict::Refused(error()),
            _ => Verdict::Ended(match call {
                Some(call) if call.kind == ToolKind::Shell => exit_code(text).filter(|code| *code != 0).unwrap_or(1),
                _ => 1,
            }),
        }
    }

    /// Whether a command was stopped because it took too long. If it goes on in the background instead, the call succeeded.
    fn took_too_long(&self) -> bool {
        let result = self.result.and_then(Json::object).unwrap_or_default();
        result.some("timedOutAfterMs").is_some() && result.some("backgroundTaskId").is_none()
    }

    /// The duration as measured by the tool.
    pub(super) fn duration_ms(&self) -> Option<u64> {
        let result = self.result?.object()?;
        let seconds = || result.f64("durationSeconds").map(|seconds| (seconds * 1000.0).round().max(0.0) as u64);
        result.u64("totalDurationMs").or_else(|| result.u64("durationMs")).or_else(seconds)
    }
}

/// The exit code from a failed command's text, which starts with `Exit code 2` or similar.
fn exit_code(text: &str) -> Option<i32> {
    let rest = text.strip_prefix("Exit code ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

/// The result as text: its text parts, and a note for each part of another type.
pub(super) fn result_text(content: Option<Json<'_>>) -> String {
    let Some(content) = content else { return String::new() };
    if let Some(text) = content.str() {
        return text.into_owned();
    }
    let mut all = String::new();
    for part in content.items() {
        if !all.is_empty() {
            all.push('\n');
        }
        match part.object() {
            Some(part) => part_text(&part, &mut all),
            None => all.push_str(&part.str().unwrap_or_default()),
        }
    }
    if let Some(part) = content.object() {
        part_text(&part, &mut all);
    }
    all
}

fn part_text(part: &Object<'_>, out: &mut String) {
    let kind = part.str("type").unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = match &*kind {
        "text" => out.write_str(&part.str("text").unwrap_or_default()),
        "tool_reference" => out.write_str(&part.str("tool_name").unwrap_or_default()),
        "web_search_result" | "search_result" => {
            let url = part.str("url").or_else(|| part.str("source")).unwrap_or_default();
            write!(out, "{} {url}", part.str("title").unwrap_or_default())
        }
        _ => match media(part) {
            Some((mime, Some(bytes))) => write!(out, "[{mime}, {bytes} bytes]"),
            Some((mime, None)) => write!(out, "[{mime}]"),
            None => write!(out, "[{kind}]"),
        },
    };
}

/// The media type and size of an image or document block.
pub(super) fn media(part: &Object<'_>) -> Option<(String, Option<u64>)> {
    let source = part.object("source")?;
    let mime = source.str("media_type").or_else(|| part.str("type"))?.into_owned();
    Some((mime, source.get("data").and_then(base64_bytes)))
}

/// The number of bytes that base64 text encodes, computed without decoding it.
fn base64_bytes(data: Json<'_>) -> Option<u64> {
    let text = data.str()?;
    let padding = text.bytes().rev().take(2).filter(|byte| *byte == b'=').count() as u64;
    Some((text.len() as u64 / 4 * 3).saturating_sub(padding))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(outcome: &Outcome<'_>, text: &str) -> Verdict {
        outcome.verdict(true, text, None)
    }

    #[test]
    fn a_call_that_never_ran_is_rejected() {
        let plain = Outcome::default();
        let refused = Verdict::Refused("Error: No such tool available: X".to_owned());
        assert_eq!(verdict(&plain, "<tool_use_error>Error: No such tool available: X</tool_use_error>"), refused);
        assert!(matches!(verdict(&plain, "Permission to use Bash has been denied."), Verdict::Refused(_)));
        let hook = Outcome { decision: Some("reject".into()), ..Outcome::default() };
        assert!(matches!(verdict(&hook, "blocked"), Verdict::Refused(_)));
        let stopped = Outcome { non_execution: Some("interrupted".into()), ..Outcome::default() };
        assert!(matches!(verdict(&stopped, "stop"), Verdict::Cancelled(_)));
        assert_eq!(verdict(&plain, "file not found"), Verdict::Ended(1));
        assert_eq!(plain.verdict(false, "<tool_use_error>quoted", None), Verdict::Ended(0));
    }

    #[test]
    fn a_command_that_took_too_long_succeeded_only_if_it_goes_on() {
        let of = |result| {
            let outcome = Outcome { result: Some(Json::parse(result).unwrap()), ..Outcome::default() };
            outcome.verdict(false, "a", None)
        };
        assert_eq!(of(r#"{"stdout":"a","timedOutAfterMs":120000}"#), Verdict::Ended(TIMED_OUT));
        assert_eq!(of(r#"{"stdout":"a","timedOutAfterMs":120000,"backgroundTaskId":"b1"}"#), Verdict::Ended(0));
        assert_eq!(of(r#"{"stdout":"a","timedOutAfterMs":null}"#), Verdict::Ended(0));
        assert_eq!(of(r#""text""#), Verdict::Ended(0));
    }

    #[test]
    fn the_exit_code_of_a_command_is_read() {
        assert_eq!(exit_code("Exit code 127\nnot found"), Some(127));
        assert_eq!(exit_code("Exit code 2"), Some(2));
        assert_eq!(exit_code("Exit code x"), None);
    }

    #[test]
    fn images_are_described_and_not_copied() {
        let content = r#"[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAECAw=="}}]"#;
        assert_eq!(result_text(Json::parse(content).ok()), "a\n[image/png, 4 bytes]");
        assert_eq!(result_text(Json::parse("\"b\"").ok()), "b");
    }
}
