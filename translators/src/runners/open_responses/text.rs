//! Text, refusals and reasoning: blocks, each said once whatever mixture of deltas, ends and snapshots tells it.
//!
//! In: pieces and wholes of an item's parts. Out: block frames. Never: an empty block, a part's text twice, deltas that a
//! contradicting snapshot takes back (a log line says that they differ).

use super::event::{Sort, Text};
use super::item::{Item, ItemKind, Part};
use super::run::Run;
use crate::frame::{Body, LogLevel, RawJson};
use crate::json::{Json, Object, Utf16Text};
use crate::ledger::{Block, Ledger};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A piece of a part's text. `index` is the part's place where the event tells it.
pub(super) fn delta(run: &mut Run, at: usize, text: Text, index: Option<u32>, piece: Utf16Text, ledger: &mut Ledger) {
    let place = run.place();
    let Some(item) = run.items.get_mut(at) else { return };
    let index = index.unwrap_or_else(|| item.part_of_delta(text.sort()));
    let part = item.part(text, index);
    if part.whole.is_some() || part.text != text {
        return;
    }
    let block = part.block;
    ledger.delta(place, block_of(text, &item.message_id, block), piece);
}

/// A part begins.
pub(super) fn added(run: &mut Run, at: usize, sort: Sort, index: Option<u32>) {
    let Some(item) = run.items.get_mut(at) else { return };
    let index = index.unwrap_or_else(|| item.part_of_delta(sort));
    item.latest = match sort {
        Sort::Content => [Some(index), item.latest[1]],
        Sort::Summary => [item.latest[0], Some(index)],
    };
}

/// A part is whole. An empty `whole` says nothing: some upstreams end a part without repeating it.
pub(super) fn done(
    run: &mut Run,
    at: usize,
    text: Text,
    index: Option<u32>,
    whole: Option<&str>,
    opaque: Option<RawJson>,
    ledger: &mut Ledger,
) {
    let place = run.place();
    let whole = whole.filter(|whole| !whole.is_empty());
    let Some(item) = run.items.get_mut(at) else { return };
    let sort = text.sort();
    let index = index.unwrap_or_else(|| item.latest(sort).unwrap_or_default());
    match item.parts.get(&(sort, index)) {
        None if whole.is_none() && opaque.is_none() => return,
        Some(part) if part.text != text => return,
        Some(Part { whole: Some(said), .. }) => {
            if whole.is_some_and(|whole| hash(whole) != *said) {
                differs(run, ledger);
            }
            return;
        }
        _ => {}
    }
    let number = item.part(text, index).block;
    let block = block_of(text, &item.message_id, number);
    let said = ledger.said(place, block).unwrap_or_default();
    let agreed = whole.filter(|whole| whole.starts_with(said)).unwrap_or(said);
    let hash = hash(agreed);
    // The upstream's own last word is the better final text where its deltas came in disorder.
    let last_word = (text == Text::Said).then(|| whole.unwrap_or(agreed).to_owned());
    let agrees = ledger.complete(place, block, whole, opaque);
    if let Some(part) = item.parts.get_mut(&(sort, index)) {
        part.whole = Some(hash);
    }
    if let Some(last_word) = last_word {
        match &mut run.final_text {
            Some((of, text)) if *of == at => text.push_str(&last_word),
            slot => *slot = Some((at, last_word)),
        }
    }
    if !agrees {
        differs(run, ledger);
    }
}

