//! The JSON Schemas of a contract, selected by event type and compiled once.
//!
//! Input: an event's JSON text. Output: nothing, or where and how it violates its schema. Never: a network fetch, event values
//! in a message, or one large `oneOf` (its errors say nothing useful, and it costs a thousand times as much).
//!
//! A verdict comes from the first of these that has one:
//! 1. `shapes`: the cached verdict on objects of the same shape. Valid events and all records are cached.
//! 2. `rules`: accepts what is certainly valid without building a DOM, for a fifth of the instructions of the next step.
//! 3. `jsonschema`, behind `validator`: every violation and its message.
//!
//! Without the feature `validation` no schema compiles: [`Schemas::compile`] returns an error that says so.

pub mod document;
mod packed;
pub mod rules;
mod shapes;
#[cfg_attr(not(feature = "validation"), path = "no_validator.rs")]
mod validator;

use crate::encode::EventRef;
use crate::hash::HashMap;
use crate::json::{Fields, Json, Kind};
use rules::{Documents, Rules};
use serde_json::Value;
use shapes::ShapeCache;
use std::borrow::Cow;
use std::ops::Range;
use validator::Registry;
pub(crate) use validator::{ValidationError, Validator, compile_foreign, violations};

/// One schema file.
#[derive(Clone, Copy, Debug)]
pub struct SchemaFile {
    /// The event type that the schema describes.
    pub kind: &'static str,
    text: Text,
}

#[derive(Clone, Copy, Debug)]
enum Text {
    Plain(&'static str),
    /// Compressed in the program.
    Packed {
        /// The path below `schemas/`.
        folder: &'static str,
        name: &'static str,
    },
}

impl SchemaFile {
    /// A schema with this text.
    pub const fn new(kind: &'static str, text: &'static str) -> Self {
        Self { kind, text: Text::Plain(text) }
    }

    /// A schema from `schemas/`. Only for [`schema_file!`], which checks that there is one.
    pub(crate) const fn packed(kind: &'static str, folder: &'static str, name: &'static str) -> Self {
        Self { kind, text: Text::Packed { folder, name } }
    }

    /// The schema's text.
    pub fn text(&self) -> &'static str {
        match self.text {
            Text::Plain(text) => text,
            Text::Packed { folder, name } => packed::text(folder, name),
        }
    }
}

/// The schema of a kind from a folder in `schemas/`.
macro_rules! schema_file {
    ($folder:expr, $kind:expr) => {
        $crate::schema::schema_file!($folder, $kind, $kind, concat!($kind, ".schema.json"))
    };
    ($folder:expr, $kind:expr, $name:expr, $file:expr) => {{
        // Not in the program: only the compiler reads it, and refuses a path that does not exist.
        const _: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/", $folder, "/", $file));
        $crate::schema::SchemaFile::packed($kind, $folder, $name)
    }};
}

pub(crate) use schema_file;

/// The schemas of some kinds from a folder in `schemas/`.
///
/// The list is a static. If it were a constant, every unit of code that uses it would contain the list once more.
macro_rules! schemas {
    ($folder:literal: $($kind:literal),+ $(,)?) => {{
        static FILES: &[$crate::schema::SchemaFile] = &[$($crate::schema::schema_file!($folder, $kind)),+];
        FILES
    }};
}

pub(crate) use schemas;

/// A violation of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where in the event, as a JSON pointer.
    pub pointer: String,
    /// The violated keyword, such as `required`.
    pub keyword: String,
    /// What is wrong, without the event's values.
    pub message: String,
}

/// The compiled schemas of one contract or of one runner's surface, with the verdicts `V` on objects of known shapes.
pub struct Schemas<V = Vec<Violation>> {
    by_kind: HashMap<&'static str, Compiled<V>>,
}

struct Compiled<V> {
    /// `None` if the schema has keywords that only the full validator knows.
    rules: Option<Rules>,
    shapes: ShapeCache<V>,
    validator: Validator,
}

