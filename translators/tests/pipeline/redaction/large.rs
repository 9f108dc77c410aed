//! Redaction reads a text a fixed number of times, however often it contains the possible start of a secret. Each text here has
//! some megabytes. An algorithm that reads it once for each literal, or compares each secret with all others, would take more
//! than an hour for one of them.

use framegate_translators::framing::{Form, Unit};
use framegate_translators::redact::{Order, Pieces, Redactor, Rules, Settings, words_of};
use std::sync::{Arc, LazyLock};

const SIZE: usize = 2 << 20;

static RULES: LazyLock<Arc<Rules>> = LazyLock::new(|| Arc::new(Rules::new(Settings::default()).unwrap()));

const TABLE: &[Pieces] = &[Pieces { parent: &[], leaves: &[&["delta"]], above: &[], order: Order::Parallel }];

/// The redacted records, and the number of all redacted places.
fn redacted(records: &[String]) -> (Vec<Vec<u8>>, usize) {
    let mut redactor = Redactor::new(RULES.clone(), TABLE);
    let (mut out, mut told) = (Vec::new(), 0);
    let mut sink = |redacted: framegate_translators::redact::Redacted<'_>| {
        out.push(redacted.unit.payload.to_vec());
        told += redacted.paths.iter().map(String::len).sum::<usize>();
    };
    for record in records {
        let bytes = record.as_bytes();
        let unit =
            Unit { bytes, payload: bytes, event_name: None, offset: 0, oversized: None, cut: false, form: Form::Line };
        redactor.unit(&unit, 0, &mut sink);
    }
    redactor.flush(&mut sink);
    assert_eq!(out.len(), records.len());
    (out, told)
}

/// The text as a record, as a piece, and as a line that is not JSON. Returns the sizes of the outputs.
fn each_way(text: &str) -> [usize; 3] {
    let quoted = serde_json::Value::from(text).to_string();
    [format!("{{\"text\":{quoted}}}"), format!("{{\"id\":1,\"delta\":{quoted}}}"), format!("x {text}")].map(|record| {
        let (out, _) = redacted(&[record]);
        out.iter().map(Vec::len).sum()
    })
}

fn filled(part: &str) -> String {
    part.repeat(SIZE / part.len())
}

#[test]
fn many_possible_starts_of_secrets_are_read_once() {
    for part in [
        "token",
        "token_",
        "-eyJ",
        "sk-ant-",
        "sk-proj-sk-ant-",
        "xoxb-",
        "_authToken=",
        "authorization=bearer ",
        "authorization:",
        "secret_access_key",
        "://a:b",
        "://",
        "a://b@",
        "TOKEN=",
        "--token ",
        "?token=",
        "'token': '",
        "<token>",
        "login a password ",
        "jira_",
        "jira: ",
        "hooks.slack.com/services/T",
        "https://a:b@",
        "-----BEGIN PRIVATE KEY-----\nq7ZkVx2mPtWj8RbYn4Lc\n",
        "1:AA",
        "0123456789abcdef",
        "TOKEN=\"",
        "TOKEN='a",
        "\ntoken= ",
        "\ntoken: \"",
        "\"token\"",
        "\"token\":",
        "\"token\":\"",
        "\"token\":\"\\",
        "\\\"token\\\":\\\"",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n\\",
        "-----BEGIN ",
        "-----END ",
        "\\",
        "\"",
        "\\u0067",
        "\\u001b[1m",
        "[1;",
        "{\"token\":",
        "[",
    ] {
        let sizes = each_way(&filled(part));
        assert!(sizes.iter().all(|size| *size > 0), "{part}: {sizes:?}");
    }
    // One header before many ends, and one end after many headers.
    each_way(&format!("{}.eyJ{}", filled("-eyJ"), "a".repeat(SIZE)));
    each_way(&filled(&format!("{}.eyJ{}.", "-eyJ".repeat(999), "a".repeat(9999))));
    each_way(&format!("{}{}\"", filled("-----BEGIN PRIVATE KEY-----\n"), filled("\\")));
    each_way(&filled(&format!("{}-----END {}", "-----BEGIN PRIVATE KEY-----\n".repeat(999), "A".repeat(9999))));
}

#[test]
fn unterminated_secrets_are_read_and_reported_once() {
    let token = "ghp_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX ";
    for part in [token, "\"token\":\"q7ZkVx2m\",", "PIN_TOKEN=q7ZkVx2m ", "a://b:c@d "] {
        let text = filled(part);
        assert!(each_way(&text).iter().all(|size| *size > 0 && *size != text.len()), "{part}");
    }
}

#[test]
fn the_reported_paths_of_a_record_are_bounded() {
    let long = "a".repeat(SIZE / 4);
    for record in [
        format!("{{\"token\":[{}7128435]}}", filled("7128435,")),
        format!(
            "{{\"token\":{}{}7128435{}}}",
            "[".repeat(SIZE / 8),
            "7128435,".repeat(SIZE / 16),
            "]".repeat(SIZE / 8)
        ),
        format!("{{\"{long}\":{{\"token\":[{}7128435]}}}}", filled("7128435,")),
        format!("{{{}\"token\":7128435}}", filled("\"token\":7128435,")),
    ] {
        let (out, told) = redacted(&[record]);
        assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&out.concat()).is_ok() || record_is_deep(&out));
        assert!(!out.concat().windows(2).any(|two| two == b":7" || two == b",7" || two == b"[7"));
        assert!(told > 0 && told < 256 << 10, "{told} bytes of pointers");
    }
}

/// Deeper nesting than a parser without a depth limit survives.
fn record_is_deep(out: &[Vec<u8>]) -> bool {
    out.concat().windows(200).any(|window| window.iter().all(|byte| *byte == b'['))
}

#[test]
fn a_text_in_many_pieces_is_not_reread_with_each_piece() {
    // Text that waits, that may be the start of a secret for long, or that is open for long.
    for (front, part) in
        [("\"token\":", " "), ("-----BEGIN PRIVATE KEY-----", "a\n"), ("\"token\":\"", "aé"), ("eyJ", "a"), ("", "\\")]
    {
        let mut pieces = vec![front; 1];
        pieces.resize(40_000, part);
        let records: Vec<String> =
            pieces.iter().map(|piece| serde_json::json!({"id": 1, "delta": piece}).to_string()).collect();
        let (out, _) = redacted(&records);
        for record in out {
            serde_json::from_slice::<serde::de::IgnoredAny>(&record).unwrap();
        }
    }
}

#[test]
fn an_answer_with_many_possible_starts_is_read_once() {
    let told = words_of(Some(&RULES), &[], &[vec![filled("-eyJ")]]).unwrap();
    assert_eq!(told.len(), SIZE / 4 * 4);
}
