//! Open Responses and nearly identical protocols: OpenAI's Responses API, and the gateways and servers that copy it.
//!
//! Input: the events of `POST /v1/responses` with `"stream": true`, as SSE or as one event per line; also whole response
//! objects. Output: one run for each response, from `response.created` (or the first event, if that is missing) to the first
//! event that ends it. Never: a record rejected for a schema violation (its frame reports the violation); reliance on indices,
//! ids or sequence numbers; a frame derived from records after the end.
//!
//! | part | where |
//! |---|---|
//! | event types | `event` |
//! | recognition; known records | `recognise`, `schemas` |
//! | errors of records | `validation` |
//! | items, and the matching of events to them | `item`, `items` |
//! | routing of events to items | `dispatch` |
//! | text and reasoning | `text` |
//! | calls, hosted tools, their output | `call`, `tool`, `output` |
//! | errors, and the end | `error`, `ending` |
//! | the id of a response, in one record | `response_id` |

mod call;
mod dispatch;
mod ending;
mod error;
mod event;
mod item;
mod items;
mod output;
mod recognise;
mod response_id;
mod run;
mod schemas;
mod text;
mod tool;
mod validation;

use super::{Runner, Surface, sample};
use crate::decode::{Decoder, Record};
use crate::frame::{ErrorScope, Provider, SharedStr};
use crate::json::{Json, Kind, Object};
use crate::normalizer::{Normalizer, RunEnd, STREAM_ENDED};
use crate::redact::{Order, Pieces};
use error::ResponseError;
use event::Event;
use items::Address;
use run::Run;
use std::collections::VecDeque;

/// The runner.
pub(super) const RUNNER: Runner = Runner {
    name: "open-responses",
    provider: Provider { name: "openresponses", title: "Open Responses" },
    genai_provider: "openresponses",
    about: "Open Responses, OpenAI's Responses API, and the servers and gateways that speak it",
    extensible: true,
    is_of_frames: false,
    surfaces: &[
        Surface {
            name: "sse",
            source: "POST /v1/responses with \"stream\": true",
            recognise: recognise::event,
            kind_of: recognise::kind,
            schemas: schemas::SCHEMAS,
        },
        Surface {
            name: "ndjson",
            source: "the same events, one per line",
            recognise: recognise::event,
            kind_of: recognise::kind,
            schemas: schemas::SCHEMAS,
        },
        Surface {
            name: "response",
            source: "POST /v1/responses without streaming: one response object",
            recognise: recognise::response,
            kind_of: recognise::kind,
            schemas: schemas::SCHEMAS,
        },
    ],
    pieces: &[
        Pieces { parent: &[], leaves: &[&["delta"]], above: &["type"], order: Order::Parallel },
        Pieces {
            parent: &[],
            leaves: &[&["delta", "stdout"], &["delta", "stderr"]],
            above: &["type"],
            order: Order::Parallel,
        },
    ],
    time: time_of,
    decoder: || Box::new(OpenResponses::default()),
    dialogue: None,
    modes: super::Modes::NONE,
    presets: &[],
    demo: None,
    response_id: Some(response_id::of),
    workspace: None,
    history: &[],
    sample: sample!("open-responses", "litellm__texttool.sse", Sse),
};

/// The maximum number of open responses per connection. Beyond it, a new response ends the oldest.
const OPEN: usize = 64;

/// The number of finished responses that are remembered.
const REMEMBERED: usize = 64;

/// The creation time of a record's response, in Unix epoch milliseconds. The record has it in seconds.
fn time_of(record: &Record<'_>) -> Option<u64> {
    let list = record.json.items();
    let of = |fields: &Object<'_>| fields.object("response").unwrap_or_else(|| fields.clone()).f64("created_at");
    let first = || list.iter().find_map(|item| of(&item.object()?));
    let seconds = of(&record.fields).or_else(first).filter(|seconds| (0.0..1e11).contains(seconds))?;
    u64::try_from(std::time::Duration::from_secs_f64(seconds).as_millis()).ok()
}