/// A verdict on a record, and whether it holds for all records of the same shape.
pub(crate) struct Judged<V> {
    pub(crate) verdict: V,
    pub(crate) is_reusable: bool,
}

impl Schemas {
    /// Compiles the schemas of a contract.
    ///
    /// # Errors
    /// The name of the type whose schema is invalid, and why. The built-in contracts have no invalid schemas (tested).
    pub fn compile(files: &'static [SchemaFile]) -> Result<Self, String> {
        Self::compile_with(files, &[])
    }

    /// Compiles schemas that refer by `$id` to the schemas in `shared`. The `kind` of a shared schema is used only in error
    /// messages.
    ///
    /// # Errors
    /// Like [`Schemas::compile`]; also a reference to a schema that is not in `shared`.
    pub fn compile_with(files: &[SchemaFile], shared: &[SchemaFile]) -> Result<Self, String> {
        Self::link(&Source::of_all(files)?, &Source::of_all(shared)?)
    }

    /// Checks an event that framegate wrote. An unknown type is a violation.
    ///
    /// # Errors
    /// Every violation that was found, at least one.
    pub fn check(&self, event: EventRef<'_>) -> Result<(), Vec<Violation>> {
        let Some(compiled) = self.by_kind.get(event.kind) else { return Err(vec![unknown(event.kind)]) };
        let has_shape = !event.shape.fields.is_empty();
        if has_shape && compiled.shapes.event(event.shape).is_some_and(Vec::is_empty) {
            return Ok(());
        }
        let text = std::str::from_utf8(event.payload).unwrap_or_default();
        compiled.check_text(text, event.known)?;
        if has_shape && let Some(rules) = &compiled.rules {
            compiled.shapes.learn_event(rules, event.shape, Vec::new());
        }
        Ok(())
    }
}

impl<V> Schemas<V> {
    /// Compiles schemas that may refer to each other by `$id`. `read` transforms each schema first.
    ///
    /// # Errors
    /// Like [`Schemas::compile`]; also a reference to a schema that is not in `files`.
    pub fn compile_each(files: &[SchemaFile], read: fn(Value) -> Value) -> Result<Self, String> {
        let mut sources = Source::of_all(files)?;
        for source in &mut sources {
            source.schema = read(source.schema.take());
            source.text = source.schema.to_string().into();
        }
        Self::link(&sources, &sources)
    }

    fn link(sources: &[Source<'_>], shared: &[Source<'_>]) -> Result<Self, String> {
        let registry = Registry::of(&mut shared.iter().map(|source| (source.kind, &source.schema)))?;
        let documents = Documents::of(shared.iter().filter_map(|source| Json::parse(&source.text).ok()));
        let mut by_kind = HashMap::with_capacity_and_hasher(sources.len(), Default::default());
        for Source { kind, text, schema } in sources {
            let validator = registry.compile(schema).map_err(|error| of(kind, &error))?;
            let rules = Json::parse(text).ok().and_then(|schema| Rules::compile_with(schema, &documents));
            by_kind.insert(*kind, Compiled { rules, shapes: ShapeCache::default(), validator });
        }
        Ok(Self { by_kind })
    }

    /// The same schemas with verdicts of another type, on at most this many shapes of each kind of object.
    pub(crate) fn caching<W>(self, most: usize) -> Schemas<W> {
        let with_cache = |(kind, Compiled { rules, validator, .. })| {
            (kind, Compiled { rules, validator, shapes: ShapeCache::with_capacity(most) })
        };
        Schemas { by_kind: self.by_kind.into_iter().map(with_cache).collect() }
    }

    /// Whether there is a schema for the type.
    pub fn knows(&self, kind: &str) -> bool {
        self.by_kind.contains_key(kind)
    }

