//! Reads tokens from files.
//!
//! Input: `server.token_file`, one secret with every scope; and `auth.tokens_file`, TOML that names tokens and says where
//! each secret is stored. Output: [`Tokens`], or an error with the file and the token's name. Never: a secret in the TOML
//! itself, which might be committed to a repository; a secret in a message.
//!
//! ```toml
//! [[token]]
//! name = "dashboard"
//! file = "dashboard.token"          # or env = "DASHBOARD_TOKEN"
//! scopes = ["read"]                 # ingest, read, control, admin
//! sessions = ["chat-1"]             # optional, like runs and runners: the token does not see anything else
//! ```

use super::{Caller, Restriction, Scope, Tokens};
use figment::providers::{Format, Toml};
use framegate_translators::runners::{RUNNERS, runner};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use uuid::Uuid;

/// The shortest secret of a named token, in bytes: shorter ones can be guessed.
const LEAST_SECRET: usize = 16;

/// Why tokens cannot be used: the setting or the file, and what would be valid. Never contains a secret.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct AuthError {
    place: String,
    message: String,
}

fn wrong(place: impl Into<String>, message: impl Into<String>) -> AuthError {
    AuthError { place: place.into(), message: message.into() }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    token: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    file: Option<PathBuf>,
    env: Option<String>,
    scopes: Vec<Scope>,
    #[serde(default)]
    sessions: Option<Vec<String>>,
    #[serde(default)]
    runs: Option<Vec<Uuid>>,
    #[serde(default)]
    runners: Option<Vec<String>>,
}

/// Adds the single token of `server.token_file`, with every scope.
///
/// # Errors
/// The file cannot be read, or does not contain a token.
pub fn read_one(path: &Path, tokens: &mut Tokens) -> Result<(), AuthError> {
    let place = "server.token_file";
    let secret = secret_in(path).map_err(|message| wrong(place, message))?;
    let caller = Caller::everything("token_file");
    tokens.add(&secret, caller).map_err(|twin| wrong(place, format!("has the same secret as the token {twin:?}")))
}

