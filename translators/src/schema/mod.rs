//! The JSON Schemas of a contract, selected by event type and compiled once.
//!
//! Input: an event's JSON text. Output: nothing, or where and how it violates its schema. Never: a network fetch, event values
//! in a message, or one large `oneOf` (its errors say nothing useful, and it costs a thousand times as much).
//!
//! There are two validators. [`fast`] accepts events that are certainly valid and reports the common violations, without
//! building a DOM. Everything else goes to `jsonschema`, whose verdict is final.

pub mod document;
pub mod fast;
mod layouts;
mod outlines;

use crate::encode::EventRef;
use crate::frame::RecordErrors;
use crate::hash::HashMap;
use crate::json::{Fields, Json};
use fast::{Documents, Shape};
use jsonschema::Validator;
use layouts::Layouts;
use outlines::Outlines;
use serde_json::Value;
use std::ops::Range;

/// One schema file.
#[derive(Clone, Copy, Debug)]
pub struct SchemaFile {
    /// The event type that the schema describes.
    pub kind: &'static str,
    /// The schema's text.
    pub text: &'static str,
}

/// A violation of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Where in the event, as a JSON pointer.
    pub pointer: String,
    /// The violated keyword, such as `required`.
    pub keyword: String,
    /// What is wrong, without the event's values.
    pub message: String,
}

/// The violations in an external object, each as a JSON pointer and a message.
pub(crate) type Told<'i, 'b> = &'i mut dyn Iterator<Item = (&'b str, &'b str)>;

/// The compiled schemas of one contract or of one runner's surface, with cached verdicts on external objects by layout.
pub struct Schemas<T = RecordErrors> {
    by_kind: HashMap<&'static str, Compiled<T>>,
}

struct Compiled<T> {
    shape: Option<Shape>,
    outlines: Outlines,
    layouts: Layouts<T>,
    validator: Validator,
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
        let mut registry = jsonschema::Registry::new();
        for file in shared {
            let schema = parse(file)?;
            let id = schema.get("$id").and_then(Value::as_str).unwrap_or_default().to_owned();
            registry = registry.add(id, schema).map_err(|error| of(file, &error))?;
        }
        let registry = registry.prepare().map_err(|error| format!("shared schemas: {error}"))?;
        let others = Documents::of(shared.iter().filter_map(|file| Json::parse(file.text).ok()));
        let mut by_kind = HashMap::with_capacity_and_hasher(files.len(), Default::default());
        for file in files {
            let schema = parse(file)?;
            let validator = build(&schema, &registry).map_err(|error| of(file, &error))?;
            let shape = Json::parse(file.text).ok().and_then(|schema| Shape::compile_with(schema, &others));
            by_kind.insert(
                file.kind,
                Compiled { shape, outlines: Outlines::default(), layouts: Layouts::default(), validator },
            );
        }
        Ok(Self { by_kind })
    }

    /// Sets how many layouts are cached for each kind of object, for [`Schemas::check_fields`].
    pub(crate) fn with_layouts(mut self, most: usize) -> Self {
        self.by_kind.values_mut().for_each(|compiled| compiled.layouts = Layouts::of(most));
        self
    }

    /// Checks an external object that is already parsed. `tell` turns the violations (JSON pointer and message) into a list of
    /// faults. The list is cached and reused for objects that violate the schema in the same way, so `tell` must use nothing
    /// but these violations.
    pub(crate) fn check_fields(
        &self,
        kind: &str,
        object: Json<'_>,
        fields: Fields<'_, '_>,
        tell: &dyn Fn(Told<'_, '_>) -> RecordErrors,
    ) -> RecordErrors {
        if let Some(Compiled { shape: Some(shape), layouts, .. }) = self.by_kind.get(kind) {
            if let Some(faults) = layouts.said(shape, fields) {
                return faults.clone();
            }
            if let Some(found) = shape.found_in(object, fields) {
                let faults = tell(&mut found.iter().map(|(pointer, _, message)| (pointer, message)));
                layouts.learn(shape, fields, || Some(faults.clone()));
                return faults;
            }
        }
        let breaches = self.check_text(kind, object.text()).err().unwrap_or_default();
        tell(&mut breaches.iter().map(|breach| (&*breach.pointer, &*breach.message)))
    }
}

