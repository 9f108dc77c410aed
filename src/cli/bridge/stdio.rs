//! Lines of JSON on standard input and standard output.
//!
//! Input: standard input in chunks, and lines to write. Output: its lines, and whole lines on standard output. Never: an unbounded
//! buffer; two lines mixed; a line that waits for another one.

use framegate_translators::framing::{Limits, Lines};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::thread;
use tokio::sync::mpsc;

/// Size limit for a line of standard input, in bytes.
const LINE_BYTES: usize = 64 << 20;

/// A line of standard input.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli) enum Line {
    /// The line, without its end.
    Whole(Vec<u8>),
    /// A line that exceeds the limit, with its size in bytes.
    TooLong(u64),
}

/// The lines of standard input. Blank lines are skipped.
pub(in crate::cli) struct Input(mpsc::Receiver<Line>);

impl Input {
    /// Begins to read standard input.
    ///
    /// # Errors
    /// The system lets no thread start.
    pub(in crate::cli) fn open() -> std::io::Result<Self> {
        // With a short queue, memory is bounded by a few lines.
        let (sender, lines) = mpsc::channel(1);
        thread::Builder::new().name("stdin".to_owned()).spawn(move || read(std::io::stdin().lock(), &sender))?;
        Ok(Self(lines))
    }

    /// The next line; `None` at the end. The future may be dropped without loss.
    pub(in crate::cli) async fn next(&mut self) -> Option<Line> {
        self.0.recv().await
    }
}

fn read(mut input: impl Read, lines: &mpsc::Sender<Line>) {
    let mut reader = Lines::new(Limits { record_bytes: LINE_BYTES, preview_bytes: 0 });
    let mut chunk = vec![0; 64 << 10];
    let mut has_reader = true;
    let mut send = |unit: framegate_translators::framing::Unit<'_>| {
        let line = match unit.oversized {
            Some(size) => Line::TooLong(size),
            None if unit.payload.trim_ascii().is_empty() => return,
            None => Line::Whole(unit.payload.to_vec()),
        };
        has_reader &= lines.blocking_send(line).is_ok();
    };
    loop {
        match input.read(&mut chunk) {
            Ok(0) => break reader.finish(&mut send),
            Ok(length) => reader.feed(chunk.get(..length).unwrap_or_default(), &mut send),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                tracing::warn!(%error, "cannot read standard input");
                break;
            }
        }
        if lines.is_closed() {
            break;
        }
    }
}

/// Standard output.
#[derive(Clone)]
pub(in crate::cli) struct Output(mpsc::Sender<Vec<u8>>);

/// The end of [`Output`], to wait for.
pub(in crate::cli) struct Written(thread::JoinHandle<()>);

/// The reader of standard output has closed it.
#[derive(Debug, thiserror::Error)]
#[error("standard output is closed")]
pub(in crate::cli) struct Closed;

impl Output {
    /// Opens standard output.
    ///
    /// # Errors
    /// The system lets no thread start.
    pub(in crate::cli) fn open() -> std::io::Result<(Self, Written)> {
        let (sender, lines) = mpsc::channel(16);
        let writer = thread::Builder::new().name("stdout".to_owned()).spawn(move || write(std::io::stdout(), lines))?;
        Ok((Self(sender), Written(writer)))
    }

    /// Waits until there is room for a line.
    ///
    /// # Errors
    /// Standard output is closed.
    pub(in crate::cli) async fn place(&self) -> Result<Room<'_>, Closed> {
        self.0.reserve().await.map(Room).map_err(|_| Closed)
    }

    /// Waits until standard output is closed, which only a line that cannot be written shows.
    pub(in crate::cli) async fn closed(&self) {
        self.0.closed().await;
    }

    /// Writes a line; its end is added. Waits if the reader of standard output is slow.
    ///
    /// # Errors
    /// Standard output is closed.
    pub(in crate::cli) async fn line(&self, line: Vec<u8>) -> Result<(), Closed> {
        self.place().await.map(|room| room.send(line))
    }
}

/// Room for one line.
pub(in crate::cli) struct Room<'o>(mpsc::Permit<'o, Vec<u8>>);

impl Room<'_> {
    /// Writes the line; its end is added.
    pub(in crate::cli) fn send(self, mut line: Vec<u8>) {
        line.push(b'\n');
        self.0.send(line);
    }
}

impl Written {
    /// Waits until everything has been written. All outputs must have been dropped.
    pub(in crate::cli) async fn wait(self) {
        // A writer that panicked has written what it could.
        let _ = tokio::task::spawn_blocking(move || drop(self.0.join())).await;
    }
}

/// Lines that wait for the reader of standard output, so that its own lines need not wait.
#[derive(Debug, Default)]
pub(in crate::cli) struct Waiting {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
}

/// How many lines wait before no more are made of a run.
const LONG: usize = 64;

/// How many lines wait, and of how many bytes, before the reader's own lines wait too.
const FULL: (usize, usize) = (100_000, 256 << 20);

impl Waiting {
    pub(in crate::cli) fn push(&mut self, line: Vec<u8>) {
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    pub(in crate::cli) fn pop(&mut self) -> Option<Vec<u8>> {
        let line = self.lines.pop_front()?;
        self.bytes -= line.len();
        Some(line)
    }

    pub(in crate::cli) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(in crate::cli) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether no more lines should be made of a run.
    pub(in crate::cli) fn is_long(&self) -> bool {
        self.lines.len() >= LONG
    }

    /// Whether no more lines can wait.
    pub(in crate::cli) fn is_full(&self) -> bool {
        let (lines, bytes) = FULL;
        self.lines.len() >= lines || self.bytes >= bytes
    }

    /// Writes what waits. A reader that has left gets nothing more.
    pub(in crate::cli) async fn flush(mut self, output: &Output) {
        while let Some(line) = self.pop() {
            if output.line(line).await.is_err() {
                break;
            }
        }
    }
}

fn write(mut output: impl Write, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = lines.blocking_recv() {
        let mut written = output.write_all(&line);
        while let Ok(more) = lines.try_recv() {
            written = written.and_then(|()| output.write_all(&more));
        }
        if let Err(error) = written.and_then(|()| output.flush()) {
            if error.kind() != ErrorKind::BrokenPipe {
                tracing::warn!(%error, "cannot write to standard output");
            }
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_bounded_by_lines_and_bytes() {
        let mut waiting = Waiting::default();
        for _ in 0..LONG {
            assert!(!waiting.is_long());
            waiting.push(vec![0]);
        }
        assert!(waiting.is_long() && !waiting.is_full());
        waiting.push(vec![0; FULL.1]);
        assert!(waiting.is_full());
        while waiting.pop().is_some() {}
        assert!(!waiting.is_full() && waiting.bytes == 0);
        (0..FULL.0).for_each(|_| waiting.push(Vec::new()));
        assert!(waiting.is_full());
    }

    #[test]
    fn lines_are_read_whole_and_one_that_is_too_long_is_reported() {
        let (sender, mut lines) = mpsc::channel(16);
        let mut text = b"{}\r\n\n  \n[1]\n".to_vec();
        text.extend(std::iter::repeat_n(b'x', LINE_BYTES + 1));
        text.extend(b"\nlast");
        read(&*text, &sender);
        let mut read = Vec::new();
        while let Ok(line) = lines.try_recv() {
            read.push(line);
        }
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(read, [whole("{}"), whole("[1]"), Line::TooLong(LINE_BYTES as u64 + 1), whole("last")]);
    }
}
