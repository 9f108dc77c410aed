//! Claude Code.
use super::{Runner, Surface};
use crate::decode::{Decoder, Record};
use crate::ledger::Ledger;

/// The runner.
pub const RUNNER: Runner = Runner {
    name: "claude-code",
    provider: "claude-code",
    about: "Claude Code (claude -p --output-format stream-json), and its session transcripts",
    surfaces: &[Surface { name: "stream-json", source: "claude -p --output-format stream-json --verbose" }],
    decoder: || Box::new(Claude),
};
struct Claude;
impl Decoder for Claude {
    fn record(&mut self, _: &Record<'_>, _: &mut Ledger) {}
}
