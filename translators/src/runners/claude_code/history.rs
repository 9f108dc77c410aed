//! Lines of a transcript that repeat earlier ones.
//!
//! Input: the lines of a transcript. Output: whether a line is new. A session that was forked begins with the lines of the session that it
//! continues, and some versions write lines again. Never: memory that grows with the transcript.

use crate::json::Object;
use crate::newest::Newest;
use uuid::Uuid;

/// The number of lines that are remembered.
const REMEMBERED: usize = 65_536;

/// The lines so far.
#[derive(Debug, Default)]
pub(super) struct History {
    newest: Newest<Uuid, REMEMBERED>,
}

impl History {
    /// Whether a line is of another session or was there before. A line without a UUID is new.
    pub(super) fn is_earlier(&mut self, fields: &Object<'_>) -> bool {
        let origin = fields.object("forkedFrom");
        let origin = origin.as_ref().and_then(|origin| origin.str("sessionId"));
        if origin.is_some_and(|origin| fields.str("sessionId").is_some_and(|session| session != origin)) {
            return true;
        }
        let id = fields.str("uuid").and_then(|id| Uuid::parse_str(&id).ok());
        id.is_some_and(|id| !self.newest.add(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_earlier(history: &mut History, line: &str) -> bool {
        history.is_earlier(&Object::parse(line).unwrap())
    }

    #[test]
    fn a_line_is_new_once_and_in_its_own_session() {
        let mut history = History::default();
        let line = r#"{"sessionId":"a","uuid":"00000000-0000-4000-8000-000000000001"}"#;
        assert_eq!([is_earlier(&mut history, line), is_earlier(&mut history, line)], [false, true]);
        let forked = |from: &str| {
            format!(
                r#"{{"sessionId":"b","uuid":"00000000-0000-4000-8000-000000000002","forkedFrom":{{"sessionId":"{from}"}}}}"#
            )
        };
        assert!(is_earlier(&mut history, &forked("a")));
        assert!(!is_earlier(&mut history, &forked("b")));
        for line in [r#"{"sessionId":"a"}"#, r#"{"sessionId":"a","uuid":"no uuid"}"#] {
            assert_eq!([is_earlier(&mut history, line), is_earlier(&mut history, line)], [false, false]);
        }
    }

    #[test]
    fn a_line_is_remembered_until_so_many_others_followed() {
        let mut history = History::default();
        let mut line = |number: u128| is_earlier(&mut history, &format!(r#"{{"uuid":"{}"}}"#, Uuid::from_u128(number)));
        assert!((0..REMEMBERED as u128).all(|number| !line(number)));
        assert!(line(0));
        assert!(!line(REMEMBERED as u128));
        assert!(!line(0), "the oldest line is forgotten");
    }
}
