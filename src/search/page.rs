//! A page of an answer, as clients get it.
//!
//! Input: what was found. Output: JSON. Never: a status that is locked while the page is written.

use super::{Found, Segment, run_of};
use crate::runs::Runs;
use serde::Serialize;
use uuid::Uuid;

/// A page of texts.
#[derive(Debug, Serialize)]
pub struct Page {
    object: &'static str,
    data: Vec<Shown>,
    next: Option<String>,
    is_complete: bool,
}

#[derive(Debug, Serialize)]
struct Shown {
    kind: &'static str,
    run_id: Option<Uuid>,
    session_id: Uuid,
    stream_kind: &'static str,
    stream_id: Uuid,
    runner: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    first_frame: u64,
    last_frame: u64,
    timestamp_ms: u64,
    excerpt: Vec<Segment>,
}

impl Page {
    /// The page of an answer.
    pub fn of(found: Found, runs: &Runs) -> Self {
        let shown = |hit: super::Hit| {
            let (run_id, entry) = (run_of(&hit.entry), hit.entry);
            let run = run_id.and_then(|run| runs.find_any(run)).unwrap_or_else(|| entry.clone());
            let title = run.status().title.as_deref().map(str::to_owned);
            let runner = entry.status().runner;
            Shown {
                kind: hit.kind.as_str(),
                run_id,
                session_id: entry.stream.session.id,
                stream_kind: entry.stream.kind.as_str(),
                stream_id: entry.stream.id,
                runner,
                title,
                first_frame: hit.first_frame,
                last_frame: hit.last_frame,
                timestamp_ms: hit.timestamp_ms,
                excerpt: hit.excerpt,
            }
        };
        Self {
            object: "list",
            data: found.hits.into_iter().map(shown).collect(),
            next: found.next.map(|next| format!("{next:x}")),
            is_complete: found.is_complete,
        }
    }
}

/// Reads the `next` of a page.
///
/// # Errors
/// It is no such text.
pub fn cursor(text: &str) -> Result<i64, String> {
    let number = i64::from_str_radix(text, 16).ok().filter(|number| *number >= 0);
    number.ok_or_else(|| format!("after must be the `next` of the page before, not {text:?}"))
}
