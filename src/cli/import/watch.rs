//! `--watch`: follows the files of runners as they grow.
//!
//! Input: the files that were imported, and a search for new ones. Output: their further runs, as they happen. Never: a file that is read from its beginning because
//! it has grown, unless it was silent for long or could not be taken; a session of a database while its agent is at work; more open files than a
//! bound.
//!
//! The files are looked at every second. That also works in folders of other machines, whose changes the system does not announce.

use super::find::{Session, Unreadable};
use super::merged::Merged;
use super::sink::{Sink, Stream};
use super::tail::Change;
use super::turns::Turns;
use super::{has_changed, shown};
use crate::cli::stop::Stop;
use crate::clock::Moment;
use crate::runs::labels::Labels;
use framegate_translators::runners::runner;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::runtime::Handle;

/// How often files are looked at.
const EVERY: Duration = Duration::from_secs(1);

/// After how many looks new files are searched for.
const SEARCH_EVERY: u32 = 5;

/// After how long a silence a file is closed, and its open run with it.
pub(super) const SILENCE: Duration = Duration::from_secs(15 * 60);

/// How many files are open at most. Those that were silent for longest are closed first.
const MOST_OPEN: usize = 64;

/// After how long a file is tried again that could not be taken.
const RETRY: Duration = Duration::from_secs(60);

/// How many bytes are read at once.
const CHUNK_BYTES: usize = 256 << 10;

/// The files of a session, which grow.
struct Growing {
    files: Merged,
    stream: Stream,
    last: Moment,
}

/// Why a file is not followed any more.
enum Over {
    /// It was silent for long.
    Silent,
    /// It is another file, or has other content than was read.
    Replaced,
    Failed(String),
}

/// Follows the files until the user stops the command.
///
/// # Errors
/// The signals cannot be listened for.
pub(super) fn follow(
    sink: &Sink,
    imported: &[Session],
    search: &dyn Fn() -> (Vec<Session>, Unreadable),
    labels: &Labels,
    runtime: &Handle,
) -> anyhow::Result<()> {
    let mut stop = runtime.block_on(async { Stop::new() })?;
    let known = imported.iter().map(|session| (session.key(), session.clone())).collect();
    let mut watched = Watched { known, growing: HashMap::new(), failed: HashMap::new(), sink, labels, runtime };
    tracing::info!(files = imported.len(), "waiting for what runners write");
    for look in 0_u32.. {
        if runtime.block_on(async { tokio::time::timeout(EVERY, stop.requested()).await.is_ok() }) {
            break;
        }
        if look.is_multiple_of(SEARCH_EVERY) {
            search().0.into_iter().for_each(|session| watched.meet(session));
        }
        watched.go_on();
    }
    let paths: Vec<PathBuf> = watched.growing.keys().cloned().collect();
    paths.iter().for_each(|path| watched.close(path));
    Ok(())
}

/// The path of a file, and the session in it if it is a database.
type Key = (PathBuf, Option<String>);

/// The files that are watched.
struct Watched<'w> {
    /// All files and sessions of databases, as they were found last.
    known: HashMap<Key, Session>,
    growing: HashMap<PathBuf, Growing>,
    /// When one could not be taken.
    failed: HashMap<Key, Moment>,
    sink: &'w Sink,
    labels: &'w Labels,
    runtime: &'w Handle,
}

