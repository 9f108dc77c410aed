//! Artifacts: content that is too large for a frame, or not text, is stored by the hash of its bytes and referenced.
//!
//! Input: frames in order, as the normalizer numbered them. Output: the frames again, renumbered, with an `artifact_written` before
//! each frame that refers to an artifact, and the artifacts' bytes. Never: a record that is cut (`provider_event.data` stays
//! unchanged), a frame for an artifact whose bytes are not returned, or a dependence on how the input was cut into chunks.
//!
//! This stage comes after the normalizer and is not part of it. The normalizer has already settled what is emitted and closed, and
//! another stage can run in between. So a secret that is redacted in the frames is in no artifact either.
//!
//! These become artifacts:
//!
//! - **A tool's output**, if one of its streams has more than [`Bounds::inline_bytes`]: standard output, then standard error.
//!   Pieces up to the bound are emitted as they arrive. The piece that crosses the bound is cut to what
//!   [`Bounds::preview_bytes`] still allows, and later pieces are held. When the tool ends, the artifact is written with the
//!   whole output, and `tool_ended` refers to it. A client that shows live output shows the beginning and fetches the rest at
//!   the end.
//! - **A patch**: the runner's diff of a changed file. It also stays in the frame if it is within the bound.
//! - **Images** and other media that a record contains in base64: they follow the record. A tool's end refers to those found
//!   with its call id. A person's message refers to those with the type and size of an attachment.

mod draft;
mod media;
mod output;
mod reference;

pub(crate) use reference::OutputRef;

use crate::frame::{
    ArtifactWritten, Attachment, Body, FileChangeKind, FileChanged, Frame, SharedStr, Stream, StreamKind, Tool, is_last,
};
use crate::hash::HashMap;
use draft::Draft;
use media::{Media, media_in};
use output::Output;
use reference::{Reference, with_references};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::sync::Arc;
use uuid::Uuid;

/// How many media are remembered for later messages that refer to them.
const REMEMBERED: usize = 64;

/// The limits for artifacts, all in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How much of one stream of a tool's output, or of a diff, may be in frames.
    pub inline_bytes: usize,
    /// How much of larger content is in frames, and of any text in `artifact_written`.
    pub preview_bytes: usize,
    /// Maximum size of an artifact. A longer output is cut and marked as truncated; anything else that is longer is not stored.
    pub max_bytes: usize,
    /// Total output of running tools that may be held; output beyond this is missing from the artifacts.
    pub max_open_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { inline_bytes: 64 << 10, preview_bytes: 4 << 10, max_bytes: 32 << 20, max_open_bytes: 128 << 20 }
    }
}

/// The kind of an artifact (as in `spec/hecate-v1.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArtifactKind {
    /// A tool's output: standard output, then standard error.
    CommandOutput,
    /// A unified diff.
    Patch,
    /// An image.
    Image,
    /// Other bytes with a media type.
    ToolResultBlob,
}

impl ArtifactKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::CommandOutput, Self::Patch, Self::Image, Self::ToolResultBlob];

    /// The media type of an artifact of this kind; `said` is what its record says.
    pub fn mime(self, said: Option<SharedStr>) -> SharedStr {
        match self {
            Self::CommandOutput => SharedStr::from("text/plain"),
            Self::Patch => SharedStr::from("text/x-diff"),
            Self::Image | Self::ToolResultBlob => said.unwrap_or_else(|| SharedStr::from("application/octet-stream")),
        }
    }

    /// The value in the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CommandOutput => "command_output",
            Self::Patch => "patch",
            Self::Image => "image",
            Self::ToolResultBlob => "tool_result_blob",
        }
    }
}

/// The file changed by a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patched {
    /// Its path, in the runner's spelling.
    pub path: String,
    /// What happened to it.
    pub kind: FileChangeKind,
}

/// An artifact: its bytes and their origin.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The stream whose frames refer to it.
    pub stream: Arc<Stream>,
    /// SHA-256 of `content`.
    pub digest: [u8; 32],
    /// The kind of artifact.
    pub kind: ArtifactKind,
    /// Its media type.
    pub mime: SharedStr,
    /// The bytes.
    pub content: Box<[u8]>,
    /// The number of bytes before they were cut to [`Bounds::max_bytes`].
    pub bytes_total: u64,
    /// Unix epoch milliseconds: the time of its `artifact_written` frame.
    pub created_at_ms: u64,
    /// The runner's id of the call that produced it.
    pub call_id: Option<SharedStr>,
    /// The file changed by a patch; `None` for other kinds.
    pub patched: Option<Patched>,
}

impl Artifact {
    /// `sha256:` and the lower-case hex digest.
    pub fn id(&self) -> SharedStr {
        SharedStr::from(id_of(&self.digest))
    }
}

