//! What a program says on its standard error: read to the end, told to the log within bounds.
//!
//! In: bytes. Out: log lines of target `framegate::stderr` at level debug, for they are the runner's words and may be anything;
//! the last of them. Never: a pipe that fills up, a line or a sum beyond the bounds, a control character in the log.

use tokio::io::{AsyncRead, AsyncReadExt};

/// The target of the log lines, to be asked for by `telemetry.filter`.
pub(super) const TARGET: &str = "framegate::stderr";

/// What was said on a standard error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stderr {
    /// How many bytes there were.
    pub(super) bytes: u64,
    /// The last line that was not empty, as far as lines are told.
    pub(super) last_line: String,
}

/// Reads it to its end; `bounds` are the longest line and how much is told, in bytes.
pub(super) async fn told(mut errors: impl AsyncRead + Unpin, bounds: (usize, usize)) -> Stderr {
    let mut lines = Lines::new(bounds);
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = errors.read(&mut chunk).await {
        lines.feed(chunk.get(..length).unwrap_or_default(), &mut tell);
    }
    lines.finish(&mut tell);
    if lines.told_bytes >= bounds.1 && lines.said.bytes > bounds.1 as u64 {
        let bytes = lines.said.bytes;
        tracing::debug!(target: TARGET, bytes, "the rest of the standard error is left out (upstream.stderr_bytes)");
    }
    lines.said
}

fn tell(line: &str) {
    tracing::debug!(target: TARGET, line = ?line, "standard error");
}

/// Lines, cut to their bound.
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

    fn feed(&mut self, bytes: &[u8], tell: &mut dyn FnMut(&str)) {
        self.said.bytes += bytes.len() as u64;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, is_whole) = piece.strip_suffix(b"\n").map_or((piece, false), |text| (text, true));
            let room = self.line_bytes.saturating_sub(self.line.len());
            self.line.extend_from_slice(text.get(..room.min(text.len())).unwrap_or_default());
            if is_whole {
                self.end_line(tell);
            }
        }
    }

    fn finish(&mut self, tell: &mut dyn FnMut(&str)) {
        self.end_line(tell);
    }

    fn end_line(&mut self, tell: &mut dyn FnMut(&str)) {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if text.is_empty() {
            return;
        }
        if self.told_bytes < self.all_bytes {
            self.told_bytes += text.len();
            tell(text);
        }
        text.clone_into(&mut self.said.last_line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(bounds: (usize, usize), chunks: &[&[u8]]) -> (Vec<String>, Stderr) {
        let (mut lines, mut told) = (Lines::new(bounds), Vec::new());
        let mut tell = |line: &str| told.push(line.to_owned());
        for chunk in chunks {
            lines.feed(chunk, &mut tell);
        }
        lines.finish(&mut tell);
        (told, lines.said)
    }

    #[test]
    fn lines_are_told_however_they_were_cut() {
        let (told, said) = fed((64, 1000), &[b"on", b"e\r\ntw", b"o\n\n", b"three"]);
        assert_eq!(told, ["one", "two", "three"]);
        assert_eq!(said, Stderr { bytes: 15, last_line: "three".to_owned() });
    }

    #[test]
    fn a_flood_is_cut_by_line_and_in_all() {
        let long = [b'x'; 100];
        let (told, said) = fed((10, 25), &[&long, b"\n", &long, b"\n", &long, b"\nlast \xFF\n"]);
        assert_eq!(told, ["xxxxxxxxxx"; 3]);
        assert_eq!(said.bytes, 310);
        assert_eq!(said.last_line, "last \u{FFFD}");
        assert_eq!(fed((10, 0), &[b"a\n"]).0, Vec::<String>::new());
    }
}
