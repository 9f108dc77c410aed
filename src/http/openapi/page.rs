//! The descriptions of the page's files, and of what a client learns about its own token.

use super::shapes::etag;
use super::{body, described, merged, not_modified, problems};
use serde_json::{Value, json};

/// `GET /`.
pub(in crate::http) fn index() -> Value {
    file("getPage", "The page on which runs can be looked at.", "text/html; charset=utf-8")
}

/// `GET /app.js`.
pub(in crate::http) fn script() -> Value {
    file("getPageScript", "The page's script.", "text/javascript; charset=utf-8")
}

/// `GET /app.css`.
pub(in crate::http) fn style() -> Value {
    file("getPageStyle", "The page's style sheet.", "text/css; charset=utf-8")
}

fn file(id: &str, summary: &str, media_type: &str) -> Value {
    described(
        id,
        summary,
        merged(&[
            json!({"200": {"description": "The file.", "headers": {"ETag": etag()},
                    "content": {media_type: {"schema": {"type": "string"}}}}, "304": not_modified()}),
            problems(&[404, 503], "Problem"),
        ]),
        &["if_none_match"],
    )
}

/// `GET /v1/access`.
pub(in crate::http) fn access() -> Value {
    described(
        "getAccess",
        "What the caller's token permits.",
        json!({"200": body("The scopes.", "application/json", "Access")}),
        &[],
    )
}

/// `POST /v1/access/redeem`.
pub(in crate::http) fn redeem() -> Value {
    let schema = json!({"type": "object", "required": ["code"], "additionalProperties": false,
        "properties": {"code": {"type": "string", "description": "The code of a link that `framegate view` printed."}}});
    let answers = merged(&[
        json!({"200": body("The token. The code is invalid from now on.", "application/json", "Redeemed")}),
        problems(&[400, 404, 408, 413, 415, 429, 503], "Problem"),
    ]);
    let operation = described("redeemCode", "Exchange a code for a token, once.", answers, &[]);
    let body = json!({"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}});
    merged(&[operation, body])
}
