//! The recipe of docs/reverse-proxy.md with the installed nginx. If nginx is not installed, the test is skipped.

use crate::client::{Upload, connect, get, post};
use crate::proxy::{Folder, Proxy, recording};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        // On SIGTERM, nginx ends its workers too.
        let _ = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        let _ = self.0.wait();
    }
}

/// The first nginx block in the page.
fn recipe() -> String {
    let page = include_str!("../../docs/reverse-proxy.md");
    let begin = page.split("```nginx\n").nth(1).unwrap();
    begin.split("```").next().unwrap().to_owned()
}

fn start(folder: &Folder, proxy: &Proxy) -> Option<(Nginx, SocketAddr)> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let recipe = recipe()
        .replace("127.0.0.1:8080", &proxy.address.to_string())
        .replace("listen 443 ssl http2;", &format!("listen {port};"))
        .lines()
        .filter(|line| !line.contains("ssl_certificate"))
        .collect::<Vec<_>>()
        .join("\n");
    let at = |name: &str| folder.path(name).to_str().unwrap().to_owned();
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let user = if is_root { "user root;" } else { "" };
    let config = format!(
        "{user} daemon off; pid {}; error_log {};\nevents {{}}\nhttp {{ access_log off;\n\
         client_body_temp_path {}; proxy_temp_path {}; fastcgi_temp_path {}; uwsgi_temp_path {}; scgi_temp_path {};\n{recipe}\n}}",
        at("pid"),
        at("error"),
        at("one"),
        at("two"),
        at("three"),
        at("four"),
        at("five"),
    );
    let config = folder.write("nginx.conf", &config);
    let mut command = Command::new("nginx");
    command.args(["-p", &at(""), "-e", &at("error"), "-c", &config]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut nginx = Nginx(command.spawn().ok()?);
    let deadline = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(port).is_err() {
        assert!(nginx.0.try_wait().unwrap().is_none() && Instant::now() < deadline, "{}", folder.read("error"));
        std::thread::sleep(Duration::from_millis(20));
    }
    Some((nginx, port))
}

#[test]
fn events_and_ingests_pass_nginx_without_buffering() {
    let folder = Folder::new();
    let proxy = Proxy::with(&[
        ("FRAMEGATE__SERVER__ALLOWED_HOSTS", "gate.example"),
        ("FRAMEGATE__SERVER__TRUSTED_PROXIES", "127.0.0.1"),
        ("FRAMEGATE__LIMITS__MAX_EVENT_STREAMS_PER_ADDRESS", "1"),
    ]);
    let Some((_nginx, address)) = start(&folder, &proxy) else { return };
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let line_end = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let mut upload = Upload::start(address, "/v1/ingest/claude-code", &[]);
    upload.send(&bytes[..line_end]);
    // The run exists before the body has ended: nginx does not buffer the request.
    let deadline = Instant::now() + Duration::from_secs(20);
    let run = loop {
        let runs = get(address, "/v1/runs", &[]).json();
        if let Some(run) = runs["data"][0]["run_id"].as_str() {
            break run.to_owned();
        }
        assert!(Instant::now() < deadline, "nginx buffers the ingest");
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut events = get(address, &format!("/v1/runs/{run}/events?contract=frames.v2"), &[]);
    assert_eq!(events.status, 200);
    assert_eq!(events.event().unwrap().json()["type"], "session_started");
    upload.send(&bytes[line_end..]);
    assert_eq!(upload.finish().status, 201);
    assert_eq!(events.events().last().unwrap().json()["type"], "session_ended");
    // More than nginx accepts by default.
    let large = recording("claude-code", "bash_large.ndjson").repeat(100);
    assert!(large.len() > 1 << 20);
    assert_eq!(post(address, "/v1/ingest/claude-code", &[], &large).status, 201);
    // A page of the proxy's own origin, and one of another origin.
    let own = format!("http://{address}");
    assert_eq!(get(address, "/v1/runs", &[("origin", &own)]).status, 200);
    assert_eq!(get(address, "/v1/runs", &[("origin", "http://127.0.0.1:5173")]).status, 403);
    drop(connect(address));
}
