//! Runs stages in turns and prints the table of their figures.

use crate::stages::Counts;
use std::time::{Duration, Instant};

/// The prefix of the names of floors. There are two of them: the `Value` round trip, then the typed one.
pub(crate) const FLOOR: &str = "floor: ";

/// A stage that is timed.
pub(crate) struct Stage<'a> {
    pub(crate) name: String,
    /// The bytes of input in one round.
    bytes: usize,
    run: Box<dyn FnMut() -> Counts + 'a>,
    times: Vec<Duration>,
    pub(crate) counts: Counts,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(name: impl Into<String>, bytes: usize, run: impl FnMut() -> Counts + 'a) -> Self {
        Self { name: name.into(), bytes, run: Box::new(run), times: Vec::new(), counts: Counts::default() }
    }

    /// The seconds for one megabyte of input, in the median round.
    pub(crate) fn seconds_a_megabyte(&self) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() / (self.bytes as f64 / 1e6)
    }

    /// The seconds for one event, in the median round.
    pub(crate) fn seconds_an_event(&self) -> f64 {
        self.seconds_a_megabyte() * (self.bytes as f64 / 1e6) / self.counts.events.max(1) as f64
    }
}

/// Runs the stages in turns, so that other load on the machine affects all of them equally.
pub(crate) fn rounds(stages: &mut [Stage<'_>], rounds: usize) {
    for _ in 0..rounds {
        for stage in &mut *stages {
            let start = Instant::now();
            stage.counts = (stage.run)();
            stage.times.push(start.elapsed());
        }
    }
}

/// Prints each stage's figures next to the floors of the same rounds.
pub(crate) fn print(stages: &[Stage<'_>]) {
    let floors: Vec<f64> =
        stages.iter().filter(|stage| stage.name.starts_with(FLOOR)).map(Stage::seconds_a_megabyte).collect();
    println!(
        "{:38} {:>8} {:>8} {:>8} {:>11} {:>9} {:>7}",
        "", "MB/s", "of Value", "of typed", "events/s", "ns/event", "out/in"
    );
    for stage in stages {
        let each = stage.seconds_a_megabyte();
        println!(
            "{:38} {:>8.1} {:>8.2} {:>8.2} {:>11.0} {:>9.0} {:>7.2}",
            stage.name,
            1.0 / each,
            floors[0] / each,
            floors[1] / each,
            1.0 / stage.seconds_an_event(),
            stage.seconds_an_event() * 1e9,
            stage.counts.bytes_out as f64 / stage.bytes as f64,
        );
    }
}
