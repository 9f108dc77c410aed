//! Messages on standard error while lines are drawn on the same terminal.
//!
//! Input: what this process writes to standard error: log lines, warnings, the output of a runner. Output: its lines, to be written above
//! what is drawn. Never: a message that is lost without a note; a thread that waits for itself; a redirected standard error, which stays as it is.

use crate::platform::stderr::Diverted;
use std::io::{self, BufRead, BufReader, IsTerminal, PipeReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

/// How many lines wait to be written. More are counted and left out: the thread that writes them may be the one that shows them.
const WAITING: usize = 4096;

/// The longest line, in bytes. A longer one is broken.
const LINE_BYTES: u64 = 8 << 10;

/// Standard error of this process, as lines.
pub(super) struct Captured {
    diverted: Diverted,
    lines: Receiver<String>,
    left_out: Arc<AtomicU64>,
    reader: Option<JoinHandle<()>>,
}

impl Captured {
    /// Takes standard error, if it is a terminal; `None` otherwise, if the system has no descriptor or thread left, or if it cannot divert it.
    pub(super) fn begin() -> Option<Self> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let (reader, writer) = io::pipe().ok()?;
        let (sender, lines) = sync_channel(WAITING);
        let left_out = Arc::<AtomicU64>::default();
        let counted = left_out.clone();
        let reader =
            thread::Builder::new().name("stderr".to_owned()).spawn(move || read(reader, &sender, &counted)).ok()?;
        // From here on, the only writing end is standard error itself.
        let diverted = Diverted::to(&writer)?;
        Some(Self { diverted, lines, left_out, reader: Some(reader) })
    }

    /// The lines since the last call.
    pub(super) fn take(&mut self) -> Vec<String> {
        let mut lines: Vec<String> = self.lines.try_iter().take(WAITING).collect();
        self.announce(&mut lines);
        lines
    }

    /// Gives standard error back, and returns the last lines.
    pub(super) fn end(&mut self) -> Vec<String> {
        let Some(reader) = self.reader.take() else { return Vec::new() };
        if self.diverted.restore().is_err() {
            // The reader would wait for ever.
            return self.take();
        }
        let mut lines: Vec<String> = self.lines.iter().collect();
        // A reader that panicked has passed on what it read.
        let _ = reader.join();
        self.announce(&mut lines);
        lines
    }

    fn announce(&self, lines: &mut Vec<String>) {
        let count = self.left_out.swap(0, Ordering::Relaxed);
        if count > 0 {
            lines.push(format!("… {count} more lines of standard error are left out"));
        }
    }
}

/// If the view ends without it.
impl Drop for Captured {
    fn drop(&mut self) {
        self.end();
    }
}

fn read(pipe: PipeReader, lines: &SyncSender<String>, left_out: &AtomicU64) {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut pipe).take(LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => match lines.try_send(String::from_utf8_lossy(&line).into_owned()) {
                Ok(()) => {}
                Err(TrySendError::Full(_)) => drop(left_out.fetch_add(1, Ordering::Relaxed)),
                Err(TrySendError::Disconnected(_)) => return,
            },
        }
    }
}
