//! Runs as text for a terminal.
//!
//! Input: frames of any streams, in order; a width. Output: lines, each as soon as it is settled; on request the lines that are not
//! settled yet, and one line about what is going on. The lines depend only on the frames and the width, not on when they came. Never:
//! an escape sequence of a run; a line that is wider than the terminal, unless it has an address or a character that is; state that
//! grows with the number of frames.

mod cards;
mod prose;
mod summary;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use prose::options as markdown_options;
pub(crate) use summary::work;

use super::blocks::SegmentKind;
use super::console::{Console, LINES};
use super::conversation::{Activity, Conversation, Part, Speaker};
use super::figures::{counted, dollars, duration, short};
use super::style::{Colour, Line, Span, Style, write_line, write_spans};
use super::wrap::{Breaks, prefixed, shortened_line, wrap};
use crate::visible;
use cards::Card;
use framegate_translators::frame::{Body, Frame, StreamKind, is_last};
use std::collections::VecDeque;
use uuid::Uuid;

/// The narrowest and the widest line.
const COLUMNS: (usize, usize) = (20, 1000);

/// How many levels of subagents are indented. Deeper ones are marked with their depth.
const INDENTED: u32 = 6;

/// The greatest depth in such a mark.
const MARKED: u32 = 999;

/// How many streams are open at once. The one that began first is closed beyond that.
const STREAMS: usize = 256;

/// How many lines of text are shown before they are settled.
const PREVIEW_LINES: usize = 6;

/// How text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// The columns of a line.
    pub columns: usize,
    /// Whether colours are used.
    pub has_colour: bool,
    /// Whether each line begins with a label of its run.
    pub has_labels: bool,
}

/// A text of runs.
#[derive(Debug)]
pub struct Terminal {
    look: Look,
    streams: VecDeque<Open>,
    /// The last written card, for the blank lines between cards.
    last: Option<Last>,
}

#[derive(Debug)]
struct Open {
    kind: StreamKind,
    id: Uuid,
    conversation: Conversation,
}

#[derive(Debug)]
struct Last {
    stream: Uuid,
    speaker: Speaker,
    /// The group whose cards have no blank line between them; `None` for a card of its own.
    group: Option<cards::Group>,
}

/// What is not settled yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Lines without their ends.
    pub lines: Vec<String>,
    /// Their widths, in columns.
    pub widths: Vec<usize>,
}

impl Terminal {
    /// Text that looks like this.
    pub fn new(look: Look) -> Self {
        let (least, most) = COLUMNS;
        Self { look: Look { columns: look.columns.clamp(least, most), ..look }, streams: VecDeque::new(), last: None }
    }

    /// The terminal has another width. Lines that are written already stay.
    pub fn resize(&mut self, columns: usize) {
        let (least, most) = COLUMNS;
        self.look.columns = columns.clamp(least, most);
    }

    /// Takes the next frame, and appends the lines that it settles.
    pub fn frame(&mut self, frame: &Frame, out: &mut String) {
        // A record is described by the frames after it. Only streams with something else are opened.
        let (kind, id) = (frame.stream.kind, frame.stream.id);
        let at = self.streams.iter().rposition(|open| open.id == id && open.kind == kind);
        if at.is_none() && matches!(frame.body, Body::ProviderEvent(_)) {
            return;
        }
        let mut open = match at.and_then(|at| self.streams.remove(at)) {
            Some(open) => open,
            None => {
                if self.streams.len() >= STREAMS
                    && let Some(mut oldest) = self.streams.pop_front()
                {
                    self.close(&mut oldest, out);
                }
                self.begin(frame, out);
                Open { kind, id, conversation: Conversation::default() }
            }
        };
        let is_over = is_last(frame);
        open.conversation.frame(frame, &mut |speaker, part| self.part(id, speaker, part, out));
        if is_over {
            self.close(&mut open, out);
        } else {
            // The newest stream is the last one.
            self.streams.push_back(open);
        }
    }

    /// The input is over: appends everything that is held.
    pub fn finish(&mut self, out: &mut String) {
        while let Some(mut open) = self.streams.pop_front() {
            self.close(&mut open, out);
        }
    }

    /// Appends a line that is not from a run, such as a message of the program.
    pub fn message(&mut self, text: &str, out: &mut String) {
        // Messages may have colours of their own.
        let mut console = Console::default();
        console.feed(text);
        for line in console.last(LINES).0 {
            for line in wrap(&[Span::new(visible::text(line.trim_end()), Style::DIM)], self.look.columns, Breaks::Words)
            {
                write_line(&line, self.look.has_colour, out);
            }
        }
        self.last = None;
    }

