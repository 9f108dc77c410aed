//! The fast validator and the verdicts cached by shape agree with the full validator. This is tested with each event of every
//! recording in every contract, and with many events generated from them.
//!
//! `FRAMEGATE_AGREEMENT_CASES` sets how many are generated. Default: 4000.

use super::*;
use crate::contracts::{CONTRACTS, Contract};
use crate::encode::{EncoderOptions, EventId, EventShape, Field, Key, Kind};
use crate::frame::Frame;
use crate::framing::Limits;
use crate::pipeline::{Ingest, Translator};
use crate::runners::RUNNERS;
use crate::sequence::Identity;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use serde_json::json;
use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;
use std::slice::Iter;
use uuid::Uuid;

fn contracts() -> impl Iterator<Item = (&'static Contract, Schemas)> {
    let with_schemas = CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty());
    with_schemas.map(|contract| (contract, Schemas::compile(contract.schemas).unwrap()))
}

/// Every event of the recordings in a contract, with its default event groups or with all of them.
fn each_event(contract: &'static Contract, all: bool, sink: &mut dyn FnMut(EventRef<'_>)) {
    let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
    let budget = all.then_some(10);
    let options = EncoderOptions {
        experimental: all,
        thinking: all,
        user_messages: all,
        artifacts: all,
        task_budget_micros_usd: budget,
    };
    for runner in RUNNERS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(runner.name);
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.is_file() && path.file_name().is_some_and(|name| name != "MANIFEST.json"));
        paths.sort();
        for path in paths {
            let ingest = Ingest::new(runner, None, Limits::default(), identity);
            let mut translator = Translator::new(ingest, contract, options.clone());
            let mut sink = |_: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>| events.for_each(&mut *sink);
            translator.feed(&std::fs::read(path).unwrap(), 1_770_000_000_000, &mut sink);
            translator.finish(1_770_000_000_123, &mut sink);
        }
    }
}

/// A fallback to the full validator is slow but not wrong, so no other test notices that the fast validator does not know an
/// event.
#[test]
fn recorded_events_are_accepted_without_the_full_validator() {
    for (contract, schemas) in contracts() {
        let (mut all, mut by_shape) = (0, 0);
        for with_all in [false, true] {
            each_event(contract, with_all, &mut |event| {
                let text = std::str::from_utf8(event.payload).unwrap();
                assert!(schemas.accepts(event.kind, text), "{}: {text}", contract.name);
                shape_is_true(event.shape.fields, text);
                // The fingerprint must not depend on how the shape was built, or lookups fail.
                assert_eq!(event.shape.fingerprint(), EventShape::new(event.shape.fields).fingerprint(), "{text}");
                let compiled = &schemas.by_kind[event.kind];
                let value = crate::json::value(event.payload).unwrap();
                assert!(compiled.validator.is_valid(&value), "{}: {text}", contract.name);
                assert_eq!(schemas.check(event), Ok(()), "{}: {text}", contract.name);
                all += 1;
                by_shape += usize::from(compiled.is_always_valid(event.shape.fields));
            });
        }
        // Events whose shape does not decide must be read each time, so most shapes must decide.
        assert!(all > 1_000 && by_shape * 100 > all * 98, "{}: {by_shape} of {all}", contract.name);
    }
}

/// Fails unless an event's shape matches its text; an empty shape always matches.
fn shape_is_true(shape: &[Field], text: &str) {
    let mut fields = shape.iter();
    let is_true = shape.is_empty() || are_fields_of(&mut fields, Json::parse(text).unwrap());
    assert!(is_true && fields.as_slice().is_empty(), "{text} is not as {shape:#?}");
}

/// Whether the next fields, up to their end, are those of the object.
fn are_fields_of(fields: &mut Iter<'_, Field>, object: Json<'_>) -> bool {
    let Some(object) = object.object() else { return false };
    for (key, value) in object.iter() {
        let Some(field) = fields.next().filter(|field| field.key.name() == key) else { return false };
        let is_true = match field.kind {
            Kind::Fields => are_fields_of(fields, value),
            Kind::Items => are_sorts_of(fields, &value.items()),
            kind => is_of(kind, value),
        };
        if !is_true {
            return false;
        }
    }
    fields.next().is_none_or(|field| matches!(field.kind, Kind::End))
}

