//! The JSON Schemas of a contract, chosen by event type and compiled once.
//!
//! In: an event's JSON text. Out: nothing, or where and how it breaks its schema. Never: a fetch, a payload in a message,
//! one big `oneOf` (whose errors say nothing and cost a thousand times as much).
//!
//! Two readers of one statement: [`fast`] accepts what is surely valid without building a DOM; everything else goes to
//! `jsonschema`, whose word is final.

pub mod fast;

use crate::encode::EventRef;
use crate::json::Json;
use fast::Shape;
use jsonschema::Validator;
use serde_json::Value;
use std::collections::HashMap;

/// One schema file.
#[derive(Clone, Copy, Debug)]
pub struct SchemaFile {
    /// The event type that it describes.
    pub kind: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// A breach of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The place in the event, as a JSON pointer.
    pub pointer: String,
    /// The keyword that is broken, such as `required`.
    pub keyword: String,
    /// What is wrong, without the event's values.
    pub message: String,
}

/// The compiled schemas of one contract.
pub struct Schemas {
    by_kind: HashMap<&'static str, Compiled>,
}

struct Compiled {
    shape: Option<Shape>,
    validator: Validator,
}

impl Schemas {
    /// Compiles the schemas of a contract.
    ///
    /// # Errors
    /// The name of the type whose schema is no schema, and why. The built-in contracts have none such (tested).
    pub fn compile(files: &'static [SchemaFile]) -> Result<Self, String> {
        let mut by_kind = HashMap::with_capacity(files.len());
        for file in files {
            let schema: Value =
                serde_json::from_str(file.text).map_err(|error| format!("schema of {}: {error}", file.kind))?;
            let validator = jsonschema::draft202012::options()
                .should_validate_formats(true)
                .with_pattern_options(jsonschema::PatternOptions::regex())
                .build(&schema)
                .map_err(|error| format!("schema of {}: {error}", file.kind))?;
            by_kind
                .insert(file.kind, Compiled { shape: Json::parse(file.text).ok().and_then(Shape::compile), validator });
        }
        Ok(Self { by_kind })
    }

    /// Whether there is a schema for the type.
    pub fn knows(&self, kind: &str) -> bool {
        self.by_kind.contains_key(kind)
    }

    /// Checks an event of ours. An unknown type is a breach.
    ///
    /// # Errors
    /// Every breach that was found, at least one.
    pub fn check(&self, event: EventRef<'_>) -> Result<(), Vec<Breach>> {
        let Some(compiled) = self.by_kind.get(event.kind) else { return Err(vec![unknown(event.kind)]) };
        let text = std::str::from_utf8(event.payload).unwrap_or_default();
        if compiled.shape.as_ref().is_some_and(|shape| shape.accepts(text, event.verbatim)) {
            return Ok(());
        }
        let value = crate::json::value(event.payload).map_err(|error| {
            vec![Breach { pointer: String::new(), keyword: "json".to_owned(), message: error.to_string() }]
        })?;
        compiled.check(&value)
    }

    /// Checks an event that is parsed already.
    ///
    /// # Errors
    /// Every breach that was found, at least one.
    pub fn check_value(&self, kind: &str, event: &Value) -> Result<(), Vec<Breach>> {
        self.by_kind.get(kind).map_or_else(|| Err(vec![unknown(kind)]), |compiled| compiled.check(event))
    }
}

impl Compiled {
    fn check(&self, event: &Value) -> Result<(), Vec<Breach>> {
        if self.validator.is_valid(event) {
            return Ok(());
        }
        let breaches: Vec<Breach> = self
            .validator
            .iter_errors(event)
            .map(|error| Breach {
                pointer: error.instance_path().to_string(),
                keyword: error.schema_path().to_string().rsplit('/').next().unwrap_or_default().to_owned(),
                message: error.masked().to_string(),
            })
            .collect();
        Err(breaches)
    }
}

fn unknown(kind: &str) -> Breach {
    let shown: String = kind.chars().take(64).collect();
    Breach { pointer: String::new(), keyword: "type".to_owned(), message: format!("no such event type: {shown:?}") }
}
