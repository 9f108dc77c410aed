//! The published files of each contract: schemas, golden events, the bundle and the TypeScript declarations.
//!
//! `FRAMEGATE_BLESS=1 cargo test -p framegate-translators --test contracts published` rewrites the golden events and the declarations, so
//! that a change shows up in review.

use crate::support::*;
use framegate_translators::contracts::Contract;
use framegate_translators::encode::{EncoderOptions, EventRef};
use framegate_translators::event_kind::{kind_of, kind_of_schema, kind_pointer};
use framegate_translators::framing::Limits;
use framegate_translators::json;
use framegate_translators::pipeline::Translator;
use framegate_translators::publish::{bundle, bundle_id, typescript};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const BASE: &str = "https://framegate.dev/schemas/";

fn schemas_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas")
}

/// `frames.v2` has its files in `frames/v2`.
fn folder(contract: &Contract) -> String {
    let (name, version) = contract.name.rsplit_once('.').unwrap();
    format!("{name}/{version}")
}

fn schema_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Calls `with` for each event of each recording, with every set of options.
fn each_event(contract: &'static Contract, mut with: impl FnMut(&Recording, EventRef<'_>)) {
    let plain = EncoderOptions::default();
    let all = EncoderOptions {
        experimental: true,
        thinking: true,
        user_messages: true,
        artifacts: true,
        task_budget_micros_usd: Some(1_000),
    };
    for options in [plain, all] {
        for recording in recordings() {
            let ingest = ingest(recording.runner, Limits::default());
            let mut translator = Translator::new(ingest, contract, options.clone());
            let mut sink = |_: &_, events: &mut dyn Iterator<Item = EventRef<'_>>| {
                events.for_each(|event| with(&recording, event));
            };
            translator.feed(&recording.bytes, EPOCH_MS, &mut sink);
            translator.finish(EPOCH_MS, &mut sink);
        }
    }
}

/// Compares a file with its expected content, or writes it.
fn compare(path: &Path, expected: &str) {
    if std::env::var_os("FRAMEGATE_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, expected).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    let differs = kept.lines().zip(expected.lines()).position(|(one, other)| one != other);
    let at = differs.unwrap_or(kept.lines().count().min(expected.lines().count()));
    assert!(
        kept == expected,
        "{} differs from line {} on:\n  kept: {:?}\n  now:  {:?}\nFRAMEGATE_BLESS=1 rewrites it",
        path.display(),
        at + 1,
        kept.lines().nth(at),
        expected.lines().nth(at)
    );
}

#[test]
fn the_id_of_every_schema_is_its_path() {
    let mut ids = BTreeSet::new();
    for contract in json_contracts() {
        let folder = folder(contract);
        for file in contract.schemas {
            let schema = schema_of(file.text());
            let id = schema["$id"].as_str().unwrap();
            assert_eq!(id, format!("{BASE}{folder}/{}.schema.json", file.kind));
            assert!(ids.insert(id.to_owned()), "{id} occurs twice");
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{id}");
            assert_eq!(schema["title"], format!("{} {}", contract.name, file.kind), "{id}");
            assert_eq!(kind_of_schema(contract.type_key, &schema), Some(file.kind), "{id}");
            let pointer = kind_pointer(contract.type_key, &schema["examples"][0]);
            let place = pointer.split('/').skip(1).collect::<Vec<_>>();
            place.iter().fold(&schema, |schema, key| {
                let required = schema["required"].as_array().unwrap();
                assert!(required.contains(&Value::from(*key)), "{id} must require the key that tells its type");
                &schema["properties"][*key]
            });
        }
        // Every schema file is used.
        let mut files = std::fs::read_dir(schemas_dir().join(&folder))
            .unwrap()
            .filter_map(|entry| {
                entry.unwrap().file_name().into_string().unwrap().strip_suffix(".schema.json").map(str::to_owned)
            })
            .collect::<Vec<_>>();
        files.sort();
        let mut kinds: Vec<&str> = contract.schemas.iter().map(|file| file.kind).collect();
        kinds.sort_unstable();
        assert_eq!(files, kinds, "{folder}");
    }
}

/// Fails if a schema, or a property within it, has no description.
fn described(schema: &Value, place: &str) {
    let text = schema["description"].as_str().unwrap_or_default();
    assert!(!text.trim().is_empty(), "{place} has no description");
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        described(property, &format!("{place}/{name}"));
    }
    for keyword in ["items", "additionalProperties"] {
        for (name, property) in schema[keyword]["properties"].as_object().into_iter().flatten() {
            described(property, &format!("{place}/{keyword}/{name}"));
        }
    }
}

#[test]
fn every_schema_and_every_property_is_described() {
    for contract in json_contracts() {
        for file in contract.schemas {
            described(&schema_of(file.text()), &format!("{} {}", contract.name, file.kind));
        }
    }
}

