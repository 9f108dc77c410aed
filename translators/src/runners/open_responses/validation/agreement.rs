//! Verdicts that are cached by shape must be those of the full validator, for recorded events and for very many variants of them.

use super::*;
use crate::json::{FirstValue, first_value};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::sync::LazyLock;

/// Every recorded JSON object, unchanged.
static RECORDED: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/open-responses");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "sse"));
    paths.sort();
    let texts = paths.iter().map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
    let lines = texts.flat_map(|text| text.split(['\n', '\r']).map(str::to_owned).collect::<Vec<_>>());
    let data = lines.filter_map(|line| Some(line.strip_prefix("data:")?.trim().to_owned()));
    data.filter(|text| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object())).collect()
});

/// The texts in a record that are checked, each with its schema.
fn checked(text: &str) -> Vec<(&'static Schemas<RecordErrors>, String, String)> {
    let Some(fields) = Json::parse(text).unwrap().object() else { return Vec::new() };
    let kind = fields.str("type").map(std::borrow::Cow::into_owned).unwrap_or_default();
    let mut all = Vec::new();
    if let Some(known) = schema_of(&kind) {
        all.push((known.schemas().unwrap(), kind, text.to_owned()));
    }
    if let Some(object) = fields.get("response") {
        all.push((response_schema().unwrap(), RESPONSE.kind.to_owned(), object.text().to_owned()));
    }
    all
}

/// Compares the verdicts on a record with the full validator's, with and without known fields of nested objects. Returns whether
/// the full validator is not needed for further records like this one.
fn compare(schemas: &Schemas<RecordErrors>, kind: &str, text: &str) -> bool {
    let full = schemas.check_value(kind, &crate::json::value(text.as_bytes()).unwrap());
    assert_eq!(schemas.check_text(kind, text), full, "{kind}: {text}");
    let FirstValue::Value { json, fields: known, .. } = first_value(text) else { panic!("no value: {text}") };
    // A response that is not an object is not checked.
    let Some(alone) = json.object() else { return true };
    let expected: Vec<String> = full.err().unwrap_or_default().iter().map(in_one_line).collect();
    let expected = match expected.get(..MAX_REPORTED) {
        Some(first) if expected.len() > MAX_REPORTED => {
            [first, &[format!("and {} more", expected.len() - MAX_REPORTED)]].concat()
        }
        _ => expected,
    };
    for fields in [&known, &alone] {
        // Twice, because the second check uses the cached verdict.
        for _ in 0..2 {
            let verdict = schemas.verdict(kind, json, fields.fields(), |errors| texts(None, errors)).unwrap();
            assert_eq!(**verdict, *expected, "{kind}: {text}");
        }
    }
    schemas.accepts(kind, text) || schemas.have_same_shape(kind, known.fields(), alone.fields()) == Some(true)
}

fn in_one_line(violation: &Violation) -> String {
    let Violation { pointer, message, .. } = violation;
    if pointer.is_empty() { message.clone() } else { format!("{pointer}: {message}") }
}

#[test]
fn cached_verdicts_are_right_for_recorded_events_and_none_needs_a_dom_twice() {
    let (mut all, mut broken) = (0, 0);
    for text in RECORDED.iter() {
        for (schemas, kind, text) in checked(text) {
            assert!(compare(schemas, &kind, &text), "has no shape: {kind}: {text}");
            all += 1;
            broken += usize::from(schemas.check_text(&kind, &text).is_err());
        }
    }
    assert!(all > 1000 && broken > 300, "{broken} of {all}");
}

/// A replacement for a value.
fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop_oneof![Just(1.0), Just(1.5), Just(-0.0), Just(1e300), Just(u64::MAX as f64)].prop_map(Value::from),
        prop_oneof![
            Just("message"),
            Just("function_call"),
            Just("reasoning"),
            Just("output_text"),
            Just("summary_text"),
            Just("completed"),
            Just("auto"),
            Just("acme:thing"),
            Just(":thing"),
            Just("acme:"),
            Just("a:b:c"),
            Just("line\nfeed"),
            Just("a:\n"),
            Just("quo\"te"),
            Just(""),
        ]
        .prop_map(Value::from),
        Just(json!([])),
        Just(json!([null, 1, "x", {"type": "output_text"}, {"type": 3}, {}])),
        Just(json!({})),
        Just(json!({"type": "message", "content": [{"type": "output_text", "text": 1, "annotations": [1]}]})),
        Just(json!({"type": null})),
    ]
}

