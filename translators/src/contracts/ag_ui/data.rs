//! The fields of each event, and of its metadata.

use super::usage::TokenUsage;
use crate::encode::{Data, Key, ObjectWriter, Value, Word, data, key};
use crate::json::Json;
use serde_json::value::RawValue;
use uuid::Uuid;

data! {
    pub(super) struct RunStarted<'a> {
        pub(super) thread_id: &'a Uuid => "threadId",
        pub(super) run_id: &'a Uuid => "runId",
        pub(super) protocol_version: Word => "protocolVersion",
        pub(super) parent_run_id: Option<Uuid> => "parentRunId",
    }

    pub(super) struct RunFinished<'a> {
        pub(super) thread_id: &'a Uuid => "threadId",
        pub(super) run_id: &'a Uuid => "runId",
        pub(super) outcome: Outcome<'a>,
        pub(super) usage: Option<Vec<TokenUsage<'a>>>,
    }

    pub(super) struct Outcome<'a> {
        pub(super) kind: Word => "type",
        pub(super) pending: Option<&'a [String]> => "pendingToolCallIds",
    }

    pub(super) struct RunError<'a> {
        pub(super) message: &'a str,
        pub(super) code: Option<&'a str>,
        pub(super) usage: Option<Vec<TokenUsage<'a>>>,
    }

    pub(super) struct Step<'a> {
        pub(super) step_name: &'a str => "stepName",
    }

    /// The start of a message.
    pub(super) struct MessageStart {
        pub(super) subagent: Option<Uuid> => "subagentRunId",
        pub(super) message_id: Uuid => "messageId",
        pub(super) role: Word,
    }

    /// The start or the end of a span of reasoning, or the end of a message.
    pub(super) struct Message {
        pub(super) subagent: Option<Uuid> => "subagentRunId",
        pub(super) message_id: Uuid => "messageId",
    }

    pub(super) struct Content<'a> {
        pub(super) subagent: Option<Uuid> => "subagentRunId",
        pub(super) message_id: Uuid => "messageId",
        pub(super) delta: &'a str,
    }

    pub(super) struct Encrypted<'a> {
        pub(super) subagent: Option<Uuid> => "subagentRunId",
        pub(super) subtype: Word,
        pub(super) entity_id: Uuid => "entityId",
        pub(super) encrypted_value: Opaque<'a> => "encryptedValue",
    }

    pub(super) struct CallStart<'a> {
        pub(super) subagent: Option<Uuid> => "subagentRunId",
        pub(super) tool_call_id: Uuid => "toolCallId",
        pub(super) tool_call_name: &'a str => "toolCallName",
        pub(super) parent_message_id: Option<Uuid> => "parentMessageId",
    }

    pub(super) struct CallArgs<'a> {
        pub(super) subagent: Option<Uuid> => "subagentRunId",
        pub(super) tool_call_id: Uuid => "toolCallId",
        pub(super) delta: &'a str,
    }

    /// All arguments of a call at once.
    pub(super) struct WholeArgs<'a> {
        pub(super) subagent: Option<Uuid> => "subagentRunId",
        pub(super) tool_call_id: Uuid => "toolCallId",
        pub(super) delta: Arguments<'a>,
    }

    pub(super) struct CallEnd {
        pub(super) subagent: Option<Uuid> => "subagentRunId",
        pub(super) tool_call_id: Uuid => "toolCallId",
    }

    pub(super) struct CallResult<'a> {
        pub(super) subagent: Option<Uuid> => "subagentRunId",
        pub(super) message_id: Uuid => "messageId",
        pub(super) tool_call_id: Uuid => "toolCallId",
        pub(super) content: &'a str,
        pub(super) role: Word,
    }

    pub(super) struct Snapshot<'a> {
        pub(super) snapshot: State<'a>,
    }

    pub(super) struct State<'a> {
        pub(super) plan: Vec<Entry<'a>>,
    }

    pub(super) struct Entry<'a> {
        pub(super) content: &'a str,
        pub(super) status: &'a str,
        pub(super) priority: Option<&'a str>,
    }

    pub(super) struct ToolActivity<'a> {
        pub(super) subagent: Option<Uuid> => "subagentRunId",
        pub(super) message_id: Uuid => "messageId",
        pub(super) activity_type: Word => "activityType",
        pub(super) content: ToolContent<'a>,
    }

    pub(super) struct ToolContent<'a> {
        pub(super) tool_call_id: Uuid => "toolCallId",
        pub(super) output: Vec<Piece<'a>>,
    }

    /// A piece of output.
    pub(super) struct Piece<'a> {
        pub(super) stream: Word,
        pub(super) text: &'a str,
    }

    pub(super) struct TaskActivity<'a> {
        pub(super) message_id: Uuid => "messageId",
        pub(super) activity_type: Word => "activityType",
        pub(super) content: TaskContent<'a>,
    }

    pub(super) struct TaskContent<'a> {
        pub(super) task_id: Uuid => "taskId",
        pub(super) status: Word,
        pub(super) tool_name: Option<&'a str> => "toolName",
        pub(super) title: Option<&'a str>,
        pub(super) cwd: Option<&'a str>,
        pub(super) input: Option<&'a RawValue>,
        pub(super) output: Vec<Piece<'a>>,
    }

    pub(super) struct ActivityDelta<'a> {
        pub(super) subagent: Option<Uuid> => "subagentRunId",
        pub(super) message_id: Uuid => "messageId",
        pub(super) activity_type: Word => "activityType",
        pub(super) patch: Vec<Patch<'a>>,
    }

    /// One operation of a JSON Patch. `add` replaces a member that exists.
    pub(super) struct Patch<'a> {
        pub(super) op: Word,
        pub(super) path: Word,
        pub(super) value: Patched<'a>,
    }

    pub(super) struct SubagentStarted<'a> {
        pub(super) subagent: Uuid => "subagentRunId",
        pub(super) name: &'a str,
        pub(super) description: Option<&'a str>,
        pub(super) parent_subagent: Option<Uuid> => "parentSubagentRunId",
        pub(super) parent_tool_call_id: Option<Uuid> => "parentToolCallId",
    }

    pub(super) struct SubagentFinished<'a> {
        pub(super) subagent: Uuid => "subagentRunId",
        pub(super) result: Option<&'a str>,
        pub(super) outcome: Outcome<'a>,
    }

    pub(super) struct SubagentError<'a> {
        pub(super) subagent: Uuid => "subagentRunId",
        pub(super) message: &'a str,
        pub(super) code: &'a str,
    }

    /// The metadata of a run's start.
    pub(super) struct Source<'a> {
        pub(super) runner: &'a str,
    }

    /// The metadata of a step's start.
    pub(super) struct AboutStep<'a> {
        pub(super) model: Option<&'a str>,
    }

    /// The metadata of a step's end.
    pub(super) struct AboutStepEnd<'a> {
        pub(super) stop_reason: Option<&'a str> => "stopReason",
        pub(super) duration_ms: Option<u64> => "durationMs",
    }

    /// The metadata of a call's start.
    pub(super) struct AboutCall<'a> {
        pub(super) call_id: Option<&'a str> => "callId",
    }

    /// The metadata of the end of a call's arguments: only then the kind of tool is known.
    pub(super) struct AboutInput {
        pub(super) kind: Word,
    }

    /// The metadata of a result.
    pub(super) struct AboutResult<'a> {
        pub(super) exit_code: Option<i32> => "exitCode",
        pub(super) duration_ms: Option<u64> => "durationMs",
        pub(super) failure: Option<Word>,
        pub(super) artifacts: Option<&'a RawValue>,
        pub(super) omitted_bytes: Option<u64> => "omittedBytes",
    }

    /// The metadata of a subagent's start.
    pub(super) struct AboutSubagent<'a> {
        pub(super) subagent_id: &'a str => "subagentId",
    }

    /// The metadata of a subagent's end.
    pub(super) struct AboutSubagentEnd<'a> {
        pub(super) status: &'a str,
    }

    /// The metadata of a run's end.
    pub(super) struct AboutEnd<'a> {
        pub(super) error_code: Option<&'a str> => "errorCode",
        pub(super) reason: Option<&'a str>,
        pub(super) cost_usd: Option<f64> => "costUsd",
    }
}

