//! Redaction: no secret of a runner's output gets any further than the record that it came in.
//!
//! In: the units of the input, one by one, with the time they came at. Out: the same units in the same order, with a mark such
//! as `[REDACTED:github-token]` where a secret was, and the places of the marks. Since it stands before the decoder,
//! whatever is derived from a record (its frame's `data`, `raw` and `block`, texts, arguments, outputs, errors, log lines,
//! previews) is derived from what has no secret any more.
//!
//! - **What is a secret**: [`rule_names`] lists the formats; besides, the value of a configured key, in JSON or assigned in
//!   plain text, and what a configured pattern matches. What is encoded (base64, gzip) is not looked into. Escaped spellings
//!   count (`\u0067hp_…`, JSON in a string of JSON). A string that ends in the middle of what is certainly a secret ends in its
//!   mark.
//! - **What is not touched**: everything else of the record, byte for byte. What a provider signed or sealed (`signature`,
//!   `encrypted_content`, and so on) is left alone, and `token` in `logprobs` is no secret's key; but where a record's text was redacted,
//!   its `logprobs` are emptied, since they say the same text again.
//! - **A secret in two pieces**: where a piece of a longer text ends in what may be a secret's beginning, its unit waits,
//!   and all that follow wait behind it, until the next piece tells. Bounded in bytes ([`Settings::hold_bytes`]) and in time
//!   ([`Settings::hold_ms`]; the caller calls [`Redactor::flush`] at [`Redactor::deadline`]), and by any unit that is no piece. When
//!   the bound comes first, a tail that is certainly a secret's beginning is redacted, and so is what goes on with it; a
//!   tail that is only the front of a format's name (`gh`) is let go, and what goes on with it is still redacted.
//!
//! Never: a decision that depends on how the bytes of the input were cut (units decide; time does, where the caller says so), a
//! state that grows with the input, JSON that is none afterwards.

mod answers;
mod armour;
mod assigned;
mod channel;
#[cfg(test)]
mod cuts;
mod glance;
mod hold;
mod levels;
mod pieces;
mod record;
mod rules;
mod seen;
mod shape;
mod sieve;
mod text;
mod value;
mod way;
mod words;

pub use answers::words_of;
pub use hold::{Redacted, Redactor};
pub use pieces::Pieces;
pub use rules::DEFAULT_KEYS;

use aho_corasick::AhoCorasick;
use glance::worth_a_look;
use rules::{ASSIGNMENT_RULE, KEY_RULE, Keys, LOGPROBS, RULES, Shape};
use sieve::Sieve;
use std::ops::Range;
use std::sync::Arc;
use text::{Front, Literal, finder};

/// What is redacted, and how long a piece may wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Keys whose values are secrets; a `*` at the front takes any words before it.
    pub keys: Vec<String>,
    /// More formats: the name that stands in the secret's place, and a regular expression.
    pub patterns: Vec<(String, String)>,
    /// Names of rules that are not to be used.
    pub disabled: Vec<String>,
    /// How long a unit may wait for the next piece, in milliseconds.
    pub hold_ms: u64,
    /// How many bytes of units may wait.
    pub hold_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            keys: DEFAULT_KEYS.iter().map(|key| (*key).to_owned()).collect(),
            patterns: Vec::new(),
            disabled: Vec::new(),
            hold_ms: 50,
            hold_bytes: 1 << 20,
        }
    }
}

/// What is wrong with [`Settings`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsError {
    /// The pattern of this name cannot be used, and why.
    Pattern(String, String),
    /// There is no rule of this name.
    Rule(String),
    /// This key is none that can be looked for.
    Key(String),
}

impl std::fmt::Display for SettingsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pattern(name, why) => write!(f, "the pattern {name:?} {why}"),
            Self::Rule(name) => {
                let known: Vec<&str> = rule_names().map(|(name, _)| name).collect();
                write!(f, "there is no rule {name:?} (rules: {})", known.join(", "))
            }
            Self::Key(key) => write!(f, "{key:?} names no key: it needs three letters or more"),
        }
    }
}

impl std::error::Error for SettingsError {}

/// The rules that come with framegate, each with what it finds; a name may stand for several formats.
pub fn rule_names() -> impl Iterator<Item = (&'static str, &'static str)> + Clone {
    RULES.iter().map(|rule| (rule.name, rule.about)).chain([
        (KEY_RULE, "values of the configured keys"),
        (
            ASSIGNMENT_RULE,
            "values assigned to a configured key in plain text: NAME=…, or a line that begins with the key",
        ),
    ])
}

