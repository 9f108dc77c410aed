//! A verdict that is cached for one record is right for all records of the same shape, whatever the schema's keywords.

use super::*;
use serde_json::json;
use std::collections::HashSet;

#[test]
fn verdicts_cached_by_shape_are_right_for_every_keyword() {
    let schema = r##"{"type":"object","additionalProperties":false,"required":["z","m"],"properties":{
        "z":{"type":"string","minLength":3,"format":"date-time"},
        "m":{"type":["number","null"],"minimum":-1.50,"maximum":4},
        "i":{"type":"integer","minimum":1},
        "j":{"type":"integer"},
        "u":{"type":"string","format":"uuid","minLength":1},
        "p":{"type":"string","pattern":"^run_[0-9A-HJKMNP-TV-Z]{26}$"},
        "q":{"type":"string","minLength":2,"pattern":"^(one|two)$"},
        "e":{"type":["string","null"],"enum":["one","two"]},
        "n":{"anyOf":[{"type":"string"},{"type":"integer"}]},
        "w":{"type":"string","minimum":2,"required":["x"],"properties":{"x":{"type":"null"}}},
        "l":{"type":"array","minItems":2,"items":{"type":"string","minLength":1}},
        "f":{"type":"array","minItems":1},
        "k":{"type":"array","uniqueItems":true},
        "o":{"type":["object","null"],"if":{"type":"object"},"then":{"required":["x"],"properties":{"x":{"type":"null"}}}},
        "r":{"type":"object","additionalProperties":{"type":"integer"}},
        "s":{"type":"object","patternProperties":{"^at_[a-z]+$":{"type":"integer"}}},
        "t":{"type":["null","string","object"],"allOf":[
            {"if":{"type":"null"},"then":{"type":"null"}},
            {"if":{"type":"string"},"then":{"enum":["one"]}},
            {"if":{"type":"object"},"then":{"required":["x"],"properties":{"x":{"type":"null"}}}}]},
        "v":{"type":"object","required":["type"],"properties":{"type":{"type":"string"}},"allOf":[
            {"if":{"properties":{"type":{"const":"one"}}},"then":{"properties":{"x":{"type":"null"}}}},
            {"if":{"properties":{"type":{"const":"two"}}},"then":{"required":["x"],"properties":{"y":{"type":"null"}}}}]},
        "a":{"type":"object","additionalProperties":false,"required":["y"],"properties":{
            "x":{"type":"null"},"y":{"type":"boolean"}}}}}"##;
    let file = SchemaFile::new("k", schema);
    let schemas = Schemas::compile(Box::leak(Box::new([file]))).unwrap().caching(4096);
    let mut texts: Vec<String> = Vec::new();
    for event in [
        json!({"z": "2026-02-14t21:03:00.5+01:00", "m": 4, "j": 1, "a": {"x": null, "y": true}}),
        json!({"z": "2026-12-31T23:59:60Z", "m": -1.5, "u": "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"}),
        json!({"z": "", "m": 4.1, "e": "one", "n": 1, "w": "x", "k": [1, 2], "t": "one", "o": null}),
        json!({"z": "2026-02-30T00:00:00Z", "m": -1.6, "i": 0.5, "r": {"x": 1}, "s": {"at_x": 1}, "o": {"x": null}}),
        json!({"u": "", "p": "run_", "q": "x", "v": {"type": "one", "x": null}, "t": {"x": null}}),
        json!({"z": "soon", "m": null, "l": [""], "f": [], "v": {"type": "two", "x": 1, "y": null}}),
        json!({"z": 1, "m": "1", "b": 1, "é": 2, "a": {"x": 1, "w": 1, "'": 2}, "l": ["a", "", "b", 1]}),
        json!({"a": {"v": 1}, "c": {}, "q": "one", "p": "run_0123456789ABCDEFGHJKMNPQRS"}),
    ] {
        let mut pointers = Vec::new();
        add_pointers(&event, "", &mut pointers);
        for pointer in pointers {
            for value in values() {
                let mut event = event.clone();
                *event.pointer_mut(&pointer).unwrap() = value;
                texts.push(event.to_string());
            }
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            let mut event = event.clone();
            match event.pointer_mut(parent).unwrap() {
                Value::Object(map) => drop(map.remove(key)),
                Value::Array(list) => drop(list.remove(key.parse().unwrap())),
                _ => {}
            }
            texts.push(event.to_string());
        }
    }
    let (mut keywords, mut cached) = (HashSet::new(), 0);
    // Twice, because the second time most shapes are cached.
    for text in [&texts[..], &texts[..]].concat() {
        let json = Json::parse(&text).unwrap();
        let Some(object) = json.object() else { continue };
        let full = schemas.check_value("k", &crate::json::value(text.as_bytes()).unwrap()).err().unwrap_or_default();
        assert_eq!(schemas.check_text("k", &text).err().unwrap_or_default(), full, "{text}");
        cached += usize::from(schemas.is_cached("k", object.fields()));
        let judge = |errors: Vec<ValidationError<'_>>| Judged { verdict: violations(errors), is_reusable: true };
        assert_eq!(*schemas.verdict("k", json, object.fields(), judge).unwrap(), full, "{text}");
        keywords.extend(full.into_iter().map(|violation| violation.keyword));
    }
    assert!(cached > texts.len() / 2, "{cached} of {}", texts.len());
    let expected = [
        "additionalProperties",
        "anyOf",
        "enum",
        "format",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "pattern",
        "required",
        "type",
        "uniqueItems",
    ];
    let mut keywords: Vec<String> = keywords.into_iter().collect();
    keywords.sort();
    assert_eq!(keywords, expected);
}

/// Values of every type, several of each.
fn values() -> Vec<Value> {
    let long = "z".repeat(60);
    let id = "run_0123456789ABCDEFGHJKMNPQRS";
    let uuid = "00000000-0000-5000-8000-000000000000";
    vec![
        json!(null),
        json!(true),
        json!(false),
        json!(-9),
        json!(0),
        json!(1),
        json!(7),
        json!(1.0),
        json!(0.5),
        json!(2.5),
        json!(-9.5),
        json!(""),
        json!("x"),
        json!("one"),
        json!("two"),
        json!(id),
        json!(uuid),
        json!("2026-02-14T21:03:00Z"),
        json!("2026-02-14T21:03:00+01:00"),
        json!(long),
        json!([]),
        json!([1]),
        json!([1, 1]),
        json!(["a"]),
        json!(["a", ""]),
        json!(["a", "b"]),
        json!(["a", "b", "c"]),
        json!(["a", "b", long]),
        json!(["a", "b", 1]),
        json!(["a", "b", ""]),
        json!([{}]),
        json!([{}, {}, {}]),
        json!({}),
        json!({"x": null}),
        json!({"x": 1}),
        json!({"x": "1"}),
        json!({"y": true}),
        json!({"type": "one"}),
        json!({"type": "two"}),
        json!({"type": 1}),
        json!({"type": "two", "x": 1, "y": 1}),
        json!({"at_x": 1}),
        json!({"at_x": "1"}),
        json!({"x": 1, "w": null}),
    ]
}

/// The places of all values below the first one. The keys need no escapes.
fn add_pointers(value: &Value, here: &str, all: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (key, value) in inner {
        let pointer = format!("{here}/{key}");
        add_pointers(value, &pointer, all);
        all.push(pointer);
    }
}
