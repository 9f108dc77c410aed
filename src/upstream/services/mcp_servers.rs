//! The file with the MCP servers of a session.
//!
//! Input: a JSON file as several vendors' tools read it: `{"mcpServers": {"name": {…}}}`. Output: the servers in the form of ACP. Never:
//! a value of the file in a message, since it may be a secret.

use framegate_translators::frame::RawJson;
use framegate_translators::json::to_raw;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// The largest file that is accepted, in bytes.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Server>,
}

/// A program, or an address.
#[derive(Deserialize)]
struct Server {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl Server {
    /// The server in the form of ACP.
    fn written(&self, name: &str) -> Result<Value, String> {
        let pairs = |map: &BTreeMap<String, String>| -> Vec<Value> {
            map.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
        };
        match (&self.command, &self.url) {
            (Some(command), None) => {
                Ok(json!({"name": name, "command": command, "args": self.args, "env": pairs(&self.env)}))
            }
            (None, Some(url)) => match self.kind.as_deref().unwrap_or("http") {
                kind @ ("http" | "sse") => {
                    Ok(json!({"type": kind, "name": name, "url": url, "headers": pairs(&self.headers)}))
                }
                _ => Err(format!("the server {name:?} has an unknown type; use \"http\" or \"sse\"")),
            },
            _ => Err(format!("the server {name:?} needs either command or url")),
        }
    }
}

/// Reads the file.
///
/// # Errors
/// It cannot be read, or has another form.
pub(super) fn read(path: &Path) -> Result<Vec<RawJson>, String> {
    let cannot = |why: String| format!("cannot use {} (upstream.mcp_servers_file): {why}", path.display());
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| cannot(error.to_string()))?;
    let length = file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(|error| cannot(error.to_string()))?;
    if length as u64 > MAX_BYTES {
        return Err(cannot(format!("it has more than {MAX_BYTES} bytes")));
    }
    servers(&text).map_err(cannot)
}

fn servers(text: &str) -> Result<Vec<RawJson>, String> {
    let document: Document = serde_json::from_str(text).map_err(|error| {
        // The words of the error may contain a value of the file.
        let (line, column) = (error.line(), error.column());
        format!("line {line}, column {column} does not fit {{\"mcpServers\": {{\"name\": {{\"command\": …}}}}}}")
    })?;
    document.servers.iter().map(|(name, server)| server.written(name).map(|server| to_raw(&server))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_have_the_form_of_the_protocol() {
        let text = r#"{"mcpServers": {
            "files": {"command": "/bin/files", "args": ["--all"], "env": {"KEY": "secret"}},
            "remote": {"url": "https://mcp.example/", "headers": {"Authorization": "secret"}},
            "old": {"type": "sse", "url": "https://old.example/"}}}"#;
        let read: Vec<Value> =
            servers(text).unwrap().iter().map(|server| serde_json::from_str(server.get()).unwrap()).collect();
        assert_eq!(
            read,
            [
                json!({"name": "files", "command": "/bin/files", "args": ["--all"], "env": [{"name": "KEY", "value": "secret"}]}),
                json!({"type": "sse", "name": "old", "url": "https://old.example/", "headers": []}),
                json!({"type": "http", "name": "remote", "url": "https://mcp.example/",
                    "headers": [{"name": "Authorization", "value": "secret"}]}),
            ]
        );
        for (text, expected) in [
            (r#"{"mcpServers": {"a": {"command": 1}, "b": "secret"}}"#, "line 1, column"),
            (r#"{"mcpServers": {"a": {"env": {"KEY": "secret"}}}}"#, "the server \"a\" needs either command or url"),
            (r#"{"mcpServers": {"a": {"command": "x", "url": "secret"}}}"#, "needs either command or url"),
            (r#"{"mcpServers": {"a": {"type": "secret", "url": "x"}}}"#, "unknown type"),
            ("[", "line 1"),
        ] {
            let message = servers(text).unwrap_err();
            assert!(message.contains(expected) && !message.contains("secret"), "{message}");
        }
    }

    #[test]
    fn a_file_has_at_most_a_mebibyte() {
        let path = std::env::temp_dir().join(format!("framegate-mcp-{}.json", std::process::id()));
        let text = r#"{"mcpServers": {"a": {"command": "x"}}}"#;
        let most = usize::try_from(MAX_BYTES).unwrap();
        for (length, is_read) in [(most, true), (most + 1, false)] {
            std::fs::write(&path, format!("{text}{}", " ".repeat(length - text.len()))).unwrap();
            assert_eq!(read(&path).is_ok(), is_read, "{length}");
        }
        std::fs::remove_file(path).unwrap();
    }
}
