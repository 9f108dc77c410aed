//! The configuration of editors in `examples/editors`.

use serde_json::{Value, json};

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
