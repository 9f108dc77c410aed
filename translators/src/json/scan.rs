//! Steps over the parts of text that is known to be JSON.
//!
//! Input: text that a parser has accepted, or that framegate wrote. Output: its parts, as text. Never: a look inside a part
//! that is skipped; this makes it many times faster than parsing again. Text that is not JSON gives `None` or meaningless
//! parts, but never a panic or an endless loop.

use super::Json;
use std::borrow::Cow;
use std::ops::Range;

/// A position in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan<'a> {
    text: &'a str,
    at: usize,
    /// The ranges of values whose ends are known, in order. Those before the position are removed.
    known: &'a [Range<usize>],
}

/// The content of a string, without its quotes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoted<'a> {
    /// The text between the quotes, with escapes unchanged.
    pub(crate) inner: &'a str,
    /// Whether it may contain an escape.
    pub(crate) escaped: bool,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, known: &[] }
    }

    /// A scan that skips the values at `known` without searching for their ends.
    pub(crate) fn knowing(text: &'a str, known: &'a [Range<usize>]) -> Self {
        Self { text, at: 0, known }
    }

    /// Skips the value that begins here, if its range is known.
    #[inline]
    fn jump(&mut self) -> Option<&'a str> {
        while let [place, rest @ ..] = self.known {
            if place.start > self.at {
                return None;
            }
            self.known = rest;
            if place.start == self.at {
                let start = std::mem::replace(&mut self.at, place.end);
                return self.text.get(start..place.end);
            }
        }
        None
    }

    /// The text between this position and a later one.
    pub(crate) fn text_to(&self, end: &Self) -> Option<&'a str> {
        self.text.get(self.at..end.at)
    }

    /// The next byte that is not white space; not consumed.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        // Machine-written JSON has no white space here.
        if let Some(&byte) = rest.first()
            && byte > b' '
        {
            return Some(byte);
        }
        let skip = rest.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))?;
        self.at += skip;
        rest.get(skip).copied()
    }

    /// Consumes the next byte that is not white space if it is `byte`.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Consumes a string.
    pub(crate) fn string(&mut self) -> Option<Quoted<'a>> {
        if self.peek() != Some(b'"') {
            return None;
        }
        if let Some(whole) = self.jump() {
            let inner = whole.strip_prefix('"')?.strip_suffix('"')?;
            return Some(Quoted { inner, escaped: true });
        }
        let start = self.at + 1;
        let (end, escaped) = string_end(self.text.as_bytes(), start)?;
        self.at = end + 1;
        Some(Quoted { inner: self.text.get(start..end)?, escaped })
    }

    /// Consumes a value of any type; returns its text.
    pub(crate) fn value(&mut self) -> Option<&'a str> {
        self.value_and_plainness().map(|(text, _)| text)
    }

    /// Consumes a value of any type; returns its text, and whether it certainly is a string without escapes.
    #[inline]
    pub(super) fn value_and_plainness(&mut self) -> Option<(&'a str, bool)> {
        if self.peek()? != b'"' {
            return self.other_value().map(|text| (text, false));
        }
        if let Some(whole) = self.jump() {
            return Some((whole, false));
        }
        let start = self.at;
        let (end, escaped) = string_end(self.text.as_bytes(), start + 1)?;
        self.at = end + 1;
        Some((self.text.get(start..self.at)?, !escaped))
    }

    /// Consumes a value that is not a string.
    fn other_value(&mut self) -> Option<&'a str> {
        match self.peek()? {
            b'{' | b'[' => self.jump().or_else(|| self.container()),
            _ => {
                let start = self.at;
                let rest = self.text.as_bytes().get(start..)?;
                let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
                self.text.get(start..self.at).filter(|text| !text.is_empty())
            }
        }
    }

    /// Consumes a value of any type.
    pub(crate) fn json(&mut self) -> Option<Json<'a>> {
        self.value().map(Json)
    }

    fn container(&mut self) -> Option<&'a str> {
        let (start, mut depth) = (self.at, 0usize);
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at)? {
                b'"' if self.known.is_empty() => self.at = string_end(bytes, self.at + 1)?.0,
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return self.text.get(start..self.at);
            }
        }
    }

    /// Consumes the separator before an object's next field, and its key; `None` after the last field.
    pub(crate) fn key(&mut self) -> Option<Quoted<'a>> {
        self.begin_field();
        let key = self.string()?;
        self.take(b':').then_some(key)
    }

    /// Consumes the separator before an object's next field.
    pub(crate) fn begin_field(&mut self) {
        if let Some(b'{' | b',') = self.peek() {
            self.at += 1;
        }
    }

    /// Consumes exactly these bytes, if they come next.
    pub(crate) fn literal(&mut self, bytes: &[u8]) -> bool {
        let found = self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(bytes));
        self.at += if found { bytes.len() } else { 0 };
        found
    }

    /// Consumes the separator before an array's next item, and the item; `None` after the last item.
    pub(crate) fn item(&mut self) -> Option<&'a str> {
        if !self.begin_item() { None } else { self.value() }
    }

    /// Consumes the separator before an array's next item; `false` after the last item.
    pub(crate) fn begin_item(&mut self) -> bool {
        if !self.take(b',') && self.peek() == Some(b']') {
            return false;
        }
        self.peek().is_some()
    }
}

