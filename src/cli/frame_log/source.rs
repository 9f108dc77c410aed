//! A log that is read, in a file or at NATS servers.
//!
//! Input: the configuration. Output: streams, their frames, statuses and checkpoints. Never: a write; a lock that keeps a proxy out; a frame
//! left out of a whole stream without an error.

use super::file::Database;
use crate::cli::serve::engine::Storage;
use crate::config::{self, Config, LogKind};
use crate::log::{Checkpoint, KeptStream, LogError};
use anyhow::bail;
use framegate_translators::frame::{Frame, StreamKind};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// The minimum number of digits in an id prefix, and the length of a whole id.
const SHORTEST: usize = 4;
const ID_DIGITS: usize = 32;

/// How many ids are shown if a prefix is ambiguous.
const SHOWN: usize = 5;

/// A stream of a log.
pub(in crate::cli) struct Found {
    /// Its key in a database; 0 in a log that has no keys.
    pub(super) key: i64,
    pub(in crate::cli) kept: KeptStream,
}

/// A run in a list.
pub(in crate::cli) struct Listed {
    pub(super) run: String,
    pub(super) provider: String,
    pub(super) state: String,
    pub(super) frames: i64,
    pub(super) started: String,
    pub(super) session: String,
    /// Its status as JSON; `None` if there is none.
    pub(super) status: Option<String>,
}

/// Takes the frames of a stream, one by one.
pub(super) type Sink<'s> = &'s mut dyn FnMut(&Arc<Frame>) -> anyhow::Result<()>;

/// A log that is read.
pub(in crate::cli) trait Source {
    /// Where it is, for messages.
    fn place(&self) -> String;

    /// The streams, in the order in which they began.
    fn streams(&self) -> anyhow::Result<Vec<Found>>;

    /// The status of a stream, as JSON; `None` if there is none.
    fn status(&self, found: &Found) -> anyhow::Result<Option<String>>;

    /// Passes each frame of a stream to `sink`.
    fn frames(&self, found: &Found, sink: Sink<'_>) -> anyhow::Result<()>;

    /// The views that have a checkpoint at a frame.
    fn views_at(&self, found: &Found, frame: u64) -> anyhow::Result<Vec<String>>;

    /// The last checkpoint of a view that is not after a frame.
    fn checkpoint(&self, found: &Found, view: &str, frame: u64) -> anyhow::Result<Option<Checkpoint>>;

    /// Passes the newest runs to `sink`, newest first.
    fn list(&self, limit: usize, sink: &mut dyn FnMut(&Listed) -> anyhow::Result<()>) -> anyhow::Result<()>;

    /// Passes the statuses of the newest runs that have one to `sink`, newest run first.
    fn list_statuses(&self, limit: usize, sink: &mut dyn FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()>;

    /// How many runs there are, or how many of them have a status.
    fn count(&self, with_status: bool) -> anyhow::Result<usize>;

    /// Passes the status of every run to `sink`, newest run first; `None` for a run without a status.
    fn each_status(&self, sink: &mut dyn FnMut(Option<&str>)) -> anyhow::Result<()>;

    /// Looks for damage. Writes a line for each finding, and returns the exit code.
    fn verify(&self, out: &mut dyn Write) -> anyhow::Result<u8>;

    /// The stream alone, as a log and a store of artifacts. They can be read for as long as this source lives.
    fn excerpt(&self, found: Found) -> Storage;

    /// Finds the stream by its id or an unambiguous prefix. A run takes precedence over other streams.
    fn find(&self, text: &str) -> anyhow::Result<Found> {
        let digits: String = text.chars().filter(|letter| *letter != '-').collect::<String>().to_ascii_lowercase();
        let is_hex = digits.chars().all(|digit| digit.is_ascii_hexdigit());
        if !is_hex || !(SHORTEST..=ID_DIGITS).contains(&digits.len()) {
            bail!(
                "invalid run id {text:?}: use an id, or at least its first {SHORTEST} digits; `framegate log list` \
                   shows the ids"
            );
        }
        let is_meant = |found: &Found| found.kept.stream.id.simple().to_string().starts_with(&digits);
        let all: Vec<Found> = self.streams()?.into_iter().filter(is_meant).collect();
        let (runs, others): (Vec<Found>, Vec<Found>) =
            all.into_iter().partition(|found| found.kept.stream.kind == StreamKind::Session);
        let mut found = if runs.is_empty() { others } else { runs };
        if found.len() > 1 && digits.len() < ID_DIGITS {
            let shown: Vec<String> = found.iter().take(SHOWN).map(|found| found.kept.stream.id.to_string()).collect();
            let more = if found.len() > SHOWN { ", …" } else { "" };
            bail!("{text:?} is the beginning of {} ids: {}{more}", found.len(), shown.join(", "));
        }
        if found.is_empty() {
            bail!("there is no run {text} in {}; `framegate log list` shows the stored runs", self.place());
        }
        Ok(found.swap_remove(0))
    }

    /// Passes each frame of a stream to `sink`. Fails at the first missing frame.
    fn whole(&self, found: &Found, sink: Sink<'_>) -> anyhow::Result<()> {
        let (stream, mut next) = (found.kept.stream.id, found.kept.first());
        self.frames(found, &mut |frame| {
            if frame.seq != next {
                return Err(LogError::Lacking { stream, frame: next }.into());
            }
            next += 1;
            sink(frame)
        })?;
        if next < found.kept.frames {
            return Err(LogError::Lacking { stream, frame: next }.into());
        }
        Ok(())
    }
}

/// Chooses the log that a command works on: the named database, or the log of the configuration. A proxy with its log in memory
/// may have had a database before.
pub(in crate::cli) fn choose(named: Option<&Path>, log: &mut config::Log) {
    if let Some(path) = named {
        log.path = path.to_owned();
    }
    if named.is_some() || log.kind == LogKind::Memory {
        log.kind = LogKind::Sqlite;
    }
}

/// Opens the log that [`choose`] has chosen, for reading.
///
/// # Errors
/// There is no such log, or it cannot be read.
pub(in crate::cli) fn open(config: &Config) -> anyhow::Result<Box<dyn Source>> {
    match config.log.kind {
        #[cfg(feature = "jetstream")]
        LogKind::Jetstream => Ok(Box::new(super::servers::Servers::open(config)?)),
        // A configuration with this kind has been refused before.
        #[cfg(not(feature = "jetstream"))]
        LogKind::Jetstream => bail!("this framegate was built without the feature jetstream"),
        LogKind::Sqlite | LogKind::Memory => Ok(Box::new(Database::open(&config.log.path)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_file_comes_before_the_configured_log_and_a_log_at_servers_is_no_file() {
        for (named, kind, expected) in [
            (None, LogKind::Sqlite, (LogKind::Sqlite, "framegate.db")),
            (None, LogKind::Memory, (LogKind::Sqlite, "framegate.db")),
            (None, LogKind::Jetstream, (LogKind::Jetstream, "framegate.db")),
            (Some("copy.db"), LogKind::Jetstream, (LogKind::Sqlite, "copy.db")),
            (Some("copy.db"), LogKind::Sqlite, (LogKind::Sqlite, "copy.db")),
        ] {
            let mut log = config::Log { kind, ..config::Log::default() };
            choose(named.map(Path::new), &mut log);
            assert_eq!((log.kind, log.path.to_str().unwrap()), expected);
        }
    }
}
