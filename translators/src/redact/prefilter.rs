//! The prefilter: a cheap check of whether a record needs a full search.
//!
//! Input: the bytes of a record, or of a string as the record spells it. Output: whether it may hold a secret. Most records hold
//! none and skip all further stages. Never: a missed secret. A false alarm costs only time.
//!
//! A needle is the beginning of a format's secrets, or the name of a key. Each needle has a window of four bytes, chosen so
//! that few records contain them. The scan looks up three bytes at every second position of a record. Two groups of three
//! begin in each window, so the scan always meets one of them. Only then does it compare the needle itself, and check what
//! must precede and follow it.

use super::Rules;
use super::class::Class;
use super::formats::Shape;
use super::keys::{Keys, canonical};
use super::tail::LONGEST_NAME;
use super::text::Prepared;
use super::words::{is_behind_an_escape, is_inside_a_word};
use crate::hash::HashMap;
use regex::bytes::Regex;

pub(super) struct Prefilter {
    needles: Vec<Needle>,
    /// For the hash of each group of three bytes, the index of the list of needles that have it in their window.
    table: Box<[u16; 1 << 16]>,
    /// The first list is empty.
    lists: Vec<Vec<Entry>>,
    /// What may follow a name, and the signs among it.
    name: Regex,
    signs: Regex,
    vendor: Regex,
    url: Regex,
    in_text: bool,
    /// The ends of the names of keys, normalised.
    key_ends: Vec<String>,
    /// How many bytes of a name decide whether it has such an end.
    longest_end: usize,
}

/// How many bytes one iteration scans, and how many it reads for that.
const BLOCK: usize = 16;
const LOADED: usize = BLOCK + 2;
/// How many bytes a window has. A group of three begins at the first two of them.
const WINDOW: usize = 4;

/// What may follow a name: signs of an assignment, or blanks and a value.
const SIGNS: &str = r#"[ \t]*(?:\\|[=:>])|["'`][\])]?[ \t\r\n]*(?:[:=>]|,[ \t]+["'])|'[ \t]*,"#;
const BLANKS: &str = r#"[ \t]+[^\s"\\]{12}"#;
const BEHIND_FIRST: &[u8] = b"\\ \t=:>\"'`";

/// What may follow the name of a vendor, and begin it.
const BEHIND_VENDOR: &str = r#"[ \t"',]{0,16}[\\:=>]"#;
const BEHIND_VENDOR_FIRST: &[u8] = b"\\ \t=:>\"',";

/// Spellings that may hide a needle: ASCII characters as escapes, and an escaped slash.
const ESCAPES: [&str; 7] = ["\\u002", "\\u003", "\\u004", "\\u005", "\\u006", "\\u007", ESCAPED_SLASH];
const ESCAPED_SLASH: &str = "\\/";

/// The user and colon of a URL, followed by what may be a password and not a port, or by a sign and the rest of the text.
const URL: &str =
    r#"[^/\s"@:<>]*:(?:[0-9]{0,5}[^0-9/?#\s"'\\<>)\],;.:]|[0-9]{6}|[^\s"\\]*@|['<>)\],;.:/?#][^\s"\\]*(?:["\\]|\z))"#;

/// The words that precede a name whose value follows after a blank, and the maximum distance between them. All are in one
/// string.
const DECLARING: [&[u8]; 4] = [b"login", b"ENV", b"ARG", b"setx"];
const DECLARATION: usize = 70;

#[derive(Debug)]
struct Needle {
    literal: Vec<u8>,
    /// Whether to ignore case.
    folds: bool,
    behind: Next,
    /// For each byte, whether it may follow.
    follows: [bool; 256],
}

/// A needle that has a given group of bytes in its window.
#[derive(Clone, Copy, Debug)]
struct Entry {
    needle: usize,
    /// What to add to the position of the group for that of the needle. It wraps around: the needle may begin before.
    start: usize,
    /// The first four bytes of the needle, limited to the bits that are the same in all spellings.
    front: u32,
    mask: u32,
}

impl Entry {
    /// Whether the first bytes of the needle are in the text, if its group of bytes is at `at`.
    #[inline(always)]
    fn begins(&self, text: &[u8], at: usize) -> bool {
        let rest = text.get(at.wrapping_add(self.start)..);
        // A needle of fewer bytes may be at the end of the text.
        rest.is_some_and(|rest| {
            rest.first_chunk().is_none_or(|four| u32::from_le_bytes(*four) & self.mask == self.front)
        })
    }
}