impl<T> Schemas<T> {
    /// Compiles schemas that may refer to each other by `$id`. `read` transforms each schema first.
    ///
    /// # Errors
    /// Like [`Schemas::compile`]; also a reference to a schema that is not in `files`.
    pub fn compile_each(files: &[SchemaFile], read: fn(Value) -> Value) -> Result<Self, String> {
        let documents = files.iter().map(|file| parse(file).map(read)).collect::<Result<Vec<_>, _>>()?;
        let mut registry = jsonschema::Registry::new();
        for (file, document) in files.iter().zip(&documents) {
            if let Some(id) = document.get("$id").and_then(Value::as_str) {
                registry = registry.add(id, document.clone()).map_err(|error| of(file, &error))?;
            }
        }
        let registry = registry.prepare().map_err(|error| format!("schemas: {error}"))?;
        let texts: Vec<String> = documents.iter().map(Value::to_string).collect();
        let all = Documents::of(texts.iter().filter_map(|text| Json::parse(text).ok()));
        let mut by_kind = HashMap::with_capacity_and_hasher(files.len(), Default::default());
        for ((file, document), text) in files.iter().zip(&documents).zip(&texts) {
            let shape = Json::parse(text).ok().and_then(|schema| Shape::compile_with(schema, &all));
            let validator = build(document, &registry).map_err(|error| of(file, &error))?;
            by_kind.insert(
                file.kind,
                Compiled { shape, outlines: Outlines::default(), layouts: Layouts::default(), validator },
            );
        }
        Ok(Self { by_kind })
    }

    /// Whether there is a schema for the type.
    pub fn knows(&self, kind: &str) -> bool {
        self.by_kind.contains_key(kind)
    }

    /// Checks an event that framegate wrote. An unknown type is a violation.
    ///
    /// # Errors
    /// Every violation that was found, at least one.
    pub fn check(&self, event: EventRef<'_>) -> Result<(), Vec<Breach>> {
        let compiled = self.by_kind.get(event.kind);
        // Most events have the outline of earlier events and need no check of their values.
        if !event.outline.fields.is_empty() && compiled.is_some_and(|compiled| compiled.outlines.has(event.outline)) {
            return Ok(());
        }
        let text = std::str::from_utf8(event.payload).unwrap_or_default();
        self.check_parts(event.kind, text, event.known, true)?;
        if let (Some(Compiled { shape: Some(shape), outlines, .. }), [_, ..]) = (compiled, event.outline.fields) {
            outlines.learn(event.outline, shape);
        }
        Ok(())
    }

    /// Checks text that a parser has already accepted as JSON.
    ///
    /// # Errors
    /// Every violation that was found, at least one.
    pub fn check_text(&self, kind: &str, text: &str) -> Result<(), Vec<Breach>> {
        self.check_parts(kind, text, &[], false)
    }

    /// Whether JSON text certainly conforms to the schema of its kind; `false` means unknown.
    pub(crate) fn surely_keeps(&self, kind: &str, text: &str) -> bool {
        let shape = self.by_kind.get(kind).and_then(|compiled| compiled.shape.as_ref());
        shape.is_some_and(|shape| shape.accepts(text, &[]))
    }

    /// Every violation in JSON text; `None` if only the full validator can tell.
    #[cfg(test)]
    pub(crate) fn told(&self, kind: &str, text: &str) -> Option<Vec<Breach>> {
        self.by_kind.get(kind)?.shape.as_ref()?.breaches(text)
    }

    /// Whether an external object has the layout of another one of its kind; `None` if that one has no layout.
    #[cfg(test)]
    pub(crate) fn laid_out_alike(&self, kind: &str, one: Fields<'_, '_>, other: Fields<'_, '_>) -> Option<bool> {
        let shape = self.by_kind.get(kind)?.shape.as_ref()?;
        Some(shape.is_laid_out(&shape.layout(one)?, other))
    }

