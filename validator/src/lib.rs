//! Compiles and applies JSON Schemas (draft 2020-12) with `jsonschema`.
//!
//! Input: schemas, and values to check. Output: every violation. Never: a network fetch, or a pattern that does not run in linear
//! time.
//!
//! The code of `jsonschema` is generic over the kind of JSON value, so the crate that calls it compiles all of it. This crate exists to
//! be that crate: the translators then compile without it, and profiles set its level of optimisation apart from theirs.

use jsonschema::PatternOptions;
use serde_json::Value;

pub use jsonschema::ValidationError;
pub use jsonschema::error::{TypeKind, ValidationErrorKind};

/// The schemas that others may refer to by `$id`.
pub struct Registry(jsonschema::Registry<'static>);

impl Registry {
    /// Collects schemas, each with a name for messages. A schema without `$id` is left out.
    ///
    /// # Errors
    /// The schema that is invalid, and why.
    pub fn of(schemas: &mut dyn Iterator<Item = (&str, &Value)>) -> Result<Self, String> {
        let mut registry = jsonschema::Registry::new();
        for (name, schema) in schemas {
            if let Some(id) = schema.get("$id").and_then(Value::as_str) {
                registry = registry.add(id, schema.clone()).map_err(|error| format!("schema of {name}: {error}"))?;
            }
        }
        registry.prepare().map(Self).map_err(|error| format!("schemas: {error}"))
    }

    /// Compiles a schema.
    ///
    /// # Errors
    /// Why it is invalid, without its values.
    pub fn compile(&self, schema: &Value) -> Result<Validator, String> {
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::regex())
            .with_registry(&self.0)
            .build(schema)
            .map_err(|error| error.masked().to_string())?;
        Ok(Validator(validator))
    }
}

/// A compiled schema.
#[derive(Clone, Debug)]
pub struct Validator(jsonschema::Validator);

impl Validator {
    /// Whether the value has no violation. Cheaper than [`Validator::errors`].
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// Every violation of the value.
    #[must_use]
    pub fn errors<'v>(&'v self, value: &'v Value) -> Vec<ValidationError<'v>> {
        self.0.iter_errors(value).collect()
    }
}

/// The message of a violation, without the value that violates the schema.
#[must_use]
pub fn message(error: &ValidationError<'_>) -> String {
    error.masked().to_string()
}