    /// The verdict on a parsed record; `None` if its kind is unknown. `judge` derives it from the violations. A reusable verdict
    /// must contain nothing of the record except places, names of properties, and the types of values.
    pub(crate) fn verdict(
        &self,
        kind: &str,
        record: Json<'_>,
        fields: Fields<'_, '_>,
        judge: impl FnOnce(Vec<ValidationError<'_>>) -> Judged<V>,
    ) -> Option<Cow<'_, V>>
    where
        V: Clone,
    {
        let compiled = self.by_kind.get(kind)?;
        // A list has no fields and thus no shape.
        let is_object = record.kind() == Kind::Object;
        if is_object && let Some(verdict) = compiled.cached(fields) {
            return Some(Cow::Borrowed(verdict));
        }
        let Judged { verdict, is_reusable } = compiled.judge(record.text(), &[], judge).ok()?;
        if is_object
            && is_reusable
            && let Some(rules) = &compiled.rules
        {
            compiled.shapes.learn_record(rules, fields, || verdict.clone());
        }
        Some(Cow::Owned(verdict))
    }

    /// Checks text that a parser has already accepted as JSON.
    ///
    /// # Errors
    /// Every violation that was found, at least one.
    pub fn check_text(&self, kind: &str, text: &str) -> Result<(), Vec<Violation>> {
        self.by_kind.get(kind).map_or_else(|| Err(vec![unknown(kind)]), |compiled| compiled.check_text(text, &[]))
    }

    /// Checks an event that is already parsed.
    ///
    /// # Errors
    /// Every violation that was found, at least one.
    pub fn check_value(&self, kind: &str, event: &Value) -> Result<(), Vec<Violation>> {
        self.by_kind.get(kind).map_or_else(|| Err(vec![unknown(kind)]), |compiled| check(&compiled.validator, event))
    }
}

#[cfg(test)]
impl<V> Schemas<V> {
    /// Whether a text is accepted without the full validator.
    pub(crate) fn accepts(&self, kind: &str, text: &str) -> bool {
        self.by_kind[kind].rules.as_ref().is_some_and(|rules| rules.accepts(text, &[]))
    }

    pub(crate) fn is_cached(&self, kind: &str, fields: Fields<'_, '_>) -> bool {
        self.by_kind[kind].cached(fields).is_some()
    }

    /// `None` if the first record has no shape.
    pub(crate) fn have_same_shape(&self, kind: &str, one: Fields<'_, '_>, other: Fields<'_, '_>) -> Option<bool> {
        shapes::have_same_shape(self.by_kind[kind].rules.as_ref()?, one, other)
    }
}

#[cfg(test)]
impl<V> Compiled<V> {
    fn is_always_valid(&self, fields: &[crate::encode::Field]) -> bool {
        self.rules.as_ref().is_some_and(|rules| shapes::is_always_valid(rules, fields))
    }
}

impl<V> Compiled<V> {
    /// The cached verdict on records of this shape.
    fn cached(&self, fields: Fields<'_, '_>) -> Option<&V> {
        self.shapes.record(self.rules.as_ref()?, fields)
    }

