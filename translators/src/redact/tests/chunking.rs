//! However a text is cut into pieces, the redacted text is the same.

use super::*;
use crate::framing::Unit;
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};

static ALL: LazyLock<Arc<Rules>> = LazyLock::new(|| Arc::new(Rules::new(Settings::default()).unwrap()));

const TABLE: &[Pieces] = &[Pieces { parent: &[], leaves: &[&["delta"]], above: &[], order: Order::Parallel }];

/// The redacted text of the pieces. With `is_slow`, the wait after each piece is too long, so everything is flushed.
fn redacted(pieces: &[&str], is_slow: bool) -> String {
    let mut redactor = Redactor::new(ALL.clone(), TABLE);
    let mut out = String::new();
    let mut sink = |redacted: Redacted<'_>| {
        let record: serde_json::Value = serde_json::from_slice(redacted.unit.payload).unwrap();
        out.push_str(record["delta"].as_str().unwrap());
    };
    for piece in pieces {
        let record = serde_json::json!({"id": 1, "delta": piece}).to_string();
        let bytes = record.as_bytes();
        let form = crate::framing::Form::Line;
        let unit = Unit { bytes, payload: bytes, event_name: None, offset: 0, oversized: None, cut: false, form };
        redactor.unit(&unit, 0, &mut sink);
        if is_slow {
            redactor.flush(&mut sink);
        }
    }
    redactor.flush(&mut sink);
    assert!(redactor.deadline().is_none(), "nothing waits any more");
    out
}

/// The text in a JSON string, in one of three spellings.
fn wrapped(text: &str, spelling: usize) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    let plain = quoted.trim_start_matches('"');
    let inner = &quoted[1..quoted.len() - 1];
    assert!(plain.len() <= inner.len() + 2);
    match spelling {
        0 => format!("{{\"cmd\":\"{inner}\",\"n\":1}}"),
        1 => format!("{{\"cmd\": \"{}\"}}", inner.replace('/', "\\/")),
        _ => {
            let ascii: String = inner
                .chars()
                .map(|char| match char {
                    '_' | '-' | '=' | '@' | 'g' => format!("\\u{:04x}", u32::from(char)),
                    char if char.is_ascii() => char.to_string(),
                    char => {
                        let mut units = [0; 2];
                        char.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04X}")).collect()
                    }
                })
                .collect();
            format!("{{\"cmd\":\"{ascii}\"}}")
        }
    }
}

const BODY: &str = "q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX";

