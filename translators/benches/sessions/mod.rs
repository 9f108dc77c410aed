//! Synthetic sessions of any length, for each way in which a runner makes long ones.
//!
//! In: a way and how often its piece comes. Out: the bytes that the runner would write, and how many frames must come of
//! the pieces. Never: anything random; the same length gives the same bytes.

mod claude_code;
mod codex;
mod open_responses;
mod opencode;

/// What stands for the piece of text in a record.
const PIECE: &str = "PIECE";
/// What stands for all pieces one behind the other.
const WHOLE: &str = "WHOLE";
/// What stands for the number of the piece: ids are made with it.
const NTH: &str = "NTH";
/// What stands for the number of the subagent, of [`AGENTS`].
const AGENT: &str = "AGENT";

/// How many subagents work at once where there are any.
pub(crate) const AGENTS: usize = 64;

/// How many bytes of output a tool gives at a time in the sessions that are about output.
pub(crate) const OUTPUT_BYTES: usize = 4 << 10;

/// What a session is long in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One message in many pieces.
    Deltas,
    /// Many short tool calls.
    Tools,
    /// Much output of tools.
    Output,
    /// Subagents that take turns, each with a message of its own in many pieces.
    Subagents,
}

/// A way in which a runner makes long sessions.
pub(crate) struct Session {
    pub(crate) name: &'static str,
    pub(crate) runner: &'static str,
    pub(crate) shape: Shape,
    sse: bool,
    before: &'static [&'static str],
    /// Once for each subagent, behind `before`.
    before_agent: &'static [&'static str],
    each: &'static [&'static str],
    /// Once for each subagent, before `after`.
    after_agent: &'static [&'static str],
    after: &'static [&'static str],
    /// The kind of frame that each piece gives, exactly one.
    pub(crate) gives: &'static str,
}

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Session> {
    [claude_code::SESSIONS, codex::SESSIONS, opencode::SESSIONS, open_responses::SESSIONS].into_iter().flatten()
}

impl Session {
    /// The records of a session with so many pieces.
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

/// A line of output, as it stands in JSON.
fn line(nth: usize) -> String {
    format!("   Compiling part-{nth} v0.1.0 (/workspace/crates/part)\\n")
}
