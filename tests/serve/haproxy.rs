//! The load balancer of `packaging/cluster` with the installed HAProxy. If HAProxy is not installed, the test is skipped.

use crate::client::{Upload, get, post};
use crate::proxy::{Folder, Proxy, recording};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Haproxy(Child);

impl Drop for Haproxy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts HAProxy with the file of the package, before these proxies.
fn start(folder: &Folder, proxies: &[&Proxy]) -> Option<(Haproxy, SocketAddr)> {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut config = include_str!("../../packaging/cluster/haproxy.cfg")
        .replace("bind :8080", &format!("bind {address}"))
        .replace(" resolvers docker init-addr last,libc,none", "");
    for (nth, proxy) in (1..).zip(proxies) {
        config = config.replace(&format!("framegate-{nth}:8080"), &proxy.address.to_string());
    }
    assert!(!config.contains(":8080\n"), "a proxy is missing: {config}");
    let mut command = Command::new("haproxy");
    command.args(["-db", "-f", &folder.write("haproxy.cfg", &config)]);
    let log = std::fs::File::create(folder.path("log")).unwrap();
    let mut haproxy = Haproxy(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().ok()?);
    let deadline = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(address).is_err() {
        assert!(haproxy.0.try_wait().unwrap().is_none() && Instant::now() < deadline, "{}", folder.read("log"));
        std::thread::sleep(Duration::from_millis(20));
    }
    Some((haproxy, address))
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn events_and_ingests_pass_haproxy_and_a_proxy_that_stops_gets_no_more() {
    let folder = Folder::new();
    let settings =
        [("FRAMEGATE__SERVER__TRUSTED_PROXIES", "127.0.0.1"), ("FRAMEGATE__SERVER__ALLOWED_HOSTS", "gate.example")];
    let (mut first, mut second) = (Proxy::with(&settings), Proxy::with(&settings));
    let Some((_haproxy, address)) = start(&folder, &[&first, &second]) else { return };
    // An ingest is forwarded as it arrives, to one of the two.
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let line_end = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let mut upload = Upload::start(address, "/v1/ingest/claude-code", &[]);
    upload.send(&bytes[..line_end]);
    let has_run = |proxy: &Proxy| get(proxy.address, "/v1/runs", &[]).json()["data"][0]["run_id"].is_string();
    wait_until("the ingest is buffered", || has_run(&first) || has_run(&second));
    if has_run(&second) {
        std::mem::swap(&mut first, &mut second);
    }
    // It keeps the first proxy from stopping, which meanwhile refuses everything else. No client notices.
    first.signal("TERM");
    first.wait_until_stopping();
    for _ in 0..50 {
        assert_eq!(get(address, "/v1/runs", &[]).status, 200);
    }
    upload.send(&bytes[line_end..]);
    assert_eq!(upload.finish().status, 201);
    assert!(first.wait().success());
    // Events are forwarded as they arrive.
    let mut upload = Upload::start(address, "/v1/ingest/claude-code", &[]);
    upload.send(&bytes[..line_end]);
    wait_until("the ingest is buffered", || has_run(&second));
    let run = get(address, "/v1/runs", &[]).json()["data"][0]["run_id"].as_str().unwrap().to_owned();
    let mut events = get(address, &format!("/v1/runs/{run}/events?contract=frames.v2"), &[]);
    assert_eq!(events.event().unwrap().json()["type"], "session_started");
    upload.send(&bytes[line_end..]);
    assert_eq!(upload.finish().status, 201);
    assert_eq!(events.events().last().unwrap().json()["type"], "session_ended");
    // More than the buffers of HAProxy. The repeated run is stored once.
    let large = recording("claude-code", "bash_large.ndjson").repeat(100);
    assert_eq!(post(address, "/v1/ingest/claude-code", &[], &large).json()["records"], 500);
    // Pages of its own origin; metrics are not for clients.
    assert_eq!(get(address, "/v1/runs", &[("origin", &format!("http://{address}"))]).status, 200);
    assert_eq!(get(address, "/v1/runs", &[("origin", "http://127.0.0.1:5173")]).status, 403);
    assert_eq!(get(address, "/metrics", &[]).status, 404);
    // If no proxy is ready, the answers are those of a proxy.
    let _open = Upload::start(second.address, "/v1/ingest/claude-code", &[]);
    second.signal("TERM");
    second.wait_until_stopping();
    wait_until("the balancer answers instead of the proxy", || {
        let answer = get(address, "/v1/runs", &[]);
        answer.status == 503 && answer.header("content-type").starts_with("application/problem+json")
    });
}