/// What must follow a needle.
#[derive(Clone, Copy, Debug)]
enum Next {
    Anything,
    /// This many bytes of a class. With `begins_word`, the needle must also begin a word.
    Run {
        class: Class,
        size: usize,
        begins_word: bool,
    },
    /// An assignment, or blanks and a value.
    Name,
    /// The same. Before blanks and a value, the whole name must end in a key: many words of prose end in part of one.
    Key,
    Vendor,
    Url,
}

impl Prefilter {
    /// Creates a prefilter for these formats and keys. `in_text` says whether to search for the keys in plain text too.
    pub(super) fn new<'f>(
        formats: impl Iterator<Item = &'f Prepared>,
        keys: &Keys,
        in_text: bool,
    ) -> Result<Self, String> {
        let regex = |pattern: &str| {
            let pattern = format!("^(?:{pattern})");
            regex::bytes::RegexBuilder::new(&pattern).unicode(false).build().map_err(|error| error.to_string())
        };
        let mut this = Self {
            needles: Vec::new(),
            table: vec![0; 1 << 16].try_into().map_err(|_| "no table")?,
            lists: vec![Vec::new()],
            name: regex(&format!("{SIGNS}|{BLANKS}"))?,
            signs: regex(SIGNS)?,
            vendor: regex(BEHIND_VENDOR)?,
            url: regex(URL)?,
            in_text,
            key_ends: keys.all().map(str::to_owned).collect(),
            longest_end: keys.all().map(str::len).max().unwrap_or_default(),
        };
        let mut needles: Vec<Needle> = Vec::new();
        let mut add = |literal: &str, folds: bool, behind: Next| {
            needles.push(Needle { literal: literal.as_bytes().to_vec(), folds, behind, follows: [true; 256] });
        };
        for prepared in formats {
            let (folds, behind) = match &prepared.format.shape {
                Shape::Token(_) => (false, prepared.probe(true)),
                Shape::Around(..) => (false, prepared.probe(false)),
                Shape::Value(value) => (true, if value.in_name { Next::Vendor } else { Next::Name }),
                Shape::Pem => (false, Next::Anything),
                Shape::Url => (false, Next::Url),
            };
            prepared.format.stems.iter().for_each(|stem| add(stem, folds, behind));
        }
        let keys = keys.literals();
        // A name that ends in another name needs no needle of its own: the shorter one finds it.
        let is_needed = |key: &&String| !keys.iter().any(|end| end.len() < key.len() && key.ends_with(end.as_str()));
        keys.iter().filter(is_needed).for_each(|key| add(key, true, Next::Key));
        ESCAPES.iter().for_each(|escape| add(escape, false, Next::Anything));
        needles.into_iter().try_for_each(|needle| this.add(needle))?;
        Ok(this)
    }

    /// Adds a needle with its rarest window.
    fn add(&mut self, mut needle: Needle) -> Result<(), String> {
        let (places, lead) = needle.places();
        if let Some(next) = places.get(lead + needle.literal.len()) {
            needle.follows = std::array::from_fn(|byte| next.iter().any(|next| usize::from(*next) == byte));
        }
        let frequency = |at: usize| -> f64 {
            let share_of = |place: &Vec<u8>| place.iter().map(|byte| share(*byte)).sum::<f64>();
            (at..at + 2).map(|at| places.iter().skip(at).take(3).map(share_of).product::<f64>()).sum()
        };
        let last = (places.len() - WINDOW).min(needle.literal.len().saturating_sub(2));
        let first = (0..=last).min_by(|one, other| frequency(*one).total_cmp(&frequency(*other))).unwrap_or_default();
        let (mut front, mut mask) = ([0; 4], [0; 4]);
        for ((place, front), mask) in places.iter().skip(lead).zip(&mut front).zip(&mut mask) {
            *mask = place.iter().fold(0xFF, |bits, byte| bits & !(byte ^ place.first().unwrap_or(byte)));
            *front = place.first().copied().unwrap_or_default() & *mask;
        }
        let (front, mask) = (u32::from_le_bytes(front), u32::from_le_bytes(mask));
        for offset in first..first + 2 {
            let entry = Entry { needle: self.needles.len(), start: lead.wrapping_sub(offset), front, mask };
            let Some([one, two, three]) = places.get(offset..offset + 3) else { continue };
            let mut slots: Vec<u16> = Vec::new();
            for (one, two) in one.iter().flat_map(|one| two.iter().map(move |two| (*one, *two))) {
                slots.extend(three.iter().map(|three| hashed([one, two, *three, 0])));
            }
            slots.sort_unstable();
            slots.dedup();
            // Slots with the same needles share a list.
            let mut extended: HashMap<u16, u16> = HashMap::default();
            for slot in slots {
                let Some(list) = self.table.get_mut(usize::from(slot)) else { continue };
                if !extended.contains_key(list) {
                    let new = u16::try_from(self.lists.len()).map_err(|_| "they are too many")?;
                    let known = self.lists.get(usize::from(*list)).into_iter().flatten().copied();
                    self.lists.push(known.chain([entry]).collect());
                    extended.insert(*list, new);
                }
                *list = extended.get(list).copied().unwrap_or_default();
            }
        }
        self.needles.push(needle);
        Ok(())
    }

    fn has_any(&self, text: &[u8]) -> bool {
        let mut at = 0;
        while let Some(block) = text.get(at..).and_then(<[u8]>::first_chunk) {
            if self.has_any_in(block, text, at) {
                return true;
            }
            at += BLOCK;
        }
        // The last block overlaps the one before. Zeros after a short text cannot hide a needle.
        let found = match text.last_chunk() {
            Some(block) => self.has_any_in(block, text, text.len() - LOADED),
            None => {
                let mut block = [0; LOADED];
                block.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
                self.has_any_in(&block, text, 0)
            }
        };
        found || text.ends_with(ESCAPED_SLASH.as_bytes())
    }

    /// Whether a needle has a group of bytes in this block, which begins at `at`.
    #[inline(always)]
    fn has_any_in(&self, block: &[u8; LOADED], text: &[u8], at: usize) -> bool {
        for within in (0..BLOCK).step_by(2) {
            let Some(group) = block.get(within..within + 4).and_then(<[u8]>::first_chunk) else { continue };
            let list = self.table.get(usize::from(hashed(*group))).copied().unwrap_or_default();
            if list != 0 && self.begins_any(list, text, at + within) && self.has_any_of(list, text, at + within) {
                return true;
            }
        }
        false
    }

    /// Whether the text may have a needle of a list, with its group of bytes at `at`, by the first bytes of the needle.
    #[inline(never)]
    fn begins_any(&self, list: u16, text: &[u8], at: usize) -> bool {
        self.lists.get(usize::from(list)).is_some_and(|list| list.iter().any(|entry| entry.begins(text, at)))
    }

    /// Whether the text has a needle of a list, with its group of bytes at `at`.
    #[inline(never)]
    fn has_any_of(&self, list: u16, text: &[u8], at: usize) -> bool {
        let list = self.lists.get(usize::from(list)).map_or(&[][..], Vec::as_slice);
        for entry in list.iter().filter(|entry| entry.begins(text, at)) {
            let Some(needle) = self.needles.get(entry.needle) else { continue };
            let start = at.wrapping_add(entry.start);
            // The following byte excludes more than the needle itself, part of which is known to match.
            let next = text.get(start.saturating_add(needle.literal.len()));
            if next.is_none_or(|byte| needle.follows.get(usize::from(*byte)) == Some(&true))
                && self.has_needle(needle, text, start)
            {
                return true;
            }
        }
        false
    }

    #[inline(never)]
    fn has_needle(&self, needle: &Needle, text: &[u8], start: usize) -> bool {
        let rest = text.get(start..).unwrap_or_default();
        rest.split_at_checked(needle.literal.len()).is_some_and(|(front, behind)| {
            let is_it =
                if needle.folds { front.eq_ignore_ascii_case(&needle.literal) } else { front == needle.literal };
            is_it && self.may_follow(needle, text, start, behind)
        })
    }

    fn may_follow(&self, needle: &Needle, text: &[u8], start: usize, behind: &[u8]) -> bool {
        match needle.behind {
            Next::Anything => true,
            Next::Run { class, size, begins_word } => {
                behind.get(..size).is_some_and(|run| run.iter().all(|byte| class.has(*byte)))
                    && !(begins_word && is_inside_a_word(text, start) && !is_behind_an_escape(text, start))
            }
            Next::Name => self.name.is_match(behind) || (self.in_text && is_declared(text, start, behind)),
            Next::Key => {
                self.signs.is_match(behind)
                    || ((self.name.is_match(behind) || (self.in_text && is_declared(text, start, behind)))
                        && self.ends_in_a_key(text, text.len() - behind.len()))
            }
            Next::Vendor => {
                let name = behind.iter().take(LONGEST_NAME).take_while(|byte| Class::Dashed.has(**byte)).count();
                self.vendor.is_match(behind.get(name..).unwrap_or_default())
            }
            // Users and passwords are at most [`LONGEST_NAME`] bytes long.
            Next::Url => self.url.is_match(behind.get(..2 * LONGEST_NAME + 4).unwrap_or(behind)),
        }
    }

    /// Whether the name of a key may end at `end`, where blanks follow. Only plain text has values after blanks, and only bytes of
    /// [`Class::Dotted`] are in its names. All of them are in the text as they are: an escape that stands for one is a needle
    /// itself. But the last letter of an escape may precede the name, so the name may begin anywhere in the run.
    fn ends_in_a_key(&self, text: &[u8], end: usize) -> bool {
        // One more byte: whether a capital begins a word depends on the byte before it.
        let size = Class::Dotted.run_before(text, end, self.longest_end + 1);
        let name = canonical(str::from_utf8(text.get(end - size..end).unwrap_or_default()).unwrap_or_default());
        self.key_ends.iter().any(|key| name.ends_with(key.as_str()))
    }
}

