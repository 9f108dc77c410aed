//! Finds the files with sessions.
//!
//! Input: names of runners, and paths. Output: files, each once, and the sessions of databases, those that were written first at the beginning. Never: a
//! folder visited through a symbolic link; a folder deeper than a bound; a file of a folder that has another form of name than sessions have.

use super::RunnerName;
use super::database::{self, Most, Stored};
use super::merged::{Merged, Origins, Text};
use super::subagents;
use crate::cli::input::{Input, shown};
use crate::config::upstream::Preset;
use crate::platform::paths;
use framegate_translators::runners::{History, RUNNERS, Runner, SessionDatabase, is_match, runner};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// How deep the folders are that are searched.
const DEPTH: usize = 16;

/// The endings of the files that are read in a folder.
pub(super) const ENDINGS: [&str; 4] = [".jsonl", ".ndjson", ".json", ".sse"];

/// The further endings of compressed files.
const COMPRESSED: [&str; 3] = ["", ".gz", ".zst"];

/// A file with sessions, or a session of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) path: PathBuf,
    /// Which session of the database it is; `None` for a file that is read as a whole.
    pub(super) stored: Option<Stored>,
    /// The runner whose folder it is in; `None` if its records have to tell.
    pub(super) runner: Option<&'static str>,
    /// The files of its subagents, which are read with it.
    pub(super) subagents: Vec<PathBuf>,
    /// How long its files are; `None` for a session of a database, which is not known before it is read.
    pub(super) bytes: Option<u64>,
    /// When they were last written.
    pub(super) modified: SystemTime,
}

/// A session that is being read, and where its lines come from if it has several files.
pub(super) struct Opened {
    pub(super) input: Input,
    pub(super) origins: Option<Arc<Mutex<Origins>>>,
}

impl Session {
    /// What tells it from all others.
    pub(super) fn key(&self) -> (PathBuf, Option<String>) {
        (self.path.clone(), self.stored.as_ref().map(|stored| stored.id.clone()))
    }

    /// The name for messages.
    pub(super) fn name(&self) -> String {
        match &self.stored {
            None => shown(&self.path),
            Some(stored) => format!("session {} of {}", crate::visible::line(&stored.id), shown(&self.path)),
        }
    }

    /// Whether it is a session of a database whose agent is at work, unless that was silent for long.
    pub(super) fn is_at_work(&self, silence: Duration) -> bool {
        self.stored.as_ref().is_some_and(|stored| stored.is_at_work)
            && self.modified.elapsed().is_ok_and(|silent| silent < silence)
    }

    /// Opens it for a framegate command. Only the size of a session of a database is limited here.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn open(&self, most: Most, command: &'static str) -> io::Result<Opened> {
        let input = match &self.stored {
            Some(stored) => Input::of_bytes(stored.document(&self.path, most)?, &self.path, command),
            None if self.subagents.is_empty() => Input::open(&self.path, command)?,
            None => {
                let merged = self.merged();
                let origins = Some(merged.origins());
                let input = Input::of_reader(Box::new(Text::new(merged)), &self.path, command);
                return Ok(Opened { input, origins });
            }
        };
        Ok(Opened { input, origins: None })
    }

    /// Its files, whose lines are merged.
    pub(super) fn merged(&self) -> Merged {
        Merged::new(&self.path, &self.subagents, self.runner.and_then(runner))
    }
}

/// What to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Runner(&'static str),
    Path(PathBuf),
}

impl Target {
    /// A runner's name, a path, or another name of a runner, such as `claude`, if there is no such file.
    pub(super) fn of(text: OsString) -> Self {
        let is_named = |runner: &&Runner| text.to_str() == Some(runner.name);
        if let Some(runner) = RUNNERS.iter().find(is_named) {
            return Self::Runner(runner.name);
        }
        let path = PathBuf::from(text);
        let alias = path.to_str().filter(|_| !path.exists()).and_then(|name| Preset::find(name, true));
        alias.map_or(Self::Path(path), |preset| Self::Runner(preset.runner()))
    }
}

/// Where runners keep their sessions on this machine.
pub(super) struct Machine<'m> {
    /// The user's home directory.
    pub(super) home: Option<PathBuf>,
    /// The environment.
    pub(super) variable: &'m dyn Fn(&str) -> Option<OsString>,
    /// What earlier searches have read in databases.
    pub(super) unchanged: database::Unchanged,
    /// What they have read in files of subagents.
    pub(super) known: subagents::Known,
}

