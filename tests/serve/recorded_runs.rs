//! The runs of all recordings of all runners, read by clients in JavaScript and Python.

use crate::client::{Event, get, post};
use crate::proxy::Proxy;
use framegate_translators::runners::RUNNERS;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every recording, with the name of its runner.
pub fn recordings() -> Vec<(&'static str, PathBuf)> {
    let mut recordings = Vec::new();
    for runner in RUNNERS {
        let folder = root().join("tests/fixtures").join(runner.name);
        let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.is_file() && !path.ends_with("MANIFEST.json"));
        files.sort();
        recordings.extend(files.into_iter().map(|file| (runner.name, file)));
    }
    recordings
}

/// Sends every recording in; returns the ids of the runs.
pub fn ingest_all(proxy: &Proxy) -> Vec<String> {
    let mut runs = Vec::new();
    for (runner, file) in recordings() {
        let made = post(proxy.address, &format!("/v1/ingest/{runner}"), &[], &fs::read(file).unwrap()).json();
        let made = made["runs"].as_array().into_iter().flatten();
        runs.extend(made.map(|run| run["run_id"].as_str().unwrap().to_owned()));
    }
    runs.sort();
    runs.dedup();
    assert!(runs.len() > 200, "{}", runs.len());
    runs
}

fn path(run: &str, contract: &str) -> String {
    format!("/v1/runs/{run}/events?contract={contract}")
}

/// The frames of a run.
pub fn frames_of(proxy: &Proxy, run: &str) -> Vec<Value> {
    get(proxy.address, &path(run, "frames.v2"), &[]).events().iter().map(Event::json).collect()
}

/// What a script in `tests/clients/` says about each run in that contract, in the order of the runs.
pub fn read_with(script: &str, proxy: &Proxy, runs: &[String], contract: &str) -> Vec<Value> {
    read_by(Client::Node, script, proxy, runs, contract)
}

/// The language of a script.
#[derive(Clone, Copy, Debug)]
pub enum Client {
    Node,
    Python,
}

/// How many runs one process reads: their addresses are one argument, whose length the system limits.
const AT_ONCE: usize = 500;

/// As [`read_with`], in that language.
pub fn read_by(client: Client, script: &str, proxy: &Proxy, runs: &[String], contract: &str) -> Vec<Value> {
    runs.chunks(AT_ONCE).flat_map(|runs| read_some(client, script, proxy, runs, contract)).collect()
}

fn read_some(client: Client, script: &str, proxy: &Proxy, runs: &[String], contract: &str) -> Vec<Value> {
    let plan: Vec<Value> = runs
        .iter()
        .map(|run| json!({"run": run, "url": format!("http://{}{}", proxy.address, path(run, contract))}))
        .collect();
    let clients = root().join("tests/clients");
    let mut command = match client {
        Client::Node => Command::new("node"),
        Client::Python => {
            let mut command = Command::new("python3");
            command.env("PYTHONPATH", clients.join("python_modules")).env("PYTHONDONTWRITEBYTECODE", "1");
            command
        }
    };
    command.arg(clients.join(script)).arg(json!(plan).to_string());
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(name);
    }
    let output = command.env("NO_PROXY", "*").stdin(Stdio::null()).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "the client failed: {}", output.status);
    let read = String::from_utf8(output.stdout).unwrap();
    let read: Vec<Value> = read.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read.len(), runs.len());
    read
}