/// Whether a blank alone may separate a name from its value: `--name value`, `ENV NAME value`, `login x password value`.
fn is_declared(text: &[u8], start: usize, behind: &[u8]) -> bool {
    if !matches!(behind.first(), Some(b' ' | b'\t')) {
        return false;
    }
    let name = start - Class::Dotted.run_before(text, start, LONGEST_NAME);
    let before = text.get(start.saturating_sub(DECLARATION)..start).unwrap_or_default();
    let before = before.rsplit(|byte| *byte == b'"').next().unwrap_or_default();
    let declares = |word: &[u8]| before.windows(word.len()).any(|front| front.eq_ignore_ascii_case(word));
    text.get(name..start).unwrap_or_default().contains(&b'-') || DECLARING.into_iter().any(declares)
}

impl Needle {
    /// The bytes that may be at each place, at least for a window, and how many of these places precede the needle.
    fn places(&self) -> (Vec<Vec<u8>>, usize) {
        let spelt = |byte: &u8| {
            if self.folds { vec![byte.to_ascii_lowercase(), byte.to_ascii_uppercase()] } else { vec![*byte] }
        };
        let mut places: Vec<Vec<u8>> = self.literal.iter().map(spelt).collect();
        places.iter_mut().for_each(Vec::dedup);
        let all = |has: &dyn Fn(u8) -> bool| (0..=u8::MAX).filter(|byte| has(*byte)).collect::<Vec<u8>>();
        match self.behind {
            Next::Run { class, size, .. } => places.extend((0..size).map(|_| all(&|byte| class.has(byte)))),
            Next::Name | Next::Key => places.push(BEHIND_FIRST.to_vec()),
            Next::Vendor => places.push(all(&|byte| Class::Dashed.has(byte) || BEHIND_VENDOR_FIRST.contains(&byte))),
            Next::Url | Next::Anything => {}
        }
        // A needle of two bytes has both in each group if its window begins before it.
        let lead = usize::from(places.len() == 2);
        (0..lead).for_each(|_| places.insert(0, all(&|_| true)));
        while places.len() < WINDOW {
            places.push(all(&|_| true));
        }
        (places, lead)
    }
}