#[test]
fn every_schema_has_examples_and_each_one_is_valid_for_its_type_alone() {
    for contract in json_contracts() {
        let schemas = schemas(contract);
        for file in contract.schemas {
            let schema = schema_of(file.text());
            let examples = schema["examples"].as_array().unwrap_or_else(|| panic!("{} has no examples", file.kind));
            assert!(!examples.is_empty(), "{} {} has no example", contract.name, file.kind);
            for example in examples {
                assert_eq!(schemas.check_value(file.kind, example), Ok(()), "{} {}", contract.name, file.kind);
                let others = contract.schemas.iter().filter(|other| other.kind != file.kind);
                for other in others {
                    assert!(schemas.check_value(other.kind, example).is_err(), "{} is a {} too", file.kind, other.kind);
                }
            }
        }
    }
}

#[test]
fn the_bundle_accepts_every_example_and_nothing_else() {
    for contract in json_contracts() {
        let bundle: Value = serde_json::from_str(&bundle(contract)).unwrap();
        assert_eq!(bundle["$id"], format!("{BASE}{}/bundle.schema.json", folder(contract)));
        assert_eq!(bundle["$id"], bundle_id(contract));
        assert_eq!(bundle["$defs"].as_object().unwrap().len(), contract.schemas.len());
        // There is no retriever, so a reference that does not resolve within the bundle fails here.
        let validator = jsonschema::options().should_validate_formats(true).build(&bundle).unwrap();
        for file in contract.schemas {
            let schema = schema_of(file.text());
            assert_eq!(bundle["$defs"][file.kind], schema);
            let mut example = schema["examples"][0].clone();
            assert!(validator.is_valid(&example), "{} {}", contract.name, file.kind);
            set_kind(contract.type_key, &mut example, "no such type");
            assert!(!validator.is_valid(&example), "{} {}", contract.name, file.kind);
        }
    }
}

/// The number of golden events for each type.
const GOLDEN: usize = 3;
/// Larger events are only used if there are no smaller ones, so that the files stay readable.
const READABLE: usize = 1_500;

/// Golden events by type: the first ones with different sets of keys.
type Golden = BTreeMap<&'static str, Vec<(BTreeSet<String>, String)>>;

/// The keys of an event, down to the second level.
fn keys_of(event: &Value) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for (key, value) in event.as_object().into_iter().flatten() {
        keys.insert(key.clone());
        if matches!(key.as_str(), "data" | "payload") {
            keys.extend(value.as_object().into_iter().flatten().map(|(inner, _)| format!("{key}/{inner}")));
        }
    }
    keys
}

fn take_golden(golden: &mut Golden, kind: &'static str, payload: &[u8]) {
    let chosen = golden.entry(kind).or_default();
    if chosen.len() == GOLDEN && chosen.iter().all(|(_, text)| text.len() <= READABLE) {
        return;
    }
    let keys = keys_of(&json::value(payload).unwrap());
    let text = String::from_utf8(payload.to_vec()).unwrap();
    if let Some((_, other)) = chosen.iter_mut().find(|(other, _)| *other == keys) {
        if other.len() > READABLE && text.len() < other.len() {
            *other = text;
        }
    } else if let Some(longest) =
        chosen.iter_mut().max_by_key(|(_, text)| text.len()).filter(|_| text.len() <= READABLE)
        && longest.1.len() > READABLE
    {
        *longest = (keys, text);
    } else if chosen.is_empty() || (text.len() <= READABLE && chosen.len() < GOLDEN) {
        chosen.push((keys, text));
    }
}

#[test]
fn every_recorded_event_has_a_schema_and_golden_events_are_unchanged() {
    for contract in json_contracts() {
        let known: BTreeSet<&str> = contract.schemas.iter().map(|file| file.kind).collect();
        let mut golden = Golden::new();
        each_event(contract, |recording, event| {
            assert!(known.contains(event.kind), "{} emits {:?} in {}", contract.name, event.kind, recording.name);
            take_golden(&mut golden, event.kind, event.payload);
        });
        let mut text = String::new();
        for (kind, events) in &golden {
            assert!(!events.is_empty(), "{kind}");
            for (_, event) in events {
                assert_eq!(kind_of(contract.type_key, &json::value(event.as_bytes()).unwrap()), Some(*kind));
                assert_eq!(schemas(contract).check_text(kind, event), Ok(()), "{event}");
                let _ = writeln!(text, "{event}");
            }
        }
        compare(&schemas_dir().join(folder(contract)).join("golden.ndjson"), &text);
    }
}

fn declarations_of(contract: &Contract) -> PathBuf {
    schemas_dir().join("types").join(format!("{}.d.ts", contract.name))
}