impl<'a> Quoted<'a> {
    /// The unescaped text; a lone surrogate becomes U+FFFD.
    #[inline]
    pub(crate) fn unescaped(self) -> Option<Cow<'a, str>> {
        if self.escaped { self.read_escapes().map(Cow::Owned) } else { Some(Cow::Borrowed(self.inner)) }
    }

    /// Rarely called. A separate function keeps the caller small enough to inline.
    #[cold]
    #[inline(never)]
    fn read_escapes(self) -> Option<String> {
        let quoted = format!("\"{}\"", self.inner);
        super::Json(&quoted).str().map(Cow::into_owned)
    }
}

/// The end of a string whose content begins at `from`, and whether it has an escape.
#[inline]
fn string_end(text: &[u8], from: usize) -> Option<(usize, bool)> {
    let (mut at, mut escaped) = (from, false);
    loop {
        at += mark(text.get(at..)?)?;
        if text.get(at) == Some(&b'"') {
            return Some((at, escaped));
        }
        escaped = true;
        at += 2;
    }
}

/// The next quote or backslash. Most strings are so short that a vector search does not pay off.
#[inline]
pub(crate) fn mark(text: &[u8]) -> Option<usize> {
    let mut rest = text;
    for word in 0..SHORT {
        let Some((bytes, tail)) = rest.split_first_chunk() else {
            return rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).map(|at| at + word * 8);
        };
        let marks = marks(u64::from_le_bytes(*bytes));
        if marks != 0 {
            return Some(word * 8 + marks.trailing_zeros() as usize / 8);
        }
        rest = tail;
    }
    memchr::memchr2(b'"', b'\\', rest).map(|at| at + SHORT * 8)
}

/// In words of eight bytes.
const SHORT: usize = 5;

/// Sets the highest bit of each byte that is a quote or a backslash. Only the lowest flag is reliable.
#[inline(always)]
pub(super) const fn marks(word: u64) -> u64 {
    // Both bytes are below 0x80, so the highest bits stay as they are.
    let below = (word ^ ones(b'"')).wrapping_sub(ones(1)) | (word ^ ones(b'\\')).wrapping_sub(ones(1));
    below & !word & ones(0x80)
}

/// A word with this byte repeated eight times.
pub(super) const fn ones(byte: u8) -> u64 {
    u64::MAX / 0xFF * byte as u64
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    pub(in super::super) fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-z\"\\\\{}\\[\\],: \u{1F600}\n]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec(("[a-z\"\\\\]{0,6}", inner), 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_scanner_agrees_with_the_parser(value in json(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            prop_assert_eq!(Scan::new(&text).value(), Some(text.as_str()));
            if let Value::Object(map) = &value {
                let mut scan = Scan::new(&text);
                let mut seen = serde_json::Map::new();
                while let Some(key) = scan.key() {
                    let field = serde_json::from_str(scan.value().unwrap()).unwrap();
                    seen.insert(key.unescaped().unwrap().into_owned(), field);
                }
                prop_assert_eq!(&seen, map);
            }
            if let Value::Array(list) = &value {
                let mut scan = Scan::new(&text);
                prop_assert!(scan.take(b'['));
                let mut seen = Vec::new();
                while let Some(item) = scan.item() {
                    seen.push(serde_json::from_str::<Value>(item).unwrap());
                }
                prop_assert_eq!(&seen, list);
            }
        }

        #[test]
        fn marks_are_found_at_every_position(text in "[a\"\\\\ \u{e9}\u{22ff}]{0,70}", far in 0usize..60) {
            let text = format!("{}{text}", "x".repeat(far));
            let expected = text.bytes().position(|byte| byte == b'"' || byte == b'\\');
            prop_assert_eq!(mark(text.as_bytes()), expected);
        }

        #[test]
        fn arbitrary_text_does_not_panic(text in "[\"\\\\{}\\[\\],:a1 \u{e9}]{0,40}") {
            let mut scan = Scan::new(&text);
            for _ in 0..100 {
                if scan.key().is_none() && scan.value().is_none() && scan.item().is_none() {
                    break;
                }
            }
        }
    }
}
