//! The prefilter: a cheap check of whether a record needs a full search.
//!
//! Input: the bytes of a record, or a text without escapes. Output: whether it may hold a secret. Most records hold none and
//! skip all further stages. Never: a missed secret. A false alarm costs only time.
//!
//! A needle is the beginning of a format's secrets, or the name of a key. Each needle has a window of five places, chosen so
//! that few records contain those bytes. The scan looks up every second pair of bytes of a record. If a window has that pair,
//! the scan looks up the pair together with the two bytes after it. Two such groups of four bytes begin in each window, so
//! the scan always meets one of them. Only then does it compare the needle itself, and check what must precede and follow it.

use super::Rules;
use super::class::Class;
use super::formats::Shape;
use super::tail::LONGEST_NAME;
use super::text::Prepared;
use super::words::{is_behind_an_escape, is_inside_a_word};
use regex::bytes::Regex;

pub(super) struct Prefilter {
    needles: Vec<Needle>,
    /// For each pair of bytes, the index of its list. [`CERTAIN`] is set if the next two bytes need no check. 0 if no window
    /// has the pair.
    pairs: Box<[u16; 1 << 16]>,
    /// The needles that have the pair in their window.
    lists: Vec<Vec<Entry>>,
    /// A bit set of the hashes of all groups of four bytes in windows.
    grams: Box<[u64; 1 << GRAM_BITS]>,
    name: Regex,
    url: Regex,
    in_text: bool,
}

/// The base 2 logarithm of the number of words in `grams`.
const GRAM_BITS: u32 = 15;
const CERTAIN: u16 = 1 << 15;
/// How many bytes one iteration scans.
const BLOCK: usize = 16;
/// How many places a window has. A group of four bytes begins at the first two of them.
const WINDOW: usize = 5;
/// A place with more spellings of four bytes than this stores none of them. Its pairs alone decide.
const MOST_GRAMS: usize = 1 << 13;

/// What may follow the name of a key.
const BEHIND: &str = r#"(?:\\|[ \t]*[=:>]|["'`][\])]?[ \t\r\n]*(?:[:=]|,[ \t]+["'])|'[ \t]*,|[ \t]+[^\s"\\]{12})"#;
const BEHIND_FIRST: &[u8] = b"\\ \t=:>\"'`";

/// Spellings that may hide a needle: ASCII characters as escapes, and an escaped slash.
const ESCAPES: [&str; 7] = ["\\u002", "\\u003", "\\u004", "\\u005", "\\u006", "\\u007", "\\/"];

/// The user and colon of a URL, with what may be a password but not a port.
const URL: &str = r#"[^/\s"@:<>]*:(?:[0-9]{0,5}[^0-9/?#\s"'\\<>)\],;.:]|[0-9]{6}|[^\s"\\]*@)"#;

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
    /// A bit set of the bytes that may follow.
    follows: [u64; 4],
}

/// A needle that has a given pair in its window.
#[derive(Debug)]
struct Entry {
    needle: usize,
    /// The distance of the pair from the beginning of the needle.
    offset: usize,
    /// The four bytes from the pair on, limited to the bits that are the same in all spellings.
    gram: u32,
    mask: u32,
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
    Name,
    Vendor,
    Url,
}

