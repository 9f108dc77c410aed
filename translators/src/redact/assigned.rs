//! Values that are assigned to a secret's key in plain text: `DB_PASSWORD=…`, `export TOKEN="…"`, `password: …`.
//!
//! In: a text, a place in it where one of the keys may stand. Out: the value's place. Source code assigns to such names all the
//! time, so only what can hardly be code counts: `NAME=value` in capitals, or a line that begins with the key, and a value
//! of eight bytes or more with a letter and a digit, that calls and refers to nothing. Never: a value in prose, a quoted key
//! (JSON has a rule of its own).

use super::rules::{Class, name_byte};
use super::seen::{Seen, run};
use super::shape::{Found, LONGEST_NAME, Open, Tail, name_only};
use super::words::{is_sequence, name_start};
use std::ops::Range;

/// The shortest value that is taken for a secret.
const SHORTEST: usize = 8;

/// How much may stand before the key of a line.
const INDENT: usize = 64;

/// What may stand unquoted in a value.
fn bare(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(
            byte,
            b'"' | b'\''
                | b'`'
                | b'('
                | b')'
                | b'['
                | b']'
                | b'{'
                | b'}'
                | b'<'
                | b'>'
                | b','
                | b';'
                | b'|'
                | b'&'
                | b'\\'
                | b'$'
        )
}

fn in_quotes(byte: u8) -> bool {
    (byte.is_ascii_graphic() || byte >= 0x80) && !matches!(byte, b'"' | b'\\')
}

fn in_single_quotes(byte: u8) -> bool {
    (byte.is_ascii_graphic() || byte >= 0x80) && !matches!(byte, b'\'' | b'\\')
}

/// The value that is assigned to the key of which a literal stands at the place.
pub(super) fn assigned(text: &[u8], place: &Range<usize>, is_secret: impl Fn(&str) -> bool, seen: &mut Seen) -> Found {
    // A key's name ends where one of its literals does; what goes on at the text's end is told by [`front`].
    let end = place.end;
    if text.get(end).is_some_and(|byte| name_byte(*byte)) {
        return Found::No;
    }
    let start = name_start(text, end, LONGEST_NAME, name_byte);
    // A name with a blank in it is none here.
    if start > place.start {
        return Found::No;
    }
    let (Some(name), quote) = (text.get(start..end), start.checked_sub(1).and_then(|at| text.get(at))) else {
        return Found::No;
    };
    let is_env = is_capital(name);
    let begins = begins_line(text, start);
    if quote == Some(&b'"') || !(is_env || begins.is_some()) {
        return Found::No;
    }
    let context = begins.unwrap_or(start);
    if end == text.len() {
        return name_only(context, text);
    }
    if !std::str::from_utf8(name).is_ok_and(is_secret) {
        return Found::No;
    }
    let is_blank = |byte: u8| matches!(byte, b' ' | b'\t');
    let mark = end + usize::from(quote == Some(&b'\'') && text.get(end) == Some(&b'\''));
    let mark = mark + run(text, mark, is_blank);
    let Some(&sign) = text.get(mark) else { return name_only(context, text) };
    if !matches!(sign, b'=' | b':') {
        return Found::No;
    }
    let mut value = mark + 1 + run(text, mark + 1, is_blank);
    if value >= text.len() {
        return name_only(context, text);
    }
    let is_joined = mark == end && value == mark + 1;
    let is_assignment = match sign {
        b'=' => (is_env && is_joined) || begins.is_some(),
        // `a:b` and `a::b` are other things.
        b':' => begins.is_some() && value > mark + 1,
        _ => false,
    };
    if !is_assignment {
        return Found::No;
    }
    let (class, nth, is_quoted): (Class, usize, bool) = match text.get(value) {
        Some(b'"') => (in_quotes, 0, true),
        Some(b'\'') => (in_single_quotes, 1, true),
        _ => (bare, 2, false),
    };
    value += usize::from(is_quoted);
    // In the value of another one (`TOKEN=TOKEN=…`) there is none if that is none.
    if seen.has_of(nth, value) {
        return Found::No;
    }
    let count = seen.run_of(nth, text, value, class);
    let said = text.get(value..value + count).unwrap_or_default();
    let behind = text.get(value + count);
    let is_value = said.len() >= SHORTEST
        && said.iter().any(u8::is_ascii_digit)
        && said.iter().any(u8::is_ascii_alphabetic)
        && !is_reference(said);
    if behind.is_none() {
        let open = is_value.then_some(Open::Class(class, usize::MAX));
        return Found::Tail(Tail { start: context, from: value, holds: count > 0, open });
    }
    // A call, an index, a type's parameters; a quoted text of several words.
    let goes_on = if is_quoted {
        !matches!(behind, Some(b'"' | b'\''))
    } else {
        matches!(behind, Some(b'(' | b'[' | b'{' | b'<' | b'$'))
    };
    if is_value && !goes_on { Found::Full(value..value + count, None) } else { Found::No }
}

