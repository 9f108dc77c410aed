//! Reads the standard error of a program to its end, and logs it within bounds.
//!
//! Input: bytes. Output: log lines with the target `framegate::stderr` at level debug, because they are the runner's text and
//! may contain anything; or the same bytes on the standard error of this process; and the last lines. Never: a pipe that
//! fills up; a line or a total beyond its bound; a control character in the log.

use std::collections::VecDeque;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

/// The target of the log lines, for `telemetry.filter`.
pub(super) const TARGET: &str = "framegate::stderr";

/// What a program wrote to its standard error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stderr {
    /// The total number of bytes.
    pub(super) bytes: u64,
    /// The last lines that were not empty, each cut to the line bound.
    pub(super) last_lines: VecDeque<String>,
}

/// How many of the last lines are kept.
const LAST_LINES: usize = 10;

/// Reads standard error to its end. `bounds` are the longest line and how much is logged, in bytes. With `relays`, the bytes
/// are passed on instead of logged.
pub(super) async fn collect(mut errors: impl AsyncRead + Unpin, bounds: (usize, usize), relays: bool) -> Stderr {
    let (mut silent, mut logging) = (|_: &str| {}, log_line);
    let report: &mut (dyn FnMut(&str) + Send) = if relays { &mut silent } else { &mut logging };
    let mut lines = Lines::new(bounds);
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = errors.read(&mut chunk).await {
        let said = chunk.get(..length).unwrap_or_default();
        if relays {
            let mut own = tokio::io::stderr();
            // Ignore errors: the program's output must be read even if this process's standard error is closed.
            let _ = own.write_all(said).await;
            let _ = own.flush().await;
        }
        lines.feed(said, report);
    }
    lines.finish(report);
    if !relays && lines.told_bytes >= bounds.1 && lines.said.bytes > bounds.1 as u64 {
        let bytes = lines.said.bytes;
        tracing::debug!(target: TARGET, bytes, "the rest of the standard error is not logged (upstream.stderr_bytes)");
    }
    lines.said
}

fn log_line(line: &str) {
    tracing::debug!(target: TARGET, line = ?line, "standard error");
}

/// Splits bytes into lines, cut to their bound.
struct Lines {
    line_bytes: usize,
    all_bytes: usize,
    told_bytes: usize,
    line: Vec<u8>,
    said: Stderr,
}

impl Lines {
    fn new((line_bytes, all_bytes): (usize, usize)) -> Self {
        Self { line_bytes, all_bytes, told_bytes: 0, line: Vec::new(), said: Stderr::default() }
    }

    fn feed(&mut self, bytes: &[u8], report: &mut dyn FnMut(&str)) {
        self.said.bytes += bytes.len() as u64;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, is_whole) = piece.strip_suffix(b"\n").map_or((piece, false), |text| (text, true));
            let room = self.line_bytes.saturating_sub(self.line.len());
            self.line.extend_from_slice(text.get(..room.min(text.len())).unwrap_or_default());
            if is_whole {
                self.end_line(report);
            }
        }
    }

    fn finish(&mut self, report: &mut dyn FnMut(&str)) {
        self.end_line(report);
    }

    fn end_line(&mut self, report: &mut dyn FnMut(&str)) {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if text.is_empty() {
            return;
        }
        if self.told_bytes < self.all_bytes {
            self.told_bytes += text.len();
            report(text);
        }
        if self.said.last_lines.len() == LAST_LINES {
            self.said.last_lines.pop_front();
        }
        self.said.last_lines.push_back(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(bounds: (usize, usize), chunks: &[&[u8]]) -> (Vec<String>, Stderr) {
        let (mut lines, mut logged) = (Lines::new(bounds), Vec::new());
        let mut log = |line: &str| logged.push(line.to_owned());
        for chunk in chunks {
            lines.feed(chunk, &mut log);
        }
        lines.finish(&mut log);
        (logged, lines.said)
    }

    #[test]
    fn lines_are_logged_whatever_the_chunking() {
        let (logged, said) = fed((64, 1000), &[b"on", b"e\r\ntw", b"o\n\n", b"three"]);
        assert_eq!(logged, ["one", "two", "three"]);
        assert_eq!((said.bytes, said.last_lines), (15, VecDeque::from(["one", "two", "three"].map(str::to_owned))));
        let many: String = (0..50).map(|nth| format!("{nth}\n")).collect();
        let (_, said) = fed((64, 1000), &[many.as_bytes()]);
        assert_eq!((said.last_lines.len(), &said.last_lines[0][..], &said.last_lines[9][..]), (10, "40", "49"));
    }

    #[test]
    fn a_flood_is_limited_per_line_and_in_total() {
        let long = [b'x'; 100];
        let (logged, said) = fed((10, 25), &[&long, b"\n", &long, b"\n", &long, b"\nlast \xFF\n"]);
        assert_eq!(logged, ["xxxxxxxxxx"; 3]);
        assert_eq!(said.bytes, 310);
        assert_eq!(said.last_lines.back().map(String::as_str), Some("last \u{FFFD}"));
        assert_eq!(fed((10, 0), &[b"a\n"]).0, Vec::<String>::new());
    }
}
