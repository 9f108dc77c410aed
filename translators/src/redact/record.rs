//! The secrets in a record's JSON.
//!
//! In: a record's bytes. Out: the places of secrets in them, each with a JSON pointer. A string is looked at as its reader
//! sees it; the value of a secret's key is a secret whatever it is. What is no JSON is looked at as text. Never: a change of
//! anything but the insides of strings and the numbers under a secret's key.

use super::levels::unescape;
use super::rules::{EXEMPT, canonical};
use super::way::Way;
use super::{Edit, Rules, With};
use std::ops::Range;
use std::sync::Arc;

/// What was found in a record.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) edits: Vec<Edit>,
    /// The arrays that repeat a text token by token.
    pub(super) logprobs: Vec<(Range<usize>, Arc<str>)>,
}

struct Level {
    is_object: bool,
    /// How long the pointer is without this level's part.
    pointer: usize,
    index: usize,
    key: Option<Key>,
    in_logprobs: bool,
    in_secret: bool,
    start: usize,
}

#[derive(Clone, Copy, Default)]
struct Key {
    is_secret: bool,
    is_exempt: bool,
    is_logprobs: bool,
    is_type: bool,
}

/// The types of JSON Schema. In a description of what a secret looks like they say nothing of it, and without them it is none.
pub(super) const TYPES: [&[u8]; 7] = [b"string", b"number", b"integer", b"boolean", b"array", b"object", b"null"];

/// Looks through a record; `skip` is the inside of a string that somebody else looks at.
pub(super) fn look(rules: &Rules, bytes: &[u8], skip: Option<&Range<usize>>) -> Look {
    let mut look = Look::default();
    if walk(rules, bytes, skip, &mut look).is_none() {
        plain(rules, bytes, &mut look.edits);
    }
    look
}

/// Looks through bytes that are no JSON.
pub(super) fn plain(rules: &Rules, bytes: &[u8], edits: &mut Vec<Edit>) {
    text(rules, bytes, 0, 0, &mut Way::default(), edits);
}

/// Looks through a text that is escaped so many times and begins at `base`.
fn text(rules: &Rules, text: &[u8], times: usize, base: usize, way: &mut Way, edits: &mut Vec<Edit>) {
    // Most strings of a record with a secret have none themselves; in escapes, one may hide.
    if memchr::memchr(b'\\', text).is_none() && !rules.has_a_literal(text) {
        return;
    }
    let (said, map) = unescape(text);
    let finding = rules.scan(&said);
    let place = |range: Range<usize>| {
        let range = map.range(&range);
        base + range.start..base + range.end
    };
    for hit in finding.hits {
        // Nothing ends the one that is open.
        let end = if hit.open.is_some() { said.len() } else { hit.place.end };
        edits.push(Edit {
            place: place(hit.place.start..end),
            rule: hit.rule,
            with: hit.with.escaped(times),
            pointer: way.tell(),
        });
    }
    // A text that stops in the middle of what is certainly a secret: one that was cut, or is not yet all there.
    if let Some((tail, rule)) = finding.tail.filter(|(tail, _)| tail.open.is_some() && tail.from < said.len()) {
        edits.push(Edit { place: place(tail.from..said.len()), rule, with: With::Mark, pointer: way.tell() });
    }
}

