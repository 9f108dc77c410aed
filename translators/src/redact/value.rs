//! Reads the value of a secret key in JSON inside a text: a string, a number, or the contents of an array or object.
//!
//! Input: the text from the start of the value, and each following piece of it. Output: the ranges of secrets, and the end of
//! the value. The rules are the same as for a secret key in a record's own JSON. A string ends at its quote or, if it has
//! none, at the end of its line. Never: a wait for more than the first [`MOST`] bytes of a string, state that grows with the
//! text, an edit after invalid JSON.

use super::With;
use super::keys::{KeyMeaning, Kind, meaning_of};
use super::plausible::{is_keyed, is_nested, is_number, is_shown, may_be_secret};
use std::ops::Range;

/// How many bytes of an incomplete string suffice to accept it as a secret, and to reject it. Prose may be long.
const ENOUGH: usize = 64;
const MOST: usize = 256;

/// How many levels of arrays and objects are distinguished. In deeper ones, the keys of objects count as values.
const DEPTH: usize = u64::BITS as usize;

/// The state of reading a value.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// The level of escapes that the value is at.
    pub(super) level: usize,
    kind: Kind,
    /// A bit for each open array or object, set for an object. The outermost is the highest bit.
    objects: u64,
    depth: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before a value, with the meaning of its key.
    Value(KeyMeaning),
    /// After the opening quote of a string value.
    Begun(KeyMeaning),
    /// Inside a string that is redacted, and inside one that is not a secret.
    Secret,
    Plain,
    Number,
    Word,
    /// Before a key, inside one, and after it.
    Key,
    InKey,
    Colon(KeyMeaning),
    /// After a value.
    Next,
}

/// The result of reading part of a value.
#[derive(Debug)]
pub(super) struct Read {
    /// How many bytes were read. The rest must be read again with the following text.
    pub(super) size: usize,
    pub(super) is_over: bool,
    pub(super) places: Vec<(Range<usize>, With)>,
}

/// Whether a string under a secret key is a secret. `is_deep` means that it is inside an object there.
pub(super) fn is_secret(value: &[u8], kind: Kind, is_deep: bool) -> bool {
    match kind {
        _ if value.is_empty() || value.starts_with(b"[REDACTED:") => false,
        Kind::Own => true,
        Kind::Shown => is_shown(value),
        // The prefixes that are checked do not depend on whether the string is complete.
        Kind::Password | Kind::Other => [ENOUGH, MOST].into_iter().any(|most| {
            let front = value.get(..value.len().min(most)).unwrap_or_default();
            if is_deep { is_nested(front) } else { is_keyed(front, kind == Kind::Password) }
        }),
    }
}

/// Whether a number under a secret key is a secret.
pub(super) fn is_secret_number(value: &[u8], kind: Kind, is_deep: bool) -> bool {
    kind == Kind::Own || (!is_deep && is_number(value))
}

impl Value {
    /// A value that begins with the next byte of the text.
    pub(super) fn new(level: usize, kind: Kind) -> Self {
        Self { level, kind, objects: 0, depth: 0, state: State::Value(KeyMeaning::Unknown) }
    }

    /// Whether a value can begin with this byte.
    pub(super) fn begins(byte: u8) -> bool {
        matches!(byte, b'"' | b'{' | b'[' | b'-' | b'0'..=b'9')
    }

    /// Whether the last byte that was read is redacted and the secret may continue.
    pub(super) fn is_inside(&self) -> bool {
        matches!(self.state, State::Secret | State::Number)
    }

    /// Continues to read.
    pub(super) fn read(&mut self, text: &[u8]) -> Read {
        self.read_until(text, false)
    }

    /// Continues to read a text after which nothing arrives in time. Incomplete strings are decided by what is there.
    pub(super) fn read_all(&mut self, text: &[u8]) -> Read {
        self.read_until(text, true)
    }

