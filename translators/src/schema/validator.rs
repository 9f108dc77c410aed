//! The full validator, and its violations as the translators report them.
//!
//! Input: schemas, and values to check. Output: every violation. Never: the value that violates a schema.

use super::Violation;
use serde_json::Value;

pub(super) use framegate_validator::Registry;
pub(crate) use framegate_validator::{ValidationError, Validator};

/// The validator's errors without the values that violate the schema.
pub(crate) fn violations<'e>(errors: impl IntoIterator<Item = ValidationError<'e>>) -> Vec<Violation> {
    let violation = |error: ValidationError<'_>| Violation {
        pointer: error.instance_path().to_string(),
        keyword: error.schema_path().to_string().rsplit('/').next().unwrap_or_default().to_owned(),
        message: framegate_validator::message(&error),
    };
    errors.into_iter().map(violation).collect()
}

/// Compiles an external schema. No other document is fetched for it.
///
/// # Errors
/// Why it cannot be used, as a message.
pub(crate) fn compile_foreign(text: &str) -> Result<Validator, String> {
    let schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Registry::of(&mut std::iter::empty())?.compile(&schema)
}
