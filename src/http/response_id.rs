//! The ids of responses of coding agents: a run, and the event at which the response begins.
//!
//! A run is one response, unless it waits for a person: then each answer begins another one.

use std::fmt;
use uuid::Uuid;

/// A response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ResponseId {
    pub(super) run: Uuid,
    /// The number of its first event in the run.
    pub(super) from: u64,
}

impl ResponseId {
    /// Reads an id; `None` for one that is not framegate's own.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let rest = id.strip_prefix("resp_")?;
        let (run, from) = match rest.split_once('_') {
            Some((run, from)) => (run, from.parse().ok().filter(|from| *from > 0)?),
            None => (rest, 0),
        };
        let run = (run.len() == 32).then(|| Uuid::try_parse(run).ok()).flatten()?;
        Some(Self { run, from })
    }
}

impl fmt::Display for ResponseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "resp_{}", self.run.simple())?;
        if self.from > 0 { write!(f, "_{}", self.from) } else { Ok(()) }
    }
}

/// The run of an item's id, such as `mcpr_…_5`.
pub(super) fn run_of_item(id: &str) -> Option<Uuid> {
    let run = id.split('_').nth(1).filter(|run| run.len() == 32)?;
    Uuid::try_parse(run).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_a_run_and_an_event() {
        let run = Uuid::from_u128(0x0190_fed0_0000_7000_8000_0000_0000_0001);
        for (id, text) in [
            (ResponseId { run, from: 0 }, "resp_0190fed0000070008000000000000001"),
            (ResponseId { run, from: 17 }, "resp_0190fed0000070008000000000000001_17"),
        ] {
            assert_eq!(id.to_string(), text);
            assert_eq!(ResponseId::parse(text), Some(id));
        }
        for other in [
            "resp_0190fed0000070008000000000000001_0",
            "resp_0190fed0000070008000000000000001_x",
            "resp_68af1234567890123456789012345678901234567890abcd",
            "resp_0190fed0-0000-7000-8000-000000000001",
            "0190fed0000070008000000000000001",
        ] {
            assert_eq!(ResponseId::parse(other), None, "{other}");
        }
        assert_eq!(run_of_item("mcpr_0190fed0000070008000000000000001_5"), Some(run));
        assert_eq!(run_of_item("mcpr_5"), None);
    }
}
