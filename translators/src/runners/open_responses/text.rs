//! Text, refusals and reasoning: blocks, each reported once, whatever mixture of deltas, ends and snapshots arrives.
//!
//! Input: deltas and wholes of an item's parts. Output: block frames. Never: an empty block; a part's text reported twice;
//! deltas taken back because of a contradicting snapshot (a log line reports the difference).

use super::event::{Sort, Text};
use super::item::{ContentPart, Item, ItemKind};
use super::run::Run;
use crate::frame::{Body, LogLevel, RawJson};
use crate::json::{Json, Object, Utf16Text};
use crate::normalizer::{Block, Normalizer};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Handles a delta of a part's text. `index` is the part's index, if the event contains it.
pub(super) fn delta(
    run: &mut Run,
    at: usize,
    text: Text,
    index: Option<u32>,
    piece: Utf16Text,
    normalizer: &mut Normalizer,
) {
    let target = run.target();
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
    normalizer.delta(target, block_of(text, &item.message_id, block), piece);
}

/// Starts a part.
pub(super) fn added(run: &mut Run, at: usize, sort: Sort, index: Option<u32>) {
    let Some(item) = run.items.get_mut(at) else { return };
    let index = index.unwrap_or_else(|| item.part_that_begins(sort));
    item.latest = match sort {
        Sort::Content => [Some(index), item.latest[1]],
        Sort::Summary => [item.latest[0], Some(index)],
    };
}

/// A whole part, from any event.
pub(super) struct CompletePart<'w> {
    pub(super) text: Text,
    /// The part's index, if the event contains it.
    pub(super) index: Option<u32>,
    /// The text. An empty one carries no information: some upstreams end a part without repeating its text.
    pub(super) full_text: Option<&'w str>,
    /// The provider's encrypted form.
    pub(super) opaque: Option<RawJson>,
    /// Whether it may correct the deltas in the run's final text. The response's own last snapshot may not, because one server
    /// fills it with a placeholder.
    pub(super) corrects: bool,
}

impl<'w> CompletePart<'w> {
    /// A whole part from an event about that part.
    pub(super) fn of(text: Text, index: Option<u32>, full_text: Option<&'w str>) -> Self {
        Self { text, index, full_text, opaque: None, corrects: true }
    }
}

/// Completes a part.
pub(super) fn done(run: &mut Run, at: usize, whole: CompletePart<'_>, normalizer: &mut Normalizer) {
    let target = run.target();
    let CompletePart { text, index, opaque, corrects, .. } = whole;
    let full_text = whole.full_text.filter(|full_text| !full_text.is_empty());
    let Some(item) = run.items.get_mut(at) else { return };
    let sort = text.sort();
    let index = index.unwrap_or_else(|| item.part_of_whole(sort, full_text));
    match item.parts.get(&(sort, index)) {
        None if full_text.is_none() && opaque.is_none() => return,
        Some(part) if part.text != text => return,
        Some(ContentPart { whole: Some(before), .. }) => {
            if full_text.is_some_and(|full_text| hash(full_text) != *before) {
                differs(run, normalizer);
            }
            return;
        }
        _ => {}
    }
    let number = item.part(text, index).block;
    let block = block_of(text, &item.message_id, number);
    let pieces = normalizer.text_so_far(target, block).unwrap_or_default();
    let agreed = full_text.filter(|full_text| full_text.starts_with(pieces)).unwrap_or(pieces);
    // A contradiction is reported once: later repetitions are compared with the contradicting text.
    let hash = hash(full_text.unwrap_or(agreed));
    let last_word = (text == Text::Said).then(|| full_text.filter(|_| corrects).unwrap_or(agreed).to_owned());
    let agrees = normalizer.complete(target, block, full_text, opaque);
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
        differs(run, normalizer);
    }
}

/// Handles a whole message or reasoning item: reports what is unreported, and closes it.
pub(super) fn whole(
    run: &mut Run,
    at: usize,
    object: Json<'_>,
    fields: &Object<'_>,
    corrects: bool,
    normalizer: &mut Normalizer,
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
            let Some((text, full_text)) = part_text(&part, list, reasoning) else { continue };
            wholes.push((text, u32::try_from(index).unwrap_or(u32::MAX), full_text));
        }
    }
    // One upstream streams its reasoning as a summary and repeats it as content, which is then already reported.
    if reasoning {
        wholes.retain(|(text, index, full_text)| {
            *text == Text::Summary || !is_repeated(run, at, *index, full_text, normalizer)
        });
    }
    if let Some(merged) = merged(run, at, &wholes, normalizer) {
        wholes = vec![merged];
    }
    let mut opaque =
        fields.str("encrypted_content").is_some_and(|secret| reasoning && !secret.is_empty()).then(|| object.to_raw());
    let count = wholes.len();
    for (nth, (text, index, full_text)) in wholes.into_iter().enumerate() {
        let open = run
            .items
            .get(at)
            .is_some_and(|item| item.parts.get(&(text.sort(), index)).is_none_or(|part| part.whole.is_none()));
        let opaque = if nth + 1 == count && open { opaque.take() } else { None };
        done(
            run,
            at,
            CompletePart { text, index: Some(index), full_text: Some(&full_text), opaque, corrects },
            normalizer,
        );
    }
    let first = run.items.get(at).is_some_and(|item| !item.finished);
    close(run, at, false, normalizer);
    if first && let Some(opaque) = opaque {
        // Every part is closed, so the encrypted form gets its own block after them.
        let opaque_part = CompletePart {
            text: Text::Reasoning,
            index: Some(u32::MAX),
            full_text: None,
            opaque: Some(opaque),
            corrects,
        };
        done(run, at, opaque_part, normalizer);
    }
}