impl Prefilter {
    /// Creates a prefilter for these formats and keys. The keys are names in all spellings. `in_text` says whether to search
    /// for them in plain text too.
    pub(super) fn new<'f>(
        formats: impl Iterator<Item = &'f Prepared>,
        keys: &[String],
        in_text: bool,
    ) -> Result<Self, regex::Error> {
        let regex = |pattern: &str| regex::bytes::RegexBuilder::new(&format!("^(?:{pattern})")).unicode(false).build();
        let mut this = Self {
            needles: Vec::new(),
            pairs: boxed(),
            lists: vec![Vec::new()],
            grams: boxed(),
            name: regex(BEHIND)?,
            url: regex(URL)?,
            in_text,
        };
        let mut needles: Vec<Needle> = Vec::new();
        let mut add = |literal: &str, folds: bool, behind: Next| {
            needles.push(Needle { literal: literal.as_bytes().to_vec(), folds, behind, follows: [u64::MAX; 4] });
        };
        for prepared in formats {
            let (folds, behind) = match prepared.format.shape {
                Shape::Token(_) => (false, prepared.probe(true)),
                Shape::Around { .. } => (false, prepared.probe(false)),
                Shape::After { .. } => (true, Next::Name),
                Shape::Named { .. } => (true, Next::Vendor),
                Shape::Pem => (false, Next::Anything),
                Shape::Url => (false, Next::Url),
            };
            prepared.format.stems.iter().for_each(|stem| add(stem, folds, behind));
        }
        // A name that ends in another name needs no needle of its own: the shorter one finds it.
        let is_needed = |key: &&String| !keys.iter().any(|end| end.len() < key.len() && key.ends_with(end.as_str()));
        keys.iter().filter(is_needed).for_each(|key| add(key, true, Next::Name));
        ESCAPES.iter().for_each(|escape| add(escape, false, Next::Anything));
        // Short needles have the least choice, so they choose first. Later needles then prefer pairs that are in use already.
        needles.sort_by_key(|needle| needle.literal.len());
        for needle in needles {
            this.add(needle);
        }
        Ok(this)
    }

    /// Adds a needle with its cheapest window.
    fn add(&mut self, mut needle: Needle) {
        let places = needle.places();
        if let Some(next) = places.get(needle.literal.len()) {
            needle.follows = [0; 4];
            for byte in next {
                needle.follows.get_mut(usize::from(byte >> 6)).into_iter().for_each(|bits| *bits |= 1 << (byte & 63));
            }
        }
        let last = places.len() - WINDOW;
        let cost = |at: &usize| {
            let window = places.get(*at..at + WINDOW).unwrap_or_default();
            let new = |pair: u16| self.pairs.get(usize::from(pair)).is_none_or(|list| *list == 0);
            let pairs: f64 =
                (0..2).map(|at| pairs_of(window, at).filter(|pair| new(*pair)).map(share_of_pair).sum::<f64>()).sum();
            let grams: f64 =
                (0..2).map(|at| window.iter().skip(at).take(4).map(|place| share_of(place)).product::<f64>()).sum();
            // A new pair costs a lookup of the next two bytes. A matching group of four bytes costs a comparison with a list
            // of needles.
            pairs + grams * 2000.0
        };
        let costs = (0..=last.min(needle.literal.len().saturating_sub(2))).map(|at| (at, cost(&at)));
        let Some((first, _)) = costs.min_by(|one, other| one.1.total_cmp(&other.1)) else { return };
        let number = self.needles.len();
        for at in first..first + 2 {
            let Some([one, two, three, four]) = places.get(at..at + 4) else { continue };
            let bits =
                |place: &Vec<u8>| place.iter().fold(0xFF, |bits, byte| bits & !(byte ^ place.first().unwrap_or(byte)));
            let mask = u32::from_le_bytes([one, two, three, four].map(bits));
            let gram = [one, two, three, four].map(|place| place.first().copied().unwrap_or_default());
            let gram = u32::from_le_bytes(gram) & mask;
            let is_certain = [one, two, three, four].iter().map(|place| place.len()).product::<usize>() > MOST_GRAMS;
            for pair in pairs_of(&places, at) {
                let Some(list) = self.pairs.get_mut(usize::from(pair)) else { continue };
                if *list & !CERTAIN == 0 {
                    *list |= u16::try_from(self.lists.len()).unwrap_or_default();
                    self.lists.push(Vec::new());
                }
                if let Some(list) = self.lists.get_mut(usize::from(*list & !CERTAIN)) {
                    list.push(Entry { needle: number, offset: at, gram, mask });
                }
                if is_certain {
                    *list |= CERTAIN;
                    continue;
                }
                let [first, second] = pair.to_le_bytes();
                for (third, fourth) in three.iter().flat_map(|third| four.iter().map(move |fourth| (*third, *fourth))) {
                    let (word, bit) = hashed([first, second, third, fourth]);
                    self.grams.get_mut(word).into_iter().for_each(|word| *word |= bit);
                }
            }
        }
        self.needles.push(needle);
    }

    fn has_any(&self, text: &[u8]) -> bool {
        let mut at = 0;
        while let Some(block) = text.get(at..).and_then(|rest| rest.first_chunk::<{ BLOCK + 2 }>()) {
            for within in (0..BLOCK).step_by(2) {
                let Some(gram) = block.get(within..within + 4).and_then(|gram| gram.first_chunk()) else { continue };
                if self.has_gram(*gram) && self.compare(text, at + within, *gram) {
                    return true;
                }
            }
            at += BLOCK;
        }
        // Zeros after the text cannot hide a needle.
        let mut rest = [0; BLOCK + 4];
        text.get(at..).into_iter().flatten().zip(&mut rest).for_each(|(from, to)| *to = *from);
        let starts = (0..text.len() - at).step_by(2);
        starts.into_iter().any(|within| {
            let gram = rest.get(within..).and_then(|rest| rest.first_chunk());
            gram.is_some_and(|gram| self.has_gram(*gram) && self.compare(text, at + within, *gram))
        })
    }

    /// Whether four bytes may be in a window.
    #[inline(always)]
    fn has_gram(&self, gram: [u8; 4]) -> bool {
        let [one, two, ..] = gram;
        let list = self.pairs.get(usize::from(u16::from_le_bytes([one, two]))).copied().unwrap_or_default();
        list != 0 && {
            let (word, bit) = hashed(gram);
            list >= CERTAIN || self.grams.get(word).is_some_and(|word| word & bit != 0)
        }
    }

    /// Whether a needle is in the text with one of its pairs at `at`.
    #[inline(never)]
    fn compare(&self, text: &[u8], at: usize, gram: [u8; 4]) -> bool {
        let list = self.pairs.get(usize::from(u16::from_le_bytes([gram[0], gram[1]]))).copied().unwrap_or_default();
        let Some(list) = self.lists.get(usize::from(list & !CERTAIN)) else { return false };
        let gram = u32::from_le_bytes(gram);
        for entry in list {
            if gram & entry.mask != entry.gram {
                continue;
            }
            let Some(start) = at.checked_sub(entry.offset) else { continue };
            let Some(needle) = self.needles.get(entry.needle) else { continue };
            let Some((said, behind)) = text.get(start..).and_then(|rest| rest.split_at_checked(needle.literal.len()))
            else {
                continue;
            };
            // Check the following byte first. It excludes more than the needle itself, part of which is known to match.
            if behind.first().is_some_and(|byte| !needle.may_go_on_with(*byte)) {
                continue;
            }
            let is_it = if needle.folds { said.eq_ignore_ascii_case(&needle.literal) } else { said == needle.literal };
            if is_it && self.may_follow(needle, text, start, behind) {
                return true;
            }
        }
        false
    }

    fn may_follow(&self, needle: &Needle, text: &[u8], start: usize, behind: &[u8]) -> bool {
        match needle.behind {
            Next::Anything => true,
            Next::Run { class, size, begins_word } => {
                behind.get(..size).is_some_and(|run| run.iter().all(|byte| class.has(*byte)))
                    && !(begins_word && is_inside_a_word(text, start) && !is_behind_an_escape(text, start))
            }
            Next::Name => self.name.is_match(behind) || (self.in_text && is_declared(text, start, behind)),
            Next::Vendor => {
                let name = behind.iter().take(LONGEST_NAME).take_while(|byte| Class::Dashed.has(**byte)).count();
                self.name.is_match(behind.get(name..).unwrap_or_default())
            }
            // Users and passwords are at most [`LONGEST_NAME`] bytes long.
            Next::Url => self.url.is_match(behind.get(..2 * LONGEST_NAME + 4).unwrap_or(behind)),
        }
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
    /// Whether a byte may follow the needle.
    #[inline]
    fn may_go_on_with(&self, byte: u8) -> bool {
        self.follows.get(usize::from(byte >> 6)).is_some_and(|bits| bits & 1 << (byte & 63) != 0)
    }

    /// The bytes that may be at each place, from the first one of the needle on. There are at least as many places as a
    /// window has.
    fn places(&self) -> Vec<Vec<u8>> {
        let spelt = |byte: &u8| {
            if self.folds { vec![byte.to_ascii_lowercase(), byte.to_ascii_uppercase()] } else { vec![*byte] }
        };
        let mut places: Vec<Vec<u8>> = self.literal.iter().map(spelt).collect();
        places.iter_mut().for_each(Vec::dedup);
        let all = |has: &dyn Fn(u8) -> bool| (0..=u8::MAX).filter(|byte| has(*byte)).collect::<Vec<u8>>();
        match self.behind {
            Next::Run { class, size, .. } => places.extend((0..size).map(|_| all(&|byte| class.has(byte)))),
            Next::Name => places.push(BEHIND_FIRST.to_vec()),
            Next::Vendor => places.push(all(&|byte| Class::Dashed.has(byte) || BEHIND_FIRST.contains(&byte))),
            Next::Url | Next::Anything => {}
        }
        while places.len() < WINDOW {
            places.push(all(&|_| true));
        }
        places
    }
}

