//! One output item: what it is, and what was reported of it.
//!
//! Input: the `item` objects of events. Output: plain state, kept until the response ends. Never: an item's text. The normalizer
//! holds it while the item is open; afterwards a hash is enough to compare a repetition.

use super::event::{Sort, Text};
use crate::frame::{RawJson, SharedStr, Tool};
use crate::json::Object;
use std::collections::BTreeMap;

/// The types of items, as far as translation distinguishes them.
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
    /// An implementor's own type, or an unknown one.
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
    /// The id in the first record about it.
    pub(super) id: Option<SharedStr>,
    /// The index in the output in the first record about it.
    pub(super) index: Option<u64>,
    /// Whether an event contained its index. Otherwise the index is its position in a list.
    pub(super) placed: bool,
    /// The message id of its blocks: the item's id, or one derived from its index.
    pub(super) message_id: SharedStr,
    /// Whether the upstream announced the item, and not only its parts.
    pub(super) announced: bool,
    /// Whether an event named it by an id that is known to be its own.
    pub(super) confirmed: bool,
    /// Whether an event named it by its own id.
    pub(super) keeps_id: bool,
    /// Whether it has a second id.
    pub(super) aliased: bool,
    /// Whether it is complete.
    pub(super) finished: bool,
    /// Its parts that have been mentioned.
    pub(super) parts: BTreeMap<(Sort, u32), ContentPart>,
    /// The part of each list that was mentioned last.
    pub(super) latest: [Option<u32>; 2],
    /// The call, if the item is one.
    pub(super) call: Option<Box<Call>>,
    /// The call whose output it is.
    pub(super) output_of: Option<SharedStr>,
    /// The number of bytes reported of each command's output, for each of its two streams.
    pub(super) output_emitted: BTreeMap<(u64, bool), usize>,
}

/// A part of an item.
#[derive(Debug)]
pub(super) struct ContentPart {
    /// Its block index.
    pub(super) block: u32,
    /// The kind of its text.
    pub(super) text: Text,
    /// The hash of its text, once the text is complete.
    pub(super) whole: Option<u64>,
}

/// A call of a tool.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// The call's own id, which its output names.
    pub(super) call_id: Option<SharedStr>,
    /// Its ids in frames, once a frame has been emitted.
    pub(super) tool: Option<Tool>,
    /// The tool's name; "" while unknown.
    pub(super) name: SharedStr,
    /// The input so far.
    pub(super) input: String,
    /// Half of a surrogate pair at the end of the input.
    pub(super) high: Option<u16>,
    /// Whether the input is complete.
    pub(super) input_done: bool,
    /// The proposed arguments; `None` before the proposal.
    pub(super) proposed: Option<RawJson>,
    /// Whether it has started.
    pub(super) started: bool,
    /// Whether it has ended.
    pub(super) ended: bool,
    /// The result in a stage event: `true` if the call succeeded.
    pub(super) verdict: Option<bool>,
    /// Whether the server runs it, as far as its item has said.
    pub(super) on_server: bool,
    /// When it was first mentioned, in Unix epoch milliseconds.
    pub(super) since_ms: u64,
}

impl Item {
    /// A new item. `named` says whether `message_id` is the item's own id.
    pub(super) fn new(kind: ItemKind, named: bool, message_id: SharedStr, index: Option<u64>, now_ms: u64) -> Self {
        let id = named.then(|| message_id.clone());
        let call = kind.is_call().then(|| Box::new(Call { since_ms: now_ms, ..Call::default() }));
        Self {
            kind,
            id,
            index,
            placed: false,
            message_id,
            announced: false,
            confirmed: false,
            keeps_id: false,
            aliased: false,
            finished: false,
            parts: BTreeMap::new(),
            latest: [None; 2],
            call,
            output_of: None,
            output_emitted: BTreeMap::new(),
        }
    }

    /// Takes over names and ids from an item object.
    pub(super) fn learn(&mut self, fields: &Object<'_>) {
        let call_id = fields.str("call_id").filter(|id| !id.is_empty());
        if self.kind == ItemKind::Output {
            self.output_of = self.output_of.take().or_else(|| call_id.as_deref().map(SharedStr::from));
        }
        let Some(call) = &mut self.call else { return };
        if let (None, Some(call_id)) = (&call.call_id, call_id) {
            call.call_id = Some(SharedStr::from(&*call_id));
            // Emitted frames keep their id. The client answers to the call's own id.
            if let Some(tool) = &mut call.tool {
                tool.call_id = SharedStr::from(&*call_id);
            }
        }
        if let Some(name) = super::tool::name(self.kind, fields).filter(|_| call.name.is_empty()) {
            call.name = name;
        }
        call.on_server |= super::tool::runs_on_server(self.kind, fields);
    }

    /// Whether an event with this id cannot mean this item, because other events name the item by its own id.
    pub(super) fn is_other(&self, id: Option<&str>) -> bool {
        self.keeps_id && id.zip(self.id.as_deref()).is_some_and(|(given, own)| given != own)
    }

    /// The call's own id.
    pub(super) fn call_id(&self) -> Option<&SharedStr> {
        self.call.as_ref()?.call_id.as_ref()
    }
}