    /// The errors of the full validator.
    pub(crate) fn errors<'v>(&'v self, kind: &str, value: &'v Value) -> Vec<jsonschema::ValidationError<'v>> {
        let compiled = self.by_kind.get(kind).filter(|compiled| !compiled.validator.is_valid(value));
        compiled.map(|compiled| compiled.validator.iter_errors(value).collect()).unwrap_or_default()
    }

    /// The cached value for objects of that kind with this layout; `None` if there is none.
    pub(crate) fn said(&self, kind: &str, fields: Fields<'_, '_>) -> Option<&T> {
        let Compiled { shape: Some(shape), layouts, .. } = self.by_kind.get(kind)? else { return None };
        layouts.said(shape, fields)
    }

    /// Caches a value for objects with this layout. It must be derived only from the places of the object's `breaches`
    /// violations and from property names. Nothing is cached unless the fast validator is certain of the same violations.
    pub(crate) fn keep_said(
        &self,
        kind: &str,
        object: Json<'_>,
        fields: Fields<'_, '_>,
        breaches: usize,
        said: impl FnOnce() -> T,
    ) {
        if let Some(Compiled { shape: Some(shape), layouts, .. }) = self.by_kind.get(kind) {
            let is_sure = || shape.found_in(object, fields).is_some_and(|found| found.len() == breaches);
            layouts.learn(shape, fields, || is_sure().then(said));
        }
    }

    fn check_parts(&self, kind: &str, text: &str, known: &[Range<usize>], ours: bool) -> Result<(), Vec<Breach>> {
        let Some(compiled) = self.by_kind.get(kind) else { return Err(vec![unknown(kind)]) };
        if let Some(shape) = &compiled.shape {
            // What we wrote is nearly always valid, and accepting it is cheaper than finding violations.
            if ours && shape.accepts(text, known) {
                return Ok(());
            }
            match shape.breaches(text) {
                Some(breaches) if breaches.is_empty() => return Ok(()),
                Some(breaches) => return Err(breaches),
                None if !ours && shape.accepts(text, known) => return Ok(()),
                None => {}
            }
        }
        let value = crate::json::value(text.as_bytes()).map_err(|error| {
            vec![Breach { pointer: String::new(), keyword: "json".to_owned(), message: error.to_string() }]
        })?;
        compiled.check(&value)
    }

    /// Checks an event that is already parsed.
    ///
    /// # Errors
    /// Every violation that was found, at least one.
    pub fn check_value(&self, kind: &str, event: &Value) -> Result<(), Vec<Breach>> {
        self.by_kind.get(kind).map_or_else(|| Err(vec![unknown(kind)]), |compiled| compiled.check(event))
    }
}

impl<T> Compiled<T> {
    fn check(&self, event: &Value) -> Result<(), Vec<Breach>> {
        breaches(&self.validator, event)
    }
}

fn breaches(validator: &Validator, event: &Value) -> Result<(), Vec<Breach>> {
    if validator.is_valid(event) {
        return Ok(());
    }
    let breaches: Vec<Breach> = validator
        .iter_errors(event)
        .map(|error| Breach {
            pointer: error.instance_path().to_string(),
            keyword: error.schema_path().to_string().rsplit('/').next().unwrap_or_default().to_owned(),
            message: error.masked().to_string(),
        })
        .collect();
    Err(breaches)
}

fn build(
    schema: &Value,
    registry: &jsonschema::Registry<'_>,
) -> Result<Validator, jsonschema::ValidationError<'static>> {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .with_registry(registry)
        .build(schema)
        .map_err(|error| error.to_owned())
}

/// Compiles an external schema (draft 2020-12). No other document is fetched for it, and its patterns run in linear time.
///
/// # Errors
/// Why it cannot be used, as a message.
pub(crate) fn compile_foreign(text: &str) -> Result<Validator, String> {
    let schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let registry = jsonschema::Registry::new().prepare().map_err(|error| error.to_string())?;
    build(&schema, &registry).map_err(|error| error.masked().to_string())
}

