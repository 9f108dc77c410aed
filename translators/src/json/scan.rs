//! Steps over the parts of text that is known to be JSON.
//!
//! In: text that a parser has accepted, or that we wrote. Out: its parts, as text. Never: a look at what lies inside a part
//! that is stepped over; that is what makes it many times faster than parsing again. Text that is no JSON gives `None` or
//! nonsense, never a panic or an endless loop.

use std::borrow::Cow;
use std::ops::Range;

/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan<'a> {
    text: &'a str,
    at: usize,
    /// The places of values whose ends need not be looked for, in order; those behind us are gone.
    known: &'a [Range<usize>],
}

/// The inside of a string, without its quotes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoted<'a> {
    /// The text between the quotes, escapes and all.
    pub(crate) inner: &'a str,
    /// Whether there may be an escape in it.
    pub(crate) escaped: bool,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, known: &[] }
    }

    /// The places of some values are known: they are stepped over in one go.
    pub(crate) fn knowing(text: &'a str, known: &'a [Range<usize>]) -> Self {
        Self { text, at: 0, known }
    }

    /// Steps over the value that begins here, if its place is known.
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

    /// The next byte that is no white space; it is not taken.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let skip = rest.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))?;
        self.at += skip;
        rest.get(skip).copied()
    }

    /// Takes the next byte that is no white space, if it is this one.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Takes a string.
    pub(crate) fn string(&mut self) -> Option<Quoted<'a>> {
        if self.peek() != Some(b'"') {
            return None;
        }
        if let Some(whole) = self.jump() {
            let inner = whole.strip_prefix('"')?.strip_suffix('"')?;
            return Some(Quoted { inner, escaped: true });
        }
        self.at += 1;
        let (start, mut escaped) = (self.at, false);
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            let at = mark(rest)?;
            self.at += at + 1;
            if rest.get(at) == Some(&b'"') {
                let inner = self.text.get(start..self.at - 1)?;
                return Some(Quoted { inner, escaped });
            }
            escaped = true;
            self.at += 1;
        }
    }

    /// Takes a value, whatever it is; gives its text.
    pub(crate) fn value(&mut self) -> Option<&'a str> {
        match self.peek()? {
            b'"' => {
                let start = self.at;
                self.string()?;
                self.text.get(start..self.at)
            }
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

    fn container(&mut self) -> Option<&'a str> {
        let (start, mut depth) = (self.at, 0usize);
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            let at = rest.iter().position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']'))?;
            self.at += at;
            match rest.get(at)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                _ => depth -= 1,
            }
            self.at += 1;
            if depth == 0 {
                return self.text.get(start..self.at);
            }
        }
    }

    /// Takes what stands before an object's next field, and its key; `None` behind the last one.
    pub(crate) fn key(&mut self) -> Option<Quoted<'a>> {
        self.begin_field();
        let key = self.string()?;
        self.take(b':').then_some(key)
    }

    /// Takes what stands before an object's next field.
    pub(crate) fn begin_field(&mut self) {
        if !self.take(b'{') {
            self.take(b',');
        }
    }

    /// Takes exactly these bytes, if they stand here.
    pub(crate) fn literal(&mut self, bytes: &[u8]) -> bool {
        let found = self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(bytes));
        self.at += if found { bytes.len() } else { 0 };
        found
    }

    /// Takes what stands before an array's next item, and the item; `None` behind the last one.
    pub(crate) fn item(&mut self) -> Option<&'a str> {
        if !self.begin_item() { None } else { self.value() }
    }

    /// Takes what stands before an array's next item; `false` behind the last one.
    pub(crate) fn begin_item(&mut self) -> bool {
        if !self.take(b',') && self.peek() == Some(b']') {
            return false;
        }
        self.peek().is_some()
    }
}

impl<'a> Quoted<'a> {
    /// The string's text; a lone surrogate becomes U+FFFD.
    pub(crate) fn unescaped(self) -> Option<Cow<'a, str>> {
        if !self.escaped {
            return Some(Cow::Borrowed(self.inner));
        }
        let quoted = format!("\"{}\"", self.inner);
        super::Json(&quoted).str().map(|text| Cow::Owned(text.into_owned()))
    }
}

/// The next quote or backslash. Most strings are short: those are over before a vector search has begun.
fn mark(text: &[u8]) -> Option<usize> {
    let is_mark = |byte: &u8| matches!(byte, b'"' | b'\\');
    let near = text.get(..SHORT.min(text.len())).unwrap_or_default();
    near.iter().position(is_mark).or_else(|| {
        let far = text.get(SHORT..)?;
        memchr::memchr2(b'"', b'\\', far).map(|at| at + SHORT)
    })
}

const SHORT: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn json() -> impl Strategy<Value = Value> {
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
        fn it_sees_what_the_parser_sees(value in json(), pretty in any::<bool>()) {
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
        fn nonsense_is_survived(text in "[\"\\\\{}\\[\\],:a1 \u{e9}]{0,40}") {
            let mut scan = Scan::new(&text);
            for _ in 0..100 {
                if scan.key().is_none() && scan.value().is_none() && scan.item().is_none() {
                    break;
                }
            }
        }
    }
}
