//! Each part of a conversation as blocks of Markdown.

use super::{Group, inert};
use crate::render::conversation::{Call, Outcome, Part, Speaker, Totals};
use crate::render::describe::{Change, Question};
use crate::render::figures::{bytes, counted, dollars, duration, grouped};
use crate::render::terminal::work;
use framegate_translators::frame::{
    ApprovalResolved, Attachment, Decision, EndReason, ErrorReported, FileChangeKind, PlanEntry, SessionEnded, ToolKind,
};
use std::fmt::Write;

/// How much of a prompt, a message or an error is shown, in bytes.
const TEXT_BYTES: usize = 64 << 10;

/// The longest text on one line, in characters.
const LINE_CHARS: usize = 300;

/// How many entries of a plan are shown.
const PLAN_ENTRIES: usize = 200;

/// How many lines of output are shown.
const OUTPUT_LINES: usize = 100;

type Blocks = Vec<(String, Option<Group>)>;

/// The blocks of a part.
pub(super) fn of(speaker: &Speaker, part: Part<'_>) -> Blocks {
    match part {
        Part::Prompt { text, attachments } => prompt(text, attachments),
        // Written segment by segment.
        Part::Prose { .. } => Vec::new(),
        Part::Thought { text, chars } => one(thought(text, chars)),
        Part::Call(shown) => call(&shown),
        Part::Changed(change) => one(details(&change_summary(&change), &[diff(&change)], false)),
        Part::Plan(entries) => one(plan(entries)),
        Part::Asked(question) => one(asked(question)),
        Part::Decided { question, answer } => one(decided(question.as_ref(), answer)),
        Part::Error(error) => one(failure(error)),
        Part::Notice { text, .. } => vec![(format!("- {}", inert::plain(&cut(&text))), Some(Group::Calls))],
        Part::Gap(text) => one(format!("**Gap**: {}", inert::plain(&cut(&text)))),
        Part::SubagentStarted { task } => one(format!("**Subagent started**{}", after(": ", task))),
        Part::SubagentEnded { status, summary } => {
            one(format!("**{}** {}{}", inert::plain(&speaker.name), inert::plain(status), after(": ", summary)))
        }
        Part::Ended { end, totals } => ended(end, totals),
    }
}

fn one(text: String) -> Blocks {
    vec![(text, None)]
}

/// The first line of a text, shortened.
fn cut(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    let end = line.char_indices().nth(LINE_CHARS).map_or(line.len(), |(at, _)| at);
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", line.get(..end).unwrap_or_default())
}

/// A text after a separator; empty if there is no text.
fn after(separator: &str, text: Option<&str>) -> String {
    let text = text.filter(|text| !text.trim().is_empty());
    text.map(|text| format!("{separator}{}", inert::plain(&cut(text)))).unwrap_or_default()
}

/// As much of a text as is shown, and a line about the rest.
fn bounded(text: &str) -> String {
    let end = text.floor_char_boundary(TEXT_BYTES);
    let head = text.get(..end).unwrap_or_default();
    if end == text.len() { head.to_owned() } else { format!("{head}\n… {} more", bytes((text.len() - end) as u64)) }
}

/// Something that unfolds.
fn details(summary: &str, body: &[String], is_open: bool) -> String {
    let open = if is_open { " open" } else { "" };
    let body: Vec<&str> = body.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    format!("<details{open}>\n<summary>{}</summary>\n\n{}\n\n</details>", inert::html(summary), body.join("\n\n"))
}

fn prompt(text: &str, attachments: &[Attachment]) -> Blocks {
    let mut blocks = Vec::new();
    if !text.trim().is_empty() {
        // A prompt is not Markdown, though it may look like it.
        blocks.push((inert::fenced("text", &bounded(text)), None));
    }
    for attachment in attachments {
        let name = attachment.name.as_deref().or(attachment.mime.as_deref()).unwrap_or_default();
        let size = attachment.bytes.map(|count| format!(", {}", bytes(count))).unwrap_or_default();
        let text = format!("- {} {}{size}", inert::plain(&attachment.kind), inert::code(name));
        blocks.push((text, Some(Group::Calls)));
    }
    blocks
}

fn thought(text: &str, chars: u64) -> String {
    let held = text.chars().count() as u64;
    let rest = if held < chars { format!("\n… {} more", counted(chars - held, "character")) } else { String::new() };
    details("Reasoning", &[inert::fenced("text", &format!("{}{rest}", text.trim_end()))], false)
}

