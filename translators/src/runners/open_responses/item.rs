//! One output item: what it is, and what of it has been said.
//!
//! In: the `item` objects of events. Out: plain state, kept until the response ends. Never: an item's text (the ledger
//! has it while it is open; afterwards a hash is enough to see whether a repetition agrees).

use super::event::{Sort, Text};
use crate::frame::{Name, RawJson, Tool};
use crate::json::Object;
use std::collections::BTreeMap;

/// The types of items, as far as they differ in translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum ItemKind {
    Message,
    Reasoning,
    Function,
    Custom,
    Mcp,
    CodeInterpreter,
    ApplyPatch,
    Shell,
    LocalShell,
    WebSearch,
    FileSearch,
    ImageGeneration,
    Computer,
    ToolSearch,
    Program,
    /// `mcp_list_tools`.
    ToolList,
    ApprovalRequest,
    ApprovalResponse,
    /// The output of a call.
    Output,
    Compaction,
    /// An implementor's own, or one that is not known.
    Other,
}

impl ItemKind {
    /// The kind of an item type.
    pub(super) fn of(word: &str) -> Self {
        match word {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" => Self::Function,
            "custom_tool_call" => Self::Custom,
            "mcp_call" => Self::Mcp,
            "code_interpreter_call" => Self::CodeInterpreter,
            "apply_patch_call" => Self::ApplyPatch,
            "shell_call" => Self::Shell,
            "local_shell_call" => Self::LocalShell,
            "web_search_call" => Self::WebSearch,
            "file_search_call" => Self::FileSearch,
            "image_generation_call" => Self::ImageGeneration,
            "computer_call" => Self::Computer,
            "tool_search_call" => Self::ToolSearch,
            "program" => Self::Program,
            "mcp_list_tools" => Self::ToolList,
            "mcp_approval_request" => Self::ApprovalRequest,
            "mcp_approval_response" => Self::ApprovalResponse,
            "compaction" => Self::Compaction,
            "function_call_output"
            | "custom_tool_call_output"
            | "apply_patch_call_output"
            | "shell_call_output"
            | "local_shell_call_output"
            | "computer_call_output"
            | "tool_search_output"
            | "program_output" => Self::Output,
            _ => Self::Other,
        }
    }

    /// Whether the item is a call of a tool.
    pub(super) fn is_call(self) -> bool {
        !matches!(
            self,
            Self::Message
                | Self::Reasoning
                | Self::ToolList
                | Self::ApprovalRequest
                | Self::ApprovalResponse
                | Self::Output
                | Self::Compaction
                | Self::Other
        )
    }
}

/// One output item.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) kind: ItemKind,
    /// Its id when it was first spoken of.
    pub(super) id: Option<Name>,
    /// Its place in the output when it was first spoken of.
    pub(super) index: Option<u64>,
    /// The name of its blocks: its id, or one derived from its place.
    pub(super) message_id: Name,
    /// The upstream announced it, rather than speaking of its parts only.
    pub(super) announced: bool,
    /// An event spoke of it by an id that is known to be its own.
    pub(super) confirmed: bool,
    /// It has a second id.
    pub(super) aliased: bool,
    /// It is whole.
    pub(super) finished: bool,
    /// Its parts that have been spoken of.
    pub(super) parts: BTreeMap<(Sort, u32), Part>,
    /// The part of each list that was spoken of last.
    pub(super) latest: [Option<u32>; 2],
    /// What it is as a call, where it is one.
    pub(super) call: Option<Box<Call>>,
    /// The call whose output it is.
    pub(super) output_of: Option<Name>,
    /// Bytes of each command's output that have been said, for each of its two streams.
    pub(super) output_said: BTreeMap<(u64, bool), usize>,
}

/// A part of an item.
#[derive(Debug)]
pub(super) struct Part {
    /// Its block index.
    pub(super) block: u32,
    /// Whose text it is.
    pub(super) text: Text,
    /// Once it is whole: the hash of its text.
    pub(super) whole: Option<u64>,
}

/// A call of a tool.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// The call's own id, which its output names.
    pub(super) call_id: Option<Name>,
    /// Its names in frames, from the first frame on.
    pub(super) tool: Option<Tool>,
    /// The tool's name; "" until it is known.
    pub(super) name: Name,
    /// The input so far.
    pub(super) input: String,
    /// Half of a surrogate pair at its end.
    pub(super) high: Option<u16>,
    /// The input is whole.
    pub(super) input_done: bool,
    /// What was proposed.
    pub(super) proposed: Option<RawJson>,
    /// It runs, or ran.
    pub(super) started: bool,
    /// It is over.
    pub(super) ended: bool,
    /// A stage event said how it ended.
    pub(super) verdict: Option<bool>,
    /// The server runs it, as far as its item has said.
    pub(super) on_server: bool,
    /// When it was first spoken of.
    pub(super) since_ms: u64,
}

impl Item {
    /// An item of which nothing is known but how it was spoken of. `named` says whether `message_id` is its own id.
    pub(super) fn new(kind: ItemKind, named: bool, message_id: Name, index: Option<u64>, now_ms: u64) -> Self {
        let id = named.then(|| message_id.clone());
        let call = kind.is_call().then(|| Box::new(Call { since_ms: now_ms, ..Call::default() }));
        Self {
            kind,
            id,
            index,
            message_id,
            announced: false,
            confirmed: false,
            aliased: false,
            finished: false,
            parts: BTreeMap::new(),
            latest: [None; 2],
            call,
            output_of: None,
            output_said: BTreeMap::new(),
        }
    }

    /// Takes over what an item object says of names and places.
    pub(super) fn learn(&mut self, fields: &Object<'_>) {
        let call_id = fields.str("call_id").filter(|id| !id.is_empty());
        if self.kind == ItemKind::Output {
            self.output_of = self.output_of.take().or_else(|| call_id.as_deref().map(Name::from));
        }
        let Some(call) = &mut self.call else { return };
        if let (None, Some(call_id)) = (&call.call_id, call_id) {
            call.call_id = Some(Name::from(&*call_id));
            // Frames that are out keep their id; the name that the client answers to is the call's own.
            if let Some(tool) = &mut call.tool {
                tool.call_id = Name::from(&*call_id);
            }
        }
        if let Some(name) = super::tool::name(self.kind, fields).filter(|_| call.name.is_empty()) {
            call.name = name;
        }
        call.on_server |= super::tool::runs_on_server(self.kind, fields);
    }

    /// The call's own id.
    pub(super) fn call_id(&self) -> Option<&Name> {
        self.call.as_ref()?.call_id.as_ref()
    }
}
