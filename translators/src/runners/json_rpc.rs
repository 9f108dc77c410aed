//! Requests of a runner that speaks JSON-RPC.
//!
//! Input: the id of a request. Output: an id for its question in frames. Never: equal ids for a number and a string.

use crate::frame::SharedStr;
use crate::json::{Json, Kind};

/// JSON-RPC's error code for an unknown method.
pub(super) const METHOD_NOT_FOUND: i32 = -32601;

/// JSON-RPC's error code for wrong parameters.
pub(super) const INVALID_PARAMS: i32 = -32602;

/// The id of a question: `request-0` for the number 0, `request-text-0` for the string "0".
pub(super) fn request_id(id: Json<'_>) -> SharedStr {
    match id.kind() {
        Kind::String => SharedStr::from(format!("request-text-{}", id.str().unwrap_or_default())),
        _ => SharedStr::from(format!("request-{}", id.text())),
    }
}
