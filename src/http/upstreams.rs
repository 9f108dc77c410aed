//! `POST /v1/runs`: a configured upstream starts a run. `GET /v1/upstreams`: lists the upstreams.
//!
//! Input: upstream, prompt and options, as a JSON object. Output: the run's status as soon as there is a run. Never: a run
//! that the caller may not see; a setting of the upstream in a response.

use super::digest::{Digest, digest};
use super::idempotency::REPLAYED;
use super::json_body;
use super::problem::Problem;
use super::prompt_files::{FileForm, MAX_FILES};
use super::repeats::Once;
use super::reply::{Body, json_response};
use super::route::Call;
use super::sessions::{self, Claim};
use crate::runs::labels::Labels;
use crate::upstream::Mode;
use framegate_translators::host::{Opening, PromptFile};
use framegate_translators::runners::Runner;
use hyper::header::{HeaderValue, LOCATION};
use hyper::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    upstream: String,
    prompt: String,
    session_id: Option<String>,
    cwd: Option<String>,
    model: Option<String>,
    mode: Option<String>,
    #[serde(default)]
    files: Vec<FileForm>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

/// The path of [`start`].
const PATH: &str = "/v1/runs";

/// Starts a run.
pub(super) async fn start(call: Call) -> Result<Response<Body>, Problem> {
    let (request, shared) = (call.request, call.shared);
    let form = "{\"upstream\", \"prompt\", \"session_id\"?, \"cwd\"?, \"model\"?, \"mode\"?, \"files\"?, \"labels\"?}";
    let headers = request.headers().clone();
    let order: Order = json_body::read(request, shared.settings.max_prompt_body, form, &shared).await?;
    let (order, files) = order.with_files()?;
    let labels = Labels::of_map(&order.labels).map_err(|error| Problem::bad_request(error.to_string()))?;
    let once = Once::by_key(&headers, PATH, order.digest(&files))?;
    let upstream = sessions::upstream(&order.upstream, &shared)?;
    let (entry, is_repeat) = match sessions::claim(once, &shared).await? {
        Claim::Repeat(entry) => (entry, true),
        Claim::New(claimed) => {
            let session = order.session_id.map(|session| sessions::runners_own(session, &shared)).transpose()?;
            let Order { prompt, cwd, model, mode, .. } = order;
            let opening = Opening { prompt, files, session, cwd, model, mode };
            (claimed.start(sessions::Order { upstream, opening, labels }, |_| {}).await?, false)
        }
    };
    let status = shared.runs.shown_status(&entry);
    let mut response = json_response(&status);
    *response.status_mut() = if is_repeat { StatusCode::OK } else { StatusCode::CREATED };
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/runs/{}", status.run_id)) {
        response.headers_mut().insert(LOCATION, location);
    }
    if is_repeat {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}

impl Order {
    /// Reads the files.
    fn with_files(mut self) -> Result<(Self, Vec<PromptFile>), Problem> {
        let forms = std::mem::take(&mut self.files);
        if forms.len() > MAX_FILES {
            return Err(Problem::bad_request(format!("a prompt can have {MAX_FILES} files, not {}", forms.len())));
        }
        let read = |(at, form): (usize, FileForm)| {
            form.read().map_err(|detail| Problem::bad_request(format!("files[{at}] {detail}")))
        };
        let files = forms.into_iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok((self, files))
    }

    /// The digest by which a repeated request is recognised.
    fn digest(&self, files: &[PromptFile]) -> Digest {
        let fields = [
            Some(&self.upstream),
            Some(&self.prompt),
            self.session_id.as_ref(),
            self.cwd.as_ref(),
            self.model.as_ref(),
            self.mode.as_ref(),
        ];
        let urls: Vec<_> = files.iter().map(PromptFile::url).collect();
        let fields = fields.into_iter().map(|field| field.map(String::as_str));
        let labels = self.labels.iter().flat_map(|(key, value)| [None, Some(key.as_str()), Some(value.as_str())]);
        digest(fields.chain(urls.iter().map(|url| Some(&**url))).chain(labels))
    }
}

/// Lists the upstreams, with what a client needs to use them.
pub(super) async fn list(call: Call) -> Result<Response<Body>, Problem> {
    #[derive(Serialize)]
    struct Listed<'u> {
        name: &'u str,
        kind: &'static str,
        runner: &'static str,
        /// The path to request a run; absent if clients cannot start runs here.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        takes_prompts: bool,
        takes_messages: bool,
        takes_images: bool,
        /// The modes that requests may choose.
        modes: &'u [Mode],
        /// The mode of requests that choose none; absent for the choice of the runner.
        #[serde(skip_serializing_if = "Option::is_none")]
        mode: Option<&'u str>,
        /// The state of its lasting connection; absent if it has none.
        #[serde(flatten)]
        connection: Option<Connected>,
    }
    #[derive(Serialize)]
    struct Connected {
        state: &'static str,
        since_ms: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    #[derive(Serialize)]
    struct List<'u> {
        upstreams: Vec<Listed<'u>>,
    }
    let shared = &*call.shared;
    let runners = &shared.caller.restriction.runners;
    let is_seen = |runner: &'static Runner| runners.is_empty() || runners.iter().any(|known| known == runner.name);
    let upstreams = shared.upstreams.iter().filter(|upstream| is_seen(upstream.runner())).map(|upstream| Listed {
        name: upstream.name(),
        kind: upstream.kind(),
        runner: upstream.runner().name,
        path: upstream.path(),
        takes_prompts: upstream.takes_prompts(),
        takes_messages: upstream.takes_messages(),
        takes_images: upstream.takes_images(),
        modes: upstream.modes().offered(),
        mode: upstream.modes().default_name(),
        connection: upstream.connection().map(|connection| Connected {
            state: connection.state.as_str(),
            since_ms: connection.since_ms,
            reason: connection.reason,
        }),
    });
    Ok(json_response(&List { upstreams: upstreams.collect() }))
}
