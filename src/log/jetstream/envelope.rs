//! The content of a message: frames, one after the other.
//!
//! Input: frames, or the content of messages. Output: the other one. Never: a frame's stream or number, which are in the note.
//!
//! A frame is `TIME PARENT LENGTH CONTENT` and a line end: its time in Unix epoch milliseconds, its parent tool or `-`, and the
//! stored form of its content with its length in bytes. The content may have line ends of its own.

use framegate_translators::frame::stored::{read_content, write_content};
use framegate_translators::frame::{Frame, Stream};
use std::io::Write as _;
use std::sync::Arc;
use uuid::Uuid;

/// Appends a frame.
pub(super) fn write(frame: &Frame, out: &mut Vec<u8>) {
    let mut content = Vec::new();
    write_content(frame, &mut content);
    // Writing to memory cannot fail.
    let _ = match frame.parent_tool_id {
        Some(parent) => write!(out, "{} {} {} ", frame.timestamp_ms, parent.as_simple(), content.len()),
        None => write!(out, "{} - {} ", frame.timestamp_ms, content.len()),
    };
    out.extend_from_slice(&content);
    out.push(b'\n');
}

/// A frame that was not read yet.
pub(super) struct Packed<'a> {
    timestamp_ms: u64,
    parent_tool_id: Option<Uuid>,
    content: &'a [u8],
}

/// The next frame, which is removed from `rest`; `None` if there is none, or it is damaged.
pub(super) fn next<'a>(rest: &mut &'a [u8]) -> Option<Packed<'a>> {
    let mut words = rest.splitn(4, |byte| *byte == b' ');
    let mut word = || str::from_utf8(words.next()?).ok();
    let timestamp_ms = word()?.parse().ok()?;
    let parent_tool_id = match word()? {
        "-" => None,
        parent => Some(Uuid::try_parse(parent).ok()?),
    };
    let length: usize = word()?.parse().ok()?;
    let (content, behind) = words.next()?.split_at_checked(length)?;
    *rest = behind.strip_prefix(b"\n")?;
    Some(Packed { timestamp_ms, parent_tool_id, content })
}

impl Packed<'_> {
    /// Reads the frame; `None` if this version cannot.
    pub(super) fn frame(&self, stream: &Arc<Stream>, seq: u64) -> Option<Frame> {
        let (given_id, body) = read_content(self.content).ok()?;
        let Self { timestamp_ms, parent_tool_id, .. } = *self;
        Some(Frame { stream: stream.clone(), seq, timestamp_ms, parent_tool_id, given_id, body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::frame::stored::read_frame;
    use framegate_translators::runners::PROVIDERS;

    #[test]
    fn frames_are_read_back_as_they_were_and_nothing_from_a_cut_or_changed_message() {
        let lines = include_str!("../../../translators/tests/stored/v1.ndjson").lines();
        let frames: Vec<Frame> = lines.map(|line| read_frame(line.as_bytes(), PROVIDERS).unwrap()).collect();
        let mut written = Vec::new();
        frames.iter().for_each(|frame| write(frame, &mut written));
        let mut rest = &*written;
        for frame in &frames {
            let found = next(&mut rest).unwrap().frame(&frame.stream, frame.seq).unwrap();
            assert_eq!(format!("{found:?}"), format!("{frame:?}"));
        }
        assert!(rest.is_empty() && next(&mut rest).is_none());
        let one = &written[..written.iter().position(|byte| *byte == b'\n').unwrap() + 1];
        for end in 0..one.len() {
            assert!(next(&mut &one[..end]).is_none(), "{end}");
        }
        assert!(next(&mut &b"1 x 3 abc\n"[..]).is_none() && next(&mut &b"1 - 4 abc\n"[..]).is_none());
    }
}
