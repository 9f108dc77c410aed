//! `POST /v1/ingest/{runner}`: ingests a runner's output. If the client accepts a stream, the response is the live
//! translation; otherwise it is the list of the runs that were created. With the runner `auto`, the first records decide
//! which runner it is. If they match none, the request is answered with 422 and nothing is kept.

use super::body::{self, events};
use super::digest::Digest;
use super::events::{stream_headers, wanted_of};
use super::idempotency::{Claim, Claimed, Counts, Made, REPLAYED};
use super::lease::Lease;
use super::limits::{SOON, later};
use super::negotiate::Wanted;
use super::negotiate::{Form, Negotiated, negotiate};
use super::places::Full;
use super::problem::Problem;
use super::query::Query;
use super::reply::{Body, json_response};
use super::route::Call;
use super::shared::Shared;
use super::silent::{Seat, Slot};
use super::upload::{Form as Written, Upload};
use crate::clock::Moment;
use crate::ingest::{Beyond, Seen, Stopped, pump, until_known};
use crate::runs::labels::Labels;
use crate::runs::{Ingested, RunStatus, Wire};
use framegate_translators::foreign::Foreign;
use framegate_translators::frame::StreamKind;
use framegate_translators::framing::Framing;
use framegate_translators::pipeline::Tally;
use framegate_translators::runners::{RUNNERS, runner};
use framegate_translators::when::FirstTime;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Request, Response, StatusCode};
use tokio::sync::oneshot;
use tracing::Instrument;

/// The forms of a live response.
const STREAMS: &[Form] = &[Form::Sse, Form::Ndjson, Form::Bytes];

pub(super) async fn ingest(call: Call) -> Result<Response<Body>, Problem> {
    let query = call.query();
    let Call { request, path, shared, .. } = call;
    let [name] = path.get()?;
    let runner = runner(name);
    if runner.is_none() && name != AUTO {
        let known: Vec<&str> = RUNNERS.iter().map(|runner| runner.name).collect();
        let known = known.join(", ");
        return Err(Problem::not_found(format!("unknown runner {name:?}; use one of {known}, or {AUTO}")));
    }
    let restriction = &shared.caller.restriction;
    if let Some(runner) = runner
        && !restriction.runners.is_empty()
        && !restriction.runners.iter().any(|known| known == runner.name)
    {
        return Err(problem_of(&Stopped::Beyond(Beyond::NotYours)));
    }
    let form = Written::of(request.headers(), &shared.settings)?;
    let query = query?;
    let labels = Labels::of(query.labels.iter().cloned()).map_err(|error| Problem::bad_request(error.to_string()))?;
    let stream = live_answer(&request, &query, &shared)?;
    let claim = shared.idempotency_keys.claim(request.headers(), &shared.caller.name, name)?;
    let seat = seat(&shared)?;
    let framing = framing_of(request.headers());
    let limits = shared.settings.ingest.limits;
    let meter = shared.runs.metrics().ingest(runner.map_or(AUTO, |runner| runner.name));
    // A body of known length was recorded before it was sent: its clock starts at the first time found in its records.
    let is_complete = request.headers().contains_key(CONTENT_LENGTH);
    let first_time = (is_complete || query.history).then(|| FirstTime::new(runner, framing, limits));
    let body = Upload::new(request.into_body(), form, seat, meter, &shared);
    let (claimed, mut body) = match claim {
        None => (None, body),
        Some(Claim::New(claimed)) => (Some(claimed), body.digesting()),
        Some(Claim::Made(made)) => return again(body.digesting(), &made, stream, &shared).await,
    };
    let ingest = shared.host.factory.ingest(runner, framing, shared.caller.restriction.clone()).labelled(labels);
    let ingest = match (query.history, shared.settings.recognise_repeats) {
        (true, _) => ingest.of_history(),
        (false, true) => ingest.recognising_repeats(is_complete),
        (false, false) => ingest,
    };
    let ingested = ingest.ingested();
    let span = tracing::info_span!("ingest", runner = name);
    // Both kinds of ingest run in a task of their own, so that a client that leaves does not abort them halfway.
    let Some(negotiated) = stream else {
        let taking_in = {
            let ingested = ingested.clone();
            async move {
                let done = pump(body.dated(ingest, first_time).await, &mut body).await;
                let digest = body.digest();
                body.end(done.as_ref().err());
                if let (Some(claimed), Ok(seen)) = (claimed, &done) {
                    remember(claimed, digest, seen, &ingested);
                }
                done
            }
        };
        let seen = tokio::spawn(taking_in.instrument(span)).await.unwrap_or(Err(Stopped::Inside));
        let seen = seen.map_err(|stopped| problem_of(&stopped))?;
        if seen.is_nothing() {
            return Err(nothing(&seen, name));
        }
        return Ok(made(counts(&seen, &ingested), &ingested, &shared));
    };
    let lease = shared.stream()?;
    // A streamed response begins only once the runner is known, so that a refusal can still have its own status.
    let (known, is_known) = oneshot::channel();
    let taking_in = {
        let ingested = ingested.clone();
        async move {
            let ingest = body.dated(ingest, first_time).await;
            let ingest = match until_known(ingest, &mut body).await {
                Ok(ingest) => ingest,
                Err(stopped) => {
                    body.end(Some(&stopped));
                    return drop(known.send(Err(stopped)));
                }
            };
            let _ = known.send(Ok(()));
            let done = match ingest {
                Some(ingest) => pump(ingest, &mut body).await.map(Some),
                None => Ok(None),
            };
            if let Err(stopped) = &done {
                tracing::warn!(reason = stopped.reason(), "an ingest stopped before its end");
            }
            let digest = body.digest();
            body.end(done.as_ref().err());
            if let (Some(claimed), Ok(Some(seen))) = (claimed, &done) {
                remember(claimed, digest, seen, &ingested);
            }
        }
    };
    tokio::spawn(taking_in.instrument(span));
    is_known.await.unwrap_or(Err(Stopped::Inside)).map_err(|stopped| problem_of(&stopped))?;
    Ok(followed(&ingested, &negotiated, lease, &shared))
}