    /// Whether no stream is open.
    pub fn is_idle(&self) -> bool {
        self.streams.is_empty()
    }

    /// What is not settled: the newest text, and what the newest run does. `elapsed_ms` is the time since its first frame. At most
    /// `rows` lines.
    pub fn live(&self, elapsed_ms: Option<u64>, rows: usize) -> Live {
        let mut lines = Vec::new();
        let newest = self.streams.iter().rfind(|open| open.kind == StreamKind::Session).or(self.streams.back());
        if let Some(open) = newest {
            let room = rows.saturating_sub(2).min(PREVIEW_LINES);
            lines.extend(self.preview(open, room));
            lines.push(self.status(open, elapsed_ms));
        }
        self.shown(&lines)
    }

    /// Lines as they are written to a terminal, none wider than it.
    fn shown(&self, lines: &[Line]) -> Live {
        let mut live = Live::default();
        for line in lines {
            // A terminal may break a line already when its last column is used.
            let line = shortened_line(line, self.look.columns.saturating_sub(1));
            let mut text = String::new();
            write_spans(&line, self.look.has_colour, &mut text);
            live.lines.push(text);
            live.widths.push(super::wrap::line_width(&line));
        }
        live
    }

    /// Lines of the program itself, as they are written to a terminal.
    pub fn plain(&self, lines: &[String]) -> Live {
        let style = Style::of(Colour::Yellow).bold();
        let line = |line: &String| {
            wrap(&[Span::new(visible::line(line), style)], self.look.columns.saturating_sub(1), Breaks::Words)
        };
        self.shown(&lines.iter().flat_map(line).collect::<Vec<_>>())
    }

    fn preview(&self, open: &Open, room: usize) -> Vec<Line> {
        let Some((speaker, kind, text)) = open.conversation.preview().filter(|(_, _, text)| !text.trim().is_empty())
        else {
            return Vec::new();
        };
        let gutter = self.gutter(open.id, &speaker);
        let columns = self.room(&gutter);
        let lines = match kind {
            SegmentKind::CodeLine => cards::code_line(&text, false, columns),
            _ => prose::lines(&text, columns),
        };
        let first = lines.len().saturating_sub(room);
        prefixed(lines.into_iter().skip(first).collect(), &gutter, &gutter)
    }

    fn status(&self, open: &Open, elapsed_ms: Option<u64>) -> Line {
        let mut parts = Vec::new();
        match open.conversation.activity() {
            Activity::Asking(question) => parts.push(format!("waits for an answer: {}", question.tool)),
            Activity::Tool(name, subject) => {
                let first = subject.lines().next().unwrap_or_default();
                let first = super::wrap::shortened(&visible::line(first), self.look.columns / 2);
                parts.push(format!("{} {first}", visible::line(&name)).trim().to_owned());
            }
            Activity::Writing => parts.push("writing".to_owned()),
            Activity::Thinking => parts.push("thinking".to_owned()),
            Activity::Waiting => parts.push("working".to_owned()),
        }
        let totals = open.conversation.totals();
        parts.push(duration(elapsed_ms.unwrap_or_else(|| totals.duration_ms()) / 1000 * 1000));
        if let Some(figures) = totals.figures() {
            let cached =
                figures.cache_read_tokens.unwrap_or_default() + figures.cache_creation_tokens.unwrap_or_default();
            parts.push(format!(
                "{} tokens in, {} out",
                short(figures.input_tokens.saturating_add(cached)),
                short(figures.output_tokens)
            ));
            parts.extend(figures.cost_usd.map(dollars));
        }
        if totals.calls > 0 {
            parts.push(counted(totals.calls, "tool"));
        }
        let others = self.streams.iter().filter(|open| open.kind == StreamKind::Session).count().saturating_sub(1);
        if others > 0 {
            parts.push(counted(others as u64, "other run"));
        }
        let text = visible::line(&parts.join(" · ")).into_owned();
        let run = if self.look.has_labels { format!("{} ", label(open.id)) } else { String::new() };
        vec![
            Span::new("● ", Style::of(Colour::Yellow)),
            Span::new(run, self.colour_of(open.id)),
            Span::new(text, Style::DIM),
        ]
    }

