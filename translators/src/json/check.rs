//! Parses an object in the same pass that checks that it is JSON.
//!
//! Input: text that should begin with an object. Output: its fields, those of nested objects, and its length. Never: text
//! accepted that is not JSON (RFC 8259). Whatever this reader does not certainly accept (an error, nesting deeper than
//! [`DEPTH`]) is left to the ordinary parser, which also reports what is wrong. So it has no error messages, and a rejection
//! costs only time.

use super::object::Read;
use super::scan::{Quoted, ones};
use super::{Field, Json};

/// Maximum nesting depth; one bit per level distinguishes objects from arrays.
const DEPTH: u32 = 63;

/// How many levels of objects are parsed: typically the record, its event, the item of the event and the item's state. Deeper
/// levels are seldom read.
const LEVELS: usize = 4;

/// A typical lower bound for a field's size in bytes, and the maximum number of fields to reserve for. Together they give the
/// initial capacity.
const FIELD_BYTES: usize = 20;
const MOST_EXPECTED: usize = 96;

/// A parsed object.
pub(super) struct Apart<'a> {
    /// Its fields, each followed by its nested fields.
    pub(super) fields: Vec<Field<'a>>,
    pub(super) length: usize,
    /// Whether the object contains no line end.
    pub(super) on_one_line: bool,
    /// Whether no string contains an escape.
    pub(super) unescaped: bool,
}

/// Parses the object at the start of `text`; `None` if it is not certainly one.
pub(super) fn object(text: &str) -> Option<Apart<'_>> {
    let mut check = Check { bytes: text.as_bytes(), at: 0, on_one_line: true, unescaped: true };
    // An estimate that is seldom too small. The excess is freed with the record.
    let mut fields = Vec::with_capacity((text.len() / FIELD_BYTES).clamp(8, MOST_EXPECTED));
    // The open objects: for each one, the index of its field and the position of its text.
    let mut open = [(0, 0); LEVELS - 1];
    let mut depth = 0;
    check.take(b'{')?;
    if check.next()? == b'}' {
        check.at += 1;
        return Some(check.apart(fields));
    }
    loop {
        let (start, escaped) = check.key()?;
        let key = Quoted { inner: text.get(start..check.at - 1)?, escaped }.unescaped()?;
        check.colon()?;
        let start = check.at;
        let first = check.bytes.get(start);
        if let (Some(b'{'), Some(place)) = (first, open.get_mut(depth)) {
            *place = (fields.len(), start);
            depth += 1;
            // The text is set when the object ends.
            fields.push(Field { key, value: Json(""), read: Read::Nothing });
            check.at += 1;
            if check.next()? != b'}' {
                continue;
            }
        } else {
            let read = if first == Some(&b'"') {
                check.at += 1;
                if check.string()? { Read::Nothing } else { Read::Plain }
            } else {
                check.value()?;
                Read::Nothing
            };
            fields.push(Field { key, value: Json(text.get(start..check.at)?), read });
        }
        loop {
            let byte = check.next()?;
            check.at += 1;
            match byte {
                b',' => break,
                b'}' if depth == 0 => {
                    return Some(check.apart(fields));
                }
                b'}' => {
                    depth -= 1;
                    let &(nth, start) = open.get(depth)?;
                    let inner = u32::try_from(fields.len() - nth - 1).ok()?;
                    let field = fields.get_mut(nth)?;
                    (field.value, field.read) = (Json(text.get(start..check.at)?), Read::Fields(inner));
                }
                _ => return None,
            }
        }
    }
}

struct Check<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether no line end was skipped. Strings cannot contain one.
    on_one_line: bool,
    /// Whether no string so far had an escape.
    unescaped: bool,
}

