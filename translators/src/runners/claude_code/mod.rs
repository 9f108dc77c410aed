//! Claude Code: the frames of `claude -p --output-format stream-json`, the single result of `--output-format json` (or its
//! array of frames), and the session transcripts under `~/.claude/projects`.
//!
//! Input: records of any of these surfaces. Each record is assigned to a surface by its shape. Output: calls on the
//! [`Normalizer`](crate::normalizer::Normalizer). Never: a stop because of an unknown field, type or version.

mod agents;
mod assistant;
mod call_keys;
mod clock;
mod control;
mod decoder;
mod demo;
mod dialogue;
mod files;
mod history;
mod message;
mod outcome;
mod plan;
mod recognise;
mod result;
mod runs;
mod schemas;
mod side_chains;
mod start;
mod stream_event;
mod system;
mod tasks;
mod tools;
mod totals;
mod transcript;
mod usage;
mod user;

use super::{History, Runner, SubagentFiles, Surface, Workspace, WorkspaceReader, sample};
use crate::frame::Provider;
use crate::redact::{Order, Pieces};

/// The runner.
pub(super) const RUNNER: Runner = Runner {
    name: "claude-code",
    provider: Provider { name: "claude-code", title: "Claude Code" },
    genai_provider: "anthropic",
    about: "Claude Code (claude -p --output-format stream-json), and its session transcripts",
    extensible: false,
    is_of_frames: false,
    surfaces: &[
        Surface {
            name: "stream-json",
            source: "claude -p --output-format stream-json --verbose",
            recognise: recognise::stream_json,
            kind_of: schemas::kind_of_record,
            schemas: schemas::STREAM_JSON,
        },
        Surface {
            name: "json",
            source: "claude -p --output-format json",
            recognise: recognise::json,
            kind_of: schemas::kind_of_json,
            schemas: schemas::JSON,
        },
        Surface {
            name: "transcript",
            source: "~/.claude/projects/<directory>/<session>.jsonl",
            recognise: recognise::transcript,
            kind_of: schemas::kind_of_record,
            schemas: schemas::TRANSCRIPT,
        },
    ],
    pieces: &[Pieces {
        parent: &["event"],
        leaves: &[&["delta", "text"], &["delta", "thinking"], &["delta", "partial_json"]],
        above: &["session_id", "parent_tool_use_id"],
        order: Order::Parallel,
    }],
    time: clock::time_of,
    decoder: || Box::<decoder::Claude>::default(),
    dialogue: Some(|| Box::<dialogue::Control>::default()),
    modes: start::MODES,
    presets: &[&start::PRESET],
    demo: Some(|start| Box::new(demo::Demo::new(start))),
    response_id: None,
    workspace: Some(WorkspaceReader { marks: &["\"cwd\""], read: |fields| Workspace::of(fields, "cwd", "gitBranch") }),
    history: &[History {
        variable: "CLAUDE_CONFIG_DIR",
        folder: ".claude",
        files: "projects/*/*.jsonl",
        except: "agent-*",
        subagents: Some(SubagentFiles { session: "sessionId" }),
        database: None,
    }],
    sample: sample!("claude-code", "control_permission.partial.ndjson", Ndjson),
};