#[test]
fn the_declarations_match_the_schemas() {
    for contract in json_contracts() {
        let text = typescript(contract).unwrap_or_else(|error| panic!("{}: {error}", contract.name));
        let mut names = BTreeSet::new();
        for line in text.lines().filter_map(|line| line.strip_prefix("export ")) {
            let name = line.split([' ', '<']).nth(1).unwrap();
            assert!(names.insert(name.to_owned()), "{} declares {name} twice", contract.name);
        }
        assert!(names.len() >= contract.schemas.len() + 3, "{names:?}");
        compare(&declarations_of(contract), &text);
    }
    let files = std::fs::read_dir(schemas_dir().join("types")).unwrap().count();
    assert_eq!(files, json_contracts().count(), "a file in schemas/types/ that belongs to no contract");
}

/// A module that assigns events to the declared types: first the golden events and the schemas' examples, then each example
/// with one error, which must not compile.
fn assignments(contract: &Contract) -> (String, usize) {
    let module = declarations_of(contract).canonicalize().unwrap();
    let module = Value::from(module.to_str().unwrap().strip_suffix(".d.ts").unwrap());
    let text = typescript(contract).unwrap();
    let any = text.lines().find_map(|line| line.strip_prefix("export type ")?.split(' ').next()).unwrap();
    let mut out = format!("import type {{ {any}, {any}s }} from {module};\n");
    let mut count = 0;
    let mut good = |event: &str| {
        count += 1;
        let _ = writeln!(out, "const good{count}: {any} = {event};\nvoid good{count};");
    };
    let golden = std::fs::read_to_string(schemas_dir().join(folder(contract)).join("golden.ndjson")).unwrap();
    golden.lines().for_each(&mut good);
    for file in contract.schemas {
        good(&schema_of(file.text())["examples"][0].to_string());
    }
    let mut broken = 0;
    for file in contract.schemas {
        let schema = schema_of(file.text());
        for (what, event) in breakages(&schema, contract.type_key) {
            broken += 1;
            let kind = Value::from(file.kind);
            let _ = writeln!(
                out,
                "// @ts-expect-error {what}\nconst bad{broken}: {any}s[{kind}] = {event};\nvoid bad{broken};"
            );
        }
    }
    (out, broken)
}

/// The example of a schema, each time with one error that a type can detect.
fn breakages(schema: &Value, type_key: &str) -> Vec<(String, String)> {
    let example = &schema["examples"][0];
    let mut found = Vec::new();
    for place in ["", "/properties/data", "/properties/payload"] {
        let Some(schema) = schema.pointer(place) else { continue };
        let place = place.trim_start_matches("/properties");
        let Some(values) = example.pointer(place).and_then(Value::as_object) else { continue };
        let mut broken = |what: String, change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
            let mut event = example.clone();
            change(event.pointer_mut(place).unwrap().as_object_mut().unwrap());
            found.push((what, event.to_string()));
        };
        for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            broken(format!("without {place}/{key}"), &|event| drop(event.remove(key)));
        }
        if schema["additionalProperties"] == false {
            broken(format!("with {place}/another"), &|event| drop(event.insert("another".into(), Value::from(1))));
        }
        if place.is_empty() {
            broken("of another type".into(), &|event| {
                let mut whole = Value::Object(std::mem::take(event));
                set_kind(type_key, &mut whole, "another");
                *event = serde_json::from_value(whole).unwrap();
            });
        }
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let says = ["type", "const", "enum"].iter().any(|keyword| property.get(keyword).is_some());
            if says && values.contains_key(key) {
                broken(format!("{place}/{key} is a symbol"), &|event| drop(event.insert(key.clone(), SYMBOL.into())));
            }
        }
    }
    let symbol = Value::from(SYMBOL).to_string();
    found.into_iter().map(|(what, event)| (what, event.replace(&symbol, "Symbol()"))).collect()
}

/// A placeholder for a value that no JSON type accepts.
const SYMBOL: &str = "\u{1}symbol";

/// `./test.sh` installs the compiler and runs this test.
#[test]
#[ignore = "needs node and tests/node/node_modules: ./test.sh runs it"]
fn typescript_accepts_golden_events_and_rejects_broken_ones() {
    let node = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/node");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("declarations");
    std::fs::create_dir_all(&folder).unwrap();
    let mut arguments = vec![node.join("node_modules/typescript/bin/tsc").into_os_string()];
    arguments.extend(
        ["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext", "--pretty", "false"].map(Into::into),
    );
    arguments.push(node.join("client.ts").into_os_string());
    for contract in json_contracts() {
        let (text, broken) = assignments(contract);
        assert!(broken > contract.schemas.len() * 4, "{broken}");
        let path = folder.join(format!("{}.ts", contract.name));
        std::fs::write(&path, text).unwrap();
        arguments.push(path.into_os_string());
    }
    let output = std::process::Command::new("node").args(&arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let first: Vec<&str> = said.lines().take(20).collect();
    assert!(output.status.success(), "{}\n{}", first.join("\n"), String::from_utf8_lossy(&output.stderr));
}