/// Stores the result of an ingest for the next request with its key. Nothing is stored if the body contained nothing
/// readable.
fn remember(claimed: Claimed, digest: Digest, seen: &Seen, ingested: &Ingested) {
    if !seen.is_nothing() {
        let streams = ingested.entries().iter().map(|entry| entry.id()).collect();
        claimed.done(Made { digest, counts: counts(seen, ingested), streams });
    }
}

/// Answers a request whose key belongs to a finished ingest: with the runs of that ingest that are still kept.
///
/// # Errors
/// 422 if the body differs from the first one.
async fn again(
    mut body: Upload,
    before: &Made,
    stream: Option<Negotiated>,
    shared: &Shared,
) -> Result<Response<Body>, Problem> {
    let digest = body.read_out().await;
    body.end(digest.as_ref().err());
    if digest.map_err(|stopped| problem_of(&stopped))? != before.digest {
        let detail = "this Idempotency-Key was used with another body; use a new key for another body";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail));
    }
    let ingested = Ingested::default();
    let kept = before.streams.iter().filter_map(|id| shared.runs.find(*id)).filter(|entry| shared.sees(entry));
    kept.for_each(|entry| ingested.repeat(&entry));
    ingested.wake(0, Moment::now(), true);
    let mut response = match stream {
        None => {
            let repeated_runs = runs_of(&ingested, shared).len() as u64;
            made(Counts { repeated_runs, ..before.counts }, &ingested, shared)
        }
        Some(negotiated) => followed(&ingested, &negotiated, shared.stream()?, shared),
    };
    *response.status_mut() = StatusCode::OK;
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    Ok(response)
}

/// The JSON response to an ingest: 201, or 200 if the log already had all its runs.
fn made(counts: Counts, ingested: &Ingested, shared: &Shared) -> Response<Body> {
    #[derive(serde::Serialize)]
    struct Answer {
        #[serde(flatten)]
        counts: Counts,
        runs: Vec<RunStatus>,
    }
    let runs = runs_of(ingested, shared);
    let is_known = !runs.is_empty() && counts.repeated_runs >= runs.len() as u64;
    let mut response = json_response(&Answer { counts, runs });
    *response.status_mut() = if is_known { StatusCode::OK } else { StatusCode::CREATED };
    response
}

fn runs_of(ingested: &Ingested, shared: &Shared) -> Vec<RunStatus> {
    let entries = ingested.entries();
    let runs = entries.iter().filter(|entry| entry.stream.kind == StreamKind::Session);
    runs.map(|entry| shared.runs.shown_status(entry)).collect()
}

fn counts(seen: &Seen, ingested: &Ingested) -> Counts {
    let Tally { records, invalid, unknown, .. } = seen.tally;
    Counts {
        records,
        invalid_records: invalid,
        unknown_records: unknown,
        repeated_runs: ingested.repeated().len() as u64,
        replaced_runs: ingested.replaced(),
        looks_like: seen.mistaken.map(|other| other.runner.name),
    }
}

/// The live response to an ingest: the events of its streams.
fn followed(ingested: &Ingested, negotiated: &Negotiated, lease: Lease, shared: &Shared) -> Response<Body> {
    let wire = if negotiated.form == Form::Sse { Wire::Sse } else { Wire::Ndjson };
    let follower = ingested.follow(shared.runs.clone(), negotiated.contract, negotiated.options.clone(), wire);
    let mut response = Response::new(events(body::Source::Ingest(Box::new(follower)), negotiated, shared, lease));
    stream_headers(&mut response, negotiated);
    response
}

