//! The events of each contract, as components of the document.
//!
//! Input: the schema files of the contracts. Output: a component for each event type, and one for any event of a contract.
//! Never: a reference outside the document; a statement that the published schema does not make.

use framegate_translators::contracts::{CONTRACTS, Contract};
use framegate_translators::publish::names;
use serde_json::{Map, Value, json};

/// Keywords of a schema file that a component omits: those that identify the file, and long ones without constraints.
const LEFT_OUT: [&str; 4] = ["$schema", "$id", "title", "examples"];

/// A reference to the schema of any event of a contract.
pub(super) fn reference(contract: &Contract) -> Value {
    refer(&names::of_contract(contract.name))
}

/// The components.
pub(super) fn schemas() -> Value {
    let mut components = Map::new();
    for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        let mut events = Vec::new();
        for file in contract.schemas {
            let name = name_of(contract, file.kind);
            let Ok(Value::Object(mut schema)) = serde_json::from_str::<Value>(file.text()) else { continue };
            for key in LEFT_OUT {
                schema.remove(key);
            }
            if let Some(Value::Object(definitions)) = schema.remove("$defs") {
                for (definition, mut schema) in definitions {
                    within(&mut schema, &name);
                    components.insert(of_definition(&name, &definition), schema);
                }
            }
            let mut schema = Value::Object(schema);
            within(&mut schema, &name);
            events.push(refer(&name));
            components.insert(name, schema);
        }
        let about = format!(
            "Any event of {}: {}. Its schemas are published at `/schemas/{}.json`.",
            contract.name, contract.about, contract.name
        );
        components.insert(names::of_contract(contract.name), json!({"description": about, "oneOf": events}));
    }
    Value::Object(components)
}

fn refer(component: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{component}")})
}

/// A component name such as `FramesV2ToolStartedEvent`.
fn name_of(contract: &Contract, kind: &str) -> String {
    let of_contract = names::of_contract(contract.name);
    format!("{}{}", of_contract.trim_end_matches("Event"), names::of_kind(kind))
}

fn of_definition(component: &str, definition: &str) -> String {
    format!("{component}{}", names::pascal(definition))
}

/// Redirects references to a file's definitions to the components, and adds `items` to lists without it.
fn within(schema: &mut Value, component: &str) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get_mut("$ref")
                && let Some(definition) = reference.strip_prefix("#/$defs/")
            {
                *reference = format!("#/components/schemas/{}", of_definition(component, definition));
            }
            // Client generators need an explicit statement that items may be anything.
            if fields.get("type").is_some_and(is_list) && !fields.contains_key("items") {
                fields.insert("items".to_owned(), json!({}));
            }
            fields.values_mut().for_each(|value| within(value, component));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| within(value, component)),
        _ => {}
    }
}

/// Whether a `type` includes `array`.
fn is_list(kind: &Value) -> bool {
    kind == "array" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "array"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_event_has_a_component() {
        let components = schemas();
        for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
            let union = &components[names::of_contract(contract.name)]["oneOf"];
            assert_eq!(union.as_array().unwrap().len(), contract.schemas.len(), "{}", contract.name);
            for file in contract.schemas {
                let published: Value = serde_json::from_str(file.text()).unwrap();
                let component = &components[name_of(contract, file.kind)];
                assert_eq!(component["required"], published["required"], "{}", file.kind);
                assert!(component.is_object() && component.get("$id").is_none(), "{}", file.kind);
            }
        }
        assert!(components.get("FramesV2ToolStartedEvent").is_some());
    }

    #[test]
    fn definitions_of_a_file_become_components() {
        let mut schema = json!({"items": [{"$ref": "#/$defs/one_part"}], "$ref": "#/other"});
        within(&mut schema, "XEvent");
        assert_eq!(schema, json!({"items": [{"$ref": "#/components/schemas/XEventOnePart"}], "$ref": "#/other"}));
    }
}
