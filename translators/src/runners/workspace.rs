//! Where a run works: its directory, and the repository and branch of version control there.
//!
//! Input: the first records of a run. Output: what they say about it. Never: the file system; a user name or password in the address of a
//! repository; a text that is longer than [`LONGEST`].

use crate::json::Object;
use serde::{Deserialize, Serialize};

/// The longest value that counts, in bytes. A longer one is no path, address or branch of use.
const LONGEST: usize = 1024;

/// Where a run works. What its runner did not report is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// The working directory, as the runner spells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The repository: host and path, such as `github.com/acme/parser`, without scheme, user and `.git`, so that one repository has one
    /// spelling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// How a runner's records say where a run works.
#[derive(Clone, Copy, Debug)]
pub struct WorkspaceReader {
    /// Texts of which at least one is in each record that says it. Other records are not parsed.
    pub marks: &'static [&'static str],
    /// Reads it from one record.
    pub read: fn(&Object<'_>) -> Workspace,
}

impl WorkspaceReader {
    /// What a record says about it.
    pub fn read(&self, record: &str) -> Workspace {
        let is_marked =
            self.marks.iter().any(|mark| memchr::memmem::find(record.as_bytes(), mark.as_bytes()).is_some());
        Some(record)
            .filter(|_| is_marked)
            .and_then(Object::parse)
            .map(|fields| (self.read)(&fields))
            .unwrap_or_default()
    }
}

impl Workspace {
    /// From the fields of one object: its directory and its branch.
    pub(crate) fn of(fields: &Object<'_>, directory: &str, branch: &str) -> Self {
        Self {
            directory: text(fields, directory),
            branch: text(fields, branch).filter(|name| is_branch(name)),
            repository: None,
        }
    }

    /// The same with the address of a repository.
    #[must_use]
    pub(crate) fn with_repository(self, address: Option<&str>) -> Self {
        Self { repository: address.and_then(repository), ..self }
    }

    /// Takes from another record what is missing here.
    pub fn complete(&mut self, other: Self) {
        let take = |own: &mut Option<String>, other: Option<String>| *own = own.take().or(other);
        take(&mut self.directory, other.directory);
        take(&mut self.repository, other.repository);
        take(&mut self.branch, other.branch);
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A text that is neither empty nor too long.
fn text(fields: &Object<'_>, key: &str) -> Option<String> {
    Some(fields.str(key)?.into_owned()).filter(|text| !text.is_empty() && text.len() <= LONGEST)
}

/// Git says `HEAD` in the place of a branch if a commit is checked out that is not the tip of one.
fn is_branch(name: &str) -> bool {
    name != "HEAD"
}

/// The one spelling of a repository's address: `https://user:secret@Host/path.git`, `ssh://git@host:22/path` and `git@host:path` are
/// `host/path`. The path of a local repository stays as it is.
fn repository(address: &str) -> Option<String> {
    let address = address.trim().trim_end_matches('/');
    let address = address.strip_suffix(".git").unwrap_or(address);
    let (authority, path) = match address.split_once("://") {
        Some(("file", path)) => return Some(path.to_owned()).filter(|path| is_usable(path)),
        Some((_, rest)) => rest.split_once('/')?,
        None => match address.split_once(':') {
            // A single letter is a drive of Windows.
            Some((host, path)) if host.len() > 1 && !host.contains('/') => (host, path),
            _ => return Some(address.to_owned()).filter(|path| is_usable(path)),
        },
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(host, _)| host);
    let spelled = format!("{}/{}", host.to_ascii_lowercase(), path.trim_start_matches('/'));
    Some(spelled).filter(|spelled| is_usable(spelled) && !host.is_empty())
}

/// `https://host:8443/path` and `ssh://host:22/path` may be the same repository; ports say how it is reached.
fn is_port(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_usable(spelled: &str) -> bool {
    !spelled.is_empty() && spelled.len() <= LONGEST && !spelled.ends_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_has_one_spelling_and_no_secret() {
        for address in [
            "https://github.com/acme/parser.git",
            "https://github.com/acme/parser",
            "https://GitHub.com/acme/parser/",
            "https://user:secret@github.com/acme/parser.git",
            "https://x-access-token:a@b@github.com/acme/parser.git",
            "ssh://git@github.com:22/acme/parser.git",
            "git@github.com:acme/parser.git",
            "git@github.com:/acme/parser.git",
            "github.com:acme/parser",
            "github.com/acme/parser",
        ] {
            assert_eq!(repository(address).as_deref(), Some("github.com/acme/parser"), "{address}");
        }
        for (address, expected) in [
            ("/srv/git/parser.git", Some("/srv/git/parser")),
            ("../parser", Some("../parser")),
            ("file:///srv/git/parser", Some("/srv/git/parser")),
            ("https://gitlab.example/group/sub/parser", Some("gitlab.example/group/sub/parser")),
            ("C:\\work\\parser", Some("C:\\work\\parser")),
            ("", None),
            ("https://github.com", None),
            ("https:///parser", None),
            ("git@host:", None),
        ] {
            assert_eq!(repository(address).as_deref(), expected, "{address}");
        }
        assert_eq!(repository(&format!("https://h/{}", "x".repeat(LONGEST))), None);
    }

    #[test]
    fn a_workspace_is_completed_but_not_changed() {
        let read = |text: &str| Workspace::of(&Object::parse(text).unwrap(), "cwd", "gitBranch");
        let mut workspace = read(r#"{"cwd":"/a","gitBranch":"HEAD"}"#);
        assert_eq!(workspace, Workspace { directory: Some("/a".into()), ..Workspace::default() });
        workspace.complete(read(r#"{"cwd":"/b","gitBranch":"main"}"#).with_repository(Some("git@h:p")));
        assert_eq!(
            workspace,
            Workspace { directory: Some("/a".into()), repository: Some("h/p".into()), branch: Some("main".into()) }
        );
        let long = format!(r#"{{"cwd":"{}","gitBranch":7}}"#, "x".repeat(LONGEST + 1));
        assert!(read(&long).is_empty() && read(r#"{"cwd":""}"#).is_empty());
    }

    #[test]
    fn records_without_a_mark_are_not_parsed() {
        let reader = WorkspaceReader { marks: &["\"cwd\""], read: |fields| Workspace::of(fields, "dir", "branch") };
        assert!(reader.read(r#"{"dir":"/a"}"#).is_empty());
        assert_eq!(reader.read(r#"{"cwd":"","dir":"/a"}"#).directory.as_deref(), Some("/a"));
        assert!(reader.read(r#"{"cwd": broken"#).is_empty());
    }
}
