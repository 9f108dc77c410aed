//! Lazy reading of JSON text whose structure is not trusted.
//!
//! Input: text that is one JSON value. Output: borrowed views of its parts, each still text. An object or array is parsed one
//! level at a time, and only when a decoder reads it. Parts that are not read are never unescaped or copied.
//!
//! A field of an unexpected type reads as absent (`None`), never as an error, because runners change with every release. Lone
//! surrogates are allowed; see [`Utf16Text`]. Nothing recurses, so nesting depth uses no stack.

mod check;
mod first_value;
mod object;
pub(crate) mod scan;
mod surrogates;
mod unescape;

pub use first_value::{FirstValue, first_value};
pub(crate) use object::Fields;
pub use object::Object;
use object::{Field, Read};
use scan::Scan;
use serde::de::{DeserializeSeed, Deserializer, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// JSON text, kept exactly as it arrived.
pub type RawJson = Arc<RawValue>;

/// One JSON value, as text without surrounding white space.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a>(&'a str);

/// The type of a JSON value, determined by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "JSON's own words")]
pub enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// The type's name in JSON Schema.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

impl<'a> Json<'a> {
    /// Wraps text that has already been parsed.
    pub fn new(raw: &'a RawValue) -> Self {
        Self(raw.get())
    }

    /// Parses text that must be exactly one JSON value.
    ///
    /// # Errors
    /// The parser's message, with its line and column.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<&RawValue>(text).map(Self::new)
    }

    /// The value's text.
    pub fn text(self) -> &'a str {
        self.0
    }

    /// The value's type.
    pub fn kind(self) -> Kind {
        match self.text().as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') | None => Kind::Null,
            Some(_) => Kind::Number,
        }
    }

    /// An owned copy on one line, otherwise unchanged: for values that a host sends back to the runner.
    pub fn to_raw_as_it_came(self) -> RawJson {
        RawValue::from_string(one_line(self.0).into_owned()).map_or_else(|_| empty_object(), Arc::from)
    }

    /// An owned copy on one line that every parser accepts. (A document may span lines, a frame may not.)
    pub fn to_raw(self) -> RawJson {
        RawValue::from_string(for_frame(one_line(self.0)).into_owned()).map_or_else(|_| empty_object(), Arc::from)
    }

    /// The string's text, borrowed if it has no escapes. A lone surrogate becomes U+FFFD.
    pub fn str(self) -> Option<Cow<'a, str>> {
        let inner = self.quoted()?;
        if scan::mark(inner.as_bytes()).is_none() {
            return Some(Cow::Borrowed(inner));
        }
        match unescape::unescape(inner) {
            Some(text) => Some(Cow::Owned(text)),
            None => self.utf16().map(|text| Cow::Owned(text.into_string())),
        }
    }

    /// The string's text. Half of a surrogate pair at either end is kept separately.
    pub fn utf16(self) -> Option<Utf16Text> {
        let inner = self.quoted()?;
        if scan::mark(inner.as_bytes()).is_none() {
            return Some(Utf16Text { low: None, text: inner.to_owned(), high: None });
        }
        if let Some(text) = unescape::unescape(inner) {
            return Some(Utf16Text { low: None, text, high: None });
        }
        // Read as bytes, serde_json returns a string in WTF-8: each lone surrogate as three bytes.
        let mut de = serde_json::Deserializer::from_str(self.text());
        Wtf8.deserialize(&mut de).ok().map(|bytes| Utf16Text::from_wtf8(&bytes))
    }

    /// The text between a string's quotes.
    pub(crate) fn quoted(self) -> Option<&'a str> {
        self.text().strip_prefix('"')?.strip_suffix('"')
    }

    /// A non-negative integer; a float spelling (`3.0`) is accepted.
    pub fn u64(self) -> Option<u64> {
        let text = self.number()?;
        text.parse().ok().or_else(|| {
            let float: f64 = text.parse().ok()?;
            ((0.0..9_007_199_254_740_992.0).contains(&float) && float.fract() == 0.0).then_some(float as u64)
        })
    }

    /// An integer; a float spelling is accepted.
    pub fn i64(self) -> Option<i64> {
        let text = self.number()?;
        text.parse().ok().or_else(|| {
            let float: f64 = text.parse().ok()?;
            (float.abs() < 9_007_199_254_740_992.0 && float.fract() == 0.0).then_some(float as i64)
        })
    }

    /// A finite number.
    pub fn f64(self) -> Option<f64> {
        self.number()?.parse().ok().filter(|float: &f64| float.is_finite())
    }

    fn number(self) -> Option<&'a str> {
        (self.kind() == Kind::Number).then(|| self.text())
    }

    /// `true` or `false`.
    pub fn bool(self) -> Option<bool> {
        match self.text() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Whether the value is `null`.
    pub fn is_null(self) -> bool {
        self.text() == "null"
    }

    /// The object's fields.
    pub fn object(self) -> Option<Object<'a>> {
        if self.kind() != Kind::Object {
            return None;
        }
        Self::fields(&mut Scan::new(self.0))
    }

    /// Consumes the fields of the object that begins here.
    fn fields(scan: &mut Scan<'a>) -> Option<Object<'a>> {
        let mut fields = Vec::with_capacity(8);
        while let Some(key) = scan.key() {
            let key = key.unescaped()?;
            let (value, is_plain) = scan.value_and_plainness()?;
            let read = if is_plain { Read::Plain } else { Read::Nothing };
            fields.push(Field { key, value: Json(value), read });
        }
        Some(Object::of(fields))
    }

    /// The array's items; empty if the value is not an array.
    pub fn items(self) -> Vec<Json<'a>> {
        let mut scan = Scan::new(self.0);
        if !scan.take(b'[') {
            return Vec::new();
        }
        std::iter::from_fn(|| scan.item().map(Json)).collect()
    }

    /// The array's objects with their indexes and fields, in one pass. Skips other items; empty if the value is not an array.
    pub(crate) fn objects(self) -> impl Iterator<Item = (usize, Json<'a>, Object<'a>)> {
        let mut scan = Scan::new(self.0);
        let is_array = scan.take(b'[');
        let items = std::iter::from_fn(move || {
            if !is_array || !scan.begin_item() {
                return None;
            }
            let start = scan;
            if scan.peek() == Some(b'{')
                && let Some(fields) = Self::fields(&mut scan)
                && scan.take(b'}')
            {
                return Some(Some((Self(start.text_to(&scan)?), fields)));
            }
            scan = start;
            scan.value().map(|_| None)
        });
        items.enumerate().filter_map(|(at, item)| item.map(|(object, fields)| (at, object, fields)))
    }
}