/// The pairs that may be at a place.
fn pairs_of(places: &[Vec<u8>], at: usize) -> impl Iterator<Item = u16> {
    let (one, two) = (places.get(at).into_iter().flatten(), places.get(at + 1));
    one.flat_map(move |one| two.into_iter().flatten().map(move |two| u16::from_le_bytes([*one, *two])))
}

fn share_of_pair(pair: u16) -> f64 {
    pair.to_le_bytes().into_iter().map(share).product()
}

fn share_of(place: &[u8]) -> f64 {
    place.iter().map(|byte| share(*byte)).sum()
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

/// The word and the bit of four bytes in `grams`.
#[inline(always)]
fn hashed(gram: [u8; 4]) -> (usize, u64) {
    let hash = u32::from_le_bytes(gram).wrapping_mul(0x9E37_79B1) >> (32 - GRAM_BITS - 6);
    ((hash >> 6) as usize, 1 << (hash & 63))
}

fn boxed<T: Copy + Default, const SIZE: usize>() -> Box<[T; SIZE]> {
    vec![T::default(); SIZE].into_boxed_slice().try_into().unwrap_or_else(|_| Box::new([T::default(); SIZE]))
}

impl Prepared {
    /// What the prefilter requires after the stem.
    fn probe(&self, begins_word: bool) -> Next {
        let (class, size) = self.front();
        Next::Run { class, size, begins_word }
    }
}

impl Rules {
    /// Whether a record may hold a secret. One pass over its bytes, without state.
    pub(super) fn is_suspect(&self, bytes: &[u8]) -> bool {
        !self.patterns.is_empty() || self.prefilter.has_any(bytes)
    }

    /// Whether a string of a record, in its escaped spelling, may hold a secret. `false` does not mean that its end cannot
    /// begin one.
    pub(super) fn may_have_a_secret(&self, inner: &[u8]) -> bool {
        memchr::memchr(b'\\', inner).is_some() || self.is_suspect(inner)
    }
}
