//! Secrets that are split across records and bytes, at any position.

use super::harness::{RULES, agrees, frames_of, has, input, redacted, redacting, run, run_text, stream};
use super::secrets::{LEVELS, SECRETS, escaped, leaks, quoted, text_after};
use crate::support::recordings;
use framegate_translators::contracts::{CONTRACTS, DEFAULT, FRAMES, RECORDS};
use framegate_translators::runners::{RUNNERS, runner};
use proptest::prelude::*;

#[test]
fn a_split_secret_is_in_no_contracts_output() {
    for runner in RUNNERS {
        for ((name, before, secret), levels) in
            SECRETS.iter().flat_map(|secret| LEVELS.map(move |level| (secret, level)))
        {
            let text = escaped(&format!("Well: \n{before}{secret}{}", text_after(name)), levels);
            let expected = escaped(&format!("Well: \n{before}[REDACTED:{name}]{}", text_after(name)), levels);
            let (first, last) = ("Well: ".len(), text.len() - escaped(text_after(name), levels).len());
            for cut in first..=last + 1 {
                let bytes = input(runner.name, &[&text[..cut], &text[cut..]]);
                let frames = frames_of(runner, &bytes);
                let what = format!("{} {name}, {levels} levels, cut at {cut}", runner.name);
                let told = run_text(&frames);
                assert!(agrees(runner.name, &told, &expected), "{what}: {told}");
                // The other contracts are functions of these frames; they are only checked for every sixteenth cut.
                for contract in CONTRACTS.iter().filter(|contract| cut % 16 == 0 || contract.name == DEFAULT.name) {
                    let out = redacted(runner, contract, &bytes);
                    assert_eq!(leaks(&out, secret), None, "{} {what}", contract.name);
                }
            }
        }
    }
}

/// A few evenly spread positions in a recording at which a word of prose begins, within a string of a record.
fn places_in(bytes: &[u8]) -> Vec<usize> {
    let is_prose = |at: &usize| {
        let around = bytes.get(at - 6..at + 6).unwrap_or_default();
        bytes[at - 1] == b' ' && around.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b' ')
    };
    let places: Vec<usize> = (6..bytes.len().saturating_sub(6)).filter(is_prose).collect();
    places.iter().step_by((places.len() / 6).max(1)).copied().collect()
}

#[test]
fn a_planted_secret_is_in_no_contracts_output_in_any_chunking() {
    let mut planted = 0;
    for recording in recordings().filter(|recording| recording.bytes.len() < 30_000) {
        for (nth, place) in places_in(&recording.bytes).into_iter().enumerate() {
            let (name, _, secret) = SECRETS[[2, 8, 9, 4][nth % 4]];
            let (front, back) = recording.bytes.split_at(place);
            let bytes = [front, secret.as_bytes(), b" ", back].concat();
            // One of the cuts is within the secret.
            let chunks: Vec<&[u8]> = bytes.chunks(secret.len() / 2 + nth % 3).collect();
            for contract in CONTRACTS {
                let out = run(redacting(recording.runner, &RULES), contract, &chunks, false);
                let what = format!("{name} at {place} of {} in {}", recording.name, contract.name);
                assert_eq!(leaks(&out, secret), None, "{what}");
                // Only `raw` contains comments too; what is read as frames is no record, so only frames contain all of it.
                let is_of_frames = recording.runner.is_of_frames;
                let tells_all = contract.name == if is_of_frames { FRAMES.name } else { RECORDS.name };
                assert!(!tells_all || has(&out, &format!("[REDACTED:{name}]")), "{what} is not there at all");
            }
            planted += 1;
        }
    }
    assert!(planted > 100, "only {planted} planted");
}

