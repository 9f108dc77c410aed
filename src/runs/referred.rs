//! Which artifacts the frames of a stream refer to.
//!
//! In: artifacts as they are stored, and frames as they are kept. Out: those that only frames refer to whose turn to go has
//! come. Never: one that a kept frame refers to, or one whose frame is still to come. What frames from before a restart refer
//! to is not known here: that stays until the run goes.

use crate::artifacts::Key;
use framegate_translators::artifacts::Artifact;
use framegate_translators::frame::{Body, Frame};
use std::collections::HashMap;

/// Of each artifact, the number of the last frame that refers to it.
#[derive(Debug, Default)]
pub(super) struct Referred(HashMap<[u8; 32], u64>);

impl Referred {
    /// An artifact is stored, and a frame will refer to it.
    pub(super) fn stored(&mut self, artifact: &Artifact) {
        self.0.insert(artifact.digest, u64::MAX);
    }

    /// A frame is kept.
    pub(super) fn frame(&mut self, frame: &Frame) {
        let mut note = |id: &str| {
            if let Some(Key::Digest(digest)) = Key::parse(id) {
                self.0.insert(digest, frame.seq);
            }
        };
        match &frame.body {
            Body::ArtifactWritten(written) => note(&written.artifact_id),
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

    /// Takes those that no frame refers to from that one on.
    pub(super) fn before(&mut self, frame: u64) -> Vec<[u8; 32]> {
        self.0.extract_if(|_, last| *last < frame).map(|(digest, _)| digest).collect()
    }
}