impl Check<'_> {
    /// The result for the object that ends here.
    fn apart<'a>(&self, fields: Vec<Field<'a>>) -> Apart<'a> {
        Apart { fields, length: self.at, on_one_line: self.on_one_line, unescaped: self.unescaped }
    }

    /// The next byte that is not white space; not consumed.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        match *self.bytes.get(self.at)? {
            byte if byte > b' ' => Some(byte),
            _ => self.behind_blanks(),
        }
    }

    /// Machine-written JSON has no white space between tokens, so this is a separate function, off the fast path.
    #[inline(never)]
    fn behind_blanks(&mut self) -> Option<u8> {
        loop {
            match *self.bytes.get(self.at)? {
                b' ' | b'\t' => self.at += 1,
                b'\n' | b'\r' => (self.at, self.on_one_line) = (self.at + 1, false),
                byte => return Some(byte),
            }
        }
    }

    /// Consumes the next byte that is not white space if it is `byte`.
    fn take(&mut self, byte: u8) -> Option<()> {
        // Usually `byte` comes immediately, and checking that is cheaper than skipping white space.
        let found = self.bytes.get(self.at) == Some(&byte) || self.next()? == byte;
        self.at += usize::from(found);
        found.then_some(())
    }

    /// Consumes a key with its quotes. Returns where its content begins, and whether it has an escape.
    #[inline(always)]
    fn key(&mut self) -> Option<(usize, bool)> {
        self.take(b'"')?;
        let start = self.at;
        Some((start, self.string()?))
    }

    fn colon(&mut self) -> Option<()> {
        self.take(b':')?;
        self.next().map(|_| ())
    }

    /// Consumes the content of a string and its closing quote. Returns whether it has an escape; if not, no function is called.
    #[inline]
    fn string(&mut self) -> Option<bool> {
        let (at, rest) = special(self.bytes.get(self.at..)?)?;
        self.at += at + 1;
        if rest.first() == Some(&b'"') {
            return Some(false);
        }
        self.at = self.bytes.len() - behind_escapes(rest)?.len();
        self.unescaped = false;
        Some(true)
    }

    fn literal(&mut self, word: &[u8]) -> Option<()> {
        let found = self.bytes.get(self.at..)?.starts_with(word);
        self.at += word.len();
        found.then_some(())
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn number(&mut self) -> Option<()> {
        let peek = |this: &Self| this.bytes.get(this.at).copied();
        self.at += usize::from(peek(self) == Some(b'-'));
        match peek(self)? {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if peek(self) == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = peek(self) {
            self.at += 1;
            self.at += usize::from(matches!(peek(self), Some(b'+' | b'-')));
            self.digits()?;
        }
        Some(())
    }

    /// Consumes the value that begins here.
    fn value(&mut self) -> Option<()> {
        // The lowest bit is the innermost level; the highest set bit marks the bottom.
        let mut levels = 1u64;
        loop {
            match *self.bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    self.string()?;
                }
                open @ (b'{' | b'[') => {
                    if levels >> DEPTH != 0 {
                        return None;
                    }
                    let is_object = open == b'{';
                    self.at += 1;
                    // An empty object or array is complete, like any other value.
                    if self.next()? == if is_object { b'}' } else { b']' } {
                        self.at += 1;
                    } else {
                        levels = levels << 1 | u64::from(is_object);
                        if is_object {
                            self.key()?;
                            self.colon()?;
                        }
                        continue;
                    }
                }
                b't' => self.literal(b"true")?,
                b'f' => self.literal(b"false")?,
                b'n' => self.literal(b"null")?,
                b'-' | b'0'..=b'9' => self.number()?,
                _ => return None,
            }
            loop {
                if levels == 1 {
                    return Some(());
                }
                match (self.next()?, levels & 1) {
                    (b',', is_object) => {
                        self.at += 1;
                        if is_object == 1 {
                            self.key()?;
                            self.colon()?;
                        } else {
                            self.next()?;
                        }
                        break;
                    }
                    (b'}', 1) | (b']', 0) => {
                        self.at += 1;
                        levels >>= 1;
                    }
                    _ => return None,
                }
            }
        }
    }
}

/// Returns the text after a string whose rest begins with an escape.
#[inline(never)]
fn behind_escapes(mut rest: &[u8]) -> Option<&[u8]> {
    loop {
        let tail = match rest {
            [b'"', tail @ ..] => return Some(tail),
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', tail @ ..] => tail,
            [b'\\', b'u', a, b, c, d, tail @ ..] if [a, b, c, d].into_iter().all(u8::is_ascii_hexdigit) => tail,
            _ => return None,
        };
        rest = special(tail)?.1;
    }
}

