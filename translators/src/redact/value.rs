//! The value of a secret's key in JSON within a text: a string, a number, or all that stands in a list or an object.
//!
//! In: the text from where the value begins, and, where it comes in pieces, each piece that goes on with it. Out: the places of its
//! strings and numbers, and where it is over. It is read as the value of a secret's key in a record is: the keys in it stay, and
//! so do `true`, `false`, `null` and the type in a description of the secret. Never: a text that is held for more than the few
//! bytes of a type's name, a state that grows with the text, anything behind what is no JSON.

use super::With;
use super::record::TYPES;
use std::ops::Range;

/// How many levels of lists and objects are told apart; deeper than that the keys of objects count as values.
const DEPTH: usize = u64::BITS as usize;

/// How far a value was read.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// The level of the text that it stands at.
    pub(super) level: usize,
    /// Whether each of the lists and objects that are open is an object, the outermost first.
    objects: u64,
    depth: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before a value; `true` where its key is `type`.
    Value(bool),
    /// Behind the quote of a string that is a value.
    Begun(bool),
    /// In a string of which something was redacted.
    Secret,
    Number,
    Word,
    /// Before a key, in one, and behind it.
    Key,
    InKey,
    Colon(bool),
    /// Behind a value.
    Next,
}

/// What a text says of a value.
#[derive(Debug)]
pub(super) struct Read {
    /// So much of the text was read; the rest must be read again with what follows.
    pub(super) size: usize,
    pub(super) is_over: bool,
    pub(super) places: Vec<(Range<usize>, With)>,
}

impl Value {
    /// A value that begins with the next byte of the text.
    pub(super) fn new(level: usize) -> Self {
        Self { level, objects: 0, depth: 0, state: State::Value(false) }
    }

    /// Whether a value begins with this byte.
    pub(super) fn begins(byte: u8) -> bool {
        matches!(byte, b'"' | b'{' | b'[' | b'-' | b'0'..=b'9')
    }

    /// Whether what was read last was redacted, and may go on.
    pub(super) fn is_inside(&self) -> bool {
        matches!(self.state, State::Secret | State::Number)
    }