/// Files and folders that could not be read.
pub(super) type Unreadable = Vec<(PathBuf, io::Error)>;

/// The files of the targets; of all runners, if there is no target.
pub(super) fn sessions(
    targets: &[Target],
    from: Option<RunnerName>,
    machine: &Machine<'_>,
) -> (Vec<Session>, Unreadable) {
    let mut found =
        Found { files: Vec::new(), known: HashSet::new(), unreadable: Vec::new(), unchanged: &machine.unchanged };
    if targets.is_empty() {
        RUNNERS.iter().for_each(|runner| found.of_runner(runner, machine));
    }
    for target in targets {
        match target {
            Target::Runner(name) => {
                RUNNERS
                    .iter()
                    .filter(|runner| runner.name == *name)
                    .for_each(|runner| found.of_runner(runner, machine));
            }
            Target::Path(path) => found.at(path, from.map(|runner| runner.0.name)),
        }
    }
    let (mut files, mut unreadable) = (found.files, found.unreadable);
    subagents::attach(&mut files, &machine.known, &mut unreadable);
    files.sort_by(|one, other| (one.modified, &one.path).cmp(&(other.modified, &other.path)));
    (files, unreadable)
}

/// The folders of a runner on this machine, as messages show them.
pub(super) fn places(runner: &Runner, machine: &Machine<'_>) -> Vec<String> {
    let shown = |history: &History| Some(format!("{}/{}", folder(history, machine)?.display(), history.files));
    runner.history.iter().filter_map(shown).collect()
}

fn folder(history: &History, machine: &Machine<'_>) -> Option<PathBuf> {
    let set = Some(history.variable).filter(|name| !name.is_empty()).and_then(|name| (machine.variable)(name));
    let set = set.map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| Some(machine.home.as_ref()?.join(history.folder)))
}

struct Found<'m> {
    files: Vec<Session>,
    known: HashSet<PathBuf>,
    unreadable: Unreadable,
    unchanged: &'m database::Unchanged,
}

