//! Where an event has its type.
//!
//! Input: a contract's `type_key` and an event. Output: the event's type. Never: a guess; an event without a type has `None`.
//!
//! Most contracts have the type in one key. The key can also be a list of places, separated by `|`: the first place that an event
//! has counts. A place is a key, or the keys of nested objects with dots between them. In such a list, a string at the place is
//! the type, without its part up to the last `/`; for any other value the place's last key is.

use crate::json::{Json, Object};
use serde_json::Value;

/// The type of an event.
pub fn kind_of<'e>(type_key: &'e str, event: &'e Value) -> Option<&'e str> {
    if !type_key.contains('|') {
        return event.get(type_key)?.as_str();
    }
    let (place, value) = type_key.split('|').find_map(|place| Some((place, within(event, place)?)))?;
    Some(named(place, value.as_str()))
}

/// The type of an event that is not parsed completely.
pub fn kind_in(type_key: &str, event: &Object<'_>) -> Option<String> {
    if !type_key.contains('|') {
        return event.str(type_key).map(std::borrow::Cow::into_owned);
    }
    let (place, value) = type_key.split('|').find_map(|place| Some((place, nested(event, place)?)))?;
    Some(named(place, value.str().as_deref()).to_owned())
}

/// The JSON pointer to an event's type, or to where it could be.
pub fn kind_pointer(type_key: &str, event: &Value) -> String {
    let mut places = type_key.split('|');
    let found = places.clone().find(|place| within(event, place).is_some());
    format!("/{}", found.or(places.next()).unwrap_or_default().replace('.', "/"))
}

/// The type of the events that a schema describes, if it is fixed. Of several methods, the first one has it.
pub fn kind_of_schema<'s>(type_key: &'s str, schema: &'s Value) -> Option<&'s str> {
    type_key.split('|').find_map(|place| {
        let schema = place.split('.').try_fold(schema, |schema, key| schema.get("properties")?.get(key))?;
        let several = schema.get("enum").and_then(|kinds| kinds.get(0));
        match schema.get("const").or(several) {
            Some(kind) if type_key.contains('|') => Some(named(place, kind.as_str())),
            Some(kind) if schema.get("const").is_some() => kind.as_str(),
            Some(_) => None,
            // The place itself is the type.
            None => (type_key.contains('|') && schema.get("type")? != "string").then_some(named(place, None)),
        }
    })
}

fn named<'e>(place: &'e str, text: Option<&'e str>) -> &'e str {
    match text {
        Some(text) => text.rsplit('/').next().unwrap_or(text),
        None => place.rsplit('.').next().unwrap_or(place),
    }
}

fn within<'e>(event: &'e Value, place: &str) -> Option<&'e Value> {
    place.split('.').try_fold(event, |value, key| value.get(key))
}

fn nested<'a>(event: &Object<'a>, place: &str) -> Option<Json<'a>> {
    match place.split_once('.') {
        Some((outer, inner)) => nested(&event.object(outer)?, inner),
        None => event.get(place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PLACES: &str = "params.update.kind|method|result|error";

    #[test]
    fn the_type_is_at_the_first_place_that_an_event_has() {
        for (event, expected, pointer) in [
            (json!({"method": "a/b", "params": {"update": {"kind": "k"}}}), Some("k"), "/params/update/kind"),
            (json!({"method": "a/b", "params": {"update": {}}}), Some("b"), "/method"),
            (json!({"method": "$/b", "params": null}), Some("b"), "/method"),
            (json!({"id": 1, "result": {"x": 1}}), Some("result"), "/result"),
            (json!({"id": 1, "error": {}}), Some("error"), "/error"),
            (json!({"id": 1, "result": null}), Some("result"), "/result"),
            (json!({"id": 1}), None, "/params/update/kind"),
        ] {
            assert_eq!(kind_of(PLACES, &event), expected, "{event}");
            assert_eq!(kind_pointer(PLACES, &event), pointer, "{event}");
            let text = event.to_string();
            let object = Json::parse(&text).unwrap().object().unwrap();
            assert_eq!(kind_in(PLACES, &object).as_deref(), expected, "{event}");
        }
        for (event, expected) in [(json!({"type": "a/b"}), Some("a/b")), (json!({"type": {}}), None), (json!({}), None)]
        {
            assert_eq!(kind_of("type", &event), expected);
            assert_eq!(kind_pointer("type", &event), "/type");
        }
    }

    #[test]
    fn a_schema_says_which_type_it_describes() {
        let of = |properties: Value| json!({"properties": properties});
        let nested = of(json!({"params": of(json!({"update": of(json!({"kind": {"const": "k"}}))}))}));
        assert_eq!(kind_of_schema(PLACES, &nested), Some("k"));
        assert_eq!(kind_of_schema(PLACES, &of(json!({"method": {"const": "a/b"}}))), Some("b"));
        assert_eq!(kind_of_schema(PLACES, &of(json!({"method": {"enum": ["a/b", "c/b"]}}))), Some("b"));
        assert_eq!(kind_of_schema(PLACES, &of(json!({"result": {"type": "object"}}))), Some("result"));
        assert_eq!(kind_of_schema(PLACES, &of(json!({"id": {"type": "object"}}))), None);
        assert_eq!(kind_of_schema("type", &of(json!({"type": {"const": "a/b"}}))), Some("a/b"));
        assert_eq!(kind_of_schema("type", &of(json!({"type": {"type": "object"}}))), None);
    }
}