    fn read_until(&mut self, text: &[u8], is_last: bool) -> Read {
        let mut read = Read { size: 0, is_over: false, places: Vec::new() };
        while let Some(&byte) = text.get(read.size) {
            let at = read.size;
            match self.state {
                State::Value(_) | State::Key | State::Colon(_) | State::Next if byte.is_ascii_whitespace() => {
                    read.size += 1;
                    continue;
                }
                State::Value(meaning) => {
                    if !self.begin(byte, meaning, text, is_last, &mut read) {
                        return read;
                    }
                }
                State::Begun(meaning) => {
                    let end = close(text, at);
                    let value = text.get(at..end.unwrap_or(text.len())).unwrap_or_default();
                    let is_cut = end.is_none() && is_last && !self.is_deep();
                    let kind = if meaning == KeyMeaning::Shows { Kind::Shown } else { self.kind };
                    let is_one = meaning != KeyMeaning::Describes
                        && (is_secret(value, kind, self.is_deep()) || (is_cut && may_be_secret(value)));
                    let most = if is_one { ENOUGH } else { MOST };
                    if end.is_none() && value.len() < most && !is_last && self.kind != Kind::Own {
                        return read;
                    }
                    if is_one {
                        read.places.push((at..at + value.len(), With::Mark));
                    }
                    self.string(end, if is_one { State::Secret } else { State::Plain }, text, &mut read);
                }
                State::Secret => {
                    let end = close(text, at);
                    read.places.push((at..end.unwrap_or(text.len()), With::Nothing));
                    self.string(end, State::Secret, text, &mut read);
                }
                State::Plain | State::InKey => self.string(close(text, at), self.state, text, &mut read),
                State::Number => {
                    let size = number(text, at);
                    match read.places.last_mut().filter(|last| last.0.end == at && size > 0) {
                        Some(last) => last.0.end += size,
                        None if size > 0 => read.places.push((at..at + size, With::Nothing)),
                        None => {}
                    }
                    read.size += size;
                    if read.size < text.len() {
                        self.state = State::Next;
                    }
                }
                State::Word if byte.is_ascii_lowercase() => read.size += 1,
                State::Word => self.state = State::Next,
                State::Key => match byte {
                    b'"' => {
                        let end = close(text, at + 1);
                        let name = text.get(at + 1..end.unwrap_or(text.len())).unwrap_or_default();
                        if end.is_none() && name.len() < ENOUGH && !is_last {
                            return read;
                        }
                        read.size += 1;
                        self.string(end, State::InKey, text, &mut read);
                        if end.is_some() {
                            let name = std::str::from_utf8(name).ok().filter(|name| name.len() < ENOUGH);
                            self.state = State::Colon(name.map(meaning_of).unwrap_or_default());
                        }
                    }
                    b'}' => self.leave(byte, &mut read),
                    _ => read.is_over = true,
                },
                State::Colon(meaning) if byte == b':' => {
                    self.state = State::Value(meaning);
                    read.size += 1;
                }
                State::Next => match byte {
                    _ if self.depth == 0 => read.is_over = true,
                    b',' if self.is_object() => self.go(State::Key, &mut read),
                    b',' => self.go(State::Value(KeyMeaning::Unknown), &mut read),
                    b':' if self.depth > DEPTH => self.go(State::Value(KeyMeaning::Unknown), &mut read),
                    b']' | b'}' => self.leave(byte, &mut read),
                    _ => read.is_over = true,
                },
                State::Colon(_) => read.is_over = true,
            }
            if self.depth == 0 && self.state == State::Next {
                read.is_over = true;
            }
            if read.is_over {
                break;
            }
        }
        read
    }

    /// Begins a value. Returns `false` if more text is needed first.
    fn begin(&mut self, byte: u8, meaning: KeyMeaning, text: &[u8], is_last: bool, read: &mut Read) -> bool {
        match byte {
            b'"' => self.go(State::Begun(meaning), read),
            b'{' | b'[' => {
                self.depth += 1;
                let is_object = byte == b'{' && self.depth <= DEPTH;
                if self.depth <= DEPTH {
                    self.objects = self.objects << 1 | u64::from(is_object);
                }
                self.go(if is_object { State::Key } else { State::Value(meaning) }, read);
            }
            b'-' | b'0'..=b'9' => {
                let size = number(text, read.size);
                let value = text.get(read.size..read.size + size).unwrap_or_default();
                if read.size + size == text.len() && size < ENOUGH && !is_last && self.kind != Kind::Own {
                    return false;
                }
                if meaning == KeyMeaning::Unknown && is_secret_number(value, self.kind, self.is_deep()) {
                    read.places.push((read.size..read.size + size, With::Quoted(self.level)));
                    self.state = State::Number;
                } else {
                    self.state = State::Next;
                }
                read.size += size;
            }
            b't' | b'f' | b'n' if self.depth > 0 => self.go(State::Word, read),
            b']' | b'}' if self.depth > 0 => self.leave(byte, read),
            _ => read.is_over = true,
        }
        true
    }

    fn go(&mut self, state: State, read: &mut Read) {
        self.state = state;
        read.size += 1;
    }

    /// Continues after the end of a string, or at the end of the text if the string is incomplete.
    fn string(&mut self, end: Option<usize>, within: State, text: &[u8], read: &mut Read) {
        match end {
            Some(end) if text.get(end) == Some(&b'"') => {
                read.size = end + 1;
                self.state = if within == State::InKey { State::Colon(KeyMeaning::Unknown) } else { State::Next };
            }
            Some(end) => {
                read.size = end;
                read.is_over = true;
            }
            None => {
                read.size = text.len();
                self.state = within;
            }
        }
    }

