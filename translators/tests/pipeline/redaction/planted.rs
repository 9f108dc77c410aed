//! Secrets of many kinds, planted in all places where runners' records contain text: whole, in two pieces cut anywhere, and at
//! a model's pace. All secrets are generated from random bytes; none is written down.

use super::timed;
use framegate_translators::redact::samples;
use serde_json::json;

/// A reproducible source of random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }

    /// Random text from an alphabet, which always contains digits and letters.
    fn text(&mut self, alphabet: &str, size: usize) -> String {
        let members = alphabet.as_bytes();
        loop {
            let text: String = (0..size).map(|_| char::from(members[self.below(members.len())])).collect();
            let turns =
                text.as_bytes().windows(2).filter(|two| two[0].is_ascii_digit() != two[1].is_ascii_digit()).count();
            if turns >= 4.min(size / 3) {
                return text;
            }
        }
    }
}

const ALNUM: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const HEX: &str = "0123456789abcdef";
const BASE64: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/";

/// A planted secret: its name, the text before it, the secret without the prefix of its kind, and the text after it.
struct Kind {
    name: &'static str,
    before: String,
    secret: String,
    after: &'static str,
}

/// Forty-three kinds: carriers of a password, and formats.
fn kinds(seed: u64) -> Vec<Kind> {
    let mut random = Random(seed | 1);
    let mut all = Vec::new();
    for (name, before, after) in [
        ("*_TOKEN=", "export DEPLOY_TOKEN=", "\n"),
        ("*_SECRET=", "run -e APP_SECRET=", " image"),
        ("PGPASSWORD=", "PGPASSWORD=", " psql -h db"),
        ("?access_token=", "GET https://api.example/v1/me?access_token=", "&page=2"),
        ("-H x-api-key", "curl -H 'x-api-key: ", "' https://api.example"),
        ("Bearer", "curl -H \"Authorization: Bearer ", "\" https://api.example"),
        ("--password=", "tool login --user joe --password=", " --force"),
        ("--token VALUE", "tool login --token ", " --force"),
        ("Password=…;", "Server=tcp:db;User ID=joe;Password=", ";Encrypt=true"),
        ("const apiKey", "const apiKey = '", "';"),
        ("{'token': …}", "cfg = {'user': 'joe', 'token': '", "'}"),
        ("jwt_secret", "server:\n  jwt_secret: ", "\n  port: 80"),
        ("accessKey", "{\"accessKey\": \"", "\", \"n\": 1}"),
        ("XML", "<user>joe</user><password>", "</password>"),
        ("define", "define('DB_PASSWORD', '", "');"),
        ("netrc", "machine a.example login joe password ", "\n"),
    ] {
        all.push(Kind { name, before: before.to_owned(), secret: random.text(ALNUM, 20), after });
    }
    let account = random.text(BASE64, 86) + "==";
    all.push(Kind {
        name: "AccountKey=",
        before: "AccountName=x;AccountKey=".into(),
        secret: account,
        after: ";EndpointSuffix=y",
    });
    for sign in ["@", "#", "/"] {
        let secret = format!("{}{sign}{}", random.text(ALNUM, 9), random.text(ALNUM, 8));
        all.push(Kind { name: "URL", before: "psql postgres://joe:".into(), secret, after: "@db.example:5432/app x" });
    }
    for (name, stem, alphabet, size) in [
        ("openrouter", "sk-or-v1-", HEX, 64),
        ("huggingface", "hf_", ALNUM, 34),
        ("google-oauth", "GOCSPX-", ALNUM, 28),
        ("gitlab", "glpat-", ALNUM, 20),
        ("gitlab-deploy", "gldt-", ALNUM, 20),
        ("gitlab-runner", "glrt-", ALNUM, 20),
        ("gitlab-trigger", "glptt-", HEX, 40),
        ("github", "ghp_", ALNUM, 36),
        ("aws", "AKIA", UPPER, 16),
        ("anthropic", "sk-ant-api03-", ALNUM, 90),
        ("openai", "sk-proj-", ALNUM, 80),
        ("stripe", "sk_live_", ALNUM, 24),
        ("npm", "npm_", ALNUM, 36),
        ("digitalocean", "dop_v1_", HEX, 64),
        ("shopify", "shpat_", HEX, 32),
        ("groq", "gsk_", ALNUM, 52),
        ("databricks", "dapi", HEX, 32),
        ("docker", "dckr_pat_", ALNUM, 27),
    ] {
        all.push(Kind { name, before: format!("use {stem}"), secret: random.text(alphabet, size), after: " for this" });
    }
    let sendgrid = format!("{}.{}", random.text(ALNUM, 22), random.text(ALNUM, 43));
    all.push(Kind { name: "sendgrid", before: "use SG.".into(), secret: sendgrid, after: " now" });
    let hook = format!("T{}/B{}/{}", random.text(UPPER, 9), random.text(UPPER, 9), random.text(ALNUM, 24));
    all.push(Kind {
        name: "slack-webhook",
        before: "POST https://hooks.slack.com/services/".into(),
        secret: hook,
        after: " now",
    });
    let jwt = format!("{}.eyJ{}.{}", random.text(ALNUM, 17), random.text(ALNUM, 40), random.text(ALNUM, 43));
    all.push(Kind { name: "jwt", before: "use eyJ".into(), secret: jwt, after: " now" });
    let lines: Vec<String> = (0..12).map(|_| random.text(BASE64, 64)).collect();
    for (name, joint) in [("pem", "\n"), ("pem with line numbers", "\n    12→")] {
        let begin = ["-----BEGIN RSA PRIVATE", " KEY-----"].concat();
        let before = format!("key:{joint}{begin}{joint}");
        all.push(Kind { name, before, secret: lines.join(joint), after: "\n-----END RSA PRIVATE KEY-----\n" });
    }
    all
}