impl Found<'_> {
    fn of_runner(&mut self, runner: &Runner, machine: &Machine<'_>) {
        for history in runner.history {
            let Some(folder) = folder(history, machine) else { continue };
            let names: Vec<&str> = history.names().collect();
            self.matching(&folder, &names, runner.name, history);
        }
    }

    /// The files below a folder whose names match, one name for each level.
    fn matching(&mut self, folder: &Path, names: &[&str], runner: &'static str, history: &History) {
        let Some((name, rest)) = names.split_first() else { return };
        for (path, is_folder) in self.entries(folder) {
            let found = name_of(&path);
            match (is_folder, rest.is_empty()) {
                (true, false) if is_match(name, &found) => self.matching(&path, rest, runner, history),
                (false, true) if history.is_session(&found) => self.kept(&path, (runner, history.database)),
                _ => {}
            }
        }
    }

    /// A file, or all files of a folder.
    fn at(&mut self, path: &Path, runner: Option<&'static str>) {
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.below(path, runner, DEPTH),
            Ok(metadata) if metadata.is_file() && database::is_database(path) => self.owned(path, runner),
            Ok(_) => self.file(path, runner),
            Err(error) => self.unreadable.push((path.to_owned(), error)),
        }
    }

    fn below(&mut self, folder: &Path, runner: Option<&'static str>, depth: usize) {
        for (path, is_folder) in self.entries(folder) {
            if is_folder && depth > 0 {
                self.below(&path, runner, depth - 1);
            } else if !is_folder && has_ending(&path) {
                self.file(&path, runner);
            } else if !is_folder && is_kept_database(&path) && database::is_database(&path) {
                self.owned(&path, runner);
            }
        }
    }

    /// A database, whose tables tell which runner it belongs to.
    fn owned(&mut self, path: &Path, runner: Option<&'static str>) {
        match database::owner(path, runner) {
            Ok(Some((owner, queries))) => self.kept(path, (owner.name, Some(queries))),
            Ok(None) => {
                let whose = runner.unwrap_or("a runner");
                let why = format!("it is a database, but not one in which {whose} keeps sessions");
                self.unreadable.push((path.to_owned(), io::Error::other(why)));
            }
            Err(error) => self.unreadable.push((path.to_owned(), error)),
        }
    }

    /// A file that a runner keeps, or each session of it.
    fn kept(&mut self, path: &Path, (runner, queries): (&'static str, Option<SessionDatabase>)) {
        let Some(queries) = queries else { return self.file(path, Some(runner)) };
        if !self.known.insert(paths::canonical(path).unwrap_or_else(|_| path.to_owned())) {
            return;
        }
        match self.unchanged.sessions(path, queries) {
            Ok(database::Sessions { rows, damaged }) => {
                self.files.extend(rows.into_iter().map(|row| Session {
                    path: path.to_owned(),
                    stored: Some(row.stored),
                    runner: Some(runner),
                    subagents: Vec::new(),
                    bytes: None,
                    modified: row.modified,
                }));
                self.unreadable.extend(damaged.into_iter().map(|why| (path.to_owned(), io::Error::other(why))));
            }
            Err(error) => self.unreadable.push((path.to_owned(), error)),
        }
    }

    /// The folders and files in a folder, and whether each is a folder. Symbolic links to folders are left out, and what is neither,
    /// such as a pipe. A folder that does not exist has none.
    fn entries(&mut self, folder: &Path) -> Vec<(PathBuf, bool)> {
        let read = std::fs::read_dir(folder).and_then(|entries| {
            let kind = |entry: std::fs::DirEntry| entry.file_type().map(|kind| (entry.path(), kind));
            entries.map(|entry| entry.and_then(kind)).collect::<io::Result<Vec<_>>>()
        });
        match read {
            Ok(entries) => entries
                .into_iter()
                .filter(|(path, kind)| kind.is_dir() || kind.is_file() || (kind.is_symlink() && path.is_file()))
                .map(|(path, kind)| (path, kind.is_dir()))
                .collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                self.unreadable.push((folder.to_owned(), error));
                Vec::new()
            }
        }
    }

    fn file(&mut self, path: &Path, runner: Option<&'static str>) {
        let described = std::fs::metadata(path).and_then(|metadata| Ok((metadata.len(), metadata.modified()?)));
        match described {
            Ok((bytes, modified)) => {
                let canonical = paths::canonical(path).unwrap_or_else(|_| path.to_owned());
                if self.known.insert(canonical) {
                    self.files.push(Session {
                        path: path.to_owned(),
                        stored: None,
                        runner,
                        subagents: Vec::new(),
                        bytes: Some(bytes),
                        modified,
                    });
                }
            }
            Err(error) => self.unreadable.push((path.to_owned(), error)),
        }
    }
}

