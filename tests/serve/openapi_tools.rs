//! `GET /openapi.json` and the published schemas, processed by third-party tools in tests/clients, at pinned versions.

use crate::client::get;
use crate::proxy::{Folder, Proxy};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn clients() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

/// The document as a file, separate from the server that it came from.
fn document(folder: &Folder) -> (PathBuf, Value) {
    let proxy = Proxy::start();
    let text = get(proxy.address, "/openapi.json", &[]).text();
    folder.write("openapi.json", &text);
    (folder.path("openapi.json"), serde_json::from_str(&text).unwrap())
}

/// Runs a tool, which must succeed; returns both of its output streams.
fn run_tool(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    said
}

fn python(module: &str) -> Command {
    let mut command = Command::new("python3");
    command
        .args(["-m", module])
        .env("PYTHONPATH", clients().join("python_modules"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn node(script: &Path) -> Command {
    let mut command = Command::new("node");
    command.arg(script);
    command
}

fn operations(document: &Value) -> Vec<String> {
    let items = document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    items.filter_map(|operation| operation["operationId"].as_str().map(str::to_owned)).collect()
}

#[test]
#[ignore = "needs python3 and tests/clients/python_modules: ./test.sh runs it"]
fn openapi_spec_validator_accepts_the_document() {
    let folder = Folder::new();
    let (file, _) = document(&folder);
    let said = run_tool(python("openapi_spec_validator").arg(&file));
    assert!(said.contains("OK"), "{said}");
}

#[test]
#[ignore = "needs python3 and tests/clients/python_modules: ./test.sh runs it"]
fn openapi_python_client_generates_every_operation() {
    let folder = Folder::new();
    let (file, document) = document(&folder);
    // The generator would call a formatter, which is a separate program.
    let config = folder.write("config.yaml", "post_hooks: []\n");
    let made = folder.path("made");
    let mut command = python("openapi_python_client");
    command
        .args(["generate", "--meta", "none", "--config", &config, "--path"])
        .arg(&file)
        .arg("--output-path")
        .arg(&made);
    let said = run_tool(&mut command);
    assert!(!said.contains("WARNING") && !said.contains("Unable") && !said.contains("Warning"), "{said}");
    let modules = std::fs::read_dir(made.join("api/default")).unwrap();
    let modules = modules.filter(|entry| entry.as_ref().unwrap().file_name() != "__init__.py").count();
    assert_eq!(modules, operations(&document).len(), "{said}");
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn openapi_typescript_generates_types_that_compile() {
    let folder = Folder::new();
    let (file, document) = document(&folder);
    let (types, modules) = (folder.path("types.d.ts"), clients().join("node_modules"));
    run_tool(node(&modules.join("openapi-typescript/bin/cli.js")).arg(&file).arg("-o").arg(&types));
    let made = std::fs::read_to_string(&types).unwrap();
    for operation in operations(&document) {
        assert!(made.contains(&format!("    {operation}: {{")), "{operation} is missing");
    }
    assert!(made.contains("FramesV2ToolStartedEvent: {"));
    run_tool(
        node(&modules.join("typescript/bin/tsc")).args(["--noEmit", "--strict", "--skipLibCheck", "false"]).arg(&types),
    );
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn ajv_compiles_every_schema_in_strict_mode() {
    let folder = Folder::new();
    let (file, _) = document(&folder);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let mut command = node(&clients().join("ajv-strict.mjs"));
    command.arg(&file);
    for contract in framegate_translators::contracts::CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        let (name, version) = contract.name.rsplit_once('.').unwrap();
        let mut schemas: Vec<PathBuf> =
            std::fs::read_dir(root.join(name).join(version)).unwrap().map(|entry| entry.unwrap().path()).collect();
        schemas.retain(|path| path.to_str().unwrap().ends_with(".schema.json"));
        assert!(schemas.len() >= contract.schemas.len(), "{}", contract.name);
        let bundle = framegate_translators::publish::bundle(contract);
        folder.write(contract.name, &bundle);
        command.args(schemas).arg(folder.path(contract.name));
    }
    let compiled: usize = run_tool(&mut command).trim().parse().unwrap();
    assert!(compiled > 300, "{compiled}");
}
