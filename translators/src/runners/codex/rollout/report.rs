//! What the runner says about a command in the output for the model.
//!
//! Input: the output's text. Output: how the command ended, and its own output. Never: a line of the command's output taken for
//! the runner's.

use crate::json::Object;
use std::borrow::Cow;

/// The runner's report about a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Report<'a> {
    Exited {
        code: i64,
        output: Cow<'a, str>,
        wall_ms: Option<u64>,
    },
    /// It continues in a session.
    Running {
        session: &'a str,
        output: &'a str,
    },
    Other,
}

impl<'a> Report<'a> {
    pub(super) fn read(text: &'a str) -> Self {
        if let Some(report) = Self::document(text) {
            return report;
        }
        let (mut code, mut wall_ms, mut session, mut rest) = (None, None, None, text);
        while let Some((line, after)) = rest.split_once('\n') {
            rest = after;
            if let Some(number) =
                line.strip_prefix("Process exited with code ").or_else(|| line.strip_prefix("Exit code: "))
            {
                code = number.trim().parse().ok();
            } else if let Some(id) = line.strip_prefix("Process running with session ID ") {
                session = Some(id.trim());
            } else if let Some(wall) = line.strip_prefix("Wall time: ") {
                wall_ms = seconds_ms(wall);
            } else if line == "Output:" {
                break;
            } else if !["Chunk ID: ", "Original token count: ", "Total output lines: "]
                .iter()
                .any(|known| line.starts_with(known))
            {
                return Self::Other;
            }
        }
        match (session, code) {
            (Some(session), _) => Self::Running { session, output: rest },
            (None, Some(code)) => Self::Exited { code, output: Cow::Borrowed(rest), wall_ms },
            (None, None) => Self::Other,
        }
    }

    /// Reads the form of older versions: `{"output":…,"metadata":{"exit_code":…,"duration_seconds":…}}`.
    fn document(text: &'a str) -> Option<Self> {
        if !text.starts_with('{') {
            return None;
        }
        let fields = Object::parse(text.trim_end())?;
        let metadata = fields.object("metadata")?;
        let wall_ms = metadata.f64("duration_seconds").map(|seconds| (seconds * 1000.0) as u64);
        Some(Self::Exited { code: metadata.i64("exit_code")?, output: fields.str("output")?, wall_ms })
    }
}

/// The milliseconds in a text such as `1.5 seconds`.
pub(super) fn seconds_ms(text: &str) -> Option<u64> {
    let seconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some((seconds * 1000.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_an_output_is_read() {
        assert_eq!(
            Report::read(
                "Chunk ID: 1\nWall time: 1.5 seconds\nProcess exited with code 2\nOriginal token count: 1\nOutput:\none\nOutput:\n"
            ),
            Report::Exited { code: 2, output: "one\nOutput:\n".into(), wall_ms: Some(1500) }
        );
        assert_eq!(
            Report::read("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n"),
            Report::Exited { code: 0, output: "Success.\n".into(), wall_ms: Some(0) }
        );
        let running = "Chunk ID: 1\nWall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\nx";
        assert_eq!(Report::read(running), Report::Running { session: "7", output: "x" });
        assert_eq!(Report::read("Wall time: 1.2 seconds\naborted by user"), Report::Other);
        assert_eq!(Report::read("patch rejected\nProcess exited with code 0\n"), Report::Other);
        assert_eq!(Report::read(""), Report::Other);
    }

    #[test]
    fn the_report_of_an_older_version_is_a_document() {
        let ran = r#"{"output":"a\nb","metadata":{"exit_code":3,"duration_seconds":0.2}}"#;
        assert_eq!(Report::read(ran), Report::Exited { code: 3, output: "a\nb".into(), wall_ms: Some(200) });
        for other in [r#"{"output":"a"}"#, r#"{"metadata":{"exit_code":0}}"#, "{", r#"{"output":"a","metadata":{}}"#] {
            assert_eq!(Report::read(other), Report::Other, "{other}");
        }
        let cut = "Exit code: 0\nWall time: 1 seconds\nTotal output lines: 900\nOutput:\n1\n…\n900";
        let output = "1\n…\n900".into();
        assert_eq!(Report::read(cut), Report::Exited { code: 0, output, wall_ms: Some(1000) });
    }
}
