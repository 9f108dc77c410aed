//! Single events: a field that is missing or of another type is found, at its place, and nothing is found in a valid event.

use crate::parsed;
use crate::support::*;
use crate::tables::{ALL, Table};
use framegate_translators::contracts::{Contract, contract};
use framegate_translators::verify::{Checker, Finding, Severity};
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

/// Values of which each is of another type than all others.
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

/// Whether a field of that type may hold a value of the other.
fn holds(field: &str, value: &str) -> bool {
    match field {
        "i" => matches!(value, "i" | "n"),
        "f" => matches!(value, "f" | "i" | "n"),
        other => other == value,
    }
}

/// One valid event of each type: those of the recordings, and the examples of types that no recording gives rise to.
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
        let schema: Value = serde_json::from_str(file.text).unwrap();
        found.entry(file.kind).or_insert_with(|| schema["examples"][0].clone());
    }
    found
}

/// What is wrong with the event itself; that it stands alone is not asked here.
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
fn the_tables_have_every_type_of_every_contract() {
    for table in ALL {
        let contract = contract(table.contract).unwrap();
        let known: BTreeSet<&str> = contract.schemas.iter().map(|file| file.kind).collect();
        let listed: BTreeSet<&str> = table.kinds.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(listed, known, "{}", table.contract);
    }
}

#[test]
fn a_field_that_is_missing_or_of_another_type_is_found_at_its_place() {
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
        if field.types.iter().any(|known| holds(known, name)) {
            continue;
        }
        let mut other = event.clone();
        other.pointer_mut(parent).unwrap()[field.name] = value;
        expect(&other, &format!("{parent}/{}", field.name), format!("{name} instead of {:?}", field.types));
    }
    tried
}