/// A message or reasoning item is whole: says what of it has not been said, and closes it.
pub(super) fn whole(run: &mut Run, at: usize, object: Json<'_>, fields: &Object<'_>, ledger: &mut Ledger) {
    let Some(item) = run.items.get(at) else { return };
    let reasoning = item.kind == ItemKind::Reasoning;
    let mut wholes: Vec<(Text, u32, Cow<'_, str>)> = Vec::new();
    for (key, list) in [("summary", Text::Summary), ("content", Text::Said)] {
        let value = fields.get(key);
        if let Some(only) = value.and_then(Json::str) {
            wholes.push((if reasoning { Text::Reasoning } else { list }, 0, only));
        }
        for (index, part) in value.map(Json::items).unwrap_or_default().into_iter().enumerate() {
            let Some(part) = part.object() else { continue };
            let Some((text, said)) = part_text(&part, list, reasoning) else { continue };
            wholes.push((text, u32::try_from(index).unwrap_or(u32::MAX), said));
        }
    }
    // One upstream streams its reasoning as a summary and repeats it as content: it is said already.
    if reasoning {
        wholes.retain(|(text, index, said)| *text == Text::Summary || !is_repeated(run, at, *index, said, ledger));
    }
    let mut opaque =
        fields.str("encrypted_content").is_some_and(|secret| reasoning && !secret.is_empty()).then(|| object.to_raw());
    let count = wholes.len();
    for (nth, (text, index, said)) in wholes.into_iter().enumerate() {
        let open = run
            .items
            .get(at)
            .is_some_and(|item| item.parts.get(&(text.sort(), index)).is_none_or(|part| part.whole.is_none()));
        let with = if nth + 1 == count && open { opaque.take() } else { None };
        done(run, at, text, Some(index), Some(&said), with, ledger);
    }
    let first = run.items.get(at).is_some_and(|item| !item.finished);
    close(run, at, ledger);
    if first && let Some(opaque) = opaque {
        // Every part is closed: the secret stands in a block of its own, behind them.
        let next = run.items.get(at).map_or(0, |item| u32::try_from(item.parts.len()).unwrap_or(u32::MAX));
        done(run, at, Text::Reasoning, Some(u32::MAX - next), None, Some(opaque), ledger);
    }
}

/// Completes what is open of an item.
pub(super) fn close(run: &mut Run, at: usize, ledger: &mut Ledger) {
    let Some(item) = run.items.get_mut(at) else { return };
    item.finished = true;
    let open = item.parts.iter().filter(|(_, part)| part.whole.is_none());
    let mut open: Vec<(u32, Text, u32)> = open.map(|(&(_, index), part)| (part.block, part.text, index)).collect();
    open.sort_unstable_by_key(|&(block, ..)| block);
    for (_, text, index) in open {
        done(run, at, text, Some(index), None, None, ledger);
    }
}

/// Whose text a part's is, and the text; `None` for what is no text, and for a part without its text field.
pub(super) fn part_text<'a>(part: &Object<'a>, list: Text, reasoning: bool) -> Option<(Text, Cow<'a, str>)> {
    let kind = part.str("type").unwrap_or_default();
    let text = match &*kind {
        "refusal" => return Some((Text::Said, part.str("refusal")?)),
        "output_audio" => return Some((Text::Said, part.str("transcript")?)),
        "summary_text" => Text::Summary,
        "reasoning_text" => Text::Reasoning,
        _ if list == Text::Summary => Text::Summary,
        "output_text" | "text" if reasoning => Text::Reasoning,
        "output_text" | "text" => Text::Said,
        _ => return None,
    };
    Some((text, part.str("text")?))
}

fn is_repeated(run: &Run, at: usize, index: u32, said: &str, ledger: &Ledger) -> bool {
    let Some(item) = run.items.get(at) else { return false };
    if item.parts.contains_key(&(Sort::Content, index)) {
        return false;
    }
    let said_hash = hash(said);
    item.parts.iter().any(|(_, part)| match part.whole {
        Some(whole) => whole == said_hash,
        None => ledger.said(run.place(), block_of(Text::Reasoning, &item.message_id, part.block)) == Some(said),
    })
}

fn differs(run: &Run, ledger: &mut Ledger) {
    let message = "the whole text differs from the pieces that came before it; the pieces stand".to_owned();
    ledger.push(run.place(), Body::LogEmitted { level: LogLevel::Warn, message });
}

fn block_of(text: Text, message_id: &str, index: u32) -> Block<'_> {
    match text {
        Text::Said => Block::text(message_id, index),
        Text::Reasoning | Text::Summary => Block::reasoning(message_id, index),
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl Item {
    fn latest(&self, sort: Sort) -> Option<u32> {
        match sort {
            Sort::Content => self.latest[0],
            Sort::Summary => self.latest[1],
        }
    }

    /// The part that a piece without an index belongs to: the one that is open, else a new one.
    fn part_of_delta(&self, sort: Sort) -> u32 {
        let Some(latest) = self.latest(sort) else { return 0 };
        let closed = self.parts.get(&(sort, latest)).is_some_and(|part| part.whole.is_some());
        if closed { latest.saturating_add(1) } else { latest }
    }

    /// The part at a place. Blocks of a message have the place of their part; reasoning has two lists, so its blocks are
    /// counted as they come.
    fn part(&mut self, text: Text, index: u32) -> &mut Part {
        let sort = text.sort();
        match sort {
            Sort::Content => self.latest[0] = Some(index),
            Sort::Summary => self.latest[1] = Some(index),
        }
        let counted = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        let block = if self.kind == ItemKind::Message && sort == Sort::Content { index } else { counted };
        self.parts.entry((sort, index)).or_insert(Part { block, text, whole: None })
    }
}