    /// Reads on.
    pub(super) fn read(&mut self, text: &[u8]) -> Read {
        let mut read = Read { size: 0, is_over: false, places: Vec::new() };
        while let Some(&byte) = text.get(read.size) {
            let at = read.size;
            match self.state {
                State::Value(_) | State::Key | State::Colon(_) | State::Next if byte.is_ascii_whitespace() => {
                    read.size += 1;
                    continue;
                }
                State::Value(is_type) => self.begin(byte, is_type, &mut read),
                State::Begun(is_type) => {
                    let end = close(text, at);
                    let said = text.get(at..end.unwrap_or(text.len())).unwrap_or_default();
                    let is_type =
                        is_type && TYPES.iter().any(|name| name.starts_with(said) && (end.is_none() || *name == said));
                    if is_type && end.is_none() {
                        return read;
                    }
                    if !is_type && !said.is_empty() {
                        read.places.push((at..at + said.len(), With::Mark));
                    }
                    self.string(end, State::Secret, text, &mut read);
                }
                State::Secret => {
                    let end = close(text, at);
                    read.places.push((at..end.unwrap_or(text.len()), With::Nothing));
                    self.string(end, State::Secret, text, &mut read);
                }
                State::InKey => {
                    let end = close(text, at);
                    self.string(end, State::InKey, text, &mut read);
                }
                State::Number => {
                    let rest = text.get(at..).unwrap_or_default();
                    let size = rest.iter().take_while(|byte| in_number(**byte)).count();
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
                        let is_type = b"type".get(..name.len()).is_some_and(|front| front.eq_ignore_ascii_case(name));
                        if end.is_none() && is_type {
                            return read;
                        }
                        read.size += 1;
                        self.string(end, State::InKey, text, &mut read);
                        if end.is_some() {
                            self.state = State::Colon(is_type && name.len() == 4);
                        }
                    }
                    b'}' => self.leave(byte, &mut read),
                    _ => read.is_over = true,
                },
                State::Colon(is_type) if byte == b':' => {
                    self.state = State::Value(is_type);
                    read.size += 1;
                }
                State::Next => match byte {
                    _ if self.depth == 0 => read.is_over = true,
                    b',' if self.is_object() => self.go(State::Key, &mut read),
                    b',' => self.go(State::Value(false), &mut read),
                    b':' if self.depth > DEPTH => self.go(State::Value(false), &mut read),
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

    fn begin(&mut self, byte: u8, is_type: bool, read: &mut Read) {
        match byte {
            b'"' => self.go(State::Begun(is_type), read),
            b'{' | b'[' => {
                self.depth += 1;
                let is_object = byte == b'{' && self.depth <= DEPTH;
                if self.depth <= DEPTH {
                    self.objects = self.objects << 1 | u64::from(is_object);
                }
                self.go(if is_object { State::Key } else { State::Value(false) }, read);
            }
            b'-' | b'0'..=b'9' => {
                read.places.push((read.size..read.size + 1, With::Quoted(self.level)));
                self.go(State::Number, read);
            }
            b't' | b'f' | b'n' if self.depth > 0 => self.go(State::Word, read),
            b']' | b'}' if self.depth > 0 => self.leave(byte, read),
            _ => read.is_over = true,
        }
    }

    fn go(&mut self, state: State, read: &mut Read) {
        self.state = state;
        read.size += 1;
    }

    /// Goes on behind a string's closing quote or, where there is none, at the text's end.
    fn string(&mut self, end: Option<usize>, within: State, text: &[u8], read: &mut Read) {
        match end {
            Some(end) => {
                read.size = end + 1;
                self.state = if within == State::InKey { State::Colon(false) } else { State::Next };
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

fn in_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')
}

/// Where a string closes.
fn close(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text.get(at) == Some(&b'"') {
            return Some(at);
        }
        // What stands behind a backslash is escaped.
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text as it is redacted when it comes in these pieces, and whether the value is over then.
    fn told(pieces: &[&str]) -> (String, bool) {
        let (mut value, mut rest, mut out, mut is_over) = (Value::new(1), String::new(), String::new(), false);
        for piece in pieces {
            rest.push_str(piece);
            if is_over {
                continue;
            }
            // The reader of levels keeps back an escape that is not whole.
            let slashes = rest.bytes().rev().take_while(|byte| *byte == b'\\').count();
            let read = value.read(&rest.as_bytes()[..rest.len() - slashes % 2]);
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
    fn strings_and_numbers_are_redacted_however_deep_and_wherever_they_are_cut() {
        let deep = format!("{}{{\"a\":1}}{} x", "[".repeat(DEPTH + 9), "]".repeat(DEPTH + 9));
        for (text, expected) in [
            (r#""a\"b" c"#, r#""*" c"#),
            (r#"-12.5e3, "n": 1"#, r#""*", "n": 1"#),
            (r#"["a", 12, true, null, ["b"], {}] "c""#, r#"["*", "*", true, null, ["*"], {}] "c""#),
            (r#"{"v":"é","w":{"x":[1]},"y":""} 2"#, r#"{"v":"*","w":{"x":["*"]},"y":""} 2"#),
            (r#"{"type":"string","items":{"type":"strange"}}"#, r#"{"type":"string","items":{"type":"*"}}"#),
            (r#"{"types":"string","Type" : "number"}"#, r#"{"types":"*","Type" : "number"}"#),
            (r#"{"typ":"x","t":"y"}"#, r#"{"typ":"*","t":"*"}"#),
            (r#"[see "below"] 1"#, r#"[see "below"] 1"#),
            (r#"["a", see "below", 1]"#, r#"["*", see "below", 1]"#),
            (r#"["a"} 1"#, r#"["*"} 1"#),
            (&deep, &deep.replace('1', "\"*\"").replace("\"a\"", "\"*\"")),
        ] {
            assert_eq!(told(&[text]).0, expected, "{text}");
            for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
                let (front, back) = text.split_at(cut);
                assert_eq!(told(&[front, back]).0, expected, "{front}|{back}");
            }
            let each: Vec<&str> = text.split_inclusive(|_| true).collect();
            assert_eq!(told(&each).0, expected);
        }
    }

    #[test]
    fn it_is_over_with_its_end_or_what_is_no_json() {
        for (text, is_over) in [
            ("\"a", false),
            ("\"a\"", true),
            ("1", false),
            ("1 ", true),
            ("[1", false),
            ("[[1]", false),
            ("[1]", true),
            ("[1 2", true),
        ] {
            assert_eq!(told(&[text]).1, is_over, "{text}");
        }
    }
}