/// Whether each item matches one of the next object shapes, and each shape matches an item.
fn are_sorts_of(sorts: &mut Iter<'_, Field>, items: &[Json<'_>]) -> bool {
    let mut found = vec![false; items.len()];
    while let Some(Field { kind: Kind::Fields, .. }) = sorts.next() {
        let sort = sorts.clone();
        let mut is_used = false;
        for (item, found) in items.iter().zip(&mut found) {
            let mut fields = sort.clone();
            if are_fields_of(&mut fields, *item) {
                (is_used, *found, *sorts) = (true, true, fields);
            }
        }
        if !is_used {
            return false;
        }
    }
    !items.is_empty() && found.iter().all(|&found| found)
}

fn is_of(kind: Kind, value: Json<'_>) -> bool {
    let string = value.str();
    match kind {
        Kind::Null => value.is_null(),
        Kind::Bool => value.bool().is_some(),
        Kind::Unsigned => value.u64().is_some(),
        Kind::Integer => value.i64().is_some_and(|number| i32::try_from(number).is_ok()),
        Kind::Number => value.f64().is_some(),
        Kind::Amount => value.f64().is_some_and(|number| number >= 0.0),
        Kind::Uuid => string.is_some_and(|text| text.len() == 36 && Uuid::try_parse(&text).is_ok()),
        Kind::Ulid(prefix) => string.is_some_and(|text| {
            let digits = text.strip_prefix(prefix).unwrap_or_default();
            digits.len() == 26 && digits.bytes().all(|digit| b"0123456789ABCDEFGHJKMNPQRSTVWXYZ".contains(&digit))
        }),
        Kind::Time => string.is_some_and(|text| {
            // Compared with its canonical spelling, since the parser accepts more spellings than we write.
            let time: Result<jiff::Timestamp, _> = text.parse();
            time.is_ok_and(|time| [0, 3, 6].iter().any(|&digits| format!("{time:.digits$}") == text))
        }),
        Kind::EmptyText => string.is_some_and(|text| text.is_empty()),
        Kind::Text => string.is_some_and(|text| !text.is_empty()),
        Kind::Word(word) => value.text() == format!("\"{word}\""),
        Kind::EmptyArray => value.text() == "[]",
        Kind::Texts => !value.items().is_empty() && value.items().iter().all(|item| item.str().is_some()),
        Kind::Object => value.object().is_some(),
        Kind::Unknown => true,
        Kind::Fields | Kind::Items | Kind::End => false,
    }
}

/// Some events of each type, including the examples from the schemas.
fn samples(contract: &'static Contract) -> Vec<(&'static str, Value)> {
    let (mut counts, mut samples) = (HashMap::default(), Vec::new());
    each_event(contract, true, &mut |event| {
        let count = counts.entry(event.kind).or_insert(0);
        *count += 1;
        if *count <= 40 {
            samples.push((event.kind, crate::json::value(event.payload).unwrap()));
        }
    });
    for file in contract.schemas {
        let schema: Value = serde_json::from_str(file.text()).unwrap();
        samples.extend(schema["examples"].as_array().into_iter().flatten().map(|event| (file.kind, event.clone())));
    }
    samples
}

/// Replacement values: words from the schemas, and strings that are almost one of their formats.
fn odd() -> impl Strategy<Value = Value> {
    let words = CONTRACTS.iter().flat_map(|contract| contract.schemas).flat_map(|file| {
        let mut words = Vec::new();
        words_in(&serde_json::from_str(file.text()).unwrap(), &mut words);
        words
    });
    let mut words: Vec<String> = words.collect::<HashSet<_>>().into_iter().collect();
    words.sort();
    let prefixes = prop_oneof![Just("evt_"), Just("run_"), Just("task_"), Just("chat_"), Just("")];
    let ulid = "[0-9A-HJKMNP-TV-Z]{25}[0-9A-Za-z]?";
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0u64..1200).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![Just(1.0), Just(1.5), Just(-0.0), Just(1e300), Just(65536.0)].prop_map(Value::from),
        proptest::sample::select(words).prop_map(Value::from),
        (prefixes, ulid).prop_map(|(prefix, rest)| Value::from(format!("{prefix}{rest}"))),
        any::<u128>().prop_map(|bits| Value::from(Uuid::from_u128(bits).to_string())),
        "20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{1,6})?Z".prop_map(Value::from),
        "/(data|raw)?(/|\\PC)?".prop_map(Value::from),
        Just(json!("")),
        Just(json!([])),
        Just(json!(["x", ""])),
        Just(json!([{"path": "p"}, {"path": ""}, {}])),
        Just(json!([null, 1])),
        Just(json!({})),
        Just(json!({"kind": "k", "message": 1})),
    ]
}