/// The end of a text that may be the front of an assignment: its name goes on in what follows. `begins_word` says whether a
/// word of a key begins so; where none does, what follows is a key by itself or there is none.
pub(super) fn front(text: &[u8], begins_word: impl Fn(&[u8]) -> bool) -> Option<usize> {
    let start = name_start(text, text.len(), LONGEST_NAME, name_byte);
    let size = text.len() - start;
    if size == 0 || size == LONGEST_NAME {
        return None;
    }
    let name = text.get(start..)?;
    let is_env = is_capital(name);
    // `db_pass`, `dbPass`: the word that is not over.
    let is_joint =
        |(at, byte): (usize, &u8)| !byte.is_ascii_alphanumeric() || (!is_env && at > 0 && byte.is_ascii_uppercase());
    let joint = name.iter().enumerate().rposition(is_joint);
    let word = match joint {
        None => name,
        Some(joint) => name.get(joint + usize::from(!name.get(joint)?.is_ascii_alphanumeric())..)?,
    };
    if !begins_word(word) {
        return None;
    }
    begins_line(text, start).or(is_env.then_some(start))
}

/// Where the line of a name begins, if nothing stands before the name but what stands before assignments.
fn begins_line(text: &[u8], name: usize) -> Option<usize> {
    let front = text.get(name.saturating_sub(INDENT)..name)?;
    let line = front.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    if line == 0 && front.len() < name {
        return None;
    }
    let mut words =
        front.get(line..)?.split(|byte| matches!(byte, b' ' | b'\t' | b'\r')).filter(|word| !word.is_empty());
    let is_usual =
        |word: &[u8]| matches!(word, b"-" | b"+" | b">" | b"'" | b"export" | b"set" | b"setx" | b"ENV" | b"+export");
    // A diff's sign stands at the name itself.
    words.all(|word| is_usual(word) || is_sequence(word)).then(|| name - front.len() + line)
}

/// Letters in capitals alone, as the environment has them.
fn is_capital(name: &[u8]) -> bool {
    name.iter().any(u8::is_ascii_uppercase) && !name.iter().any(|byte| byte.is_ascii_lowercase() || *byte == b'.')
}

/// A place in something else: `config.db2.password`, `process/env1`, `module::name2`.
fn is_reference(value: &[u8]) -> bool {
    let is_word = |part: &[u8]| {
        part.first().is_some_and(u8::is_ascii_alphabetic)
            && part.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let mut parts = value.split(|byte| matches!(byte, b'.' | b':')).filter(|part| !part.is_empty());
    value.iter().any(|byte| matches!(byte, b'.' | b':')) && parts.all(is_word) || is_all_one(value)
}

/// `xxxxxxx1`, `********` and their like stand for a secret.
fn is_all_one(value: &[u8]) -> bool {
    let first = value.first();
    value.iter().filter(|byte| Some(*byte) != first).count() < 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<&str> {
        let mut keys = ["password", "PASSWORD", "TOKEN", "token"].iter();
        let place = keys.find_map(|key| text.find(key).map(|at| at..at + key.len())).unwrap();
        let is_secret = |name: &str| ["password", "token"].iter().any(|key| name.to_lowercase().ends_with(key));
        match assigned(text.as_bytes(), &place, is_secret, &mut Seen::default()) {
            Found::Full(place, _) => text.get(place),
            Found::No | Found::Tail(_) | Found::Value(_) => None,
        }
    }

    #[test]
    fn what_is_assigned_is_found() {
        for text in [
            "DB_PASSWORD=q7ZkVx2m and more",
            "docker run -e DB_PASSWORD=q7ZkVx2m img",
            "export TOKEN=\"q7ZkVx2m\"\n",
            "a: b\n  password: q7ZkVx2m\n",
            "- password: 'q7ZkVx2m'\n",
            "+password = q7ZkVx2m\n",
            "'password': 'q7ZkVx2m',",
        ] {
            assert_eq!(value(text), Some("q7ZkVx2m"), "{text}");
        }
    }

    #[test]
    fn only_the_front_of_a_keys_word_may_go_on() {
        let front = |text: &str| front(text.as_bytes(), |word| b"password".starts_with(&word.to_ascii_lowercase()));
        for (text, expected) in [
            ("run DB_PASS", Some(4)),
            ("run DB_", Some(4)),
            ("a\n  db_pass", Some(2)),
            ("a\n  dbPass", Some(2)),
            ("export dbPassword", Some(0)),
            ("run db_pass", None),
            ("the", None),
            ("The Quick", None),
            ("", None),
        ] {
            assert_eq!(front(text), expected, "{text}");
        }
    }

    #[test]
    fn code_prose_and_placeholders_stay() {
        for text in [
            "password: String, x",
            "password: PasswordHasher2(x)",
            "password = self.config2.secret ",
            "token: Uuid::new_v4()",
            "token = parser.next_token2()\n",
            "token := read12345678 x",
            "token == abcdef12 x",
            "let token: abcdefg1 = x",
            "the password: abcdefg1 is wrong",
            "PASSWORD=$DB_PASSWORD2 x",
            "PASSWORD=${ABCDEFG1} x",
            "PASSWORD=<your-password-1> x",
            "PASSWORD=xxxxxxx1 x",
            "PASSWORD=short1 x",
            "PASSWORD=required-here x",
            "PASSWORD=12345678 x",
            "password: [REDACTED:key] x",
            "MAX_TOKENS=q7ZkVx2m x",
            "token:abcdefg1 x",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