/// Closes an item's open parts. If they were `cut` off, they are no final text.
pub(super) fn close(run: &mut Run, at: usize, cut: bool, normalizer: &mut Normalizer) {
    let target = run.target();
    let Some(item) = run.items.get_mut(at) else { return };
    item.finished = true;
    let open = item.parts.iter().filter(|(_, part)| part.whole.is_none());
    let mut open: Vec<(u32, Text, u32)> = open.map(|(&(_, index), part)| (part.block, part.text, index)).collect();
    open.sort_unstable_by_key(|&(block, ..)| block);
    if cut {
        for (block, text, _) in open {
            normalizer.cut(target, block_of(text, &item.message_id, block), None);
        }
        return;
    }
    for (_, text, index) in open {
        done(
            run,
            at,
            CompletePart { text, index: Some(index), full_text: None, opaque: None, corrects: false },
            normalizer,
        );
    }
}

/// The text of a part and its kind; `None` if the part is not text or lacks its text field.
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

/// Merges all parts into one block if the delivered text extends beyond the first part. Deltas without an index do not show
/// where one part ends and the next starts.
fn merged<'w>(
    run: &Run,
    at: usize,
    wholes: &[(Text, u32, Cow<'w, str>)],
    normalizer: &Normalizer,
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
            let full_text = normalizer.text_so_far(run.target(), block_of(*text, &item.message_id, part.block))?;
            full_text.len() > first.len() && all.starts_with(full_text)
        }
    };
    agrees.then_some((*text, *index, Cow::Owned(all)))
}

fn is_repeated(run: &Run, at: usize, index: u32, full_text: &str, normalizer: &Normalizer) -> bool {
    let Some(item) = run.items.get(at) else { return false };
    if item.parts.contains_key(&(Sort::Content, index)) {
        return false;
    }
    let text_hash = hash(full_text);
    item.parts.iter().any(|(_, part)| match part.whole {
        Some(whole) => whole == text_hash,
        None => {
            normalizer.text_so_far(run.target(), block_of(Text::Reasoning, &item.message_id, part.block))
                == Some(full_text)
        }
    })
}

fn differs(run: &Run, normalizer: &mut Normalizer) {
    let message = "the whole text differs from the pieces that came before it; the pieces stand".to_owned();
    normalizer.push(run.target(), Body::LogEmitted { level: LogLevel::Warn, message });
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

    /// The index of the part for a delta without an index: the open part, or else a new one.
    fn part_of_delta(&self, sort: Sort) -> u32 {
        let Some(latest) = self.latest(sort) else { return 0 };
        let closed = self.parts.get(&(sort, latest)).is_some_and(|part| part.whole.is_some());
        if closed { latest.saturating_add(1) } else { latest }
    }

    /// The index of a part that starts without an index: the one after the latest, or the latest itself if it has no content
    /// yet.
    fn part_that_begins(&self, sort: Sort) -> u32 {
        let Some(latest) = self.latest(sort) else { return 0 };
        if self.parts.contains_key(&(sort, latest)) { latest.saturating_add(1) } else { latest }
    }

    /// The index of the part for a whole text without an index: the latest, unless that ended with another text.
    fn part_of_whole(&self, sort: Sort, full_text: Option<&str>) -> u32 {
        let latest = self.latest(sort).unwrap_or_default();
        let before = self.parts.get(&(sort, latest)).and_then(|part| part.whole);
        let other = before.is_some_and(|before| full_text.is_some_and(|full_text| hash(full_text) != before));
        if other { latest.saturating_add(1) } else { latest }
    }

    /// The part at an index, created if missing. The content blocks of a message use the index of their part. Reasoning has two
    /// lists of parts, so its blocks are numbered in order of arrival.
    fn part(&mut self, text: Text, index: u32) -> &mut ContentPart {
        let sort = text.sort();
        match sort {
            Sort::Content => self.latest[0] = Some(index),
            Sort::Summary => self.latest[1] = Some(index),
        }
        let counted = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        let block = if self.kind == ItemKind::Message && sort == Sort::Content { index } else { counted };
        self.parts.entry((sort, index)).or_insert(ContentPart { block, text, whole: None })
    }
}