fn outcome(call: &Call) -> String {
    match &call.outcome {
        Outcome::Ended { exit_code, duration_ms } if call.kind == ToolKind::Shell => {
            format!("exit {exit_code} · {}", duration(*duration_ms))
        }
        Outcome::Ended { exit_code: 0, duration_ms } => duration(*duration_ms),
        Outcome::Ended { duration_ms, .. } => format!("failed · {}", duration(*duration_ms)),
        Outcome::Failed(_) => "did not run to its end".to_owned(),
        Outcome::Proposed => "proposed; the client runs it".to_owned(),
        Outcome::Open => "no end was reported".to_owned(),
    }
}

fn call(call: &Call) -> Blocks {
    let name = if call.name.trim().is_empty() { "tool" } else { call.name.trim() };
    let mut body = Vec::new();
    let is_long = call.subject.contains('\n') || call.subject.chars().count() > 80;
    if is_long {
        body.push(inert::fenced(if call.kind == ToolKind::Shell { "sh" } else { "text" }, &call.subject));
    }
    body.extend(call.changes.iter().flat_map(|change| [inert::code(&change.path), diff(change)]));
    if call.more_changes > 0 {
        body.push(format!("… {}", counted(call.more_changes, "more file")));
    }
    if let Outcome::Failed(error) = &call.outcome
        && !error.trim().is_empty()
    {
        body.push(inert::fenced("text", &bounded(error)));
    }
    // What an edit or a reader returns repeats the file.
    if !call.output.is_blank() && (call.changes.is_empty() || call.outcome.is_failure()) {
        body.push(output(call));
    }
    let subject = cut(&call.subject);
    if body.is_empty() {
        let text = format!("- **{}** {} · {}", inert::plain(name), inert::code(&subject), outcome(call));
        return vec![(text.replace("  ", " "), Some(Group::Calls))];
    }
    let changed = match call.changes.as_slice() {
        [change] => change_summary(change),
        _ => String::new(),
    };
    let head = match (call.kind, changed.is_empty()) {
        (ToolKind::Shell, _) => format!("$ {subject}"),
        (_, false) => format!("{name} {changed}"),
        _ => format!("{name} {subject}"),
    };
    one(details(&format!("{} · {}", head.trim(), outcome(call)), &body, call.outcome.is_failure()))
}

fn output(call: &Call) -> String {
    let (lines, earlier) = call.output.last(OUTPUT_LINES);
    let mut text = String::new();
    if earlier > 0 {
        let _ = writeln!(text, "… {} before", counted(earlier, "line"));
    }
    text.push_str(&lines.join("\n"));
    if let Some(count) = call.stored_bytes {
        let _ = write!(text, "\n… this is only the beginning of {}, which are stored as an artifact", bytes(count));
    }
    inert::fenced("text", &text)
}

fn change_summary(change: &Change) -> String {
    let count = |mark: char, head: &str| {
        let diff = change.diff.as_deref().unwrap_or_default();
        diff.lines().filter(|line| line.starts_with(mark) && !line.starts_with(head)).count()
    };
    let word = match change.kind {
        FileChangeKind::Add => " (new)",
        FileChangeKind::Delete => " (deleted)",
        FileChangeKind::Move => " (moved)",
        FileChangeKind::Modify => "",
    };
    let lines =
        change.diff.as_ref().map(|_| format!(" +{} -{}", count('+', "+++"), count('-', "---"))).unwrap_or_default();
    format!("{}{word}{lines}", change.path)
}

fn diff(change: &Change) -> String {
    let Some(diff) = &change.diff else { return String::new() };
    let rest = if change.left_out > 0 { format!("\n… {} more", bytes(change.left_out)) } else { String::new() };
    inert::fenced("diff", &format!("{}{rest}", diff.trim_end_matches('\n')))
}

fn plan(entries: &[PlanEntry]) -> String {
    let mut lines = vec!["**Plan**".to_owned(), String::new()];
    for entry in entries.iter().take(PLAN_ENTRIES) {
        let text = inert::plain(&cut(&entry.content));
        lines.push(match &*entry.status {
            "completed" => format!("- [x] {text}"),
            "pending" => format!("- [ ] {text}"),
            "in_progress" => format!("- [ ] **{text}** (in progress)"),
            other => format!("- [ ] {text} ({})", inert::plain(&cut(other))),
        });
    }
    if entries.len() > PLAN_ENTRIES {
        lines.push(format!("- … {} more", entries.len() - PLAN_ENTRIES));
    }
    lines.join("\n")
}

