//! Reads recordings into runs, for commands that show or export them.
//!
//! Input: the paths of recordings of any runner. Output: their streams, as a proxy would have them; diagnostics on stderr. Never: a
//! compressed file read as text; more bad records reported one by one than a bound; a file that stops the files after it.

use super::bad::{BadRecords, no_run};
use super::input::{Input, shown};
use super::names::From;
use crate::auth::Restriction;
use crate::ingest::{Ingest, IngestError, IngestFactory};
use crate::runs::{Entry, Ingested};
use framegate_translators::frame::StreamKind;
use framegate_translators::framing::Limits;
use framegate_translators::runners::Runner;
use framegate_translators::when::FirstTime;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Handle;

/// The log lines of these commands. Differences from the known format of a runner are shown with the records.
pub(super) const LOG_FILTER: &str = "warn,framegate::ingest::drift=error";

/// How many bad records of a file are reported one by one; the rest are counted.
const MOST_REPORTED: u64 = 20;

/// How many bytes of a file are read ahead to find its first time.
const LOOK_AHEAD_BYTES: usize = 1 << 20;

/// How many of them are searched at once. Most files have a time in one of their first records.
const SEARCHED_BYTES: usize = 4 << 10;

/// Reads the files of one command. It waits for files and pipes on the thread that calls it, which must not be one of the runtime.
pub(super) struct Recordings {
    pub(super) runtime: Handle,
    pub(super) factory: IngestFactory,
    /// The runner that wrote the files.
    pub(super) from: From,
    /// The framegate command that reads them, for messages.
    pub(super) command: &'static str,
}

impl Recordings {
    /// Reads one file to its end. Returns its runs, or why it cannot be shown. Calls `begun` with what the file has, after each
    /// chunk.
    pub(super) fn read(&self, path: &Path, begun: &mut dyn FnMut(&Ingested)) -> Result<Vec<Arc<Entry>>, String> {
        let cannot_read = |why: &dyn std::fmt::Display| format!("cannot read {}: {why}", shown(path));
        let mut input = Input::open(path, self.command).map_err(|error| cannot_read(&error))?;
        let mut ingest = self.factory.ingest(self.from.runner(), None, Arc::<Restriction>::default());
        let first = first_time(&mut input, self.from.runner(), self.factory.settings().limits);
        if let Some(unix_ms) = first.map_err(|error| cannot_read(&error))? {
            ingest = ingest.recorded_at(unix_ms);
        }
        let mut ingest = ingest.recognising_repeats(input.is_whole());
        let ingested = ingest.ingested();
        let mut bad = BadRecords::new(path, MOST_REPORTED);
        let read = loop {
            match self.next(&mut input, &mut ingest) {
                Ok(Some(chunk)) => {
                    bad.feed(&chunk);
                    let fed = self.runtime.block_on(ingest.feed(&chunk));
                    fed.map_err(|error| cannot_read(&error))?;
                }
                Ok(None) => break Ok(()),
                Err(Stopped::Log(error)) => return Err(cannot_read(&error)),
                Err(Stopped::Input(error)) => break Err(error),
            }
            begun(&ingested);
            if ingest.is_unknown() {
                break Ok(());
            }
        };
        let recognised = ingest.runner();
        // An input that breaks off is finished like a complete one, so that its runs are closed.
        let seen = self.runtime.block_on(ingest.finish_seen()).map_err(|error| cannot_read(&error))?;
        bad.tell(seen.bad.clone());
        bad.end(&seen.tally);
        read.map_err(|error| cannot_read(&error))?;
        let runs: Vec<_> =
            ingested.entries().into_iter().filter(|entry| entry.stream.kind == StreamKind::Session).collect();
        // A run that was decoded from another runner's records does not count as a run.
        if runs.is_empty() || seen.is_nothing() || seen.mistaken.is_some() {
            let named = self.from.runner().map(|runner| runner.name);
            return Err(cannot_read(&no_run(&input, named, recognised, &seen.tally, seen.mistaken, bad.first())));
        }
        begun(&ingested);
        Ok(runs)
    }

    /// The next bytes, as soon as there are any; `None` at the end. While it waits, records whose deadline passes are processed.
    fn next(&self, input: &mut Input, ingest: &mut Ingest) -> Result<Option<Vec<u8>>, Stopped> {
        while let Some(patience) = ingest.patience().filter(|_| !input.is_whole()) {
            if input.wait(patience).map_err(Stopped::Input)? {
                break;
            }
            self.runtime.block_on(ingest.flush()).map_err(Stopped::Log)?;
        }
        let chunk = input.next().map_err(Stopped::Input)?;
        Ok(Some(chunk.to_vec()).filter(|chunk| !chunk.is_empty()))
    }
}

/// The first time in the records of a file, in Unix epoch milliseconds; `None` for a pipe, whose clock is the system's. Without a runner, records of
/// any runner count.
///
/// # Errors
/// The file cannot be read.
pub(super) fn first_time(
    input: &mut Input,
    runner: Option<&'static Runner>,
    limits: Limits,
) -> io::Result<Option<u64>> {
    if !input.is_whole() {
        return Ok(None);
    }
    let mut found = None;
    let mut first = FirstTime::new(runner, None, limits);
    input.look_ahead(LOOK_AHEAD_BYTES, |bytes| {
        found = bytes.chunks(SEARCHED_BYTES).find_map(|piece| first.feed(piece));
        found.is_some()
    })?;
    Ok(found.or_else(|| first.finish()))
}

/// Why reading stopped before the end.
enum Stopped {
    Input(io::Error),
    Log(IngestError),
}
