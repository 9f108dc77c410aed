//! Lists of messages, bounded in bytes, and their JSON.

use super::super::attributes::bounded;
use framegate_translators::frame::{Attachment, SharedStr, ToolCall};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What a part counts besides its text, so that many empty parts are bounded as well.
pub(super) const PART_BYTES: usize = 64;

/// How much may be held, and how much was taken of it.
pub(super) struct Meter {
    /// The most bytes of text in one attribute.
    pub(super) limit: usize,
    /// How many bytes all runs may still hold.
    pub(super) room: usize,
    /// How many bytes were taken; negative if more was released.
    pub(super) used: isize,
}

/// The beginning of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    kept: String,
    omitted: u64,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    User,
    Assistant,
    Tool,
}

/// A part of a message.
#[derive(Debug)]
pub(super) enum Part {
    Text(Text),
    Reasoning(Text),
    Call { id: SharedStr, name: SharedStr, arguments: Text },
    Response { id: SharedStr, result: Text },
    File { modality: SharedStr, mime: Option<SharedStr>, id: SharedStr },
}

/// Messages of one attribute.
#[derive(Debug, Default)]
pub(super) struct Messages {
    list: Vec<(Role, Vec<Part>)>,
    held: usize,
    /// Bytes of parts that were left out as a whole.
    omitted: u64,
}

/// A message in the form of the conventions.
#[derive(Serialize)]
struct ShownMessage<'m> {
    role: Role,
    parts: Vec<ShownPart<'m>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'m str>,
}

/// A part in the form of the conventions.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ShownPart<'m> {
    Text {
        content: Cow<'m, str>,
    },
    Reasoning {
        content: Cow<'m, str>,
    },
    ToolCall {
        id: String,
        name: String,
        arguments: Arguments<'m>,
    },
    ToolCallResponse {
        id: String,
        response: Cow<'m, str>,
    },
    File {
        modality: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        file_id: String,
    },
}

/// Arguments: JSON, or the beginning of it as a text.
#[derive(Serialize)]
#[serde(untagged)]
enum Arguments<'m> {
    Json(&'m RawValue),
    Text(Cow<'m, str>),
}

impl Meter {
    /// As much of a text as may be held.
    pub(super) fn text(&mut self, text: &str) -> Text {
        let mut kept = Text::default();
        kept.append(text, self);
        kept
    }

    /// Counts something that is held besides texts. Returns whether there was room for it.
    pub(super) fn entry(&mut self) -> bool {
        let has_room = self.has_room();
        if has_room {
            self.count(PART_BYTES);
        }
        has_room
    }

    /// Whether there is room for another part or entry.
    pub(super) fn has_room(&self) -> bool {
        self.free() >= PART_BYTES
    }

    fn free(&self) -> usize {
        self.room.saturating_add_signed(self.used.saturating_neg())
    }

    fn count(&mut self, bytes: usize) {
        self.used = self.used.saturating_add_unsigned(bytes);
    }
}

impl Text {
    pub(super) fn held(&self) -> usize {
        self.kept.len()
    }

    pub(super) fn omitted(&self) -> u64 {
        self.omitted
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.omitted == 0
    }

    /// Adds a text at the end. Once something was left out, nothing more is kept: what is kept is a beginning.
    pub(super) fn append(&mut self, text: &str, meter: &mut Meter) {
        let free = meter.limit.saturating_sub(self.kept.len()).min(meter.free());
        let most = if self.omitted == 0 { text.floor_char_boundary(free) } else { 0 };
        let (kept, rest) = text.split_at(most);
        self.kept.push_str(kept);
        self.omitted += rest.len() as u64;
        meter.count(kept.len());
    }

    /// Adds a text at the front. What then exceeds the limit is left out at the end.
    pub(super) fn prepend(&mut self, text: &str, meter: &mut Meter) {
        let before = self.kept.len();
        let free = meter.limit.min(before.saturating_add(meter.free()));
        self.kept.insert_str(0, text);
        let most = self.kept.floor_char_boundary(free);
        self.omitted += (self.kept.len() - most) as u64;
        self.kept.truncate(most);
        meter.used = meter.used.saturating_sub_unsigned(before);
        meter.count(most);
    }

    /// As much of this text as may be held elsewhere.
    pub(super) fn copied(&self, meter: &mut Meter) -> Self {
        let mut copy = meter.text(&self.kept);
        copy.omitted += self.omitted;
        copy
    }

    /// The text, with a mark where the rest was left out.
    pub(super) fn shown(&self) -> Cow<'_, str> {
        match self.omitted {
            0 => Cow::Borrowed(&self.kept),
            bytes => Cow::Owned(format!("{}… [{bytes} bytes left out]", self.kept)),
        }
    }

    /// Whether this is the text, or the beginning of it.
    fn is(&self, text: &str) -> bool {
        if self.omitted == 0 { self.kept == text } else { text.starts_with(&self.kept) }
    }
}

