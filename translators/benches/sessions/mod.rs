//! Synthetic sessions of any length, for each way in which a runner produces long ones.
//!
//! Input: a session type and its number of pieces. Output: the bytes that the runner would write, and the kind of frame that
//! each piece must yield. Never: anything random; the same length yields the same bytes.

mod claude_code;
mod codex;
mod open_responses;
mod opencode;

/// The placeholder for the piece of text in a record.
const PIECE: &str = "PIECE";
/// The placeholder for the concatenation of all pieces.
const WHOLE: &str = "WHOLE";
/// The placeholder for the number of the piece, used in ids.
const NTH: &str = "NTH";
/// The placeholder for the number of the subagent, below [`AGENTS`].
const AGENT: &str = "AGENT";

/// The number of concurrent subagents in sessions with subagents.
pub(crate) const AGENTS: usize = 64;

/// The bytes of output in one piece, in sessions of shape `Output`.
pub(crate) const OUTPUT_BYTES: usize = 4 << 10;

/// The part of a session that grows with its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One message in many pieces.
    Deltas,
    /// Many short tool calls.
    Tools,
    /// A large tool output.
    Output,
    /// Subagents that take turns, each with its own message in many pieces.
    Subagents,
}

/// One type of long session of a runner.
pub(crate) struct Session {
    pub(crate) name: &'static str,
    pub(crate) runner: &'static str,
    pub(crate) shape: Shape,
    sse: bool,
    before: &'static [&'static str],
    /// Written once for each subagent, after `before`.
    before_agent: &'static [&'static str],
    each: &'static [&'static str],
    /// Written once for each subagent, before `after`.
    after_agent: &'static [&'static str],
    after: &'static [&'static str],
    /// The kind of frame of which each piece yields exactly one.
    pub(crate) gives: &'static str,
}

/// All sessions.
pub(crate) fn all() -> impl Iterator<Item = &'static Session> {
    [claude_code::SESSIONS, codex::SESSIONS, opencode::SESSIONS, open_responses::SESSIONS].into_iter().flatten()
}

impl Session {
    /// The records of a session with this many pieces.
    pub(crate) fn bytes(&self, pieces: usize) -> Vec<u8> {
        let mut out = String::new();
        for record in self.before {
            self.record(&mut out, record);
        }
        for agent in 0..AGENTS {
            for record in self.before_agent {
                self.record(&mut out, &record.replace(AGENT, &agent.to_string()));
            }
        }
        let mut whole = String::new();
        for nth in 0..pieces {
            let piece = match self.shape {
                Shape::Output => line(nth).repeat(OUTPUT_BYTES / line(nth).len()),
                Shape::Deltas | Shape::Tools | Shape::Subagents => format!("word{nth} "),
            };
            let (number, agent) = (nth.to_string(), (nth % AGENTS).to_string());
            for record in self.each {
                let record = record.replace(NTH, &number).replace(AGENT, &agent);
                self.record(&mut out, &record.replace(PIECE, &piece));
            }
            if self.after.iter().any(|record| record.contains(WHOLE)) {
                whole.push_str(&piece);
            }
        }
        for agent in 0..AGENTS {
            for record in self.after_agent {
                self.record(&mut out, &record.replace(AGENT, &agent.to_string()));
            }
        }
        for record in self.after {
            self.record(&mut out, &record.replace(WHOLE, &whole));
        }
        out.into_bytes()
    }

    fn record(&self, out: &mut String, record: &str) {
        let (head, tail) = if self.sse { ("data: ", "\n\n") } else { ("", "\n") };
        out.extend([head, record, tail]);
    }
}

/// A line of output, escaped for JSON.
fn line(nth: usize) -> String {
    format!("   Compiling part-{nth} v0.1.0 (/workspace/crates/part)\\n")
}
