//! The end of a run: its state, and what it used.

use super::cards::Card;
use crate::render::conversation::Totals;
use crate::render::figures::{counted, dollars, duration, grouped};
use crate::render::style::{Colour, Span, Style};
use crate::render::wrap::{Breaks, prefixed, wrap};
use crate::visible;
use framegate_translators::frame::{EndReason, Figures, SessionEnded};

/// How many bytes of the reason are shown.
const REASON_BYTES: usize = 1000;

/// The card of the end.
pub(super) fn card(end: &SessionEnded, totals: &Totals, columns: usize) -> Card {
    let (mark, colour) = match end.reason {
        EndReason::Completed => ("✓ ", Colour::Green),
        EndReason::Failed => ("✗ ", Colour::Red),
        EndReason::Interrupted => ("✗ ", Colour::Yellow),
    };
    let mut head = end.reason.as_str().to_owned();
    if let Some(code) = &end.error_code {
        head.push_str(&format!(" ({code})"));
    }
    if let Some(message) = end.message.as_deref().filter(|message| !message.trim().is_empty()) {
        let message = message.get(..message.floor_char_boundary(REASON_BYTES)).unwrap_or_default();
        head.push_str(&format!(": {}", message.trim()));
    }
    let room = columns.saturating_sub(2).max(1);
    let indent = [Span::new("  ", Style::PLAIN)];
    let style = Style::of(colour).bold();
    let mut lines = prefixed(
        wrap(&[Span::new(visible::text(&head), style)], room, Breaks::Words),
        &[Span::new(mark, style)],
        &indent,
    );
    for text in [work(totals), usage(totals)].into_iter().filter(|text| !text.is_empty()) {
        lines.extend(prefixed(wrap(&[Span::new(text, Style::DIM)], room, Breaks::Words), &indent, &indent));
    }
    Card::new(lines)
}

/// What was done.
pub(crate) fn work(totals: &Totals) -> String {
    let mut parts = vec![duration(totals.duration_ms())];
    if totals.turns > 0 {
        parts.push(counted(totals.turns, "turn"));
    }
    if totals.calls > 0 {
        let failed = if totals.failed_calls > 0 { format!(" ({} failed)", totals.failed_calls) } else { String::new() };
        parts.push(counted(totals.calls, "tool call") + &failed);
    }
    if totals.subagents > 0 {
        parts.push(counted(totals.subagents, "subagent"));
    }
    parts.join(" · ")
}

/// What was used; empty if the runner did not report it.
fn usage(totals: &Totals) -> String {
    let Some(figures) = totals.figures() else { return String::new() };
    let Figures {
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cache_creation_tokens,
        cache_creation_1h_tokens: _,
        reasoning_tokens,
        cost_usd,
    } = figures;
    let more = |count: Option<u64>, what: &str| {
        count.filter(|count| *count > 0).map(|count| format!(" + {} {what}", grouped(count)))
    };
    let input = [
        Some(grouped(input_tokens)),
        more(cache_read_tokens, "cached"),
        more(cache_creation_tokens, "written to the cache"),
    ];
    let reasoning = reasoning_tokens.filter(|count| *count > 0);
    let reasoning = reasoning.map(|count| format!(" ({} reasoning)", grouped(count))).unwrap_or_default();
    let mut parts = vec![
        format!("tokens: {} in", input.into_iter().flatten().collect::<String>()),
        format!("{} out{reasoning}", grouped(output_tokens)),
    ];
    parts.extend(cost_usd.map(dollars));
    parts.join(" · ")
}