impl Part {
    pub(super) fn call(call: &ToolCall, meter: &mut Meter) -> Self {
        let arguments = meter.text(call.args.get());
        Self::Call { id: call.tool.call_id.clone(), name: call.name.clone(), arguments }
    }

    /// A stored attachment, by reference. An attachment whose content is not stored has none.
    pub(super) fn file(attachment: &Attachment) -> Option<Self> {
        let id = attachment.artifact_id.clone()?;
        Some(Self::File { modality: attachment.kind.clone(), mime: attachment.mime.clone(), id })
    }

    fn text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) | Self::Reasoning(text) => Some(text),
            Self::Call { arguments, .. } => Some(arguments),
            Self::Response { result, .. } => Some(result),
            Self::File { .. } => None,
        }
    }

    fn shown(&self) -> ShownPart<'_> {
        match self {
            Self::Text(text) => ShownPart::Text { content: text.shown() },
            Self::Reasoning(text) => ShownPart::Reasoning { content: text.shown() },
            Self::Call { id, name, arguments } => {
                let whole = Some(arguments).filter(|arguments| arguments.omitted == 0);
                let json = whole.and_then(|arguments| serde_json::from_str(&arguments.kept).ok());
                let arguments = json.map_or_else(|| Arguments::Text(arguments.shown()), Arguments::Json);
                ShownPart::ToolCall { id: bounded(id), name: bounded(name), arguments }
            }
            Self::Response { id, result } => ShownPart::ToolCallResponse { id: bounded(id), response: result.shown() },
            Self::File { modality, mime, id } => ShownPart::File {
                modality: bounded(modality),
                mime_type: mime.as_deref().map(bounded),
                file_id: bounded(id),
            },
        }
    }
}

impl Messages {
    /// How many bytes the messages count.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// How many bytes were left out.
    pub(super) fn omitted(&self) -> u64 {
        let parts = self.parts().filter_map(Part::text);
        self.omitted + parts.map(Text::omitted).sum::<u64>()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether one of the messages is this text.
    pub(super) fn has_text(&self, text: &str) -> bool {
        self.parts().any(|part| matches!(part, Part::Text(known) if known.is(text)))
    }

    pub(super) fn has_call(&self) -> bool {
        self.parts().any(|part| matches!(part, Part::Call { .. }))
    }

    /// Adds a message with one part.
    pub(super) fn push(&mut self, role: Role, meter: &mut Meter, part: impl FnOnce(&mut Meter) -> Part) {
        if let Some(part) = self.fitted(meter, part) {
            self.list.push((role, vec![part]));
        }
    }

    /// Adds a part to the last message if that has the same role, otherwise as a message.
    pub(super) fn extend(&mut self, role: Role, meter: &mut Meter, part: impl FnOnce(&mut Meter) -> Part) {
        let Some(part) = self.fitted(meter, part) else { return };
        match self.list.last_mut() {
            Some((last, parts)) if *last == role => parts.push(part),
            _ => self.list.push((role, vec![part])),
        }
    }

    /// The part with as much text as the attribute may still have; `None` if there is no room even for an empty part.
    fn fitted(&mut self, meter: &mut Meter, part: impl FnOnce(&mut Meter) -> Part) -> Option<Part> {
        let mut rest = Meter {
            limit: meter.limit.saturating_sub(self.held),
            room: meter.free().saturating_sub(PART_BYTES),
            used: 0,
        };
        let fits = rest.limit > PART_BYTES && meter.free() >= PART_BYTES;
        rest.limit = if fits { rest.limit - PART_BYTES } else { 0 };
        let part = part(&mut rest);
        let text = part.text().cloned().unwrap_or_default();
        if !fits {
            self.omitted += text.omitted;
            return None;
        }
        let size = PART_BYTES + text.held();
        self.held += size;
        meter.count(size);
        Some(part)
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.list.iter().flat_map(|(_, parts)| parts)
    }

    /// The messages as JSON; `None` if there are none. Each gets the finish reason.
    pub(super) fn json(&self, finish_reason: Option<&str>) -> Option<String> {
        let shown: Vec<_> = self
            .list
            .iter()
            .map(|(role, parts)| ShownMessage {
                role: *role,
                parts: parts.iter().map(Part::shown).collect(),
                finish_reason,
            })
            .collect();
        // Texts and parsed JSON can always be written.
        (!shown.is_empty()).then(|| serde_json::to_string(&shown).ok()).flatten()
    }
}
