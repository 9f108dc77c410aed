//! Finds values that are assigned to the name of a secret in a text.
//!
//! Input: a text, and the position in it where the name of a key ends. Output: the range of the value. These forms are known:
//!
//! - `NAME=value` in capitals
//! - a name that begins a line or a string (`password: …`, `-H 'x-api-key: …'`)
//! - a quoted value after any such name (`apiKey = '…'`, `'token' => "…"`, `{'token': '…'}`, `define('DB_PASSWORD', '…')`)
//! - `--password=…` and `--password …`; `?access_token=…`; `;Password=…;`; `<password>…</password>`
//! - `login … password …` of a .netrc
//! - anywhere else, a value that looks random
//!
//! [`keyed`] handles JSON's `"key": value`. Never: a value in prose, one that is not plausible as a secret (see
//! [`plausible`](super::plausible)), or one of fewer than eight bytes.

use super::class::{Class, Runs};
use super::formats::Assigned;
use super::keys::Keys;
use super::plausible::{ENOUGH, is_assigned, is_credential, is_no_name, is_placeholder, is_random};
use super::tail::{Found, LONGEST_NAME, Open, Tail, Wait};
use super::value::Value;
use super::words::{is_sequence, name_start};
use std::ops::Range;

/// How far before a name to look for the start of its line.
const INDENT: usize = 64;

/// From this length on, a truncated value after a vendor's name counts as a secret.
const LIKELY: usize = 16;

/// A name and its surroundings.
struct Name<'t> {
    text: &'t [u8],
    /// Without the dashes before it.
    place: Range<usize>,
    /// The start of the text that is needed to read the name again.
    context: usize,
    /// The number of dashes before it.
    dashes: usize,
    /// The byte before the name and its dashes.
    before: Option<u8>,
    begins_line: bool,
    is_capital: bool,
}

/// How certain it is that a name and a value form an assignment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strength {
    /// Only assignments have this form.
    Certain,
    /// Other code has this form too.
    Likely,
    /// Prose has this form too.
    Weak,
}

impl<'t> Name<'t> {
    fn new(text: &'t [u8], start: usize, end: usize) -> Self {
        let whole = text.get(start..end).unwrap_or_default();
        let dashes = whole.iter().take_while(|byte| **byte == b'-').count();
        let place = start + dashes..end;
        let name = text.get(place.clone()).unwrap_or_default();
        let before = start.checked_sub(1).and_then(|at| text.get(at)).copied();
        let line = line_start(text, start);
        // A string of JSON, of an array or of a shell counts as a line.
        let is_quoted = before.is_some_and(is_quote) && text.get(end) != before.as_ref();
        let is_capital = name.iter().any(u8::is_ascii_uppercase)
            && !name.iter().any(|byte| byte.is_ascii_lowercase() || *byte == b'.');
        // Otherwise keep some of the words before the name, so that the next reading sees that no line begins here. The
        // context begins at a blank and not inside a word.
        let words = start.saturating_sub(INDENT);
        let blank =
            text.get(words..start).unwrap_or_default().iter().position(u8::is_ascii_whitespace).map(|at| words + at);
        let sign = before.is_some_and(|byte| !Class::Word.has(byte));
        let context = line.or(blank).unwrap_or(start - usize::from(sign));
        Self { text, place, context, dashes, before, begins_line: line.is_some() || is_quoted, is_capital }
    }

