//! Redaction: removes secrets from a runner's output before anything else reads it.
//!
//! Input: the units of the input, one by one, with their arrival times. Output: the same units in the same order, and the
//! places that were redacted. A mark such as `[REDACTED:github-token]` replaces each secret. Redaction runs before the
//! decoder, so everything derived from a record (the frame's `data`, `raw` and `block`, texts, arguments, outputs, errors,
//! log lines, previews) is free of the secrets too.
//!
//! - **What is a secret**: [`rule_names`] lists the formats. The values of configured keys, in JSON or assigned in plain
//!   text, and the matches of configured patterns are secrets too. Encoded data (base64, gzip) is not searched. Escaped
//!   spellings are (`\u0067hp_…`, JSON in a string of JSON). If a string ends in the middle of what is certainly a secret,
//!   that part is redacted.
//! - **What is not changed**: everything else in the record, byte for byte. Values that a provider signed or sealed
//!   (`signature`, `encrypted_content`, and so on) stay as they are, and `token` in `logprobs` does not count as a secret
//!   key. If text of a record is redacted, its `logprobs` are emptied, because they repeat that text.
//! - **A secret in two pieces**: if a piece of a longer text ends in what may be the beginning of a secret, its unit and all
//!   later units wait for the next piece. The wait is bounded in bytes ([`Settings::hold_bytes`]) and in time
//!   ([`Settings::hold_ms`], or [`Settings::hold_secret_ms`] if the text looks like a secret; the caller calls
//!   [`Redactor::flush_due`] at [`Redactor::deadline`]). When a bound is reached, text that looks like a secret is redacted,
//!   and so is its continuation. A mere prefix of a format (`gh`) is released, and its continuation is still redacted.
//!
//! Stages of a record: `prefilter` (tables of byte pairs; nearly all records stop here), `record` (the strings of the record;
//! `joined` connects those in array items), `text` (the formats of `formats`, the names of `keys`, and their values by
//! `carrier` and `plausible`). For pieces, `hold` and `channel` keep the state that the next piece is read with.
//!
//! Never: a decision that depends on how the input bytes were chunked (only units decide, and time where the caller passes
//! it), state that grows with the input, valid JSON that becomes invalid.

mod answers;
mod carrier;
mod channel;
mod class;
mod conversations;
mod ends;
mod escapes;
mod formats;
mod hold;
mod joined;
mod keys;
mod pattern;
mod pem;
mod pieces;
mod plausible;
mod pointer;
mod prefilter;
mod record;
mod samples;
mod sse;
mod stems;
mod tail;
#[cfg(test)]
mod tests;
mod text;
mod url;
mod value;
mod words;

pub use answers::words_of;
pub use conversations::Naming;
pub use ends::{Effect, Order, Said, Successive, identity};
pub use hold::{Redacted, Redactor};
pub use keys::DEFAULT_KEYS;
pub use pieces::Pieces;
pub use samples::samples;

use aho_corasick::AhoCorasick;
use keys::Keys;
use prefilter::Prefilter;
use std::ops::Range;
use std::sync::Arc;
use stems::Stems;
use text::{Literal, Prepared, finder};

/// What to redact, and how long a piece may wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Keys whose values are secrets. A `*` at the start matches any words before the rest.
    pub keys: Vec<String>,
    /// Additional patterns: the name that the mark shows, and a regular expression.
    pub patterns: Vec<(String, String)>,
    /// Names of rules to turn off.
    pub disabled: Vec<String>,
    /// How long a unit may wait for the next piece if a text ends in a possible prefix of a format, in milliseconds.
    pub hold_ms: u64,
    /// How long a unit may wait if the text looks like an incomplete secret, in milliseconds.
    pub hold_secret_ms: u64,
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
            hold_secret_ms: 3000,
            hold_bytes: 1 << 20,
        }
    }
}

