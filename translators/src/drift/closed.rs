//! Closes schemas of objects whose fields are all known.
//!
//! Input: a schema document of an open standard. Output: the same, with `additionalProperties: false` in each object schema
//! that lists its properties and does not mention others. Never: a change to an object that several schemas describe together,
//! because none of them lists all of its properties.

use serde_json::Value;

/// Closes the schemas of a document.
pub(super) fn read(mut document: Value) -> Value {
    close(&mut document, true);
    document
}

/// Closes a schema and its subschemas. The schema itself is closed only if it alone describes its object.
fn close(schema: &mut Value, alone: bool) {
    let Some(map) = schema.as_object_mut() else { return };
    for (keyword, inner) in map.iter_mut() {
        match (keyword.as_str(), inner) {
            ("properties" | "$defs" | "patternProperties", Value::Object(named)) => {
                named.values_mut().for_each(|schema| close(schema, true));
            }
            ("items" | "additionalProperties", inner) => close(inner, true),
            ("prefixItems", Value::Array(list)) => list.iter_mut().for_each(|schema| close(schema, true)),
            ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => {
                list.iter_mut().for_each(|schema| close(schema, false));
            }
            ("then" | "else", inner) => close(inner, false),
            _ => {}
        }
    }
    let is_whole = ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties", "additionalProperties"]
        .iter()
        .all(|keyword| !map.contains_key(*keyword));
    if alone && is_whole && map.contains_key("properties") {
        map.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn objects_with_properties_are_closed_by_default() {
        let closed = read(json!({
            "properties": {"a": {"type": "object"}, "b": {"items": {"properties": {"c": {}}}}, "m": {"additionalProperties": {"type": "string"}}},
            "$defs": {
                "union": {"properties": {"type": {}}, "allOf": [{"if": {"properties": {"type": {}}}, "then": {"properties": {"d": {"properties": {}}}}}]}
            }
        }));
        assert_eq!(closed["additionalProperties"], false);
        assert_eq!(closed["properties"]["a"], json!({"type": "object"}));
        assert_eq!(closed["properties"]["b"]["items"]["additionalProperties"], false);
        assert_eq!(closed["properties"]["m"], json!({"additionalProperties": {"type": "string"}}));
        let union = &closed["$defs"]["union"];
        assert!(union.get("additionalProperties").is_none());
        assert!(union["allOf"][0]["if"].get("additionalProperties").is_none());
        let then = &union["allOf"][0]["then"];
        assert!(then.get("additionalProperties").is_none());
        assert_eq!(then["properties"]["d"]["additionalProperties"], false);
    }

    #[test]
    fn explicit_additional_properties_are_kept() {
        for explicit in [json!(true), json!(false), json!({"type": "string"})] {
            let document = json!({"properties": {"a": {}}, "additionalProperties": explicit});
            assert_eq!(read(document.clone()), document);
        }
    }
}