/// The strings of a schema's `enum` and `const`.
fn words_in(schema: &Value, words: &mut Vec<String>) {
    let mut add = |value: &Value| words.extend(value.as_str().map(str::to_owned));
    match schema {
        Value::Object(map) => {
            map.get("const").into_iter().for_each(&mut add);
            map.get("enum").and_then(Value::as_array).into_iter().flatten().for_each(&mut add);
            map.values().for_each(|value| words_in(value, words));
        }
        Value::Array(list) => list.iter().for_each(|value| words_in(value, words)),
        _ => {}
    }
}

#[derive(Clone, Debug)]
enum Change {
    Replace(Value),
    Remove,
    Add(&'static str, Value),
}

fn change() -> impl Strategy<Value = Change> {
    let keys = prop_oneof![Just("new"), Just("data"), Just("metadata"), Just("error"), Just("matches"), Just("reason")];
    prop_oneof![
        5 => odd().prop_map(Change::Replace),
        2 => Just(Change::Remove),
        1 => (keys, odd()).prop_map(|(key, value)| Change::Add(key, value)),
    ]
}

/// Changes the value at a position in an event; positions are counted depth-first.
fn apply(event: &mut Value, at: Index, change: &Change) {
    let mut count = 0;
    count_values(event, &mut count);
    let mut left = at.index(count);
    change_at(event, &mut left, change);
}

fn count_values(value: &Value, count: &mut usize) {
    *count += 1;
    match value {
        Value::Object(map) => map.values().for_each(|value| count_values(value, count)),
        Value::Array(list) => list.iter().for_each(|value| count_values(value, count)),
        _ => {}
    }
}

/// Whether the value itself must be removed.
fn change_at(value: &mut Value, left: &mut usize, change: &Change) -> bool {
    if *left == 0 {
        *left = usize::MAX;
        match (change, &mut *value) {
            (Change::Replace(with), _) => *value = with.clone(),
            (Change::Add(key, with), Value::Object(map)) => drop(map.insert((*key).to_owned(), with.clone())),
            (Change::Add(_, with), Value::Array(list)) => list.push(with.clone()),
            (Change::Add(_, with), _) => *value = with.clone(),
            (Change::Remove, _) => return true,
        }
        return false;
    }
    *left -= 1;
    match value {
        Value::Object(map) => map.retain(|_, value| *left == usize::MAX || !change_at(value, left, change)),
        Value::Array(list) => list.retain_mut(|value| *left == usize::MAX || !change_at(value, left, change)),
        _ => {}
    }
    false
}

/// Keeps one copy of each text for the whole test, so that shapes can be compared by address.
#[derive(Default)]
struct Texts {
    texts: HashSet<&'static str>,
    keys: HashMap<&'static str, &'static Key>,
}

impl Texts {
    fn keep(&mut self, text: &str) -> &'static str {
        if let Some(kept) = self.texts.get(text) {
            return kept;
        }
        let kept: &'static str = Box::leak(text.into());
        self.texts.insert(kept);
        kept
    }

    fn key(&mut self, name: &str) -> &'static Key {
        let name = self.keep(name);
        self.keys.entry(name).or_insert_with(|| Box::leak(Box::new(Key::new(name, ""))))
    }
}

/// Builds a correct shape of an object. If several kinds fit a value, `choices` selects the one that the writer used.
fn shape_of(object: &Value, texts: &mut Texts, choices: &mut u64, shape: &mut Vec<Field>) {
    for (key, value) in object.as_object().unwrap() {
        let mut kinds = kinds_of(value, texts);
        // A writer mostly knows the most specific kind; otherwise a shape seldom decides anything.
        if !next(choices).is_multiple_of(16) && kinds.iter().any(|kind| says_most(*kind)) {
            kinds.retain(|kind| says_most(*kind));
        }
        let kind = kinds[next(choices) % kinds.len()];
        shape.push(Field { key: texts.key(key), kind });
        match kind {
            Kind::Fields => {
                shape_of(value, texts, choices, shape);
                shape.push(END);
            }
            Kind::Items => {
                for item in value.as_array().unwrap() {
                    shape.push(Field { key: Key::NONE, kind: Kind::Fields });
                    shape_of(item, texts, choices, shape);
                    shape.push(END);
                }
                shape.push(END);
            }
            _ => {}
        }
    }
}