fn asked(question: &Question) -> String {
    let tool = if question.tool.is_empty() { "the agent" } else { &question.tool };
    let verb = if question.asked.is_empty() { "wants an approval" } else { "asks" };
    let mut blocks =
        vec![format!("**Question**: {} {verb}{}", inert::plain(&cut(tool)), after(". ", question.reason.as_deref()))];
    if !question.subject.is_empty() {
        blocks.push(inert::fenced("text", &question.subject));
    }
    for asked in &question.asked {
        let mut lines = vec![format!("- {}", inert::plain(&cut(&asked.text)))];
        lines.extend(asked.choices.iter().map(|choice| format!("  - {}", inert::plain(&cut(choice)))));
        if asked.left_out > 0 {
            lines.push(format!("  - … {} more", asked.left_out));
        }
        blocks.push(lines.join("\n"));
    }
    blocks.join("\n\n")
}

fn decided(question: Option<&Question>, answer: &ApprovalResolved) -> String {
    let word = match answer.decision {
        Decision::Approved => "Approved",
        Decision::Rejected => "Rejected",
        Decision::TimedOut => "Not answered in time",
        Decision::Cancelled => "Withdrawn",
    };
    let tool = question.map(|question| &*question.tool).filter(|tool| !tool.is_empty());
    let scope = answer.scope.as_deref().filter(|scope| *scope != "once");
    let scope = scope.map(|scope| format!(" ({})", inert::plain(scope))).unwrap_or_default();
    let (by, reason) = (after(" by ", answer.by.as_deref()), after(": ", answer.reason.as_deref()));
    format!("**{word}**{}{by}{scope}{reason}", after(" ", tool))
}

fn failure(error: &ErrorReported) -> String {
    let mut head = format!("**Error** {}", inert::code(&cut(&error.code)));
    if let Some(status) = error.http_status {
        let _ = write!(head, " (HTTP {status})");
    }
    match (error.attempt, error.max_attempts) {
        (Some(attempt), Some(most)) => drop(write!(head, ", attempt {attempt} of {most}")),
        (Some(attempt), None) => drop(write!(head, ", attempt {attempt}")),
        _ => {}
    }
    if error.retryable {
        head.push_str(", may be tried again");
    }
    let message = error.message.trim();
    match message.contains('\n') || message.chars().count() > LINE_CHARS {
        true => format!("{head}\n\n{}", inert::fenced("text", &bounded(message))),
        false => format!("{head}{}", after(": ", Some(message))),
    }
}

fn ended(end: &SessionEnded, totals: &Totals) -> Blocks {
    let word = match end.reason {
        EndReason::Completed => "Completed",
        EndReason::Failed => "Failed",
        EndReason::Interrupted => "Interrupted",
    };
    let code = end.error_code.as_deref().map(|code| format!(" ({})", inert::plain(code))).unwrap_or_default();
    let head = format!("**{word}**{code}{}", after(": ", end.message.as_deref()));
    let mut blocks = vec![
        (head, None),
        (inert::plain(&work(totals)).replace("\\.", ".").replace("\\(", "(").replace("\\)", ")"), None),
    ];
    let Some(sum) = totals.figures() else { return blocks };
    let by_model = totals.by_model();
    let mut rows: Vec<(String, &framegate_translators::frame::Figures)> = by_model
        .iter()
        .map(|(model, figures)| {
            (
                model
                    .as_deref()
                    .map_or_else(|| "unknown".to_owned(), |model| inert::code(&cut(model)).replace('|', "\\|")),
                figures,
            )
        })
        .collect();
    if by_model.len() > 1 {
        rows.push(("**all**".to_owned(), &sum));
    }
    let mut table = vec![
        "| model | input | cache read | cache written | output | reasoning | cost |".to_owned(),
        "|---|---:|---:|---:|---:|---:|---:|".to_owned(),
    ];
    let known = |count: Option<u64>| count.map(grouped).unwrap_or_default();
    for (model, figures) in rows {
        table.push(format!(
            "| {model} | {} | {} | {} | {} | {} | {} |",
            grouped(figures.input_tokens),
            known(figures.cache_read_tokens),
            known(figures.cache_creation_tokens),
            grouped(figures.output_tokens),
            known(figures.reasoning_tokens),
            figures.cost_usd.map(dollars).unwrap_or_default()
        ));
    }
    blocks.push((table.join("\n"), None));
    blocks
}
