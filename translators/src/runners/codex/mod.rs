//! Codex.
//!
//! Input: the machine-readable output of the Codex CLI on any of its surfaces. Each record shows which surface it belongs to.
//! Output: frames, equal for the same work on every surface. Never: a guess about records of an unknown type; they are kept,
//! with a note.

mod app_server;
mod errors;
mod exec;
mod items;
mod modes;
mod recognise;
mod rollout;
mod schemas;
mod shell_script;
mod start;
mod thread_context;
mod usage;
mod workspace;

use super::{History, Runner, Surface, sample};
use crate::decode::{Decoder, Record};
use crate::frame::Provider;
use crate::normalizer::Normalizer;
use crate::redact::{Order, Pieces};
use crate::rfc3339::unix_ms;

/// The runner.
pub(super) const RUNNER: Runner = Runner {
    name: "codex",
    provider: Provider { name: "codex", title: "Codex" },
    genai_provider: "openai",
    about: "Codex (codex exec --json, codex app-server), and its session files",
    extensible: false,
    is_of_frames: false,
    surfaces: &[
        Surface {
            name: "exec",
            source: "codex exec --json",
            recognise: recognise::exec,
            kind_of: schemas::exec_kind,
            schemas: schemas::EXEC,
        },
        Surface {
            name: "app-server",
            source: "codex app-server",
            recognise: recognise::app_server,
            kind_of: schemas::app_server_kind,
            schemas: schemas::APP_SERVER,
        },
        Surface {
            name: "rollout",
            source: "$CODEX_HOME/sessions/**/rollout-*.jsonl",
            recognise: recognise::rollout,
            kind_of: schemas::rollout_kind,
            schemas: schemas::ROLLOUT,
        },
    ],
    pieces: &[
        Pieces { parent: &["params"], leaves: &[&["delta"]], above: &["method"], order: Order::Parallel },
        Pieces { parent: &["payload"], leaves: &[&["delta"]], above: &["type"], order: Order::Parallel },
        Pieces { parent: &["msg"], leaves: &[&["delta"]], above: &[], order: Order::Parallel },
        Pieces { parent: &["params", "msg"], leaves: &[&["delta"]], above: &["method"], order: Order::Parallel },
    ],
    time: time_of,
    decoder: || Box::new(Codex::default()),
    dialogue: Some(|| Box::<app_server::Client>::default()),
    modes: modes::MODES,
    presets: &[&start::EXEC, &start::APP_SERVER],
    demo: None,
    response_id: None,
    workspace: Some(workspace::READER),
    history: &[
        History {
            variable: "CODEX_HOME",
            folder: ".codex",
            files: "sessions/*/*/*/rollout-*.jsonl*",
            except: "",
            subagents: None,
            database: None,
        },
        History {
            variable: "CODEX_HOME",
            folder: ".codex",
            files: "archived_sessions/rollout-*.jsonl*",
            except: "",
            subagents: None,
            database: None,
        },
    ],
    sample: sample!("codex", "appserver-approval-accept.ndjson", Ndjson),
};

#[derive(Debug, Default)]
struct Codex {
    exec: exec::Exec,
    app_server: app_server::AppServer,
    rollout: rollout::Rollout,
    /// Older versions' `{id, msg}` lines: the events of session files, without the calls.
    protocol: rollout::Rollout,
}

impl Decoder for Codex {
    fn record(&mut self, record: &Record<'_>, normalizer: &mut Normalizer) {
        let fields = &record.fields;
        if fields.some("method").is_some() || (fields.get("result").is_some() && fields.some("id").is_some()) {
            self.app_server.record(fields, normalizer);
        } else if let (Some(word), Some(payload)) = (fields.str("type"), fields.get("payload")) {
            self.rollout.record(&word, payload, fields, normalizer);
        } else if let Some(message) = fields.object("msg") {
            self.protocol.message(&message, normalizer);
        } else if let Some(word) = fields.str("type") {
            self.exec.record(&word, fields, normalizer);
        } else if fields.some("id").is_some() && fields.object("error").is_some() {
            self.app_server.record(fields, normalizer);
        } else if let Some(prompt) = fields.str("prompt") {
            self.exec.prompt(&prompt);
            self.protocol.prompt(&prompt);
        } else {
            normalizer.unknown("unknown record");
            normalizer.record_on_current();
        }
    }

    fn end(&mut self, normalizer: &mut Normalizer) {
        self.exec.finish(normalizer);
        self.app_server.finish(normalizer);
        self.rollout.finish(normalizer);
        self.protocol.finish(normalizer);
    }
}

/// The time of a session file's line or of an app-server notification, in Unix epoch milliseconds.
fn time_of(record: &Record<'_>) -> Option<u64> {
    let of_line = || unix_ms(&record.fields.str("timestamp")?);
    record.fields.u64("emittedAtMs").or_else(of_line)
}

/// Converts a word of any case to `snake_case`.
fn snake(word: &str) -> String {
    let mut out = String::with_capacity(word.len() + 4);
    let mut lower = false;
    for char in word.chars() {
        match char {
            '-' | ' ' => out.push('_'),
            _ if char.is_ascii_uppercase() => {
                if lower {
                    out.push('_');
                }
                out.push(char.to_ascii_lowercase());
            }
            _ => out.push(char),
        }
        lower = char.is_ascii_lowercase() || char.is_ascii_digit();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_spellings_of_a_word_are_equal() {
        for word in ["mcp_tool_call", "mcpToolCall", "McpToolCall", "mcp-tool-call"] {
            assert_eq!(snake(word), "mcp_tool_call");
        }
    }
}
