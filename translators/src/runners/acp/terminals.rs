//! Terminals that tools show.
//!
//! Input: output of terminals, as text or as base64 in pieces that may cut a character. Output: the output of the calls that show them. Never: a
//! terminal of another session; more terminals than a bound; more than [`MOST_HELD`] bytes of a terminal that no call shows yet.

use super::calls::{Call, Place};
use super::sessions::Turn;
use crate::frame::SharedStr;
use crate::json::{Kind, Object};
use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};

/// The maximum number of terminals that no call shows yet.
const MOST_WAITING: usize = 64;

/// The maximum length of the output that is held for the call that will show the terminal, in bytes.
const MOST_HELD: usize = 1 << 20;

/// How much of the end of the output is kept, in bytes, to find it again in an output that is cut at its front.
const TAIL: usize = 256;

/// Output of a terminal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Printed<'b> {
    /// Everything so far.
    Whole(&'b [u8]),
    /// The end of everything so far.
    End(&'b [u8]),
    /// What follows the output so far.
    Next(&'b [u8]),
}

/// A terminal of the running turn.
#[derive(Debug, Default)]
pub(super) struct Terminal {
    /// The call that shows it.
    call: Option<SharedStr>,
    /// Output from before a call showed the terminal.
    held: String,
    /// The length of the output so far, in bytes.
    length: usize,
    /// The last bytes of the output so far.
    tail: Vec<u8>,
    /// Bytes of a character that is not complete.
    partial: Vec<u8>,
    /// How its command ended, if that was said before the call ended.
    exit_code: Option<i32>,
}

impl Terminal {
    /// Adds bytes; returns the complete characters.
    fn add(&mut self, bytes: &[u8]) -> String {
        self.length += bytes.len();
        self.tail.extend_from_slice(bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default());
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
        self.partial.extend_from_slice(bytes);
        let keep = match std::str::from_utf8(&self.partial) {
            Ok(_) => 0,
            Err(error) if error.error_len().is_none() => self.partial.len() - error.valid_up_to(),
            Err(_) => incomplete(&self.partial),
        };
        let rest = self.partial.split_off(self.partial.len() - keep);
        let whole = std::mem::replace(&mut self.partial, rest);
        String::from_utf8_lossy(&whole).into_owned()
    }

    /// The whole output so far; returns what is new. A snapshot that is shorter than what is known adds nothing.
    fn snapshot(&mut self, bytes: &[u8]) -> String {
        self.add(bytes.get(self.length..).unwrap_or_default())
    }

    /// An output whose front was cut off because it is too long; returns what is new: what follows the end of the output so far,
    /// or everything if that end was cut off.
    fn cut(&mut self, bytes: &[u8]) -> String {
        let known = memchr::memmem::rfind(bytes, &self.tail).filter(|_| !self.tail.is_empty());
        let new = known.map_or(0, |at| at + self.tail.len());
        self.add(bytes.get(new..).unwrap_or_default())
    }

    /// Holds output until a call shows the terminal.
    fn hold(&mut self, text: &str) {
        if self.held.len() + text.len() <= MOST_HELD {
            self.held.push_str(text);
        }
    }

    /// Takes the output that was held.
    fn take_held(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

impl Turn {
    /// A call shows a terminal, perhaps after its first output.
    pub(super) fn link(&mut self, terminal: &SharedStr, call: &mut Call, place: &mut Place<'_>) {
        let most = self.calls.order.len() + MOST_WAITING;
        if !self.calls.terminals.contains_key(terminal) && self.calls.terminals.len() > most {
            return;
        }
        let terminal = self.calls.terminals.entry(terminal.clone()).or_default();
        call.exit_code = call.exit_code.or(terminal.exit_code);
        terminal.call = Some(call.id.clone());
        let held = terminal.take_held();
        if !held.is_empty() {
            call.is_streamed = true;
            self.start(call, place);
            call.append(&held, place);
        }
    }

    /// A terminal has output, or its command ended.
    pub(super) fn terminal(
        &mut self,
        id: &str,
        output: Option<Printed<'_>>,
        exit_code: Option<i32>,
        place: &mut Place<'_>,
    ) {
        if !self.calls.terminals.contains_key(id) {
            if self.calls.terminals.len() >= self.calls.order.len() + MOST_WAITING {
                return;
            }
            self.calls.terminals.insert(SharedStr::from(id), Terminal::default());
        }
        let Some(terminal) = self.calls.terminals.get_mut(id) else { return };
        terminal.exit_code = exit_code.or(terminal.exit_code);
        let text = match output {
            Some(Printed::Whole(bytes)) => terminal.snapshot(bytes),
            Some(Printed::End(bytes)) => terminal.cut(bytes),
            Some(Printed::Next(bytes)) => terminal.add(bytes),
            None => String::new(),
        };
        let Some(call) = terminal.call.clone() else { return terminal.hold(&text) };
        let Some(mut call) = self.calls.open.remove(&call) else { return };
        call.exit_code = exit_code.or(call.exit_code);
        if !text.is_empty() {
            call.is_streamed = true;
            self.start(&mut call, place);
            call.append(&text, place);
        }
        self.calls.open.insert(call.id.clone(), call);
    }

    /// An update of a terminal (version 2).
    pub(super) fn terminal_update(&mut self, update: &Object<'_>, is_piece: bool, place: &mut Place<'_>) {
        let Some(id) = update.str("terminalId") else { return };
        let output = match is_piece {
            true => update.get("data"),
            false => update.object("output").and_then(|output| output.get("data")),
        };
        let output = output.filter(|output| output.kind() != Kind::Null);
        let data = output.and_then(|output| decoded(&output.str()?));
        if output.is_some() && data.is_none() {
            place.normalizer.add_error("the output of a terminal is not base64");
        }
        let code = || i32::try_from(update.object("exitStatus")?.i64("exitCode")?).ok();
        let printed = if is_piece { Printed::Next } else { Printed::Whole };
        self.terminal(&id, data.as_deref().map(printed), code(), place);
    }
}

/// The length of an incomplete character at the end of bytes that are invalid elsewhere.
fn incomplete(bytes: &[u8]) -> usize {
    let is_cut = |&length: &usize| {
        let tail = bytes.len().checked_sub(length).and_then(|at| bytes.get(at..)).unwrap_or_default();
        std::str::from_utf8(tail).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=3).find(is_cut).unwrap_or(0)
}

/// Decodes base64 in either alphabet, with or without padding; `None` if the text is no base64.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    BASE64_NOPAD.decode(digits).or_else(|_| BASE64URL_NOPAD.decode(digits)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_without_its_front_continues_the_one_before() {
        let mut terminal = Terminal::default();
        assert_eq!(terminal.cut(b"all of it"), "all of it");
        assert_eq!(terminal.cut(b"of it and more"), "of it and more", "the end of the output so far is not there");
        assert_eq!(terminal.snapshot(b""), "");
        let long = "0123456789".repeat(60);
        let mut terminal = Terminal::default();
        assert_eq!(terminal.snapshot(long.as_bytes()), long);
        assert_eq!(terminal.cut(format!("{}new", &long[300..]).as_bytes()), "new");
        assert_eq!(terminal.cut(b"other"), "other");
    }

    #[test]
    fn so_much_is_held_for_a_call_that_shows_the_terminal_later() {
        let mut terminal = Terminal::default();
        terminal.hold(&"a".repeat(MOST_HELD - 1));
        terminal.hold("b");
        terminal.hold("c");
        let held = terminal.take_held();
        assert_eq!((held.len(), held.ends_with("ab")), (MOST_HELD, true));
        assert_eq!(terminal.take_held(), "");
    }

    #[test]
    fn a_character_that_is_cut_is_held() {
        let mut terminal = Terminal::default();
        assert_eq!(terminal.add(&decoded("Y29tcGlsaW5nIOKc").unwrap()), "compiling ");
        assert_eq!(terminal.add(&decoded("kwo=").unwrap()), "\u{2713}\n");
        assert_eq!(terminal.snapshot("compiling \u{2713}\nmore".as_bytes()), "more");
        assert_eq!(terminal.snapshot(b"compiling"), "");
        assert_eq!(terminal.add(b"\xFFa\xE2"), "\u{FFFD}a");
        assert_eq!(terminal.add(b"\x9C\x93"), "\u{2713}");
        assert_eq!(decoded("a b"), None);
        assert_eq!((decoded("+/8="), decoded("-_8")), (Some(vec![0xFB, 0xFF]), Some(vec![0xFB, 0xFF])));
    }
}