    /// The first line about a run, if there are several.
    fn begin(&mut self, frame: &Frame, out: &mut String) {
        if !self.look.has_labels || frame.stream.kind != StreamKind::Session {
            return;
        }
        let runner = frame.stream.provider.title;
        let runner = if runner.is_empty() { String::new() } else { format!(" {runner}") };
        let text = format!("── run {}{runner}", frame.stream.id);
        let (id, main) = (frame.stream.id, Speaker::default());
        let line = [Span::new(visible::line(&text), self.colour_of(id).bold())];
        let card = Card::new(vec![shortened_line(&line, self.room(&self.gutter(id, &main)))]);
        self.card(id, &main, card, out);
    }

    fn close(&mut self, open: &mut Open, out: &mut String) {
        let id = open.id;
        open.conversation.finish(&mut |speaker, part| self.part(id, speaker, part, out));
    }

    fn part(&mut self, stream: Uuid, speaker: &Speaker, part: Part<'_>, out: &mut String) {
        let columns = self.room(&self.gutter(stream, speaker));
        let card = match part {
            Part::Ended { end, totals } => Some(summary::card(end, totals, columns)),
            part => cards::card(speaker, part, columns),
        };
        if let Some(card) = card {
            self.card(stream, speaker, card, out);
        }
    }

    /// Writes a card, with a blank line before it unless it goes on with the last one.
    fn card(&mut self, stream: Uuid, speaker: &Speaker, card: Card, out: &mut String) {
        let gutter = self.gutter(stream, speaker);
        let last = self.last.take();
        let has_same_speaker = last.as_ref().is_some_and(|last| last.stream == stream && last.speaker == *speaker);
        let is_continued = has_same_speaker
            && card.is_tight
            && card.group.is_some()
            && last.as_ref().is_some_and(|last| last.group == card.group);
        if last.is_some() && !is_continued {
            // The line that two agents have in common goes on.
            let shared = last.filter(|last| last.stream == stream && last.speaker.depth < speaker.depth);
            let gutter = shared.map_or_else(|| gutter.clone(), |last| self.gutter(stream, &last.speaker));
            write_line(&gutter, self.look.has_colour, out);
        }
        let is_new = !has_same_speaker && speaker.depth > 0 && !card.names_speaker;
        let name = is_new.then(|| {
            let name = Span::new(format!("{}:", visible::line(&speaker.name)), Style::of(Colour::Blue));
            shortened_line(&[name], self.room(&gutter))
        });
        for line in name.into_iter().chain(card.lines) {
            let mut whole = gutter.clone();
            whole.extend(line);
            write_line(&whole, self.look.has_colour, out);
        }
        self.last = Some(Last { stream, speaker: speaker.clone(), group: card.group });
    }

    /// What is before each line: the label of the run, and a bar for each level of subagents.
    fn gutter(&self, stream: Uuid, speaker: &Speaker) -> Line {
        let mut line = Line::new();
        if self.look.has_labels {
            line.push(Span::new(format!("{} ", label(stream)), self.colour_of(stream)));
        }
        // Half of the line at least is for text.
        let room = (self.look.columns / 2).saturating_sub(super::wrap::line_width(&line)) / 2;
        let indented = INDENTED.min(u32::try_from(room).unwrap_or(INDENTED));
        let depth = speaker.depth.min(indented);
        if depth > 0 {
            line.push(Span::new("│ ".repeat(depth as usize), Style::DIM));
        }
        if speaker.depth > indented {
            let depth = if speaker.depth > MARKED { format!("{MARKED}+") } else { speaker.depth.to_string() };
            line.push(Span::new(format!("[{depth}] "), Style::DIM));
        }
        line
    }

    fn room(&self, gutter: &[Span]) -> usize {
        self.look.columns.saturating_sub(super::wrap::line_width(gutter)).max(1)
    }

    fn colour_of(&self, stream: Uuid) -> Style {
        let colours = [Colour::Cyan, Colour::Magenta, Colour::Blue, Colour::Green, Colour::Yellow];
        let at = usize::from(stream.as_bytes().last().copied().unwrap_or_default()) % colours.len();
        colours.get(at).copied().map_or(Style::PLAIN, Style::of)
    }
}

/// The short label of a run: the last six digits of its id.
pub fn label(run: Uuid) -> String {
    let id = run.simple().to_string();
    id.get(26..).unwrap_or_default().to_owned()
}
