//! Frames that are read back are the same frames: for every recording of every runner, in every contract.

mod foreign;
mod hostile;
mod ids;
mod recordings;

use crate::support::{recordings, translate};
use framegate_translators::contracts::{Contract, contract};
use framegate_translators::runners::{Runner, runner};

fn of_frames() -> &'static Runner {
    runner("frames").unwrap()
}

fn named(name: &str) -> &'static Contract {
    contract(name).unwrap()
}

/// The recordings of runners that are no frames.
fn originals() -> impl Iterator<Item = crate::support::Recording> {
    recordings().filter(|recording| recording.runner.name != "frames")
}

/// Fails at the first line that differs.
fn same_lines(expected: &[u8], found: &[u8], what: &str) {
    if expected == found {
        return;
    }
    let mut pairs = expected.split(|&byte| byte == b'\n').zip(found.split(|&byte| byte == b'\n')).enumerate();
    let (at, (one, other)) = pairs.find(|(_, (one, other))| one != other).unwrap_or((0, (expected, found)));
    panic!("{what}, line {at}:\n{}\n{}", String::from_utf8_lossy(one), String::from_utf8_lossy(other));
}

#[test]
fn frames_of_v2_are_the_same_after_the_way_back() {
    let (v2, mut count) = (named("frames.v2"), 0);
    for recording in originals() {
        let once = translate(recording.runner, v2, &recording.bytes);
        let twice = translate(of_frames(), v2, &once);
        same_lines(&once, &twice, &format!("{}/{}", recording.runner.name, recording.name));
        count += 1;
    }
    assert!(count > 300, "{count}");
}

#[test]
fn frames_of_v1_are_the_same_after_the_way_back() {
    let v1 = named("frames.v1");
    for recording in originals() {
        let once = translate(recording.runner, v1, &recording.bytes);
        let twice = translate(of_frames(), v1, &once);
        same_lines(&once, &twice, &format!("{}/{}", recording.runner.name, recording.name));
    }
}

#[test]
fn two_proxies_in_a_row_give_the_events_of_one() {
    let v2 = named("frames.v2");
    for recording in originals() {
        let frames = translate(recording.runner, v2, &recording.bytes);
        for contract in framegate_translators::contracts::CONTRACTS {
            let one = translate(recording.runner, contract, &recording.bytes);
            let two = translate(of_frames(), contract, &frames);
            same_lines(&one, &two, &format!("{}/{} in {}", recording.runner.name, recording.name, contract.name));
        }
    }
}
