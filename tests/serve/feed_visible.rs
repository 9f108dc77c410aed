//! A disconnected feed is visible to clients, and a prompt waits for it.

use crate::client::{Answer, get, post};
use crate::proxy::{Folder, Proxy, recording};
use crate::scripted::{Upstream, stream_head, whole};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A server whose feed can be switched on and off. It announces a run as soon as it gets a prompt.
struct Server {
    upstream: Upstream,
    is_available: Arc<AtomicBool>,
}

impl Server {
    fn start() -> Self {
        let (is_available, prompted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let available = is_available.clone();
        let all = recording("opencode", "event-text.sse");
        let session = session(&all);
        let upstream = Upstream::start(move |request, stream| {
            if request.method == "POST" {
                let is_prompt = request.path.ends_with("/prompt_async");
                let body = json!({"id": session}).to_string();
                whole(stream, "200 OK", "content-type: application/json\r\n", body.as_bytes());
                prompted.fetch_or(is_prompt, Ordering::SeqCst);
                return;
            }
            if !available.load(Ordering::SeqCst) {
                return whole(stream, "503 Service Unavailable", "", b"");
            }
            stream_head(stream);
            let mut has_sent = false;
            while available.load(Ordering::SeqCst) {
                if prompted.load(Ordering::SeqCst) && !has_sent {
                    has_sent = true;
                    let _ = stream.write_all(&all);
                }
                thread::sleep(Duration::from_millis(5));
            }
        });
        Self { upstream, is_available }
    }

    fn set_available(&self, is_available: bool) {
        self.is_available.store(is_available, Ordering::SeqCst);
    }
}

/// The session id in a recording.
fn session(bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let id = text.split("\"sessionID\":\"").nth(1).unwrap().split('"').next().unwrap();
    id.to_owned()
}

struct Follower {
    proxy: Proxy,
    folder: Folder,
}

impl Follower {
    fn of(server: &Server, more: &str) -> Self {
        let folder = Folder::new();
        let table = format!(
            "[[upstream]]\nname = \"code\"\nkind = \"sse\"\nurl = \"http://{}/event\"\nreconnect_min_ms = 20\n\
             reconnect_max_ms = 50\n{more}\n",
            server.upstream.address
        );
        let config = folder.write("config.toml", &table);
        let proxy = Proxy::configured_with(&config, &folder.path("log"), &[]);
        Self { proxy, folder }
    }

    fn get(&self, path: &str) -> Answer {
        get(self.proxy.address, path, &[])
    }

    fn wait_for_state(&self, state: &str) -> Value {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let upstream = self.get("/v1/upstreams").json()["upstreams"][0].clone();
            // The reason is known after the first attempt.
            if upstream["state"] == state && (state == "connected" || upstream["reason"].is_string()) {
                return upstream;
            }
            assert!(Instant::now() < deadline, "{upstream}\n{}", self.folder.read("log"));
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The status of `/readyz`, and the codes of its reasons.
    fn ready(&self) -> (u16, Vec<String>) {
        let answer = self.get("/readyz");
        let status = answer.status;
        let problem = answer.json();
        let reasons = problem["reasons"].as_array().cloned().unwrap_or_default();
        for reason in &reasons {
            assert!(
                reason["detail"].as_str().unwrap().contains("\"code\""),
                "the reason must name the upstream: {reason}"
            );
        }
        (status, reasons.iter().map(|reason| reason["code"].as_str().unwrap().to_owned()).collect())
    }

    fn metric(&self, name: &str) -> String {
        let text = self.get("/metrics").text();
        let line = format!("{name}{{upstream=\"code\"}}");
        text.lines().find_map(|found| found.strip_prefix(&line)).unwrap_or_default().trim().to_owned()
    }

    fn order(&self) -> Answer {
        let order = json!({"upstream": "code", "prompt": "Say hello"}).to_string();
        post(self.proxy.address, "/v1/runs", &[("content-type", "application/json")], order.as_bytes())
    }
}

#[test]
fn a_feed_that_is_not_connected_is_reported_everywhere() {
    let server = Server::start();
    for required in [true, false] {
        server.set_available(false);
        let follower = Follower::of(&server, &format!("required = {required}"));
        let not_ready = (if required { 503 } else { 200 }, vec!["upstream_not_connected".to_owned()]);
        let upstream = follower.wait_for_state("connecting");
        assert!(upstream["reason"].as_str().unwrap().contains("503"), "{upstream}");
        assert!(upstream["since_ms"].is_u64());
        assert_eq!(follower.ready(), not_ready);
        assert_eq!(follower.metric("framegate_upstream_connected"), "0");
        server.set_available(true);
        let upstream = follower.wait_for_state("connected");
        assert!(upstream["reason"].is_null());
        assert_eq!(
            (follower.ready(), follower.metric("framegate_upstream_connected")),
            ((200, vec![]), "1".to_owned())
        );
        assert_eq!(follower.metric("framegate_upstream_connection_losses_total"), "0");
        server.set_available(false);
        let upstream = follower.wait_for_state("lost");
        assert!(!upstream["reason"].as_str().unwrap().is_empty());
        assert_eq!((follower.ready(), follower.metric("framegate_upstream_connected")), (not_ready, "0".to_owned()));
        assert_eq!(follower.metric("framegate_upstream_connection_losses_total"), "1");
        let log = follower.folder.read("log");
        let line = log.lines().find(|line| line.contains("a feed is not connected")).unwrap();
        assert!(line.contains("code"), "{line}");
    }
}

#[test]
fn a_prompt_waits_for_the_feed_up_to_the_start_timeout() {
    let server = Server::start();
    let follower = Follower::of(&server, "start_timeout_ms = 60000");
    follower.wait_for_state("connecting");
    thread::scope(|scope| {
        let ordered = scope.spawn(|| follower.order());
        // The order is not refused at once, because it waits for the feed first: the feed is still being tried.
        let (tried, deadline) = (server.upstream.requests().len(), Instant::now() + Duration::from_secs(30));
        while server.upstream.requests().len() < tried + 8 {
            assert!(Instant::now() < deadline, "the feed is not tried again");
            thread::sleep(Duration::from_millis(10));
        }
        assert!(!ordered.is_finished());
        server.set_available(true);
        let started = ordered.join().unwrap();
        let status = started.status;
        assert_eq!(status, 201, "{}", started.text());
    });
    let follower = Follower::of(&server, "start_timeout_ms = 100");
    server.set_available(false);
    let refused = loop {
        let answer = follower.order();
        // The feed may have been connected for a moment.
        if answer.status == 503 {
            break answer;
        }
    };
    assert!(!refused.header("retry-after").is_empty());
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("\"code\"") && detail.contains("start_timeout_ms"), "{detail}");
}
