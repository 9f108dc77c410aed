//! Judges whether a value is plausible as a secret.
//!
//! A key or a name alone says little: `"cookie": "^0.7.2"`, `"password": "Passwort"` and `token: <your token>` contain no
//! secret. Input: a value without its quotes. Output: whether it can be a secret. Never: a decision that needs more than the
//! first [`ENOUGH`] bytes of a value.

use regex::bytes::Regex;
use std::sync::LazyLock;

/// How many bytes of a value suffice for the decision.
pub(super) const ENOUGH: usize = 256;

/// The minimum length of a secret outside of JSON.
pub(super) const SHORTEST: usize = 8;

/// Longer values are not words in any language.
const LONGEST_WORD: usize = 200;

/// Numbers with fewer digits are counts, limits and versions.
const SHORTEST_NUMBER: usize = 6;

/// What examples contain in place of a secret.
const EXAMPLES: &str = r"(?i-u)change[-_]?me|placeholder|example|redacted|your(?:[-_]|api|secret|token|password)|xxxx|\*{4}|\.{4}|dummy|(?:insert|replace)[-_]|[<>]|[$%#]\{|\{\{|\}\}|[$%]\(|…|••";

/// Whether a value is a placeholder: `<token>`, `${TOKEN}`, `xxxx`, `changeme`, `AKIA…EXAMPLE`.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let value = front(value);
    is_all_one(value)
        || value.first() == Some(&b'$')
        || matches!(value, [b'{', .., b'}'] | [b'%', .., b'%'])
        || has_example(value)
}

/// Whether an incomplete value may be a placeholder.
pub(super) fn begins_a_placeholder(value: &[u8]) -> bool {
    let is_filler = value.iter().all(|byte| matches!(byte, b'x' | b'X' | b'*' | b'.' | b'<' | b'$' | b'{'));
    (is_filler && !value.is_empty()) || (value.len() > 3 && is_placeholder(value))
}

fn front(value: &[u8]) -> &[u8] {
    value.get(..value.len().min(ENOUGH)).unwrap_or_default()
}

fn has_example(value: &[u8]) -> bool {
    static FINDER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(EXAMPLES).ok());
    FINDER.as_ref().is_some_and(|finder| finder.is_match(value))
}

/// Whether nearly all bytes are the same: `xxxxxxx1`, `********`.
fn is_all_one(value: &[u8]) -> bool {
    let first = value.first();
    value.iter().filter(|byte| Some(*byte) != first).count() < 3
}

/// Whether a value assigned in plain text is a secret: it has eight bytes or more, with a letter and a digit (or with letters
/// of both cases and a sign such as `!`), and is not what code or configuration usually assigns.
pub(super) fn is_assigned(value: &[u8]) -> bool {
    let value = front(value);
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    let is_mixed = has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit);
    let is_marked = has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && value.iter().any(|byte| b"!@#%^*+~?=".contains(byte));
    value.len() >= SHORTEST
        && (is_mixed || is_marked || has_many_humps(value))
        && !(is_placeholder(value) || is_reference(value) || is_version(value) || is_date(value) || is_link(value))
}

/// A stricter check, for a name in the middle of a line, which is no certain sign of an assignment.
pub(super) fn is_random(value: &[u8]) -> bool {
    let value = front(value);
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    is_assigned(value)
        && value.len() >= 12
        && turns(value) >= 3
        && (value.len() >= 20 || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)))
}

/// Whether a value is unlike a name that a person writes: digits between its letters, or letters of both cases in no order.
pub(super) fn is_no_name(value: &[u8]) -> bool {
    let value = front(value);
    turns(value) >= 2 || has_many_humps(value) || (value.iter().any(u8::is_ascii_digit) && has_symbol(value))
}

