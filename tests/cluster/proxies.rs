//! Proxies whose log is on the servers of a test.
//!
//! Input: servers, and settings on top. Output: running proxies, their faults, and live runs at them. Never: a proxy whose log lines
//! are lost; they are beside those of the servers.

use crate::client::{Answer, Upload, get};
use crate::proxy::{Proxy, another};
use crate::reading::wait_for;
use crate::servers::Servers;
use serde_json::Value;

/// The settings of every proxy here.
const SETTINGS: &[(&str, &str)] = &[
    // The servers reserve several times as much, and have 4 GB.
    ("FRAMEGATE__LOG__MAX_BYTES", "268435456"),
    // A stream without events is silent, so that a test that waits for one fails at the time limit of its client.
    ("FRAMEGATE__SERVER__HEARTBEAT_MS", "3600000"),
    // One page has everything that a test reads.
    ("FRAMEGATE__SERVER__PAGE_LIMIT_MAX", "100000"),
];

/// A proxy with the log on these servers, and further settings. Its name is that of its log file.
pub fn proxy(servers: &Servers, name: &str, extra: &[(&str, &str)]) -> Proxy {
    with_settings(servers, extra, |settings| Proxy::logging_to(&servers.log(name), settings))
}

/// The same, with a configuration file.
pub fn configured(servers: &Servers, name: &str, config: &str) -> Proxy {
    with_settings(servers, &[], |settings| Proxy::configured_with(config, &servers.log(name), settings))
}

fn with_settings(servers: &Servers, extra: &[(&str, &str)], start: impl FnOnce(&[(&str, &str)]) -> Proxy) -> Proxy {
    let urls = servers.urls().join(", ");
    let replicas = servers.count().to_string();
    let mut settings = vec![
        ("FRAMEGATE__LOG__KIND", "jetstream"),
        ("FRAMEGATE__LOG__SERVERS", &*urls),
        ("FRAMEGATE__LOG__REPLICAS", &*replicas),
    ];
    settings.extend_from_slice(SETTINGS);
    settings.extend_from_slice(extra);
    start(&settings)
}

/// Three proxies.
pub fn three(servers: &Servers) -> [Proxy; 3] {
    three_with(servers, &[])
}

/// Three proxies with further settings.
pub fn three_with(servers: &Servers, extra: &[(&str, &str)]) -> [Proxy; 3] {
    ["proxy-0", "proxy-1", "proxy-2"].map(|name| proxy(servers, name, extra))
}

/// Kills a proxy without a shutdown, running or paused.
pub fn kill(proxy: &mut Proxy) {
    proxy.signal("KILL");
    proxy.wait();
}

/// Stops the proxy's process: it answers nothing, and its connections stay open.
pub fn pause(proxy: &Proxy) {
    proxy.signal("STOP");
}

/// Lets a paused proxy go on.
pub fn resume(proxy: &Proxy) {
    proxy.signal("CONT");
}

/// A live run: an ingest whose body is sent line by line and held open.
pub struct Live {
    pub upload: Upload,
    pub run: String,
    lines: Vec<Vec<u8>>,
    sent: usize,
    /// The translation, if the client asked for it.
    answer: Option<Answer>,
    /// The events of `frames.v2` that the client received.
    pub events: Vec<String>,
}

impl Live {
    /// Begins a run of Claude Code whose client reads the translation, so that it knows what is stored. The first line is sent.
    pub fn streaming(proxy: &Proxy, recording: &str) -> Self {
        let lines = lines_of(recording);
        let accept = [("accept", "application/x-ndjson; contract=frames.v2")];
        let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &accept);
        upload.send(&lines[0]);
        let mut answer = upload.answer();
        assert_eq!(answer.status, 200);
        let first = answer.line().unwrap();
        let run = serde_json::from_str::<Value>(&first).unwrap()["stream_id"].as_str().unwrap().to_owned();
        Self { upload, run, lines, sent: 1, answer: Some(answer), events: vec![first] }
    }

    /// Begins a run of Claude Code whose client waits for the answer at the end of the body. The first line is sent.
    pub fn waiting(proxy: &Proxy, recording: &str) -> Self {
        let lines = lines_of(recording);
        let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[]);
        upload.send(&lines[0]);
        let run = wait_for("the proxy has no open run", || {
            let runs = get(proxy.address, "/v1/runs?state=running", &[]).json();
            runs["data"][0]["run_id"].as_str().map(str::to_owned)
        });
        Self { upload, run, lines, sent: 1, answer: None, events: Vec::new() }
    }

    /// The body, complete.
    pub fn body(&self) -> Vec<u8> {
        self.lines.concat()
    }

    /// How many lines were not sent yet.
    pub fn left(&self) -> usize {
        self.lines.len() - self.sent
    }

    /// Sends the next lines. With a translation, waits after each for an event: each record of the recordings here has one at least.
    pub fn send(&mut self, lines: usize) {
        for line in &self.lines[self.sent..self.sent + lines] {
            self.upload.send(line);
            if let Some(answer) = &mut self.answer {
                self.events.push(answer.line().unwrap());
            }
        }
        self.sent += lines;
    }

    /// Sends the next lines as one piece, and waits for no event.
    pub fn send_at_once(&mut self, lines: usize) {
        self.upload.send(&self.lines[self.sent..self.sent + lines].concat());
        self.sent += lines;
    }

    /// Sends the rest, and ends the body. With a translation, reads it to its end.
    pub fn finish(&mut self) {
        self.send(self.left());
        self.upload.end();
        if let Some(mut answer) = self.answer.take() {
            self.events.extend(std::iter::from_fn(|| answer.line()).filter(|line| !line.is_empty()));
        }
    }
}

/// The lines of a recording, with records that no other run has.
fn lines_of(recording: &str) -> Vec<Vec<u8>> {
    another("claude-code", recording).split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
}
