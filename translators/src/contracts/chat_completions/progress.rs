//! What a runner does besides answering, as lines in the field for reasoning.
//!
//! Input: a tool that starts, a question, a decision. Output: one line of limited length. Never: a line in the answer itself, or the
//! output of a tool.

use crate::frame::{ApprovalRequested, ApprovalResolved, RawJson, SharedStr, ToolCall, ToolKind};
use crate::json::Json;
use std::borrow::Cow;

/// The longest description of a call, in characters.
const MAX_CALL: usize = 300;

/// A tool started.
pub(super) fn tool(call: &ToolCall) -> String {
    format!("{}: {}", name_of(&call.name), described(call.kind, &call.args))
}

/// A question waits for an answer.
pub(super) fn question(asked: &ApprovalRequested) -> String {
    let ApprovalRequested { approval_id, tool_name, args, reason, .. } = asked;
    let reason = reason.as_deref().map_or_else(String::new, |reason| format!(" ({})", cut(reason)));
    format!("{} waits for approval {approval_id}{reason}: {}", name_of(tool_name), described(ToolKind::Shell, args))
}

/// A question was decided.
pub(super) fn decision(resolved: &ApprovalResolved) -> String {
    let by = resolved.by.as_deref().map_or_else(String::new, |by| format!(" by {}", cut(by)));
    let reason = resolved.reason.as_deref().map_or_else(String::new, |reason| format!(": {}", cut(reason)));
    format!("Approval {}: {}{by}{reason}", resolved.approval_id, resolved.decision.as_str())
}

fn name_of(name: &SharedStr) -> &str {
    if name.is_empty() { "tool" } else { name }
}

/// The command of a shell call, or the arguments.
fn described(kind: ToolKind, args: &RawJson) -> String {
    let command = (kind == ToolKind::Shell).then(|| Json::new(args).object()?.str("command").map(Cow::into_owned));
    command.flatten().map_or_else(|| cut(args.get()), |command| cut(&command))
}

/// The text in one line, cut after [`MAX_CALL`] characters.
fn cut(text: &str) -> String {
    let mut line = String::new();
    for (at, letter) in text.chars().enumerate() {
        if at == MAX_CALL {
            line.push('…');
            break;
        }
        line.push(if letter.is_control() { ' ' } else { letter });
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Decision, Tool};

    fn raw(json: &str) -> RawJson {
        serde_json::value::RawValue::from_string(json.to_owned()).unwrap().into()
    }

    #[test]
    fn lines_are_short_and_say_what_the_runner_does() {
        let call = |name: &str, kind, args: &str| {
            let tool = Tool { id: uuid::Uuid::nil(), call_id: "c".into() };
            super::tool(&ToolCall { tool, name: name.into(), kind, args: raw(args) })
        };
        assert_eq!(call("Bash", ToolKind::Shell, r#"{"command":"cd /\nls"}"#), "Bash: cd / ls");
        assert_eq!(call("", ToolKind::Shell, r#"{"argv":["ls"]}"#), r#"tool: {"argv":["ls"]}"#);
        assert_eq!(call("Read", ToolKind::Read, r#"{"file_path":"a"}"#), r#"Read: {"file_path":"a"}"#);
        let long = call("Write", ToolKind::Write, &format!("{{\"content\":\"{}\"}}", "é".repeat(5000)));
        assert_eq!(long.chars().count(), "Write: ".len() + MAX_CALL + 1);
        let asked = ApprovalRequested {
            approval_id: "ask-1".into(),
            tool_id: None,
            tool_name: "Bash".into(),
            args: raw(r#"{"command":"ls"}"#),
            reason: Some("it reads".to_owned()),
        };
        assert_eq!(question(&asked), "Bash waits for approval ask-1 (it reads): ls");
        let resolved = ApprovalResolved {
            approval_id: "ask-1".into(),
            decision: Decision::Rejected,
            by: Some("me".into()),
            reason: None,
            scope: None,
        };
        assert_eq!(decision(&resolved), "Approval ask-1: rejected by me");
    }
}
