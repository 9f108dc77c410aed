//! The configuration of editors in `examples/editors`.

use crate::proxy::Proxy;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

fn text(name: &str) -> String {
    std::fs::read_to_string(format!("{}/examples/editors/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The command as the README has it, word by word.
fn command() -> Vec<String> {
    let readme = text("README.md");
    let command = readme.split('`').find(|code| code.starts_with("framegate acp ")).unwrap();
    command.split(' ').map(str::to_owned).collect()
}

#[test]
fn every_editor_starts_the_documented_command() {
    let command = command();
    let zed: Value = serde_json::from_str(&text("zed.settings.json")).unwrap();
    let server = &zed["agent_servers"]["framegate"];
    assert_eq!((&server["type"], &server["command"]), (&json!("custom"), &json!(command[0])));
    assert_eq!(server["args"], json!(command[1..]));
    let quoted = |words: &[String]| words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
    let codecompanion = text("codecompanion.lua");
    assert!(codecompanion.contains(&format!("commands = {{ default = {{ {} }} }}", quoted(&command))));
    let avante = text("avante.lua");
    assert!(avante.contains(&format!("command = {},", quoted(&command[..1]))));
    assert!(avante.contains(&format!("args = {{ {} }},", quoted(&command[1..]))));
}

/// The documented command, with the demo's real address, answers a prompt.
#[test]
fn the_documented_command_is_an_agent() {
    let demo = Proxy::with_arguments(&["--demo"], &[]);
    let arguments = command().split_off(1);
    let url = format!("http://{}", demo.address);
    let arguments = arguments.iter().map(|word| if word.starts_with("http://") { &url } else { word });
    let mut agent = Command::new(env!("CARGO_BIN_EXE_framegate"))
        .args(arguments)
        .env("XDG_STATE_HOME", std::env::temp_dir().join(format!("framegate-editors-{}", std::process::id())))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = agent.stdin.take().unwrap();
    let mut lines = BufReader::new(agent.stdout.take().unwrap()).lines();
    let mut ask = |id: u64, method: &str, params: Value| {
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).unwrap();
        let mut text = String::new();
        loop {
            let message: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            if message.get("method").is_none() {
                assert_eq!(message["id"], id, "{message}");
                return (message, text);
            }
            let update = &message["params"]["update"];
            if update["sessionUpdate"] == "agent_message_chunk" {
                text.push_str(update["content"]["text"].as_str().unwrap());
            }
        }
    };
    assert_eq!(ask(1, "initialize", json!({"protocolVersion": 1})).0["result"]["protocolVersion"], 1);
    let session = ask(2, "session/new", json!({"cwd": "/", "mcpServers": []})).0["result"]["sessionId"].clone();
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "hello"}]});
    let (answer, text) = ask(3, "session/prompt", prompt);
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert!(text.contains("demo"), "{text}");
    drop(input);
    assert!(agent.wait().unwrap().success());
}
