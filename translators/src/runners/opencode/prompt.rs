//! What a person asked: the parts of a user's message.
//!
//! In: the parts, one at a time. Out: the person's own words and what they attached. Never: what the runner itself put
//! into the message (synthetic texts, the order to compact), an attachment's content.

use crate::frame::{Attachment, Body, Name, UserMessage};
use crate::json::{Json, Object};

/// A user's message whose parts come in.
#[derive(Debug)]
pub(super) struct Prompt {
    /// The message's id.
    pub(super) id: Name,
    /// When it was begun, in Unix epoch milliseconds, if the message said so.
    pub(super) created_ms: Option<u64>,
    /// The words so far.
    pub(super) text: String,
    attachments: Vec<Attachment>,
    /// The message orders a compaction: `auto` or `manual`.
    pub(super) compaction: Option<&'static str>,
    /// The runner wrote it, to go on with what it was doing.
    pub(super) continues: bool,
    parts: Vec<Name>,
}

/// How many parts of one message are told apart.
const PARTS: usize = 1024;

impl Prompt {
    /// A message without parts.
    pub(super) fn new(id: &str) -> Self {
        Self {
            id: Name::from(id),
            created_ms: None,
            text: String::new(),
            attachments: Vec::new(),
            compaction: None,
            continues: false,
            parts: Vec::new(),
        }
    }

    /// Reads a part; one that was read before changes nothing.
    pub(super) fn part(&mut self, part: &Object<'_>) {
        let id = part.str("id").unwrap_or_default();
        if self.parts.len() >= PARTS || (!id.is_empty() && self.parts.iter().any(|known| **known == *id)) {
            return;
        }
        self.parts.push(Name::from(&*id));
        match part.str("type").as_deref() {
            Some("text") => {
                let metadata = part.object("metadata").unwrap_or_default();
                self.continues |= metadata.bool("compaction_continue") == Some(true);
                if part.bool("synthetic") != Some(true) && part.bool("ignored") != Some(true) {
                    self.say(part.str("text").as_deref().unwrap_or_default());
                }
            }
            Some("subtask") => self.say(part.str("prompt").as_deref().unwrap_or_default()),
            Some("file") => self.attachments.push(attachment(part)),
            Some("compaction") => {
                let auto = part.bool("auto") == Some(true);
                self.continues |= auto;
                self.compaction = Some(if auto { "auto" } else { "manual" });
            }
            _ => {}
        }
    }

    /// Whether no part came yet.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.text.is_empty() && self.attachments.is_empty()
    }

    /// More words.
    pub(super) fn say(&mut self, text: &str) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    /// Something attached.
    pub(super) fn attach(&mut self, part: &Object<'_>) {
        self.attachments.push(attachment(part));
    }

    /// The frame of it; `None` where nobody said anything.
    pub(super) fn into_body(self) -> Option<Body> {
        if self.text.is_empty() && self.attachments.is_empty() {
            return None;
        }
        let message = UserMessage { message_id: self.id, text: self.text, attachments: self.attachments };
        Some(Body::UserMessage(Box::new(message)))
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
        kind: Name::from(kind),
        mime: mime.map(|mime| Name::from(&*mime)),
        artifact_id: None,
        name: name.map(std::borrow::Cow::into_owned).or_else(|| reference(url?)),
        bytes: url.and_then(inline_bytes),
    }
}

/// A URL that refers to something, instead of holding it.
pub(super) fn reference(url: Json<'_>) -> Option<String> {
    let text = url.text();
    (!text.starts_with("\"data:")).then(|| url.str().map(std::borrow::Cow::into_owned))?
}

/// How many bytes a base64 `data:` URL holds.
pub(super) fn inline_bytes(url: Json<'_>) -> Option<u64> {
    let inner = url.text().strip_prefix("\"data:")?.strip_suffix('"')?;
    let (_, content) = inner.split_once(";base64,")?;
    let padding = content.len() - content.trim_end_matches('=').len();
    Some((content.len() as u64 / 4 * 3).saturating_sub(padding as u64))
}
