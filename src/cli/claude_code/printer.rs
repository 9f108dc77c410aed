//! The forms of the output.
//!
//! Input: messages. Output: what is written for them, in lines. Never: a control message in another form than `stream-json`.

use super::fields::Fields;
use super::invocation::Output;

/// Writes messages in one form.
#[derive(Debug)]
pub(super) struct Printer {
    output: Output,
    /// With `json`: all messages instead of the result.
    is_verbose: bool,
    has_begun: bool,
}

impl Printer {
    pub(super) fn new(output: Output, is_verbose: bool) -> Self {
        Self { output, is_verbose, has_begun: false }
    }

    /// What is written for a message; `None` for nothing.
    pub(super) fn message(&mut self, message: &Fields) -> Option<String> {
        let kind = message.text("type");
        match self.output {
            Output::Stream => Some(message.line()),
            Output::Json if self.is_verbose => {
                let start = if std::mem::replace(&mut self.has_begun, true) { "," } else { "[" };
                (!kind.starts_with("control_")).then(|| format!("{start}{}", message.line()))
            }
            Output::Json => (kind == "result").then(|| message.line()),
            Output::Text => (kind == "result").then(|| text(message)),
        }
    }

    /// What is written at the end.
    pub(super) fn end(&self) -> Option<String> {
        match (self.output == Output::Json && self.is_verbose, self.has_begun) {
            (true, true) => Some("]".to_owned()),
            (true, false) => Some("[]".to_owned()),
            (false, _) => None,
        }
    }
}

/// The text of a result: the answer, or what went wrong.
fn text(result: &Fields) -> String {
    match result.get("result") {
        Some(text) => text,
        None => format!("Error: {}", result.get::<Vec<String>>("errors").unwrap_or_default().join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn printed(output: Output, is_verbose: bool) -> String {
        let mut printer = Printer::new(output, is_verbose);
        let messages = [
            json!({"type": "system", "subtype": "init"}),
            json!({"type": "control_cancel_request", "request_id": "1"}),
            json!({"type": "result", "subtype": "success", "result": "done\nall"}),
        ];
        let mut lines: Vec<String> =
            messages.iter().filter_map(|message| printer.message(&Fields::of(message))).collect();
        lines.extend(printer.end());
        lines.join("\n")
    }

    #[test]
    fn each_form_has_its_messages() {
        assert_eq!(printed(Output::Text, false), "done\nall");
        assert_eq!(printed(Output::Stream, true).lines().count(), 3);
        let result: Value = serde_json::from_str(&printed(Output::Json, false)).unwrap();
        assert_eq!(result["result"], "done\nall");
        let all: Value = serde_json::from_str(&printed(Output::Json, true)).unwrap();
        assert_eq!(all.as_array().unwrap().len(), 2);
        assert_eq!(Printer::new(Output::Json, true).end().as_deref(), Some("[]"));
        let failed = Fields::of(&json!({"type": "result", "errors": ["a", "b"]}));
        assert_eq!(Printer::new(Output::Text, false).message(&failed).as_deref(), Some("Error: a; b"));
    }
}
