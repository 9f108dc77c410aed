//! What a secret looks like: the rules that come with framegate, and the keys whose values are secrets.
//!
//! A rule begins with a literal that hardly anything else begins with; no rule guesses from how random a text looks.
//! Never: a rule without a name, for the name is what stands in the secret's place.

/// Which bytes a part of a secret is made of.
pub(super) type Class = fn(u8) -> bool;

/// One secret format.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// What it begins with, or what it is found by.
    pub(super) literals: &'static [&'static str],
    pub(super) shape: Shape,
}

/// How a secret goes on behind its literal.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// The literal begins the secret, and a body of one class follows.
    Token {
        class: Class,
        min: usize,
        max: usize,
        /// So many bytes of the body leave no doubt: where the text stops there, it is taken for the secret's beginning.
        sure: usize,
    },
    /// The secret is a value that stands behind the literal: separators, one of the words (if there are any), the value.
    After { words: &'static [&'static str], class: Class, min: usize, max: usize },
    /// A signed JSON Web Token.
    Jwt,
    /// A private key with its armour.
    Pem,
    /// The password in a URL.
    Url,
}

fn alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(super) fn dashed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// What a key's name is made of.
pub(super) fn name_byte(byte: u8) -> bool {
    dashed(byte) || byte == b'.'
}

fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

fn dotted(byte: u8) -> bool {
    dashed(byte) || byte == b'.'
}

fn token68(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
}

const fn token(class: Class, min: usize, max: usize, sure: usize) -> Shape {
    Shape::Token { class, min, max, sure }
}

/// The rules that come with framegate, in the order of the documentation.
pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "aws-access-key-id",
        about: "AWS access key ids",
        literals: &["AKIA", "ASIA", "ABIA", "ACCA"],
        shape: token(upper, 16, 16, 4),
    },
    Rule {
        name: "aws-secret-key",
        about: "AWS secret access keys behind the name of their setting",
        literals: &["secret_access_key", "aws_secret_access_key", "secretaccesskey", "awssecretaccesskey"],
        shape: Shape::After { words: &[], class: base64, min: 40, max: 40 },
    },
    Rule {
        name: "github-token",
        about: "GitHub tokens",
        literals: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        shape: token(alnum, 36, 255, 1),
    },
    Rule {
        name: "github-token",
        about: "GitHub fine-grained tokens",
        literals: &["github_pat_"],
        shape: token(word, 36, 255, 1),
    },
    Rule { name: "gitlab-token", about: "GitLab tokens", literals: &["glpat-"], shape: token(dotted, 20, 255, 1) },
    Rule {
        name: "slack-token",
        about: "Slack tokens",
        literals: &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xapp-"],
        shape: token(dotted, 20, 255, 1),
    },
    Rule {
        name: "stripe-key",
        about: "Stripe secret and restricted keys",
        literals: &["sk_live_", "rk_live_", "sk_test_", "rk_test_"],
        shape: token(alnum, 16, 255, 1),
    },
    Rule { name: "google-api-key", about: "Google API keys", literals: &["AIza"], shape: token(dashed, 35, 35, 4) },
    Rule { name: "anthropic-key", about: "Anthropic keys", literals: &["sk-ant-"], shape: token(dashed, 20, 255, 1) },
    Rule {
        name: "openai-key",
        about: "OpenAI project, service and admin keys",
        literals: &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        shape: token(dashed, 20, 512, 1),
    },
    Rule { name: "openai-key", about: "OpenAI user keys", literals: &["sk-"], shape: token(alnum, 32, 255, 8) },
    Rule { name: "npm-token", about: "npm tokens", literals: &["npm_"], shape: token(alnum, 36, 36, 8) },
    Rule {
        name: "npm-token",
        about: "npm tokens in an .npmrc",
        literals: &["_authToken"],
        shape: Shape::After { words: &[], class: token68, min: 8, max: 512 },
    },
    Rule {
        name: "pypi-token",
        about: "PyPI tokens",
        literals: &["pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw"],
        shape: token(dashed, 40, 512, 1),
    },
    Rule { name: "jwt", about: "signed JSON Web Tokens", literals: &["eyJ"], shape: Shape::Jwt },
    Rule { name: "private-key", about: "PEM private keys", literals: &["-----BEGIN "], shape: Shape::Pem },
    Rule {
        name: "authorization",
        about: "credentials in an Authorization header",
        literals: &["authorization"],
        shape: Shape::After { words: &["bearer ", "basic ", "token "], class: token68, min: 6, max: 8192 },
    },
    Rule { name: "url-password", about: "passwords in URLs", literals: &["://"], shape: Shape::Url },
];

