//! Finds passwords in URLs: `scheme://user:password@host`. Only the password is the secret.
//!
//! Input: a text, and the position of `://` in it. Output: the range of the password. It may contain `@`, `#` or `/`, and
//! ends at the last `@` that a host may follow. Never: a port that is mistaken for a password (`localhost:3000/@fs/x`).

use super::class::{Class, Runs};
use super::plausible::{is_assigned, is_placeholder};
use super::tail::{Found, LONGEST_NAME, Open, Tail, Wait};

pub(super) fn password(text: &[u8], at: usize, body: usize, runs: &mut Runs) -> Found {
    let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-');
    let scheme = text.get(..at).unwrap_or_default().iter().rev().take(32).take_while(|byte| is_scheme(byte)).count();
    // At the start of a text, the scheme may have arrived with the previous piece.
    if scheme < 2 && scheme != at {
        return Found::No;
    }
    let start = at - scheme;
    let user = runs.run(Class::UrlUser, text, body);
    let colon = body + user;
    if user > LONGEST_NAME {
        return Found::No;
    }
    if colon == text.len() {
        return Found::Tail(Tail::context(start, text));
    }
    if text.get(colon) != Some(&b':') {
        return Found::No;
    }
    let from = colon + 1;
    let run = runs.run(Class::UrlPassword, text, from);
    let rest = text.get(from..from + run.min(LONGEST_NAME + 1)).unwrap_or_default();
    let ends = from + run == text.len();
    let is_password = |value: &[u8]| {
        let stands_for_one = value.first().is_some_and(|byte| b"${%[".contains(byte));
        let is_path = value.iter().any(|byte| b"/?#".contains(byte)) && !is_assigned(value);
        !value.is_empty() && !stands_for_one && !is_path && !is_example(value)
    };
    let port = port(rest);
    // After a port and the start of a path, an `@` does not end a password.
    let is_port = |behind: &u8| matches!(behind, b'/' | b'?' | b'#');
    if port.is_some_and(|size| rest.get(size).is_some_and(is_port)) {
        return Found::No;
    }
    if ends && rest.len() <= LONGEST_NAME {
        // At the end of the text, a possible port is not a password, nor is a port with punctuation after it (`:3000.`).
        let may_be_port =
            rest.is_empty() || port.is_some_and(|size| rest.get(size).is_none_or(|behind| !Class::Dashed.has(*behind)));
        let wait = match (rest.is_empty(), may_be_port) {
            (true, _) => Wait::No,
            (_, true) => Wait::Short,
            _ => Wait::Long,
        };
        let tail = Tail { start, from, wait, held: from, open: None, end: None };
        return Found::Tail(match host(rest).filter(|end| is_password(rest.get(..*end).unwrap_or_default())) {
            // The password may continue up to a later `@`.
            Some(end) => {
                Tail { end: Some(from + end), open: Some(Open::Class(Class::UrlPassword, LONGEST_NAME)), ..tail }
            }
            None if is_password(rest) && !may_be_port => {
                let open = Some(Open::Class(Class::UrlPassword, LONGEST_NAME));
                Tail { open, end: Some(text.len()), ..tail }
            }
            None => tail,
        });
    }
    match host(rest) {
        Some(size) if is_password(rest.get(..size).unwrap_or_default()) => Found::Full(from..from + size, None),
        _ => Found::No,
    }
}

/// The number of digits at the start, if they can be a port.
fn port(value: &[u8]) -> Option<usize> {
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits == value.len() || (1..=5).contains(&digits)).then_some(digits)
}

/// The position of the last `@`, if a host may follow it.
fn host(value: &[u8]) -> Option<usize> {
    let at = value.iter().rposition(|byte| *byte == b'@')?;
    value
        .get(at + 1)
        .is_none_or(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'[' | b'_' | b'$' | b'{' | b'%'))
        .then_some(at)
}

/// What documentation and test setups use in place of a password.
const EXAMPLES: &str = "password passwd pass pwd secret postgres root admin guest test user username mypassword token";

fn is_example(value: &[u8]) -> bool {
    EXAMPLES.split(' ').any(|example| value.eq_ignore_ascii_case(example.as_bytes()))
        || (is_placeholder(value) && !value.iter().any(u8::is_ascii_digit))
}
