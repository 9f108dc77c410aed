//! The sessions of earlier processes, in a file.
//!
//! Input: records. Output: how a session continues, and the last one of a directory. Never: a file that other users can read; a prompt; an error
//! that keeps a conversation from going on.

use crate::platform::permissions::{create_private_directories, private};
use crate::platform::variables::HOME;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// The lines of the file beyond which the older half is removed.
const MAX_LINES: usize = 4000;

/// The longest line that is read, in bytes.
const MAX_LINE: u64 = 64 << 10;

/// A session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The URL of the proxy; empty for one that ended with its process.
    pub(super) url: String,
    pub(super) upstream: String,
    /// The directory in which the command ran.
    pub(super) cwd: String,
    /// The client's id of the session.
    pub(super) shown: String,
    /// The id or name with which it continues.
    pub(super) session: String,
}

/// The file, and to which sessions of it a process refers.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    path: PathBuf,
    url: String,
    upstream: String,
    cwd: String,
}

impl Memory {
    /// The file; `None` if the user has no home directory. `variable` reads an environment variable.
    pub(super) fn of(url: &str, upstream: &str, cwd: &str, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<Self> {
        let set = |name: &str| variable(name).filter(|path| path.is_absolute());
        let folder = set("XDG_STATE_HOME").or_else(|| Some(set(HOME)?.join(".local/state")))?;
        let path = folder.join("framegate/claude-compat-sessions.ndjson");
        let url = url.trim_end_matches('/').to_owned();
        Some(Self { path, url, upstream: upstream.to_owned(), cwd: cwd.to_owned() })
    }

    /// The session with this id of the client.
    pub(super) fn find(&self, shown: &str) -> Option<Record> {
        self.records().rev().find(|record| record.shown == shown)
    }

    /// The last session of the directory.
    pub(super) fn latest(&self) -> Option<Record> {
        self.records().rev().find(|record| record.cwd == self.cwd)
    }

    fn records(&self) -> impl DoubleEndedIterator<Item = Record> {
        let lines = lines(&self.path).unwrap_or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(path = %self.path.display(), %error, "cannot read the sessions of earlier processes");
            }
            Vec::new()
        });
        lines.into_iter().filter(|record| record.url == self.url && record.upstream == self.upstream)
    }

    /// Adds a session.
    pub(super) fn add(&self, shown: &str, session: &str) {
        let record = Record {
            url: self.url.clone(),
            upstream: self.upstream.clone(),
            cwd: self.cwd.clone(),
            shown: shown.to_owned(),
            session: session.to_owned(),
        };
        if let Err(error) = append(&self.path, &record) {
            tracing::warn!(path = %self.path.display(), %error, "cannot remember the session");
        }
    }
}

fn lines(path: &Path) -> io::Result<Vec<Record>> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut records = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(records);
        }
        // A line that was cut off by a crash is passed over.
        records.extend(serde_json::from_slice::<Record>(&line));
    }
}

fn append(path: &Path, record: &Record) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        create_private_directories(folder)?;
    }
    let known = match lines(path) {
        Ok(known) => known,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    if known.len() < MAX_LINES {
        let mut file = private(OpenOptions::new().append(true).create(true)).open(path)?;
        return file.write_all(line(record)?.as_bytes());
    }
    // A reader sees the old file or the new one.
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let mut text = String::new();
    for kept in known.iter().skip(known.len() - MAX_LINES / 2).chain([record]) {
        text.push_str(&line(kept)?);
    }
    private(OpenOptions::new().write(true).create(true).truncate(true)).open(&new)?.write_all(text.as_bytes())?;
    fs::rename(&new, path)
}

fn line(record: &Record) -> io::Result<String> {
    Ok(serde_json::to_string(record)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use std::os::unix::fs::PermissionsExt;

    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            Self(std::env::temp_dir().join(format!("framegate-{}", Clock::System.new_id())))
        }

        fn memory(&self, url: &str, cwd: &str) -> Memory {
            let folder = self.0.clone();
            Memory::of(url, "fake", cwd, |name| (name == "XDG_STATE_HOME").then(|| folder.clone())).unwrap()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn a_session_is_found_by_its_id_and_the_last_one_by_its_directory() {
        let folder = Folder::new();
        let here = folder.memory("", "/here");
        assert!(here.latest().is_none() && here.find("a").is_none());
        here.add("a", "first");
        here.add("b", "second");
        folder.memory("", "/there").add("c", "third");
        folder.memory("http://proxy/", "/here").add("d", "fourth");
        here.add("a", "again");
        assert_eq!(here.find("a").unwrap().session, "again");
        assert_eq!(here.find("c").unwrap().session, "third");
        assert!(here.find("d").is_none(), "of another proxy");
        assert_eq!(folder.memory("", "/there").latest().unwrap().shown, "c");
        assert_eq!(folder.memory("http://proxy", "/here").latest().unwrap().shown, "d");
        assert_eq!(here.latest().unwrap().shown, "a");
        let mode = fs::metadata(&here.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn the_file_is_bounded_and_may_be_damaged() {
        let folder = Folder::new();
        let memory = folder.memory("", "/here");
        memory.add("a", "first");
        let mut text = fs::read_to_string(&memory.path).unwrap();
        text.push_str("{\"url\":\"\n\u{0}\n");
        text.push_str(&line(&memory.find("a").unwrap()).unwrap().repeat(MAX_LINES));
        fs::write(&memory.path, text).unwrap();
        memory.add("b", "second");
        assert_eq!(lines(&memory.path).unwrap().len(), MAX_LINES / 2 + 1);
        assert_eq!((memory.latest().unwrap().shown, memory.find("a").unwrap().session), ("b".into(), "first".into()));
        assert!(Memory::of("", "fake", "/", |_| None).is_none());
    }
}
