//! `--watch`: follows the files of runners as they grow.
//!
//! Input: the files that were imported, and a search for new ones. Output: their further runs, as they happen. Never: a file that is read from its beginning because
//! it has grown, unless it was silent for long or could not be taken; a session of a database while its agent is at work; more open files than a
//! bound.
//!
//! The files are looked at every second. That also works in folders of other machines, whose changes the system does not announce.

use super::find::{Session, Unreadable};
use super::sink::{Sink, Stream};
use super::turns::Turns;
use super::{has_changed, shown};
use crate::cli::stop::Stop;
use crate::clock::Moment;
use crate::platform::identity::Identity;
use crate::runs::labels::Labels;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
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

/// How many bytes before the offset are compared before more is read.
const COMPARED_BYTES: usize = 1 << 10;

/// A file that grows.
struct Growing {
    file: File,
    identity: Identity,
    /// How much of it was read.
    offset: u64,
    /// The last bytes of that.
    end: Vec<u8>,
    /// When it was last written, as far as it was read.
    modified: Option<SystemTime>,
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
        if !is_due || self.growing.contains_key(&session.path) {
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
        let opened = File::open(&session.path).and_then(|file| Ok((Identity::of(&file)?, file)));
        let (identity, file) = opened.map_err(|error| format!("cannot read {}: {error}", shown(&session.path)))?;
        let stream = self.sink.open(session, self.labels, self.runtime);
        let (end, modified) = (Vec::new(), None);
        let file = Growing { file, identity, offset: 0, end, modified, stream, last: Moment::now() };
        self.growing.insert(session.path.clone(), file);
        Ok(())
    }

    /// Passes on what was written to the open files.
    fn go_on(&mut self) {
        let mut over: Vec<(PathBuf, Over)> = Vec::new();
        for (path, file) in &mut self.growing {
            match go_on(path, file, self.runtime) {
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
        let read = go_on(path, file, self.runtime);
        self.end(path, read.err().unwrap_or(Over::Silent));
    }

    fn end(&mut self, path: &Path, ended: Over) {
        let Some(file) = self.growing.remove(path) else { return };
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
fn go_on(path: &Path, file: &mut Growing, runtime: &Handle) -> Result<(), Over> {
    if grown(path, file, runtime)? {
        file.last = Moment::now();
    } else {
        file.stream.wait(runtime);
    }
    Ok(())
}

/// Whether the file has grown.
fn grown(path: &Path, file: &mut Growing, runtime: &Handle) -> Result<bool, Over> {
    let failed = |error: io::Error| Over::Failed(error.to_string());
    let metadata = std::fs::metadata(path).map_err(failed)?;
    let identity = Identity::at(path).map_err(failed)?;
    let modified = metadata.modified().ok();
    if identity == file.identity && metadata.len() == file.offset && modified == file.modified {
        return Ok(false);
    }
    let is_same = identity == file.identity && metadata.len() >= file.offset && file.has_end().map_err(failed)?;
    if !is_same {
        return Err(Over::Replaced);
    }
    file.modified = modified;
    let mut chunk = vec![0; CHUNK_BYTES];
    let before = file.offset;
    loop {
        let read = read_at(&mut file.file, file.offset, &mut chunk).map_err(failed)?;
        if read == 0 {
            return Ok(file.offset > before);
        }
        let read = chunk.get(..read).unwrap_or_default();
        file.stream.feed(read, runtime).map_err(Over::Failed)?;
        file.has_read(read);
    }
}

impl Growing {
    /// Whether what was read last is still there.
    fn has_end(&mut self) -> io::Result<bool> {
        let mut end = vec![0; self.end.len()];
        self.file.seek(SeekFrom::Start(self.offset - end.len() as u64))?;
        match self.file.read_exact(&mut end) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            read => read.map(|()| end == self.end),
        }
    }

    fn has_read(&mut self, bytes: &[u8]) {
        self.offset += bytes.len() as u64;
        self.end.extend_from_slice(bytes.get(bytes.len().saturating_sub(COMPARED_BYTES)..).unwrap_or_default());
        self.end.drain(..self.end.len().saturating_sub(COMPARED_BYTES));
    }
}

fn read_at(file: &mut File, offset: u64, chunk: &mut [u8]) -> io::Result<usize> {
    file.seek(SeekFrom::Start(offset))?;
    file.read(chunk)
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz" || ending == "zst")
}
