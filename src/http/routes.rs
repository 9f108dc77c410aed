//! The route table: one entry for each method of each path, with its access, query parameters, handler and documentation.
//!
//! Input: a path. Output: its route, and the values of its parameters; the methods that it accepts. Never: a path that is
//! served, labelled in metrics or described in `/openapi.json` without an entry here.
//!
//! A `GET` route also accepts `HEAD`, and every path accepts `OPTIONS`.

use super::openapi::{
    self, ag_ui as agui, chat_completions as chat, control as messages, figures, operations, page as pages,
    responses as sdk, search as finding, trace as traces, ui_message_stream as ui, upstreams as starting,
};
use super::problem::Problem;
use super::reply::Body;
use super::route::{Access, Answer, Call, Route};
use super::{
    ag_ui, artifacts, chat_completions, control, events, feeds, hecate, ingest, models, own_access, page, probes,
    responses, responses_api, run_status, schemas, search, stats, trace, ui_message_stream, upstreams,
};
use crate::auth::Scope;
use hyper::{Method, Response};
use serde_json::Value;

const READ: Access = Access::Needs(Scope::Read);
const INGEST: Access = Access::Needs(Scope::Ingest);
/// For what costs money, or changes what a runner or an upstream does.
const CONTROL: Access = Access::Needs(Scope::Control);
const ADMIN: Access = Access::Needs(Scope::Admin);

/// The query parameters for the events of one run.
const OF_RUN: &[&str] = &["contract", "experimental", "after", "limit", "user_messages"];

const fn get(path: &'static str, access: Access, handler: fn(Call) -> Answer, operation: fn() -> Value) -> Route {
    Route::new(Method::GET, path, access, handler, operation)
}

const fn delete(path: &'static str, access: Access, handler: fn(Call) -> Answer, operation: fn() -> Value) -> Route {
    Route::new(Method::DELETE, path, access, handler, operation)
}

const fn post(path: &'static str, access: Access, handler: fn(Call) -> Answer, operation: fn() -> Value) -> Route {
    Route::new(Method::POST, path, access, handler, operation)
}