    fn check_text(&self, text: &str, known: &[Range<usize>]) -> Result<(), Vec<Violation>> {
        let found = self.judge(text, known, |errors| violations(errors)).unwrap_or_else(|error| {
            vec![Violation { pointer: String::new(), keyword: "json".to_owned(), message: error.to_string() }]
        });
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    /// Calls `judge` with all violations in a text. The values at `known` are known to be complete.
    fn judge<T>(
        &self,
        text: &str,
        known: &[Range<usize>],
        judge: impl FnOnce(Vec<ValidationError<'_>>) -> T,
    ) -> Result<T, serde_json::Error> {
        if self.rules.as_ref().is_some_and(|rules| rules.accepts(text, known)) {
            return Ok(judge(Vec::new()));
        }
        let value = crate::json::value(text.as_bytes())?;
        Ok(judge(self.validator.errors(&value)))
    }
}

fn check(validator: &Validator, event: &Value) -> Result<(), Vec<Violation>> {
    if validator.is_valid(event) { Ok(()) } else { Err(violations(validator.errors(event))) }
}

/// A schema before it is compiled.
struct Source<'f> {
    kind: &'static str,
    /// The same schema as text, which has the properties in their order.
    text: Cow<'f, str>,
    schema: Value,
}

impl Source<'_> {
    fn of_all(files: &[SchemaFile]) -> Result<Vec<Self>, String> {
        let source = |file: &SchemaFile| {
            let (kind, text) = (file.kind, file.text());
            let schema = serde_json::from_str(text).map_err(|error| of(kind, &error))?;
            Ok(Self { kind, text: text.into(), schema })
        };
        files.iter().map(source).collect()
    }
}

fn of(kind: &str, error: &dyn std::fmt::Display) -> String {
    format!("schema of {kind}: {error}")
}

fn unknown(kind: &str) -> Violation {
    let shown: String = kind.chars().take(64).collect();
    Violation { pointer: String::new(), keyword: "type".to_owned(), message: format!("no such event type: {shown:?}") }
}

#[cfg(test)]
mod agreement;

#[cfg(test)]
mod keywords;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{EventId, Events, key};

    #[test]
    fn a_cached_verdict_does_not_accept_invalid_events() {
        let file = SchemaFile::new(
            "a",
            r#"{"type":"object","required":["f","d"],"properties":{"f":{"type":"string"},"d":{"type":"object","properties":{
                "w":{"enum":["x"]},"n":{"type":"integer","maximum":9},"l":{"type":"array","items":{"type":"object",
                "required":["p"],"properties":{"p":{"type":"string","minLength":1}}}},"t":{"format":"date-time","type":"string"}}}}}"#,
        );
        let files: &'static [SchemaFile] = Box::leak(Box::new([file]));
        let schemas = Schemas::compile(files).unwrap();
        let is_valid = |free: &str, word: &str, number: u64, paths: &[&str], time: &str| {
            let mut events = Events::default();
            events.object("a", EventId::None, |map| {
                map.text(key!("f"), free);
                map.object(key!("d"), |map| {
                    map.text(key!("w"), word);
                    map.entry(key!("n"), &number);
                    map.list(key!("l"), paths, |map, path| map.text(key!("p"), path));
                    map.text(key!("t"), time);
                });
            });
            events.iter().all(|event| schemas.check(event).is_ok())
        };
        let time = "2026-02-14T21:03:00Z";
        for _ in 0..2 {
            assert!(is_valid("free", "x", 9, &["one", "two"], time));
            assert!(is_valid("as \"it\" likes", "x", 0, &[], time));
            assert!(!is_valid("free", "y", 9, &["one", "two"], time));
            assert!(!is_valid("free", "x", 10, &["one", "two"], time));
            assert!(!is_valid("free", "x", 9, &["one", ""], time));
            assert!(!is_valid("free", "x", 9, &["", "two"], time));
            assert!(!is_valid("free", "x", 9, &["one", "two"], "soon"));
        }
    }

    const SHARED: SchemaFile =
        SchemaFile::new("shared", r#"{"$id":"https://x.test/shared.json","$defs":{"word":{"type":"string"}}}"#);
    const FILE: SchemaFile = SchemaFile::new(
        "a",
        r#"{"$id":"https://x.test/events/a.json","properties":{"w":{"$ref":"../shared.json#/$defs/word"}}}"#,
    );

    #[test]
    fn schemas_refer_to_shared_ones_and_to_nothing_else() {
        let schemas = Schemas::compile_with(&[FILE], &[SHARED]).unwrap();
        assert_eq!(schemas.check_text("a", r#"{"w":"x"}"#), Ok(()));
        assert_eq!(schemas.check_text("a", r#"{"w":1}"#).unwrap_err()[0].pointer, "/w");
        assert!(Schemas::compile_with(&[FILE], &[]).is_err());
    }
}
