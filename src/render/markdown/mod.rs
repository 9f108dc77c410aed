//! Runs as a Markdown document.
//!
//! Input: frames of any streams, in order. Output: Markdown, each block as soon as it is settled: headings, the texts, tools and
//! reasoning that unfold, diffs, the plan, questions and answers, a table of what was used. Subagents are quoted. Never: HTML of a run,
//! which is shown as text; a fence that its content could close; state that grows with the number of frames.

mod blocks;
mod inert;
#[cfg(test)]
mod tests;

use super::blocks::{Segment, SegmentKind};
use super::conversation::{Conversation, Part, Speaker};
use framegate_translators::frame::{Body, Frame, StreamKind, is_last};
use std::borrow::Borrow;
use std::collections::VecDeque;
use std::io::{self, Write};
use uuid::Uuid;

/// How many streams are open at once. The one that began first is closed beyond that.
const STREAMS: usize = 256;

/// How many levels of quotes there are at most. Deeper subagents are marked with their depth.
const QUOTED: u32 = 6;

/// The longest fenced code, in bytes. Longer code is in several fences.
const CODE_BYTES: usize = 64 << 10;

/// How much is written at once, in bytes.
const WRITTEN_BYTES: usize = 64 << 10;

/// Writes a document of these frames.
///
/// # Errors
/// The output's error.
pub fn write<F: Borrow<Frame>>(frames: impl IntoIterator<Item = F>, out: &mut dyn Write) -> io::Result<()> {
    let (mut document, mut text) = (Document::default(), String::new());
    for frame in frames {
        document.frame(frame.borrow(), &mut text);
        if text.len() >= WRITTEN_BYTES {
            out.write_all(text.as_bytes())?;
            text.clear();
        }
    }
    document.finish(&mut text);
    out.write_all(text.as_bytes())
}

/// A document that is being written.
#[derive(Debug, Default)]
pub struct Document {
    streams: VecDeque<Open>,
    page: Page,
}

#[derive(Debug)]
struct Open {
    kind: StreamKind,
    id: Uuid,
    conversation: Conversation,
    /// Fenced code without an end, by the number of its block.
    code: Vec<(u64, Code)>,
}

#[derive(Debug, Default)]
struct Code {
    word: String,
    lines: String,
}

/// What was written last.
#[derive(Debug, Default)]
struct Page {
    has_begun: bool,
    stream: Option<Uuid>,
    speaker: Speaker,
    /// The kind of block whose neighbours have no blank line between them.
    group: Option<Group>,
    /// The heading that the blocks are below.
    section: Option<Section>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Items(u64),
    Calls,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Prompt,
    Agent,
    Summary,
}

impl Document {
    /// Takes the next frame, and appends the blocks that it settles.
    pub fn frame(&mut self, frame: &Frame, out: &mut String) {
        let (kind, id) = (frame.stream.kind, frame.stream.id);
        let at = self.streams.iter().rposition(|open| open.id == id && open.kind == kind);
        // A record is described by the frames after it.
        if at.is_none() && matches!(frame.body, Body::ProviderEvent(_)) {
            return;
        }
        let mut open = match at.and_then(|at| self.streams.remove(at)) {
            Some(open) => open,
            None => {
                if self.streams.len() >= STREAMS
                    && let Some(mut oldest) = self.streams.pop_front()
                {
                    self.page.close(&mut oldest, out);
                }
                if kind == StreamKind::Session {
                    self.page.title(frame, out);
                }
                Open { kind, id, conversation: Conversation::default(), code: Vec::new() }
            }
        };
        let Open { conversation, code, .. } = &mut open;
        conversation.frame(frame, &mut |speaker, part| self.page.part(id, code, speaker, part, out));
        if is_last(frame) {
            self.page.close(&mut open, out);
        } else {
            self.streams.push_back(open);
        }
    }

    /// There are no more frames: appends everything that is held.
    pub fn finish(&mut self, out: &mut String) {
        while let Some(mut open) = self.streams.pop_front() {
            self.page.close(&mut open, out);
        }
    }
}

impl Page {
    fn close(&mut self, open: &mut Open, out: &mut String) {
        let id = open.id;
        let Open { conversation, code, .. } = open;
        conversation.finish(&mut |speaker, part| self.part(id, code, speaker, part, out));
    }

