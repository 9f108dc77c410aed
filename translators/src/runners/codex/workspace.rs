//! Where a thread works, on each surface that says so.
//!
//! Input: `session_meta` and `turn_context` of a rollout; the thread in a request, its response or `thread/started` of the app server.
//! Output: the directory, and of git the address of the remote and the branch. Never: the directory of one command.

use super::super::{Workspace, WorkspaceReader};
use crate::json::Object;

pub(super) const READER: WorkspaceReader = WorkspaceReader { marks: &["\"cwd\""], read };

fn read(fields: &Object<'_>) -> Workspace {
    let kind = fields.str("type");
    if let Some("session_meta" | "turn_context") = kind.as_deref() {
        return fields.object("payload").map(|payload| of(&payload, "git", "repository_url")).unwrap_or_default();
    }
    let method = fields.str("method");
    let holder = match method.as_deref() {
        Some("thread/start" | "thread/resume" | "thread/fork") => {
            return fields.object("params").map(|params| of(&params, "", "")).unwrap_or_default();
        }
        Some("thread/started") => "params",
        None => "result",
        Some(_) => return Workspace::default(),
    };
    let thread = fields.object(holder).and_then(|holder| holder.object("thread"));
    thread.map(|thread| of(&thread, "gitInfo", "originUrl")).unwrap_or_default()
}

/// From an object that has a directory, and maybe what git said.
fn of(fields: &Object<'_>, git: &str, address: &str) -> Workspace {
    let mut workspace = Workspace::of(fields, "cwd", "");
    if let Some(git) = fields.object(git) {
        workspace.complete(Workspace::of(&git, "", "branch").with_repository(git.str(address).as_deref()));
    }
    workspace
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_from(record: &str) -> [Option<String>; 3] {
        let Workspace { directory, repository, branch } = READER.read(record);
        [directory, repository, branch]
    }

    #[test]
    fn each_surface_names_it() {
        let all = ["/w", "github.com/acme/parser", "main"].map(|text| Some(text.to_owned()));
        for record in [
            r#"{"type":"session_meta","payload":{"cwd":"/w","git":{"branch":"main","repository_url":"git@github.com:acme/parser.git"}}}"#,
            r#"{"id":1,"result":{"thread":{"cwd":"/w","gitInfo":{"branch":"main","originUrl":"https://github.com/acme/parser.git"}}}}"#,
            r#"{"method":"thread/started","params":{"thread":{"cwd":"/w","gitInfo":{"branch":"main","originUrl":"https://github.com/acme/parser"}}}}"#,
        ] {
            assert_eq!(read_from(record), all, "{record}");
        }
        for record in [
            r#"{"type":"turn_context","payload":{"cwd":"/w"}}"#,
            r#"{"id":1,"method":"thread/start","params":{"cwd":"/w"}}"#,
            r#"{"id":1,"result":{"thread":{"cwd":"/w","gitInfo":null}}}"#,
        ] {
            assert_eq!(read_from(record), [Some("/w".to_owned()), None, None], "{record}");
        }
        for record in [
            r#"{"method":"item/started","params":{"item":{"cwd":"/x"}}}"#,
            r#"{"type":"event_msg","payload":{"cwd":"/x"}}"#,
            r#"{"result":{"cwd":7,"thread":"no"}}"#,
        ] {
            assert_eq!(read_from(record), [None, None, None], "{record}");
        }
    }
}
