//! References to artifacts in `tool_ended.artifacts`: `{"artifact_refs": [...]}`, in addition to the runner's own references.
//!
//! Input: what was written. Output: the JSON object; for encoders, its information about a tool's output. Never: content.

use super::ArtifactKind;
use crate::frame::{RawJson, SharedStr};
use crate::json::{Json, Object, to_raw};
use serde_json::{Map, Value, json};

/// A reference from a frame to an artifact.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub(super) artifact_id: SharedStr,
    pub(super) kind: ArtifactKind,
    pub(super) mime: SharedStr,
    pub(super) bytes: u64,
    pub(super) bytes_total: u64,
    /// The total bytes of standard output and of standard error.
    pub(super) streams: Option<(u64, u64)>,
}

/// Adds the references to the runner's own ones.
pub(super) fn with_references(own: Option<&RawJson>, references: &[Reference]) -> RawJson {
    let mut object = own.and_then(|own| serde_json::from_str::<Map<String, Value>>(own.get()).ok()).unwrap_or_default();
    let list = references.iter().map(|reference| {
        let mut entry = json!({
            "artifact_id": &*reference.artifact_id,
            "kind": reference.kind.as_str(),
            "mime": &*reference.mime,
            "bytes": reference.bytes,
        });
        if let (Some((stdout, stderr)), Some(entry)) = (reference.streams, entry.as_object_mut()) {
            entry.insert("stdout_bytes".to_owned(), stdout.into());
            entry.insert("stderr_bytes".to_owned(), stderr.into());
            entry.insert("truncated".to_owned(), (reference.bytes < reference.bytes_total).into());
        }
        entry
    });
    object.insert("artifact_refs".to_owned(), list.collect());
    to_raw(&object)
}

/// The tool's output as described by `tool_ended.artifacts`, if it was too large for frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutputRef {
    /// The artifact with the whole output.
    pub(crate) artifact_id: String,
    /// The total bytes of standard output.
    pub(crate) stdout_bytes: u64,
    /// The total bytes of standard error.
    pub(crate) stderr_bytes: u64,
}

impl OutputRef {
    /// Reads it from `tool_ended.artifacts`; `None` if no output was stored.
    pub(crate) fn of(artifacts: Option<&RawJson>) -> Option<Self> {
        Object::parse(artifacts?.get())?.items("artifact_refs").into_iter().filter_map(Json::object).find_map(|entry| {
            Some(Self {
                artifact_id: entry.str("artifact_id")?.into_owned(),
                stdout_bytes: entry.u64("stdout_bytes")?,
                stderr_bytes: entry.u64("stderr_bytes")?,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_added_to_the_runners_own_and_read_back() {
        let reference = Reference {
            artifact_id: SharedStr::from("sha256:00"),
            kind: ArtifactKind::CommandOutput,
            mime: SharedStr::from("text/plain"),
            bytes: 10,
            bytes_total: 12,
            streams: Some((9, 3)),
        };
        let image = Reference { kind: ArtifactKind::Image, streams: None, ..reference.clone() };
        let own = to_raw(&json!({"output_path": "/x"}));
        let raw = with_references(Some(&own), &[image.clone(), reference]);
        let value: Value = serde_json::from_str(raw.get()).unwrap();
        assert_eq!(value["output_path"], "/x");
        assert_eq!(value["artifact_refs"][1]["truncated"], true);
        let read = OutputRef { artifact_id: "sha256:00".to_owned(), stdout_bytes: 9, stderr_bytes: 3 };
        assert_eq!(OutputRef::of(Some(&raw)), Some(read));
        assert_eq!(OutputRef::of(Some(&with_references(None, &[image]))), None);
        assert_eq!(OutputRef::of(None), None);
    }
}
