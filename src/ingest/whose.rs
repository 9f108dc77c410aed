//! Whose output an input is, for people: what was recognised, what is not what was said, what nobody knows.
//!
//! In: an ingest, after each chunk. Out: one log line for each thing, once. Never: a word of the input.

use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::RUNNERS;

/// What was told of one input.
#[derive(Debug, Default)]
pub struct Whose {
    recognised: bool,
}

impl Whose {
    /// Tells what is new.
    pub fn tell(&mut self, ingest: &mut Ingest) {
        if let Some(found) = ingest.recognised().filter(|_| !self.recognised) {
            self.recognised = true;
            tracing::info!(
                runner = found.runner.name,
                surface = found.surface.name,
                record = found.record,
                reason = found.reason,
                "this is {found}: {}",
                found.reason
            );
        }
        if let Some(other) = ingest.mistaken() {
            tracing::warn!(
                runner = other.runner.name,
                surface = other.surface.name,
                record = other.record,
                reason = other.reason,
                "this looks like {other}: {}; it is read as it was said all the same",
                other.reason
            );
        }
    }
}

/// Why an input was not read: nobody knows it.
pub fn unknown() -> String {
    let known: Vec<&str> = RUNNERS.iter().map(|runner| runner.name).collect();
    format!("the first records look like the output of no runner ({})", known.join(", "))
}
