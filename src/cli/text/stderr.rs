//! Messages on standard error while lines are drawn on the same terminal.
//!
//! Input: what this process writes to standard error: log lines, warnings, the output of a runner. Output: its lines, to be written above
//! what is drawn. Never: a message that is lost at the end; a redirected standard error, which stays as it is.

use rustix::stdio::dup2_stderr;
use std::io::{self, BufRead, BufReader, IsTerminal, PipeReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// How many lines wait to be written. A process that writes more waits too.
const WAITING: usize = 1024;

/// The longest line, in bytes. A longer one is broken.
const LINE_BYTES: u64 = 8 << 10;

/// Standard error of this process, as lines.
pub(super) struct Captured {
    /// Where it went before.
    terminal: OwnedFd,
    lines: Receiver<String>,
    reader: Option<JoinHandle<()>>,
}

impl Captured {
    /// Takes standard error, if it is a terminal; `None` otherwise, or if the system has no descriptor or thread left.
    pub(super) fn begin() -> Option<Self> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let terminal = io::stderr().as_fd().try_clone_to_owned().ok()?;
        let (reader, writer) = io::pipe().ok()?;
        let (sender, lines) = sync_channel(WAITING);
        let reader = thread::Builder::new().name("stderr".to_owned()).spawn(move || read(reader, &sender)).ok()?;
        // From here on, the only writing end is standard error itself.
        dup2_stderr(&writer).ok()?;
        Some(Self { terminal, lines, reader: Some(reader) })
    }

    /// The lines since the last call.
    pub(super) fn take(&mut self) -> Vec<String> {
        self.lines.try_iter().take(WAITING).collect()
    }

    /// Gives standard error back, and returns the last lines.
    pub(super) fn end(&mut self) -> Vec<String> {
        let Some(reader) = self.reader.take() else { return Vec::new() };
        if dup2_stderr(&self.terminal).is_err() {
            // The reader would wait for ever.
            return self.take();
        }
        let lines = self.lines.iter().collect();
        // A reader that panicked has passed on what it read.
        let _ = reader.join();
        lines
    }
}

/// If the view ends without it.
impl Drop for Captured {
    fn drop(&mut self) {
        self.end();
    }
}

fn read(pipe: PipeReader, lines: &SyncSender<String>) {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut pipe).take(LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                if lines.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
            }
        }
    }
}
