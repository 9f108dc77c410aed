//! What becomes an artifact.
//!
//! Input: content from a frame or a record, and what is known about it. Output: an artifact of a stream. Never: content that is cut
//! here.

use super::media::Media;
use super::{Artifact, ArtifactKind, Patched, digest_of};
use crate::frame::{FileChanged, SharedStr, Stream};
use std::sync::Arc;

/// The content and properties of a new artifact.
pub(super) struct Draft<'a> {
    pub(super) kind: ArtifactKind,
    /// `None` for a kind that has only one.
    pub(super) mime: Option<SharedStr>,
    pub(super) content: Vec<u8>,
    pub(super) bytes_total: u64,
    pub(super) call_id: Option<SharedStr>,
    pub(super) patched: Option<Patched>,
    pub(super) preview: Option<&'a str>,
}

impl Draft<'_> {
    /// The patch of a changed file.
    pub(super) fn of_patch(change: &FileChanged, diff: &str, call_id: Option<SharedStr>) -> Self {
        Self {
            kind: ArtifactKind::Patch,
            mime: None,
            content: diff.as_bytes().to_vec(),
            bytes_total: diff.len() as u64,
            call_id,
            patched: Some(Patched { path: change.path.clone(), kind: change.kind }),
            preview: None,
        }
    }

    /// An image or a file in a record.
    pub(super) fn of_media(media: Media, call_id: Option<SharedStr>) -> Self {
        let is_image = media.mime.starts_with("image/");
        Self {
            kind: if is_image { ArtifactKind::Image } else { ArtifactKind::ToolResultBlob },
            mime: Some(SharedStr::from(media.mime)),
            bytes_total: media.content.len() as u64,
            content: media.content,
            call_id,
            patched: None,
            preview: None,
        }
    }

    /// The artifact, of frames of this stream that have this time.
    pub(super) fn artifact(self, stream: &Arc<Stream>, created_at_ms: u64) -> Artifact {
        Artifact {
            stream: stream.clone(),
            digest: digest_of(&self.content),
            kind: self.kind,
            mime: self.kind.mime(self.mime),
            content: self.content.into(),
            bytes_total: self.bytes_total,
            created_at_ms,
            call_id: self.call_id,
            patched: self.patched,
        }
    }
}
