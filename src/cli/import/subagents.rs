//! Finds the files of subagents that belong to a session's file.
//!
//! Input: the files that were found. Output: each session's file with those of its subagents. Never: a file that belongs to two sessions; a file
//! of a subagent that is imported alone although its session's file is imported.

use super::find::{Session, Unreadable};
use crate::platform::paths;
use framegate_translators::runners::{History, RUNNERS, Runner, SubagentFiles, is_match};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs::{DirEntry, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The ending of the files.
const ENDING: &str = ".jsonl";

/// How deep the folders of a session are that are searched.
const DEPTH: usize = 4;

/// How many subagents of a session are imported with it.
const MOST: usize = 10_000;

/// How much of a file is read to find its session.
const FRONT_BYTES: u64 = 1 << 20;

/// The sessions of files beside sessions' files, by their paths. They do not change.
#[derive(Default)]
pub(super) struct Known(RefCell<HashMap<PathBuf, String>>);

/// Adds to each session's file the files of its subagents, and removes those from the list.
pub(super) fn attach(files: &mut Vec<Session>, known: &Known, unreadable: &mut Unreadable) {
    for runner in RUNNERS {
        for history in runner.history {
            let Some(of) = &history.subagents else { continue };
            let mut search = Search { runner, history, of, known, unreadable, beside: HashMap::new() };
            for file in files.iter_mut() {
                search.add_to(file);
            }
        }
    }
    let taken: HashSet<PathBuf> = files.iter().flat_map(|file| &file.subagents).map(|path| canonical(path)).collect();
    if !taken.is_empty() {
        files.retain(|file| file.stored.is_some() || !taken.contains(&canonical(&file.path)));
    }
}

fn canonical(path: &Path) -> PathBuf {
    paths::canonical(path).unwrap_or_else(|_| path.to_owned())
}

struct Search<'s> {
    runner: &'static Runner,
    history: &'static History,
    of: &'static SubagentFiles,
    known: &'s Known,
    unreadable: &'s mut Unreadable,
    /// The files beside sessions' files, by folder and session.
    beside: HashMap<PathBuf, HashMap<String, Vec<PathBuf>>>,
}

impl Search<'_> {
    fn add_to(&mut self, file: &mut Session) {
        if file.stored.is_some() || file.runner.is_some_and(|name| name != self.runner.name) {
            return;
        }
        let name = file.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(id) = name.strip_suffix(ENDING).filter(|_| !is_match(self.history.except, name)) else { return };
        let Some(folder) = file.path.parent() else { return };
        if !self.beside.contains_key(folder) {
            let found = self.beside(folder);
            self.beside.insert(folder.to_owned(), found);
        }
        let mut found = self.beside.get(folder).and_then(|of| of.get(id)).cloned().unwrap_or_default();
        self.below(&folder.join(id), DEPTH, &mut found);
        found.sort();
        found.truncate(MOST);
        for path in found {
            match std::fs::metadata(&path).and_then(|metadata| Ok((metadata.len(), metadata.modified()?))) {
                Ok((bytes, modified)) => {
                    file.bytes = file.bytes.map(|all| all + bytes);
                    file.modified = file.modified.max(modified);
                    file.subagents.push(path);
                }
                Err(error) => self.unreadable.push((path, error)),
            }
        }
        if !file.subagents.is_empty() {
            file.runner = Some(self.runner.name);
        }
    }

    /// The files of subagents in a folder of sessions' files, by session.
    fn beside(&mut self, folder: &Path) -> HashMap<String, Vec<PathBuf>> {
        let mut found: HashMap<String, Vec<PathBuf>> = HashMap::new();
        for entry in self.entries(folder) {
            let path = entry.path();
            if !self.is_of_subagent(&path) {
                continue;
            }
            match self.known.session_of(&path, self.of) {
                Ok(Some(session)) => found.entry(session).or_default().push(path),
                Ok(None) => {}
                Err(error) => self.unreadable.push((path, error)),
            }
        }
        found
    }

    /// The files of subagents in a folder and in those below it.
    fn below(&mut self, folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
        for entry in self.entries(folder) {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth > 0 {
                self.below(&path, depth - 1, found);
            } else if kind.is_file() && self.is_of_subagent(&path) {
                found.push(path);
            }
        }
    }

    fn is_of_subagent(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.ends_with(ENDING) && is_match(self.history.except, name)
    }

    /// The entries of a folder. One that does not exist has none.
    fn entries(&mut self, folder: &Path) -> Vec<DirEntry> {
        match std::fs::read_dir(folder).and_then(Iterator::collect) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Vec::new(),
            Err(error) => {
                self.unreadable.push((folder.to_owned(), error));
                Vec::new()
            }
        }
    }
}

impl Known {
    /// The session that the first line of a file names; `None` if it is not complete yet, or names none.
    fn session_of(&self, path: &Path, of: &SubagentFiles) -> io::Result<Option<String>> {
        if let Some(session) = self.0.borrow().get(path) {
            return Ok(Some(session.clone()));
        }
        let mut line = Vec::new();
        BufReader::new(File::open(path)?).take(FRONT_BYTES).read_until(b'\n', &mut line)?;
        let session = of.session_of(&line);
        if let Some(session) = &session {
            self.0.borrow_mut().insert(path.to_owned(), session.clone());
        }
        Ok(session)
    }
}
