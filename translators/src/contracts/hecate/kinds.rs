//! The kinds of tools, and the event that describes a call at its start.
//!
//! Input: a call. Output: its kind, and `tool.shell.command` or a `requested` event. Never: a runner's table of tool names. The
//! frame's kind and the arguments decide; a name decides only between two kinds with the same ones.

use super::envelope::EventSink;
use crate::encode::data;
use crate::frame::{ToolCall, ToolKind};
use crate::json::{Json, Object};
use serde::{Deserialize, Serialize};

/// A kind in the document's terms: the middle part of the types of its own events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Shell,
    FileRead,
    FileWrite,
    Edit,
    Glob,
    Grep,
    Search,
    Http,
    WebFetch,
    WebSearch,
    Mcp,
    TodoWrite,
    Subagent,
    Other,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::FileRead => "file_read",
            Self::FileWrite => "file_write",
            Self::Edit => "edit",
            Self::Glob => "glob",
            Self::Grep => "grep",
            Self::Search => "search",
            Self::Http => "http",
            Self::WebFetch => "web_fetch",
            Self::WebSearch => "web_search",
            Self::Mcp => "mcp",
            Self::TodoWrite => "todo_write",
            Self::Subagent => "subagent",
            Self::Other => "other",
        }
    }

    pub(super) fn of(call: &ToolCall, args: &Object<'_>) -> Self {
        let name = call.name.to_ascii_lowercase();
        let has = |key: &str| args.get(key).is_some_and(|value| value.str().is_some());
        match call.kind {
            ToolKind::Shell => Self::Shell,
            ToolKind::Read => Self::FileRead,
            ToolKind::Write => Self::FileWrite,
            ToolKind::Edit => Self::Edit,
            ToolKind::Mcp => Self::Mcp,
            ToolKind::Plan => Self::TodoWrite,
            ToolKind::Subagent => Self::Subagent,
            ToolKind::Other => Self::Other,
            ToolKind::Fetch | ToolKind::Search if name.contains("web") && has("query") => Self::WebSearch,
            ToolKind::Fetch if name.contains("web") => Self::WebFetch,
            ToolKind::Fetch => Self::Http,
            ToolKind::Search if name.contains("glob") => Self::Glob,
            ToolKind::Search if name.contains("grep") => Self::Grep,
            ToolKind::Search => Self::Search,
        }
    }
}

/// The file that a call is about.
pub(super) fn path_of(args: &Object<'_>) -> Option<String> {
    let path = ["file_path", "filePath", "path"].into_iter().find_map(|key| args.str(key))?;
    (!path.is_empty()).then(|| path.into_owned())
}

/// The server and the tool from the name of an MCP call.
pub(super) fn mcp_parts(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.split_once("__")
}

data! {
    struct Command<'a> {
        tool_call_id: &'a str,
        tool_name: &'a str,
        argv: Vec<String>,
        cwd: Option<String>,
    }

    struct Requested<'a> {
        tool_call_id: &'a str,
        tool_name: &'a str,
        query: Option<String>,
        method: Option<String>,
        url: Option<String>,
        header_keys: Option<Vec<String>>,
    }
}

/// Emits the event for the start of a call of that kind.
pub(super) fn begin(kind: Kind, call_id: &str, name: &str, args: &Object<'_>, sink: &mut EventSink<'_>) {
    let text = |key: &str| args.str(key).filter(|text| !text.is_empty()).map(std::borrow::Cow::into_owned);
    let requested = |query, url| Requested {
        tool_call_id: call_id,
        tool_name: name,
        query,
        url,
        method: text("method"),
        // Only the names: a header's value may be a secret.
        header_keys: args.object("headers").map(|map| map.iter().map(|(key, _)| key.to_owned()).collect()),
    };
    match kind {
        Kind::Shell => {
            let argv = argv_of(args);
            if !argv.is_empty() {
                let cwd = text("cwd").or_else(|| text("workdir"));
                sink.emit("tool.shell.command", &Command { tool_call_id: call_id, tool_name: name, argv, cwd });
            }
        }
        Kind::Http | Kind::WebFetch => {
            if let Some(url) = text("url") {
                let is_http = kind == Kind::Http;
                let event = if is_http { "tool.http.requested" } else { "tool.web_fetch.requested" };
                sink.emit(event, &requested(None, Some(url)));
            }
        }
        Kind::WebSearch => {
            if let Some(query) = text("query") {
                sink.emit("tool.web_search.requested", &requested(Some(query), None));
            }
        }
        _ => {}
    }
}

/// The words of a command. A script is one word, because only its shell can parse it.
fn argv_of(args: &Object<'_>) -> Vec<String> {
    let Some(command) = args.get("command").or_else(|| args.get("cmd")) else { return Vec::new() };
    match command.str() {
        Some(script) if script.is_empty() => Vec::new(),
        Some(script) => vec![script.into_owned()],
        None => command.items().into_iter().filter_map(Json::str).map(std::borrow::Cow::into_owned).collect(),
    }
}