#[test]
fn a_port_is_not_redacted_unless_it_is_a_password() {
    for who in RUNNERS {
        for suffix in [".", "**", ",", "，", "!", "。然后"] {
            let text = format!("Open http://localhost:3000{suffix}");
            for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
                let told = run_text(&frames_of(who, &input(who.name, &[&text[..cut], &text[cut..]])));
                assert_eq!(told, text, "{} cut at {cut}", who.name);
            }
            let text = format!("Open http://joe:3000{suffix}q7Zk@host/ x");
            for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
                let told = run_text(&frames_of(who, &input(who.name, &[&text[..cut], &text[cut..]])));
                assert_eq!(told, "Open http://joe:[REDACTED:url-password]@host/ x", "{} cut at {cut}", who.name);
            }
        }
    }
    // At the end of the text, anything that cannot be a port is treated as a password.
    for password in ["q7Zk", "3000a", "3000_", "3000-q", "300000.", "."] {
        let claude = runner("claude-code").unwrap();
        let told = run_text(&frames_of(claude, &input(claude.name, &[&format!("at http://joe:{password}")])));
        let is_port = password == ".";
        assert_eq!(told == "at http://joe:[REDACTED:url-password]", !is_port, "{told}");
    }
}

/// A runner that repeats the whole text with each piece: the start of a secret has already been replaced by the mark.
#[test]
fn snapshots_that_grow_within_a_secret_contain_one_mark() {
    for (name, before, secret) in SECRETS {
        let text = format!("Well: {before}{secret}{}", text_after(name));
        let mut lines = stream("opencode", &[]);
        let at = lines.iter().position(|line| line.contains("message.part.updated")).unwrap();
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)).rev() {
            let front = quoted(&text[..end]);
            lines.insert(at + 1, format!(
                "data: {{\"type\":\"message.part.updated\",\"properties\":{{\"part\":{{\"id\":\"p\",\"sessionID\":\"s\",\"messageID\":\"m1\",\"type\":\"text\",\"text\":{front}}}}}}}\n\n"
            ));
        }
        let bytes = lines.concat().replace(r#""text":"","time""#, &format!(r#""text":{},"time""#, quoted(&text)));
        for contract in CONTRACTS {
            let out = redacted(runner("opencode").unwrap(), contract, bytes.as_bytes());
            assert_eq!(leaks(&out, secret), None, "{} {name}", contract.name);
        }
        let told = run_text(&frames_of(runner("opencode").unwrap(), bytes.as_bytes()));
        assert!(told.matches("[REDACTED").count() <= 1, "{name}: {told}");
        assert!(told.starts_with("Well: "), "{name}: {told}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_secret_in_three_pieces_is_found(
        at in 0..SECRETS.len(), who in any::<prop::sample::Index>(), levels in LEVELS, front in "[a-z .,\n]{0,20} ", one in 0.0..1.0f64, two in 0.0..1.0f64,
    ) {
        let (name, before, secret) = SECRETS[at];
        let text = escaped(&format!("{front}{before}{secret}{}", text_after(name)), levels);
        let cut = |part: f64| (text.len() as f64 * part) as usize;
        let (first, second) = (cut(one.min(two)), cut(one.max(two)));
        let who = who.get(RUNNERS);
        let bytes = input(who.name, &[&text[..first], &text[first..second], &text[second..]]);
        let frames = frames_of(who, &bytes);
        let expected = escaped(&format!("{front}{before}[REDACTED:{name}]{}", text_after(name)), levels);
        let told = run_text(&frames);
        prop_assert!(agrees(who.name, &told, &expected), "{}: {told}", who.name);
        let out = redacted(who, DEFAULT, &bytes);
        prop_assert_eq!(leaks(&out, secret), None);
        // The result does not depend on the chunks.
        let chunks: Vec<&[u8]> = bytes.chunks(7).collect();
        prop_assert_eq!(run(redacting(who, &RULES), DEFAULT, &chunks, false), out);
    }
}

#[test]
fn a_secret_in_the_output_of_a_clients_own_command_is_found_at_any_cut() {
    let (_, before, secret) = SECRETS[2];
    let text = format!("Well: {before}{secret} end");
    for cut in 6..text.len() {
        let piece =
            |text: &str| format!("{{\"type\":\"bash_execution_update\",\"id\":\"b\",\"delta\":{}}}\n", quoted(text));
        let bytes = [piece(&text[..cut]), piece(&text[cut..])].concat();
        let out = redacted(runner("pi").unwrap(), RECORDS, bytes.as_bytes());
        assert_eq!(leaks(&out, secret), None, "cut at {cut}");
    }
}
