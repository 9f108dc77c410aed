//! A conversation as clients of other APIs send it, and the prompt that it means for a new session.
//!
//! Input: the messages of a request. Output: the prompt with its files, and what preceded it. Never: a file of a message that is no prompt.

use framegate_translators::host::PromptFile;

/// A conversation that ends with a prompt.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    /// What the client's instructions say (`system` and `developer`).
    pub(super) instructions: String,
    /// The messages before the prompt. Several messages of the user's in a row are one.
    pub(super) history: Vec<Message>,
    /// The user's messages after the last answer.
    pub(super) prompt: String,
    /// The files of these messages.
    pub(super) files: Vec<PromptFile>,
}

/// A message of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) role: Role,
    pub(super) text: String,
    /// What the user attached.
    pub(super) files: Vec<PromptFile>,
}

impl Message {
    /// A message without files.
    pub(super) fn new(role: Role, text: String) -> Self {
        Self { role, text, files: Vec::new() }
    }
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    /// The result of a tool, from another model's part of the conversation.
    Tool,
}

impl Role {
    /// The name in the APIs.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::User => "User",
            Self::Assistant => "Assistant",
            Self::Tool => "Tool",
        }
    }
}

impl Transcript {
    /// The conversation of these messages, the last of which are the prompt. `None` if the prompt has no text.
    pub(super) fn new(instructions: Vec<String>, messages: impl Iterator<Item = Message>) -> Option<Self> {
        let mut history: Vec<Message> = Vec::new();
        for message in messages {
            match history.last_mut().filter(|last| last.role == Role::User && message.role == Role::User) {
                Some(last) => {
                    last.text = joined([std::mem::take(&mut last.text), message.text].into_iter());
                    last.files.extend(message.files);
                }
                None => history.push(message),
            }
        }
        let last = history.pop().filter(|last| last.role == Role::User && !last.text.trim().is_empty())?;
        Some(Self { instructions: joined(instructions.into_iter()), history, prompt: last.text, files: last.files })
    }

    /// The texts that the user wrote before the prompt.
    pub(super) fn earlier_prompts(&self) -> impl Iterator<Item = &str> {
        self.history.iter().filter(|message| message.role == Role::User).map(|message| message.text.as_str())
    }

    /// The files for a new session: those of the conversation so far, and those of the prompt.
    pub(super) fn opening_files(&self) -> Vec<PromptFile> {
        self.history.iter().flat_map(|message| &message.files).chain(&self.files).cloned().collect()
    }

    /// The prompt for a new session: the instructions, and the conversation so far if another session has had it.
    pub(super) fn opening_prompt(&self) -> String {
        let mut parts = Vec::new();
        if !self.instructions.is_empty() {
            parts.push(self.instructions.clone());
        }
        if !self.history.is_empty() {
            let named = |message: &Message| format!("{}:\n{}", message.role.title(), message.text);
            parts.push(format!("The conversation so far:\n\n{}", joined(self.history.iter().map(named))));
            parts.push("Answer the user's next message:".to_owned());
        }
        parts.push(self.prompt.clone());
        parts.join("\n\n")
    }
}

/// The texts that are not empty, with an empty line between them.
fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}