/// The name of a file, for comparing its ending. What is no UTF-8 in it is replaced.
pub(super) fn name_of(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

fn has_ending(path: &Path) -> bool {
    let name = name_of(path);
    ENDINGS.iter().any(|ending| COMPRESSED.iter().any(|more| name.ends_with(&format!("{ending}{more}"))))
}

/// Whether a file has the name of a database with sessions.
fn is_kept_database(path: &Path) -> bool {
    let name = name_of(path);
    let is_named = |history: &History| history.names().last().is_some_and(|pattern| is_match(pattern, &name));
    RUNNERS.iter().flat_map(|runner| runner.history).any(|history| history.database.is_some() && is_named(history))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("framegate-find-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }

        fn file(&self, name: &str) {
            let path = self.0.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }

        fn found(&self, targets: &[Target], variables: &[(&str, &str)]) -> Vec<(String, Option<&'static str>)> {
            let variable = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| self.0.join(value).into_os_string())
            };
            let machine = Machine {
                home: Some(self.0.join("home")),
                variable: &variable,
                unchanged: database::Unchanged::default(),
                known: subagents::Known::default(),
            };
            let (files, unreadable) = sessions(targets, None, &machine);
            assert!(unreadable.is_empty(), "{unreadable:?}");
            let relative = |file: &Session| file.path.strip_prefix(&self.0).unwrap().to_str().unwrap().to_owned();
            let mut found: Vec<_> = files.iter().map(|file| (relative(file), file.runner)).collect();
            found.sort();
            found
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn sessions_are_found_where_each_runner_keeps_them() {
        let folder = Folder::new("places");
        let has_files = |history: &&History| history.database.is_none();
        for runner in RUNNERS {
            for history in runner.history.iter().filter(has_files) {
                folder.file(&format!("home/{}/{}", history.folder, history.files.replace('*', "1")));
                folder.file(&format!("home/{}/other.txt", history.folder));
            }
        }
        let found = folder.found(&[], &[]);
        let expected = RUNNERS.iter().flat_map(|runner| runner.history).filter(has_files).count();
        assert_eq!(found.len(), expected, "{found:?}");
        for (path, runner) in &found {
            let runner = RUNNERS.iter().find(|known| Some(known.name) == *runner).unwrap();
            let is_its_own = |history: &History| path.starts_with(&format!("home/{}/", history.folder));
            assert!(runner.history.iter().any(is_its_own), "{path}");
        }
        // Files that are not sessions of their own are read only if someone names them.
        for runner in RUNNERS {
            for history in runner.history.iter().filter(|history| !history.except.is_empty()) {
                let (folders, _) = history.files.rsplit_once('/').unwrap();
                let name = format!("{}.jsonl", history.except.replace('*', "1"));
                let path = format!("home/{}/{}/{name}", history.folder, folders.replace('*', "1"));
                folder.file(&path);
                assert_eq!(folder.found(&[Target::Path(folder.0.join(&path))], &[]).len(), 1);
            }
        }
        assert_eq!(folder.found(&[], &[]).len(), expected);
        // A variable names another folder.
        let (runner, history) = RUNNERS
            .iter()
            .find_map(|runner| Some((runner, runner.history.iter().find(|history| !history.variable.is_empty())?)))
            .unwrap();
        folder.file(&format!("elsewhere/{}", history.files.replace('*', "2")));
        let found = folder.found(&[Target::Runner(runner.name)], &[(history.variable, "elsewhere")]);
        assert_eq!(found, [(format!("elsewhere/{}", history.files.replace('*', "2")), Some(runner.name))]);
    }

    // Other systems take no such names.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_is_passed_by_and_a_name_need_not_be_utf_8() {
        use std::os::unix::ffi::OsStrExt as _;
        let folder = Folder::new("odd");
        let pipe = folder.0.join("pipe.jsonl");
        let status = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(status.success() && pipe.exists());
        let odd = folder.0.join(std::ffi::OsStr::from_bytes(b"\xFF.jsonl"));
        fs::write(&odd, "odd").unwrap();
        let machine = Machine {
            home: None,
            variable: &|_| None,
            unchanged: database::Unchanged::default(),
            known: subagents::Known::default(),
        };
        let (files, unreadable) = sessions(&[Target::Path(folder.0.clone())], None, &machine);
        let paths: Vec<&Path> = files.iter().map(|file| file.path.as_path()).collect();
        assert_eq!((paths, unreadable.len()), (vec![odd.as_path()], 0));
    }

    #[test]
    fn a_path_is_a_file_or_all_sessions_below_a_folder() {
        let folder = Folder::new("paths");
        for name in ["a.jsonl", "b/c.jsonl.zst", "b/d/e.json.gz", "b/notes.txt", "f.sse", "g.jsonl.bak"] {
            folder.file(name);
        }
        std::os::unix::fs::symlink(folder.0.join("b"), folder.0.join("loop")).unwrap();
        let whole = folder.found(&[Target::Path(folder.0.clone())], &[]);
        let names: Vec<&str> = whole.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a.jsonl", "b/c.jsonl.zst", "b/d/e.json.gz", "f.sse"]);
        // The deepest folder that is searched, and the one below it.
        let deep = format!("deep/{}", "d/".repeat(DEPTH));
        folder.file(&format!("{deep}in.jsonl"));
        folder.file(&format!("{deep}d/out.jsonl"));
        let found = folder.found(&[Target::Path(folder.0.join("deep"))], &[]);
        assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), [format!("{deep}in.jsonl")]);
        // A file that is named is read, whatever its name, and once.
        let named = Target::Path(folder.0.join("b/notes.txt"));
        assert_eq!(folder.found(&[named.clone(), named], &[]).len(), 1);
        let machine = Machine {
            home: None,
            variable: &|_| None,
            unchanged: database::Unchanged::default(),
            known: subagents::Known::default(),
        };
        let (files, unreadable) = sessions(&[Target::Path(folder.0.join("missing"))], None, &machine);
        assert!(files.is_empty() && unreadable.len() == 1);
    }
}
