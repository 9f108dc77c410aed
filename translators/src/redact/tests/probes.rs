//! The prefilter misses nothing: records that it does not mark have no secret and leave no state.

use super::*;
use proptest::prelude::*;
use std::sync::LazyLock;

static ALL: LazyLock<Rules> = LazyLock::new(|| {
    let keys = DEFAULT_KEYS.iter().map(|key| (*key).to_owned()).chain(["*_pin_code".to_owned(), "iban".to_owned()]);
    Rules::new(Settings { keys: keys.collect(), ..Settings::default() }).unwrap()
});

/// Text that often resembles a secret.
fn text() -> impl Strategy<Value = String> {
    let spelling = any::<prop::sample::Index>().prop_map(|at| at.get(&ALL.spellings).clone());
    let made = samples(3);
    let part = prop_oneof![
        4 => spelling.clone(),
        1 => spelling.clone().prop_map(|text| text.to_ascii_uppercase()),
        2 => (spelling, any::<prop::sample::Index>()).prop_map(|(text, at)| text[at.index(text.len())..].to_owned()),
        2 => any::<prop::sample::Index>().prop_map(move |at| at.get(&made).1.clone()),
        6 => "[a-z]{1,12}",
        3 => "[A-Za-z0-9]{36,44}",
        2 => "[A-Za-z]{3}[0-9]{3}[A-Z]{3}[0-9]{3}",
        8 => prop::sample::select(&["\"", "\\", "\":\"", "\\\"", " ", "_", "-", "--", ".", "/", ":", "=", ", ", "@", "\\n", "'", "?", "&", ";", "<", ">",
            "user:", "\\u00e9", "[", "[3", "2m", "\\u001b[32m", "\\u005b3\\u0032m"][..])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(part, 0..9).prop_map(|parts| parts.concat())
}

/// Names before blanks and a value: in prose, with joints, behind escapes and control sequences.
fn words_and_values() -> impl Strategy<Value = String> {
    let key =
        prop::sample::select(ALL.keys.all().map(|key| key.trim_start_matches('_').to_owned()).collect::<Vec<_>>());
    let name = prop_oneof![
        4 => key.clone(),
        2 => key.clone().prop_map(|key| key.to_ascii_uppercase()),
        2 => key.clone().prop_map(|key| key.get(..1).unwrap_or_default().to_ascii_uppercase() + key.get(1..).unwrap_or_default()),
        1 => key.prop_map(|key| key.replace('_', "-")),
    ];
    let before = prop::sample::select(
        &[
            "",
            " ",
            "\n",
            "\t",
            "\"",
            "\\",
            "/",
            "é",
            "\u{1b}[1m",
            "[32m",
            "db",
            "Db",
            "db_",
            "x.",
            "--",
            "-",
            "_",
            "x9",
            "login me ",
            "ENV ",
            "$",
            "f",
            "\\n",
            "\u{8}",
        ][..],
    );
    let value =
        prop_oneof!["[A-Za-z0-9]{12,20}", "[a-z]{5}[0-9]{4}[A-Z]{5}", "--[a-z]{4}-[a-z]{8}", "[A-Za-z0-9]{6,11}"];
    let one = (before.clone(), before, name, prop::sample::select(&[" ", "  ", "\t", "\n", ""][..]), value);
    let one = one.prop_map(|(a, b, name, gap, value)| format!("{a}{b}{name}{gap}{value}"));
    prop::collection::vec(one, 1..3).prop_map(|texts| texts.join(" "))
}

#[test]
fn part_of_a_key_before_a_blank_is_no_name() {
    let record = |text: &str| format!("{{\"a\":\"{text}\"}}");
    for text in ["Pass --max-findings to it", "the pass q7ZkVx2m99q7x", "a\\npass q7ZkVx2m99q7x"] {
        assert!(!ALL.is_suspect(record(text).as_bytes()), "{text}");
    }
    for name in ["db_pass", "dbPass", "DB.PASS", "x-db-pass", "sshpass", "\\nsshpass", "token", "\\ntoken", "[1mtoken"]
    {
        assert!(ALL.is_suspect(record(&format!("{name} q7ZkVx2m99q7x")).as_bytes()), "{name}");
    }
}

#[test]
fn a_blank_may_separate_a_name_from_an_escaped_quote() {
    let record = r#"{"d":["gitter \":\"aaa000AAA000aAA000AAA000JQQJ9"]}"#.as_bytes();
    assert!(!record::look(&ALL, record, None).edits.is_empty(), "the search takes it for an assignment");
    assert!(ALL.is_suspect(record));
}

#[test]
fn many_keys_take_the_smaller_automaton() {
    use aho_corasick::AhoCorasickKind::{ContiguousNFA, DFA};
    let literals = |bytes: usize| -> Vec<String> {
        let whole = (0..bytes / 16).map(|nth| format!("key-number-{nth:05}"));
        whole.chain((!bytes.is_multiple_of(16)).then(|| "k".repeat(bytes % 16))).collect()
    };
    for (bytes, kind, most) in [(16 << 10, DFA, 8 << 20), ((16 << 10) + 1, ContiguousNFA, 1 << 20)] {
        let finder = text::finder(&literals(bytes)).unwrap();
        assert_eq!(finder.kind(), kind, "{bytes}");
        assert!(finder.memory_usage() < most, "{bytes}: {}", finder.memory_usage());
        assert!(finder.is_match("a KEY-number-00007"));
    }
    assert_eq!(ALL.finder.kind(), DFA);
}

#[test]
fn a_token_over_several_strings_of_an_array_is_found_in_a_suspect_record() {
    let token = "ghp_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX";
    for cut in 1..token.len() {
        let (front, back) = token.split_at(cut);
        // Strings without an escape, and with one; the other key makes the record suspect.
        for line in ["", "\n"] {
            let record = format!("{{\"a\":[\"x{line} {front}\",\"{back}{line}\"],\"password\":\"q7ZkVx2m/9pp\"}}");
            let edits = record::look(&ALL, record.as_bytes(), None).edits;
            let places: Vec<&str> = edits.iter().map(|edit| &record[edit.place.clone()]).collect();
            assert_eq!(places, [front, back, "q7ZkVx2m/9pp"], "{record}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn text_that_the_prefilter_rejects_has_no_secret(text in text(), other in text()) {
        let record = serde_json::json!({"a": text, "b": {"c": other, "d": [text.clone() + &other]}}).to_string();
        let edits = record::look(&ALL, record.as_bytes(), None).edits;
        prop_assert!(ALL.is_suspect(record.as_bytes()) || edits.is_empty(), "{}: {:?}", record, edits);
    }

    #[test]
    fn a_string_that_the_prefilter_rejects_has_no_secret(text in text()) {
        let quoted = serde_json::Value::from(text).to_string();
        let inner = &quoted.as_bytes()[1..quoted.len() - 1];
        let hits = ALL.hits(&escapes::unescape(inner).0);
        prop_assert!(ALL.is_suspect(inner) || hits.is_empty(), "{}: {:?}", quoted, hits);
    }

    #[test]
    fn a_name_that_the_prefilter_rejects_has_no_secret(text in words_and_values()) {
        let record = serde_json::json!({"a": text, "d": [text, {"in": serde_json::json!({"b": text}).to_string()}]}).to_string();
        let edits = record::look(&ALL, record.as_bytes(), None).edits;
        prop_assert!(ALL.is_suspect(record.as_bytes()) || edits.is_empty(), "{}: {:?}", record, edits);
        let quoted = serde_json::Value::from(text).to_string();
        let inner = &quoted.as_bytes()[1..quoted.len() - 1];
        if !ALL.is_suspect(quoted.as_bytes()) && ALL.leaves_nothing(inner) {
            let finding = ALL.scan(&escapes::unescape(inner).0);
            prop_assert!(finding.hits.is_empty() && finding.tail.is_none(), "{}: {:?}", quoted, finding);
        }
    }

    #[test]
    fn text_without_an_open_match_is_not_remembered(text in text()) {
        // A piece is inside a JSON string, so a quote in it is escaped. A search reads the piece without its escapes.
        let text = text.replace('"', "\\\"");
        if !ALL.is_suspect(format!("{{\"delta\":\"{text}\"}}").as_bytes()) && ALL.leaves_nothing(text.as_bytes()) {
            let finding = ALL.scan(&escapes::unescape(text.as_bytes()).0);
            prop_assert!(finding.hits.is_empty() && finding.tail.is_none(), "{}: {:?}", text, finding);
        }
    }
}