/// What is redacted, made ready for use. Cheap to share, dear to make.
pub struct Rules {
    settings: Settings,
    names: Vec<String>,
    key_rule: usize,
    logprobs_rule: usize,
    assignment_rule: usize,
    /// Whether keys are looked for in JSON, and in plain text.
    in_json: bool,
    in_text: bool,
    keys: Keys,
    /// Finds the literals; the numbers of its patterns are those of `literals` and `spellings`.
    finder: AhoCorasick,
    literals: Vec<Literal>,
    spellings: Vec<String>,
    /// The fronts of literals by their last byte.
    fronts: Vec<Vec<Front>>,
    patterns: Vec<(usize, regex::bytes::Regex)>,
    /// Finds what makes a record worth a look: the literals first, then what hides them.
    sieve: Sieve,
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// What may hide a literal: ASCII that is spelt as an escape, and an escaped solidus.
const ESCAPES: &[&str] = &["\\u002", "\\u003", "\\u004", "\\u005", "\\u006", "\\u007", "\\/"];

/// What stands behind a key to which something is assigned in plain text; more than one blank may hide what comes.
const ASSIGNING: [&str; 7] = ["=", ":", " =", " :", "'", "  ", "\t"];

impl Rules {
    /// Makes the settings ready for use.
    ///
    /// # Errors
    /// The first setting that makes no sense, by its name.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        for name in &settings.disabled {
            if !rule_names().any(|(known, _)| known == name) {
                return Err(SettingsError::Rule(name.clone()));
            }
        }
        let is_on = |name: &str| !settings.disabled.iter().any(|disabled| disabled == name);
        let mut names: Vec<String> = RULES.iter().map(|rule| rule.name.to_owned()).collect();
        let (key_rule, logprobs_rule, assignment_rule) = (names.len(), names.len() + 1, names.len() + 2);
        names.extend([KEY_RULE.to_owned(), LOGPROBS.to_owned(), ASSIGNMENT_RULE.to_owned()]);
        let mut patterns = Vec::new();
        for (name, pattern) in &settings.patterns {
            let is_name = !name.is_empty()
                && name.len() <= 64
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
            if !is_name {
                let why = "has a name of other characters than letters, digits, - and _, or of more than 64";
                return Err(SettingsError::Pattern(name.clone(), why.to_owned()));
            }
            let regex = regex::bytes::RegexBuilder::new(pattern)
                .size_limit(1 << 20)
                .build()
                .map_err(|error| SettingsError::Pattern(name.clone(), format!("is no regular expression: {error}")))?;
            if regex.is_match(b"") {
                return Err(SettingsError::Pattern(name.clone(), "matches the empty text".to_owned()));
            }
            patterns.push((names.len(), regex));
            names.push(name.clone());
        }
        if let Some(key) = settings.keys.iter().find(|key| key.trim_matches(|c: char| !c.is_alphanumeric()).len() < 3) {
            return Err(SettingsError::Key(key.clone()));
        }
        let (in_json, in_text) = (is_on(KEY_RULE), is_on(ASSIGNMENT_RULE));
        let keys = if in_json || in_text {
            Keys::new(settings.keys.iter().map(String::as_str))
        } else {
            Keys::new([].into_iter())
        };
        let (mut literals, mut spellings, mut fronts) = (Vec::new(), Vec::new(), Vec::new());
        fronts.resize_with(256, Vec::new);
        for (rule, what) in RULES.iter().enumerate().filter(|(_, rule)| is_on(rule.name)) {
            let is_exact = matches!(what.shape, Shape::Token { .. } | Shape::Jwt);
            for literal in what.literals {
                literals.push(Literal::Rule { rule, shape: what.shape, is_exact });
                spellings.push((*literal).to_owned());
                add_fronts(&mut fronts, literal, is_exact, is_exact || matches!(what.shape, Shape::Pem));
            }
        }
        let mut scouted: Vec<String> = spellings.clone();
        for literal in keys.literals() {
            scouted.extend([format!("{literal}\""), format!("{literal}\\")]);
            if in_text {
                scouted.extend(ASSIGNING.map(|sign| format!("{literal}{sign}")));
            }
            literals.push(Literal::Key);
            spellings.push(literal);
        }
        scouted.extend(ESCAPES.iter().map(|escape| (*escape).to_owned()));
        let too_large = |error: aho_corasick::BuildError| SettingsError::Key(format!("(all of them): {error}"));
        let finder = finder(spellings.iter().map(String::as_bytes)).map_err(too_large)?;
        let sieve = Sieve::new(worth_a_look(&scouted, &literals).map_err(too_large)?);
        Ok(Self {
            settings,
            names,
            key_rule,
            logprobs_rule,
            assignment_rule,
            in_json,
            in_text,
            keys,
            finder,
            literals,
            spellings,
            fronts,
            patterns,
            sieve,
        })
    }

    /// The settings that these rules were made of.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The names of the rules, those of the settings' own patterns last: what marks may say.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// What stands in the place of a secret.
    fn mark(&self, rule: usize) -> String {
        format!("[REDACTED:{}]", self.names.get(rule).map_or("secret", String::as_str))
    }

    /// What stands in the place of something, where anything does.
    fn word(&self, with: With, rule: usize) -> Option<String> {
        match with {
            With::Mark => Some(self.mark(rule)),
            With::Quoted(times) => {
                let quote = format!("{}\"", "\\".repeat((1 << times.min(levels::LEVELS)) - 1));
                Some(format!("{quote}{}{quote}", self.mark(rule)))
            }
            With::EmptyList => Some("[]".to_owned()),
            With::Nothing => None,
        }
    }
}

fn add_fronts(fronts: &mut [Vec<Front>], literal: &str, is_token: bool, holds: bool) {
    for size in 1..literal.len() {
        let bytes: Box<[u8]> = literal.as_bytes().get(..size).unwrap_or_default().into();
        let Some(&last) = bytes.last() else { continue };
        let mut lasts = vec![last];
        if !is_token && last.is_ascii_alphabetic() {
            lasts.push(last ^ 0x20);
        }
        for last in lasts {
            let Some(list) = fronts.get_mut(usize::from(last)) else { continue };
            if !list.iter().any(|front| front.bytes == bytes && front.is_token == is_token) {
                list.push(Front { bytes: bytes.clone(), is_token, holds });
            }
        }
    }
}

/// What stands where a secret stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum With {
    Mark,
    /// Where there was a number: in quotes that are escaped so many times.
    Quoted(usize),
    /// The mark stands elsewhere.
    Nothing,
    EmptyList,
}

impl With {
    /// The same in a text that is escaped so many times more.
    fn escaped(self, more: usize) -> Self {
        match self {
            Self::Quoted(times) => Self::Quoted(times + more),
            _ => self,
        }
    }
}

/// One change to a unit's payload.
#[derive(Clone, Debug)]
struct Edit {
    place: Range<usize>,
    rule: usize,
    with: With,
    pointer: Arc<str>,
}
