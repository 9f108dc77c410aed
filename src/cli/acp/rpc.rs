//! Messages of JSON-RPC 2.0, one on each line.
//!
//! Input: a line from the client, or parts of a message. Output: what the line is; a message. Never: a batch, which the protocol does not
//! use; the content of a line in an error.

use crate::cli::bridge::nesting;
use serde_json::{Map, Value, json};

/// The line is not JSON.
pub(super) const PARSE_ERROR: i32 = -32700;
/// The message is no request, or does not fit the state of the session.
pub(super) const INVALID_REQUEST: i32 = -32600;
/// The method is unknown.
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
/// The parameters do not fit the method.
pub(super) const INVALID_PARAMS: i32 = -32602;
/// The request failed.
pub(super) const INTERNAL_ERROR: i32 = -32603;
/// A session or file does not exist.
pub(super) const RESOURCE_NOT_FOUND: i32 = -32002;

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RpcError {
    pub(super) code: i32,
    pub(super) message: String,
}

impl RpcError {
    pub(super) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The parameters do not fit the method.
    pub(super) fn params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }
}

/// A message from the client.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    /// It expects an answer.
    Request { id: Value, method: String, params: Value },
    /// It expects no answer.
    Notification { method: String, params: Value },
    /// The answer to a request of ours: the result, or the message of the error.
    Answer { id: Value, outcome: Result<Value, String> },
}

/// Reads a line.
///
/// # Errors
/// The id for the error's answer, which is null if the line has none, and what is wrong.
pub(super) fn read(line: &[u8]) -> Result<Message, (Value, RpcError)> {
    let refused = |id: Value, code, message: String| Err((id, RpcError::new(code, message)));
    let mut message: Map<String, Value> = match nesting::read(line) {
        Ok(Value::Object(message)) => message,
        Ok(Value::Array(_)) => return refused(Value::Null, INVALID_REQUEST, "batches are not supported".to_owned()),
        Ok(_) => return refused(Value::Null, INVALID_REQUEST, "a message must be an object".to_owned()),
        Err(error) => return refused(Value::Null, PARSE_ERROR, format!("the line is not valid JSON: {error}")),
    };
    let id = message.remove("id");
    let params = message.remove("params").unwrap_or(Value::Null);
    match (id, message.remove("method")) {
        (Some(id), _) if !matches!(id, Value::Null | Value::Number(_) | Value::String(_)) => {
            refused(Value::Null, INVALID_REQUEST, "an id must be a number, a string or null".to_owned())
        }
        (Some(id), Some(Value::String(method))) => Ok(Message::Request { id, method, params }),
        (None, Some(Value::String(method))) => Ok(Message::Notification { method, params }),
        (id, Some(_)) => refused(id.unwrap_or_default(), INVALID_REQUEST, "method must be a string".to_owned()),
        (Some(id), None) => match (message.remove("result"), message.remove("error")) {
            (_, Some(error)) => {
                let text = error.get("message").and_then(Value::as_str).unwrap_or("the client failed");
                Ok(Message::Answer { id, outcome: Err(text.to_owned()) })
            }
            (Some(result), None) => Ok(Message::Answer { id, outcome: Ok(result) }),
            (None, None) => refused(id, INVALID_REQUEST, "the message has no method, result or error".to_owned()),
        },
        (None, None) => refused(Value::Null, INVALID_REQUEST, "the message has neither an id nor a method".to_owned()),
    }
}

/// The successful answer to a request.
pub(super) fn result(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// The answer to a request that failed.
pub(super) fn error(id: &Value, error: &RpcError) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": error.code, "message": error.message}})
}

/// A notification.
pub(super) fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// Sets a member of an object.
pub(super) fn set(object: &mut Value, key: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_request_a_notification_or_an_answer() {
        let request = |id: Value| Message::Request { id, method: "m".to_owned(), params: json!({"a": 1}) };
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":0,"method":"m","params":{"a":1}}"#, request(json!(0))),
            (r#"{"id":"x","method":"m","params":{"a":1}}"#, request(json!("x"))),
            (r#"{"id":null,"method":"m","params":{"a":1}}"#, request(Value::Null)),
            (r#"{"method":"m"}"#, Message::Notification { method: "m".to_owned(), params: Value::Null }),
            (r#"{"id":1,"result":null}"#, Message::Answer { id: json!(1), outcome: Ok(Value::Null) }),
            (
                r#"{"id":1,"error":{"code":-1,"message":"no"}}"#,
                Message::Answer { id: json!(1), outcome: Err("no".to_owned()) },
            ),
        ] {
            assert_eq!(read(line.as_bytes()), Ok(expected), "{line}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_the_id_if_there_is_one() {
        let deep = "[".repeat(10_000);
        let closed = format!(r#"{{"id":7,"params":{deep}{}}}"#, "]".repeat(10_000));
        for (line, id, code) in [
            ("{", Value::Null, PARSE_ERROR),
            ("\u{0}", Value::Null, PARSE_ERROR),
            (&*deep, Value::Null, PARSE_ERROR),
            (&*closed, json!(7), INVALID_REQUEST),
            ("[]", Value::Null, INVALID_REQUEST),
            ("1", Value::Null, INVALID_REQUEST),
            ("{}", Value::Null, INVALID_REQUEST),
            (r#"{"id":7}"#, json!(7), INVALID_REQUEST),
            (r#"{"id":7,"method":1}"#, json!(7), INVALID_REQUEST),
            (r#"{"id":{},"method":"m"}"#, Value::Null, INVALID_REQUEST),
        ] {
            let (of, error) = read(line.as_bytes()).unwrap_err();
            assert_eq!((of, error.code), (id, code), "{line:.20}");
        }
        assert_eq!(read(b"{\"a\":\"\xff\"}").unwrap_err().1.code, PARSE_ERROR);
    }
}