/// All routes. If two patterns match a path, the first one wins.
pub(super) static ROUTES: &[Route] = &[
    post("/v1/ingest/{runner}", INGEST, |call| Box::pin(ingest::ingest(call)), operations::ingest).query(&[
        "contract",
        "experimental",
        "user_messages",
        "history",
        "label",
    ]),
    get("/v1/runs", READ, |call| Box::pin(events::list(call)), operations::runs).query(&[
        "limit",
        "skip",
        "session_id",
        "runner",
        "state",
        "model",
        "directory",
        "repository",
        "branch",
        "label",
    ]),
    post("/v1/runs", CONTROL, |call| Box::pin(upstreams::start(call)), starting::start_run),
    get("/v1/upstreams", READ, |call| Box::pin(upstreams::list(call)), starting::list),
    get("/v1/runs/{run_id}", READ, |call| Box::pin(events::status(call)), operations::run),
    get("/v1/runs/{run_id}/events", READ, |call| Box::pin(events::of_run(call)), operations::run_events).query(&[
        "contract",
        "experimental",
        "after",
        "limit",
        "event_type",
        "user_messages",
    ]),
    get("/v1/runs/{run_id}/trace", READ, |call| Box::pin(trace::of_run(call)), traces::trace).query(OF_RUN),
    post(
        "/v1/runs/{run_id}/approvals/{approval_id}",
        CONTROL,
        |call| Box::pin(control::answer(call)),
        messages::answer,
    ),
    post("/v1/runs/{run_id}/interrupt", CONTROL, |call| Box::pin(control::interrupt(call)), messages::interrupt),
    get("/v1/sessions/{session_id}/events", READ, |call| Box::pin(feeds::of_session(call)), operations::session_events)
        .query(&["contract", "experimental", "after", "limit", "event_type", "user_messages"]),
    post("/v1/sessions/{session_id}/messages", CONTROL, |call| Box::pin(control::message(call)), messages::message),
    get("/v1/events", READ, |call| Box::pin(feeds::of_all(call)), operations::all_events).query(&[
        "contract",
        "experimental",
        "after",
        "limit",
        "session_id",
        "event_type",
        "user_messages",
    ]),
    get("/v1/stats", READ, |call| Box::pin(stats::of_runs(call)), figures::stats).query(&[
        "by",
        "tz",
        "since",
        "until",
        "runner",
        "session_id",
        "model",
        "directory",
        "repository",
        "branch",
        "label",
    ]),
    get("/v1/search", READ, |call| Box::pin(search::of_runs(call)), finding::search).query(finding::PARAMETERS),
    get("/v1/artifacts/{artifact_id}", READ, |call| Box::pin(artifacts::content(call)), operations::artifact),
    // The Responses API: the rest of the query is for the upstream.
    post(responses_api::PATH, CONTROL, |call| Box::pin(responses_api::create(call)), sdk::create).query(&[
        "upstream",
        "contract",
        "experimental",
        "user_messages",
    ]),
    post("/v1/responses/compact", CONTROL, |call| Box::pin(responses::compact(call)), sdk::compact)
        .query(&["upstream"]),
    post("/v1/responses/input_tokens", CONTROL, |call| Box::pin(responses::count_tokens(call)), sdk::count_tokens)
        .query(&["upstream"]),
    get("/v1/responses/{response_id}", READ, |call| Box::pin(responses_api::retrieve(call)), sdk::retrieve).query(&[
        "upstream",
        "stream",
        "starting_after",
        "contract",
        "experimental",
        "user_messages",
        "after",
    ]),
    delete("/v1/responses/{response_id}", CONTROL, |call| Box::pin(responses_api::delete(call)), sdk::delete)
        .query(&["upstream"]),
    get(
        "/v1/responses/{response_id}/input_items",
        READ,
        |call| Box::pin(responses_api::input_items(call)),
        sdk::input_items,
    )
    .query(&["upstream"]),
    post("/v1/responses/{response_id}/cancel", CONTROL, |call| Box::pin(responses_api::cancel(call)), sdk::cancel)
        .query(&["upstream"]),
    post(chat_completions::PATH, CONTROL, |call| Box::pin(chat_completions::create(call)), chat::create)
        .allowing_others(),
    post(ui_message_stream::PATH, CONTROL, |call| Box::pin(ui_message_stream::create(call)), ui::create)
        .allowing_others(),
    get("/ai-sdk/{upstream}/{chat_id}/stream", READ, |call| Box::pin(ui_message_stream::resume(call)), ui::resume)
        .allowing_others(),
    post(ag_ui::PATH, CONTROL, |call| Box::pin(ag_ui::create(call)), agui::create).allowing_others(),
    get("/ag-ui/{upstream}/{thread_id}", READ, |call| Box::pin(ag_ui::thread(call)), agui::thread).allowing_others(),
    get("/v1/models", READ, |call| Box::pin(models::list(call)), sdk::models).query(&["upstream"]),
    get("/v1/models/{model}", READ, |call| Box::pin(models::one(call)), sdk::model).query(&["upstream"]),
    get("/v1/contracts", READ, |call| Box::pin(schemas::catalogue(call)), operations::contracts),
    // The bundle of a contract; one of its schemas; either one by the path of its `$id`.
    get("/schemas/{file}", READ, |call| Box::pin(schemas::schema(call)), operations::contract_schema),
    get("/schemas/{contract}/{file}", READ, |call| Box::pin(schemas::schema(call)), operations::event_schema),
    get("/schemas/{contract}/{version}/{file}", READ, |call| Box::pin(schemas::schema(call)), operations::schema_by_id),
    get(
        "/api/v1/sessions/{session_id}/runs/{run_id}/stream",
        READ,
        |call| Box::pin(events::native_sse(call)),
        operations::native_sse_stream,
    )
    .query(OF_RUN),
    get("/api/v1/runs/{run_id}", READ, |call| Box::pin(run_status::of_run(call)), operations::native_sse_run),
    get(
        "/hecate/v1/tasks/{task_id}/runs/{run_id}/events",
        READ,
        |call| Box::pin(hecate::of_run(call)),
        operations::hecate_run_events,
    )
    .query(&["contract", "experimental", "after", "after_sequence", "limit", "user_messages"]),
    get("/hecate/v1/events/stream", READ, |call| Box::pin(hecate::of_all(call)), operations::hecate_all_events).query(
        &["contract", "experimental", "after", "after_sequence", "limit", "task_id", "event_type", "user_messages"],
    ),
    get(
        "/hecate/v1/artifacts/{artifact_id}",
        READ,
        |call| Box::pin(hecate::artifact(call)),
        operations::hecate_artifact,
    ),
    get("/v1/access", Access::AnyToken, |call| Box::pin(own_access::of_caller(call)), pages::access),
    post("/v1/access/redeem", Access::Open, |call| Box::pin(own_access::redeem(call)), pages::redeem),
    // The page has no data: it asks the user for a token, and reads the API with it.
    get("/", Access::Open, |call| Box::pin(page::index(call)), pages::index).allowing_others(),
    get("/app.js", Access::Open, |call| Box::pin(page::script(call)), pages::script).allowing_others(),
    get("/app.css", Access::Open, |call| Box::pin(page::style(call)), pages::style).allowing_others(),
    get("/healthz", Access::Open, |call| Box::pin(probes::health(call)), operations::health).probe(),
    get("/readyz", Access::Open, |call| Box::pin(probes::ready(call)), operations::ready).probe(),
    // They cover the runs of all callers.
    get("/metrics", ADMIN, |call| Box::pin(probes::metrics(call)), operations::metrics).probe(),
    get("/openapi.json", READ, |call| Box::pin(document(call)), operations::openapi),
];

/// `GET /openapi.json`.
async fn document(_: Call) -> Result<Response<Body>, Problem> {
    Ok(openapi::answer(ROUTES))
}

/// The result of matching a request.
#[derive(Debug)]
pub(super) enum Found<'p> {
    /// A route, with the values of its parameters.
    Route(&'static Route, Vec<&'p str>),
    /// A path that does not accept the method. The route is the first one with this path.
    Path(&'static Route),
    /// No route.
    Nothing,
}