/// Keys whose values are secrets unless the settings say otherwise. `*_` at the front takes any words before it.
pub const DEFAULT_KEYS: &[&str] = &[
    "api_key",
    "*_api_key",
    "apikey",
    "authorization",
    "proxy_authorization",
    "password",
    "*_password",
    "passwd",
    "passphrase",
    "secret",
    "secret_key",
    "*_secret_key",
    "client_secret",
    "secret_access_key",
    "*_secret_access_key",
    "private_key",
    "*_private_key",
    "token",
    "access_token",
    "refresh_token",
    "id_token",
    "auth_token",
    "*_auth_token",
    "api_token",
    "*_api_token",
    "bearer_token",
    "session_token",
    "*_session_token",
    "cookie",
    "set_cookie",
];

/// Keys whose values are kept byte for byte whatever they look like: what the provider signed or sealed is worthless
/// once a byte of it is changed.
pub(super) const EXEMPT: &[&str] =
    &["signature", "thinking_signature", "thought_signature", "encrypted_content", "sha256", "integrity"];

/// What stands for the name of the rule about keys.
pub(super) const KEY_RULE: &str = "key";
/// The same for keys in plain text.
pub(super) const ASSIGNMENT_RULE: &str = "assignment";
/// The name of what goes together with a redacted text: the same tokens once more.
pub(super) const LOGPROBS: &str = "logprobs";

/// A key in one spelling: `apiKey`, `API-KEY` and `api_key` are the same.
pub(super) fn canonical(key: &str) -> String {
    let mut name = String::with_capacity(key.len() + 4);
    let mut was_small = false;
    for char in key.chars() {
        if char.is_ascii_uppercase() && was_small {
            name.push('_');
        }
        was_small = char.is_ascii_lowercase() || char.is_ascii_digit();
        match char {
            '-' | '.' | ' ' => name.push('_'),
            _ => name.push(char.to_ascii_lowercase()),
        }
    }
    name
}

/// The configured keys.
pub(super) struct Keys {
    whole: Vec<String>,
    ends: Vec<String>,
    /// The words that they are made of.
    words: Vec<String>,
}

impl Keys {
    pub(super) fn new<'k>(keys: impl Iterator<Item = &'k str>) -> Self {
        let mut this = Self { whole: Vec::new(), ends: Vec::new(), words: Vec::new() };
        for key in keys {
            match key.strip_prefix('*') {
                Some(end) => this.ends.push(canonical(end)),
                None => this.whole.push(canonical(key)),
            }
        }
        let words = this.whole.iter().chain(&this.ends).flat_map(|key| key.split('_')).filter(|word| !word.is_empty());
        this.words = words.map(str::to_owned).collect();
        this.words.sort_unstable();
        this.words.dedup();
        this
    }

    /// Whether a word of a key begins so.
    pub(super) fn has_word(&self, front: &[u8]) -> bool {
        self.words
            .iter()
            .any(|word| word.as_bytes().get(..front.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(front)))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.has_canonical(&canonical(key))
    }

    /// Whether a key in its one spelling is among them.
    pub(super) fn has_canonical(&self, name: &str) -> bool {
        self.whole.iter().any(|key| key == name) || self.ends.iter().any(|end| name.ends_with(end.as_str()))
    }

    /// What stands in every spelling of a key, before the quote behind it. Upper and lower case are not told apart.
    pub(super) fn literals(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for key in self.whole.iter().chain(&self.ends) {
            let mut spellings = vec![String::new()];
            for (at, part) in key.trim_start_matches('_').split('_').enumerate() {
                let joints: &[&str] = if at == 0 { &[""] } else { &["_", "-", ".", " ", ""] };
                // Of a key with very many words the last ones tell enough.
                if spellings.len() > 64 {
                    spellings = vec![String::new()];
                }
                spellings = spellings
                    .iter()
                    .flat_map(|front| joints.iter().map(move |joint| format!("{front}{joint}{part}")))
                    .collect();
            }
            all.extend(spellings);
        }
        all.sort();
        all.dedup();
        all
    }
}