/// The id of the artifact with that SHA-256.
pub fn id_of(digest: &[u8; 32]) -> String {
    format!("sha256:{}", data_encoding::HEXLOWER.encode(digest))
}

/// The artifact stage.
#[derive(Debug)]
pub struct Artifacts {
    bounds: Bounds,
    /// The next sequence number of each open stream.
    next_seq: HashMap<(StreamKind, Uuid), u64>,
    /// The output of running tools.
    outputs: HashMap<Uuid, Output>,
    /// The runner's call ids of running tools.
    calls: HashMap<Uuid, SharedStr>,
    open_bytes: usize,
    /// The media of the current record.
    media: Vec<StoredMedia>,
    /// The media of earlier records.
    earlier: VecDeque<StoredMedia>,
    written: Vec<Artifact>,
    /// The media of the last record among frames that were read.
    offered: Vec<Media>,
}

/// Media that were stored.
#[derive(Clone, Debug)]
struct StoredMedia {
    reference: Reference,
    /// The ids from the enclosing objects in the record.
    around: Arc<[String]>,
    is_claimed: bool,
}

impl Artifacts {
    /// A stage at the start of its input.
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            next_seq: HashMap::default(),
            outputs: HashMap::default(),
            calls: HashMap::default(),
            open_bytes: 0,
            media: Vec::new(),
            earlier: VecDeque::new(),
            written: Vec::new(),
            offered: Vec::new(),
        }
    }

    /// Processes the next frame; appends the resulting frames to `out`.
    ///
    /// A frame that was read from frames stays as it is: its proxy has moved out what was large.
    pub fn frame(&mut self, mut frame: Frame, out: &mut Vec<Frame>) {
        if frame.given_id.is_some() {
            self.restore(&frame);
            return self.emit(frame, out);
        }
        match &mut frame.body {
            Body::ProviderEvent(record) => {
                self.forget_media();
                let found = record.data.as_deref().map(|data| media_in(data, self.bounds.max_bytes));
                let (stream, timestamp_ms, parent) = (frame.stream.clone(), frame.timestamp_ms, frame.parent_tool_id);
                self.emit(frame, out);
                let context = FrameContext { stream, timestamp_ms, parent };
                for media in found.unwrap_or_default() {
                    self.store_media(media, &context, out);
                }
                return;
            }
            Body::ToolStarted { call, .. } => {
                self.calls.insert(call.tool.id, call.tool.call_id.clone());
            }
            Body::ToolStdout { tool, chunk } | Body::ToolStdoutTail { tool, chunk } if !chunk.is_empty() => {
                self.hold(tool, chunk, output::Piece::Stdout);
                if chunk.is_empty() {
                    return;
                }
            }
            Body::ToolStdoutFront { tool, chunk } if !chunk.is_empty() => {
                self.hold(tool, chunk, output::Piece::Front);
                if chunk.is_empty() {
                    return;
                }
            }
            Body::ToolStderr { tool, chunk } if !chunk.is_empty() => {
                self.hold(tool, chunk, output::Piece::Stderr);
                if chunk.is_empty() {
                    return;
                }
            }
            Body::ToolEnded { tool, artifacts, .. } => {
                let tool = tool.clone();
                let mut references = Vec::new();
                references.extend(self.finish(
                    &tool,
                    &FrameContext::of(&frame.stream, frame.timestamp_ms, frame.parent_tool_id),
                    out,
                ));
                references.extend(self.claim_by_call(&tool.call_id));
                if !references.is_empty() {
                    *artifacts = Some(with_references(artifacts.as_ref(), &references));
                }
            }
            Body::ToolFailed { tool, error } => {
                let tool = tool.clone();
                let context = FrameContext::of(&frame.stream, frame.timestamp_ms, frame.parent_tool_id);
                self.finish(&tool, &context, out);
                self.shorten(&tool, error, &context, out);
            }
            Body::FileChanged(change) => {
                let context = FrameContext::of(&frame.stream, frame.timestamp_ms, frame.parent_tool_id);
                self.patch(change, &context, out);
            }
            Body::UserMessage(message) => {
                for attachment in message.attachments.iter_mut().filter(|attached| attached.artifact_id.is_none()) {
                    self.claim_by_shape(attachment);
                }
            }
            _ => {}
        }
        self.emit(frame, out);
    }

    /// Stores an artifact that a frame names, if the frame, or the record before it, has its content.
    fn restore(&mut self, frame: &Frame) {
        match &frame.body {
            Body::ProviderEvent(record) => {
                let data = record.data.as_deref();
                self.offered = data.map(|data| media_in(data, self.bounds.max_bytes)).unwrap_or_default();
            }
            Body::ToolStarted { call, .. } => {
                self.calls.insert(call.tool.id, call.tool.call_id.clone());
            }
            Body::ToolEnded { tool, .. } | Body::ToolFailed { tool, .. } => {
                self.calls.remove(&tool.id);
            }
            Body::ArtifactWritten(written) => {
                let is_it = |media: &Media| id_of(&digest_of(&media.content)) == *written.artifact_id;
                if let Some(at) = self.offered.iter().position(is_it) {
                    let media = self.offered.swap_remove(at);
                    let call_id = self.call_of(&media);
                    let draft = Draft::of_media(media, call_id);
                    self.written.push(draft.artifact(&frame.stream, frame.timestamp_ms));
                }
            }
            Body::FileChanged(change) => {
                let of = |diff| Draft::of_patch(change, diff, self.call_of_change(change));
                let draft = change.diff.as_deref().map(of);
                let artifact = draft.map(|draft| draft.artifact(&frame.stream, frame.timestamp_ms));
                self.written.extend(artifact.filter(|artifact| change.artifact_id == Some(artifact.id())));
            }
            _ => {}
        }
    }

    /// The artifacts that were written since the last call, in order.
    pub fn take(&mut self) -> Vec<Artifact> {
        std::mem::take(&mut self.written)
    }

    fn emit(&mut self, mut frame: Frame, out: &mut Vec<Frame>) {
        let key = (frame.stream.kind, frame.stream.id);
        if is_last(&frame) {
            frame.seq = self.next_seq.remove(&key).unwrap_or_default();
        } else {
            let next = self.next_seq.entry(key).or_default();
            frame.seq = *next;
            *next += 1;
        }
        out.push(frame);
    }

    /// Holds a piece of output; leaves in `chunk` the part to emit now.
    fn hold(&mut self, tool: &Tool, chunk: &mut String, part: output::Piece) {
        let output = self.outputs.entry(tool.id).or_default();
        let before = output.held();
        let room = self.bounds.max_open_bytes.saturating_sub(self.open_bytes);
        let shown = output.push(part, chunk, &self.bounds, room);
        self.open_bytes = (self.open_bytes + output.held()).saturating_sub(before);
        chunk.truncate(shown);
    }

    /// A tool is over: its output becomes an artifact if it was too large.
    fn finish(&mut self, tool: &Tool, context: &FrameContext, out: &mut Vec<Frame>) -> Option<Reference> {
        self.calls.remove(&tool.id);
        let output = self.outputs.remove(&tool.id)?;
        self.open_bytes = self.open_bytes.saturating_sub(output.held());
        if !output.is_large() {
            return None;
        }
        let (stdout_bytes, stderr_bytes) = output.bytes();
        let bytes_total = stdout_bytes + stderr_bytes;
        let text = output.into_text();
        let preview = self.preview(&text).to_owned();
        let draft = Draft {
            kind: ArtifactKind::CommandOutput,
            mime: None,
            content: text.into_bytes(),
            bytes_total,
            call_id: named(&tool.call_id),
            patched: None,
            preview: Some(&preview),
        };
        let reference = self.write(draft, context, out);
        Some(Reference { streams: Some((stdout_bytes, stderr_bytes)), ..reference })
    }

    /// Cuts the error of a failed tool, which may be as long as any output.
    fn shorten(&mut self, tool: &Tool, error: &mut String, context: &FrameContext, out: &mut Vec<Frame>) {
        if error.len() <= self.bounds.inline_bytes {
            return;
        }
        let preview = self.preview(error).to_owned();
        let kept = error.floor_char_boundary(self.bounds.max_bytes.min(error.len()));
        let draft = Draft {
            kind: ArtifactKind::CommandOutput,
            mime: None,
            content: error.as_bytes().get(..kept).unwrap_or_default().to_vec(),
            bytes_total: error.len() as u64,
            call_id: named(&tool.call_id),
            patched: None,
            preview: Some(&preview),
        };
        self.write(draft, context, out);
        *error = preview;
    }

    fn patch(&mut self, change: &mut FileChanged, context: &FrameContext, out: &mut Vec<Frame>) {
        let Some(diff) = change.diff.as_deref() else { return };
        let (is_large, is_stored) = (diff.len() > self.bounds.inline_bytes, diff.len() <= self.bounds.max_bytes);
        // A patch that was cut would be useless.
        if is_stored {
            let preview = self.preview(diff).to_owned();
            let draft = Draft::of_patch(change, diff, self.call_of_change(change));
            let draft = Draft { preview: Some(&preview), ..draft };
            change.artifact_id = Some(self.write(draft, context, out).artifact_id);
        }
        if is_large {
            change.diff = None;
        }
    }

    /// The call that a medium in a record belongs to.
    fn call_of(&self, media: &Media) -> Option<SharedStr> {
        self.calls.values().find(|call| media.around.iter().any(|id| **id == ***call)).cloned()
    }

    /// The call that a change belongs to.
    fn call_of_change(&self, change: &FileChanged) -> Option<SharedStr> {
        change.tool_id.and_then(|tool| self.calls.get(&tool)).and_then(named)
    }

    fn store_media(&mut self, media: Media, context: &FrameContext, out: &mut Vec<Frame>) {
        let around: Arc<[String]> = media.around.clone().into();
        let call_id = self.call_of(&media);
        let draft = Draft::of_media(media, call_id);
        let digest = digest_of(&draft.content);
        // A record may contain the same content twice, once for the model and once for people.
        if self.media.iter().any(|stored| *stored.reference.artifact_id == id_of(&digest)) {
            return;
        }
        let reference = self.write(draft, context, out);
        self.media.push(StoredMedia { reference, around, is_claimed: false });
    }

    fn forget_media(&mut self) {
        self.earlier.extend(self.media.drain(..));
        while self.earlier.len() > REMEMBERED {
            self.earlier.pop_front();
        }
    }

    /// The media of this record that were found with a call's id.
    fn claim_by_call(&mut self, call_id: &str) -> Vec<Reference> {
        let of_call = |stored: &&mut StoredMedia| !call_id.is_empty() && stored.around.iter().any(|id| id == call_id);
        let claim = |stored: &mut StoredMedia| {
            stored.is_claimed = true;
            stored.reference.clone()
        };
        self.media.iter_mut().filter(of_call).map(claim).collect()
    }

    /// Finds an attachment's content: media with that type and size, in this record or shortly before it.
    fn claim_by_shape(&mut self, attachment: &mut Attachment) {
        let fits = |stored: &&mut StoredMedia, is_here: bool| {
            let reference = &stored.reference;
            let bytes = attachment.bytes.map_or(is_here, |bytes| bytes == reference.bytes);
            let mime = attachment.mime.as_ref().map_or(is_here, |mime| *mime == reference.mime);
            let kind =
                attachment.mime.is_some() || (&*attachment.kind == "image") == (reference.kind == ArtifactKind::Image);
            // An attachment with a name is a reference, not content, unless it has a size.
            let is_content = attachment.bytes.is_some() || attachment.name.is_none();
            !stored.is_claimed && bytes && mime && kind && is_content
        };
        let here = self.media.iter_mut().find(|stored| fits(stored, true));
        let found = here.or_else(|| self.earlier.iter_mut().find(|stored| fits(stored, false)));
        if let Some(stored) = found {
            stored.is_claimed = true;
            attachment.artifact_id = Some(stored.reference.artifact_id.clone());
            attachment.bytes = Some(stored.reference.bytes);
            attachment.mime.get_or_insert_with(|| stored.reference.mime.clone());
        }
    }

    fn write(&mut self, draft: Draft<'_>, context: &FrameContext, out: &mut Vec<Frame>) -> Reference {
        let preview = draft.preview.map(str::to_owned);
        let artifact = draft.artifact(&context.stream, context.timestamp_ms);
        let reference = Reference {
            artifact_id: artifact.id(),
            kind: artifact.kind,
            mime: artifact.mime.clone(),
            bytes: artifact.content.len() as u64,
            bytes_total: artifact.bytes_total,
            streams: None,
        };
        let body = Body::ArtifactWritten(Box::new(ArtifactWritten {
            artifact_id: reference.artifact_id.clone(),
            kind: SharedStr::from(artifact.kind.as_str()),
            bytes: reference.bytes,
            digest: reference.artifact_id.clone(),
            preview,
        }));
        let frame = Frame {
            stream: context.stream.clone(),
            seq: 0,
            timestamp_ms: context.timestamp_ms,
            parent_tool_id: context.parent,
            given_id: None,
            body,
        };
        self.written.push(artifact);
        self.emit(frame, out);
        reference
    }

    fn preview<'t>(&self, text: &'t str) -> &'t str {
        text.get(..text.floor_char_boundary(self.bounds.preview_bytes.min(text.len()))).unwrap_or_default()
    }
}

/// The stream, time and parent of an artifact's frame.
struct FrameContext {
    stream: Arc<Stream>,
    timestamp_ms: u64,
    parent: Option<Uuid>,
}

impl FrameContext {
    fn of(stream: &Arc<Stream>, timestamp_ms: u64, parent: Option<Uuid>) -> Self {
        Self { stream: stream.clone(), timestamp_ms, parent }
    }
}

fn digest_of(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

fn named(call_id: &SharedStr) -> Option<SharedStr> {
    (!call_id.is_empty()).then(|| call_id.clone())
}