const END: Field = Field { key: Key::NONE, kind: Kind::End };

/// The next number from a simple generator.
fn next(choices: &mut u64) -> usize {
    *choices = choices.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*choices >> 33) as usize
}

/// Whether no kind is more specific for some value of this kind.
fn says_most(kind: Kind) -> bool {
    !matches!(kind, Kind::Integer | Kind::Number | Kind::Amount | Kind::Text | Kind::EmptyText | Kind::Object)
}

/// All kinds that fit a value.
fn kinds_of(value: &Value, texts: &mut Texts) -> Vec<Kind> {
    let prefixes = ["evt_", "run_", "task_", "chat_"];
    let mut kinds = vec![Kind::Null, Kind::Bool, Kind::Unsigned, Kind::Integer, Kind::Number, Kind::Amount, Kind::Uuid];
    kinds.extend(prefixes.map(Kind::Ulid));
    kinds.extend([Kind::Time, Kind::EmptyText, Kind::Text, Kind::EmptyArray, Kind::Texts, Kind::Object]);
    // A word has no escapes and is one of a small set.
    if let Some(word) = value.as_str().filter(|word| word.len() < 24 && is_plain(word)) {
        kinds.push(Kind::Word(texts.keep(word)));
    }
    let text = value.to_string();
    kinds.retain(|kind| is_of(*kind, Json::parse(&text).unwrap()));
    match value {
        Value::Object(_) => kinds.push(Kind::Fields),
        Value::Array(list) if !list.is_empty() && list.iter().all(Value::is_object) => kinds.push(Kind::Items),
        _ => {}
    }
    if kinds.is_empty() { vec![Kind::Unknown] } else { kinds }
}

fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'))
}

#[test]
fn all_validators_agree_on_changed_events() {
    let cases = std::env::var("FRAMEGATE_AGREEMENT_CASES").map_or(4000, |cases| cases.parse().unwrap());
    let contracts: Vec<_> = contracts().map(|(contract, schemas)| (schemas, samples(contract))).collect();
    let seen = RefCell::new((Texts::default(), [0u32; 3]));
    let strategy =
        (any::<Index>(), any::<Index>(), prop::collection::vec((any::<Index>(), change()), 0..4), any::<u64>());
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    let result = TestRunner::new(config).run(&strategy, |(contract, sample, changes, mut choices)| {
        let (schemas, samples) = contract.get(&contracts);
        let (kind, event) = sample.get(samples);
        let mut event = event.clone();
        for (at, change) in &changes {
            apply(&mut event, *at, change);
        }
        let text = event.to_string();
        let full = schemas.check_value(kind, &event);
        prop_assert_eq!(&schemas.check_text(kind, &text), &full, "{}", text);
        if !event.is_object() {
            return Ok(());
        }
        let (texts, [valid, broken, by_shape]) = &mut *seen.borrow_mut();
        let mut shape = Vec::new();
        shape_of(&event, texts, &mut choices, &mut shape);
        shape_is_true(&shape, &text);
        let with_shape =
            EventRef { kind, id: &EventId::None, payload: text.as_bytes(), known: &[], shape: EventShape::new(&shape) };
        // Twice, because the second check uses the verdict that the first one cached.
        for _ in 0..2 {
            prop_assert_eq!(&schemas.check(with_shape), &full, "{} as {:?}", text, shape);
        }
        let is_always_valid = schemas.by_kind[kind].is_always_valid(&shape);
        prop_assert!(!is_always_valid || full.is_ok(), "{} as {:?}", text, shape);
        *valid += u32::from(full.is_ok());
        *broken += u32::from(full.is_err());
        *by_shape += u32::from(is_always_valid);
        Ok(())
    });
    result.unwrap();
    let (_, [valid, broken, by_shape]) = seen.into_inner();
    let least = cases / 20;
    assert!(valid > least && broken > least && by_shape > least, "{valid} valid, {broken} broken, {by_shape} by shape");
}
