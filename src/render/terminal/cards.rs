//! Each part of a conversation as a few lines.
//!
//! Input: a part and the columns that there are. Output: lines, and how they go together with the lines before. What is left out is
//! announced. Never: more lines of a tool or a prompt than the bounds below.

use super::prose::{self, code_style};
use crate::render::blocks::{Segment, SegmentKind};
use crate::render::console::Console;
use crate::render::conversation::{Call, Outcome, Part, Speaker};
use crate::render::describe::{Change, Question};
use crate::render::figures::{bytes, counted, duration, grouped};
use crate::render::style::{Colour, Line, Span, Style};
use crate::render::wrap::{Breaks, prefixed, shortened_line, width, wrap};
use crate::visible;
use framegate_translators::frame::{
    ApprovalResolved, Attachment, Decision, ErrorReported, FileChangeKind, LogLevel, PlanEntry, ToolKind,
};

/// How many lines are shown of a prompt, of a subagent's prompt, of reasoning, of a command, of a message.
const PROMPT_LINES: usize = 20;
const TASK_LINES: usize = 3;
const THOUGHT_LINES: usize = 3;
const COMMAND_LINES: usize = 8;
const MESSAGE_LINES: usize = 8;

/// How many of the last lines of a command's output are shown, and of one that failed.
const OUTPUT_LINES: usize = 6;
const FAILED_OUTPUT_LINES: usize = 20;

/// How many lines of a diff, and how many entries of a plan are shown.
const DIFF_LINES: usize = 60;
const PLAN_ENTRIES: usize = 50;

/// How much of a text is looked at before it is wrapped, in bytes.
const TEXT_BYTES: usize = 16 << 10;

/// Cards of a group have no blank line between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// Calls on one line.
    Calls,
    /// A text.
    Text(u64),
    /// Questions and their answers.
    Questions,
}

/// The lines of a part.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) lines: Vec<Line>,
    pub(super) group: Option<Group>,
    /// It follows a card of its group without a blank line.
    pub(super) is_tight: bool,
    /// It has the name of its speaker.
    pub(super) names_speaker: bool,
}

impl Card {
    pub(super) fn new(lines: Vec<Line>) -> Self {
        Self { lines, group: None, is_tight: false, names_speaker: false }
    }

    fn in_group(self, group: Group) -> Self {
        Self { group: Some(group), is_tight: true, ..self }
    }
}

/// The card of a part; `None` for a part without lines.
pub(super) fn card(speaker: &Speaker, part: Part<'_>, columns: usize) -> Option<Card> {
    Some(match part {
        Part::Prompt { text, attachments } => prompt(speaker, text, attachments, columns),
        Part::Prose { block, segment } => return text(block, &segment, columns),
        Part::Thought { text, chars } => thought(text, chars, columns),
        Part::Call(shown) => call(&shown, columns),
        Part::Changed(change) => Card::new(changed(&change, columns)),
        Part::Plan(entries) => plan(entries, columns),
        Part::Asked(question) => asked(question, columns),
        Part::Decided { question, answer } => decided(question.as_ref(), answer, columns),
        Part::Error(error) => Card::new(failure(error, columns)),
        Part::Notice { level, text } => notice(level, &text, columns),
        Part::Gap(text) => Card::new(marked("⚠ ", &text, Style::of(Colour::Yellow), columns, MESSAGE_LINES)),
        Part::SubagentStarted { task } => {
            let task = task.map(|task| format!(": {task}")).unwrap_or_default();
            let text = format!("{}{task}", speaker.name);
            let lines = marked("▶ ", &text, Style::of(Colour::Blue).bold(), columns, TASK_LINES);
            Card { names_speaker: true, ..Card::new(lines) }
        }
        Part::SubagentEnded { status, summary } => {
            let summary = summary.filter(|text| !text.trim().is_empty()).map(|text| format!(": {text}"));
            let text = format!("{} {status}{}", speaker.name, summary.unwrap_or_default());
            let lines = marked("■ ", &text, Style::of(Colour::Blue), columns, TASK_LINES);
            Card { names_speaker: true, ..Card::new(lines) }
        }
        Part::Ended { .. } => return None,
    })
}

