//! A secret for every rule, the spellings of a text with a secret, and how much of a secret an output may reveal.

use super::harness::has;
use framegate_translators::redact::{rule_names, samples};

pub const PEM: &str = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAt8Q1Zk9zVn3fYb5cXw2pLr7mJd0sGh4TqEuIoAvN6KxBiCyW\nq1w2e3r4t5y6u7i8o9p0Zk9zVn3fYb5cXw2pLr7mJd0s\n-----END RSA PRIVATE KEY-----";

/// A name, the text before the secret, and the secret.
pub const SECRETS: &[(&str, &str, &str)] = &[
    ("aws-access-key-id", "id ", "AKIAQ7ZK2MVXP4TWJ8RB"),
    ("aws-secret-key", "AWS_SECRET_ACCESS_KEY=", "wJq7rXUtnFEMIK7MDENGbPxRfiCYzT3vLm9pQs2d"),
    ("github-token", "use ", "ghp_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX"),
    ("github-token", "use ", "github_pat_11ABCDEFG0q7ZkVx2mPtWj_8RbYn4LcGs6HdFu1AeKi3QoXz9Tw"),
    ("gitlab-token", "use ", "glpat-q7ZkVx2mPtWj8RbYn4Lc"),
    ("slack-token", "use ", "xoxb-2847561093-5729184630-q7ZkVx2mPtWj8RbY"),
    ("stripe-key", "use ", "sk_live_q7ZkVx2mPtWj8RbYn4LcGs6H"),
    ("google-api-key", "use ", "AIzaq7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3Qo"),
    ("anthropic-key", "use ", "sk-ant-api03-q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX-z9Tw"),
    ("openai-key", "use ", "sk-proj-q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX"),
    ("openai-key", "use ", "sk-q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoXz9TwVb5Nm0Jh"),
    ("npm-token", "use ", "npm_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX"),
    ("npm-token", "//registry.npmjs.org/:_authToken=", "q7ZkVx2m-PtWj8RbYn4Lc"),
    ("pypi-token", "use ", "pypi-AgEIcHlwaS5vcmcq7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoXz9TwVb5Nm0Jh"),
    ("jwt", "use ", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX"),
    ("private-key", "key:\n", PEM),
    ("authorization", "curl -H 'Authorization: Bearer ", "q7ZkVx2mPtWj8RbYn4Lc"),
    ("authorization", "Authorization: Basic ", "dXNlcjpxN1prVngybVB0V2o4UmJZ"),
    ("url-password", "git clone https://anna:", "q7ZkVx2mPtWj8"),
    ("vendor-secret", "ALGOLIA_ADMIN=", concat!("q7zkvx2mptwj8rby", "n4lcgs6hdfu1aeki")),
    ("key", "{\"api_key\": \"", "q7ZkVx2mPtWj8RbY"),
    ("assignment", "run DB_PASSWORD=", "q7ZkVx2mPtWj8RbYn4Lc"),
    ("assignment", "\n  export API_TOKEN=\"", "q7ZkVx2mPtWj8RbYn4Lc"),
    ("assignment", "this:\n- password: ", "q7ZkVx2mPtWj8RbYn4Lc"),
];

/// The text that must follow for the secret to be recognised.
pub fn text_after(name: &str) -> &'static str {
    match name {
        "url-password" => "@example.com/x.git",
        "key" => "\"}",
        "authorization" => "' x",
        "assignment" => "\"\nand more",
        _ => " and more",
    }
}

pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// The text escaped as JSON inside JSON: the content of a string in a string, `levels` times.
pub fn escaped(text: &str, levels: usize) -> String {
    (0..levels).fold(text.to_owned(), |text, _| {
        let string = quoted(&text);
        string[1..string.len() - 1].to_owned()
    })
}

/// How often texts are escaped in addition to the escaping in their records.
pub const LEVELS: std::ops::RangeInclusive<usize> = 0..=2;

/// Finds a part of a secret's last two thirds that is longer than an output may reveal. Shorter parts are of no use to an
/// attacker.
pub fn leaks(out: &[u8], secret: &str) -> Option<String> {
    let body: Vec<char> = secret.chars().collect();
    let size = 8.min(body.len());
    let from = if body.len() > 24 { body.len() / 3 } else { 8.min(body.len() / 2) };
    let is_armour =
        |run: &str| ["BEGIN", "END"].iter().any(|word| format!("-----{word} RSA PRIVATE KEY-----").contains(run));
    let runs = body[from..].windows(size).map(|run| run.iter().collect::<String>());
    runs.into_iter().find(|run| !is_armour(run) && !run.contains('\n') && has(out, run))
}

#[test]
fn every_rule_has_a_sample() {
    for (name, _) in rule_names() {
        // `planted.rs` has the generated ones.
        let is_made = samples(1).iter().any(|(of, _)| *of == name);
        assert!(is_made || SECRETS.iter().any(|(of, _, _)| *of == name), "{name}");
    }
}