/// Adds the tokens that a file names. Relative paths in it start at its own folder; `environment` looks up variables.
///
/// # Errors
/// The first problem found.
pub fn read(path: &Path, environment: &dyn Fn(&str) -> Option<String>, tokens: &mut Tokens) -> Result<(), AuthError> {
    let shown = path.display().to_string();
    let place = || format!("auth.tokens_file, {shown}");
    let text = std::fs::read_to_string(path).map_err(|error| wrong(place(), format!("cannot be read: {error}")))?;
    // The parser quotes the line of the error, which may contain a secret pasted by mistake. Report only its number.
    let document: Document = Toml::from_str(&text).map_err(|error: <Toml as Format>::Error| {
        let line = error.span().and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count() + 1);
        let line = line.map(|line| format!(" in line {line}")).unwrap_or_default();
        wrong(place(), format!("is not a valid list of tokens{line}: {}", error.message()))
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    for entry in document.token {
        let place = format!("{}, token {:?}", place(), entry.name);
        let (secret, caller) =
            entry.into_caller(folder, environment).map_err(|message| wrong(place.clone(), message))?;
        tokens.add(&secret, caller).map_err(|twin| {
            wrong(place, format!("has the same name or secret as the token {twin:?}; both must be unique"))
        })?;
    }
    Ok(())
}

impl Entry {
    fn into_caller(
        self,
        folder: &Path,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(String, Caller), String> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(is_plain) {
            return Err(
                "the name must have 1 to 64 letters, digits, \"-\", \"_\" or \".\", because it appears in log lines"
                    .to_owned(),
            );
        }
        let secret = match (&self.file, &self.env) {
            (Some(file), None) => secret_in(&folder.join(file))?,
            (None, Some(name)) => {
                let text = environment(name).ok_or_else(|| format!("there is no environment variable {name}"))?;
                one_line(&text).ok_or_else(|| format!("{name} contains no valid token; {ONE_LINE}"))?.to_owned()
            }
            _ => return Err("must have exactly one of file and env, which say where the secret is".to_owned()),
        };
        if secret.len() < LEAST_SECRET {
            let detail =
                format!("the secret has fewer than {LEAST_SECRET} bytes; create one with `openssl rand -hex 32`");
            return Err(detail);
        }
        if self.scopes.is_empty() {
            let all = Scope::ALL.map(Scope::as_str).join(", ");
            return Err(format!("has no scopes and therefore no access; the scopes are {all}"));
        }
        // People read an empty list as "nothing"; a restriction reads it as "everything".
        let is_empty = |list: &Option<usize>| *list == Some(0);
        let lists = [
            ("sessions", self.sessions.as_ref().map(Vec::len)),
            ("runs", self.runs.as_ref().map(Vec::len)),
            ("runners", self.runners.as_ref().map(Vec::len)),
        ];
        if let Some((name, _)) = lists.iter().find(|(_, length)| is_empty(length)) {
            return Err(format!("{name} is empty, which would hide everything; remove it to allow everything"));
        }
        if self.runs.is_some() && self.scopes.contains(&Scope::Ingest) {
            return Err(
                "has the scope ingest but is restricted to runs: an ingest creates new runs; restrict it to sessions \
                 or runners instead"
                    .to_owned(),
            );
        }
        let runners =
            self.runners.unwrap_or_default().iter().map(|name| runner_name(name)).collect::<Result<_, _>>()?;
        let restriction =
            Restriction { sessions: self.sessions.unwrap_or_default(), runs: self.runs.unwrap_or_default(), runners };
        Ok((secret, Caller { name: self.name, scopes: self.scopes, restriction: Arc::new(restriction), version: 0 }))
    }
}

/// The canonical name of a known runner.
fn runner_name(name: &str) -> Result<String, String> {
    let known = || RUNNERS.iter().map(|runner| runner.name).collect::<Vec<_>>().join(", ");
    runner(name)
        .map(|runner| runner.name.to_owned())
        .ok_or_else(|| format!("unknown runner {name:?} (known: {})", known()))
}

const ONE_LINE: &str = "a token is one line of visible ASCII characters without spaces";

/// Reads the secret that a file holds on one line.
///
/// # Errors
/// The file cannot be read or does not contain a token. The error never quotes its content.
pub(crate) fn secret_in(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    match one_line(&text) {
        Some(secret) => Ok(secret.to_owned()),
        None if text.trim().is_empty() => Err(format!("{shown} is empty; it must contain the token on one line")),
        None => Err(format!("{shown} contains no valid token; {ONE_LINE}")),
    }
}

/// The secret in a text; `None` if it cannot be used in a header.
pub(crate) fn one_line(text: &str) -> Option<&str> {
    let secret = text.trim();
    (!secret.is_empty() && secret.bytes().all(|byte| byte.is_ascii_graphic())).then_some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    fn read_text(text: &str) -> Result<Tokens, String> {
        // Tests run in parallel.
        let name = format!("framegate-tokens-{}-{}.toml", std::process::id(), crate::clock::Clock::System.new_id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        let environment = |name: &str| match name {
            "GOOD" => Some(format!("{SECRET}\n")),
            "OTHER" => Some("fedcba9876543210fedcba9876543210".to_owned()),
            "SHORT" => Some("s3cret-s3cret".to_owned()),
            "SPACED" => Some("two words that are long enough".to_owned()),
            _ => None,
        };
        let mut tokens = Tokens::default();
        let outcome = read(&path, &environment, &mut tokens);
        std::fs::remove_file(&path).unwrap();
        outcome.map(|()| tokens).map_err(|error| error.to_string())
    }

    #[test]
    fn tokens_are_read_with_their_scopes_and_restrictions() {
        let tokens = read_text(
            "[[token]]\nname = \"ui\"\nenv = \"GOOD\"\nscopes = [\"read\", \"control\"]\nrunners = [\"open-responses\"]\n\
             [[token]]\nname = \"ci\"\nenv = \"OTHER\"\nscopes = [\"ingest\"]\n",
        )
        .unwrap();
        let ui = tokens.caller(SECRET).unwrap();
        assert_eq!((&*ui.name, &*ui.scopes), ("ui", &[Scope::Read, Scope::Control][..]));
        assert_eq!(ui.restriction.runners, ["open-responses"]);
        assert_eq!(tokens.names().collect::<Vec<_>>(), ["ui", "ci"]);
    }

    #[test]
    fn errors_never_contain_a_secret() {
        let entry = |more: &str| format!("[[token]]\nname = \"ui\"\n{more}\n");
        for (text, expected) in [
            ("".to_owned(), "is not a valid list of tokens"),
            (entry("secret = \"hunter2hunter2hunter2\"\nscopes = []"), "unknown field `secret`"),
            (entry("env = \"GOOD\"\nscopes = [\"write\"]"), "unknown variant `write`"),
            (entry("env = \"GOOD\"\nscopes = []"), "the scopes are ingest, read, control, admin"),
            (entry("env = \"GOOD\"\nfile = \"x\"\nscopes = [\"read\"]"), "exactly one of file and env"),
            (entry("scopes = [\"read\"]"), "exactly one of file and env"),
            (entry("env = \"NONE\"\nscopes = [\"read\"]"), "no environment variable NONE"),
            (entry("env = \"SHORT\"\nscopes = [\"read\"]"), "fewer than 16 bytes"),
            (entry("env = \"SPACED\"\nscopes = [\"read\"]"), "one line of visible ASCII"),
            (entry("file = \"not-there\"\nscopes = [\"read\"]"), "not-there: No such file"),
            (entry("env = \"GOOD\"\nscopes = [\"read\"]\nsessions = []"), "sessions is empty"),
            (entry("env = \"GOOD\"\nscopes = [\"read\"]\nruns = [\"1\"]"), "in line 5"),
            (entry("env = \"GOOD\"\nscopes = [\"read\"]\nrunners = [\"cdex\"]"), "unknown runner \"cdex\""),
            (
                entry("env = \"GOOD\"\nscopes = [\"ingest\"]\nruns = [\"01890000-0000-7000-8000-000000000000\"]"),
                "restrict it to sessions",
            ),
            ("[[token]]\nname = \"a b\"\nenv = \"GOOD\"\nscopes = [\"read\"]".to_owned(), "the name must have 1 to 64"),
            (entry("env = \"GOOD\"\nscopes = [\"read\"]").repeat(2), "the token \"ui\"; both must be unique"),
            ("token = hunter2hunter2hunter2".to_owned(), "in line 1"),
        ] {
            let message = read_text(&text).unwrap_err();
            assert!(message.contains(expected), "{text:?} should say {expected:?}, but says: {message}");
            assert!(message.contains("auth.tokens_file, "), "{message}");
            for secret in [SECRET, "s3cret", "two words", "hunter2"] {
                assert!(!message.contains(secret), "{message}");
            }
        }
    }
}
