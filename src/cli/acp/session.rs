//! The sessions that the client may name.
//!
//! Input: new sessions, and those that earlier processes began. Output: a session by its id, and the list of them. Never: more than a
//! bounded number of sessions; a session of another upstream.

use super::rpc::{INTERNAL_ERROR, RESOURCE_NOT_FOUND, RpcError};
use framegate_translators::contracts::rfc3339_seconds;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The maximum number of sessions. Beyond it, the one that was not used for the longest time is forgotten unless it is open.
pub(super) const MAX_SESSIONS: usize = 1000;

/// The longest title, in characters.
const TITLE: usize = 80;

/// What is known of a session beyond this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The client's id.
    pub(super) id: String,
    /// The proxy's id.
    pub(super) session_id: Uuid,
    /// The client's directory.
    pub(super) cwd: String,
    /// The beginning of the first prompt.
    pub(super) title: String,
    /// When it was last used, in Unix epoch milliseconds.
    pub(super) updated_at_ms: u64,
}

/// A session.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    /// The client's directory.
    pub(super) cwd: String,
    /// The proxy's id; `None` before the first prompt.
    pub(super) at_proxy: Option<Uuid>,
    /// The beginning of the first prompt; empty before it.
    pub(super) title: String,
    pub(super) updated_at_ms: u64,
    /// The model that the client chose; `None` for that of the upstream.
    pub(super) model: Option<String>,
    /// The model that the runner reported last; `None` before its first model call.
    pub(super) used_model: Option<String>,
    /// The mode that the client chose; `None` for that of a new session.
    pub(super) mode: Option<String>,
    /// The turn in progress.
    pub(super) turn: Option<u64>,
    /// Whether the client has opened it in this process.
    pub(super) is_open: bool,
    /// Whether its history is being read.
    pub(super) is_loading: bool,
}

/// All sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions(BTreeMap<String, Session>);

impl Sessions {
    /// The sessions that earlier processes began.
    pub(super) fn remembered(records: Vec<Record>) -> Self {
        let session = |record: Record| {
            let Record { id, session_id, cwd, title, updated_at_ms } = record;
            (id, Session { cwd, title, at_proxy: Some(session_id), updated_at_ms, ..Session::default() })
        };
        let mut sessions = Self::default();
        for (id, session) in records.into_iter().map(session) {
            // Those that do not fit are the oldest.
            let _ = sessions.add(id, session);
        }
        sessions
    }

    /// Adds a session.
    ///
    /// # Errors
    /// Too many sessions are open.
    pub(super) fn add(&mut self, id: String, session: Session) -> Result<(), RpcError> {
        if self.0.len() >= MAX_SESSIONS {
            let idle = self.0.iter().filter(|(_, session)| !session.is_open);
            let oldest = idle.min_by_key(|(_, session)| session.updated_at_ms).map(|(id, _)| id.clone());
            let oldest = oldest.ok_or_else(|| {
                RpcError::new(INTERNAL_ERROR, format!("{MAX_SESSIONS} sessions are open: close some of them first"))
            })?;
            self.0.remove(&oldest);
        }
        self.0.insert(id, session);
        Ok(())
    }

