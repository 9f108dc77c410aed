//! Records in the user's role: tool results, prompts, and texts that the runner inserts.
//!
//! Input: `user` records of streams and transcripts. Output: results of calls, user messages, log lines. Never: the runner's
//! own text reported as a person's; a subagent's prompt reported as the user's.

use super::decoder::Claude;
use super::outcome::{Outcome, media};
use crate::frame::{Attachment, Body, LogLevel, SharedStr, UserMessage};
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, Target};
use std::borrow::Cow;

/// How the runner tells the model about an interruption.
const INTERRUPTED: &str = "[Request interrupted by user";

/// The text and attachments of a message.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) text: String,
    pub(super) attachments: Vec<Attachment>,
}

impl Content {
    pub(super) fn read(content: Option<Json<'_>>) -> Self {
        let mut this = Self::default();
        let Some(content) = content else { return this };
        if let Some(text) = content.str() {
            this.text = text.into_owned();
            return this;
        }
        for part in content.items().into_iter().filter_map(Json::object) {
            let kind = part.str("type").unwrap_or_default();
            if let Some(text) = part.str("text").filter(|_| kind == "text") {
                if !this.text.is_empty() {
                    this.text.push('\n');
                }
                this.text.push_str(&text);
            } else if kind != "tool_result" {
                let (mime, bytes) = media(&part).unzip();
                this.attachments.push(Attachment {
                    kind: SharedStr::from(if kind == "document" { "file" } else { &*kind }),
                    mime: mime.map(SharedStr::from),
                    artifact_id: None,
                    name: part.str("title").map(|title| title.into_owned()),
                    bytes: bytes.flatten(),
                });
            }
        }
        this
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.attachments.is_empty()
    }

    /// Whether it reports an interruption.
    pub(super) fn is_interruption(&self) -> bool {
        self.text.starts_with(INTERRUPTED)
    }

    /// Restores a typed command from its tags to the form in which it was typed.
    pub(super) fn untag_command(&mut self) {
        if let Some(command) = self.text.strip_prefix("<bash-input>") {
            let command = command.strip_suffix("</bash-input>").unwrap_or(command);
            self.text = format!("!{}", command.trim());
        } else if let Some(name) = tagged(&self.text, "command-name") {
            let args = tagged(&self.text, "command-args").unwrap_or_default();
            self.text = format!("{name} {args}").trim_end().to_owned();
        }
    }

    /// The output of one of the runner's own commands, or of a shell command that a person typed, without its tags.
    pub(super) fn local_output(&self) -> Option<Cow<'_, str>> {
        if let Some(text) = self.text.strip_prefix("<local-command-") {
            let (stream, text) = text.split_once('>').filter(|(stream, _)| matches!(*stream, "stdout" | "stderr"))?;
            let text = text.strip_suffix(&format!("</local-command-{stream}>")).unwrap_or(text).trim();
            return Some(Cow::Borrowed(text));
        }
        if !self.text.starts_with("<bash-stdout>") && !self.text.starts_with("<bash-stderr>") {
            return None;
        }
        let parts = ["bash-stdout", "bash-stderr"].into_iter().filter_map(|tag| tagged(&self.text, tag));
        let parts: Vec<_> = parts.map(str::trim).filter(|text| !text.is_empty()).collect();
        Some(Cow::Owned(parts.join("\n")))
    }
}

/// The text between a pair of tags.
pub(super) fn tagged<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inside, _) = rest.split_once(&format!("</{tag}>"))?;
    Some(inside)
}

impl Claude {
    pub(super) fn user_frame(&mut self, fields: &Object<'_>, index: u64, normalizer: &mut Normalizer) {
        let message = fields.object("message").unwrap_or_default();
        let parent = fields.str("parent_tool_use_id");
        let mut content = Content::read(message.get("content"));
        let synthetic = fields.bool("isSynthetic") == Some(true);
        if synthetic && parent.is_none() && self.compaction.is_some() {
            self.flush_compaction(Some(content.text), normalizer);
            return;
        }
        self.flush_compaction(None, normalizer);
        if let Some(call_id) = &parent {
            self.child_spoke(call_id, fields, normalizer);
        }
        let target = self.target(normalizer, parent.as_deref());
        for block in message.items("content").into_iter().filter_map(Json::object) {
            if block.str("type").as_deref() == Some("tool_result") {
                let outcome = Outcome::of_frame(fields, &block.str("tool_use_id").unwrap_or_default());
                self.tool_result(target, &block, &outcome, normalizer);
            }
        }
        if content.is_empty() || parent.is_some() {
            return;
        }
        if content.is_interruption() {
            self.interrupted(target, &content, normalizer);
        } else if let Some(output) = content.local_output() {
            self.log(LogLevel::Info, Some(output), normalizer);
        } else if synthetic {
            self.log(LogLevel::Debug, Some(content.text), normalizer);
        } else {
            content.untag_command();
            self.runs.ensure(normalizer, &content.text);
            self.prompt(fields, content, index, normalizer);
        }
    }

    /// Reports a person's message.
    pub(super) fn prompt(&mut self, fields: &Object<'_>, content: Content, index: u64, normalizer: &mut Normalizer) {
        let target = Target::main(self.runs.stream(normalizer));
        if content.is_empty() {
            return;
        }
        let message_id = match fields.str("uuid").filter(|uuid| !uuid.is_empty()) {
            Some(uuid) => SharedStr::from(&*uuid),
            // Records of older versions have no id. Their position in the input is equally stable.
            None => SharedStr::from(format!("user-{index}")),
        };
        let message = UserMessage { message_id, text: content.text, attachments: content.attachments };
        normalizer.push(target, Body::UserMessage(Box::new(message)));
    }

    /// Notes that the user interrupted the turn.
    pub(super) fn interrupted(&mut self, target: Target, content: &Content, normalizer: &mut Normalizer) {
        if let Some(run) = self.runs.run(target.stream) {
            run.interrupted = true;
        }
        self.log(LogLevel::Info, Some(content.text.as_str()), normalizer);
    }
}
