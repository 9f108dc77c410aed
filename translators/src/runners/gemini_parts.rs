//! Parts of messages in the form of the Gemini API, which more than one runner keeps in its files.
//!
//! Input: a part. Output: what is attached to a message by it. Never: the data of a picture.

use crate::frame::{Attachment, SharedStr};
use crate::json::Object;

/// The picture or file that a part attaches; `None` for other parts.
pub(super) fn attachment(part: &Object<'_>) -> Option<Attachment> {
    let data = part.object("inlineData").or_else(|| part.object("fileData"))?;
    let mime = data.str("mimeType").map(|mime| SharedStr::from(&*mime));
    let kind = if mime.as_deref().is_some_and(|mime| mime.starts_with("image/")) { "image" } else { "file" };
    let name = data.str("fileUri").map(|name| name.into_owned());
    Some(Attachment { kind: SharedStr::from(kind), mime, artifact_id: None, name, bytes: None })
}