/// Whether the credential of an `Authorization` header is a secret.
pub(super) fn is_credential(value: &[u8]) -> bool {
    let value = front(value);
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    let is_word = value.iter().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'.' | b'_' | b'-'))
        || value.iter().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-'));
    value.len() >= SHORTEST && !is_word && !is_placeholder(value) && (has(u8::is_ascii_digit) || humps(value) >= 2)
}

/// Whether the string value of a key in JSON is a secret. `is_password` means that the key names a password, which a person
/// may have chosen.
pub(super) fn is_keyed(value: &[u8], is_password: bool) -> bool {
    let value = front(value);
    let trimmed = value.trim_ascii();
    if trimmed.len() < 4
        || is_placeholder(trimmed)
        || is_version(trimmed)
        || is_date(trimmed)
        || is_link(trimmed)
        || is_expression(trimmed)
    {
        return false;
    }
    if trimmed.iter().all(u8::is_ascii_digit) {
        return trimmed.len() >= SHORTEST_NUMBER;
    }
    if trimmed.iter().any(|byte| matches!(byte, b' ' | b'\t' | b'\n')) {
        // Prose, or the value of a header: judge its words.
        let words = || trimmed.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        return words().filter(|word| is_random_word(word)).count() * 5 >= words().count();
    }
    if is_wordy(trimmed) || is_path(trimmed) {
        return is_password
            && trimmed.iter().any(u8::is_ascii_digit)
            && trimmed.iter().all(|byte| byte.is_ascii_alphanumeric());
    }
    true
}

/// Whether an incomplete string value of a key in JSON may be a secret.
pub(super) fn may_be_secret(value: &[u8]) -> bool {
    let value = front(value);
    !value.iter().any(u8::is_ascii_whitespace) && !has_example(value)
}

/// Whether a string in an object under a secret key is a secret.
pub(super) fn is_nested(value: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    is_keyed(value, false)
        && value.len() >= 6
        && has(u8::is_ascii_digit)
        && ((has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)) || (value.len() >= 12 && turns(value) >= 2))
}

/// Whether a sample value of a schema under a secret key is a secret: it is not a word, a version or a path.
pub(super) fn is_shown(value: &[u8]) -> bool {
    is_keyed(value, false) && is_random_word(front(value))
}

/// Whether a number under a secret key is a secret.
pub(super) fn is_number(number: &[u8]) -> bool {
    number.len() >= SHORTEST_NUMBER && number.iter().all(u8::is_ascii_digit)
}

fn is_random_word(word: &[u8]) -> bool {
    word.len() >= 6
        && !is_placeholder(word)
        && !is_version(word)
        && !is_date(word)
        && (turns(word) >= 3 || (word.len() >= 16 && turns(word) >= 2 && !is_link(word)))
}

/// How often digits and letters alternate.
fn turns(value: &[u8]) -> usize {
    let kind = |byte: &u8| if byte.is_ascii_digit() { 1 } else { u8::from(byte.is_ascii_alphabetic()) * 2 };
    let both = |two: &[u8]| two.first().map(kind) != two.get(1).map(kind) && two.iter().all(|byte| kind(byte) > 0);
    value.windows(2).filter(|two| both(two)).count()
}

/// How many capitals follow a lower-case letter.
fn humps(value: &[u8]) -> usize {
    value
        .windows(2)
        .filter(|two| matches!(two, [before, after] if before.is_ascii_lowercase() && after.is_ascii_uppercase()))
        .count()
}

/// Whether the case of letters changes more often than in any name.
fn has_many_humps(value: &[u8]) -> bool {
    value.len() >= 12 && value.iter().all(u8::is_ascii_alphanumeric) && humps(value) * 4 >= value.len()
}

fn has_symbol(value: &[u8]) -> bool {
    value.iter().any(|byte| b"!@#$%^&*+=~?/\\\"".contains(byte))
}

