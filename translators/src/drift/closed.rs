//! Which objects are known to the last field.
//!
//! In: a schema document. Out: the same, with `additionalProperties: false` where it is meant. Never: a change to a document
//! that says anywhere whether other properties may come.
//!
//! The schemas of a published contract that anyone may extend say nothing of other properties, for those are no fault. They are
//! drift all the same: whoever adds a field is worth knowing of. So in such a document every object that lists its properties is
//! read as closed; a document that means otherwise says `additionalProperties: true`.

use serde_json::Value;

/// Reads a document.
pub(super) fn read(mut document: Value) -> Value {
    if !speaks(&document) {
        close(&mut document, true);
    }
    document
}

/// Whether it says anywhere that other properties may come, or that they may not.
fn speaks(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            map.get("additionalProperties").is_some_and(Value::is_boolean)
                || map.contains_key("unevaluatedProperties")
                || map.values().any(speaks)
        }
        Value::Array(list) => list.iter().any(speaks),
        _ => false,
    }
}

/// Closes a schema and what is in it; the schema itself only where it is all that is said of its object.
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
    fn objects_that_list_their_properties_are_closed_where_nothing_is_said() {
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
    fn a_document_that_speaks_of_it_is_left_alone() {
        for said in [true, false] {
            let document = json!({"properties": {"a": {"properties": {}}, "b": {"additionalProperties": said}}});
            assert_eq!(read(document.clone()), document);
        }
    }
}