/// The arguments of a call as text: JSON, or the text itself if the tool takes free text, as runners stream it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arguments<'a>(pub(super) &'a RawValue);

impl Value for Arguments<'_> {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        let args = self.0.get();
        if args.starts_with('"') { map.raw(key, args) } else { map.text(key, args) }
    }
}

/// The provider's item of reasoning, as a string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opaque<'a>(pub(super) &'a RawValue);

/// Where providers have what only they can read. The rest of an item is text that was sent already.
const SECRETS: [&str; 3] = ["encrypted_content", "signature", "data"];

impl Value for Opaque<'_> {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        let item = self.0.get();
        let fields = Json::parse(item).ok().and_then(Json::object);
        let secret = fields.and_then(|fields| SECRETS.into_iter().find_map(|key| fields.str(key)));
        match secret {
            Some(secret) => map.text(key, &secret),
            None if item.starts_with('"') => map.raw(key, item),
            None => map.text(key, item),
        }
    }
}

/// The value of an operation.
pub(super) enum Patched<'a> {
    Piece(Piece<'a>),
    Word(&'static str),
    Text(&'a str),
    Code(i32),
}

impl Value for Patched<'_> {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        match self {
            Self::Piece(piece) => piece.field(key, map),
            Self::Word(word) => map.word(key, word),
            Self::Text(text) => map.text(key, text),
            Self::Code(code) => map.entry(key, code),
        }
    }
}

/// The operation that adds a member, or an item to a list.
pub(super) fn add<'a>(path: &'static str, value: Patched<'a>) -> Patch<'a> {
    Patch { op: Word("add"), path: Word(path), value }
}

/// The operation that adds a piece of output.
pub(super) fn add_piece<'a>(piece: Piece<'a>) -> Patch<'a> {
    add("/output/-", Patched::Piece(piece))
}

/// A `CUSTOM` event: its name and its value.
pub(super) struct Custom<'d> {
    pub(super) subagent: Option<Uuid>,
    pub(super) name: &'static str,
    pub(super) value: &'d dyn Data,
}

impl Data for Custom<'_> {
    fn fields(&self, map: &mut ObjectWriter<'_>) {
        self.subagent.field(key!("subagentRunId"), map);
        map.word(key!("name"), self.name);
        map.object(key!("value"), |map| self.value.fields(map));
    }
}
