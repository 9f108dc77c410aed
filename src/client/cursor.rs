//! Tracks what an event feed says about resuming it: the id of the last event, and the time to wait.
//!
//! Input: the feed's bytes, in chunks of any size. Output: `Last-Event-ID`, and the last `retry:`. Never: the id of an
//! incomplete event; an id that is not a valid header value; more memory than one short line.

use hyper::header::HeaderValue;
use std::time::Duration;

/// The longest line that is examined, in bytes. Longer ids and times are ignored.
const LONGEST: usize = 512;

/// The position in one feed.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    line: Vec<u8>,
    /// Whether the line exceeds what is examined.
    is_long: bool,
    after_cr: bool,
    /// The id of the event being read; `None` if it has none so far.
    coming: Option<HeaderValue>,
    last: Option<HeaderValue>,
    retry: Option<Duration>,
}

impl Cursor {
    /// The id of the last complete event that had one.
    pub(crate) fn last_event_id(&self) -> Option<&HeaderValue> {
        self.last.as_ref()
    }

    /// How long the feed asks clients to wait before a reconnect; `None` if it has not said.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Discards an incomplete event after a loss of the connection.
    pub(crate) fn lost(&mut self) {
        self.line.clear();
        (self.is_long, self.after_cr, self.coming) = (false, false, None);
    }

    /// Reads the next bytes.
    pub(crate) fn feed(&mut self, chunk: &[u8]) {
        for &byte in chunk {
            let is_second = byte == b'\n' && std::mem::take(&mut self.after_cr);
            match byte {
                _ if is_second => {}
                b'\r' | b'\n' => {
                    self.after_cr = byte == b'\r';
                    self.line_ends();
                }
                _ if self.is_long => {}
                _ => {
                    self.after_cr = false;
                    self.line.push(byte);
                    // The beginning of a line shows whether the rest matters.
                    self.is_long = self.line.len() > LONGEST || (self.line.len() == 6 && !matters(&self.line));
                }
            }
        }
    }

    fn line_ends(&mut self) {
        let (line, is_long) = (std::mem::take(&mut self.line), std::mem::take(&mut self.is_long));
        if line.is_empty() {
            if let Some(id) = self.coming.take() {
                self.last = Some(id).filter(|id| !id.is_empty());
            }
        } else if !is_long {
            let text = String::from_utf8_lossy(&line);
            let (field, value) = text.split_once(':').unwrap_or((&text, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "id" if !value.contains('\0') => self.coming = HeaderValue::from_str(value).ok().or(self.coming.take()),
                "retry" => self.retry = value.parse().ok().map(Duration::from_millis).or(self.retry),
                _ => {}
            }
        }
        self.line = line;
        self.line.clear();
    }
}

/// Whether a line that begins like this may be an `id` or a `retry` field.
fn matters(front: &[u8]) -> bool {
    front.starts_with(b"id:") || front.starts_with(b"retry:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, piece: usize) -> (Option<String>, Option<u64>) {
        let mut cursor = Cursor::default();
        text.as_bytes().chunks(piece).for_each(|chunk| cursor.feed(chunk));
        let id = cursor.last_event_id().map(|id| id.to_str().unwrap().to_owned());
        (id, cursor.retry().map(|retry| u64::try_from(retry.as_millis()).unwrap()))
    }

    #[test]
    fn the_last_complete_event_counts_whatever_the_chunking() {
        let long = format!("id: {}\ndata: 1\n\n", "x".repeat(600));
        for (text, id, retry) in [
            ("data: 1\n\n", None, None),
            ("id: 7\ndata: 1\n\n", Some("7"), None),
            ("id:7\r\ndata: 1\r\n\r\nid: 8\r\ndata: half", Some("7"), None),
            ("id: 7\r\rid: 8\r\r", Some("8"), None),
            ("id: 7\n\ndata: 1\n\n", Some("7"), None),
            ("id: 7\n\nid\n\n", None, None),
            ("retry: 250\nid: a b\n\n", Some("a b"), Some(250)),
            ("retry: soon\nretry: 9\nretry: x\n\n", None, Some(9)),
            ("id: 7\n\nid: \u{0}\n\n", Some("7"), None),
            ("idea: 7\n\nids\n\n", None, None),
            (&*long, None, None),
        ] {
            for piece in 1..=text.len() {
                assert_eq!(read(text, piece), (id.map(str::to_owned), retry), "{text:?} by {piece}");
            }
        }
    }

    #[test]
    fn an_event_cut_off_by_a_lost_connection_does_not_count() {
        let mut cursor = Cursor::default();
        cursor.feed(b"id: 1\n\nid: 2\ndata: ha");
        cursor.lost();
        cursor.feed(b"data: 1\n\n");
        assert_eq!(cursor.last_event_id().unwrap(), "1");
    }
}
