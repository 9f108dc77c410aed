//! The recordings of frames are what framegate writes for the samples of the runners: a change of the wire form shows here.

use super::{named, of_frames};
use crate::support::{fixtures_dir, translate};
use framegate_translators::runners::RUNNERS;

#[test]
fn the_recordings_are_what_is_written_today() {
    let bless = std::env::var_os("FRAMEGATE_BLESS").is_some();
    for runner in RUNNERS.iter().filter(|runner| runner.name != of_frames().name) {
        for version in ["v1", "v2"] {
            let events = translate(runner, named(&format!("frames.{version}")), runner.sample.bytes);
            let path = fixtures_dir("frames").join(format!("{}.{version}.ndjson", runner.name));
            if bless {
                std::fs::write(&path, &events).unwrap();
            }
            let recorded = std::fs::read(&path).unwrap_or_default();
            let hint = "read what changed, then write it with FRAMEGATE_BLESS=1";
            assert!(recorded == events, "{} differs: {hint}", path.display());
        }
    }
}
