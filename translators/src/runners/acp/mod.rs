//! Any agent of the Agent Client Protocol (ACP), versions 1 and 2.
//!
//! Input: an agent's lines (JSON-RPC), with or without the lines of its client among them. Output: one run for each prompt.
//! Never: a decision by the protocol version that an agent claims (each message is read by its shape); a replayed message as
//! output of a run; an answer to a request that was not made taken for the end of a run, if the client's lines are there.

mod approvals;
mod calls;
mod connection;
mod content;
mod decoder;
mod dialogue;
mod ending;
mod exit_code;
mod files;
mod hosted;
mod modes;
mod notices;
mod output;
mod permission;
mod plan;
mod recognise;
mod requests;
mod schemas;
mod sessions;
mod start;
mod terminals;
mod text_ends;
mod texts;
mod updates;
mod usage;

use super::{Runner, Surface, sample};
use crate::frame::Provider;
use crate::redact::{Order, Pieces};

/// The runner.
pub(super) const RUNNER: Runner = Runner {
    name: "acp",
    provider: Provider { name: "acp", title: "ACP agent" },
    genai_provider: "acp",
    about: "any agent of the Agent Client Protocol (gemini --acp, copilot --acp, claude-agent-acp, codex-acp, …)",
    extensible: true,
    surfaces: &[Surface {
        name: "stdio",
        source: "an agent's standard output, with or without its client's lines",
        recognise: recognise::stdio,
        kind_of: schemas::kind_of,
        schemas: schemas::STDIO,
    }],
    pieces: &[
        Pieces {
            parent: &["params", "update"],
            leaves: &[&["content", "text"], &["content", "resource", "text"]],
            above: &[],
            order: Order::Successive(&text_ends::MESSAGES),
        },
        Pieces {
            parent: &["params", "update"],
            leaves: &[&["content", "content", "text"], &["_meta", "terminal_output_delta", "data"]],
            above: &[],
            order: Order::Successive(&text_ends::OUTPUT),
        },
    ],
    // No message of the protocol has a time.
    time: |_| None,
    decoder: || Box::new(decoder::Acp::default()),
    dialogue: Some(|| Box::<dialogue::Client>::default()),
    modes: modes::MODES,
    presets: start::PRESETS,
    demo: None,
    response_id: None,
    workspace: None,
    is_of_frames: false,
    history: &[],
    sample: sample!("acp", "question.both.ndjson", Ndjson),
};
