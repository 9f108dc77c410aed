//! The route table: the only place that defines paths and methods.
//!
//! Input: a path. Output: its route, and the values of its parameters; the methods that it accepts. Never: a path that is
//! served, labelled in metrics or described in `/openapi.json` without an entry here.
//!
//! A pattern segment in braces matches any single segment that is not empty. A `GET` route also accepts `HEAD`, and every
//! path accepts `OPTIONS`.

use hyper::Method;

/// The handler of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    Ingest,
    Runs,
    StartRun,
    Upstreams,
    Run,
    RunEvents,
    Approval,
    Interrupt,
    SessionEvents,
    SessionMessages,
    AllEvents,
    Artifact,
    Contracts,
    Schema,
    ResponseCreate,
    Response,
    ResponseInput,
    ResponseCancel,
    ResponseDelete,
    ResponseCompact,
    ResponseTokens,
    Models,
    Model,
    NativeSseStream,
    NativeSseRun,
    HecateRunEvents,
    HecateAllEvents,
    HecateArtifact,
    Health,
    Ready,
    Metrics,
    OpenApi,
}

/// One method of one path.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) endpoint: Endpoint,
}

const fn get(path: &'static str, endpoint: Endpoint) -> Route {
    Route { method: Method::GET, path, endpoint }
}

const fn delete(path: &'static str, endpoint: Endpoint) -> Route {
    Route { method: Method::DELETE, path, endpoint }
}

const fn post(path: &'static str, endpoint: Endpoint) -> Route {
    Route { method: Method::POST, path, endpoint }
}

/// All routes. If two patterns match a path, the first one wins.
pub(super) static ROUTES: &[Route] = &[
    post("/v1/ingest/{runner}", Endpoint::Ingest),
    get("/v1/runs", Endpoint::Runs),
    post("/v1/runs", Endpoint::StartRun),
    get("/v1/upstreams", Endpoint::Upstreams),
    get("/v1/runs/{run_id}", Endpoint::Run),
    get("/v1/runs/{run_id}/events", Endpoint::RunEvents),
    post("/v1/runs/{run_id}/approvals/{approval_id}", Endpoint::Approval),
    post("/v1/runs/{run_id}/interrupt", Endpoint::Interrupt),
    get("/v1/sessions/{session_id}/events", Endpoint::SessionEvents),
    post("/v1/sessions/{session_id}/messages", Endpoint::SessionMessages),
    get("/v1/events", Endpoint::AllEvents),
    get("/v1/artifacts/{artifact_id}", Endpoint::Artifact),
    post("/v1/responses", Endpoint::ResponseCreate),
    post("/v1/responses/compact", Endpoint::ResponseCompact),
    post("/v1/responses/input_tokens", Endpoint::ResponseTokens),
    get("/v1/responses/{response_id}", Endpoint::Response),
    delete("/v1/responses/{response_id}", Endpoint::ResponseDelete),
    get("/v1/responses/{response_id}/input_items", Endpoint::ResponseInput),
    post("/v1/responses/{response_id}/cancel", Endpoint::ResponseCancel),
    get("/v1/models", Endpoint::Models),
    get("/v1/models/{model}", Endpoint::Model),
    get("/v1/contracts", Endpoint::Contracts),
    // The bundle of a contract; one of its schemas; either one by the path of its `$id`.
    get("/schemas/{file}", Endpoint::Schema),
    get("/schemas/{contract}/{file}", Endpoint::Schema),
    get("/schemas/{contract}/{version}/{file}", Endpoint::Schema),
    get("/api/v1/sessions/{session_id}/runs/{run_id}/stream", Endpoint::NativeSseStream),
    get("/api/v1/runs/{run_id}", Endpoint::NativeSseRun),
    get("/hecate/v1/tasks/{task_id}/runs/{run_id}/events", Endpoint::HecateRunEvents),
    get("/hecate/v1/events/stream", Endpoint::HecateAllEvents),
    get("/hecate/v1/artifacts/{artifact_id}", Endpoint::HecateArtifact),
    get("/healthz", Endpoint::Health),
    get("/readyz", Endpoint::Ready),
    get("/metrics", Endpoint::Metrics),
    get("/openapi.json", Endpoint::OpenApi),
];

impl Endpoint {
    /// Whether it reports the state of the proxy. Such endpoints are served until the end of a shutdown.
    pub(super) fn is_probe(self) -> bool {
        matches!(self, Self::Health | Self::Ready | Self::Metrics)
    }
}

impl Route {
    /// The values of the parameters in a path, in order; `None` if the path does not match.
    pub(super) fn fit<'p>(&self, path: &'p str) -> Option<Vec<&'p str>> {
        let mut values = Vec::new();
        let mut segments = path.split('/');
        for wanted in self.path.split('/') {
            let segment = segments.next()?;
            if wanted.starts_with('{') && !segment.is_empty() {
                values.push(segment);
            } else if wanted != segment {
                return None;
            }
        }
        segments.next().is_none().then_some(values)
    }
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
        for path in ["", "/", "*", "/v1", "/v1/runs/", "/v1/runs//events", "/v1/runs/a/events/b", "v1/runs"] {
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
    fn each_path_lists_its_methods() {
        assert_eq!(allowed("/v1/runs"), "GET, HEAD, POST, OPTIONS");
        assert_eq!(allowed("/v1/ingest/{runner}"), "POST, OPTIONS");
        assert!(matches!(find(&Method::HEAD, "/v1/runs"), Found::Route(..)));
        assert_eq!(allowed("/v1/responses/{response_id}"), "GET, HEAD, DELETE, OPTIONS");
        assert!(matches!(find(&Method::DELETE, "/v1/runs"), Found::Path(_)));
    }
}
