//! OpenCode: `opencode run --format json`, the event feeds of `opencode serve`, and `opencode export`.
//!
//! Input: records of any of the three surfaces. The shape of each record identifies its surface, so no setting is needed.
//! Output: frames, through the normalizer. Never: text reported twice; a compaction's prompt reported as a person's; a child
//! session's text on the main thread; an error for a record of unknown shape (it is kept and marked).

mod answer;
mod approvals;
mod calls;
mod children;
mod clock;
mod database;
mod dialogue;
mod duplicates;
mod ends;
mod export;
mod failure;
mod feed;
mod files;
mod message_log;
mod messages;
mod parts;
mod prompt;
mod recognise;
mod run;
mod schemas;
mod session_context;
mod session_next;
mod sessions;
mod start;
mod tasks;
mod tools;
mod usage;
mod workspace;

use super::clock::Clock;
use super::{Runner, Surface, sample};
use crate::decode::{Decoder, Record};
use crate::frame::Provider;
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, RunEnd};
use crate::redact::{Order, Pieces};
use crate::sequence::StreamKey;
use run::Run;
use sessions::Feed;

/// The runner.
pub(super) const RUNNER: Runner = Runner {
    name: "opencode",
    provider: Provider { name: "opencode", title: "OpenCode" },
    genai_provider: "opencode",
    about: "OpenCode (opencode run --format json), the event feeds of its server, and exported sessions",
    extensible: false,
    is_of_frames: false,
    surfaces: &[
        Surface {
            name: "run",
            source: "opencode run --format json",
            recognise: recognise::run,
            kind_of: schemas::type_of,
            schemas: schemas::RUN,
        },
        Surface {
            name: "event",
            source: "GET /event of opencode serve",
            recognise: recognise::event,
            kind_of: schemas::type_of,
            schemas: schemas::EVENT,
        },
        Surface {
            name: "global-event",
            source: "GET /global/event of opencode serve",
            recognise: recognise::global_event,
            kind_of: schemas::global_event_kind,
            schemas: schemas::GLOBAL_EVENT,
        },
        Surface {
            name: "next-event",
            source: "GET /api/event of opencode serve",
            recognise: recognise::next_event,
            kind_of: schemas::type_of,
            schemas: schemas::NEXT_EVENT,
        },
        Surface {
            name: "export",
            source: "opencode export SESSION",
            recognise: recognise::export,
            kind_of: schemas::export_kind,
            schemas: schemas::EXPORT,
        },
    ],
    pieces: &[
        Pieces { parent: &["properties"], leaves: &[&["delta"]], above: &["type"], order: Order::Parallel },
        Pieces {
            parent: &["payload", "properties"],
            leaves: &[&["delta"]],
            above: &["directory"],
            order: Order::Parallel,
        },
        Pieces { parent: &["data"], leaves: &[&["delta"]], above: &["type"], order: Order::Parallel },
    ],
    time: clock::time_of,
    decoder: || Box::<OpenCode>::default(),
    dialogue: Some(|| Box::<dialogue::Client>::default()),
    modes: start::MODES,
    presets: &[&start::PRESET],
    demo: None,
    response_id: None,
    workspace: Some(workspace::READER),
    history: &[database::HISTORY],
    sample: sample!("opencode", "event-permission-once.sse", Sse),
};

#[derive(Default)]
struct OpenCode {
    clock: Clock,
    run: Run,
    feed: Feed,
}

impl Decoder for OpenCode {
    fn record(&mut self, record: &Record<'_>, normalizer: &mut Normalizer) {
        self.clock.begin(normalizer);
        // Some wrappers collect the lines of a run in an array.
        let items = record.json.items();
        if items.is_empty() {
            self.one(record.json, &record.fields, normalizer);
        }
        for item in items {
            if let Some(fields) = item.object() {
                self.one(item, &fields, normalizer);
            }
        }
    }

    fn give_up(&mut self, run: StreamKey, end: RunEnd, normalizer: &mut Normalizer) {
        self.feed.give_up(run, &end, normalizer);
        // The run may belong to another surface.
        normalizer.end_run(run, end);
    }

    fn end(&mut self, normalizer: &mut Normalizer) {
        self.run.end(normalizer);
        self.feed.end(normalizer);
    }
}

impl OpenCode {
    fn one(&mut self, json: Json<'_>, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let is_object = |key| fields.get(key).is_some_and(|value| value.kind() == crate::json::Kind::Object);
        if is_object("payload") || is_object("properties") || is_object("data") || is_object("syncEvent") {
            self.feed.record(fields, &mut self.clock, normalizer);
        } else if fields.get("messages").is_some_and(|messages| messages.kind() == crate::json::Kind::Array) {
            export::document(fields, &mut self.clock, normalizer);
        } else if fields.get("type").is_some() {
            self.run.line(fields, &mut self.clock, normalizer);
        } else if !json.text().is_empty() {
            normalizer.unknown("unknown record: it has no type");
        }
    }
}