    pub(super) fn get(&self, id: &str) -> Option<&Session> {
        self.0.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Session> {
        self.0.get_mut(id)
    }

    pub(super) fn remove(&mut self, id: &str) {
        self.0.remove(id);
    }

    /// A session that the client has opened.
    ///
    /// # Errors
    /// It has not.
    pub(super) fn open(&mut self, id: &str) -> Result<&mut Session, RpcError> {
        self.0.get_mut(id).filter(|session| session.is_open).ok_or_else(|| unknown(id))
    }

    /// The client's id of a session of the proxy.
    pub(super) fn of_proxy(&self, session_id: Uuid) -> Option<&str> {
        self.0.iter().find(|(_, session)| session.at_proxy == Some(session_id)).map(|(id, _)| id.as_str())
    }

    /// The sessions with a prompt, the last one first; with `cwd`, only those of this directory.
    pub(super) fn list(&self, cwd: Option<&str>) -> Vec<Value> {
        let begun = self.0.iter().filter(|(_, session)| session.at_proxy.is_some() && !session.title.is_empty());
        let mut fitting: Vec<_> = begun.filter(|(_, session)| cwd.is_none_or(|cwd| session.cwd == cwd)).collect();
        fitting.sort_by_key(|(_, session)| std::cmp::Reverse(session.updated_at_ms));
        let shown = |(id, session): (&String, &Session)| {
            let updated = rfc3339_seconds(session.updated_at_ms);
            json!({"sessionId": id, "cwd": session.cwd, "title": session.title, "updatedAt": updated})
        };
        fitting.into_iter().map(shown).collect()
    }
}

impl Session {
    /// What is kept of it; `None` before the first prompt.
    pub(super) fn record(&self, id: &str) -> Option<Record> {
        Some(Record {
            id: id.to_owned(),
            session_id: self.at_proxy?,
            cwd: self.cwd.clone(),
            title: self.title.clone(),
            updated_at_ms: self.updated_at_ms,
        })
    }
}

/// The error for a session that is not open.
pub(super) fn unknown(id: &str) -> RpcError {
    let message = format!("there is no session {id:?}; session/new begins one, session/load opens one of session/list");
    RpcError::new(RESOURCE_NOT_FOUND, message)
}

/// The title of a session: the beginning of its first prompt.
pub(super) fn title_of(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(line).trim_end()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: &str, updated_at_ms: u64) -> Record {
        Record {
            id: id.to_owned(),
            session_id: Uuid::from_u128(updated_at_ms.into()),
            cwd: "/a".to_owned(),
            title: id.to_owned(),
            updated_at_ms,
        }
    }

    #[test]
    fn the_session_that_was_not_used_for_the_longest_time_is_forgotten() {
        let records = (0..MAX_SESSIONS as u64 + 2).map(|at| record(&format!("s{at}"), at + 1)).collect();
        let mut sessions = Sessions::remembered(records);
        assert_eq!(sessions.list(None).len(), MAX_SESSIONS);
        assert!(sessions.get("s1").is_none() && sessions.get("s2").is_some());
        assert_eq!(sessions.list(None)[0]["sessionId"], format!("s{}", MAX_SESSIONS + 1));
        // Open ones stay.
        for session in sessions.0.values_mut() {
            session.is_open = true;
        }
        assert_eq!(sessions.add("more".to_owned(), Session::default()).unwrap_err().code, INTERNAL_ERROR);
        sessions.get_mut("s7").unwrap().is_open = false;
        sessions.add("more".to_owned(), Session::default()).unwrap();
        assert!(sessions.get("s7").is_none());
    }

    #[test]
    fn the_list_has_the_sessions_of_a_directory_that_have_a_prompt() {
        let mut sessions = Sessions::remembered(vec![record("one", 1000)]);
        sessions
            .add("empty".to_owned(), Session { cwd: "/a".to_owned(), is_open: true, ..Session::default() })
            .unwrap();
        let expected = json!({"sessionId": "one", "cwd": "/a", "title": "one", "updatedAt": "1970-01-01T00:00:01Z"});
        assert_eq!(sessions.list(Some("/a")), [expected]);
        assert!(sessions.list(Some("/b")).is_empty());
    }

    #[test]
    fn a_title_is_the_first_line_of_the_prompt() {
        assert_eq!(title_of("\n  Fix it  \nplease"), "Fix it");
        assert_eq!(title_of(&"ü".repeat(TITLE)), "ü".repeat(TITLE));
        assert_eq!(title_of(&"ü".repeat(TITLE + 1)), format!("{}…", "ü".repeat(TITLE)));
        assert_eq!(title_of(""), "");
    }
}
