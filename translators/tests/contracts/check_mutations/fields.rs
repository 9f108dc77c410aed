//! Single events: a missing field or a field of the wrong type is found at its pointer, and a valid event has no findings.

use super::parsed;
use super::tables::{ALL, Table};
use crate::support::*;
use framegate_translators::contracts::{Contract, contract};
use framegate_translators::schema::document::DocumentSchema;
use framegate_translators::verify::{Checker, Finding, Severity, Standard};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

struct Field<'t> {
    name: &'t str,
    required: bool,
    types: Vec<&'t str>,
}

fn fields(text: &str) -> impl Iterator<Item = Field<'_>> {
    text.split_whitespace().map(|field| {
        let (name, types) = field.split_once(':').unwrap();
        let (name, required) = name.strip_suffix('?').map_or((name, true), |name| (name, false));
        Field { name, required, types: types.split('|').collect() }
    })
}

/// Values of different types.
fn values() -> [(&'static str, Value); 8] {
    [
        ("s", json!("x")),
        ("n", json!(7)),
        ("i", json!(-7)),
        ("f", json!(1.5)),
        ("b", json!(true)),
        ("o", json!({"x": 1})),
        ("a", json!([1])),
        ("null", Value::Null),
    ]
}

/// Whether a field of the type `field` may hold a value of the type `value`.
fn holds(field: &str, value: &str) -> bool {
    match field {
        "i" => matches!(value, "i" | "n"),
        "f" => matches!(value, "f" | "i" | "n"),
        other => other == value,
    }
}

/// One valid event of each type: from the recordings, or the schema's example for types that no recording yields.
fn valid(contract: &'static Contract) -> BTreeMap<&'static str, Value> {
    let mut found = BTreeMap::new();
    for recording in recordings().filter(|recording| recording.bytes.len() < 60_000) {
        for event in parsed(&recording, contract) {
            let kind = event[contract.type_key].as_str().unwrap();
            let kind = contract.schemas.iter().find(|file| file.kind == kind).unwrap().kind;
            found.entry(kind).or_insert(event);
        }
    }
    for file in contract.schemas {
        let schema: Value = serde_json::from_str(file.text()).unwrap();
        found.entry(file.kind).or_insert_with(|| schema["examples"][0].clone());
    }
    found
}

/// The findings about the event itself, without those about the rest of the stream.
fn found(contract: &'static Contract, event: &Value) -> Vec<Finding> {
    let mut checker = Checker::new(contract, schemas(contract));
    let mut found = Vec::new();
    checker.event(event.to_string().as_bytes(), &mut |located| {
        let finding = located.finding;
        if finding.rule.starts_with("schema") && finding.severity == Severity::Error {
            found.push(finding);
        }
    });
    found
}

#[test]
fn the_tables_cover_every_type_of_every_contract() {
    for table in ALL {
        let contract = contract(table.contract).unwrap();
        let known: BTreeSet<&str> = contract.schemas.iter().map(|file| file.kind).collect();
        let listed: BTreeSet<&str> = table.kinds.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(listed, known, "{}", table.contract);
    }
}

#[test]
fn a_missing_or_mistyped_field_is_reported_with_its_pointer() {
    let mut wrong = Vec::new();
    let mut tried = 0;
    for table in ALL {
        let contract = contract(table.contract).unwrap();
        let valid = valid(contract);
        for (kind, of_kind) in table.kinds {
            let event = &valid[kind];
            assert_eq!(found(contract, event), [], "{kind} is valid: {event}");
            for (parent, list) in [("", table.envelope), (table.body, *of_kind)] {
                for field in fields(list) {
                    tried += mutate(table, contract, event, parent, &field, &mut wrong);
                }
            }
            for (value, why) in [(None, "absent"), (Some(json!(7)), "a number"), (Some(json!("no_such")), "unknown")] {
                let mut event = event.clone();
                match value {
                    Some(value) => event[table.type_key] = value,
                    None => drop(event.as_object_mut().unwrap().remove(table.type_key)),
                }
                let found = found(contract, &event);
                let pointer = format!("/{}", table.type_key);
                if !found.iter().any(|finding| finding.rule == "schema.type" && finding.pointer == pointer) {
                    wrong.push(format!("{} {kind}: type {why}: {found:?}", table.contract));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}: {wrong:#?}", wrong.len());
    assert!(tried > 5000, "{tried}");
}

fn mutate(
    table: &Table,
    contract: &'static Contract,
    event: &Value,
    parent: &str,
    field: &Field<'_>,
    wrong: &mut Vec<String>,
) -> usize {
    let mut tried = 0;
    let mut expect = |event: &Value, pointer: &str, what: String| {
        tried += 1;
        let found = found(contract, event);
        if !found.iter().any(|finding| finding.pointer == pointer) {
            let kind = &event[table.type_key];
            wrong.push(format!("{} {kind} {parent}/{}: {what}: {found:?}", table.contract, field.name));
        }
    };
    let mut without = event.clone();
    without.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(field.name);
    if field.required {
        expect(&without, parent, "absent".to_owned());
    } else {
        assert_eq!(found(contract, &without), [], "{parent}/{} may be absent: {without}", field.name);
    }
    for (name, value) in values() {
        if field.types.contains(&"*") || field.types.iter().any(|known| holds(known, name)) {
            continue;
        }
        let mut other = event.clone();
        other.pointer_mut(parent).unwrap()[field.name] = value;
        expect(&other, &format!("{parent}/{}", field.name), format!("{name} instead of {:?}", field.types));
    }
    tried
}

/// Fields for which the document names no type.
const ANY: &[(&str, &str)] = &[
    ("tool_task_spawned", "args"),
    ("tool_task_spawned", "artifacts"),
    ("tool_task_status", "artifacts"),
    ("tool_task_output_delta", "artifacts"),
    ("skill_loaded", "frontmatter"),
    ("subagent_event", "summary"),
];

/// Whether the document allows null: an optional field may be null if the document only shows it by example, or has `| null`.
fn may_be_null(table: &Table, kind: &str, field: &Field<'_>, is_required: bool) -> bool {
    let by_example = !is_required && table.is_by_example;
    let is_envelope = ["task_id", "session_id", "input"].contains(&field.name);
    (by_example && !is_envelope) || (kind == "tool_call" && field.name == "input")
}

#[test]
fn violations_of_the_document_are_reported_for_other_writers() {
    let mut wrong = Vec::new();
    let mut tried = 0;
    for table in ALL {
        let contract = contract(table.contract).unwrap();
        let document = DocumentSchema::compile(contract.document_schema.unwrap(), contract.type_key).unwrap();
        let valid = valid(contract);
        let is_found = |event: &Value, pointer: &str| {
            let mut checker = Checker::by(contract, Standard::Document(&document));
            let mut is_found = false;
            checker.event(event.to_string().as_bytes(), &mut |located| {
                let Finding { rule, pointer: place, severity, .. } = located.finding;
                is_found |= rule == "schema" && severity == Severity::Error && place == pointer;
            });
            is_found
        };
        for (kind, of_kind) in table.kinds {
            for (parent, list) in [("", table.envelope), (table.body, *of_kind)] {
                for field in fields(list) {
                    let is_optional =
                        table.optional.iter().any(|(of, names)| of == kind && names.contains(&field.name));
                    let is_nullable = table.null_is_absent && field.types.contains(&"null");
                    let is_any = ANY.contains(&(*kind, field.name));
                    let is_required = field.required && !is_optional && !is_nullable;
                    let mut without = valid[kind].clone();
                    without.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(field.name);
                    tried += 1;
                    if is_found(&without, parent) != is_required {
                        wrong.push(format!("{} {kind} without {parent}/{}", table.contract, field.name));
                    }
                    for (name, value) in values() {
                        let may_be = is_any
                            || field.types.iter().any(|known| holds(known, name))
                            || (name == "null" && may_be_null(table, kind, &field, is_required));
                        let mut other = valid[kind].clone();
                        other.pointer_mut(parent).unwrap()[field.name] = value;
                        let pointer = format!("{parent}/{}", field.name);
                        tried += 1;
                        let is_found = is_found(&other, &pointer);
                        // A value of the right type may break another rule, such as a list of allowed words.
                        if (name == "null" && is_found == may_be) || (!is_found && !may_be) {
                            wrong.push(format!("{} {kind} {pointer}: {name}", table.contract));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}: {wrong:#?}", wrong.len());
    assert!(tried > 5000, "{tried}");
}
