//! Where runners keep the sessions of a machine.
//!
//! Input: what a runner declares. Output: the folder, and which files in it are sessions. Never: a look at the file system; the callers do that.

/// A folder in which a runner keeps its sessions.
#[derive(Clone, Copy, Debug)]
pub struct History {
    /// The environment variable that names the folder; empty if there is none.
    pub variable: &'static str,
    /// The folder below the user's home directory, if the variable is not set.
    pub folder: &'static str,
    /// The files in it: names separated by `/`, in which `*` stands for any characters.
    pub files: &'static str,
    /// The names of files among them that are not sessions of their own, such as those of subagents; empty if there are none. Such
    /// a file is read if someone names it.
    pub except: &'static str,
    /// Where the left out files are that belong to a session; `None` if the runner has none that its decoder reads with the session's.
    pub subagents: Option<SubagentFiles>,
    /// How sessions are read from these files if they are SQLite databases; `None` if the runner's decoder reads the files themselves.
    pub database: Option<SessionDatabase>,
}

/// The files, named by [`History::except`], that a runner writes for the subagents of a session. The lines of such a file and of the session's, in
/// the order of their times, are an input of the runner's decoder. The name of a session's file, without its ending, is the session's id. Files of
/// its subagents are below the folder with this name, and, in older versions, beside the session's file.
#[derive(Clone, Copy, Debug)]
pub struct SubagentFiles {
    /// The field of their first line that has the session's id.
    pub session: &'static str,
}

/// The queries that read sessions from a runner's SQLite database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionDatabase {
    /// Lists the sessions. A row has the session's id, when it or a session of its subagents was last written (Unix time in milliseconds), and
    /// whether its agent is at work (1) or has ended its turn (0).
    pub sessions: &'static str,
    /// Reads the session whose id is the parameter. Each row has one text; the texts, in this order, are a document that the runner's decoder
    /// reads, with the sessions of its subagents.
    pub document: &'static str,
}

impl History {
    /// The names of the folders on the way to the files, and last that of the files.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.files.split('/')
    }

    /// Whether a file with this name is a session, if it is in one of the folders.
    pub fn is_session(&self, name: &str) -> bool {
        self.names().last().is_some_and(|pattern| is_match(pattern, name)) && !is_match(self.except, name)
    }
}

impl SubagentFiles {
    /// The id of the session to which a file with this first line belongs.
    pub fn session_of(&self, first_line: &[u8]) -> Option<String> {
        let line: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(first_line).ok()?;
        Some(line.get(self.session)?.as_str()?.to_owned())
    }
}

/// Whether a name is one of those that a pattern describes. `*` stands for any characters, also for none.
pub fn is_match(pattern: &str, name: &str) -> bool {
    let Some((front, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(front) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        // The first place is the best one: it leaves the most for the rest.
        let Some(at) = left.find(part) else { return false };
        left = left.get(at + part.len()..).unwrap_or_default();
    }
    left.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_no_sessions_are_left_out() {
        let mut history = History {
            variable: "",
            folder: "",
            files: "a/*/*.jsonl",
            except: "agent-*",
            subagents: None,
            database: None,
        };
        assert!(history.is_session("1.jsonl") && history.is_session("my-agent-1.jsonl"));
        assert!(!history.is_session("agent-1.jsonl") && !history.is_session("1.json"));
        history.except = "";
        assert!(history.is_session("agent-1.jsonl"));
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*", "a.b", true),
            ("a", "a", true),
            ("a", "ab", false),
            ("*.jsonl", "x.jsonl", true),
            ("*.jsonl", "x.jsonl.zst", false),
            ("r-*.jsonl*", "r-1.jsonl.zst", true),
            ("r-*.jsonl*", "r-1.json", false),
            ("r-*.jsonl*", "r.jsonl", false),
            ("a*b*c", "abc", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "acb", false),
            ("aa*aa", "aaa", false),
            ("**", "x", true),
        ] {
            assert_eq!(is_match(pattern, name), expected, "{pattern} {name}");
        }
    }
}