/// Texts with a secret, each with the part that must be redacted.
fn secrets() -> Vec<(String, String)> {
    let pem = format!("{BODY}{BODY}\n{BODY}+/{BODY}==");
    let jwt = format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{BODY}");
    [
        (format!(" ghp_{BODY} "), BODY),
        (format!("\nghp_{BODY}\n"), BODY),
        (format!("\nsk-ant-api03-{BODY}\n"), BODY),
        (format!("\r\nrk_live_{BODY}\""), BODY),
        (format!("\tnpm_{BODY}\t"), BODY),
        ("\n\nAKIAQ7ZK2MVXP4TWJ8RB\n".to_owned(), "AKIAQ7ZK2MVXP4TWJ8RB"),
        (format!("\n{jwt}\n"), &jwt[20..]),
        (format!("\n-----BEGIN RSA PRIVATE KEY-----\n{pem}\n-----END RSA PRIVATE KEY-----\n"), BODY),
        ("\ngit clone https://joe:q7Zk%Vx-2m@host/x\n".to_owned(), "q7Zk%Vx-2m"),
        ("\nDB_PASSWORD=\"q7ZkVx2m/9pp\" && x\n".to_owned(), "q7ZkVx2m/9pp"),
        ("\nDB_PASSWORD=q7ZkVx2m/9pp\n".to_owned(), "q7ZkVx2m/9pp"),
        ("\nexport API_TOKEN='q7ZkVx2m/9pp'\n".to_owned(), "q7ZkVx2m/9pp"),
        ("\ntoken: q7ZkVx2m9pp\nE".to_owned(), "q7ZkVx2m9pp"),
        ("\n- password: \"q7ZkVx2m9pp\"\n".to_owned(), "q7ZkVx2m9pp"),
        ("\n{\"api_key\": \"q7Zk\\\"Vx/2m\\\\9pp\", \"n\": 1}\n".to_owned(), "q7Zk"),
        ("\n{\"a\":1,\"password\":\n\"q7 Zk Vx2m9pp\"}\n".to_owned(), "Vx2m9pp"),
        ("\n{\"password\": [\"q7ZkVx2m9pp\", 17, true], \"n\": 1}\n".to_owned(), "q7ZkVx2m9pp"),
        ("\n{\"token\": 91827364554, \"n\": 1}\n".to_owned(), "91827364554"),
        (
            "\n{\"secret\":{\"v\":[{\"w\":\"q7Zk\\\"Vx2m9pp\"}],\"type\":\"string\",\"x\":-7.5e3}}\n".to_owned(),
            "Vx2m9pp",
        ),
        ("\ncurl -H \"Authorization: Bearer q7Zk/Vx2m+9pp==\" x\n".to_owned(), "q7Zk/Vx2m+9pp"),
        ("\n//registry.npmjs.org/:_authToken=q7Zk/Vx2m9pp\n".to_owned(), "q7Zk/Vx2m9pp"),
        (format!("\u{1b}[32mghp_{BODY}\u{1b}[0m"), BODY),
        (format!("\u{1b}[38;5;196msk-ant-api03-{BODY}\u{1b}[m"), BODY),
        (format!("\\x1b[1;32mghp_{BODY}\\x1b[0m"), BODY),
        (format!("\\033[0mglpat-{BODY}\\033[0m"), BODY),
        (format!("\\e[mrk_live_{BODY}\\e[0m"), BODY),
        (format!("\u{1b}[1m{jwt}\u{1b}[0m"), &jwt[20..]),
        ("\u{1b}[36mDB_PASSWORD=q7ZkVx2m/9pp\u{1b}[0m".to_owned(), "q7ZkVx2m/9pp"),
        ("\nAWS_SECRET_ACCESS_KEY=wJq7rXUtnFEMI/K7MDENG/bPxRfiCYzT3vLm9pQs\n".to_owned(), "FEMI/K7MDENG/bPx"),
    ]
    .map(|(text, gone)| (text, gone.to_owned()))
    .to_vec()
}

/// Text with secrets, and with many characters that are escaped in a string.
fn text() -> impl Strategy<Value = String> {
    let filler = prop::sample::select(
        &[
            "a",
            "an",
            "in",
            "fn n",
            "réf",
            "😀",
            "\n",
            "\n\n",
            "\t",
            "\"",
            "\\",
            "\\\\",
            "/",
            "C:\\new\\",
            "[",
            "[3",
            "\u{1b}[32m",
            "\\e[0m",
            "\\n",
            " ",
            " x ",
            "{",
            "}",
            ".",
            ": ",
        ][..],
    );
    let part = prop_oneof![
        4 => filler.prop_map(str::to_owned),
        1 => any::<prop::sample::Index>().prop_map(|at| at.get(&secrets()).0.clone()),
    ];
    prop::collection::vec(part, 1..10).prop_map(|parts| parts.concat())
}

fn cut<'t>(text: &'t str, cuts: &[f64]) -> Vec<&'t str> {
    let mut places: Vec<usize> = cuts.iter().map(|part| (text.len() as f64 * part) as usize).collect();
    places.sort_unstable();
    let mut pieces = Vec::new();
    let mut rest = text;
    for place in places.into_iter().rev() {
        let place = (0..=place.min(rest.len())).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or_default();
        let (front, back) = rest.split_at(place);
        pieces.insert(0, back);
        rest = front;
    }
    pieces.insert(0, rest);
    pieces
}

fn each_char(text: &str) -> Vec<&str> {
    text.char_indices().map(|(at, char)| &text[at..at + char.len_utf8()]).collect()
}

fn wrap(text: &str, spellings: &[usize]) -> String {
    spellings.iter().fold(text.to_owned(), |text, spelling| wrapped(&text, *spelling))
}

#[test]
fn every_secret_is_redacted_at_every_level_and_cut() {
    let levels: &[&[usize]] = &[&[], &[0], &[1], &[2], &[0, 0], &[0, 1], &[1, 0], &[2, 0], &[0, 2], &[0, 0, 0]];
    for (secret, gone) in secrets() {
        for spellings in levels {
            let text = wrap(&format!("a{secret}b c"), spellings);
            let whole = redacted(&[&text], false);
            assert!(whole.contains("[REDACTED:") && !whole.contains(&gone), "{spellings:?} {text}\n{whole}");
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let (front, back) = text.split_at(at);
                assert_eq!(redacted(&[front, back], false), whole, "{spellings:?} cut: {front}|{back}");
            }
            assert_eq!(redacted(&each_char(&text), false), whole, "{spellings:?} {text}");
        }
    }
}

