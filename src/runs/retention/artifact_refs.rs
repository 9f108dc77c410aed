//! Which artifacts the frames of a stream refer to.
//!
//! Input: artifacts as they are stored, and frames as they are kept. Output: the artifacts that only pruned frames refer to.
//! Never: an artifact that a kept frame refers to, or that a later frame will refer to. A message may refer to media from a
//! much earlier record: such an artifact stays until a frame refers to it, or the run is dropped. References in frames from
//! before a restart are not known here: those artifacts stay until the run is dropped.

use crate::artifacts::Key;
use framegate_translators::artifacts::{Artifact, ArtifactKind};
use framegate_translators::frame::{Body, Frame};
use std::collections::HashMap;

/// In place of a frame number: the frame is still to come.
const STILL_TO_COME: u64 = u64::MAX;

/// For each artifact, the number of the last frame that refers to it.
#[derive(Debug, Default)]
pub(in crate::runs) struct ArtifactRefs(HashMap<[u8; 32], u64>);

impl ArtifactRefs {
    /// Adds a stored artifact; a later frame will refer to it.
    pub(in crate::runs) fn stored(&mut self, artifact: &Artifact) {
        self.0.insert(artifact.digest, STILL_TO_COME);
    }

    /// Takes note of the references in a kept frame.
    pub(in crate::runs) fn frame(&mut self, frame: &Frame) {
        let mut put = |id: &str, seq: u64| {
            if let Some(Key::Digest(digest)) = Key::parse(id) {
                self.0.insert(digest, seq);
            }
        };
        if let Body::ArtifactWritten(written) = &frame.body {
            put(&written.artifact_id, if is_media(&written.kind) { STILL_TO_COME } else { frame.seq });
        }
        let mut note = |id: &str| put(id, frame.seq);
        match &frame.body {
            Body::FileChanged(change) => change.artifact_id.iter().for_each(|id| note(id)),
            Body::UserMessage(message) => {
                message.attachments.iter().filter_map(|attached| attached.artifact_id.as_deref()).for_each(note);
            }
            Body::ToolEnded { artifacts: Some(artifacts), .. } => {
                artifacts.get().split('"').filter(|word| word.starts_with("sha256:")).for_each(note);
            }
            _ => {}
        }
    }

    /// Removes and returns the artifacts that are only referred to by frames before `frame`.
    pub(in crate::runs) fn before(&mut self, frame: u64) -> Vec<[u8; 32]> {
        self.0.extract_if(|_, last| *last < frame).map(|(digest, _)| digest).collect()
    }
}

/// Whether artifacts of that kind come from a record, so that later frames may refer to them.
fn is_media(kind: &str) -> bool {
    [ArtifactKind::Image, ArtifactKind::ToolResultBlob].iter().any(|media| media.as_str() == kind)
}