/// At most `most` lines of a text, and a line about the rest.
fn lines_of(text: &str, style: Style, columns: usize, most: usize) -> Vec<Line> {
    let text = text.trim_end();
    let end = text.floor_char_boundary(TEXT_BYTES);
    let (head, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let mut lines = wrap(&[Span::new(visible::text(head), style)], columns, Breaks::Words);
    let more = lines.len().saturating_sub(most);
    if more > 0 || !rest.is_empty() {
        lines.truncate(most);
        let left_out = match rest.len() {
            0 => format!("… {}", counted(more as u64, "more line")),
            _ => format!("… {} more", bytes((text.len() - head.len()) as u64)),
        };
        lines.extend(wrap(&[Span::new(left_out, Style::DIM)], columns, Breaks::Words));
    }
    lines
}

/// The same after a mark.
fn marked(mark: &str, text: &str, style: Style, columns: usize, most: usize) -> Vec<Line> {
    let indent = " ".repeat(width(mark));
    let lines = lines_of(text, style, columns.saturating_sub(width(mark)).max(1), most);
    prefixed(lines, &[Span::new(mark, Style { is_italic: false, ..style })], &[Span::new(indent, Style::PLAIN)])
}

/// A line about what is left out.
fn left_out(text: &str, columns: usize) -> Line {
    shortened_line(&[Span::new(text, Style::DIM)], columns)
}

fn prompt(speaker: &Speaker, text: &str, attachments: &[Attachment], columns: usize) -> Card {
    let most = if speaker.depth == 0 { PROMPT_LINES } else { TASK_LINES };
    let mut lines = if text.trim().is_empty() {
        Vec::new()
    } else {
        marked("> ", text, Style::of(Colour::Cyan).bold(), columns, most)
    };
    for attachment in attachments {
        let name = attachment.name.as_deref().or(attachment.mime.as_deref()).unwrap_or_default();
        let size = attachment.bytes.map(|count| format!(", {}", bytes(count))).unwrap_or_default();
        let text = visible::line(&format!("[{} {name}{size}]", attachment.kind)).into_owned();
        lines.extend(marked("> ", &text, Style::DIM, columns, 1));
    }
    Card::new(lines)
}

fn text(block: u64, segment: &Segment, columns: usize) -> Option<Card> {
    let (lines, is_tight) = match segment.kind {
        SegmentKind::Blocks => (prose::lines(&segment.text, columns), false),
        SegmentKind::Item => (prose::lines(&segment.text, columns), !segment.is_spaced),
        SegmentKind::Cut => (prose::lines(&segment.text, columns), true),
        SegmentKind::CodeStart if segment.text.is_empty() => (Vec::new(), false),
        SegmentKind::CodeStart => {
            let word = visible::line(&segment.text).into_owned();
            (vec![shortened_line(&[Span::new(format!("  {word}"), Style::DIM)], columns)], false)
        }
        SegmentKind::CodeLine => (code_line(&segment.text, false, columns), true),
        SegmentKind::CodeEnd => return None,
    };
    Some(Card { is_tight, ..Card::new(lines).in_group(Group::Text(block)) })
}

/// A line of code.
pub(super) fn code_line(code: &str, is_diff: bool, columns: usize) -> Vec<Line> {
    let indent = [Span::new("  ", Style::PLAIN)];
    let span = Span::new(visible::text(code), code_style(code, is_diff));
    prefixed(wrap(&[span], columns.saturating_sub(2).max(1), Breaks::Anywhere), &indent, &indent)
}

fn thought(text: &str, chars: u64, columns: usize) -> Card {
    let style = Style { is_italic: true, ..Style::DIM };
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let held = text.chars().count() as u64;
    let mut lines = marked("✻ ", &joined, style, columns, THOUGHT_LINES);
    if lines.len() > THOUGHT_LINES || held < chars {
        lines.truncate(THOUGHT_LINES);
        let rest = format!("  … {} characters of reasoning", grouped(chars));
        lines.push(shortened_line(&[Span::new(rest, Style::DIM)], columns));
    }
    Card::new(lines)
}

fn call(call: &Call, columns: usize) -> Card {
    match call.kind {
        ToolKind::Shell => Card::new(shell(call, columns)),
        ToolKind::Edit | ToolKind::Write if !call.changes.is_empty() => Card::new(edit(call, columns)),
        _ => {
            let (line, more) = one_line(call, columns);
            let card = Card::new([vec![line], more].concat());
            Card { group: Some(Group::Calls), is_tight: true, ..card }
        }
    }
}

/// How a call ended, in a few words.
fn outcome(call: &Call) -> (String, Style) {
    match &call.outcome {
        Outcome::Ended { exit_code: 0, duration_ms } => (duration(*duration_ms), Style::DIM),
        Outcome::Ended { exit_code, duration_ms } if call.kind == ToolKind::Shell => {
            (format!("exit {exit_code} · {}", duration(*duration_ms)), Style::of(Colour::Red))
        }
        Outcome::Ended { duration_ms, .. } => (format!("failed · {}", duration(*duration_ms)), Style::of(Colour::Red)),
        Outcome::Failed(_) => ("did not run to its end".to_owned(), Style::of(Colour::Red)),
        Outcome::Proposed => ("proposed; the client runs it".to_owned(), Style::DIM),
        Outcome::Open => ("no end was reported".to_owned(), Style::of(Colour::Yellow)),
    }
}

fn error_of(call: &Call) -> Option<&str> {
    match &call.outcome {
        Outcome::Failed(error) => Some(error.as_str()).filter(|error| !error.trim().is_empty()),
        _ => None,
    }
}

fn indented(lines: Vec<Line>) -> Vec<Line> {
    let indent = [Span::new("  ", Style::PLAIN)];
    prefixed(lines, &indent, &indent)
}

fn shell(call: &Call, columns: usize) -> Vec<Line> {
    let room = columns.saturating_sub(2).max(1);
    let command = if call.subject.is_empty() { &*call.name } else { call.subject.as_str() };
    let mut lines = marked("$ ", command, Style::BOLD, columns, COMMAND_LINES);
    lines.extend(output(&call.output, call.stored_bytes, call.outcome.is_failure(), room));
    if let Some(error) = error_of(call) {
        lines.extend(indented(lines_of(error, Style::of(Colour::Red), room, MESSAGE_LINES)));
    }
    let (text, style) = match &call.outcome {
        Outcome::Ended { exit_code: 0, duration_ms } => (format!("exit 0 · {}", duration(*duration_ms)), Style::DIM),
        _ => outcome(call),
    };
    lines.extend(indented(wrap(&[Span::new(text, style)], room, Breaks::Words)));
    lines
}

/// The last lines of an output.
fn output(console: &Console, stored_bytes: Option<u64>, has_failed: bool, room: usize) -> Vec<Line> {
    let (last, earlier) = console.last(if has_failed { FAILED_OUTPUT_LINES } else { OUTPUT_LINES });
    let mut lines = Vec::new();
    if earlier > 0 {
        let text = format!("… {} before", counted(earlier, "line"));
        lines.extend(wrap(&[Span::new(text, Style::DIM)], room, Breaks::Words));
    }
    for line in last {
        lines.extend(wrap(&[Span::new(visible::text(&line), Style::DIM)], room, Breaks::Anywhere));
    }
    if let Some(count) = stored_bytes {
        let text = format!("… this is only the beginning of {}, which are stored as an artifact", bytes(count));
        lines.extend(wrap(&[Span::new(text, Style::DIM)], room, Breaks::Words));
    }
    indented(lines)
}

fn edit(call: &Call, columns: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = call.changes.iter().flat_map(|change| changed(change, columns)).collect();
    let mut more = Vec::new();
    if call.more_changes > 0 {
        more.push(Span::new(format!("… {}", counted(call.more_changes, "more file")), Style::DIM));
    }
    if call.outcome.is_failure() || matches!(call.outcome, Outcome::Open) {
        let (text, style) = outcome(call);
        more.push(Span::new(text, style));
    }
    let room = columns.saturating_sub(2).max(1);
    lines.extend(indented(more.into_iter().flat_map(|span| wrap(&[span], room, Breaks::Words)).collect()));
    if let Some(error) = error_of(call) {
        lines.extend(indented(lines_of(error, Style::of(Colour::Red), room, MESSAGE_LINES)));
    }
    lines
}

/// The path and the diff of a change.
fn changed(change: &Change, columns: usize) -> Vec<Line> {
    let diff = change.diff.as_deref().unwrap_or_default();
    let is_body = |line: &&str| {
        !line.starts_with("---")
            && !line.starts_with("+++")
            && !line.starts_with("diff ")
            && !line.starts_with("index ")
    };
    let count = |mark: char| diff.lines().filter(is_body).filter(|line| line.starts_with(mark)).count();
    let (added, removed) = (count('+'), count('-'));
    let word = match change.kind {
        FileChangeKind::Add => " (new)",
        FileChangeKind::Delete => " (deleted)",
        FileChangeKind::Move => " (moved)",
        FileChangeKind::Modify => "",
    };
    let mut head = vec![
        Span::new("✎ ", Style::BOLD),
        Span::new(visible::line(&change.path), Style::BOLD),
        Span::new(word, Style::PLAIN),
    ];
    if change.diff.is_some() {
        head.push(Span::new(format!("  +{added}"), Style::of(Colour::Green)));
        head.push(Span::new(format!(" -{removed}"), Style::of(Colour::Red)));
    }
    let mut lines = prefixed(wrap(&head, columns, Breaks::Words), &[], &[]);
    let body: Vec<&str> = diff.lines().filter(is_body).collect();
    for line in body.iter().take(DIFF_LINES) {
        lines.extend(code_line(line, true, columns));
    }
    let mut left_out = Vec::new();
    if body.len() > DIFF_LINES {
        left_out.push(counted((body.len() - DIFF_LINES) as u64, "more line"));
    }
    if change.left_out > 0 {
        left_out.push(bytes(change.left_out));
    }
    if !left_out.is_empty() {
        let text = format!("… {} of the diff", left_out.join(" and "));
        lines.extend(indented(wrap(&[Span::new(text, Style::DIM)], columns.saturating_sub(2).max(1), Breaks::Words)));
    }
    lines
}

/// A call on one line, and lines about its failure.
fn one_line(call: &Call, columns: usize) -> (Line, Vec<Line>) {
    let name = if call.name.trim().is_empty() { "tool".into() } else { visible::line(&call.name) };
    let subject = visible::line(call.subject.trim());
    let (text, style) = outcome(call);
    let count = call.output.count();
    let result = match &call.outcome {
        Outcome::Ended { exit_code: 0, .. } if count > 0 && !call.output.is_blank() => result(call, count),
        _ => String::new(),
    };
    let end = format!("{result} · {text}");
    let mark = if call.outcome.is_failure() { Style::of(Colour::Red) } else { Style::of(Colour::Green) };
    let mut line = vec![Span::new("• ", mark), Span::new(name, Style::BOLD)];
    if !subject.is_empty() {
        line.push(Span::new(" ", Style::PLAIN));
        line.push(Span::new(subject, Style::PLAIN));
    }
    // The end stays whole if there is room for it.
    let room = columns.saturating_sub(width(&end));
    let mut line = shortened_line(&line, if room >= 12 { room } else { columns });
    line.push(Span::new(end, style));
    let line = shortened_line(&line, columns);
    let room = columns.saturating_sub(2).max(1);
    let more = match (error_of(call), &call.outcome) {
        (Some(error), _) => indented(lines_of(error, Style::of(Colour::Red), room, MESSAGE_LINES)),
        (None, Outcome::Ended { exit_code, .. }) if *exit_code != 0 => {
            output(&call.output, call.stored_bytes, false, room)
        }
        _ => Vec::new(),
    };
    (line, more)
}

/// The result of a call in a few words: the text if it is short, otherwise its size.
fn result(call: &Call, count: u64) -> String {
    let (lines, _) = call.output.last(1);
    let first = lines.first().map(|line| visible::line(line.trim()).into_owned()).unwrap_or_default();
    let is_shown = matches!(call.kind, ToolKind::Mcp | ToolKind::Other | ToolKind::Subagent);
    match (call.stored_bytes, is_shown && count == 1 && width(&first) <= 40) {
        (Some(size), _) => format!(" · {}", bytes(size)),
        (None, true) => format!(" → {first}"),
        (None, false) => format!(" · {}", counted(count, "line")),
    }
}

fn plan(entries: &[PlanEntry], columns: usize) -> Card {
    let mut lines = vec![vec![Span::new("☰ Plan", Style::BOLD)]];
    for entry in entries.iter().take(PLAN_ENTRIES) {
        let (mark, style) = match &*entry.status {
            "completed" => ("  ☑ ", Style::DIM),
            "in_progress" => ("  ▶ ", Style::of(Colour::Yellow).bold()),
            _ => ("  ☐ ", Style::PLAIN),
        };
        let text = match &*entry.status {
            "completed" | "in_progress" | "pending" => entry.content.clone(),
            other => format!("{} ({other})", entry.content),
        };
        lines.extend(marked(mark, &text, style, columns, TASK_LINES));
    }
    if entries.len() > PLAN_ENTRIES {
        lines.push(left_out(&format!("  … {} more", entries.len() - PLAN_ENTRIES), columns));
    }
    Card::new(lines)
}

fn asked(question: &Question, columns: usize) -> Card {
    let style = Style::of(Colour::Yellow).bold();
    let room = columns.saturating_sub(2).max(1);
    let verb = if question.asked.is_empty() { "wants an approval" } else { "asks" };
    let tool = if question.tool.is_empty() { "the agent" } else { &question.tool };
    let mut lines = marked("? ", &visible::line(&format!("{tool} {verb}")), style, columns, 2);
    if !question.subject.is_empty() {
        lines.extend(indented(lines_of(&question.subject, Style::PLAIN, room, COMMAND_LINES)));
    }
    if let Some(reason) = &question.reason {
        lines.extend(indented(lines_of(reason, Style::DIM, room, TASK_LINES)));
    }
    for asked in &question.asked {
        lines.extend(indented(lines_of(&asked.text, Style::BOLD, room, TASK_LINES)));
        for (nth, choice) in asked.choices.iter().enumerate() {
            lines.extend(marked(&format!("    {} ", nth + 1), choice, Style::PLAIN, columns, 2));
        }
        if asked.left_out > 0 {
            lines.push(left_out(&format!("    … {} more", asked.left_out), columns));
        }
    }
    Card { is_tight: false, ..Card::new(lines).in_group(Group::Questions) }
}

fn decided(question: Option<&Question>, answer: &ApprovalResolved, columns: usize) -> Card {
    let (mark, word, colour) = match answer.decision {
        Decision::Approved => ("✓ ", "approved", Colour::Green),
        Decision::Rejected => ("✗ ", "rejected", Colour::Red),
        Decision::TimedOut => ("✗ ", "not answered in time", Colour::Red),
        Decision::Cancelled => ("✗ ", "withdrawn", Colour::Yellow),
    };
    let tool = question.map(|question| &*question.tool).filter(|tool| !tool.is_empty()).unwrap_or("question");
    let by = answer.by.as_deref().map(|by| format!(" by {by}")).unwrap_or_default();
    let scope = match answer.scope.as_deref() {
        None | Some("once") => String::new(),
        Some(scope) => format!(" ({scope})"),
    };
    let reason = answer.reason.as_deref().filter(|reason| !reason.trim().is_empty());
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let text = format!("{tool} {word}{by}{scope}{reason}");
    Card::new(marked(mark, &text, Style::of(colour), columns, TASK_LINES)).in_group(Group::Questions)
}

fn failure(error: &ErrorReported, columns: usize) -> Vec<Line> {
    let mut head = error.code.to_string();
    if let Some(status) = error.http_status {
        head.push_str(&format!(" (HTTP {status})"));
    }
    match (error.attempt, error.max_attempts) {
        (Some(attempt), Some(most)) => head.push_str(&format!(", attempt {attempt} of {most}")),
        (Some(attempt), None) => head.push_str(&format!(", attempt {attempt}")),
        _ => {}
    }
    if error.retryable {
        head.push_str(", may be tried again");
    }
    let text = if error.message.trim().is_empty() { head } else { format!("{head}: {}", error.message) };
    marked("! ", &text, Style::of(Colour::Red), columns, MESSAGE_LINES)
}

fn notice(level: LogLevel, text: &str, columns: usize) -> Card {
    let style = match level {
        LogLevel::Error => Style::of(Colour::Red),
        LogLevel::Warn => Style::of(Colour::Yellow),
        LogLevel::Info | LogLevel::Debug => Style::DIM,
    };
    Card::new(marked("· ", text, style, columns, MESSAGE_LINES)).in_group(Group::Calls)
}
