//! The full validator: the only module that compiles and applies schemas with `jsonschema` (draft 2020-12).
//!
//! Input: schemas, and values to check. Output: every violation. Never: a network fetch, or a pattern that does not run in linear
//! time.

use super::{Violation, of};
use serde_json::Value;

pub(crate) use jsonschema::ValidationError;

/// The schemas that others may refer to by `$id`.
pub(super) struct Registry(jsonschema::Registry<'static>);

impl Registry {
    /// Collects schemas, each with a name for messages. A schema without `$id` is left out.
    ///
    /// # Errors
    /// The schema that is invalid, and why.
    pub(super) fn of<'s>(schemas: impl Iterator<Item = (&'s str, &'s Value)>) -> Result<Self, String> {
        let mut registry = jsonschema::Registry::new();
        for (kind, schema) in schemas {
            if let Some(id) = schema.get("$id").and_then(Value::as_str) {
                registry = registry.add(id, schema.clone()).map_err(|error| of(kind, &error))?;
            }
        }
        registry.prepare().map(Self).map_err(|error| format!("schemas: {error}"))
    }

    /// Compiles a schema.
    ///
    /// # Errors
    /// Why it is invalid, without its values.
    pub(super) fn compile(&self, schema: &Value) -> Result<Validator, String> {
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .with_registry(&self.0)
            .build(schema)
            .map_err(|error| error.masked().to_string())?;
        Ok(Validator(validator))
    }
}

/// A compiled schema.
#[derive(Clone, Debug)]
pub(crate) struct Validator(jsonschema::Validator);

impl Validator {
    /// Whether the value has no violation. Cheaper than [`Validator::errors`].
    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// Every violation of the value.
    pub(crate) fn errors<'v>(&'v self, value: &'v Value) -> Vec<ValidationError<'v>> {
        self.0.iter_errors(value).collect()
    }
}

/// The validator's errors without the values that violate the schema.
pub(crate) fn violations<'e>(errors: impl IntoIterator<Item = ValidationError<'e>>) -> Vec<Violation> {
    let violation = |error: ValidationError<'_>| Violation {
        pointer: error.instance_path().to_string(),
        keyword: error.schema_path().to_string().rsplit('/').next().unwrap_or_default().to_owned(),
        message: error.masked().to_string(),
    };
    errors.into_iter().map(violation).collect()
}

/// Compiles an external schema. No other document is fetched for it.
///
/// # Errors
/// Why it cannot be used, as a message.
pub(crate) fn compile_foreign(text: &str) -> Result<Validator, String> {
    let schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Registry::of(std::iter::empty())?.compile(&schema)
}