    fn is_object(&self) -> bool {
        self.depth <= DEPTH && self.objects & 1 == 1
    }

    /// Whether the current position is inside an object.
    fn is_deep(&self) -> bool {
        self.objects != 0
    }

    fn leave(&mut self, byte: u8, read: &mut Read) {
        if self.depth <= DEPTH {
            if self.is_object() != (byte == b'}') {
                read.is_over = true;
                return;
            }
            self.objects >>= 1;
        }
        self.depth -= 1;
        self.go(State::Next, read);
    }
}

fn number(text: &[u8], from: usize) -> usize {
    let in_number = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    text.iter().skip(from).take_while(in_number).count()
}

/// The end of a string: its quote or the end of the line, since a JSON string cannot contain a line end.
fn close(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr3(b'"', b'\\', b'\n', text.get(at..)?)?;
        if text.get(at) != Some(&b'\\') {
            return Some(at);
        }
        // Skip the escaped byte.
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds the pieces one by one. Returns the redacted text, and whether the value is complete.
    fn redacted(pieces: &[&str]) -> (String, bool) {
        let (mut value, mut rest, mut out, mut is_over) =
            (Value::new(1, Kind::Other), String::new(), String::new(), false);
        for (nth, piece) in pieces.iter().enumerate() {
            rest.push_str(piece);
            if is_over {
                continue;
            }
            // The reader of levels holds an incomplete escape back.
            let slashes = rest.bytes().rev().take_while(|byte| *byte == b'\\').count();
            let known = &rest.as_bytes()[..rest.len() - slashes % 2];
            let read = if nth + 1 == pieces.len() { value.read_all(known) } else { value.read(known) };
            let mut done = 0;
            for (place, with) in read.places {
                out.push_str(&rest[done..place.start]);
                out.push_str(match with {
                    With::Mark => "*",
                    With::Quoted(_) => "\"*\"",
                    _ => "",
                });
                done = place.end;
            }
            out.push_str(&rest[done..read.size]);
            rest.drain(..read.size);
            is_over = read.is_over;
        }
        (out + &rest, is_over)
    }

    #[test]
    fn secrets_are_redacted_at_any_depth_and_cut() {
        let deep = format!("{}{{\"a\":7128435}}{} x", "[".repeat(DEPTH + 9), "]".repeat(DEPTH + 9));
        let long = format!("\"{}\" c", "q7Zké".repeat(99));
        for (text, expected) in [
            (r#""q7Zk\"Vx2m" c"#, r#""*" c"#),
            (r#"7128435, "n": 1"#, r#""*", "n": 1"#),
            (r#"-12.5e3, "n": 1"#, r#"-12.5e3, "n": 1"#),
            (r#"["q7ZkVx2m", 12, true, null, ["Vx2m99q7"], {}] "c""#, r#"["*", 12, true, null, ["*"], {}] "c""#),
            (r#"{"v":"q7ZkVx2é","w":{"x":[1]},"y":""} 2"#, r#"{"v":"*","w":{"x":[1]},"y":""} 2"#),
            (
                r#"{"type":"string","minLength":8,"Example" : "q7ZkVx2m"}"#,
                r#"{"type":"string","minLength":8,"Example" : "q7ZkVx2m"}"#,
            ),
            (
                r#"{"type":"string","default":"x1y2z3","const":"AES256","examples":["q7ZkVx2m"],"n":1}"#,
                r#"{"type":"string","default":"*","const":"AES256","examples":["*"],"n":1}"#,
            ),
            (r#"{"typ":"q7ZkVx2m","t":"y"}"#, r#"{"typ":"*","t":"y"}"#),
            (r#"[see "below"] 1"#, r#"[see "below"] 1"#),
            (r#"["q7ZkVx2m", see "below", 1]"#, r#"["*", see "below", 1]"#),
            (r#"["q7ZkVx2m"} 1"#, r#"["*"} 1"#),
            (r#""Passwort vergessen?", "q7ZkVx2m""#, r#""Passwort vergessen?", "q7ZkVx2m""#),
            ("\"q7ZkVx2m at the end\n\"q7ZkVx2m", "\"*\n\"q7ZkVx2m"),
            (&long, "\"*\" c"),
            (&deep, &deep.replace("7128435", "\"*\"")),
        ] {
            assert_eq!(redacted(&[text]).0, expected, "{text}");
            for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
                let (front, back) = text.split_at(cut);
                assert_eq!(redacted(&[front, back, ""]).0, expected, "{front}|{back}");
            }
        }
    }
}