/// What is wrong with [`Settings`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsError {
    /// The pattern of this name is invalid, with the reason.
    Pattern(String, String),
    /// No rule has this name.
    Rule(String),
    /// This key is too short.
    Key(String),
    /// All keys and formats together exceed the limits of the search, with the reason.
    TooLarge(String),
}

impl std::fmt::Display for SettingsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pattern(name, why) => write!(f, "the pattern {name:?} {why}"),
            Self::Rule(name) => write!(f, "there is no rule {name:?}; `framegate rules` lists all rules"),
            Self::Key(key) => write!(f, "{key:?} is not a key: use at least three letters"),
            Self::TooLarge(why) => write!(f, "the keys are too many to search for: {why}"),
        }
    }
}

impl std::error::Error for SettingsError {}

/// The name of the rule for keys in JSON.
const KEY_RULE: &str = "key";
/// The name of the rule for keys in plain text.
const ASSIGNMENT_RULE: &str = "assignment";
/// The name of the rule for `logprobs`, which repeat a redacted text token by token.
const LOGPROBS: &str = "logprobs";

/// The built-in rules, each with a description of what it finds. One name may cover several formats.
pub fn rule_names() -> impl Iterator<Item = (&'static str, &'static str)> + Clone {
    let mut last = None;
    // Formats with the same description are adjacent in the table.
    let formats =
        formats::all().map(|format| (format.name, format.about)).filter(move |row| last.replace(*row) != Some(*row));
    formats.chain([
        (KEY_RULE, "values of the configured keys"),
        (
            ASSIGNMENT_RULE,
            "values assigned to a configured key in text: NAME=…, name: …, --name …, ?name=…, name = \"…\"",
        ),
    ])
}