/// The approximate frequency of a byte in records.
fn share(byte: u8) -> f64 {
    match byte {
        b'"' | b'e' | b't' => 0.06,
        b' ' | b'a' | b'i' | b'n' | b'o' | b'r' | b's' | b'_' => 0.04,
        b'd' | b'l' | b'p' | b'u' | b'c' | b'm' | b',' | b':' | b'0'..=b'9' => 0.02,
        b'a'..=b'z' | b'-' | b'.' | b'/' | b'\\' => 0.01,
        b'A'..=b'Z' | 0x21..=0x7E => 0.003,
        _ => 0.0001,
    }
}

/// The slot of the first three of these bytes in the table.
#[inline(always)]
fn hashed(group: [u8; 4]) -> u16 {
    // The factor shifts the fourth byte out.
    (u32::from_le_bytes(group).wrapping_mul(0x3779_B100) >> 16) as u16
}

impl Prepared {
    /// What the prefilter requires after the stem.
    fn probe(&self, begins_word: bool) -> Next {
        let (class, size) = self.front();
        Next::Run { class, size, begins_word }
    }
}

impl Rules {
    /// Whether a record, or a string as its record spells it, may hold a secret. One pass over its bytes, without state. `false`
    /// does not mean that its end cannot begin one.
    pub(super) fn is_suspect(&self, bytes: &[u8]) -> bool {
        !self.patterns.is_empty() || self.prefilter.has_any(bytes)
    }
}
