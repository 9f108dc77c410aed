//! The Responses API in front of a scripted upstream.

mod background;
mod bounds;
mod breaking;
mod passing;
mod reading;
mod refusals;
mod sessions;

use crate::client::{Answer, get, post};
use crate::proxy::{Folder, Proxy, recording};
use crate::resources::{Resources, resources, wait_until_released};
use crate::scripted::{Upstream, stream_head};
use serde_json::Value;
use std::io::{Read, Write};
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

pub const REQUEST: &[u8] = br#"{"model":"lab-model","input":"Say hello","stream":true}"#;

/// A proxy in front of an upstream, with additional settings for the upstream.
pub struct Gate {
    pub proxy: Proxy,
    folder: Folder,
}

impl Gate {
    pub fn new(upstream: &Upstream, more: &str) -> Self {
        Self::with(upstream, more, &[])
    }

    pub fn with(upstream: &Upstream, more: &str, settings: &[(&str, &str)]) -> Self {
        Self::at(&upstream.url(), more, settings)
    }

    pub fn at(url: &str, more: &str, settings: &[(&str, &str)]) -> Self {
        let folder = Folder::new();
        let table = format!("[[upstream]]\nname = \"lab\"\nkind = \"responses\"\nurl = \"{url}\"\n{more}\n");
        let config = folder.write("config.toml", &table);
        let proxy = Proxy::configured_with(&config, &folder.path("log"), settings);
        Self { proxy, folder }
    }

    pub fn ask(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let json = [("content-type", "application/json")];
        let headers: Vec<(&str, &str)> = json.iter().chain(headers).copied().collect();
        post(self.proxy.address, path, &headers, REQUEST)
    }

    pub fn get(&self, path: &str) -> Answer {
        get(self.proxy.address, path, &[])
    }

    pub fn runs(&self) -> Vec<Value> {
        self.get("/v1/runs").json()["data"].as_array().unwrap().clone()
    }

    /// Waits until the newest run has ended.
    pub fn wait_for_end(&self) -> Value {
        self.wait_for("the run's end", |run| run["ended_at_ms"].is_u64())
    }

    pub fn wait_for(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let runs = self.runs();
            if let Some(run) = runs.first().filter(|run| is_so(run)) {
                return run.clone();
            }
            assert!(Instant::now() < deadline, "timed out waiting for {what}: {runs:?}\n{}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn log(&self) -> String {
        self.folder.read("log")
    }

    pub fn resources(&self) -> Resources {
        resources(&self.proxy)
    }

    /// Waits until the proxy holds no more than before.
    pub fn wait_until_released(&self, before: Resources) {
        wait_until_released(&self.proxy, before);
    }

    pub fn metric(&self, line: &str) -> String {
        let text = self.get("/metrics").text();
        let found = text.lines().find_map(|found| found.strip_prefix(line)).unwrap_or_default();
        found.trim().to_owned()
    }
}

/// A recording without the marker after its last event, which belongs to no run.
pub fn recorded(name: &str) -> Vec<u8> {
    let bytes = recording("open-responses", name);
    bytes.strip_suffix(b"data: [DONE]\n\n").unwrap_or(&bytes).to_vec()
}

pub fn events(bytes: &[u8]) -> Vec<String> {
    String::from_utf8(bytes.to_vec()).unwrap().split_inclusive("\n\n").map(str::to_owned).collect()
}

fn number(event: &str) -> u64 {
    let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    serde_json::from_str::<Value>(data).unwrap()["sequence_number"].as_u64().unwrap()
}

pub fn code(answer: Answer) -> (u16, String) {
    let status = answer.status;
    let error = answer.json();
    (status, error["error"]["code"].as_str().unwrap_or_default().to_owned())
}

/// Sends the first events, and the rest when the test signals it or has ended.
pub fn two_part_upstream(pieces: &[String], first: usize, go: mpsc::Receiver<()>) -> Upstream {
    let (first, rest) = (pieces[..first].concat(), pieces[first..].concat());
    let go = Mutex::new(go);
    Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = stream.write_all(first.as_bytes());
        let _ = go.lock().unwrap().recv_timeout(Duration::from_secs(30));
        let _ = stream.write_all(rest.as_bytes());
    })
}

/// Reads until the answer ends; returns the body, and whether it ended in order.
pub fn read_body(answer: Answer) -> (Vec<u8>, bool) {
    let (mut reader, _) = answer.into_raw();
    let mut bytes = Vec::new();
    let _ = reader.read_to_end(&mut bytes);
    let is_whole = bytes.ends_with(b"0\r\n\r\n");
    // Removes the framing of the chunks.
    let (mut body, mut rest) = (Vec::new(), &bytes[..]);
    while let Some(at) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..at]).unwrap(), 16).unwrap();
        let end = (at + 2 + size).min(rest.len());
        body.extend_from_slice(&rest[at + 2..end]);
        rest = rest.get(end + 2..).unwrap_or_default();
    }
    (body, is_whole)
}
