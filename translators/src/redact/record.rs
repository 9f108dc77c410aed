//! Finds the secrets in a record's JSON.
//!
//! Input: the bytes of a record. Output: the ranges of secrets, each with a JSON pointer. Strings are searched in their
//! unescaped form. Strings at the same path in different items of an array are searched together, because runners split texts
//! this way. The value of a secret key is a secret if it is plausible as one. Input that is not JSON is searched as text.
//! Never: a change outside of strings and of numbers under a secret key.

use super::escapes::{Map, unescape};
use super::joined::Joined;
use super::keys::{EXEMPT, KeyMeaning, Kind, canonical, meaning_of};
use super::pointer::PointerBuilder;
use super::text::Hit;
use super::value::{is_secret, is_secret_number};
use super::{Edit, Rules, With};
use crate::hash::hasher;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// The result of searching a record.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) edits: Vec<Edit>,
    /// The arrays that repeat a text token by token.
    pub(super) logprobs: Vec<(Range<usize>, Arc<str>)>,
}

struct Level {
    is_object: bool,
    /// The length of the pointer without the part of this level.
    pointer: usize,
    index: usize,
    key: Option<Key>,
    in_logprobs: bool,
    /// The secret key that this level is under, and whether there is an object in between.
    secret: Option<(Kind, bool)>,
    start: usize,
    /// A hash of the keys on the path, without indexes, and whether the path has any indexes.
    path: u64,
    in_array: bool,
}

#[derive(Clone, Copy, Default)]
struct Key {
    secret: Option<Kind>,
    is_exempt: bool,
    is_logprobs: bool,
    meaning: KeyMeaning,
    path: u64,
}

/// The position of a value in the record.
struct Place {
    key: Key,
    /// The secret key that applies to the value, and whether there is an object in between.
    secret: Option<(Kind, bool)>,
    in_array: bool,
}

/// Searches a record. `skip` is the inside of a string that the caller handles.
pub(super) fn look(rules: &Rules, bytes: &[u8], skip: Option<&Range<usize>>) -> Look {
    let mut walk = Walk { rules, skip, look: Look::default(), joined: Some(Joined::default()), planned: Vec::new() };
    if walk.go(bytes).is_none() {
        plain(rules, bytes, &mut walk.look.edits);
        return walk.look;
    }
    let planned = walk.joined.take().map(|joined| joined.find(rules)).unwrap_or_default();
    if planned.is_empty() {
        return walk.look;
    }
    // Findings that span several items get their pointers in a second walk.
    let mut again = Walk { look: Look::default(), planned, ..walk };
    again.go(bytes);
    again.look
}

/// Searches bytes that are not JSON.
pub(super) fn plain(rules: &Rules, bytes: &[u8], edits: &mut Vec<Edit>) {
    text(rules, bytes, 0, 0, &mut PointerBuilder::default(), edits);
}

/// Searches a text that is escaped `times` times and begins at `base`.
fn text(rules: &Rules, text: &[u8], times: usize, base: usize, pointer: &mut PointerBuilder, edits: &mut Vec<Edit>) {
    if !rules.is_suspect(text) {
        return;
    }
    let (unescaped, map) = unescape(text);
    for hit in rules.hits(&unescaped) {
        edits.push(edit(&hit, &map, times, base, pointer.build()));
    }
}

fn edit(hit: &Hit, map: &Map, times: usize, base: usize, pointer: Arc<str>) -> Edit {
    let place = map.range(&hit.place);
    Edit { place: base + place.start..base + place.end, rule: hit.rule, with: hit.with.escaped(times), pointer }
}

struct Walk<'r> {
    rules: &'r Rules,
    skip: Option<&'r Range<usize>>,
    look: Look,
    /// Collects the strings in arrays during the first walk.
    joined: Option<Joined>,
    /// The findings in those strings, in order and without pointers, for the second walk.
    planned: Vec<Edit>,
}