/// A string that may begin or end with half of a surrogate pair. Lone halves inside are replaced by U+FFFD.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Utf16Text {
    /// A low surrogate at the start; its other half ended the previous piece.
    pub low: Option<u16>,
    /// The complete characters.
    pub text: String,
    /// A high surrogate at the end; its other half begins the next piece.
    pub high: Option<u16>,
}

impl Utf16Text {
    /// The text, with U+FFFD for each half.
    pub fn into_string(mut self) -> String {
        if self.low.is_some() {
            self.text.insert(0, char::REPLACEMENT_CHARACTER);
        }
        if self.high.is_some() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        self.text
    }

    /// The complete characters of a piece that continues after `waiting`, the half at the end of the previous piece. Stores the
    /// half at the end of this piece in `waiting`.
    pub fn after(self, waiting: &mut Option<u16>) -> String {
        let Self { low, mut text, high } = self;
        match (waiting.take(), low) {
            (None, None) => {}
            (Some(first), Some(low)) => text.insert_str(0, &String::from_utf16_lossy(&[first, low])),
            (Some(first), None) if text.is_empty() && high.is_none() => {
                *waiting = Some(first);
                return text;
            }
            _ => text.insert(0, char::REPLACEMENT_CHARACTER),
        }
        *waiting = high;
        text
    }

    fn from_wtf8(bytes: &[u8]) -> Self {
        let mut units = Vec::new();
        let mut rest = bytes;
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    units.extend(text.encode_utf16());
                    break;
                }
                Err(error) => {
                    let (valid, bad) = rest.split_at(error.valid_up_to());
                    units.extend(String::from_utf8_lossy(valid).encode_utf16());
                    match bad {
                        [0xED, second @ 0xA0..=0xBF, third, tail @ ..] => {
                            units.push(0xD000 | (u16::from(*second & 0x3F) << 6) | u16::from(*third & 0x3F));
                            rest = tail;
                        }
                        [_, tail @ ..] => {
                            units.push(0xFFFD);
                            rest = tail;
                        }
                        [] => break,
                    }
                }
            }
        }
        let mut units = units.as_slice();
        let mut this = Self::default();
        if let [first @ 0xDC00..=0xDFFF, tail @ ..] = units {
            this.low = Some(*first);
            units = tail;
        }
        if let [head @ .., last @ 0xD800..=0xDBFF] = units {
            this.high = Some(*last);
            units = head;
        }
        this.text = String::from_utf16_lossy(units);
        this
    }
}

