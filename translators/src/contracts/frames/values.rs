//! What the document says about single values, beyond their types.
//!
//! Input: a frame, or one of its values. Output: findings. Never: the value in a finding.

use crate::verify::Finding;
use serde_json::Value;

/// The paths of a checkpoint's files are relative.
pub(super) fn relative_paths(frame: &Value, findings: &mut Vec<Finding>) {
    let files = frame.get("files").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (at, _) in files.iter().enumerate().filter(|(_, file)| file.as_str().is_some_and(is_absolute)) {
        let message = "an absolute path: the files of a checkpoint must have relative paths";
        findings.push(Finding::error("path.absolute", format!("/files/{at}"), message));
    }
}

/// Whether a path is absolute on any system.
fn is_absolute(path: &str) -> bool {
    let has_drive = matches!(path.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    has_drive || path.starts_with(['/', '\\'])
}

/// Bytes are in the standard alphabet of RFC 4648, padded.
pub(super) fn base64(text: &str, findings: &mut Vec<Finding>) {
    let letters = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    if !text.len().is_multiple_of(4) || !letters.bytes().all(is_letter) {
        let message = "not base64: the bytes must be in the standard alphabet, with padding";
        findings.push(Finding::error("chunk.base64", "/chunk_b64", message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_all_systems_are_recognised() {
        for path in ["/a", "\\a", "\\\\host\\share", "C:\\a", "c:/a"] {
            assert!(is_absolute(path), "{path}");
        }
        for path in ["a/b", "./a", "../a", "~/a", "C:a", "a:/b/c", ""] {
            assert_eq!(is_absolute(path), path == "a:/b/c", "{path}");
        }
    }

    #[test]
    fn base64_has_one_alphabet_and_padding() {
        for (text, is_valid) in [
            ("aGkK", true),
            ("aGk=", true),
            ("aA==", true),
            ("", true),
            ("+/+/", true),
            ("aGk", false),
            ("aG-_", false),
            ("a===", false),
            ("hello !!", false),
        ] {
            let mut findings = Vec::new();
            base64(text, &mut findings);
            assert_eq!(findings.is_empty(), is_valid, "{text}");
        }
    }
}