/// Texts in which one secret contains another.
fn two_in_one() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (secret, gone) in secrets() {
        let bare = secret.trim_matches(|char: char| char.is_whitespace() || char == '"');
        if bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)) {
            all.push((format!("clone https://{bare}:hunter2pass9@github.com/x "), "hunter2pass9".to_owned()));
            all.push((format!("clone https://joe:{bare}-hunter2pass9@github.com/x "), "hunter2pass9".to_owned()));
        }
        for front in ["", "[", "[\"a\", {\"type\": "] {
            let quoted = serde_json::Value::from(format!("{bare}-hunter2pass9")).to_string();
            all.push((format!("cfg {{\"password\": {front}{quoted}, 1 x"), "hunter2pass9".to_owned()));
            let quoted = serde_json::Value::from(format!("x{secret} hunter2 pass9")).to_string();
            all.push((format!("cfg {{\"password\":{front}{quoted}"), gone.clone()));
        }
    }
    all
}

#[test]
fn overlapping_secrets_are_both_redacted_at_every_cut() {
    for (text, gone) in two_in_one() {
        for spellings in [&[][..], &[0], &[0, 0], &[2, 0]] {
            let text = wrap(&text, spellings);
            let whole = redacted(&[&text], false);
            assert!(!whole.contains(&gone), "{spellings:?} {text}\n{whole}");
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let (front, back) = text.split_at(at);
                assert_eq!(redacted(&[front, back], false), whole, "{spellings:?} cut: {front}|{back}");
            }
            assert_eq!(redacted(&each_char(&text), false), whole, "{spellings:?} {text}");
        }
    }
}

#[test]
fn redacted_json_stays_json_at_every_level() {
    let inner = r#"{"password":["q7Zk",17128435],"token":91827364554,"secret":{"a":{"b":true,"c":["Vx2m9pp"]},"type":"string"},"n":1}"#;
    let expected = r#"{"password":["[REDACTED:key]","[REDACTED:key]"],"token":"[REDACTED:key]","secret":{"a":{"b":true,"c":["[REDACTED:key]"]},"type":"string"},"n":1}"#;
    for spellings in [&[][..], &[0], &[0, 0]] {
        let text = wrap(inner, spellings);
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let (front, back) = text.split_at(at);
            assert_eq!(redacted(&[front, back], false), wrap(expected, spellings), "{front}|{back}");
        }
        let record = serde_json::json!({"id": 1, "text": text}).to_string();
        let edits = super::record::look(&ALL, record.as_bytes(), None).edits;
        assert_eq!(edits.len(), 4);
    }
}

#[test]
fn a_value_extends_to_its_closing_quote() {
    let long = "密é".repeat(30_000);
    for (front, back) in [
        (format!("{{\"secret\": \"a{}", &long[..10]), format!("b{long}\" end")),
        (format!("{{\"secret\": [\"a{}", &long[..10]), format!("b{long}\", \"q7Zk\"] end")),
        ("\nDB_PASSWORD=\"q7ZkVx2m".to_owned(), format!("{long}\" end")),
    ] {
        for pieces in [vec![front.as_str(), &back], [&[front.as_str()][..], &each_char(&back)].concat()] {
            for is_slow in [false, true] {
                let redacted = redacted(&pieces, is_slow);
                assert!(!redacted.contains('密') && !redacted.contains("q7Zk"), "{} bytes", redacted.len());
                assert!(redacted.ends_with(" end"), "{} bytes", redacted.len());
            }
        }
    }
    // The redaction of a URL password stops at its maximum length, after a whole character.
    let redacted = redacted(&["at http://joe:q7Zk", &long], true);
    assert!(redacted.contains("[REDACTED:url-password]") && redacted.ends_with('é'));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn cuts_do_not_change_the_result(
        text in text(), spellings in prop::collection::vec(0..3usize, 0..3), cuts in prop::collection::vec(0.0..1.0f64, 1..3),
    ) {
        let text = wrap(&text, &spellings);
        let whole = redacted(&[&text], false);
        prop_assert_eq!(redacted(&cut(&text, &cuts), false), whole.as_str(), "{:?}", cut(&text, &cuts));
        prop_assert_eq!(redacted(&each_char(&text), false), whole, "each char of {}", text);
    }
}