#[derive(Default)]
struct OpenResponses {
    /// The open responses, oldest first.
    runs: Vec<Run>,
    /// The ids of responses that have ended.
    over: VecDeque<SharedStr>,
    /// Whether a run has started.
    begun: bool,
    checked: validation::CheckedResponse,
}

impl Decoder for OpenResponses {
    fn record(&mut self, record: &Record<'_>, normalizer: &mut Normalizer) {
        if record.json.kind() != Kind::Object {
            normalizer.record_on_current();
            return;
        }
        let fields = &record.fields;
        let written = fields.str("type");
        let declared = written.as_deref().filter(|kind| !kind.is_empty());
        let kind = declared.or(record.event_name);
        let named = kind.map(Event::of).filter(|event| declared.is_some() || *event != Event::Unknown);
        let is_response = declared.is_none() && fields.str("object").is_some_and(|object| object == "response");
        // Without a known type, the object itself may show what it is.
        let bare = named.is_none() && fields.some("error").is_some();
        let event = match named {
            Some(event) => event,
            None if is_response => {
                self.whole_response(record, normalizer);
                return;
            }
            None if bare => Event::Error,
            None => kind.map_or(Event::Untyped, |_| Event::Unknown),
        };
        validation::check(record, written.as_deref(), kind.filter(|_| !bare), event, &mut self.checked, normalizer);
        if bare {
            normalizer.unknown("the event does not say its type");
        }
        let response = match event {
            Event::Created | Event::Progress | Event::Terminal => {
                fields.object("response").or_else(|| is_response.then(|| fields.clone()))
            }
            _ => None,
        };
        let address = Address::of(fields);
        let Some(at) = self.run_of(event, &address, response.as_ref(), normalizer) else {
            // An event that is not about a response belongs to the open run. An event about a finished response belongs to no
            // run.
            if !event.is_of_a_response() {
                normalizer.record_on_current();
            }
            return;
        };
        if event == Event::Terminal {
            let status = ending::status(kind, response.as_ref());
            self.end_run(at, normalizer, |run, normalizer| {
                ending::terminal(run, status, response.as_ref(), normalizer)
            });
            return;
        }
        let Some(run) = self.runs.get_mut(at) else { return };
        normalizer.record_on(run.stream);
        if event == Event::Error {
            let error = ResponseError::of_event(fields);
            if run.error.as_ref() != Some(&error) {
                normalizer.push(run.target(), error.frame(ErrorScope::Provider));
            }
            run.error = Some(error.clone());
            // `response.failed` follows a typed error; nothing follows a bare one.
            if bare {
                self.end_run(at, normalizer, |run, normalizer| ending::broken(run, error, normalizer));
            }
            return;
        }
        if event == Event::Progress
            && let Some(response) = &response
        {
            // One server sends the names of calls only here.
            let output = response.get("output").into_iter().flat_map(Json::objects);
            let output: Vec<Object<'_>> = output.map(|(.., fields)| fields).collect();
            run.items.of_output(&output, normalizer.time_ms());
            return;
        }
        dispatch::event(run, event, &address, fields, normalizer);
    }

    fn opaque(&mut self, done: bool, normalizer: &mut Normalizer) {
        normalizer.record_on_current();
        // The marker may arrive too early, so it ends a run only after an error.
        if done && let Some(at) = self.runs.len().checked_sub(1) {
            self.break_off(at, normalizer);
        }
    }

    fn end(&mut self, normalizer: &mut Normalizer) {
        for at in (0..self.runs.len()).rev() {
            self.break_off(at, normalizer);
        }
        for mut run in std::mem::take(&mut self.runs) {
            ending::close(&mut run, true, normalizer);
        }
    }
}

impl OpenResponses {
    /// Ends a run that has reported an error.
    fn break_off(&mut self, at: usize, normalizer: &mut Normalizer) {
        if let Some(error) = self.runs.get(at).and_then(|run| run.error.clone()) {
            self.end_run(at, normalizer, |run, normalizer| ending::broken(run, error, normalizer));
        }
    }

