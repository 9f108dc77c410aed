//! Recognition of the protocol's messages.

use crate::decode::Record;
use crate::json::{Kind, Object};

/// A message of the protocol: an update, a question, or the answer to `initialize`.
pub(super) fn stdio(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    if let Some(method) = fields.str("method") {
        let params = fields.object("params")?;
        return match &*method {
            "session/update" => {
                let kind = params.object("update").is_some_and(|update| update.str("sessionUpdate").is_some());
                (kind && params.str("sessionId").is_some()).then_some("session/update with a sessionUpdate")
            }
            "session/request_permission" => (is(&params, "options", Kind::Array) && params.str("sessionId").is_some())
                .then_some("session/request_permission with options"),
            "initialize" => params.u64("protocolVersion").map(|_| "initialize with a numeric protocolVersion"),
            "session/new" | "session/load" | "session/resume" => {
                params.str("cwd").map(|_| "a session's request with its working directory")
            }
            "session/prompt" => is(&params, "prompt", Kind::Array).then_some("session/prompt with content blocks"),
            _ => None,
        };
    }
    let result = fields.object("result").filter(|_| fields.get("id").is_some())?;
    let greets = result.u64("protocolVersion").is_some();
    greets.then_some("the answer to initialize, with a numeric protocolVersion")
}

fn is(fields: &Object<'_>, key: &str, kind: Kind) -> bool {
    fields.get(key).is_some_and(|value| value.kind() == kind)
}