/// The compiled rules. Cheap to share, expensive to create.
pub struct Rules {
    settings: Settings,
    names: Vec<String>,
    key_rule: usize,
    logprobs_rule: usize,
    assignment_rule: usize,
    /// Whether to search for keys in JSON, and in plain text.
    in_json: bool,
    in_text: bool,
    keys: Keys,
    /// The enabled formats. The index of a format is also the number of its rule.
    formats: Vec<Prepared>,
    stems: Stems,
    /// Finds the literals. Its pattern numbers are indexes of `literals` and `spellings`.
    finder: AhoCorasick,
    literals: Vec<Literal>,
    spellings: Vec<String>,
    patterns: Vec<(usize, regex::bytes::Regex)>,
    prefilter: Prefilter,
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Rules {
    /// Compiles the settings.
    ///
    /// # Errors
    /// The first invalid setting, by its name.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        for name in &settings.disabled {
            if !rule_names().any(|(known, _)| known == name) {
                return Err(SettingsError::Rule(name.clone()));
            }
        }
        let is_on = |name: &str| !settings.disabled.iter().any(|disabled| disabled == name);
        let formats: Vec<Prepared> = formats::all().filter(|format| is_on(format.name)).map(Prepared::new).collect();
        let mut names: Vec<String> = formats.iter().map(|prepared| prepared.format.name.to_owned()).collect();
        let (key_rule, logprobs_rule, assignment_rule) = (names.len(), names.len() + 1, names.len() + 2);
        names.extend([KEY_RULE.to_owned(), LOGPROBS.to_owned(), ASSIGNMENT_RULE.to_owned()]);
        let mut patterns = Vec::new();
        for (name, pattern) in &settings.patterns {
            patterns.push((names.len(), own_pattern(name, pattern)?));
            names.push(name.clone());
        }
        if let Some(key) = settings.keys.iter().find(|key| key.trim_matches(|c: char| !c.is_alphanumeric()).len() < 3) {
            return Err(SettingsError::Key(key.clone()));
        }
        let (in_json, in_text) = (is_on(KEY_RULE), is_on(ASSIGNMENT_RULE));
        let wanted = if in_json || in_text { settings.keys.as_slice() } else { &[] };
        let keys = Keys::new(wanted.iter().map(String::as_str));
        let names_of_keys = keys.literals();
        let (mut literals, mut spellings) = (Vec::new(), Vec::new());
        for (nth, prepared) in formats.iter().enumerate() {
            literals.extend(prepared.format.stems.iter().map(|_| Literal::Format(nth)));
            spellings.extend(prepared.format.stems.iter().map(|stem| (*stem).to_owned()));
        }
        literals.extend(names_of_keys.iter().map(|_| Literal::Key));
        spellings.extend(names_of_keys.iter().cloned());
        let too_large = SettingsError::TooLarge;
        let finder = finder(&spellings).map_err(|error| too_large(error.to_string()))?;
        let prefilter = Prefilter::new(formats.iter(), &keys, in_text).map_err(too_large)?;
        let stems = Stems::new(formats.iter());
        Ok(Self {
            settings,
            names,
            key_rule,
            logprobs_rule,
            assignment_rule,
            in_json,
            in_text,
            keys,
            formats,
            stems,
            finder,
            literals,
            spellings,
            patterns,
            prefilter,
        })
    }

    /// The settings that these rules were made from.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The names of the rules as marks show them. Those of the settings' own patterns are last.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The mark that replaces a secret.
    fn mark(&self, rule: usize) -> String {
        format!("[REDACTED:{}]", self.names.get(rule).map_or("secret", String::as_str))
    }

    /// Whether a rule is that of a format with a fixed form.
    fn is_format(&self, rule: usize) -> bool {
        self.formats.get(rule).is_some_and(|prepared| prepared.format.is_exact())
    }

    /// The text that replaces a range. `None` if it is only removed.
    fn word(&self, with: With, rule: usize) -> Option<String> {
        match with {
            With::Mark => Some(self.mark(rule)),
            With::Quoted(times) => {
                let quote = format!("{}\"", "\\".repeat((1 << times.min(escapes::LEVELS)) - 1));
                Some(format!("{quote}{}{quote}", self.mark(rule)))
            }
            With::EmptyList => Some("[]".to_owned()),
            With::Nothing => None,
        }
    }

    /// Applies edits to a payload. Sorts them by their places.
    fn apply(&self, payload: &[u8], edits: &mut [Edit]) -> Vec<u8> {
        edits.sort_by_key(|edit| (edit.place.start, usize::MAX - edit.place.end));
        let (mut out, mut done) = (Vec::with_capacity(payload.len()), 0);
        for edit in edits {
            if edit.place.start >= done {
                out.extend_from_slice(payload.get(done..edit.place.start).unwrap_or_default());
                out.extend_from_slice(self.word(edit.with, edit.rule).unwrap_or_default().as_bytes());
            }
            // An edit that overlaps the previous one extends it.
            done = done.max(edit.place.end);
        }
        out.extend_from_slice(payload.get(done..).unwrap_or_default());
        out
    }
}

/// Compiles a pattern of the settings.
fn own_pattern(name: &str, pattern: &str) -> Result<regex::bytes::Regex, SettingsError> {
    let wrong = |why: String| SettingsError::Pattern(name.to_owned(), why);
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if name.is_empty() || name.len() > 64 || !name.bytes().all(is_name_byte) {
        let why = "has an invalid name: use at most 64 letters, digits, - and _";
        return Err(wrong(why.to_owned()));
    }
    let regex = regex::bytes::RegexBuilder::new(pattern)
        .size_limit(1 << 20)
        .build()
        .map_err(|error| wrong(format!("is not a valid regular expression: {error}")))?;
    if regex.is_match(b"") { Err(wrong("matches the empty text".to_owned())) } else { Ok(regex) }
}

/// What replaces a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum With {
    Mark,
    /// For a number: the mark in quotes that are escaped this many times.
    Quoted(usize),
    /// Nothing: the mark is in another place.
    Nothing,
    EmptyList,
}

impl With {
    /// Adapts to a text at its first level, where quotes are not escaped.
    fn at_first_level(self) -> Self {
        match self {
            Self::Quoted(level) => Self::Quoted(level - 1),
            _ => self,
        }
    }

    /// Adapts to a text that is escaped `more` times more.
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