    fn end_run(&mut self, at: usize, normalizer: &mut Normalizer, end: impl FnOnce(Run, &mut Normalizer)) {
        if at >= self.runs.len() {
            return;
        }
        let run = self.runs.remove(at);
        normalizer.record_on(run.stream);
        if let Some(id) = &run.id {
            if self.over.len() == REMEMBERED {
                self.over.pop_front();
            }
            self.over.push_back(id.clone());
        }
        end(run, normalizer);
    }

    /// Handles a response that was not streamed. It starts and ends here, unless it is still in progress.
    fn whole_response(&mut self, record: &Record<'_>, normalizer: &mut Normalizer) {
        validation::response(record, normalizer);
        let response = &record.fields;
        let at = self.run_of(Event::Created, &Address::of(response), Some(response), normalizer);
        let status = ending::status(None, Some(response));
        let under_way = response.str("status").is_some_and(|status| status == "in_progress" || status == "queued");
        match at {
            Some(at) if !under_way => {
                self.end_run(at, normalizer, |run, normalizer| {
                    ending::terminal(run, status, Some(response), normalizer)
                });
            }
            _ => normalizer.record_on_current(),
        }
    }

    /// The run that an event belongs to, opened if necessary; `None` if it belongs to no run.
    fn run_of(
        &mut self,
        event: Event,
        address: &Address<'_>,
        response: Option<&Object<'_>>,
        normalizer: &mut Normalizer,
    ) -> Option<usize> {
        if !event.is_of_a_response() {
            return None;
        }
        let newest = self.runs.len().checked_sub(1);
        let in_object = response.and_then(|response| response.str("id"));
        let id = in_object.as_deref().or(address.response.as_deref()).filter(|id| !id.is_empty());
        let by_id = id.and_then(|id| self.runs.iter().rposition(|run| run.id.as_deref() == Some(id)));
        let at = match event {
            Event::Created => by_id.or_else(|| newest.filter(|&at| self.runs.get(at).is_some_and(|run| !run.created))),
            Event::Progress | Event::Terminal => by_id.or_else(|| {
                let is_over = id.is_some_and(|id| self.over.iter().any(|over| **over == *id));
                let run = self.runs.get_mut(newest?)?;
                // If the upstream changes its ids with every event, the newest run is meant.
                run.items.ids_rotate |= run.id.is_some() && id.is_some() && !is_over;
                newest.filter(|_| !is_over)
            }),
            _ => by_id.or_else(|| self.runs.iter().rposition(|run| run.items.named(address).is_some()).or(newest)),
        };
        let begins = match event {
            Event::Created => true,
            // A resumed stream lacks its beginning.
            Event::Progress => id.is_some_and(|id| self.over.iter().all(|over| **over != *id)),
            _ => false,
        };
        let at = match at {
            Some(at) => at,
            None if begins || !self.begun => self.open(response, normalizer),
            None => return None,
        };
        let run = self.runs.get_mut(at)?;
        run.created |= event == Event::Created;
        if run.id.is_none() {
            run.id = id.map(SharedStr::from);
            run.items.response.clone_from(&run.id);
        }
        Some(at)
    }

    fn open(&mut self, response: Option<&Object<'_>>, normalizer: &mut Normalizer) -> usize {
        self.begun = true;
        if self.runs.len() == OPEN {
            self.end_run(0, normalizer, |mut run, normalizer| {
                ending::close(&mut run, true, normalizer);
                let end = RunEnd::interrupted(STREAM_ENDED, "too many responses began before this one ended");
                normalizer.end_run(run.stream, end);
            });
        }
        let conversation = response.and_then(|response| response.some("conversation"));
        let conversation = conversation.and_then(|value| value.str().or_else(|| value.object()?.str("id")));
        normalizer.set_session(conversation.as_deref().unwrap_or_default());
        let mut run = Run::new(normalizer.open_run(""));
        let model = response.and_then(|response| response.str("model")).filter(|model| !model.is_empty());
        run.model = model.map(|model| SharedStr::from(&*model));
        normalizer.turn_started(run.stream, run.model.clone());
        self.runs.push(run);
        self.runs.len() - 1
    }
}
