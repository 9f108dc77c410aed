//! Recognition of the protocol's messages.

use crate::decode::Record;
use crate::json::{Kind, Object};

/// A message of the protocol: an update, a question, a request about a session, its refusal, or the answer to `initialize`.
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
            _ => {
                let is_one = method.starts_with("session/") && fields.str("jsonrpc").as_deref() == Some("2.0");
                is_one.then_some("JSON-RPC 2.0 about a session")
            }
        };
    }
    let refused = || fields.object("error")?.object("data")?.str("method");
    if refused().is_some_and(|method| method.starts_with("session/")) {
        return Some("an error about a session's method");
    }
    let result = fields.object("result").filter(|_| fields.get("id").is_some())?;
    let greets = result.u64("protocolVersion").is_some();
    greets.then_some("the answer to initialize, with a numeric protocolVersion")
}

fn is(fields: &Object<'_>, key: &str, kind: Kind) -> bool {
    fields.get(key).is_some_and(|value| value.kind() == kind)
}

#[cfg(test)]
mod tests {
    use crate::json::Json;
    use crate::recognise::recognise_as;
    use crate::runners::runner;

    fn is_recognised(text: &str) -> bool {
        let json = Json::parse(text).unwrap();
        let fields = json.object().unwrap();
        let record = crate::decode::Record { json, fields, event_name: None, index: 0, offset: 0 };
        recognise_as(runner("acp").unwrap(), &record, None).is_some()
    }

    #[test]
    fn other_json_rpc_is_not_taken() {
        for ours in [
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"capabilities":{}}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"session/list","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no","data":{"method":"session/x"}}}"#,
        ] {
            assert!(is_recognised(ours), "{ours}");
        }
        for other in [
            r#"{"id":0,"result":{"userAgent":"codex","codexHome":"/home/user/.codex"}}"#,
            r#"{"method":"initialize","id":0,"params":{"clientInfo":{"name":"c","version":"1"}}}"#,
            r#"{"method":"item/completed","params":{"item":{"type":"agentMessage"},"threadId":"t"}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"mcp"}}}"#,
            r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":{}}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}"#,
        ] {
            assert!(!is_recognised(other), "{other}");
        }
    }
}