/// A change of one value somewhere in a record.
#[derive(Clone, Debug)]
enum Change {
    Replace(Value),
    Remove,
    Rename,
    Repeat,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => odd().prop_map(Change::Replace),
        3 => Just(Change::Remove),
        1 => Just(Change::Rename),
        1 => Just(Change::Repeat),
    ]
}

/// Changes the value at a position in a record. Positions are counted depth first.
fn apply(value: &mut Value, at: Index, change: &Change) {
    let mut pointers = Vec::new();
    collect(value, &mut String::new(), &mut pointers);
    let Some(pointer) = (!pointers.is_empty()).then(|| at.get(&pointers).clone()) else { return };
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let key = key.replace("~1", "/").replace("~0", "~");
    match (value.pointer_mut(parent).unwrap(), change) {
        // The event's own type selects the schema.
        (Value::Object(_), _) if parent.is_empty() && key == "type" => {}
        (Value::Object(map), Change::Replace(with)) => drop(map.insert(key, with.clone())),
        (Value::Object(map), Change::Remove) => drop(map.remove(&key)),
        (Value::Object(map), Change::Rename) => {
            let moved = map.remove(&key).unwrap();
            map.insert(format!("{key}/~"), moved);
        }
        (Value::Object(map), Change::Repeat) => drop(map.insert("type".to_owned(), json!("message"))),
        (Value::Array(list), change) => {
            let at: usize = key.parse().unwrap();
            match change {
                Change::Replace(with) => list[at] = with.clone(),
                Change::Remove | Change::Rename => drop(list.remove(at)),
                Change::Repeat => list.push(list[at].clone()),
            }
        }
        _ => {}
    }
}

fn collect(value: &Value, here: &mut String, all: &mut Vec<String>) {
    let fields: Vec<(String, &Value)> = match value {
        Value::Object(map) => {
            map.iter().map(|(key, field)| (key.replace('~', "~0").replace('/', "~1"), field)).collect()
        }
        Value::Array(list) => list.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        _ => Vec::new(),
    };
    for (key, field) in fields {
        let length = here.len();
        write!(here, "/{key}").unwrap();
        all.push(here.clone());
        collect(field, here, all);
        here.truncate(length);
    }
}

/// The spelling of a record: key order, white space, escapes, repeated keys.
#[derive(Clone, Copy, Debug)]
struct Spelling {
    backwards: bool,
    spaced: bool,
    /// If set, every n-th string or key is escaped.
    escaped: Option<usize>,
    /// If set, every n-th field is repeated.
    repeated: Option<usize>,
}

fn spelling() -> impl Strategy<Value = Spelling> {
    let rarely = || prop_oneof![6 => Just(None), 1 => (5usize..60).prop_map(Some)];
    (any::<bool>(), any::<bool>(), rarely(), rarely()).prop_map(|(backwards, spaced, escaped, repeated)| Spelling {
        backwards,
        spaced,
        escaped,
        repeated,
    })
}

