//! The output of a call.
//!
//! Input: content that replaces the content before it, pieces, raw outputs. Output: what is new. Never: the arguments of a call as its
//! output; a part of the output twice.

use super::calls::{Call, Place};
use super::content::{raw_text, unfenced};
use crate::frame::OutputStream;
use crate::json::{Json, Kind};
use std::borrow::Cow;

/// Whether a text repeats the last lines of another one.
fn is_end_of(whole: &str, end: &str) -> bool {
    let end = end.trim_end();
    let before = whole.trim_end().strip_suffix(end);
    before.is_some_and(|before| before.is_empty() || before.ends_with('\n') || end.is_empty() || end.starts_with('\n'))
}

impl Call {
    /// The text of a call that ended. The raw output has it without decoration. Some agents show a summary for people, such as
    /// `Read 2 lines`, and the output only in a field of the raw output.
    pub(super) fn last_text(&self, content: Option<String>, raw: Option<Json<'_>>, is_shell: bool) -> Option<String> {
        let whole = || raw.filter(|raw| raw.kind() == Kind::String).and_then(raw_text);
        let field = || {
            let fields = raw?.object()?;
            // `stdout` alone lacks what a command wrote to its standard error.
            let key = if is_shell { "output" } else { "content" };
            fields.str(key).filter(|text| !text.is_empty()).map(Cow::into_owned)
        };
        let content = || {
            let text = content.filter(|text| !self.is_args(text))?;
            let bare = unfenced(&text);
            Some(if bare.len() == text.len() { text } else { bare.to_owned() })
        };
        let of_fields = || raw.and_then(raw_text);
        let last = || self.other.clone();
        whole().filter(|text| !text.is_empty()).or_else(field).or_else(content).or_else(of_fields).or_else(last)
    }

    /// The content so far, which replaces the one before. Only what continues it is reported now.
    pub(super) fn show(&mut self, text: String, place: &mut Place<'_>) {
        match text.strip_prefix(self.shown.as_str()) {
            Some(rest) => {
                self.emit(rest, place);
                (self.shown, self.other) = (text, None);
            }
            None => self.other = Some(text),
        }
    }

    /// The last content. It may be only the end of what was reported.
    pub(super) fn show_last(&mut self, text: &str, place: &mut Place<'_>) {
        if let Some(rest) = text.strip_prefix(self.shown.as_str()) {
            self.emit(rest, place);
            text.clone_into(&mut self.shown);
            return;
        }
        // A terminal is shown as it is; the text only repeats it.
        let is_known = self.is_streamed || is_end_of(&self.shown, text);
        if !is_known {
            if !self.shown.ends_with('\n') {
                self.emit("\n", place);
            }
            self.emit(text, place);
        }
    }

    pub(super) fn append(&mut self, piece: &str, place: &mut Place<'_>) {
        self.emit(piece, place);
        self.shown.push_str(piece);
    }

    fn emit(&self, piece: &str, place: &mut Place<'_>) {
        if !piece.is_empty() {
            place.normalizer.tool_output(self.target, &self.tool, OutputStream::Stdout, piece);
        }
    }
}
