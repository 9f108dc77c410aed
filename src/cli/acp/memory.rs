//! The sessions that clients began, in a file, so that a later process finds them at the same proxy.
//!
//! Input: records. Output: the records of this proxy and upstream. Never: a file that other users can read; a prompt beyond its title; an error
//! that keeps the agent from working.

use super::session::{MAX_SESSIONS, Record};
use crate::platform::permissions::{create_private_directories, private};
use crate::platform::variables::HOME;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// The lines of the file beyond which old ones are removed.
const MAX_LINES: usize = 4 * MAX_SESSIONS;

/// The longest line that is read, in bytes: a record has a directory, a title and some ids. Longer lines are skipped.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    url: String,
    upstream: String,
    #[serde(flatten)]
    record: Record,
}

/// The file.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    path: PathBuf,
    url: String,
    upstream: String,
}

impl Memory {
    /// The file for the sessions at the proxy of this URL; `None` if the user has no home directory. `variable` reads an environment variable.
    pub(super) fn of(url: &str, upstream: &str, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<Self> {
        let set = |name: &str| variable(name).filter(|path| path.is_absolute());
        let folder = set("XDG_STATE_HOME").or_else(|| Some(set(HOME)?.join(".local/state")))?;
        let path = folder.join("framegate/acp-sessions.ndjson");
        Some(Self { path, url: url.trim_end_matches('/').to_owned(), upstream: upstream.to_owned() })
    }

    /// Reads the records. A file that cannot be read has none.
    pub(super) fn read(&self) -> Vec<Record> {
        let lines = match lines(&self.path) {
            Ok(lines) => lines,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "cannot read the sessions of earlier processes");
                return Vec::new();
            }
        };
        if lines.len() > MAX_LINES
            && let Err(error) = self.shorten(&lines)
        {
            tracing::warn!(path = %self.path.display(), %error, "cannot shorten the list of sessions");
        }
        let of_here = |kept: &Kept| kept.url == self.url && kept.upstream == self.upstream;
        // The last line of a session counts, since its record is added again later.
        let mut records: Vec<Record> = Vec::new();
        for Kept { record, .. } in lines.into_iter().filter(of_here) {
            records.retain(|known| known.id != record.id);
            records.push(record);
        }
        records
    }

    /// Keeps a record.
    pub(super) fn keep(&self, record: Record) {
        let kept = Kept { url: self.url.clone(), upstream: self.upstream.clone(), record };
        if let Err(error) = self.append(&kept) {
            tracing::warn!(path = %self.path.display(), %error, "a later process will not find this session");
        }
    }

    fn append(&self, kept: &Kept) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            create_private_directories(folder)?;
        }
        let mut file = private(OpenOptions::new().append(true).create(true)).open(&self.path)?;
        // One write, so that lines of several processes are not mixed.
        file.write_all(&line(kept)?)
    }

    /// Replaces the file by one with the last lines.
    fn shorten(&self, lines: &[Kept]) -> io::Result<()> {
        let new = self.path.with_extension(format!("{}.new", std::process::id()));
        let mut file = private(OpenOptions::new().write(true).create(true).truncate(true)).open(&new)?;
        for kept in lines.iter().skip(lines.len().saturating_sub(MAX_SESSIONS)) {
            file.write_all(&line(kept)?)?;
        }
        fs::rename(&new, &self.path)
    }
}

fn line(kept: &Kept) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(kept)?;
    line.push(b'\n');
    Ok(line)
}

/// The lines that are records. Others, such as one that a full disk cut off, are skipped.
fn lines(path: &Path) -> io::Result<Vec<Kept>> {
    let mut reader = BufReader::new(File::open(path)?);
    let (mut found, mut line) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        let read = reader.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(found);
        }
        if read > MAX_LINE_BYTES && !line.ends_with(b"\n") {
            reader.skip_until(b'\n')?;
            tracing::warn!(path = %path.display(), limit_bytes = MAX_LINE_BYTES, "skipped a line of the sessions of earlier processes: it is too long");
            continue;
        }
        found.extend(serde_json::from_slice(&line).ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use uuid::Uuid;

    /// A folder that is removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("framegate-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn record(id: &str, updated_at_ms: u64) -> Record {
        Record { id: id.to_owned(), session_id: Uuid::nil(), cwd: "/".to_owned(), title: "t".to_owned(), updated_at_ms }
    }

    #[test]
    fn records_belong_to_one_proxy_and_the_last_one_of_a_session_counts() {
        let folder = Folder::new("memory");
        let at = |url: &str| Memory::of(url, "fake", |name| (name == "HOME").then(|| folder.0.clone())).unwrap();
        let (here, there) = (at("http://localhost:1/"), at("http://localhost:2"));
        assert!(here.read().is_empty());
        here.keep(record("one", 1));
        there.keep(record("two", 2));
        here.keep(record("one", 3));
        fs::OpenOptions::new().append(true).open(&here.path).unwrap().write_all(b"{\"url\":\"htt").unwrap();
        assert_eq!(here.read(), [record("one", 3)]);
        assert_eq!(at("http://localhost:1").read(), here.read());
        assert_eq!(there.read(), [record("two", 2)]);
        assert_eq!(fs::metadata(&here.path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let folder = Folder::new("long");
        let memory = Memory::of("http://a", "fake", |_| Some(folder.0.clone())).unwrap();
        let kept = |id: &str, cwd: usize| {
            let record = Record { cwd: "x".repeat(cwd), ..record(id, 0) };
            line(&Kept { url: memory.url.clone(), upstream: memory.upstream.clone(), record }).unwrap()
        };
        let rest = kept("longest", 0).len() - 1;
        let longest = kept("longest", MAX_LINE_BYTES - rest);
        assert_eq!(longest.len(), MAX_LINE_BYTES + 1, "with the line feed");
        let text = [kept("first", 1), longest, kept("too long", MAX_LINE_BYTES), kept("last", 1)].concat();
        fs::create_dir_all(memory.path.parent().unwrap()).unwrap();
        fs::write(&memory.path, text).unwrap();
        let ids: Vec<String> = memory.read().into_iter().map(|record| record.id).collect();
        assert_eq!(ids, ["first", "longest", "last"]);
        // A line that never ends.
        fs::write(&memory.path, vec![b'x'; 4 * MAX_LINE_BYTES]).unwrap();
        assert!(memory.read().is_empty());
    }

    #[test]
    fn the_file_is_shortened() {
        let folder = Folder::new("shortened");
        let memory = Memory::of("http://a", "fake", |_| Some(folder.0.clone())).unwrap();
        memory.keep(record("s0", 0));
        let kept = lines(&memory.path).unwrap().remove(0);
        let many = (0..=MAX_LINES)
            .flat_map(|at| line(&Kept { record: record(&format!("s{at}"), 0), ..kept.clone() }).unwrap());
        fs::write(&memory.path, many.collect::<Vec<u8>>()).unwrap();
        memory.read();
        let ids: Vec<String> = memory.read().into_iter().map(|record| record.id).collect();
        assert_eq!((ids.len(), ids.last().unwrap().as_str()), (MAX_SESSIONS, format!("s{MAX_LINES}").as_str()));
    }
}
