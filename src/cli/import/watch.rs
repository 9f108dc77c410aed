//! `--watch`: follows the files of runners as they grow.
//!
//! Input: the files that were imported, and a search for new ones. Output: their further runs, as they happen. Never: a file that is read from its beginning because
//! it has grown, unless it was silent for long; more open files than a bound; a wait for a single file.
//!
//! The files are looked at every second. That also works in folders of other machines, whose changes the system does not announce.

use super::find::{Session, Unreadable};
use super::sink::{Sink, Stream};
use super::{has_changed, shown};
use crate::clock::Moment;
use crate::runs::labels::Labels;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::runtime::Handle;

/// How often files are looked at.
const EVERY: Duration = Duration::from_secs(1);

/// After how many looks new files are searched for.
const SEARCH_EVERY: u32 = 5;

/// After how long a silence a file is closed, and its open run with it.
const SILENCE: Duration = Duration::from_secs(15 * 60);

/// How many files are open at most. Those that were silent for longest are closed first.
const MOST_OPEN: usize = 64;

/// How many bytes are read at once.
const CHUNK_BYTES: usize = 256 << 10;

/// A file that grows.
struct Growing {
    file: File,
    inode: u64,
    offset: u64,
    stream: Stream,
    last: Moment,
}

/// Follows the files until the user interrupts.
pub(super) fn follow(
    sink: &Sink,
    imported: &[Session],
    search: &dyn Fn() -> (Vec<Session>, Unreadable),
    labels: &Labels,
    runtime: &Handle,
) {
    let mut known: HashMap<PathBuf, Session> =
        imported.iter().map(|session| (session.path.clone(), session.clone())).collect();
    let mut growing: HashMap<PathBuf, Growing> = HashMap::new();
    tracing::info!(files = known.len(), "waiting for what runners write");
    for look in 0_u32.. {
        let is_interrupted = runtime.block_on(async {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => true,
                () = tokio::time::sleep(EVERY) => false,
            }
        });
        if is_interrupted {
            break;
        }
        if look.is_multiple_of(SEARCH_EVERY) {
            for session in search().0 {
                let before = known.insert(session.path.clone(), session.clone());
                let is_new = before.is_none_or(|before| has_changed(&before, &session));
                if is_new && !growing.contains_key(&session.path) {
                    begin(sink, &session, labels, runtime, &mut growing);
                }
            }
        }
        let over: Vec<PathBuf> =
            growing.iter_mut().filter_map(|(path, file)| (!go_on(path, file, runtime)).then(|| path.clone())).collect();
        for path in over {
            if let Some(file) = growing.remove(&path) {
                file.stream.finish(runtime);
            }
        }
    }
    growing.into_values().for_each(|file| file.stream.finish(runtime));
}

fn begin(sink: &Sink, session: &Session, labels: &Labels, runtime: &Handle, growing: &mut HashMap<PathBuf, Growing>) {
    if is_compressed(&session.path) {
        // A compressed file is whole when it appears.
        if let Err(why) = sink.take(session, labels, runtime) {
            tracing::warn!("{why}");
        }
        return;
    }
    if growing.len() >= MOST_OPEN
        && let Some(silent) = growing.iter().min_by_key(|(_, file)| file.last).map(|(path, _)| path.clone())
        && let Some(file) = growing.remove(&silent)
    {
        file.stream.finish(runtime);
    }
    match File::open(&session.path).and_then(|file| Ok((file.metadata()?.ino(), file))) {
        Ok((inode, file)) => {
            let stream = sink.open(session, labels, runtime);
            growing.insert(session.path.clone(), Growing { file, inode, offset: 0, stream, last: Moment::now() });
        }
        Err(error) => tracing::warn!("cannot read {}: {error}", shown(&session.path)),
    }
}

/// Passes on what was written since. Returns whether the file stays open.
fn go_on(path: &Path, file: &mut Growing, runtime: &Handle) -> bool {
    match grown(path, file, runtime) {
        Ok(true) => file.last = Moment::now(),
        Ok(false) => file.stream.wait(runtime),
        Err(why) => {
            tracing::warn!("{}: {why}", shown(path));
            return false;
        }
    }
    file.last.elapsed() < SILENCE
}

/// Whether the file has grown.
fn grown(path: &Path, file: &mut Growing, runtime: &Handle) -> Result<bool, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if metadata.ino() != file.inode || metadata.len() < file.offset {
        return Err("the file was replaced or cut; it is read again".to_owned());
    }
    if metadata.len() == file.offset {
        return Ok(false);
    }
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = read_at(&mut file.file, file.offset, &mut chunk).map_err(|error| error.to_string())?;
        if read == 0 {
            return Ok(true);
        }
        file.stream.feed(chunk.get(..read).unwrap_or_default(), runtime)?;
        file.offset += read as u64;
    }
}

fn read_at(file: &mut File, offset: u64, chunk: &mut [u8]) -> io::Result<usize> {
    file.seek(SeekFrom::Start(offset))?;
    file.read(chunk)
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz" || ending == "zst")
}
