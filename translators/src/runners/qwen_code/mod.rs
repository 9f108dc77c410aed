//! Qwen Code: the records of `qwen --output-format stream-json`, the array of the same records that `--output-format json` prints,
//! and the session files under `~/.qwen/projects`.
//!
//! Input: records of any of these surfaces. A record with `sessionId` is a line of a session file; every other one belongs to the
//! stream. Output: calls on the [`Normalizer`](crate::normalizer::Normalizer). Never: a stop because of an unknown field, type or
//! version; an error that the runner writes into the assistant's text reported as the assistant's text.

mod agents;
mod assistant;
mod call_ids;
mod calls;
mod control;
mod decoder;
mod dialogue;
mod effects;
mod failure;
mod outcome;
mod recognise;
mod reply;
mod result;
mod runs;
mod schemas;
mod session_file;
mod session_results;
mod start;
mod stream_event;
mod system;
mod tasks;
mod usage;
mod user;

use super::{History, Runner, Surface, Workspace, WorkspaceReader, sample};
use crate::decode::Record;
use crate::frame::Provider;
use crate::redact::{Order, Pieces};
use crate::rfc3339::unix_ms;

/// The runner.
pub(super) const RUNNER: Runner = Runner {
    name: "qwen-code",
    provider: Provider { name: "qwen-code", title: "Qwen Code" },
    genai_provider: "qwen-code",
    about: "Qwen Code (qwen --output-format stream-json), and its session files",
    extensible: false,
    is_of_frames: false,
    surfaces: &[
        Surface {
            name: "stream-json",
            source: "qwen -p --output-format stream-json",
            recognise: recognise::stream_json,
            kind_of: schemas::kind_of_record,
            schemas: schemas::STREAM_JSON,
        },
        Surface {
            name: "json",
            source: "qwen -p --output-format json",
            recognise: recognise::json,
            kind_of: schemas::kind_of_json,
            schemas: schemas::JSON,
        },
        Surface {
            name: "session",
            source: "~/.qwen/projects/<directory>/chats/<session>.jsonl",
            recognise: recognise::session,
            kind_of: schemas::kind_of_entry,
            schemas: schemas::SESSION,
        },
    ],
    pieces: &[Pieces {
        parent: &["event"],
        leaves: &[&["delta", "text"], &["delta", "thinking"], &["delta", "partial_json"]],
        above: &["session_id", "parent_tool_use_id"],
        order: Order::Parallel,
    }],
    time: time_of,
    decoder: || Box::<decoder::Qwen>::default(),
    dialogue: Some(|| Box::<dialogue::Control>::default()),
    modes: start::MODES,
    presets: &[&start::PRESET],
    demo: None,
    response_id: None,
    workspace: Some(WorkspaceReader { marks: &["\"cwd\""], read: |fields| Workspace::of(fields, "cwd", "gitBranch") }),
    history: &[History {
        variable: "",
        folder: ".qwen",
        files: "projects/*/chats/*.jsonl",
        except: "",
        subagents: None,
        database: None,
    }],
    sample: sample!("qwen-code", "in-allow.partial.jsonl", Ndjson),
};

/// The time of a line of a session file, in Unix epoch milliseconds. Records of the stream have none.
fn time_of(record: &Record<'_>) -> Option<u64> {
    unix_ms(&record.fields.str("timestamp")?)
}