impl Watched<'_> {
    /// Takes a file that was found, if it is new or has changed, or if it could not be taken some time ago.
    fn meet(&mut self, session: Session) {
        if session.is_at_work(SILENCE) {
            return;
        }
        let key = session.key();
        let before = self.known.insert(key.clone(), session.clone());
        let is_due = match self.failed.get(&key) {
            Some(since) => since.elapsed() >= RETRY,
            None => before.is_none_or(|before| has_changed(&before, &session)),
        };
        if let Some(growing) = self.growing.get_mut(&session.path) {
            growing.files.add(&session.subagents, session.runner.and_then(runner));
            return;
        }
        if !is_due {
            return;
        }
        self.failed.remove(&key);
        self.try_to_begin(&session);
    }

    fn try_to_begin(&mut self, session: &Session) {
        if let Err(why) = self.begin(session) {
            tracing::warn!("{why}");
            self.failed.insert(session.key(), Moment::now());
        }
    }

    fn begin(&mut self, session: &Session) -> Result<(), String> {
        // A compressed file is whole when it appears, and a session of a database until the next prompt.
        if session.stored.is_some() || is_compressed(&session.path) {
            let turns = Turns::default();
            let taken = self.sink.take(session, self.labels, turns.place(), self.runtime);
            return taken.map(drop).map_err(|why| why.to_string());
        }
        let silent = self.growing.iter().min_by_key(|(_, file)| file.last).map(|(path, _)| path.clone());
        if let Some(silent) = silent.filter(|_| self.growing.len() >= MOST_OPEN) {
            self.close(&silent);
        }
        let mut files = session.merged();
        files.look().map_err(|error| format!("cannot read {error}"))?;
        let stream = self.sink.open(session, self.labels, self.runtime);
        self.growing.insert(session.path.clone(), Growing { files, stream, last: Moment::now() });
        Ok(())
    }

    /// Passes on what was written to the open files.
    fn go_on(&mut self) {
        let mut over: Vec<(PathBuf, Over)> = Vec::new();
        for (path, file) in &mut self.growing {
            match go_on(file, self.runtime) {
                Ok(()) if file.last.elapsed() < SILENCE => {}
                Ok(()) => over.push((path.clone(), Over::Silent)),
                Err(ended) => over.push((path.clone(), ended)),
            }
        }
        for (path, ended) in over {
            let is_replaced = matches!(ended, Over::Replaced);
            self.end(&path, ended);
            let known = self.known.get(&(path.clone(), None)).filter(|_| is_replaced).cloned();
            if let Some(session) = known.filter(|session| !self.failed.contains_key(&session.key())) {
                tracing::warn!("{} was replaced or cut; it is read again", shown(&path));
                self.try_to_begin(&session);
            }
        }
    }

    /// Takes what is left of a file, and ends it for now.
    fn close(&mut self, path: &Path) {
        let Some(file) = self.growing.get_mut(path) else { return };
        let read = go_on(file, self.runtime);
        self.end(path, read.err().unwrap_or(Over::Silent));
    }

    fn end(&mut self, path: &Path, ended: Over) {
        let Some(mut file) = self.growing.remove(path) else { return };
        let ended = match ended {
            // The last line may be whole although it has no end.
            Over::Silent => pass_on(&mut file, true, self.runtime).err().unwrap_or(Over::Silent),
            ended => ended,
        };
        // If a proxy has refused, its answer says why.
        let closed = file.stream.finish(self.runtime);
        let why = match (closed, ended) {
            (Err(why), _) | (Ok(()), Over::Failed(why)) => why,
            (Ok(()), Over::Silent | Over::Replaced) => return,
        };
        tracing::warn!("{}: {why}", shown(path));
        self.failed.insert((path.to_owned(), None), Moment::now());
    }
}

/// Passes on what was written since.
///
/// # Errors
/// Why the file cannot be followed any more.
fn go_on(file: &mut Growing, runtime: &Handle) -> Result<(), Over> {
    if grown(file, runtime)? {
        file.last = Moment::now();
    } else {
        file.stream.wait(runtime);
    }
    Ok(())
}

/// Whether a file of the session has grown.
fn grown(file: &mut Growing, runtime: &Handle) -> Result<bool, Over> {
    let failed = |error: io::Error| Over::Failed(error.to_string());
    match file.files.look().map_err(failed)? {
        Change::Nothing => return Ok(false),
        Change::Replaced => return Err(Over::Replaced),
        Change::Written => {}
    }
    pass_on(file, false, runtime)
}

/// Passes on the lines that were not read yet. Returns whether there were any.
fn pass_on(file: &mut Growing, is_over: bool, runtime: &Handle) -> Result<bool, Over> {
    let failed = |error: io::Error| Over::Failed(error.to_string());
    let mut lines = Vec::new();
    let mut has_grown = false;
    loop {
        lines.clear();
        file.files.next(CHUNK_BYTES, is_over, &mut lines).map_err(failed)?;
        if lines.is_empty() {
            return Ok(has_grown);
        }
        has_grown = true;
        file.stream.feed(&lines, runtime).map_err(Over::Failed)?;
    }
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz" || ending == "zst")
}
