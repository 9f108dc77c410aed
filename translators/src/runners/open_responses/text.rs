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
    if item.finished || piece == Utf16Text::default() {
        return;
    }
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
    let index = index.unwrap_or_else(|| item.part_that_begins(sort));
    item.latest = match sort {
        Sort::Content => [Some(index), item.latest[1]],
        Sort::Summary => [item.latest[0], Some(index)],
    };
}

/// The whole of a part, as some event tells it.
pub(super) struct Whole<'w> {
    pub(super) text: Text,
    /// The part's place, where the event tells it.
    pub(super) index: Option<u32>,
    /// The text. An empty one says nothing: some upstreams end a part without repeating it.
    pub(super) said: Option<&'w str>,
    /// The provider's secret form of it.
    pub(super) opaque: Option<RawJson>,
    /// Whether it may correct the pieces in the run's final text. The response's own last snapshot may not: one server
    /// fills it with a placeholder.
    pub(super) corrects: bool,
}

impl<'w> Whole<'w> {
    /// The whole that an event of the part's own tells.
    pub(super) fn of(text: Text, index: Option<u32>, said: Option<&'w str>) -> Self {
        Self { text, index, said, opaque: None, corrects: true }
    }
}

/// A part is whole.
pub(super) fn done(run: &mut Run, at: usize, whole: Whole<'_>, ledger: &mut Ledger) {
    let place = run.place();
    let Whole { text, index, opaque, corrects, .. } = whole;
    let said = whole.said.filter(|said| !said.is_empty());
    let Some(item) = run.items.get_mut(at) else { return };
    let sort = text.sort();
    let index = index.unwrap_or_else(|| item.part_of_whole(sort, said));
    match item.parts.get(&(sort, index)) {
        None if said.is_none() && opaque.is_none() => return,
        Some(part) if part.text != text => return,
        Some(Part { whole: Some(before), .. }) => {
            if said.is_some_and(|said| hash(said) != *before) {
                differs(run, ledger);
            }
            return;
        }
        _ => {}
    }
    let number = item.part(text, index).block;
    let block = block_of(text, &item.message_id, number);
    let pieces = ledger.said(place, block).unwrap_or_default();
    let agreed = said.filter(|said| said.starts_with(pieces)).unwrap_or(pieces);
    // What contradicts once is told once: its repetitions agree with it.
    let hash = hash(said.unwrap_or(agreed));
    let last_word = (text == Text::Said).then(|| said.filter(|_| corrects).unwrap_or(agreed).to_owned());
    let agrees = ledger.complete(place, block, said, opaque);
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
pub(super) fn whole(
    run: &mut Run,
    at: usize,
    object: Json<'_>,
    fields: &Object<'_>,
    corrects: bool,
    ledger: &mut Ledger,
) {
    let Some(item) = run.items.get(at) else { return };
    let reasoning = item.kind == ItemKind::Reasoning;
    let mut wholes: Vec<(Text, u32, Cow<'_, str>)> = Vec::new();
    for (key, list) in [("summary", Text::Summary), ("content", Text::Said)] {
        let value = fields.get(key);
        if let Some(only) = value.and_then(Json::str) {
            let text = if reasoning && list == Text::Said { Text::Reasoning } else { list };
            wholes.push((text, 0, only));
        }
        for (index, _, part) in value.into_iter().flat_map(Json::objects) {
            let Some((text, said)) = part_text(&part, list, reasoning) else { continue };
            wholes.push((text, u32::try_from(index).unwrap_or(u32::MAX), said));
        }
    }
    // One upstream streams its reasoning as a summary and repeats it as content: it is said already.
    if reasoning {
        wholes.retain(|(text, index, said)| *text == Text::Summary || !is_repeated(run, at, *index, said, ledger));
    }
    if let Some(merged) = merged(run, at, &wholes, ledger) {
        wholes = vec![merged];
    }
    let mut opaque =
        fields.str("encrypted_content").is_some_and(|secret| reasoning && !secret.is_empty()).then(|| object.to_raw());
    let count = wholes.len();
    for (nth, (text, index, said)) in wholes.into_iter().enumerate() {
        let open = run
            .items
            .get(at)
            .is_some_and(|item| item.parts.get(&(text.sort(), index)).is_none_or(|part| part.whole.is_none()));
        let opaque = if nth + 1 == count && open { opaque.take() } else { None };
        done(run, at, Whole { text, index: Some(index), said: Some(&said), opaque, corrects }, ledger);
    }
    let first = run.items.get(at).is_some_and(|item| !item.finished);
    close(run, at, false, ledger);
    if first && let Some(opaque) = opaque {
        // Every part is closed: the secret stands in a block of its own, behind them.
        let behind = Whole { text: Text::Reasoning, index: Some(u32::MAX), said: None, opaque: Some(opaque), corrects };
        done(run, at, behind, ledger);
    }
}

/// Completes what is open of an item. What was `cut` off is no final text.
pub(super) fn close(run: &mut Run, at: usize, cut: bool, ledger: &mut Ledger) {
    let place = run.place();
    let Some(item) = run.items.get_mut(at) else { return };
    item.finished = true;
    let open = item.parts.iter().filter(|(_, part)| part.whole.is_none());
    let mut open: Vec<(u32, Text, u32)> = open.map(|(&(_, index), part)| (part.block, part.text, index)).collect();
    open.sort_unstable_by_key(|&(block, ..)| block);
    if cut {
        for (block, text, _) in open {
            ledger.cut(place, block_of(text, &item.message_id, block), None);
        }
        return;
    }
    for (_, text, index) in open {
        done(run, at, Whole { text, index: Some(index), said: None, opaque: None, corrects: false }, ledger);
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

/// Pieces without an index cannot say where one part ends and the next begins: where what they said goes beyond the first
/// part, all parts are one block.
fn merged<'w>(
    run: &Run,
    at: usize,
    wholes: &[(Text, u32, Cow<'w, str>)],
    ledger: &Ledger,
) -> Option<(Text, u32, Cow<'w, str>)> {
    let [(text, index, first), _, ..] = wholes else { return None };
    let item = run.items.get(at)?;
    let part = item.parts.get(&(text.sort(), *index)).filter(|_| item.parts.len() == 1)?;
    if wholes.iter().any(|(other, ..)| other != text) {
        return None;
    }
    let all: String = wholes.iter().map(|(.., whole)| &**whole).collect();
    let agrees = match part.whole {
        Some(before) => hash(&all) == before,
        None => {
            let said = ledger.said(run.place(), block_of(*text, &item.message_id, part.block))?;
            said.len() > first.len() && all.starts_with(said)
        }
    };
    agrees.then_some((*text, *index, Cow::Owned(all)))
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

    /// The part that begins without an index: the next one, if anything is known of the latest.
    fn part_that_begins(&self, sort: Sort) -> u32 {
        let Some(latest) = self.latest(sort) else { return 0 };
        if self.parts.contains_key(&(sort, latest)) { latest.saturating_add(1) } else { latest }
    }

    /// The part that a whole without an index belongs to: the latest, unless that has ended with another text.
    fn part_of_whole(&self, sort: Sort, said: Option<&str>) -> u32 {
        let latest = self.latest(sort).unwrap_or_default();
        let before = self.parts.get(&(sort, latest)).and_then(|part| part.whole);
        let other = before.is_some_and(|before| said.is_some_and(|said| hash(said) != before));
        if other { latest.saturating_add(1) } else { latest }
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
