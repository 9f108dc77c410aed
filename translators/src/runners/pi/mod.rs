//! pi: `pi --mode json`, `pi --mode rpc`, and its session files, of versions 0.73 and 0.87.
//!
//! Input: records of the two modes and lines of session files. The shape of each record shows which it is, so no setting is needed.
//! Output: frames, through the normalizer. Never: a message reported again by the records that repeat it; a run that ends while the
//! runner will still retry by itself; an error for a record of unknown shape (it is kept and marked).

mod decoder;
mod dialogue;
mod ending;
mod entry;
mod extension;
mod failure;
mod message;
mod numbered_diff;
mod outcome;
mod recognise;
mod run;
mod schemas;
mod start;
mod tools;
mod update;
mod usage;

use super::{History, Runner, Surface, Workspace, WorkspaceReader, sample};
use crate::decode::Record;
use crate::frame::Provider;
use crate::json::Object;
use crate::redact::{Order, Pieces};
use crate::rfc3339::unix_ms;

/// The runner.
pub(super) const RUNNER: Runner = Runner {
    name: "pi",
    provider: Provider { name: "pi", title: "pi" },
    genai_provider: "pi",
    about: "pi (pi --mode json, pi --mode rpc), and its session files",
    extensible: false,
    // The stream and the session file begin with the same line, so the first record does not tell them apart.
    surfaces: &[Surface {
        name: "records",
        source: "pi --mode json, pi --mode rpc, or ~/.pi/agent/sessions/<directory>/<time>_<session>.jsonl",
        recognise: recognise::of_pi,
        kind_of: schemas::kind_of_record,
        schemas: schemas::RECORDS,
    }],
    pieces: &[
        Pieces { parent: &["assistantMessageEvent"], leaves: &[&["delta"]], above: &["type"], order: Order::Parallel },
        // The output of the client's own command.
        Pieces { parent: &[], leaves: &[&["delta"]], above: &["type"], order: Order::Parallel },
    ],
    time: time_of,
    decoder: || Box::<decoder::Pi>::default(),
    dialogue: Some(|| Box::<dialogue::Rpc>::default()),
    modes: super::Modes::NONE,
    presets: &[&start::PRESET],
    demo: None,
    response_id: None,
    workspace: Some(WorkspaceReader { marks: &["\"cwd\""], read: |fields| Workspace::of(fields, "cwd", "") }),
    is_of_frames: false,
    history: &[History {
        variable: "PI_CODING_AGENT_DIR",
        folder: ".pi/agent",
        files: "sessions/*/*.jsonl",
        except: "",
        subagents: None,
        database: None,
    }],
    sample: sample!("pi", "rpc-ui-allow.jsonl", Ndjson),
};

/// The time of a record, in Unix epoch milliseconds: of an entry of a session file, or of a message that begins. The head of a session
/// has the time of the session, which may be much older.
fn time_of(record: &Record<'_>) -> Option<u64> {
    let fields = &record.fields;
    if entry::is_entry(fields) {
        return written_ms(fields);
    }
    let message = fields.object("message").filter(|_| fields.str("type").as_deref() == Some("message_start"))?;
    message.u64("timestamp")
}

/// When an entry of a session file was written, in Unix epoch milliseconds.
fn written_ms(entry: &Object<'_>) -> Option<u64> {
    unix_ms(&entry.str("timestamp")?)
}
