//! `GET /openapi.json`: the API in OpenAPI 3.1, generated from the route table.
//!
//! Input: the routes, the contracts with their schemas, and the descriptions of the endpoints here. Output: one constant
//! document without external references. Never: a path that is not served.

pub(super) mod ag_ui;
pub(super) mod chat_completions;
pub(super) mod control;
mod costs;
mod events;
pub(super) mod figures;
pub(super) mod operations;
pub(super) mod page;
pub(super) mod responses;
pub(super) mod search;
mod shapes;
pub(super) mod trace;
pub(super) mod ui_message_stream;
pub(super) mod upstreams;

use super::reply::{Body, full};
use super::route::{Access, Route};
use bytes::Bytes;
use framegate_translators::contracts::{CONTRACTS, Contract, SseStyle};
use framegate_translators::runners::RUNNERS;
use hyper::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

/// Responds with the document of the route table.
pub(super) fn answer(routes: &'static [Route]) -> Response<Body> {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    let document = DOCUMENT.get_or_init(|| document(routes).to_string().into());
    let mut response = Response::new(full(document.clone()));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/vnd.oai.openapi+json;version=3.1"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

pub(super) fn document(routes: &[Route]) -> Value {
    let mut paths = Map::new();
    for route in routes {
        let method = route.method.as_str().to_ascii_lowercase();
        let path = paths.entry(route.path).or_insert_with(|| json!({"parameters": path_parameters(route)}));
        if let Some(path) = path.as_object_mut() {
            path.insert(method, operation(route));
        }
    }
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "framegate",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Translates the event streams of coding agents to the contract that a client asks for.",
            "description": "Every GET path also supports HEAD, and every path supports OPTIONS. If a token is \
                configured, every request must carry one. While the proxy is stopping, all paths except the probes \
                return 503.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "parameters": parameters(),
            "schemas": merged(&[shapes::schemas(), figures::schemas(), costs::schemas(), search::schemas(), trace::schemas(), events::schemas()]),
            "responses": shapes::responses(),
        },
    })
}

/// Every query parameter and header.
pub(super) fn parameters() -> Value {
    merged(&[shapes::parameters(), figures::parameters(), search::parameters()])
}

fn path_parameters(route: &Route) -> Value {
    let parameter = |name: &str| {
        let (about, schema) = match name {
            "runner" => {
                let known: Vec<&str> = RUNNERS.iter().map(|runner| runner.name).chain(["auto"]).collect();
                ("The runner that wrote the output. `auto` detects it from the first records.", json!({"enum": known}))
            }
            "artifact_id" => (
                "`sha256:` and 64 hex digits, the digits alone, or `art_` and a ULID.",
                json!({"type": "string", "pattern": "^(sha256:)?[0-9a-fA-F]{64}$|^art_[0-9A-HJKMNP-TV-Z]{26}$"}),
            ),
            "approval_id" => ("A question, as in the run's status and events.", json!({"type": "string"})),
            "model" => (
                "A model: an upstream, alone or followed by `%2F` and a model; or a model of the upstream that is named.",
                json!({"type": "string"}),
            ),
            "upstream" => ("An upstream that starts runs, as in `GET /v1/models`.", json!({"type": "string"})),
            "chat_id" => ("A chat, by the client's id for it.", json!({"type": "string"})),
            "response_id" => ("A response, by the upstream's id for it.", json!({"type": "string"})),
            "task_id" => ("A Hecate task: `task_` and a ULID, or the session's UUID.", json!({"type": "string"})),
            "run_id" if route.path.starts_with("/hecate/") => {
                ("A Hecate run: `run_` and a ULID, or the run's UUID.", json!({"type": "string"}))
            }
            "run_id" => ("A run, as in `GET /v1/runs`.", json!({"type": "string", "format": "uuid"})),
            "session_id" => ("A session, as in `GET /v1/runs`.", json!({"type": "string", "format": "uuid"})),
            "contract" => ("A contract, or the first part of an `$id` path.", json!({"type": "string"})),
            "version" => ("A contract's version, as in an `$id`.", json!({"type": "string"})),
            _ => ("A name from `GET /v1/contracts`.", json!({"type": "string"})),
        };
        json!({"name": name, "in": "path", "required": true, "description": about, "schema": schema})
    };
    route.parameters().map(parameter).collect()
}