/// The output for records that arrive at these times: the texts of pieces, and other records verbatim.
fn redacted(records: &[(u64, String)]) -> String {
    let said = |text: String| match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(record) if record["delta"].is_string() => record["delta"].as_str().unwrap().to_owned(),
        _ => text,
    };
    timed::redacted(records).into_iter().map(said).collect()
}

fn piece(text: &str) -> String {
    json!({"id": 1, "delta": text}).to_string()
}

/// Pieces of three to five bytes, every 90 ms.
fn at_a_models_pace(text: &str) -> Vec<(u64, String)> {
    let (mut records, mut rest, mut nth) = (Vec::new(), text, 0);
    while !rest.is_empty() {
        let size =
            (3 + nth % 3..).find(|size| *size >= rest.len() || rest.is_char_boundary(*size)).unwrap().min(rest.len());
        let (front, back) = rest.split_at(size);
        records.push((nth as u64 * 90, piece(front)));
        (rest, nth) = (back, nth + 1);
    }
    records
}

fn inner(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// A part of a secret that an output reveals: six bytes or more, at any position.
fn leak(out: &str, secret: &str) -> Option<String> {
    let chars: Vec<char> = secret.chars().collect();
    let runs = chars.windows(6).map(|run| run.iter().collect::<String>());
    runs.into_iter().find(|run| !run.contains(['\n', '→', ' ']) && out.contains(run.as_str()))
}

/// The text in eight places of a runner's records.
fn places(text: &str) -> Vec<(&'static str, Vec<(u64, String)>)> {
    let lines: Vec<String> = text.split('\n').map(|line| format!("+{line}")).collect();
    let args = json!({"command": text}).to_string();
    vec![
        ("text", vec![(0, json!({"type": "x", "text": text}).to_string())]),
        ("argument", vec![(0, json!({"type": "x", "input": {"command": text}}).to_string())]),
        ("argument in a string", vec![(0, json!({"type": "x", "arguments": args}).to_string())]),
        ("diff", vec![(0, json!({"type": "x", "structuredPatch": [{"lines": lines}]}).to_string())]),
        ("no JSON", vec![(0, format!("out: {}", text.replace('\n', "\\n")))]),
        (
            "snapshot in a list",
            vec![(0, json!({"type": "x", "content": [{"text": "Look:"}, {"text": text}]}).to_string())],
        ),
        ("a model's pace", at_a_models_pace(text)),
        ("a model's pace, arguments", at_a_models_pace(&args)),
    ]
}

#[test]
fn planted_secrets_are_found_at_every_position() {
    let (mut planted, mut found, mut missed) = (0, 0, Vec::new());
    for kind in kinds(7) {
        let text = format!(
            "Then {}{}{} and so on.",
            if kind.before.contains('\n') { "\n" } else { "" },
            kind.before,
            kind.secret.clone() + kind.after
        );
        for (place, records) in places(&text) {
            planted += 1;
            match leak(&redacted(&records), &kind.secret) {
                None => found += 1,
                Some(run) => missed.push(format!("{} in {place}: {run}", kind.name)),
            }
        }
    }
    assert_eq!(planted, 344);
    assert!(found >= 340, "{found} of {planted}:\n{}", missed.join("\n"));
}

#[test]
fn planted_secrets_are_found_in_any_chunking() {
    for kind in kinds(11) {
        let text = format!("Then {}{}{} and so on.", kind.before, kind.secret, kind.after);
        for text in [text.clone(), inner(&text)] {
            let whole = redacted(&[(0, piece(&text))]);
            assert_eq!(leak(&whole, &kind.secret), None, "{}: {whole}", kind.name);
            for cut in (1..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
                let (front, back) = text.split_at(cut);
                let out = redacted(&[(0, piece(front)), (0, piece(back))]);
                assert_eq!(out, whole, "{} cut at {front:?}", kind.name);
                // The second piece arrives too late: only the first bytes of a secret are visible.
                let out = redacted(&[(0, piece(front)), (9_000, piece(back))]);
                // The header of a web token is not secret.
                let tail: String = kind.secret.chars().skip(if kind.name == "jwt" { 26 } else { 12 }).collect();
                assert_eq!(leak(&out, &tail), None, "{} cut late at {front:?}: {out}", kind.name);
            }
        }
    }
}

#[test]
fn a_sample_of_each_format_is_found() {
    let mut missed = Vec::new();
    let mut count = 0;
    for seed in 1..4 {
        for (name, sample) in samples(seed) {
            count += 1;
            for (place, records) in places(&format!("It is {sample} and more")) {
                let out = redacted(&records);
                if out.contains(sample.as_str()) || !out.contains("[REDACTED:") {
                    missed.push(format!("{name} in {place}: {sample}\n  {out}"));
                }
            }
        }
    }
    assert!(count > 500, "{count} samples");
    assert!(missed.is_empty(), "{} missed\n{}", missed.len(), missed.join("\n"));
}
