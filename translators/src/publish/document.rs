//! Extracts one event type of a document schema as a standalone schema.

use crate::schema::SchemaFile;
use crate::schema::document::{OTHER, types_of};
use serde_json::{Map, Value, json};

/// The schema of one event type: its definition, and the definitions that it refers to.
///
/// # Errors
/// The types in the document, if `kind` is none of them.
pub fn document_of(file: &SchemaFile, type_key: &str, kind: &str) -> Result<String, Vec<String>> {
    let schema: Value = serde_json::from_str(file.text()).unwrap_or_default();
    let types: Vec<&str> = types_of(&schema, type_key).collect();
    if !types.contains(&kind) {
        return Err(types.into_iter().map(str::to_owned).collect());
    }
    let definitions = schema.get("$defs").and_then(Value::as_object);
    let is_needed = |name: &str| name == kind || !(name == OTHER || types.contains(&name));
    let needed = definitions.into_iter().flatten().filter(|(name, _)| is_needed(name));
    let needed: Map<String, Value> = needed.map(|(name, definition)| (name.clone(), definition.clone())).collect();
    let title = format!("{} {kind}", schema.get("title").and_then(Value::as_str).unwrap_or_default());
    let alone = json!({
        "$schema": schema.get("$schema"),
        "title": title,
        "$ref": format!("#/$defs/{kind}"),
        "$defs": needed,
    });
    Ok(format!("{alone:#}\n"))
}
