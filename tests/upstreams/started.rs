//! A proxy with upstreams, and helpers for requests to it.

use crate::client::{Answer, get, post};
use crate::proxy::{Folder, Proxy};
use crate::resources::{Resources, resources, wait_until_released};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The maximum time that a test waits for an expected event.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub struct Started {
    pub proxy: Proxy,
    pub folder: Folder,
}

impl Started {
    /// A proxy with these `[[upstream]]` tables and settings. `{folder}` is replaced by a folder of the test, `{fake}` by the
    /// program that plays a runner, `{fixtures}` by the recordings.
    pub fn with(tables: &str, settings: &[(&str, &str)]) -> Self {
        let folder = Folder::new();
        let tables = filled(tables, &folder);
        let config = folder.write("config.toml", &tables);
        let proxy = Proxy::configured_with(&config, &folder.path("log"), settings);
        Self { proxy, folder }
    }

    /// One upstream `fake` of kind `command` that runs a script, with further settings.
    pub fn fake(script: &str, more: &str) -> Self {
        Self::with(&table(script, more), &[("FRAMEGATE__TELEMETRY__FILTER", "info,framegate::stderr=debug")])
    }

    pub fn start(&self, order: &Value) -> Answer {
        post(self.proxy.address, "/v1/runs", &[("content-type", "application/json")], order.to_string().as_bytes())
    }

    /// Starts a run of `fake`; fails if that is refused.
    pub fn run(&self) -> String {
        self.run_of(&json!({"upstream": "fake", "prompt": "go"}))
    }

    pub fn run_of(&self, order: &Value) -> String {
        let answer = self.start(order);
        let status = answer.status;
        let location = answer.header("location").to_owned();
        let json = answer.json();
        assert_eq!(status, 201, "{json}\n{}", self.folder.read("log"));
        let run = json["run_id"].as_str().unwrap().to_owned();
        assert_eq!(location, format!("/v1/runs/{run}"));
        run
    }

    pub fn status(&self, run: &str) -> Value {
        get(self.proxy.address, &format!("/v1/runs/{run}"), &[]).json()
    }

    /// Waits until a run's status satisfies `is_so`, and returns the status.
    pub fn wait_for(&self, run: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let begin = Instant::now();
        loop {
            let status = self.status(run);
            if is_so(&status) {
                return status;
            }
            let log = self.folder.read("log");
            assert!(begin.elapsed() < PATIENCE, "{what}: {status:#}\n{log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn wait_for_end(&self, run: &str) -> Value {
        self.wait_for(run, "the run does not end", |status| status["ended_at_ms"].is_u64())
    }

    /// The events of an ended run in a contract.
    pub fn events(&self, run: &str, contract: &str) -> Vec<Value> {
        let path = format!("/v1/runs/{run}/events?contract={contract}");
        let answer = get(self.proxy.address, &path, &[("accept", "application/x-ndjson")]);
        let status = answer.status;
        let text = answer.text();
        assert_eq!(status, 200, "{text}");
        text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The first events of an open run, as text.
    pub fn events_so_far(&self, run: &str) -> String {
        let path = format!("/v1/runs/{run}/events?contract=frames.v2&limit=500");
        get(self.proxy.address, &path, &[("accept", "application/json")]).text()
    }

    /// Stops the proxy, and waits until no process of the test is left.
    pub fn leaves_nothing(mut self) {
        assert!(self.proxy.terminate().success());
        self.wait_for_no_process();
    }

    /// Waits until no process of the test is left.
    pub fn wait_for_no_process(&self) {
        let begin = Instant::now();
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "still running: {left:?}\n{}", self.folder.read("log"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The processes that work in the test's folder: all runners do, and the processes that they start.
    pub fn processes(&self) -> Vec<String> {
        self.pids_and_commands().into_iter().map(|(_, words)| words).collect()
    }

    /// The lowest process id, which is usually that of the oldest process.
    pub fn oldest(&self) -> Option<u32> {
        self.pids_and_commands().iter().filter_map(|(pid, _)| pid.parse().ok()).min()
    }

    /// Kills the processes among them that run `program`.
    pub fn kill(&self, program: &str) {
        for (pid, words) in self.pids_and_commands() {
            if words.split(' ').next() == Some(program) {
                // The process may have exited already.
                let _ = Command::new("kill").args(["-KILL", &pid]).stderr(Stdio::null()).status();
            }
        }
    }

    /// The process ids and command lines.
    fn pids_and_commands(&self) -> Vec<(String, String)> {
        let work = self.folder.path("").canonicalize().unwrap();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let path = entry.path();
            let Ok(cwd) = std::fs::read_link(path.join("cwd")) else { continue };
            if cwd.starts_with(&work) {
                let words = std::fs::read(path.join("cmdline")).unwrap_or_default();
                let pid = entry.file_name().into_string().unwrap();
                found.push((pid, String::from_utf8_lossy(&words).replace('\0', " ")));
            }
        }
        found
    }

    /// The value of a sample in `/metrics`, by its name and labels.
    pub fn metric(&self, name: &str) -> u64 {
        let text = get(self.proxy.address, "/metrics", &[]).text();
        let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("there is no {name}")).parse().unwrap()
    }

    pub fn resources(&self) -> Resources {
        resources(&self.proxy)
    }

    /// Waits until the proxy holds no more resources than before.
    pub fn wait_until_released(&self, before: Resources) {
        wait_until_released(&self.proxy, before);
    }
}

pub fn filled(text: &str, folder: &Folder) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    let place = folder.path("").canonicalize().unwrap();
    text.replace("{folder}", place.to_str().unwrap())
        .replace("{fake}", &format!("{root}/tests/upstreams/fake/play.sh"))
        .replace("{fixtures}", &format!("{root}/tests/fixtures"))
}

pub fn table(script: &str, more: &str) -> String {
    format!(
        "[[upstream]]\nname = \"fake\"\nkind = \"command\"\nprogram = \"{{fake}}\"\nrunner = \"codex\"\n\
         arguments = [\"{script}\", \"{{fixtures}}\"]\ndirectories = [\"{{folder}}\"]\n{more}\n"
    )
}

/// The built `framegate`.
pub fn framegate() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
    command.env("FRAMEGATE__LOG__KIND", "memory");
    command
}
