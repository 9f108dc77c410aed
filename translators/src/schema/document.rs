//! The contents of a contract's streams, from any writer, as its document allows them.
//!
//! Input: `schemas/<contract>/<version>/document.json`, one JSON Schema with a definition for each event type. Output: the
//! violations of single events. Never: the additional promises that framegate makes for its own events; those are in the
//! schemas of the single types.

use super::{Registry, SchemaFile, Validator, Violation, check, of};
use crate::event_kind::kind_of_schema;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The definition for types that the document does not name, if it allows them.
pub const OTHER: &str = "other";

/// The compiled document schema of one contract.
pub struct DocumentSchema {
    by_kind: HashMap<String, Validator>,
    other: Option<Validator>,
    type_key: String,
}

impl DocumentSchema {
    /// Compiles a document schema.
    ///
    /// # Errors
    /// Why the schema cannot be used. Those of the built-in contracts are valid (tested).
    pub fn compile(file: &SchemaFile, type_key: &str) -> Result<Self, String> {
        let schema: Value = serde_json::from_str(file.text()).map_err(|error| of(file.kind, &error))?;
        let id = schema.get("$id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let registry = Registry::of(&mut [(file.kind, &schema)].into_iter())?;
        let definition = |name: &str| {
            let reference = json!({"$ref": format!("{id}#/$defs/{name}")});
            registry.compile(&reference).map_err(|error| of(file.kind, &error))
        };
        let mut by_kind = HashMap::new();
        for kind in types_of(&schema, type_key) {
            by_kind.insert(kind.to_owned(), definition(kind)?);
        }
        let has_other = schema.pointer("/$defs").is_some_and(|definitions| definitions.get(OTHER).is_some());
        let other = if has_other { Some(definition(OTHER)?) } else { None };
        Ok(Self { by_kind, other, type_key: type_key.to_owned() })
    }

    /// Checks an event of that type.
    ///
    /// # Errors
    /// Every violation that was found, at least one; `None` if the document has no such type.
    pub fn check(&self, kind: &str, event: &Value) -> Result<(), Option<Vec<Violation>>> {
        match self.by_kind.get(kind).or(self.other.as_ref()) {
            None => Err(None),
            Some(validator) => check(validator, event).map_err(|found| {
                // The type is neither known nor allowed as an unknown one.
                let is_known =
                    self.by_kind.contains_key(kind) || !found.iter().any(|violation| self.is_of_type(violation));
                is_known.then_some(found)
            }),
        }
    }

    /// Whether a violation is about the event's type: the only string that `other` matches against a pattern, or that it lacks.
    fn is_of_type(&self, violation: &Violation) -> bool {
        let mut places = self.type_key.split('|').map(|place| format!("/{}", place.replace('.', "/")));
        match &*violation.keyword {
            "pattern" => places.any(|place| violation.pointer == place),
            "required" => self.type_key.contains('|') && violation.pointer.is_empty(),
            _ => false,
        }
    }
}

/// The event types that a document schema defines. A definition counts if it requires its own name as the event's type.
pub fn types_of<'s>(schema: &'s Value, type_key: &'s str) -> impl Iterator<Item = &'s str> {
    let definitions = schema.get("$defs").and_then(Value::as_object);
    definitions
        .into_iter()
        .flatten()
        .filter_map(move |(name, definition)| (kind_of_schema(type_key, definition)? == name).then_some(name.as_str()))
}