fn spell(value: &Value, how: Spelling, count: &mut usize, out: &mut String) {
    let space = if how.spaced { " \n\t" } else { "" };
    let string = |text: &str, count: &mut usize, out: &mut String| {
        *count += 1;
        if how.escaped.is_some_and(|every| count.is_multiple_of(every)) {
            out.push('"');
            text.encode_utf16().for_each(|unit| write!(out, "\\u{unit:04x}").unwrap());
            out.push('"');
        } else {
            out.push_str(&json!(text).to_string());
        }
    };
    match value {
        Value::Object(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            if how.backwards {
                fields.reverse();
            }
            out.push('{');
            let mut first = true;
            for (key, field) in fields {
                *count += 1;
                let again = how.repeated.is_some_and(|every| count.is_multiple_of(every));
                for _ in 0..=usize::from(again) {
                    out.push_str(if first { "" } else { "," });
                    first = false;
                    out.push_str(space);
                    string(key, count, out);
                    write!(out, "{space}:{space}").unwrap();
                    spell(field, how, count, out);
                }
            }
            write!(out, "{space}}}").unwrap();
        }
        Value::Array(list) => {
            out.push('[');
            for (at, item) in list.iter().enumerate() {
                write!(out, "{}{space}", if at == 0 { "" } else { "," }).unwrap();
                spell(item, how, count, out);
            }
            write!(out, "{space}]").unwrap();
        }
        Value::String(text) => string(text, count, out),
        other => write!(out, "{other}").unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn cached_verdicts_are_right_for_changed_events(
        record in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), change()), 0..5),
        how in spelling(),
    ) {
        let mut value: Value = serde_json::from_str(record.get::<String>(&RECORDED)).unwrap();
        for (at, change) in &changes {
            apply(&mut value, *at, change);
        }
        let mut text = String::new();
        spell(&value, how, &mut 0, &mut text);
        for (schemas, kind, text) in checked(&text) {
            compare(schemas, &kind, &text);
        }
    }
}

