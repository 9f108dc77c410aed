//! The tables of `docs/http.md`, written from the OpenAPI document and thus from the route table.
//!
//! `FRAMEGATE_BLESS=1 cargo test --lib http` rewrites them.

use super::openapi::document;
use super::route::Access;
use super::routes::ROUTES;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The statuses of the checks before every handler, which the document describes once, in its text.
const EVERYWHERE: &[&str] = &["401", "403", "421", "431"];

/// The parameters and headers of an operation, resolved, in the operation's order.
fn parameters<'d>(document: &'d Value, operation: &'d Value) -> Vec<&'d Value> {
    let references = operation["parameters"].as_array().into_iter().flatten();
    references.map(|reference| document.pointer(&reference["$ref"].as_str().unwrap()[1..]).unwrap()).collect()
}

/// One row for each method of each path.
fn endpoints(document: &Value) -> String {
    let mut table = "| request | scope | purpose | parameters | answers |\n|---|---|---|---|---|\n".to_owned();
    for route in ROUTES {
        let operation = &document["paths"][route.path][route.method.as_str().to_ascii_lowercase()];
        let scope = match route.access {
            Access::Open => "none".to_owned(),
            Access::AnyToken => "any".to_owned(),
            Access::Needs(scope) => format!("`{}`", scope.as_str()),
        };
        let names: Vec<String> = parameters(document, operation)
            .iter()
            .map(|parameter| format!("`{}`", parameter["name"].as_str().unwrap()))
            .collect();
        let answers = operation["responses"].as_object().unwrap().keys().map(String::as_str);
        let answers: Vec<&str> = answers.filter(|status| !EVERYWHERE.contains(status)).collect();
        let _ = writeln!(
            table,
            "| `{} {}` | {scope} | {} | {} | {} |",
            route.method,
            route.path,
            operation["summary"].as_str().unwrap(),
            names.join(", "),
            answers.join(", ")
        );
    }
    table
}

/// The values that a schema permits, as text; empty if any text is permitted.
fn values(schema: &Value) -> String {
    if let Some(listed) = schema["enum"].as_array() {
        return listed.iter().map(|value| format!("`{}`", value.as_str().unwrap())).collect::<Vec<_>>().join(", ");
    }
    match (schema["type"].as_str(), schema["minimum"].as_i64(), schema["format"].as_str()) {
        (Some("integer"), Some(least), _) => format!("a number from {least}"),
        (Some("boolean"), ..) => "`true`, `false`".to_owned(),
        (_, _, Some("uuid")) => "a UUID".to_owned(),
        _ => String::new(),
    }
}

/// One row for each query parameter and header, sorted by name.
fn parameter_table(document: &Value) -> String {
    let mut rows = BTreeMap::new();
    for route in ROUTES {
        let operation = &document["paths"][route.path][route.method.as_str().to_ascii_lowercase()];
        for parameter in parameters(document, operation) {
            let text = |key: &str| parameter[key].as_str().unwrap();
            let key = (text("in") == "header", text("name"), text("description"));
            rows.insert(key, format!("| `{}` | {} | {} |", key.1, key.2, values(&parameter["schema"])));
        }
    }
    let mut table = "| parameter or header | meaning | values |\n|---|---|---|\n".to_owned();
    rows.values().for_each(|row| table.extend([row, "\n"]));
    table
}

/// The document with the text between the markers of a table replaced.
fn with_table(kept: &str, name: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->"), format!("<!-- end of {name} -->"));
    let (before, rest) = kept.split_once(&begin).unwrap_or_else(|| panic!("docs/http.md has no {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("docs/http.md has no {end}"));
    format!("{before}{begin}\n\n{table}\n{end}{after}")
}

#[test]
fn the_reference_in_docs_has_every_route_and_parameter() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/http.md");
    let kept = std::fs::read_to_string(&path).unwrap();
    let document = document(ROUTES);
    let expected = with_table(&kept, "endpoints", &endpoints(&document));
    let expected = with_table(&expected, "parameters", &parameter_table(&document));
    if std::env::var_os("FRAMEGATE_BLESS").is_some() {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    let differing = kept.lines().zip(expected.lines()).find(|(kept, expected)| kept != expected);
    assert!(kept == expected, "docs/http.md: {differing:?}; FRAMEGATE_BLESS=1 cargo test --lib http rewrites it");
}
