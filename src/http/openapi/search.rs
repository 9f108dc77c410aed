//! The description of `GET /v1/search`, and the schemas of its answer.

use super::{body, described, merged, problems};
use crate::search::{Kind, MOST_TERMS, PAGE, QUERY_BYTES};
use framegate_translators::runners::RUNNERS;
use serde_json::{Value, json};

/// The parameters of the path.
pub(in crate::http) const PARAMETERS: &[&str] =
    &["q", "kind", "runner", "session_id", "run_id", "since", "until", "limit", "after"];

/// `GET /v1/search`.
pub(in crate::http) fn search() -> Value {
    described(
        "search",
        "Prompts, answers, reasoning, tool inputs, tool outputs and errors with the words of a query, newest first.",
        merged(&[
            json!({"200": body("A page of texts.", "application/json", "SearchPage")}),
            problems(&[400, 404, 503], "Problem"),
        ]),
        &["q", "kind", "runner", "session_id", "run_id", "text_since", "text_until", "search_limit", "search_after"],
    )
}

/// The parameters that only the search has.
pub(super) fn parameters() -> Value {
    let kinds: Vec<&str> = Kind::ALL.into_iter().map(Kind::as_str).collect();
    let query = |name: &str, about: &str, schema: Value| json!({"name": name, "in": "query", "description": about, "schema": schema});
    let time = json!({"type": "integer", "minimum": 0});
    let mut q = query(
        "q",
        &format!(
            "Words that must all occur; `\"a phrase\"`; `begin*` for words that begin so; `-word` for words that must not occur. Case and accents \
             do not matter. At most {MOST_TERMS} words and phrases, and {QUERY_BYTES} bytes."
        ),
        json!({"type": "string"}),
    );
    if let Some(q) = q.as_object_mut() {
        q.insert("required".to_owned(), json!(true));
    }
    json!({
        "q": q,
        "kind": query("kind", &format!("Only texts of these kinds, separated by commas: {}.", kinds.join(", ")), json!({"type": "string"})),
        "run_id": query("run_id", "Only texts of this run, and of its background tasks.", json!({"type": "string", "format": "uuid"})),
        "text_since": query("since", "Only texts of this time or later, in Unix epoch milliseconds.", time.clone()),
        "text_until": query("until", "Only texts before this time, in Unix epoch milliseconds.", time),
        "search_limit": query("limit", &format!("How many texts the page has at most: {} if it is absent, {} at most.", PAGE.0, PAGE.1),
            json!({"type": "integer", "minimum": 1})),
        "search_after": query("after", "The `next` of the page before.", json!({"type": "string"})),
    })
}

pub(super) fn schemas() -> Value {
    let kinds: Vec<&str> = Kind::ALL.into_iter().map(Kind::as_str).collect();
    let runners: Vec<&str> = RUNNERS.iter().map(|runner| runner.name).collect();
    let id = |about: &str| json!({"type": "string", "format": "uuid", "description": about});
    let count = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
    let segment = json!({
        "type": "object",
        "description": "A piece of an excerpt.",
        "required": ["text", "is_match"],
        "properties": {
            "text": {"type": "string"},
            "is_match": {"type": "boolean", "description": "Whether the piece was looked for."},
        },
    });
    let hit = json!({
        "type": "object",
        "description": "A text that was found.",
        "required": ["kind", "run_id", "session_id", "stream_kind", "stream_id", "runner", "first_frame", "last_frame", "timestamp_ms", "excerpt"],
        "properties": {
            "kind": {"enum": kinds, "description": "What the text is."},
            "run_id": {"type": ["string", "null"], "format": "uuid", "description": "Its run; null if a task does not know its run."},
            "session_id": id("Its session."),
            "stream_kind": {"enum": ["session", "task"], "description": "Whether the frames are those of a run or of a background task."},
            "stream_id": id("The run or the task."),
            "runner": {"enum": runners},
            "title": {"type": "string", "description": "The first prompt of the run, on one line; absent if it is not known."},
            "first_frame": count("The number of the first frame that has the text."),
            "last_frame": count("The number of the last one. Frames between them may have other texts."),
            "timestamp_ms": count("The time of the first frame, in Unix epoch milliseconds."),
            "excerpt": {"type": "array", "items": {"$ref": "#/components/schemas/SearchSegment"},
                "description": "The part of the text with the words, in order; a text that is left out is `…`."},
        },
    });
    let page = json!({
        "type": "object",
        "required": ["object", "data", "next", "is_complete"],
        "properties": {
            "object": {"const": "list"},
            "data": {"type": "array", "items": {"$ref": "#/components/schemas/SearchHit"}},
            "next": {"type": ["string", "null"], "description": "`after` of the next page; null on the last page. A page may be empty and \
                not be the last."},
            "is_complete": {"type": "boolean", "description": "False while texts that the log has are not indexed yet."},
        },
    });
    json!({"SearchSegment": segment, "SearchHit": hit, "SearchPage": page})
}
