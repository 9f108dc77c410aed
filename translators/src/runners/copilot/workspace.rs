//! Where a session works, as its first event says.
//!
//! Input: `session.start` and `session.resume`. Output: the directory, repository and branch in their `context`. Never: the directory of one command.

use super::super::{Workspace, WorkspaceReader};
use crate::json::Object;

pub(super) const READER: WorkspaceReader = WorkspaceReader { marks: &["\"context\""], read };

fn read(fields: &Object<'_>) -> Workspace {
    let context = fields.object("data").and_then(|data| data.object("context"));
    let Some(context) = context else { return Workspace::default() };
    // `repository` is `owner/name`, on `repositoryHost` if that is there.
    let repository = context.str("repository").map(|name| match context.str("repositoryHost") {
        Some(host) => format!("{host}/{name}"),
        None => name.into_owned(),
    });
    Workspace::of(&context, "cwd", "branch").with_repository(repository.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_from(record: &str) -> [Option<String>; 3] {
        let Workspace { directory, repository, branch } = READER.read(record);
        [directory, repository, branch]
    }

    #[test]
    fn the_context_of_a_session_names_it() {
        let start = r#"{"type":"session.start","data":{"context":{"cwd":"/w","branch":"main","repository":"acme/parser","repositoryHost":"github.com"}}}"#;
        assert_eq!(read_from(start), ["/w", "github.com/acme/parser", "main"].map(|text| Some(text.to_owned())));
        let without_host = r#"{"type":"session.resume","data":{"context":{"cwd":"/w","repository":"acme/parser"}}}"#;
        assert_eq!(read_from(without_host), [Some("/w".to_owned()), Some("acme/parser".to_owned()), None]);
        assert_eq!(
            read_from(r#"{"type":"tool.execution_start","data":{"arguments":{"context":{"cwd":"/x"}}}}"#),
            [None, None, None]
        );
    }
}
