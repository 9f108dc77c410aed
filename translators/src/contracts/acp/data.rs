//! The fields of each message.

use super::content::Item;
use super::usage::Tokens;
use crate::encode::{Time, Word, data};
use serde_json::value::RawValue;
use uuid::Uuid;

data! {
    /// A text, or a file that belongs to a message.
    pub(super) struct Block<'a> {
        pub(super) kind: Word => "type",
        pub(super) text: Option<&'a str>,
        pub(super) uri: Option<&'a str>,
        pub(super) name: Option<&'a str>,
        pub(super) mime_type: Option<&'a str> => "mimeType",
        pub(super) size: Option<u64>,
    }

    pub(super) struct Chunk<'a> {
        pub(super) content: Block<'a>,
        pub(super) message_id: Uuid => "messageId",
    }

    pub(super) struct Location<'a> {
        pub(super) path: &'a str,
        pub(super) line: Option<u32>,
    }

    /// A call. The title is required in `tool_call` only.
    pub(super) struct Call<'a> {
        pub(super) tool_call_id: Uuid => "toolCallId",
        pub(super) title: Option<&'a str>,
        pub(super) name: Option<&'a str>,
        pub(super) kind: Option<Word>,
        pub(super) status: Option<Word>,
        pub(super) content: Option<Vec<Item<'a>>>,
        pub(super) locations: Option<Vec<Location<'a>>>,
        pub(super) raw_input: Option<&'a RawValue> => "rawInput",
        pub(super) raw_output: Option<RawOutput<'a>> => "rawOutput",
    }

    pub(super) struct RawOutput<'a> {
        pub(super) exit_code: Option<i32>,
        pub(super) duration_ms: Option<u64>,
        pub(super) output: Option<&'a str>,
        pub(super) artifacts: Option<&'a RawValue>,
        pub(super) omitted_bytes: Option<u64>,
    }

    pub(super) struct AboutCall<'a> {
        pub(super) call_id: Option<&'a str> => "callId",
        pub(super) parent_tool_call_id: Option<Uuid> => "parentToolCallId",
    }

    pub(super) struct AboutEnd {
        pub(super) failure: Option<Word>,
    }

    pub(super) struct Question<'a> {
        pub(super) tool_call: Call<'a> => "toolCall",
        pub(super) options: Vec<Choice>,
    }

    /// An answer that a question offers.
    pub(super) struct Choice {
        pub(super) option_id: Word => "optionId",
        pub(super) name: Word,
        pub(super) kind: Word,
    }

    pub(super) struct AboutQuestion<'a> {
        pub(super) reason: Option<&'a str>,
        pub(super) parent_tool_call_id: Option<Uuid> => "parentToolCallId",
    }

    pub(super) struct AboutDecision<'a> {
        pub(super) decision: Word,
        pub(super) by: Option<&'a str>,
        pub(super) reason: Option<&'a str>,
        pub(super) scope: Option<&'a str>,
    }

    pub(super) struct Plan<'a> {
        pub(super) entries: Vec<Entry<'a>>,
    }

    pub(super) struct Entry<'a> {
        pub(super) content: &'a str,
        pub(super) priority: Word,
        pub(super) status: Word,
    }

    pub(super) struct ConfigOptions<'a> {
        pub(super) config_options: Vec<ConfigOption<'a>> => "configOptions",
    }

    pub(super) struct ConfigOption<'a> {
        pub(super) id: Word,
        pub(super) name: Word,
        pub(super) category: Word,
        pub(super) kind: Word => "type",
        pub(super) current_value: &'a str => "currentValue",
        pub(super) options: Vec<ConfigValue<'a>>,
    }

    pub(super) struct ConfigValue<'a> {
        pub(super) value: &'a str,
        pub(super) name: &'a str,
    }

    pub(super) struct SessionInfo {
        pub(super) updated_at: Time => "updatedAt",
    }

    pub(super) struct AboutStart<'a> {
        pub(super) runner: &'a str,
    }

    pub(super) struct AboutTask<'a> {
        pub(super) runner: &'a str,
        pub(super) origin_run: Option<Uuid> => "originRunId",
    }

    pub(super) struct AboutNotice<'a> {
        pub(super) notice: Notice<'a>,
    }

    /// The fields of the update `notice`, and a code.
    pub(super) struct Notice<'a> {
        pub(super) severity: Word,
        pub(super) title: &'a str,
        pub(super) description: Option<&'a str>,
        pub(super) code: Option<&'a str>,
    }

    pub(super) struct AboutCompaction<'a> {
        pub(super) compaction: Compaction<'a>,
    }

    pub(super) struct Compaction<'a> {
        pub(super) compaction_id: Uuid => "compactionId",
        pub(super) trigger: Option<&'a str>,
        pub(super) tokens_before: Option<u64> => "tokensBefore",
        pub(super) tokens_after: Option<u64> => "tokensAfter",
        pub(super) summary: Option<&'a str>,
    }

    pub(super) struct AboutCheckpoint<'a> {
        pub(super) checkpoint: Checkpoint<'a>,
    }

    pub(super) struct Checkpoint<'a> {
        pub(super) status: Word,
        pub(super) checkpoint_id: Option<&'a Uuid> => "checkpointId",
        pub(super) label: Option<&'a str>,
        pub(super) files: Option<&'a [String]>,
        pub(super) created_at_ms: Option<u64> => "createdAtMs",
        pub(super) auto: Option<bool>,
        pub(super) tool_name: Option<&'a str> => "toolName",
        pub(super) action: Option<Word>,
        pub(super) error: Option<&'a str>,
    }

    pub(super) struct AboutUsage {
        pub(super) usage: Tokens,
        pub(super) cost_usd: Option<f64> => "costUsd",
    }

    pub(super) struct Answer {
        pub(super) stop_reason: Word => "stopReason",
        pub(super) usage: Option<Tokens>,
    }

    pub(super) struct AboutAnswer<'a> {
        pub(super) cost_usd: Option<f64> => "costUsd",
        pub(super) code: Option<&'a str>,
        pub(super) message: Option<&'a str>,
    }

    /// The data of an error.
    pub(super) struct Failure<'a> {
        pub(super) code: Option<&'a str>,
        pub(super) usage: Option<Tokens>,
    }

    pub(super) struct AboutFailure {
        pub(super) cost_usd: Option<f64> => "costUsd",
    }
}

/// A call with its id only.
pub(super) fn call(tool_call_id: Uuid) -> Call<'static> {
    Call {
        tool_call_id,
        title: None,
        name: None,
        kind: None,
        status: None,
        content: None,
        locations: None,
        raw_input: None,
        raw_output: None,
    }
}

/// A text.
pub(super) fn text(text: &str) -> Block<'_> {
    Block { kind: Word("text"), text: Some(text), uri: None, name: None, mime_type: None, size: None }
}