impl Walk<'_> {
    fn go(&mut self, bytes: &[u8]) -> Option<()> {
        let mut levels: Vec<Level> = Vec::new();
        let mut pointer = PointerBuilder::default();
        let mut at = if bytes.starts_with("\u{FEFF}".as_bytes()) { 3 } else { 0 };
        // In an object, a string before the colon is a key.
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
                        self.key(inner, start, levels.last_mut()?, &mut pointer);
                    } else {
                        let place = place(&mut levels, &mut pointer);
                        self.string(inner, start, &place, &mut pointer);
                    }
                }
                b'{' | b'[' => {
                    let Place { key, secret, in_array } = place(&mut levels, &mut pointer);
                    let is_object = byte == b'{';
                    levels.push(Level {
                        is_object,
                        pointer: pointer.len(),
                        index: 0,
                        key: None,
                        in_logprobs: key.is_logprobs || levels.last().is_some_and(|level| level.in_logprobs),
                        secret: secret.map(|(kind, is_deep)| (kind, is_deep || is_object)),
                        start: at,
                        path: key.path,
                        in_array: in_array || !is_object,
                    });
                    wants_key = is_object;
                    at += 1;
                }
                b'}' | b']' => {
                    let level = levels.pop()?;
                    if level.is_object != (byte == b'}') {
                        return None;
                    }
                    pointer.truncate(level.pointer);
                    at += 1;
                    let outer = levels.last().is_some_and(|level| level.in_logprobs);
                    if level.in_logprobs && !outer && !level.is_object {
                        self.look.logprobs.push((level.start..at, pointer.build()));
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
                    let ends =
                        |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t' | b':' | b'"');
                    let size = rest.iter().position(ends).unwrap_or(rest.len());
                    let literal = rest.get(..size)?;
                    let is_number = literal.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte));
                    if !is_number && !matches!(literal, b"true" | b"false" | b"null") {
                        return None;
                    }
                    let Place { secret, .. } = place(&mut levels, &mut pointer);
                    let is_one = |(kind, is_deep)| is_secret_number(literal, kind, is_deep);
                    if is_number && secret.is_some_and(is_one) {
                        let (rule, with) = (self.rules.key_rule, With::Quoted(0));
                        self.look.edits.push(Edit { place: at..at + size, rule, with, pointer: pointer.build() });
                    }
                    at += size;
                }
            }
        }
    }

    /// Handles a key of the current object.
    fn key(&mut self, inner: &[u8], start: usize, level: &mut Level, pointer: &mut PointerBuilder) {
        pointer.truncate(level.pointer);
        let (name, _) = unescape(inner);
        let name = String::from_utf8_lossy(&name);
        let spelling = canonical(&name);
        pointer.push(&name);
        let mut path = hasher();
        (level.path, &*name).hash(&mut path);
        level.key = Some(Key {
            secret: self.rules.keys.kind(&spelling).filter(|_| self.rules.in_json && !level.in_logprobs),
            is_exempt: EXEMPT.contains(&spelling.as_str()),
            meaning: level.secret.map(|_| meaning_of(&name)).unwrap_or_default(),
            is_logprobs: spelling == "logprobs" || spelling == "top_logprobs",
            path: path.finish(),
        });
        let known = self.look.edits.len();
        text(self.rules, inner, 1, start, pointer, &mut self.look.edits);
        if let Some(edit) = self.look.edits.get(known) {
            // The pointer contains the redacted name of the key.
            let mut shown = name.into_owned();
            let from = edit.place.start.saturating_sub(start).min(shown.len());
            shown.truncate((0..=from).rev().find(|at| shown.is_char_boundary(*at)).unwrap_or_default());
            shown.push_str(&self.rules.mark(edit.rule));
            pointer.truncate(level.pointer);
            pointer.push(&shown);
            let renamed = pointer.build();
            self.look.edits.iter_mut().skip(known).for_each(|edit| edit.pointer.clone_from(&renamed));
        }
    }

    /// Handles a string value.
    fn string(&mut self, inner: &[u8], start: usize, place: &Place, pointer: &mut PointerBuilder) {
        if self.skip.is_some_and(|skip| skip.start == start) {
            // The caller searches this string together with the pieces before it.
            return;
        }
        let Place { key, secret, in_array } = place;
        if key.is_exempt {
            // Signed values stay as they are.
        } else if let Some((kind, is_deep)) = *secret
            && is_secret(&unescape(inner).0, kind, is_deep)
        {
            let place = start..start + inner.len();
            self.look.edits.push(Edit { place, rule: self.rules.key_rule, with: With::Mark, pointer: pointer.build() });
        } else if !*in_array {
            text(self.rules, inner, 1, start, pointer, &mut self.look.edits);
        } else if let Some(joined) = &mut self.joined {
            joined.add(key.path, inner, start, self.rules);
        } else {
            let first = self.planned.partition_point(|edit| edit.place.start < start);
            let here = self.planned.get(first..).unwrap_or_default();
            let edits = here.iter().take_while(|edit| edit.place.end <= start + inner.len());
            self.look.edits.extend(edits.map(|edit| Edit { pointer: pointer.build(), ..edit.clone() }));
        }
    }
}

/// The position of a value that begins here.
fn place(levels: &mut [Level], pointer: &mut PointerBuilder) -> Place {
    match levels.last_mut() {
        None => {
            pointer.truncate(0);
            Place { key: Key::default(), secret: None, in_array: false }
        }
        Some(level) => {
            let key = if level.is_object {
                level.key.take().unwrap_or_default()
            } else {
                pointer.truncate(level.pointer);
                pointer.push(&level.index.to_string());
                Key { is_logprobs: level.in_logprobs, path: level.path, ..Key::default() }
            };
            let secret = key.secret.map(|kind| (kind, false)).or(level.secret);
            let secret = match key.meaning {
                KeyMeaning::Unknown => secret,
                KeyMeaning::Describes => None,
                KeyMeaning::Shows => secret.map(|_| (Kind::Shown, true)),
            };
            Place { key, secret, in_array: level.in_array }
        }
    }
}

/// The position of the closing quote of a string.
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
