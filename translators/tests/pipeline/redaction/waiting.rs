//! Text that is held back because it may be the start of a secret: how long, how much, and what ends the wait.

use super::harness::{RULES, has, redacted, redacting, run, stream};
use super::secrets::{SECRETS, escaped, leaks, text_after};
use crate::support::EPOCH_MS;
use framegate_translators::contracts::{DEFAULT, RECORDS};
use framegate_translators::redact::{Rules, Settings};
use framegate_translators::runners::{RUNNERS, runner};
use std::sync::Arc;

#[test]
fn a_timeout_releases_nothing_usable_of_a_secret() {
    for runner in RUNNERS {
        for (name, before, secret) in SECRETS {
            let levels = name.len() % 3;
            let text = escaped(&format!("Well: \n{before}{secret}{}", text_after(name)), levels);
            let from = text.find(&escaped(secret, levels)).unwrap();
            for cut in from - 2..=from + escaped(secret, levels).len() {
                let lines = stream(runner.name, &[&text[..cut], &text[cut..]]);
                let chunks: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
                for contract in [RECORDS, DEFAULT] {
                    let out = run(redacting(runner, &RULES), contract, &chunks, true);
                    assert_eq!(leaks(&out, secret), None, "{} {} {name} cut at {cut}", runner.name, contract.name);
                }
            }
        }
    }
}

/// A tool's arguments that break off within a secret, and the next block with the same index.
#[test]
fn an_unclosed_value_ends_with_its_text() {
    let claude = runner("claude-code").unwrap();
    let raw = framegate_translators::contracts::RECORDS;
    let lines = stream("claude-code", &["{\"password\": [\"q7Zk", "Vx2m9pp"]);
    let is_of_block = |line: &&String| line.contains("content_block_");
    let next = stream("claude-code", &["Then: \"fine\", 12", " it says"]);
    let other = r#"{"type":"system","subtype":"status","status":null,"session_id":"s","uuid":"z"}"#.to_owned() + "\n";
    let mut all: Vec<String> =
        lines.iter().take_while(|line| !line.contains("\"assistant\",\"message\"")).cloned().collect();
    let stop = lines.iter().find(|line| line.contains("content_block_stop")).unwrap();
    // An unrelated record does not end the wait.
    all.insert(all.len() - 1, other);
    all.push(stop.clone());
    all.extend(next.iter().filter(is_of_block).cloned());
    let out = redacted(claude, raw, all.concat().as_bytes());
    assert!(!has(&out, "q7Zk") && !has(&out, "Vx2m"), "{}", String::from_utf8_lossy(&out));
    for piece in ["Then: \\\"fine\\\", 12", " it says"] {
        assert!(has(&out, &format!("\"text\":\"{piece}\"")), "{piece}: {}", String::from_utf8_lossy(&out));
    }
}

/// A message's last text and the next message's first text have the same path in their records.
#[test]
fn the_end_of_a_message_is_not_joined_with_the_next_one() {
    let claude = runner("claude-code").unwrap();
    let raw = framegate_translators::contracts::RECORDS;
    let secret = "q7ZkVx2mPtWj8RbYn4Lc";
    let first = stream("claude-code", &["see https://gitlab"]);
    let next = stream("claude-code", &[&format!("password: {secret}\n")]);
    let piece = |lines: &[String]| lines.iter().find(|line| line.contains("text_delta")).unwrap().clone();
    let ends = ["content_block_stop", "message_stop", "message_start", "content_block_start"];
    for end in ends.map(|end| first.iter().find(|line| line.contains(end)).unwrap()) {
        let bytes = [piece(&first), end.clone(), piece(&next)].concat();
        let out = redacted(claude, raw, bytes.as_bytes());
        assert_eq!(leaks(&out, secret), None, "{end}{}", String::from_utf8_lossy(&out));
        assert!(has(&out, "password: [REDACTED:assignment]"), "{end}{}", String::from_utf8_lossy(&out));
    }
}

#[test]
fn the_held_text_is_bounded() {
    let claude = runner("claude-code").unwrap();
    let rules = Arc::new(Rules::new(Settings { hold_bytes: 4096, ..Settings::default() }).unwrap());
    let mut ingest = redacting(claude, &rules);
    let lines = stream("claude-code", &["it is ghp_q7"]);
    let mut fed = 0;
    for line in &lines[..4] {
        fed += ingest.feed(line.as_bytes(), EPOCH_MS).len();
    }
    assert_eq!(ingest.deadline(), Some(EPOCH_MS + 50));
    assert_eq!(ingest.flush(EPOCH_MS + 49).len(), 0);
    // Pieces of another text do not decide; they wait too, up to the bound.
    let other = lines[3].replace("\"index\":0", "\"index\":1").replace("ghp_q7", "fine");
    let mut waiting = 0;
    while ingest.deadline().is_some() {
        waiting += 1;
        assert!(waiting < 40);
        fed += ingest.feed(other.as_bytes(), EPOCH_MS).len();
    }
    assert!(waiting > 3 && fed > waiting);
}

#[test]
fn setting_the_clock_back_does_not_extend_the_hold() {
    let claude = runner("claude-code").unwrap();
    let mut ingest = redacting(claude, &RULES);
    let lines = stream("claude-code", &["it is ghp_q7"]);
    lines[..4].iter().for_each(|line| drop(ingest.feed(line.as_bytes(), EPOCH_MS)));
    let held = ingest.deadline().unwrap();
    let set_back = EPOCH_MS - 86_400_000;
    let other = lines[3].replace("\"index\":0", "\"index\":1").replace("ghp_q7", "fine");
    assert_eq!(ingest.feed(other.as_bytes(), set_back).len(), 0);
    assert_eq!((held, ingest.deadline()), (EPOCH_MS + 50, Some(set_back + 50)));
    assert!(ingest.flush(set_back + 50).len() > 1);
    assert_eq!(ingest.deadline(), None);
}