/// Whether a value consists of words and small numbers, joined as in names: `reset-password`, `auth.token.invalid`,
/// `Passwort:`, `sha256`, `ES512`.
fn is_wordy(value: &[u8]) -> bool {
    if value.len() > LONGEST_WORD {
        return false;
    }
    if value.iter().filter(|byte| **byte >= 0x80).count() * 2 >= value.len() {
        // A sentence in a script without blanks.
        return true;
    }
    let is_joint = |byte: &u8| {
        matches!(byte, b'-' | b'_' | b'.' | b':' | b'/' | b'#' | b'*' | b'!' | b'?' | b'&' | b';' | b'@' | b'|' | b'+')
    };
    !has_many_humps(value)
        && value.split(is_joint).all(|part| {
            let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte >= 0x80).count();
            let digits = part.iter().skip(letters).take_while(|byte| byte.is_ascii_digit()).count();
            letters + digits == part.len() && digits <= 4
        })
        // Signs inside a word do not join words: `S3cr!t`.
        && !value.get(1..value.len() - 1).is_some_and(|inner| inner.iter().any(|byte| b"!*?&;@|+".contains(byte)))
}

/// Whether a value refers to something: `config.db2.password`, `module::name2`, `/run/secrets/db1`, `process/env1`.
fn is_reference(value: &[u8]) -> bool {
    let is_word = |part: &[u8]| {
        part.first().is_some_and(u8::is_ascii_alphabetic)
            && part.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let mut parts = value.split(|byte| matches!(byte, b'.' | b':')).filter(|part| !part.is_empty());
    (value.iter().any(|byte| matches!(byte, b'.' | b':')) && parts.all(is_word)) || is_path(value)
}

/// Whether a value is a file or part of a URL: its parts are words.
fn is_path(value: &[u8]) -> bool {
    let is_rooted = value.starts_with(b"/")
        || value.starts_with(b"./")
        || value.starts_with(b"../")
        || value.starts_with(b"~/")
        || value.starts_with(b"@");
    (is_rooted || value.contains(&b'/')) && is_wordy_path(value)
}

fn is_wordy_path(value: &[u8]) -> bool {
    value.split(|byte| matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~' | b'@' | b':' | b'+')).all(|part| {
        let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let digits = part.iter().skip(letters).take_while(|byte| byte.is_ascii_digit()).count();
        letters + digits == part.len() && digits <= 4 && humps(part) <= 3 && part.len() < 20
    })
}

/// Whether a value is a version or a range of versions: `1.2.3`, `^0.7.2`, `>=1 <3`, `v2.0.0-rc.1`, `workspace:*`, `latest`.
fn is_version(value: &[u8]) -> bool {
    let body = value.trim_ascii_start();
    let signs =
        body.iter().take_while(|byte| matches!(byte, b'^' | b'~' | b'>' | b'<' | b'=' | b'v' | b'V' | b' ')).count();
    let numbers = body.get(signs..).unwrap_or_default();
    let core = numbers.iter().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'x' | b'*')).count();
    let has_point = numbers.get(..core).is_some_and(|core| core.contains(&b'.'));
    let rest = numbers.get(core..).unwrap_or_default();
    let begins = numbers.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'*');
    let ends = match rest.first() {
        None => true,
        Some(b'-' | b'+') => {
            rest.len() <= 24
                && rest.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'+'))
        }
        Some(b' ' | b'|' | b',') => rest.iter().all(|byte| byte.is_ascii_digit() || b" |,.<>=^~x*-".contains(byte)),
        Some(_) => false,
    };
    (begins && ends && (has_point || signs > 0 || core == numbers.len() && core < SHORTEST_NUMBER))
        || ["workspace:", "npm:", "file:", "link:", "catalog:", "github:", "portal:", "patch:"]
            .iter()
            .any(|scheme| value.starts_with(scheme.as_bytes()))
}

/// Whether a value is a date: `2024-05-01`, with or without a time.
fn is_date(value: &[u8]) -> bool {
    matches!(value, [b'1' | b'2', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'-', b'0' | b'1', b'0'..=b'9', b'-', ..] if value.len() <= 35)
}