    fn context(&self) -> Found {
        Found::Tail(Tail::context(self.context, self.text))
    }
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn blanks(text: &[u8], from: usize) -> usize {
    text.iter().skip(from).take(INDENT).take_while(|byte| is_blank(**byte)).count()
}

/// Finds the value that is assigned to the name that ends at `literal`.
pub(super) fn assigned(text: &[u8], literal: &Range<usize>, keys: &Keys, runs: &mut Runs) -> Found {
    let end = literal.end;
    // A name that continues is another name. At the end of the text, [`front`] decides.
    if text.get(end).is_some_and(|byte| Class::Dotted.has(*byte)) {
        return Found::No;
    }
    let start = name_start(text, end, LONGEST_NAME, |byte| Class::Dotted.has(byte));
    // In plain text, spellings of a key with a blank do not count.
    if start > literal.start {
        return Found::No;
    }
    let name = Name::new(text, start, end);
    if end == text.len() {
        return name.context();
    }
    if !text.get(name.place.clone()).and_then(|name| std::str::from_utf8(name).ok()).is_some_and(|name| keys.has(name))
    {
        return Found::No;
    }
    let quoted = name.before.filter(|before| is_quote(*before) && text.get(end) == Some(before));
    let mut at = end + usize::from(quoted.is_some());
    at += usize::from(quoted.is_some() && matches!(text.get(at), Some(b']' | b')')));
    let gap = blanks(text, at);
    at += gap;
    let Some(&sign) = text.get(at) else { return name.context() };
    let next = text.get(at + 1).copied();
    let (strength, from, class) = match sign {
        b'=' if next == Some(b'=') => return Found::No,
        b'=' if next == Some(b'>') => (Strength::Likely, at + 2, Class::Bare),
        b'=' if matches!(name.before, Some(b'?' | b'&')) && gap == 0 => (Strength::Certain, at + 1, Class::Query),
        b'=' if gap == 0 && (name.is_capital || name.dashes > 0 || name.before == Some(b';')) => {
            (Strength::Certain, at + 1, Class::Bare)
        }
        b'=' => (if name.begins_line { Strength::Certain } else { Strength::Weak }, at + 1, Class::Bare),
        b':' if next == Some(b':') => return Found::No,
        b':' if next == Some(b'=') => (Strength::Likely, at + 2, Class::Bare),
        // JSON has its own rule.
        b':' if quoted == Some(b'"') => return Found::No,
        b':' => (if name.begins_line { Strength::Certain } else { Strength::Weak }, at + 1, Class::Bare),
        b',' if quoted.is_some() => (Strength::Likely, at + 1, Class::Bare),
        b'>' if name.before == Some(b'<') => (Strength::Certain, at + 1, Class::Bare),
        _ if gap > 0 && (name.dashes > 0 || is_netrc(&name) || is_declared(&name)) => {
            (Strength::Certain, at, Class::Bare)
        }
        b'\n' if name.dashes > 0 => (Strength::Certain, at + 1, Class::Bare),
        _ if gap > 0 && quoted.is_none() => (Strength::Weak, at, Class::Bare),
        _ => return Found::No,
    };
    let mut value = from + blanks(text, from);
    if let Some(typed) = (sign == b':').then(|| behind_a_type(text, value)).flatten() {
        value = typed;
    }
    if value >= text.len() {
        return name.context();
    }
    // Without a blank after the colon (`a:b`), this is an assignment only if the value is quoted or the name follows a quote,
    // as in a header.
    if sign == b':'
        && value == from
        && !text.get(value).copied().is_some_and(is_quote)
        && name.before.is_none_or(|byte| !is_quote(byte))
    {
        return Found::No;
    }
    let is_spaced = gap > 0 || value > from;
    value_at(&name, value, class, strength, is_spaced, runs)
}

/// Whether the name is that of a .netrc's password: `login NAME password VALUE`.
fn is_netrc(name: &Name<'_>) -> bool {
    let front = name.text.get(name.place.start.saturating_sub(INDENT)..name.place.start).unwrap_or_default();
    let mut words = front.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.nth(1) == Some(b"login")
}

/// Whether a declaration precedes the name: `ENV NAME value` of a Dockerfile, `setx NAME value`.
fn is_declared(name: &Name<'_>) -> bool {
    let front = name.text.get(..name.place.start).unwrap_or_default().trim_ascii_end();
    name.is_capital && [&b"ENV"[..], b"setx", b"ARG"].iter().any(|word| front.ends_with(word))
}

/// The start of the value after a type (`apiKey: string = "…"`), if there is one.
fn behind_a_type(text: &[u8], from: usize) -> Option<usize> {
    let size =
        text.iter().skip(from).take(INDENT).take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'&').count();
    let sign = from + size + blanks(text, from + size);
    (size > 0 && text.get(sign) == Some(&b'=')).then(|| sign + 1 + blanks(text, sign + 1))
}