/// Describes a route: its operation, and the problems of the checks that precede every handler. An answer of the operation for the
/// same status replaces theirs.
fn operation(route: &Route) -> Value {
    let mut operation = (route.operation)();
    // The host, the origin and the size of the header are checked for every route, the token only where one is needed.
    let checks: &[u16] = if route.access == Access::Open { &[403, 421, 431] } else { &[401, 403, 421, 431] };
    if let Some(answers) = operation.get_mut("responses") {
        *answers = merged(&[problems(checks, "Problem"), answers.take()]);
    }
    operation
}

fn described(id: &str, summary: &str, answers: Value, query: &[&str]) -> Value {
    let parameters: Vec<Value> =
        query.iter().map(|name| json!({"$ref": format!("#/components/parameters/{name}")})).collect();
    json!({"operationId": id, "summary": summary, "parameters": parameters, "responses": answers})
}

/// Merges several objects into one; later fields win.
fn merged(parts: &[Value]) -> Value {
    let fields = parts.iter().filter_map(Value::as_object).flatten();
    Value::Object(fields.map(|(key, value)| (key.clone(), value.clone())).collect())
}

fn problems(codes: &[u16], response: &str) -> Value {
    let problem = json!({"$ref": format!("#/components/responses/{response}")});
    Value::Object(codes.iter().map(|code| (code.to_string(), problem.clone())).collect())
}

fn body(about: &str, media_type: &str, schema: &str) -> Value {
    let schema = json!({"$ref": format!("#/components/schemas/{schema}")});
    json!({"description": about, "content": {media_type: {"schema": schema}}})
}

fn not_modified() -> Value {
    json!({"description": "The client has the current version.", "headers": {"ETag": shapes::etag()}})
}

fn event_schema(contract: &Contract) -> Value {
    if contract.sse == SseStyle::Raw {
        let nullable = |kind: &str, about: &str| json!({"type": [kind, "null"], "description": about});
        return json!({
            "type": "object",
            "description": "One record of the runner.",
            "required": ["record", "status", "event_name", "data", "raw"],
            "properties": {
                "record": {"type": "integer", "minimum": 0, "description": "The cursor: the record's number in the run."},
                "status": {"enum": ["event", "done", "invalid_json"], "description": "The kind of record."},
                "event_name": nullable("string", "The `event:` value of a server-sent event."),
                "data": nullable("object", "The record's JSON object, unchanged."),
                "raw": nullable("string", "The record's text, if `data` alone does not preserve it."),
            },
        });
    }
    events::reference(contract)
}

/// The schema of a stream. A stream is not a JSON document but a text in which each event is one.
fn stream_schema(contract: &Contract) -> Value {
    json!({
        "type": "string",
        "description": "An endless stream of events. The schema describes the JSON of each event.",
        "contentMediaType": "application/json",
        "contentSchema": event_schema(contract),
    })
}

/// The 200 response of an ingest: a stream, or the JSON response if every run was already kept.
fn made_before(stream: Value) -> Value {
    let part = |key: &str| stream.get(key).cloned().unwrap_or_default();
    let whole = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Made"}}});
    let replayed = json!({"Idempotency-Replayed": {"schema": {"const": "true"},
        "description": "The `Idempotency-Key` belongs to an earlier request that created these runs."}});
    json!({"description": "The translation, live; or JSON if the log already had all runs of the body.",
        "content": merged(&[part("content"), whole]), "headers": merged(&[part("headers"), replayed])})
}

/// Every contract on every wire.
fn streams(about: &str, has_pages: bool) -> Value {
    let mut content = Map::new();
    for contract in CONTRACTS {
        for media in ["text/event-stream", "application/x-ndjson"] {
            content.insert(format!("{media}; contract={}", contract.name), json!({"schema": stream_schema(contract)}));
        }
        if contract.sse == SseStyle::Raw {
            let bytes = json!({"type": "string", "format": "binary",
                "description": "The runner's own bytes in its framing; blank lines and line ends may differ."});
            content.insert(format!("application/octet-stream; contract={}", contract.name), json!({"schema": bytes}));
        }
        if has_pages {
            let schema = json!({"type": "object", "allOf": [{"$ref": "#/components/schemas/EventPage"}],
                "properties": {"data": {"type": "array", "items": event_schema(contract)}}});
            content.insert(format!("application/json; contract={}", contract.name), json!({"schema": schema}));
        }
    }
    json!({"description": about, "content": content})
}

