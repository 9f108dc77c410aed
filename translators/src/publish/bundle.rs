//! All schemas of a contract in one compound schema document (JSON Schema 2020-12, section 9.3).
//!
//! Each schema is in `$defs` under its type, unchanged and with its own `$id`. So a validator that has the bundle resolves
//! every `$id` without a fetch. A text is valid if it is an event of one of the types.

use crate::contracts::Contract;
use crate::json::Json;
use crate::schema::SchemaFile;
use serde_json::Value;
use std::fmt::Write;

/// The `$id` of a schema, an absolute URI; empty if it has none.
pub fn schema_id(file: &SchemaFile) -> String {
    let id = Json::parse(file.text()).ok().and_then(|schema| Some(schema.object()?.str("$id")?.into_owned()));
    id.unwrap_or_default()
}

/// The `$id` of a contract's bundle, next to its schemas. Empty for a contract without schemas.
pub fn bundle_id(contract: &Contract) -> String {
    let first = contract.schemas.first().map(schema_id);
    let folder = first.as_deref().and_then(|id| id.rsplit_once('/'));
    folder.map(|(folder, _)| format!("{folder}/bundle.schema.json")).unwrap_or_default()
}

/// The bundle's text.
pub fn bundle(contract: &Contract) -> String {
    let mut text = String::from("{\n\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n");
    let about = format!("Any event of {}: {}.", contract.name, contract.about);
    // Writing to memory cannot fail.
    let _ =
        write!(text, "\"$id\": {},\n\"title\": {},\n", Value::from(bundle_id(contract)), Value::from(contract.name));
    let _ = write!(text, "\"description\": {},\n\"oneOf\": [", Value::from(about));
    for (at, file) in contract.schemas.iter().enumerate() {
        let lead = if at == 0 { "" } else { "," };
        // Referenced by `$id`: a JSON pointer must not lead into a schema with its own `$id`.
        let _ = write!(text, "{lead}\n{{\"$ref\": {}}}", Value::from(format!("{}.schema.json", file.kind)));
    }
    text.push_str("\n],\n\"$defs\": {");
    for (at, file) in contract.schemas.iter().enumerate() {
        let lead = if at == 0 { "" } else { "," };
        let _ = write!(text, "{lead}\n{}: {}", Value::from(file.kind), file.text().trim_end());
    }
    text.push_str("\n}\n}\n");
    text
}