fn walk(rules: &Rules, bytes: &[u8], skip: Option<&Range<usize>>, look: &mut Look) -> Option<()> {
    let mut levels: Vec<Level> = Vec::new();
    let mut way = Way::default();
    let mut at = if bytes.starts_with("\u{FEFF}".as_bytes()) { 3 } else { 0 };
    // In an object, a string is a key until its colon has come.
    let mut wants_key = false;
    loop {
        let Some(&byte) = bytes.get(at) else { return levels.is_empty().then_some(()) };
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b'"' => {
                let start = at + 1;
                let end = close(bytes, start)?;
                at = end + 1;
                let inner = bytes.get(start..end)?;
                if wants_key {
                    wants_key = false;
                    let level = levels.last_mut()?;
                    way.back_to(level.pointer);
                    let (name, _) = unescape(inner);
                    let name = String::from_utf8_lossy(&name);
                    let spelling = canonical(&name);
                    way.down(&name);
                    level.key = Some(Key {
                        is_secret: rules.in_json && !level.in_logprobs && rules.keys.has_canonical(&spelling),
                        is_exempt: EXEMPT.contains(&spelling.as_str()),
                        is_type: spelling == "type",
                        is_logprobs: spelling == "logprobs" || spelling == "top_logprobs",
                    });
                    let known = look.edits.len();
                    text(rules, inner, 1, start, &mut way, &mut look.edits);
                    if let Some(edit) = look.edits.get(known) {
                        // The pointer names the key as it is afterwards.
                        let mut shown = name.into_owned();
                        let from = edit.place.start.saturating_sub(start).min(shown.len());
                        shown.truncate((0..=from).rev().find(|at| shown.is_char_boundary(*at)).unwrap_or_default());
                        shown.push_str(&rules.mark(edit.rule));
                        way.back_to(level.pointer);
                        way.down(&shown);
                        let renamed = way.tell();
                        look.edits.iter_mut().skip(known).for_each(|edit| edit.pointer.clone_from(&renamed));
                    }
                } else {
                    value(&mut levels, &mut way, |way, key, in_secret| {
                        if skip.is_some_and(|skip| skip.start == start) {
                            // Read together with the pieces before it.
                        } else if (key.is_secret || in_secret) && !inner.is_empty() {
                            let says_nothing = in_secret && key.is_type && TYPES.contains(&inner);
                            if !says_nothing && !inner.starts_with(b"[REDACTED:") {
                                let edit = Edit {
                                    place: start..end,
                                    rule: rules.key_rule,
                                    with: With::Mark,
                                    pointer: way.tell(),
                                };
                                look.edits.push(edit);
                            }
                        } else if !key.is_exempt {
                            text(rules, inner, 1, start, way, &mut look.edits);
                        }
                    });
                }
            }
            b'{' | b'[' => {
                let mut kind = (Key::default(), false);
                value(&mut levels, &mut way, |_, key, in_secret| kind = (key, in_secret));
                let (key, in_secret) = kind;
                let in_logprobs = key.is_logprobs || levels.last().is_some_and(|level| level.in_logprobs);
                let level = Level {
                    is_object: byte == b'{',
                    pointer: way.len(),
                    index: 0,
                    key: None,
                    in_logprobs,
                    in_secret: key.is_secret || in_secret,
                    start: at,
                };
                levels.push(level);
                wants_key = byte == b'{';
                at += 1;
            }
            b'}' | b']' => {
                let level = levels.pop()?;
                if level.is_object != (byte == b'}') {
                    return None;
                }
                way.back_to(level.pointer);
                at += 1;
                let outer = levels.last().is_some_and(|level| level.in_logprobs);
                if level.in_logprobs && !outer && !level.is_object {
                    look.logprobs.push((level.start..at, way.tell()));
                }
                wants_key = false;
            }
            b':' => at += 1,
            b',' => {
                let level = levels.last_mut()?;
                level.index += 1;
                wants_key = level.is_object;
                at += 1;
            }
            _ => {
                let rest = bytes.get(at..)?;
                let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t' | b':' | b'"');
                let size = rest.iter().position(ends).unwrap_or(rest.len());
                let literal = rest.get(..size)?;
                let is_number = literal.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte));
                if !is_number && !matches!(literal, b"true" | b"false" | b"null") {
                    return None;
                }
                let place = at..at + size;
                value(&mut levels, &mut way, |way, key, in_secret| {
                    if is_number && (key.is_secret || in_secret) {
                        look.edits.push(Edit {
                            place,
                            rule: rules.key_rule,
                            with: With::Quoted(0),
                            pointer: way.tell(),
                        });
                    }
                });
                at += size;
            }
        }
    }
}

/// Tells the place of a value that begins here.
fn value(levels: &mut [Level], way: &mut Way, then: impl FnOnce(&mut Way, Key, bool)) {
    match levels.last_mut() {
        None => {
            way.back_to(0);
            then(way, Key::default(), false);
        }
        Some(level) if level.is_object => then(way, level.key.take().unwrap_or_default(), level.in_secret),
        Some(level) => {
            way.back_to(level.pointer);
            way.down(&level.index.to_string());
            let key = Key { is_logprobs: level.in_logprobs, ..Key::default() };
            then(way, key, level.in_secret);
        }
    }
}

/// Where a string closes.
fn close(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}