/// Acquires the permits for an ingest. If there are none, an ingest that has sent nothing for a while is displaced.
fn seat(shared: &Shared) -> Result<Seat, Problem> {
    let (client, live) = (shared.client(), shared.control.live());
    loop {
        let place = match shared.meters.ingest(&client, &live.rates) {
            Ok(place) => place,
            Err((full, problem)) => match shared.silent.make_room(full, &client, SOON) {
                true => continue,
                false => return Err(problem),
            },
        };
        if let Ok(permit) = shared.ingests.clone().try_acquire_owned() {
            return Ok(shared.silent.begin(client, Slot { _permit: permit, _place: place }));
        }
        if !shared.silent.make_room(Full::All, &client, SOON) {
            let limit = shared.settings.max_ingests;
            let detail = format!("{limit} ingests are open, which is the limit (ingest.max_open); try again later");
            return Err(later(StatusCode::SERVICE_UNAVAILABLE, detail, SOON));
        }
    }
}

/// The form in which the client wants the translation; `None` if it does not ask for a stream.
fn live_answer(request: &Request<Incoming>, query: &Query, shared: &Shared) -> Result<Option<Negotiated>, Problem> {
    let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let asks = STREAMS.iter().any(|form| accept.contains(form.media_type()));
    if !asks && query.contract.is_none() {
        return Ok(None);
    }
    let wanted = Wanted { forms: STREAMS, ..wanted_of(request, query, shared) };
    negotiate(wanted).map(Some).map_err(|detail| Problem::new(StatusCode::NOT_ACCEPTABLE, detail))
}

fn framing_of(headers: &HeaderMap) -> Option<Framing> {
    let media = headers.get(CONTENT_TYPE)?.to_str().ok()?.split(';').next()?.trim().to_ascii_lowercase();
    match media.as_str() {
        "text/event-stream" => Some(Framing::Sse),
        "application/x-ndjson" | "application/jsonl" | "application/ndjson" => Some(Framing::Ndjson),
        _ => None,
    }
}

/// The runner name that selects recognition by content.
const AUTO: &str = "auto";

/// The problem to report for an ingest that stopped before its end.
fn problem_of(stopped: &Stopped) -> Problem {
    let status = match stopped {
        Stopped::Unknown(seen) => {
            return seen_in(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, stopped.reason()), seen);
        }
        Stopped::Foreign(foreign) => return unreadable(foreign),
        Stopped::Broken(_) => StatusCode::BAD_REQUEST,
        Stopped::Idle(_) => StatusCode::REQUEST_TIMEOUT,
        Stopped::Undecodable(_) => StatusCode::BAD_REQUEST,
        Stopped::Charset(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Stopped::TooLarge(_) | Stopped::TooDense(_) | Stopped::Beyond(Beyond::Records(_)) => {
            StatusCode::PAYLOAD_TOO_LARGE
        }
        Stopped::Log(error) if error.is_full() => StatusCode::INSUFFICIENT_STORAGE,
        Stopped::Beyond(Beyond::NotYours) => StatusCode::FORBIDDEN,
        Stopped::Log(_) | Stopped::Beyond(_) | Stopped::Stopping => StatusCode::SERVICE_UNAVAILABLE,
        Stopped::Inside => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let detail = format!("the ingest was stopped: {}; its open runs were closed as interrupted", stopped.reason());
    match stopped {
        Stopped::Beyond(Beyond::OpenRuns) | Stopped::Stopping => later(status, detail, SOON),
        _ => Problem::new(status, detail),
    }
}

/// The problem to report for a body in which nothing was recognised.
fn nothing(seen: &Seen, runner: &str) -> Problem {
    let summary = seen.summary();
    let detail = match seen.mistaken {
        Some(other) => {
            let path = format!("/v1/ingest/{}, or to /v1/ingest/{AUTO}", other.runner.name);
            format!(
                "nothing in the body is output of {runner} ({summary}); the body looks like {other}: send it to {path}"
            )
        }
        None => format!("nothing in the body could be read as output of {runner} ({summary})"),
    };
    seen_in(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail), seen)
}

/// Adds the counts that a successful response has too.
fn seen_in(problem: Problem, seen: &Seen) -> Problem {
    let Tally { records, invalid, unknown, .. } = seen.tally;
    let problem = problem.and("records", records).and("invalid_records", invalid).and("unknown_records", unknown);
    match seen.mistaken {
        Some(other) => problem.and("looks_like", other.runner.name),
        None => problem,
    }
}

/// The problem to report for a body that is not the text of a runner.
fn unreadable(foreign: &Foreign) -> Problem {
    let how = match foreign.reader {
        Some("gzip -dc") => {
            "declare it with Content-Encoding: gzip, or send plain text: gzip -dc FILE | curl -T - …".to_owned()
        }
        Some("zstd -dc") => {
            "declare it with Content-Encoding: zstd, or send plain text: zstd -dc FILE | curl -T - …".to_owned()
        }
        Some(reader) => format!("send plain text: {reader} FILE | curl -T - …"),
        None => "runners write JSON or event streams".to_owned(),
    };
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("the body is {foreign}; {how}"))
}
