//! A person's prompt: the parts of a user message.
//!
//! Input: the parts, one at a time. Output: the person's text and attachments. Never: what the runner itself inserts (synthetic
//! texts, the request to compact, the copy of a prompt that did not fit); the content of an attachment.

use crate::frame::{Attachment, Body, SharedStr, UserMessage};
use crate::json::{Json, Object};
use std::hash::{DefaultHasher, Hasher};

/// A user message whose parts are arriving.
#[derive(Debug)]
pub(super) struct Prompt {
    /// The message's id.
    pub(super) id: SharedStr,
    /// When it was started, in Unix epoch milliseconds; `None` if the message does not say.
    pub(super) created_ms: Option<u64>,
    /// The text so far.
    pub(super) text: String,
    attachments: Vec<Attachment>,
    /// The trigger, `auto` or `manual`, if the message requests a compaction.
    pub(super) compaction: Option<&'static str>,
    /// Whether that compaction was requested because the context could not hold the message before.
    overflow: bool,
    /// Whether the runner wrote the message, to continue its work.
    pub(super) continues: bool,
    parts: Vec<SharedStr>,
}

/// The maximum number of parts that are read per message.
const PARTS: usize = 1024;

impl Prompt {
    /// A message without parts.
    pub(super) fn new(id: &str) -> Self {
        Self {
            id: SharedStr::from(id),
            created_ms: None,
            text: String::new(),
            attachments: Vec::new(),
            compaction: None,
            overflow: false,
            continues: false,
            parts: Vec::new(),
        }
    }

    /// Adds a part. A part that was read before is ignored.
    pub(super) fn part(&mut self, part: &Object<'_>) {
        let id = part.str("id").unwrap_or_default();
        if self.parts.len() >= PARTS || (!id.is_empty() && self.parts.iter().any(|known| **known == *id)) {
            return;
        }
        self.parts.push(SharedStr::from(&*id));
        match part.str("type").as_deref() {
            Some("text") => {
                let metadata = part.object("metadata").unwrap_or_default();
                self.continues |= metadata.bool("compaction_continue") == Some(true);
                if part.bool("synthetic") != Some(true) && part.bool("ignored") != Some(true) {
                    self.push(part.str("text").as_deref().unwrap_or_default());
                }
            }
            Some("subtask") => self.push(part.str("prompt").as_deref().unwrap_or_default()),
            Some("file") => self.attachments.push(attachment(part)),
            Some("compaction") => {
                let auto = part.bool("auto") == Some(true);
                self.continues |= auto;
                self.overflow |= part.bool("overflow") == Some(true);
                self.compaction = Some(if auto { "auto" } else { "manual" });
            }
            _ => {}
        }
    }

    /// Whether no part has arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.text.is_empty() && self.attachments.is_empty()
    }

    /// Adds text on a new line.
    pub(super) fn push(&mut self, text: &str) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    /// Adds an attachment.
    pub(super) fn attach(&mut self, part: &Object<'_>) {
        self.attachments.push(attachment(part));
    }

    /// The message as a frame; `None` if it has no text and no attachments.
    pub(super) fn into_body(self) -> Option<Body> {
        if self.text.is_empty() && self.attachments.is_empty() {
            return None;
        }
        let message = UserMessage { message_id: self.id, text: self.text, attachments: self.attachments };
        Some(Body::UserMessage(Box::new(message)))
    }
}

/// Recognises the copy of a prompt that the runner sends itself after a compaction, because the context could not hold the prompt.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// The last prompt of a person.
    last: Option<Digest>,
    /// The prompt whose copy follows, unless another message does.
    expected: Option<Digest>,
}

/// The length of a text, and its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digest(usize, u64);

impl Digest {
    fn of(text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(text.as_bytes());
        Self(text.len(), hasher.finish())
    }

    /// Whether a text is a copy of this one. A copy has a line of text in the place of each attachment.
    fn is_copied_by(self, text: &str) -> bool {
        let Some((copy, rest)) = text.split_at_checked(self.0) else { return false };
        Self::of(copy) == self && rest.lines().all(|line| line.is_empty() || line.starts_with("[Attached "))
    }
}

impl Copies {
    /// Notes the next message of a session. Returns whether it is the copy of the one before.
    pub(super) fn is_next(&mut self, prompt: &Prompt) -> bool {
        if prompt.compaction.is_some() {
            self.expected = self.last.filter(|_| prompt.overflow);
            return false;
        }
        let expected = self.expected.take();
        if prompt.continues {
            return false;
        }
        self.last = Some(Digest::of(&prompt.text));
        expected.is_some_and(|expected| expected.is_copied_by(&prompt.text))
    }
}

/// A file, by reference.
fn attachment(file: &Object<'_>) -> Attachment {
    let mime = file.str("mime").filter(|mime| !mime.is_empty());
    let kind = if mime.as_deref().is_some_and(|mime| mime.starts_with("image/")) { "image" } else { "file" };
    let url = file.get("url").or_else(|| file.get("uri"));
    let path = || file.object("source")?.str("path");
    let name = file.str("filename").or_else(|| file.str("name")).or_else(path);
    Attachment {
        kind: SharedStr::from(kind),
        mime: mime.map(|mime| SharedStr::from(&*mime)),
        artifact_id: None,
        name: name.map(std::borrow::Cow::into_owned).or_else(|| reference(url?)),
        bytes: url.and_then(inline_bytes),
    }
}

/// A URL, unless it contains the data itself (`data:`).
pub(super) fn reference(url: Json<'_>) -> Option<String> {
    let text = url.text();
    (!text.starts_with("\"data:")).then(|| url.str().map(std::borrow::Cow::into_owned))?
}

/// The number of bytes encoded in a base64 `data:` URL.
pub(super) fn inline_bytes(url: Json<'_>) -> Option<u64> {
    let inner = url.text().strip_prefix("\"data:")?.strip_suffix('"')?;
    let (_, content) = inner.split_once(";base64,")?;
    let padding = content.len() - content.trim_end_matches('=').len();
    Some((content.len() as u64 / 4 * 3).saturating_sub(padding as u64))
}