/// A small change, after which an object may have the same shape.
fn small_change() -> impl Strategy<Value = Change> {
    let word = prop_oneof![Just("completed"), Just("incomplete"), Just("auto"), Just("x"), Just("1\n"), Just("")];
    prop_oneof![
        3 => word.prop_map(|word| Change::Replace(Value::from(word))),
        2 => any::<i32>().prop_map(|number| Change::Replace(Value::from(number))),
        1 => (-9.5..9.5).prop_map(|number| Change::Replace(Value::from(number))),
        1 => change(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn objects_of_the_same_shape_have_the_same_violations(
        record in any::<Index>(),
        before in prop::collection::vec((any::<Index>(), change()), 0..3),
        after in prop::collection::vec((any::<Index>(), small_change()), 0..3),
    ) {
        let mut one: Value = serde_json::from_str(record.get::<String>(&RECORDED)).unwrap();
        before.iter().for_each(|(at, change)| apply(&mut one, *at, change));
        let mut other = one.clone();
        after.iter().for_each(|(at, change)| apply(&mut other, *at, change));
        let (one, other) = (one.to_string(), other.to_string());
        for ((schemas, kind, one), (_, same_kind, other)) in checked(&one).into_iter().zip(checked(&other)) {
            let (FirstValue::Value { json: before, fields: first, .. }, FirstValue::Value { json: after, fields: second, .. }) = (first_value(&one), first_value(&other)) else { continue };
            // Only objects have a shape.
            let are_objects = before.kind() == Kind::Object && after.kind() == Kind::Object;
            if are_objects && kind == same_kind && schemas.have_same_shape(&kind, first.fields(), second.fields()) == Some(true) {
                prop_assert_eq!(schemas.check_text(&kind, &one), schemas.check_text(&kind, &other), "{} {}", one, other);
            }
        }
    }
}

#[test]
fn a_shape_does_not_depend_on_texts_and_numbers() {
    let delta = |item: &str, at: u32, delta: &str, logprobs: &str| {
        format!(
            r#"{{"type":"response.output_text.delta","item_id":"{item}","output_index":{at},"delta":"{delta}","x":{at},"logprobs":{logprobs}}}"#
        )
    };
    let kind = "response.output_text.delta";
    let schemas = schema_of(kind).unwrap().schemas().unwrap();
    let alike = |one: &str, other: &str| {
        let (one, other) = (Json::parse(one).unwrap().object().unwrap(), Json::parse(other).unwrap().object().unwrap());
        schemas.have_same_shape(kind, one.fields(), other.fields())
    };
    let one = delta("msg_1", 0, "a", "[]");
    for (other, expected) in [
        (delta("msg_2", 7, "quo\\\"te \\ud83d", "[]"), true),
        (delta("msg_1", 0, "a", "[ ]"), false),
        (delta("msg_1", 0, "a", "[1]"), false),
        (delta("msg_1", 0, "a", "null"), false),
        (one.replace("\"output_index\":0", "\"output_index\":0.5"), false),
        (one.replace("\"x\":0", "\"x\":{\"y\":[]}"), true),
        (one.replace("\"x\":0", "\"y\":0"), false),
        (one.replace(".delta\",", ".done\","), false),
        (one.replace("{", "{\"z\":1,"), false),
    ] {
        assert_eq!(alike(&one, &other), Some(expected), "{other}");
    }
    let broken = delta("msg_1", 0, "a", "[1]");
    assert_eq!(alike(&broken, &delta("msg_2", 1, "b", "[2]")), Some(true), "it is broken in the same way");
    assert_eq!(alike(&broken, &delta("msg_2", 1, "b", "[\"x\"]")), Some(false));
    assert_eq!(alike(&broken, &delta("msg_2", 1, "b", "[1,2]")), Some(false));
    let many = |count: usize| (0..count).map(|at| format!("\"k{at}\":1,")).collect::<String>();
    let with = |count: usize| one.replace("{", &format!("{{{}", many(count)));
    assert_eq!(alike(&with(90), &with(90)), Some(true));
    assert_eq!(alike(&with(91), &with(91)), None, "so many fields are not remembered");
    let long = |length: usize| one.replace("{", &format!("{{\"{}\":1,", "k".repeat(length)));
    assert_eq!(alike(&long(1900), &long(1900)), Some(true));
    assert_eq!(alike(&long(2048), &long(2048)), None, "nor are such long keys");
}

#[test]
fn only_short_arrays_are_part_of_a_shape() {
    let kind = "response.output_item.done";
    let schemas = schema_of(kind).unwrap().schemas().unwrap();
    let alike = |one: &str, other: &str| {
        let (FirstValue::Value { fields: one, .. }, FirstValue::Value { fields: other, .. }) =
            (first_value(one), first_value(other))
        else {
            panic!("no JSON")
        };
        schemas.have_same_shape(kind, one.fields(), other.fields())
    };
    let part = r#"{"type":"output_text","text":"a","annotations":[]}"#;
    let event = |parts: &str| {
        format!(r#"{{"type":"{kind}","item":{{"type":"message","id":"m","status":"completed","content":[{parts}]}}}}"#)
    };
    let one = event(part);
    for (other, expected) in [
        (event(&part.replace("\"a\"", "\"quo\\\"te and a much longer text than there was\"")), true),
        (event(&part.replace(':', " :\n")), true),
        (event(&part.replace("[]", "[{}]")), false),
        (event(&part.replace("\"a\"", "null")), false),
        (event(&part.replace("text\":", "t\\u0065xt\":")), false),
        (event(&part.replace("output_text", "summary_text")), false),
        (event(&part.replace("[]}", "[],\"x\":1}")), false),
        (event(&part.replace(",\"annotations\":[]", "")), false),
        (event(&format!("{part},{part}")), false),
        (event("1"), false),
        (event(""), false),
        (one.replace("\"id\":\"m\"", "\"id\":\"n\""), true),
        (one.replace("\"completed\"", "\"incomplete\""), false),
    ] {
        assert_eq!(alike(&one, &other), Some(expected), "{other}");
    }
    let broken = event(r#"{"type":"output_text","text":1},{"type":"refusal"}"#);
    assert_eq!(alike(&broken, &broken.replace(":1}", ":2}")), Some(true), "it is broken in the same way");
    assert_eq!(alike(&broken, &broken.replace(":1}", ":\"2\"}")), Some(false));
    let many = event(&[part; 3].join(","));
    assert_eq!(
        alike(&many, &event(&[part; 4].join(","))),
        Some(true),
        "many items are looked at, and nothing is found"
    );
    assert_eq!(alike(&many, &many.replace("\"a\"", "1")), Some(false));
}

#[test]
fn numbers_out_of_range_are_still_numbers() {
    let response = response_schema().unwrap();
    for number in ["1e400", "-1e400", "1.5", "1.0", "-0", "-0.0", "1E2", "123456789012345678901234567890", "1e-400"] {
        compare(response, RESPONSE.kind, &format!(r#"{{"created_at":{number},"top_p":{number},"id":{number}}}"#));
    }
}