/// JSON text on one line: unchanged if it already is, otherwise without the white space between its tokens.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let (mut in_string, mut escaped) = (false, false);
    let kept = text.chars().filter(|&letter| {
        if in_string {
            in_string = escaped || letter != '"';
            escaped = !escaped && letter == '\\';
            return true;
        }
        in_string = letter == '"';
        !letter.is_ascii_whitespace()
    });
    Cow::Owned(kept.collect())
}

/// The text in a form that every parser accepts: half of a surrogate pair becomes U+FFFD.
pub(crate) fn for_frame(text: Cow<'_, str>) -> Cow<'_, str> {
    surrogates::whole(&text).map_or(text, Cow::Owned)
}

/// Maximum depth to which [`value`] follows a text that the ordinary parser rejects.
const MAX_DEPTH: usize = 96;

/// Parses any JSON text into a DOM, even if the ordinary parser rejects it: a lone surrogate becomes U+FFFD, a number out of
/// range the largest one, and nesting beyond the parser's depth limit an empty object or array.
///
/// # Errors
/// The ordinary parser's message if the text is not JSON at all.
pub fn value(text: &[u8]) -> Result<serde_json::Value, serde_json::Error> {
    serde_json::from_slice(text).or_else(|error| {
        let text = std::str::from_utf8(text).map_err(|_| error)?;
        Json::parse(text).map(|json| lossy(json, 0))
    })
}

fn lossy(json: Json<'_>, depth: usize) -> serde_json::Value {
    use serde_json::Value;
    match json.kind() {
        Kind::Array if depth < MAX_DEPTH => {
            json.items().into_iter().map(|item| lossy(item, depth + 1)).collect::<Vec<_>>().into()
        }
        Kind::Array => Value::Array(Vec::new()),
        Kind::Object if depth < MAX_DEPTH => {
            let fields = json.object().unwrap_or_default();
            Value::Object(fields.iter().map(|(key, field)| (key.to_owned(), lossy(field, depth + 1))).collect())
        }
        Kind::Object => Value::Object(serde_json::Map::new()),
        Kind::String => json.str().map_or(Value::Null, |text| Value::String(text.into_owned())),
        Kind::Number => serde_json::from_str(json.text())
            .unwrap_or_else(|_| Value::from(if json.text().starts_with('-') { f64::MIN } else { f64::MAX })),
        Kind::Bool | Kind::Null => json.bool().map_or(Value::Null, Value::Bool),
    }
}

/// Serialises one of our own values as owned JSON text.
pub fn to_raw<T: serde::Serialize + ?Sized>(value: &T) -> RawJson {
    serde_json::value::to_raw_value(value).map_or_else(|_| empty_object(), Arc::from)
}

/// `{}`.
pub fn empty_object() -> RawJson {
    use std::sync::OnceLock;
    static EMPTY: OnceLock<RawJson> = OnceLock::new();
    EMPTY
        .get_or_init(|| {
            RawValue::from_string("{}".to_owned()).map_or_else(|_| Arc::from(RawValue::NULL.to_owned()), Arc::from)
        })
        .clone()
}

struct Wtf8;

impl<'de> DeserializeSeed<'de> for Wtf8 {
    type Value = Vec<u8>;

    fn deserialize<D: Deserializer<'de>>(self, de: D) -> Result<Self::Value, D::Error> {
        de.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Wtf8 {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(bytes.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json<'_> {
        Json::parse(text).unwrap()
    }

    #[test]
    fn numbers_are_read_by_their_type() {
        assert_eq!(json("3").u64(), Some(3));
        assert_eq!(json("3.0").u64(), Some(3));
        assert_eq!(json("-3").u64(), None);
        assert_eq!(json("-3").i64(), Some(-3));
        assert_eq!(json("18446744073709551615").u64(), Some(u64::MAX));
        assert_eq!(json("1e400").f64(), None);
        assert_eq!(json("\"3\"").u64(), None);
    }

    #[test]
    fn the_last_of_repeated_keys_wins() {
        let object = json(r#"{"a":1,"a":2,"b":null}"#).object().unwrap();
        assert_eq!(object.u64("a"), Some(2));
        assert!(object.get("b").is_some() && object.some("b").is_none());
        assert_eq!(object.len(), 3);
    }

    #[test]
    fn escaped_keys_are_found() {
        assert_eq!(json(r#"{"\u0061":1}"#).object().unwrap().u64("a"), Some(1));
    }

    #[test]
    fn lone_surrogates_are_kept_separately() {
        let high = json(r#""x\ud83d""#).utf16().unwrap();
        assert_eq!((high.text.as_str(), high.high), ("x", Some(0xD83D)));
        let low = json(r#""\ude00y""#).utf16().unwrap();
        assert_eq!((low.low, low.text.as_str()), (Some(0xDE00), "y"));
        assert_eq!(json(r#""a\ud83db""#).str().unwrap(), "a\u{FFFD}b");
        assert_eq!(json(r#""\ud83d\ude00""#).str().unwrap(), "\u{1F600}");
    }

    #[test]
    fn objects_of_a_list_are_parsed_like_single_ones() {
        let list = r#"[ {"a":[{"b":1}],"c":"]}"} ,1,[{}],{}, { "d" : {"e":{}} }, "\"", {"\u0061":null} ]"#;
        let together: Vec<_> =
            json(list).objects().map(|(at, one, map)| (at, one.text(), format!("{map:?}"))).collect();
        let alone = json(list).items().into_iter().enumerate();
        let alone = alone.filter_map(|(at, one)| Some((at, one.text(), format!("{:?}", one.object()?))));
        assert_eq!(together, alone.collect::<Vec<_>>());
        assert_eq!(together.len(), 4);
        assert!(json("{\"a\":[{}]}").objects().next().is_none() && json("[]").objects().next().is_none());
        let deep = format!("[{}1{},{{}}]", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(json(&deep).objects().map(|(at, ..)| at).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn deep_nesting_uses_no_stack() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        let value = json(&deep);
        assert_eq!(value.items().len(), 1);
    }

    #[test]
    fn a_dom_is_built_from_any_valid_json() {
        assert_eq!(value(br#"{"a":1.5}"#).unwrap(), serde_json::json!({"a": 1.5}));
        assert_eq!(
            value(br#"{"a":["\ud83d",1e400,-1e400]}"#).unwrap(),
            serde_json::json!({"a": ["\u{FFFD}", f64::MAX, f64::MIN]})
        );
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(value(deep.as_bytes()).unwrap()["a"].is_array());
        assert!(value(b"{").is_err());
    }

    #[test]
    fn a_copy_is_on_one_line() {
        let text = "{\n  \"a \\\" b\" : [ 1,\r\n \"\\\\\" ]\n}";
        assert_eq!(json(text).to_raw().get(), "{\"a \\\" b\":[1,\"\\\\\"]}");
        assert_eq!(json("{\"a\": 1}").to_raw().get(), "{\"a\": 1}");
    }

    #[test]
    fn the_first_value_is_split_off() {
        let FirstValue::Value { json: first, fields, on_one_line: true, unescaped: true, rest } =
            first_value(" {\"a\":1}{\"b\":2}")
        else {
            panic!("no value on one line")
        };
        assert_eq!((first.text(), fields.u64("a"), rest), ("{\"a\":1}", Some(1), "{\"b\":2}"));
        let FirstValue::Value { json: odd, fields, .. } = first_value("{\"\\ud83d\":1}") else { panic!("no value") };
        assert_eq!((odd.text(), fields.u64("\u{FFFD}")), ("{\"\\ud83d\":1}", Some(1)));
        for text in ["{\n}", "{\"a\":1\r}", "{\"a\":[1,\n2]}", "{\"a\":{\r\n\"b\":1}}"] {
            assert!(matches!(first_value(text), FirstValue::Value { on_one_line: false, .. }), "{text:?}");
        }
        assert!(matches!(first_value("  "), FirstValue::Blank));
        assert!(matches!(first_value("{\"a\""), FirstValue::Invalid(_)));
    }
}