/// Finds the value that begins at a position.
fn value_at(name: &Name<'_>, at: usize, class: Class, strength: Strength, is_spaced: bool, runs: &mut Runs) -> Found {
    let text = name.text;
    // A letter before a string literal of source code says how to read the literal.
    let prefix = usize::from(
        text.get(at).is_some_and(|byte| b"bBrRuUfF@$L".contains(byte))
            && text.get(at + 1).copied().is_some_and(is_quote),
    );
    let is_element = name.before == Some(b'<');
    let quote = text.get(at + prefix).copied().filter(|byte| is_quote(*byte) && !is_element);
    let (class, from) = match quote {
        Some(b'"') => (Class::InDouble, at + prefix + 1),
        Some(b'\'') => (Class::InSingle, at + prefix + 1),
        Some(_) => (Class::InBacktick, at + prefix + 1),
        None => (class, at),
    };
    let size = runs.run(class, text, from);
    let end = from + size;
    let candidate = text.get(from..from + size.min(ENOUGH)).unwrap_or_default();
    let strength = if quote.is_some() { Strength::Certain } else { strength };
    let is_value = match strength {
        Strength::Certain => is_assigned(candidate),
        Strength::Likely => is_assigned(candidate) && is_no_name(candidate),
        Strength::Weak if is_spaced => is_random(candidate),
        Strength::Weak => is_assigned(candidate) && is_no_name(candidate),
    };
    let Some(behind) = text.get(end) else {
        // A value that is too short to judge counts as suspect if only an assignment has this form.
        let is_suspect = strength == Strength::Certain
            && !is_element
            && (quote.is_some() || !is_spaced)
            && !is_placeholder_front(candidate);
        let is_open = size > 0 && (is_value || is_suspect);
        return Found::Tail(Tail {
            start: name.context,
            from,
            held: from,
            wait: if size > 0 { Wait::Long } else { Wait::No },
            open: is_open.then_some(Open::Class(class, usize::MAX)),
            end: is_value.then_some(end),
        });
    };
    let goes_on = match quote {
        // Several words in quotes, or quotes that are never closed.
        Some(quote) => *behind != quote,
        // A call, an index, or the parameters of a type.
        None => matches!(behind, b'(' | b'[' | b'{' | b'$') || (*behind == b'<' && !is_element),
    };
    if is_value && !goes_on { Found::Full(from..end, None) } else { Found::No }
}

fn is_placeholder_front(candidate: &[u8]) -> bool {
    is_placeholder(candidate) && candidate.iter().any(|byte| !byte.is_ascii_alphanumeric())
}

/// The start of a possible assignment at the end of a text, whose name may continue. `begins_word` says whether a word of a
/// key begins with the given bytes.
pub(super) fn front(text: &[u8], begins_word: impl Fn(&[u8]) -> bool) -> Option<usize> {
    let start = name_start(text, text.len(), LONGEST_NAME, |byte| Class::Dotted.has(byte));
    let name = text.get(start..)?;
    if name.is_empty() {
        // `?`, `--` and a quote belong to the following name, and so does the beginning of a line.
        return text
            .last()
            .filter(|byte| b"?&;<\"'`".contains(byte))
            .map(|_| line_start(text, text.len() - 1).unwrap_or(text.len() - 1));
    }
    if name.len() == LONGEST_NAME {
        return None;
    }
    let is_capital = !name.iter().any(u8::is_ascii_lowercase);
    // The last, unfinished word of `db_pass` or `dbPass`.
    let is_joint = |(at, byte): (usize, &u8)| {
        !byte.is_ascii_alphanumeric() || (!is_capital && at > 0 && byte.is_ascii_uppercase())
    };
    let word = match name.iter().enumerate().rposition(is_joint) {
        None => name,
        Some(joint) => name.get(joint + usize::from(!name.get(joint)?.is_ascii_alphanumeric())..)?,
    };
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    let is_marked = name.starts_with(b"-") || before.is_some_and(|byte| b"\"'`?&;<".contains(byte));
    (is_marked || word.is_empty() || begins_word(word)).then(|| Name::new(text, start, text.len()).context)
}

/// What usually precedes an assignment in its line.
const USUAL: &[&[u8]] = &[
    b"-", b"+", b">", b"'", b"\"", b"#", b"//", b"export", b"set", b"setx", b"ENV", b"ARG", b"+export", b"const",
    b"let", b"var", b"-e",
];

/// The start of a name's line, if only what usually precedes assignments is before the name.
fn line_start(text: &[u8], name: usize) -> Option<usize> {
    let front = text.get(name.saturating_sub(INDENT)..name)?;
    let line = front.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    if line == 0 && front.len() < name {
        return None;
    }
    let mut words =
        front.get(line..)?.split(|byte| matches!(byte, b' ' | b'\t' | b'\r')).filter(|word| !word.is_empty());
    let is_usual = |word: &[u8]| {
        // A line number and its arrow, as tools print them before the lines of a file.
        let is_number = word.iter().all(|byte| byte.is_ascii_digit() || *byte >= 0x80 || matches!(byte, b':' | b'|'));
        is_number || USUAL.contains(&word)
    };
    words.all(|word| is_usual(word) || is_sequence(word)).then(|| name - front.len() + line)
}