impl Found<'_> {
    /// What the request requires of its caller; `None` without a route.
    pub(super) fn access(&self) -> Option<Access> {
        match self {
            Self::Route(route, _) => Some(route.access),
            Self::Path(_) | Self::Nothing => None,
        }
    }
}

/// Finds the route of a request.
pub(super) fn find<'p>(method: &Method, path: &'p str) -> Found<'p> {
    let wanted = if method == Method::HEAD { &Method::GET } else { method };
    let mut of_path: Option<&'static Route> = None;
    for route in ROUTES {
        if of_path.is_some_and(|first| first.path != route.path) {
            continue;
        }
        let Some(values) = route.fit(path) else { continue };
        if route.method == *wanted {
            return Found::Route(route, values);
        }
        of_path = of_path.or(Some(route));
    }
    of_path.map_or(Found::Nothing, Found::Path)
}

/// The methods that a path accepts, in the format of `Allow`.
pub(super) fn allowed(path: &str) -> String {
    let mut methods: Vec<&str> = Vec::new();
    for route in ROUTES.iter().filter(|route| route.path == path) {
        methods.push(route.method.as_str());
        if route.method == Method::GET {
            methods.push(Method::HEAD.as_str());
        }
    }
    methods.push(Method::OPTIONS.as_str());
    methods.join(", ")
}

/// Every method of the API, for `OPTIONS *`.
pub(super) fn all_methods() -> &'static str {
    "DELETE, GET, HEAD, OPTIONS, POST"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_matches_the_route_of_its_pattern() {
        let found = |path| match find(&Method::GET, path) {
            Found::Route(route, values) => (route.path, values),
            other => panic!("{path}: {other:?}"),
        };
        assert_eq!(found("/v1/runs"), ("/v1/runs", vec![]));
        assert_eq!(found("/v1/runs/a"), ("/v1/runs/{run_id}", vec!["a"]));
        assert_eq!(found("/schemas/frames.v2/x.json").1, ["frames.v2", "x.json"]);
        assert!(
            matches!(find(&Method::GET, "/v1/responses/compact"), Found::Path(_)),
            "`compact` is not the id of a response"
        );
        assert!(matches!(find(&Method::DELETE, "/v1/responses/resp_1"), Found::Route(..)));
        assert_eq!(found("/"), ("/", vec![]));
        for path in ["", "//", "*", "/v1", "/v1/runs/", "/v1/runs//events", "/v1/runs/a/events/b", "v1/runs"] {
            assert!(matches!(find(&Method::GET, path), Found::Nothing), "{path}");
        }
    }

    #[test]
    fn routes_are_unique_and_every_method_is_listed() {
        for (at, route) in ROUTES.iter().enumerate() {
            let shape = |route: &Route| {
                let names = |segment: &str| if segment.starts_with('{') { "{}".to_owned() } else { segment.to_owned() };
                (route.method.clone(), route.path.split('/').map(names).collect::<Vec<_>>())
            };
            assert!(!ROUTES.iter().take(at).any(|other| shape(other) == shape(route)), "{}", route.path);
            let is_listed = all_methods().split(", ").any(|method| method == route.method.as_str());
            assert!(is_listed, "{} {}", route.method, route.path);
        }
    }

    #[test]
    fn only_probes_and_the_page_are_open() {
        const OPEN: &[&str] = &["/healthz", "/readyz", "/", "/app.js", "/app.css", "/v1/access/redeem"];
        for route in ROUTES {
            let is_open = OPEN.contains(&route.path);
            assert_eq!(route.access == Access::Open, is_open, "{}", route.path);
            // Endpoints with an effect must need more than the scope `read`.
            let reads = route.method == Method::GET && !is_open && !["/metrics", "/v1/access"].contains(&route.path);
            assert_eq!(route.access == READ, reads, "{}", route.path);
        }
    }

    #[test]
    fn documented_query_parameters_are_accepted() {
        let shapes = openapi::parameters();
        let mut seen = 0;
        for route in ROUTES {
            let operation = (route.operation)();
            for reference in operation["parameters"].as_array().unwrap() {
                let name = reference["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
                let shape = &shapes[name];
                if shape["in"] == "query" {
                    let key = shape["name"].as_str().unwrap();
                    assert!(route.query.contains(&key), "{} {}: {key}", route.method, route.path);
                    seen += 1;
                }
            }
        }
        assert!(seen > ROUTES.len(), "{seen}");
    }

    #[test]
    fn each_path_lists_its_methods() {
        assert_eq!(allowed("/v1/runs"), "GET, HEAD, POST, OPTIONS");
        assert_eq!(allowed("/v1/ingest/{runner}"), "POST, OPTIONS");
        assert!(matches!(find(&Method::HEAD, "/v1/runs"), Found::Route(..)));
        assert_eq!(allowed("/v1/responses/{response_id}"), "GET, HEAD, DELETE, OPTIONS");
        assert!(matches!(find(&Method::DELETE, "/v1/runs"), Found::Path(_)));
    }
}
