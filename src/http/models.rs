//! Upstreams as models: `GET /v1/models`, and the upstream that a request's `model` names.
//!
//! Input: `claude`, or `claude/opus`. Output: the upstream `claude`, and the model that its runner is started with. Never: an upstream
//! that starts no runs, or whose runs the caller may not see.
//!
//! If the only upstreams are those of the Responses API, one of them answers the requests of these paths, as it does if the request
//! names it with `?upstream=`.

use super::percent;
use super::problem::Problem;
use super::reply::{Body, json_response};
use super::responses;
use super::route::Call;
use super::shared::Shared;
use crate::config::unknown;
use crate::upstream::Upstream;
use crate::upstream::responses::KIND;
use hyper::{Response, StatusCode};
use serde::Serialize;
use std::sync::Arc;

/// What a request's `model` means.
pub(super) struct Model {
    pub(super) upstream: Arc<dyn Upstream>,
    /// The runner's model; `None` for the upstream's own choice.
    pub(super) name: Option<String>,
    /// The runner's mode; `None` for the upstream's own choice.
    pub(super) mode: Option<String>,
}

impl Model {
    /// The upstream that a model names.
    ///
    /// # Errors
    /// 404 with the known names.
    pub(super) fn find(model: &str, shared: &Shared) -> Result<Self, Problem> {
        let (upstream, name) = match model.split_once('/') {
            Some((upstream, name)) => (upstream, Some(name)),
            None => (model, None),
        };
        let found = agents(shared).find(|known| known.name() == upstream).filter(|_| name != Some(""));
        match found {
            Some(upstream) => Ok(Self { upstream: upstream.clone(), name: name.map(str::to_owned), mode: None }),
            None => {
                let known: Vec<&str> = agents(shared).map(|upstream| upstream.name()).collect();
                let detail = match known.as_slice() {
                    [] => "no upstream that starts runs is configured ([[upstream]] of kind \"command\")".to_owned(),
                    known => format!(
                        "{}, alone or followed by / and a model",
                        unknown("model", model, known.iter().copied())
                    ),
                };
                Err(Problem::not_found(detail).and("param", "model").and("code", "model_not_found"))
            }
        }
    }
}

impl Model {
    /// Whether the caller may start runs of a coding agent, rather than of a server of the Responses API.
    pub(super) fn any_agent(shared: &Shared) -> bool {
        agents(shared).any(|upstream| upstream.kind() != KIND)
    }

    /// Whether a model names such an agent.
    pub(super) fn is_agent(model: &str, shared: &Shared) -> bool {
        Self::find(model, shared).is_ok_and(|model| model.upstream.kind() != KIND)
    }
}

/// The upstreams whose runs the caller may start.
fn agents(shared: &Shared) -> impl Iterator<Item = &Arc<dyn Upstream>> {
    let runners = &shared.caller.restriction.runners;
    let is_seen = |runner: &str| runners.is_empty() || runners.iter().any(|known| known == runner);
    shared.upstreams.iter().filter(move |upstream| upstream.takes_prompts() && is_seen(upstream.runner().name))
}

/// Whether the request is about the upstreams here, and not for an upstream's own list.
fn is_ours(call: &Call) -> bool {
    let names_upstream =
        call.request.uri().query().unwrap_or_default().split('&').any(|pair| pair.starts_with("upstream="));
    !names_upstream && (Model::any_agent(&call.shared) || call.shared.settings.responses.is_empty())
}

#[derive(Serialize)]
struct Listed<'u> {
    id: &'u str,
    object: &'static str,
    /// Upstreams are not dated.
    created: u64,
    owned_by: &'static str,
}

impl<'u> Listed<'u> {
    fn new(id: &'u str, upstream: &Arc<dyn Upstream>) -> Self {
        Self { id, object: "model", created: 0, owned_by: upstream.runner().name }
    }
}

/// `GET /v1/models`.
pub(super) async fn list(call: Call) -> Result<Response<Body>, Problem> {
    if !is_ours(&call) {
        return responses::models(call).await;
    }
    #[derive(Serialize)]
    struct List<'u> {
        object: &'static str,
        data: Vec<Listed<'u>>,
    }
    let data = agents(&call.shared).map(|upstream| Listed::new(upstream.name(), upstream)).collect();
    Ok(json_response(&List { object: "list", data }))
}

/// `GET /v1/models/{model}`.
pub(super) async fn one(call: Call) -> Result<Response<Body>, Problem> {
    if !is_ours(&call) {
        return responses::model(call).await;
    }
    let [id] = call.path.get()?;
    let Some(id) = percent::of_path(id) else {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "the model is not valid UTF-8"));
    };
    let model = Model::find(&id, &call.shared)?;
    Ok(json_response(&Listed::new(&id, &model.upstream)))
}
