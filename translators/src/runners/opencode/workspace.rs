//! Where a session works, on the surfaces that say so.
//!
//! Input: `session.created` and `session.updated` of the feeds, each with or without an envelope; an export. Output: the directory.
//! Never: the directory of another session's message; one command's.

use super::super::{Workspace, WorkspaceReader};
use crate::json::Object;

pub(super) const READER: WorkspaceReader = WorkspaceReader { marks: &["\"directory\""], read };

fn read(fields: &Object<'_>) -> Workspace {
    let envelope = fields.object("payload");
    let event = envelope.as_ref().unwrap_or(fields);
    let info = match event.str("type").as_deref() {
        Some("session.created" | "session.updated") => {
            ["properties", "data"].iter().find_map(|holder| event.object(holder)?.object("info"))
        }
        None => event.object("info"),
        Some(_) => None,
    };
    info.map(|info| Workspace::of(&info, "directory", "")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_surface_names_it() {
        let directory = |record: &str| READER.read(record).directory;
        for record in [
            r#"{"type":"session.updated","properties":{"info":{"directory":"/w"}}}"#,
            r#"{"directory":"/x","payload":{"type":"session.created","properties":{"info":{"directory":"/w"}}}}"#,
            r#"{"type":"session.created","data":{"info":{"directory":"/w"}},"location":{"directory":"/x"}}"#,
            r#"{"info":{"directory":"/w"},"messages":[]}"#,
        ] {
            assert_eq!(directory(record).as_deref(), Some("/w"), "{record}");
        }
        for record in [
            r#"{"type":"plugin.added","location":{"directory":"/x"}}"#,
            r#"{"type":"message.updated","properties":{"info":{"directory":"/x"}}}"#,
        ] {
            assert_eq!(directory(record), None, "{record}");
        }
    }
}