fn native_stream(name: &str) -> Value {
    let content: Map<String, Value> = CONTRACTS
        .iter()
        .filter(|contract| contract.name == name)
        .map(|contract| (format!("text/event-stream; contract={name}"), json!({"schema": stream_schema(contract)})))
        .collect();
    json!({"description": "The events.", "content": content})
}

fn hecate_events() -> Value {
    let stream = native_stream("hecate.v1");
    let item = CONTRACTS.iter().find(|contract| contract.name == "hecate.v1").map(events::reference);
    let data = json!({"type": "array", "items": item});
    let list = json!({"application/json": {"schema": {"type": "object", "required": ["object", "data"],
        "properties": {"object": {"const": "list"}, "data": data}}}});
    let content = stream.get("content").cloned().unwrap_or_default();
    json!({"description": "The events.", "content": merged(&[content, list])})
}

#[cfg(test)]
mod tests {
    use super::super::routes::ROUTES;
    use super::*;

    /// The parameter names in a path pattern.
    fn named(path: &str) -> Vec<&str> {
        path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}')).collect()
    }

    #[test]
    fn only_paths_that_need_a_token_answer_401() {
        let document = document(ROUTES);
        for route in ROUTES {
            let method = route.method.as_str().to_ascii_lowercase();
            let answers = document["paths"][route.path][method]["responses"].as_object().unwrap();
            assert_eq!(answers.contains_key("401"), route.access != Access::Open, "{}", route.path);
            assert!(answers.contains_key("403"), "any path refuses foreign origins: {}", route.path);
        }
    }

    #[test]
    fn every_route_is_described_and_nothing_else_is() {
        let document = document(ROUTES);
        let mut described: Vec<(String, String)> = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            let methods = item.as_object().unwrap().keys().filter(|key| *key != "parameters");
            described.extend(methods.map(|method| (method.to_uppercase(), path.clone())));
            let declared: Vec<&str> = item["parameters"]
                .as_array()
                .unwrap()
                .iter()
                .map(|parameter| parameter["name"].as_str().unwrap())
                .collect();
            assert_eq!(declared, named(path), "{path}");
        }
        let mut routed: Vec<(String, String)> =
            ROUTES.iter().map(|route| (route.method.to_string(), route.path.to_owned())).collect();
        described.sort();
        routed.sort();
        assert_eq!(described, routed);
    }

    #[test]
    fn operation_ids_are_unique() {
        let document = document(ROUTES);
        let paths = document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
        let mut ids: Vec<&str> = paths.filter_map(|operation| operation.get("operationId")?.as_str()).collect();
        assert_eq!(ids.len(), ROUTES.len());
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), ROUTES.len());
    }

    #[test]
    fn every_reference_resolves() {
        fn walk(document: &Value, value: &Value, seen: &mut usize) {
            match value {
                Value::Object(fields) => {
                    if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                        let pointer = reference.strip_prefix('#');
                        let found = pointer.and_then(|pointer| document.pointer(pointer));
                        assert!(found.is_some(), "{reference}");
                        *seen += 1;
                    }
                    fields.values().for_each(|value| walk(document, value, seen));
                }
                Value::Array(items) => items.iter().for_each(|value| walk(document, value, seen)),
                _ => {}
            }
        }
        let (document, mut seen) = (document(ROUTES), 0);
        walk(&document, &document, &mut seen);
        assert!(seen > ROUTES.len(), "{seen}");
    }

    #[test]
    fn every_list_has_a_schema_for_its_items() {
        fn walk(value: &Value, place: &str) {
            if let Value::Object(fields) = value {
                let is_list = fields.get("type").is_some_and(|kind| kind == "array");
                assert!(!is_list || fields.contains_key("items"), "{place}");
            }
            match value {
                Value::Object(fields) => fields.iter().for_each(|(key, value)| walk(value, &format!("{place}/{key}"))),
                Value::Array(items) => items.iter().for_each(|value| walk(value, place)),
                _ => {}
            }
        }
        walk(&document(ROUTES), "");
    }
}
