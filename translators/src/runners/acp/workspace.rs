//! Where a session works, as its client said.
//!
//! Input: the client's requests that open a session. Output: the directory. Never: the directory of a terminal.

use super::super::{Workspace, WorkspaceReader};
use crate::json::Object;

pub(super) const READER: WorkspaceReader = WorkspaceReader { marks: &["\"cwd\""], read };

fn read(fields: &Object<'_>) -> Workspace {
    let method = fields.str("method");
    let is_opened =
        matches!(method.as_deref(), Some("session/new" | "session/load" | "session/resume" | "session/fork"));
    let params = fields.object("params").filter(|_| is_opened);
    params.map(|params| Workspace::of(&params, "cwd", "")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_request_for_a_session_names_it() {
        let directory = |record: &str| READER.read(record).directory;
        assert_eq!(directory(r#"{"id":1,"method":"session/new","params":{"cwd":"/w"}}"#).as_deref(), Some("/w"));
        assert_eq!(directory(r#"{"id":1,"method":"session/resume","params":{"cwd":"/w"}}"#).as_deref(), Some("/w"));
        assert_eq!(directory(r#"{"id":2,"method":"terminal/create","params":{"cwd":"/x"}}"#), None);
    }
}