fn parse(file: &SchemaFile) -> Result<Value, String> {
    serde_json::from_str(file.text).map_err(|error| of(file, &error))
}

fn of(file: &SchemaFile, error: &dyn std::fmt::Display) -> String {
    format!("schema of {}: {error}", file.kind)
}

fn unknown(kind: &str) -> Breach {
    let shown: String = kind.chars().take(64).collect();
    Breach { pointer: String::new(), keyword: "type".to_owned(), message: format!("no such event type: {shown:?}") }
}

#[cfg(test)]
mod agreement;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{EventId, Events, Field, Key, Kind, key};

    #[test]
    fn an_outline_says_nothing_where_a_value_decides() {
        let schema = r#"{"type":"object","additionalProperties":false,"required":["a"],"properties":{
            "a":{"type":"integer","minimum":1},"b":{"type":"string","minLength":2},"c":{"enum":["x"]},
            "d":{"type":"string","format":"date-time"},"e":{"type":"object","required":["f"]},
            "g":{"type":"array","items":{"type":"string","minLength":1}},"h":{"type":"string"},"i":{"type":"number"}}}"#;
        let shape = Shape::compile(Json::parse(schema).unwrap()).unwrap();
        let free = Shape::compile(
            Json::parse(&schema.replace("\"a\":{\"type\":\"integer\",\"minimum\":1}", "\"a\":{\"type\":\"integer\"}"))
                .unwrap(),
        )
        .unwrap();
        let field = |key, kind| Field { key: Box::leak(Box::new(Key::new(key, ""))), kind };
        let a = field("a", Kind::Unsigned);
        assert!(!shape.holds_for_all(&[a]) && free.holds_for_all(&[a]));
        for (key, kind, expected) in [
            ("b", Kind::Text, false),
            ("c", Kind::Text, false),
            ("c", Kind::Word("x"), true),
            ("c", Kind::Word("y"), false),
            ("d", Kind::Text, false),
            ("d", Kind::Uuid, false),
            ("e", Kind::Object, false),
            ("g", Kind::Texts, false),
            ("g", Kind::EmptyArray, true),
            ("h", Kind::Text, true),
            ("h", Kind::Uuid, true),
            ("h", Kind::Null, false),
            ("i", Kind::Integer, true),
            ("i", Kind::Number, true),
            ("i", Kind::Unknown, false),
            ("z", Kind::Text, false),
        ] {
            assert_eq!(free.holds_for_all(&[a, field(key, kind)]), expected, "{key} {kind:?}");
        }
        assert!(!free.holds_for_all(&[field("h", Kind::Text)]), "a is missing");
    }

    #[test]
    fn an_event_that_is_accepted_lets_no_other_one_pass() {
        let file = SchemaFile {
            kind: "a",
            text: r#"{"type":"object","required":["f","d"],"properties":{"f":{"type":"string"},"d":{"type":"object","properties":{
                "w":{"enum":["x"]},"n":{"type":"integer","maximum":9},"l":{"type":"array","items":{"type":"object",
                "required":["p"],"properties":{"p":{"type":"string","minLength":1}}}},"t":{"format":"date-time","type":"string"}}}}}"#,
        };
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

    const SHARED: SchemaFile = SchemaFile {
        kind: "shared",
        text: r#"{"$id":"https://x.test/shared.json","$defs":{"word":{"type":"string"}}}"#,
    };
    const FILE: SchemaFile = SchemaFile {
        kind: "a",
        text: r#"{"$id":"https://x.test/events/a.json","properties":{"w":{"$ref":"../shared.json#/$defs/word"}}}"#,
    };

    #[test]
    fn schemas_refer_to_shared_ones_and_to_nothing_else() {
        let schemas = Schemas::compile_with(&[FILE], &[SHARED]).unwrap();
        assert_eq!(schemas.check_text("a", r#"{"w":"x"}"#), Ok(()));
        assert_eq!(schemas.check_text("a", r#"{"w":1}"#).unwrap_err()[0].pointer, "/w");
        assert!(Schemas::compile_with(&[FILE], &[]).is_err());
    }
}
