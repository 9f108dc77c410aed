//! Gemini CLI: the records of `gemini --output-format stream-json`, the document that `--output-format json` prints, and the chat
//! files under `~/.gemini/tmp`.
//!
//! Input: records of any of these surfaces. Output: calls on the [`Normalizer`](crate::normalizer::Normalizer). Never: a stop because of
//! an unknown field, type or version; a run that ended without an answer reported like one with it.

mod calls;
mod chat;
mod decoder;
mod document;
mod failure;
mod outcome;
mod recognise;
mod run;
mod schemas;
mod start;
mod stream;
mod text_ends;
mod usage;

use super::{History, Runner, Surface, sample};
use crate::decode::Record;
use crate::frame::Provider;
use crate::redact::{Order, Pieces};
use crate::rfc3339::unix_ms;

/// The runner.
pub(super) const RUNNER: Runner = Runner {
    name: "gemini-cli",
    provider: Provider { name: "gemini-cli", title: "Gemini CLI" },
    genai_provider: "gcp.gemini",
    about: "Gemini CLI (gemini --output-format stream-json), and its chat files",
    extensible: false,
    surfaces: &[
        Surface {
            name: "stream-json",
            source: "gemini -p --output-format stream-json",
            recognise: recognise::stream_json,
            kind_of: schemas::kind_of_record,
            schemas: schemas::STREAM_JSON,
        },
        Surface {
            name: "json",
            source: "gemini -p --output-format json",
            recognise: recognise::json,
            kind_of: schemas::kind_of_document,
            schemas: schemas::JSON,
        },
        Surface {
            name: "chat",
            source: "~/.gemini/tmp/<project>/chats/<session>.jsonl",
            recognise: recognise::chat,
            kind_of: schemas::kind_of_line,
            schemas: schemas::CHAT,
        },
    ],
    pieces: &[Pieces {
        parent: &[],
        leaves: &[&["content"]],
        above: &[],
        order: Order::Successive(&text_ends::MESSAGES),
    }],
    time: time_of,
    decoder: || Box::<decoder::Gemini>::default(),
    dialogue: None,
    modes: start::MODES,
    presets: &[&start::PRESET],
    demo: None,
    response_id: None,
    workspace: None,
    is_of_frames: false,
    history: &[History {
        variable: "",
        folder: ".gemini",
        files: "tmp/*/chats/session-*.jsonl",
        except: "",
        subagents: None,
        database: None,
    }],
    sample: sample!("gemini-cli", "text-between.jsonl", Ndjson),
};

/// The time of a record, in Unix epoch milliseconds. The head of a chat file has the time of its start, and a change of the head the
/// time of the change.
fn time_of(record: &Record<'_>) -> Option<u64> {
    let fields = &record.fields;
    let text = fields.str("timestamp").or_else(|| fields.str("startTime"));
    let text = text.or_else(|| fields.object("$set")?.str("lastUpdated"))?;
    unix_ms(&text)
}