/// Whether a value is a URL, or a pointer into a document.
fn is_link(value: &[u8]) -> bool {
    let scheme = value
        .iter()
        .take(24)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        .count();
    value.starts_with(b"#/")
        || value.starts_with(b"data:")
        || value.get(scheme..).is_some_and(|rest| rest.starts_with(b"://"))
}

/// Whether a value is a regular expression, a call or a template.
fn is_expression(value: &[u8]) -> bool {
    (value.starts_with(b"^") && value.iter().any(|byte| b"[({\\".contains(byte)))
        || (value.ends_with(b")") && value.contains(&b'('))
        || (value.starts_with(b"{") && value.ends_with(b"}"))
        || (value.starts_with(b"%") && value.len() < SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_json_values_of_secret_keys_are_kept() {
        for value in [
            "",
            "^0.7.2",
            "~1.2.3",
            "1.0.0-beta.1",
            ">=1.2.0 <2.0.0",
            "v2.1.0",
            "*",
            "latest",
            "workspace:*",
            "npm:cookie@^0.7.2",
            "Password",
            "Passwort",
            "Mot de passe",
            "contraseña",
            "パスワード",
            "пароль",
            "Password:",
            "Password*",
            "Enter your 2FA code",
            "Use an OAuth2 token",
            "Password must have 8 characters",
            "reset-password",
            "auth.token.invalid",
            "AUTH_TOKEN",
            "accessToken",
            "string",
            "Bearer",
            "apiKey",
            "OAuth2",
            "sha256",
            "ES512",
            "#/components/schemas/Token",
            "./token.ts",
            "/oauth2/token",
            "https://example.org/token",
            "<token>",
            "${TOKEN}",
            "{{ token }}",
            "xxxx",
            "changeme",
            "your-api-key",
            "********",
            "7",
            "1234",
            "^[A-Z0-9]{8,}$",
            "getToken()",
            "2024-05-01T00:00:00Z",
            "const",
            "Punctuator",
            ";",
            "true",
            "…",
        ] {
            let is_password = !value.bytes().any(|byte| byte.is_ascii_digit());
            assert!(!is_keyed(value.as_bytes(), is_password), "{value}");
        }
    }

    #[test]
    fn secret_json_values_of_secret_keys_are_redacted() {
        for value in [
            "q7ZkVx2mPtWj8RbY",
            "q7Zk\"Vx/2m\\9pp",
            "q7 Zk Vx2m9pp",
            "Bearer q7ZkVx2mPtWj8RbYn4Lc",
            "sid=31d4d96e407aad42; theme=dark",
            "5d3c1a6e-0d0e-4d47-9d0c-222222222222",
            "712843516",
            "qZkVxmPtWjRbYnLcGsHd",
            "Tr0ub4dor&3",
            "p@ssw0rd!",
            "3f786850e387550fdab836ed7e6dc881de23001b",
        ] {
            assert!(is_keyed(value.as_bytes(), false), "{value}");
        }
        assert!(is_keyed(b"hunter2", true) && !is_keyed(b"hunter2", false));
    }

    #[test]
    fn assignments_in_plain_text() {
        for value in ["q7ZkVx2m", "hunter2pass9", "q7ZkVx2m/9pp", "SuperSecret!", "qZkVxmPtWjRb", "summer2024x"] {
            assert!(is_assigned(value.as_bytes()), "{value}");
        }
        for value in [
            "short1",
            "required-here",
            "12345678",
            "config.db2.password",
            "module::name2",
            "/run/secrets/db1",
            "./keys/id_rsa2",
            "xxxxxxx1",
            "changeme123",
            "your-token-1",
            "10.20.30.40",
            "2024-05-01T00:00:00Z",
            "https://a.example/1",
            "[REDACTED:key]",
        ] {
            assert!(!is_assigned(value.as_bytes()), "{value}");
        }
    }
}
