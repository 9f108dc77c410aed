//! Facts about the tools of calls: their names, who runs them, how a client displays them, and their input.
//!
//! Input: the fields of a call's item. Output: plain values. Never: a frame; the bytes of an image.

use super::item::ItemKind;
use crate::frame::{RawJson, SharedStr, ToolKind};
use crate::json::{self, Json, Kind, Object};

/// The tool's name, as the model knows it. The item type of a hosted tool is the tool's name plus `_call`.
pub(super) fn name(kind: ItemKind, fields: &Object<'_>) -> Option<SharedStr> {
    let own = fields.str("name").filter(|name| !name.is_empty());
    if (kind == ItemKind::Mcp || kind == ItemKind::ApprovalRequest)
        && let (Some(name), Some(server)) = (&own, fields.str("server_label"))
    {
        return Some(SharedStr::from(format!("mcp__{server}__{name}")));
    }
    own.map(|name| SharedStr::from(&*name)).or_else(|| hosted(kind).map(SharedStr::from))
}

/// The fixed name of a hosted tool; `None` for tools that have names of their own.
pub(super) fn hosted(kind: ItemKind) -> Option<&'static str> {
    Some(match kind {
        ItemKind::CodeInterpreter => "code_interpreter",
        ItemKind::ApplyPatch => "apply_patch",
        ItemKind::Shell => "shell",
        ItemKind::LocalShell => "local_shell",
        ItemKind::WebSearch => "web_search",
        ItemKind::FileSearch => "file_search",
        ItemKind::ImageGeneration => "image_generation",
        ItemKind::Computer => "computer",
        ItemKind::ToolSearch => "tool_search",
        ItemKind::Program => "program",
        _ => return None,
    })
}

/// Whether the server runs the call itself. The server also runs a program, but the program may wait for the client's functions
/// over several responses, so only its output shows that it ran.
pub(super) fn runs_on_server(kind: ItemKind, fields: &Object<'_>) -> bool {
    match kind {
        ItemKind::WebSearch
        | ItemKind::FileSearch
        | ItemKind::CodeInterpreter
        | ItemKind::ImageGeneration
        | ItemKind::Mcp => true,
        ItemKind::Shell => fields
            .object("environment")
            .and_then(|environment| environment.str("type"))
            .is_some_and(|value| value.starts_with("container")),
        ItemKind::ToolSearch => fields.str("execution").is_some_and(|value| value == "server"),
        _ => false,
    }
}

/// How a client displays the tool.
pub(super) fn displayed_as(kind: ItemKind, name: &str) -> ToolKind {
    match kind {
        ItemKind::Shell | ItemKind::LocalShell => ToolKind::Shell,
        ItemKind::ApplyPatch => ToolKind::Edit,
        ItemKind::WebSearch | ItemKind::FileSearch | ItemKind::ToolSearch => ToolKind::Search,
        ItemKind::Mcp => ToolKind::Mcp,
        ItemKind::Function | ItemKind::Custom => match name {
            "shell" | "bash" | "exec_command" | "run_command" | "local_shell" => ToolKind::Shell,
            "read" | "read_file" => ToolKind::Read,
            "write" | "write_file" => ToolKind::Write,
            "edit" | "edit_file" | "apply_patch" => ToolKind::Edit,
            "grep" | "glob" | "search" | "web_search" | "file_search" => ToolKind::Search,
            "fetch" | "web_fetch" => ToolKind::Fetch,
            "update_plan" => ToolKind::Plan,
            _ => ToolKind::Other,
        },
        _ => ToolKind::Other,
    }
}

/// The call's input; `None` if its item does not contain it yet. `input` is the streamed part.
pub(super) fn args(kind: ItemKind, fields: Option<&Object<'_>>, input: &str) -> Option<RawJson> {
    let field = |key: &str| fields.and_then(|fields| fields.some(key));
    // The streamed input is used if the item leaves it out.
    let text = |key: &str| {
        let given = field(key).and_then(Json::str).filter(|given| !given.is_empty());
        given.map_or_else(|| (!input.is_empty()).then(|| input.to_owned()), |given| Some(given.into_owned()))
    };
    let object = |key: &str| field(key).filter(|value| value.kind() == Kind::Object);
    match kind {
        ItemKind::Function | ItemKind::Mcp | ItemKind::Program if object("arguments").is_some() => {
            object("arguments").map(Json::to_raw)
        }
        ItemKind::Function | ItemKind::Mcp => text("arguments").map(|text| arguments(&text)),
        ItemKind::Custom => text("input").map(|text| json::to_raw(&text)),
        ItemKind::CodeInterpreter | ItemKind::Program => {
            text("code").map(|code| json::to_raw(&serde_json::json!({ "code": code })))
        }
        ItemKind::ApplyPatch => object("operation").map(Json::to_raw),
        ItemKind::FileSearch => {
            let queries = field("queries").filter(|value| value.kind() == Kind::Array && value.text().len() > 2)?;
            json_object(&[("queries", queries)])
        }
        ItemKind::ToolSearch => {
            object("arguments").map(Json::to_raw).or_else(|| text("arguments").map(|t| arguments(&t)))
        }
        ItemKind::WebSearch | ItemKind::LocalShell | ItemKind::Shell | ItemKind::Computer => object("action")
            .map(Json::to_raw)
            .or_else(|| text("arguments").map(|text| arguments(&text)))
            .or_else(|| json_object(&[("actions", field("actions")?)])),
        _ => None,
    }
}

/// A model's arguments: `{}` if blank, an object if they are one, otherwise a string.
pub(super) fn arguments(text: &str) -> RawJson {
    if text.trim().is_empty() {
        return json::empty_object();
    }
    match Json::parse(text) {
        Ok(object) if object.kind() == Kind::Object => object.to_raw(),
        _ => json::to_raw(text),
    }
}

fn json_object(fields: &[(&str, Json<'_>)]) -> Option<RawJson> {
    let body: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\":{}", value.to_raw().get())).collect();
    let raw = serde_json::value::RawValue::from_string(format!("{{{}}}", body.join(","))).ok()?;
    Some(RawJson::from(raw))
}
