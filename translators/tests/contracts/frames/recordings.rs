//! The recordings of frames are what framegate writes for the samples of the runners: a change of the wire form shows here.

use super::{named, of_frames};
use crate::support::{fixtures_dir, identity, translate_of};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::RUNNERS;
use framegate_translators::sequence::Identity;
use uuid::Uuid;

#[test]
fn the_recordings_are_what_is_written_today() {
    let bless = std::env::var_os("FRAMEGATE_BLESS").is_some();
    let mut run_id = identity().run_id.as_u128();
    for runner in RUNNERS.iter().filter(|runner| runner.name != of_frames().name) {
        for version in ["v1", "v2"] {
            // Each recording has runs of its own, so that a proxy stores all of them.
            run_id += 1;
            let identity = Identity { run_id: Uuid::from_u128(run_id), session_id: None };
            let ingest = Ingest::new(runner, None, Limits::default(), identity);
            let events = translate_of(ingest, named(&format!("frames.{version}")), [runner.sample.bytes]);
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
