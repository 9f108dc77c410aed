//! GitHub Copilot CLI: the events of `copilot -p --output-format json`, and the session files under `~/.copilot/session-state`.
//!
//! Input: records of either surface; a session file has the same events without the ephemeral ones, and some of its own. Output: calls on the
//! [`Normalizer`](crate::normalizer::Normalizer). Never: a stop because of an unknown field, type or version; success reported for a
//! run that was aborted, although its exit code is 0.

mod agents;
mod approvals;
mod calls;
mod course;
mod decoder;
mod effects;
mod failure;
mod live;
mod plan;
mod recognise;
mod reply;
mod runs;
mod schemas;
mod sql;
mod start;
mod usage;
mod workspace;

use super::{History, Runner, Surface, sample};
use crate::decode::Record;
use crate::frame::Provider;
use crate::redact::{Order, Pieces};
use crate::rfc3339::unix_ms;

/// The runner.
pub(super) const RUNNER: Runner = Runner {
    name: "copilot",
    provider: Provider { name: "copilot", title: "GitHub Copilot CLI" },
    genai_provider: "copilot",
    about: "GitHub Copilot CLI (copilot --output-format json), and its session files",
    extensible: false,
    surfaces: &[
        Surface {
            name: "json",
            source: "copilot -p --output-format json",
            recognise: recognise::json,
            kind_of: schemas::kind_of,
            schemas: schemas::JSON,
        },
        Surface {
            name: "session",
            source: "~/.copilot/session-state/<session>/events.jsonl",
            recognise: recognise::session,
            kind_of: schemas::kind_of,
            schemas: schemas::SESSION,
        },
    ],
    pieces: &[Pieces {
        parent: &["data"],
        leaves: &[&["deltaContent"], &["inputDelta"], &["text"]],
        above: &["type", "agentId"],
        order: Order::Parallel,
    }],
    time: time_of,
    decoder: || Box::<decoder::Copilot>::default(),
    dialogue: None,
    modes: start::MODES,
    presets: &[&start::PRESET],
    demo: None,
    response_id: None,
    workspace: Some(workspace::READER),
    is_of_frames: false,
    history: &[History {
        variable: "",
        folder: ".copilot",
        files: "session-state/*/events.jsonl",
        except: "",
        subagents: None,
        database: None,
    }],
    sample: sample!("copilot", "bash-ok.jsonl", Ndjson),
};

/// The time of a record, in Unix epoch milliseconds.
fn time_of(record: &Record<'_>) -> Option<u64> {
    unix_ms(&record.fields.str("timestamp")?)
}