    fn title(&mut self, frame: &Frame, out: &mut String) {
        let runner = inert::plain(frame.stream.provider.title);
        let title = if runner.is_empty() { "Run".to_owned() } else { runner };
        let session = match &*frame.stream.session.name {
            "" => String::new(),
            name => format!(" of session {}", inert::code(name)),
        };
        self.section = None;
        self.block(
            frame.stream.id,
            &Speaker::default(),
            &format!("# {title}\n\nRun `{}`{session}", frame.stream.id),
            None,
            out,
        );
    }

    fn part(&mut self, stream: Uuid, code: &mut Vec<(u64, Code)>, speaker: &Speaker, part: Part<'_>, out: &mut String) {
        let section = match &part {
            Part::Prompt { .. } => Section::Prompt,
            Part::Ended { .. } => Section::Summary,
            _ => Section::Agent,
        };
        if speaker.depth == 0 && (self.section != Some(section) || self.stream != Some(stream)) {
            let heading = match section {
                Section::Prompt => "## Prompt",
                Section::Agent => "## Agent",
                Section::Summary => "## Summary",
            };
            self.block(stream, speaker, heading, None, out);
            self.section = Some(section);
        }
        match part {
            Part::Prose { block, segment } => self.prose(stream, code, speaker, block, segment, out),
            part => {
                for (text, group) in blocks::of(speaker, part) {
                    self.block(stream, speaker, &text, group, out);
                }
            }
        }
    }

    fn prose(
        &mut self,
        stream: Uuid,
        open: &mut Vec<(u64, Code)>,
        speaker: &Speaker,
        block: u64,
        segment: Segment,
        out: &mut String,
    ) {
        let at = open.iter().position(|(number, _)| *number == block);
        match segment.kind {
            SegmentKind::CodeStart => open.push((block, Code { word: segment.text, lines: String::new() })),
            SegmentKind::CodeLine => {
                let Some((_, code)) = at.and_then(|at| open.get_mut(at)) else { return };
                if !code.lines.is_empty() && code.lines.len() + segment.text.len() > CODE_BYTES {
                    let lines = std::mem::take(&mut code.lines);
                    let text = inert::fenced(code.word.split_whitespace().next().unwrap_or_default(), &lines);
                    self.block(stream, speaker, &text, None, out);
                }
                code.lines.push_str(&segment.text);
                code.lines.push('\n');
            }
            SegmentKind::CodeEnd => {
                let Some(at) = at else { return };
                let (_, code) = open.remove(at);
                let text = inert::fenced(code.word.split_whitespace().next().unwrap_or_default(), &code.lines);
                self.block(stream, speaker, &text, None, out);
            }
            SegmentKind::Item if !segment.is_spaced => {
                let text = inert::segment(&segment.text, segment.kind);
                self.block(stream, speaker, &text, Some(Group::Items(block)), out);
            }
            SegmentKind::Blocks | SegmentKind::Item | SegmentKind::Cut => {
                let group = (segment.kind == SegmentKind::Item).then_some(Group::Items(block));
                // A blank line makes a new block of it.
                self.group = None;
                self.block(stream, speaker, &inert::segment(&segment.text, segment.kind), group, out);
            }
        }
    }

    /// Writes a block, quoted as deep as its speaker is.
    fn block(&mut self, stream: Uuid, speaker: &Speaker, text: &str, group: Option<Group>, out: &mut String) {
        let is_same = self.stream == Some(stream) && self.speaker == *speaker;
        let quote = "> ".repeat(speaker.depth.min(QUOTED) as usize);
        if self.has_begun && !(is_same && group.is_some() && self.group == group) {
            // A quote that goes on is one quote.
            let shared = if is_same { quote.trim_end() } else { "" };
            out.push_str(shared);
            out.push('\n');
        }
        if !is_same && speaker.depth > 0 {
            let depth = if speaker.depth > QUOTED { format!(" (level {})", speaker.depth) } else { String::new() };
            out.push_str(&format!("{quote}**{}**{depth}\n{}\n", inert::plain(&speaker.name), quote.trim_end()));
        }
        for line in text.split('\n') {
            out.push_str(format!("{quote}{line}").trim_end_matches(' '));
            out.push('\n');
        }
        self.has_begun = true;
        (self.stream, self.speaker, self.group) = (Some(stream), speaker.clone(), group);
    }
}