/// Finds the value of a quoted key in JSON inside a text: `"key": value`. `literal` is the place of a key's literal.
pub(super) fn keyed(text: &[u8], literal: &Range<usize>, is_secret: impl Fn(&str) -> bool) -> Found {
    let end = literal.end;
    if text.get(end).is_some_and(|byte| Class::Dotted.has(*byte)) {
        return Found::No;
    }
    let start = end - Class::Dotted.run_before(text, end, LONGEST_NAME);
    let Some(context) = start.checked_sub(1).filter(|quote| text.get(*quote) == Some(&b'"')) else {
        return Found::No;
    };
    if end == text.len() {
        return Found::Tail(Tail::context(context, text));
    }
    let name = text.get(start..end).and_then(|name| std::str::from_utf8(name).ok());
    if text.get(end) != Some(&b'"') || !name.is_some_and(is_secret) {
        return Found::No;
    }
    let gap =
        |from: usize| text.iter().skip(from).take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    let colon = end + 1 + gap(end + 1);
    if colon == text.len() {
        return Found::Tail(Tail::context(context, text));
    }
    if text.get(colon) != Some(&b':') {
        return Found::No;
    }
    let opening = colon + 1 + gap(colon + 1);
    match text.get(opening) {
        None => Found::Tail(Tail::context(context, text)),
        Some(byte) if Value::begins(*byte) => Found::Value(opening),
        Some(_) => Found::No,
    }
}

/// Finds the value after the literal of a format: signs of an assignment, a word, the value.
pub(super) fn behind(text: &[u8], literal: &Range<usize>, what: &Assigned, runs: &mut Runs) -> Found {
    let (at, mut body) = (literal.start, literal.end);
    if what.in_name {
        body += text.iter().skip(body).take(INDENT).take_while(|byte| Class::Dashed.has(**byte)).count();
    }
    let separates = |byte: &u8| matches!(byte, b' ' | b'\t' | b':' | b'=' | b'"' | b'\'' | b'\\' | b'>' | b',');
    let gap = text.iter().skip(body).take(17).take_while(|byte| separates(byte)).count();
    let mut value = body + gap;
    if value == text.len() {
        return if gap <= 16 { Found::Tail(Tail::context(at, text)) } else { Found::No };
    }
    let assigns = text.get(body..value).unwrap_or_default().iter().any(|byte| matches!(byte, b':' | b'=' | b'>'));
    if !assigns || gap > 16 {
        return Found::No;
    }
    if !what.words.is_empty() {
        let rest = text.get(value..).unwrap_or_default();
        let begins = |word: &&&str| {
            let size = word.len().min(rest.len());
            rest.get(..size)
                .zip(word.as_bytes().get(..size))
                .is_some_and(|(rest, word)| rest.eq_ignore_ascii_case(word))
        };
        match what.words.iter().find(begins) {
            None => return Found::No,
            Some(word) if rest.len() <= word.len() => return Found::Tail(Tail::context(at, text)),
            Some(word) => value += word.len(),
        }
    }
    let run = runs.run(what.class, text, value);
    let ends = value + run == text.len();
    let candidate = text.get(value..value + run.min(ENOUGH)).unwrap_or_default();
    let is_mixed = candidate.iter().any(u8::is_ascii_digit) && candidate.iter().any(u8::is_ascii_alphabetic);
    let is_one = if what.words.is_empty() { is_mixed && !is_placeholder(candidate) } else { is_credential(candidate) };
    let fits = |(min, max): &&(usize, usize)| if min == max { run == *min } else { run >= *min };
    let size = what.sizes.iter().find(fits).filter(|_| is_one);
    let longest = what.sizes.iter().map(|(_, max)| *max).max().unwrap_or_default();
    let is_word = candidate.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'.');
    // If only the size identifies a value, about half of it must be there.
    let may_be_one = !is_word && (!what.in_name || (is_one && run >= LIKELY));
    let open = may_be_one.then_some(Open::Class(what.class, longest));
    let tail = |end| {
        Found::Tail(Tail {
            start: at,
            from: value,
            held: value,
            wait: if run > 0 { Wait::Long } else { Wait::No },
            open,
            end,
        })
    };
    match size {
        Some((min, max)) if !ends || (min < max && run < *max) => {
            let open = ends.then_some(Open::Class(what.class, max.saturating_sub(run)));
            Found::Full(value..value + run.min(*max), open)
        }
        // A value of fixed size that continues is not a secret of this format.
        Some(_) => tail(Some(value + run)),
        None if ends && run <= longest => tail((may_be_one && run > 0).then_some(value + run)),
        None => Found::No,
    }
}
