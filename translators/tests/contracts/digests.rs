//! The events of every recording in every contract, as digests: a change of any event shows here, with its recording.
//!
//! `FRAMEGATE_BLESS=1 cargo test -p framegate-translators --test contracts digests` rewrites `digests.txt`; the change is then visible in
//! a diff of that file and must be intended.

use crate::support::{recordings, translate};
use framegate_translators::contracts::CONTRACTS;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// One line for each recording and contract: runner, recording, contract, number of events, the first bytes of their SHA-256.
fn digests() -> String {
    let mut out = String::new();
    for recording in recordings() {
        for contract in CONTRACTS {
            let events = translate(recording.runner, contract, &recording.bytes);
            let count = events.iter().filter(|&&byte| byte == b'\n').count();
            let digest = Sha256::digest(&events);
            let (runner, name) = (recording.runner.name, &recording.name);
            write!(out, "{runner}/{name} {} {count} ", contract.name).unwrap();
            digest.iter().take(8).for_each(|byte| write!(out, "{byte:02x}").unwrap());
            out.push('\n');
        }
    }
    out
}

/// The lines by recording and contract.
fn by_key(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .map(|line| {
            let mut words = line.rsplitn(3, ' ');
            let (digest, count) = (words.next().unwrap(), words.next().unwrap());
            (words.next().unwrap().to_owned(), format!("{count} events, {digest}"))
        })
        .collect()
}

#[test]
fn the_events_of_every_recording_are_unchanged() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/digests.txt");
    let now = digests();
    if std::env::var_os("FRAMEGATE_BLESS").is_some() {
        std::fs::write(&path, &now).unwrap();
        return;
    }
    let (kept, now) = (by_key(&std::fs::read_to_string(&path).unwrap()), by_key(&now));
    let changed: Vec<String> = kept
        .keys()
        .chain(now.keys().filter(|key| !kept.contains_key(*key)))
        .filter(|key| kept.get(*key) != now.get(*key))
        .map(|key| {
            let show = |line: Option<&String>| line.map_or_else(|| "absent".to_owned(), Clone::clone);
            format!("{key}: {} in digests.txt, now {}", show(kept.get(key)), show(now.get(key)))
        })
        .collect();
    assert!(
        changed.is_empty(),
        "the events of {} recordings and contracts changed; if that is intended, write digests.txt with FRAMEGATE_BLESS=1:\n{}",
        changed.len(),
        changed.join("\n")
    );
}