/// Finds the next byte that cannot be in a string unescaped: a quote, a backslash or a control character. Returns its position,
/// and the text from there on.
#[inline]
fn special(text: &[u8]) -> Option<(usize, &[u8])> {
    let mut rest = text;
    while let Some((bytes, tail)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*bytes);
        let controls = word.wrapping_sub(ones(b' ')) & !word & ones(0x80);
        let found = super::scan::marks(word) | controls;
        if found != 0 {
            let rest = rest.get(found.trailing_zeros() as usize / 8..)?;
            return Some((text.len() - rest.len(), rest));
        }
        rest = tail;
    }
    let rest = rest.get(rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..b' '))?..)?;
    Some((text.len() - rest.len(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    /// The ordinary parser's result: the length of the value at the start.
    fn parsed(text: &str) -> Option<usize> {
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        stream.next()?.ok().map(|_| stream.byte_offset())
    }

    #[test]
    fn valid_json_is_split_into_fields() {
        let text = r#" {"a" : 1, "b":{"c":[{}, [ ],"]",-0.5e+3,true,false,null]} ,"\u0061":"\ud83d\n" } {"#;
        let Apart { fields, length, on_one_line, unescaped } = object(text).unwrap();
        assert!(on_one_line && !unescaped);
        let seen: Vec<_> = fields.iter().map(|field| (field.key.as_ref(), field.value.text(), field.read)).collect();
        let list = r#"[{}, [ ],"]",-0.5e+3,true,false,null]"#;
        let nested = format!("{{\"c\":{list}}}");
        let expected = [
            ("a", "1", Read::Nothing),
            ("b", &*nested, Read::Fields(1)),
            ("c", list, Read::Nothing),
            ("a", r#""\ud83d\n""#, Read::Nothing),
        ];
        assert_eq!(seen, expected);
        assert_eq!(&text[length..], " {");
        assert_eq!(object("{}x").map(|apart| (apart.fields.len(), apart.length)), Some((0, 2)));
    }

    #[test]
    fn invalid_json_is_rejected() {
        for text in [
            "",
            "{",
            "[]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{,}",
            "{a:1}",
            "{\"a\":01}",
            "{\"a\":1.}",
            "{\"a\":.5}",
            "{\"a\":-}",
            "{\"a\":1e}",
            "{\"a\":+1}",
            "{\"a\":tru}",
            "{\"a\":[1,]}",
            "{\"a\":[1}",
            "{\"a\":{]}",
            "{\"a\":\"\n\"}",
            "{\"a\":\"\\x\"}",
            "{\"a\":\"\\u12g4\"}",
            "{\"a\":\"\\u12",
            "{\"a\":1 2}",
            "{\"a\":NaN}",
        ] {
            assert!(object(text).is_none(), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(object(&nested(DEPTH as usize)).is_some());
        assert!(object(&nested(DEPTH as usize + 1)).is_none());
        assert!(object(&nested(100_000)).is_none());
        let objects = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        assert!(object(&objects(DEPTH as usize)).is_some());
        assert!(object(&objects(100_000)).is_none());
    }

    /// Checks every object against parsing its text alone.
    fn agrees(fields: &super::super::Object<'_>, text: &str) -> bool {
        let alone = Json(text).object().unwrap_or_default();
        fields.len() == alone.len()
            && fields.iter().zip(alone.iter()).all(|((key, value), (other, text))| {
                key == other
                    && value.text() == text.text()
                    && (fields.iter().filter(|(other, _)| *other == key).count() > 1
                        || fields.object(key).is_none_or(|inner| agrees(&inner, value.text())))
            })
    }

    proptest! {
        #[test]
        fn nested_fields_equal_those_parsed_from_their_own_text(value in super::super::scan::tests::json()) {
            let text = format!("{{\"a\":{value},\"b\":{{\"a\":{value},\"c\":{{}},\"d\":{{\"a\":{value},\"x\":{{\"y\":{value}}}}}}}}}");
            let Apart { fields, .. } = object(&text).unwrap();
            let whole = super::super::Object::of(fields);
            prop_assert!(agrees(&whole, &text));
        }

        #[test]
        fn the_check_accepts_what_the_parser_accepts(text in "\\{(\"(a|\\\\n|\\\\u00e9|\\\\u|\u{1}|\u{e9}){0,9}\"|[\\[\\]{}:, ]|-|0|12|\\.5|e|E\\+|true|null|\"a\":){0,14}\\}") {
            let ours = object(&text).map(|apart| apart.length);
            prop_assert_eq!(ours, parsed(&text));
        }

        #[test]
        fn changed_bytes_are_accepted_or_rejected_as_by_the_parser(value in super::super::scan::tests::json(), at in any::<prop::sample::Index>(), byte in 0u8..0x80) {
            let mut text = format!("{{\"a\":{value},\"b\":[{value}]}}").into_bytes();
            let at = at.index(text.len());
            text[at] = byte;
            if let Ok(text) = String::from_utf8(text) {
                let ours = object(&text).map(|apart| apart.length);
                let theirs = parsed(&text).filter(|_| text.trim_start().starts_with('{'));
                prop_assert_eq!(ours, theirs);
            }
        }
    }
}
