//! Runs the proxy as a process and reads its memory and processor time.

use crate::wire;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The proxy's process. It is killed when this value is dropped.
pub(crate) struct Proxy {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Proxy {
    /// Starts a proxy with room for many connections and these additional settings. `FRAMEGATE_BINARY` names another build to
    /// measure.
    pub(crate) fn start(settings: &[(&str, &str)]) -> Self {
        let built = || env!("CARGO_BIN_EXE_framegate").into();
        let mut child = Command::new(std::env::var_os("FRAMEGATE_BINARY").unwrap_or_else(built))
            .arg("serve")
            .current_dir(std::env::temp_dir())
            .env("FRAMEGATE__SERVER__LISTEN", "127.0.0.1:0")
            .env("FRAMEGATE__SERVER__MAX_CONNECTIONS", "100000")
            .env("FRAMEGATE__LIMITS__MAX_EVENT_STREAMS", "100000")
            .env("FRAMEGATE__LIMITS__MAX_EVENT_STREAMS_PER_CLIENT", "100000")
            .env("FRAMEGATE__LIMITS__MAX_EVENT_STREAMS_PER_ADDRESS", "100000")
            .env("FRAMEGATE__LIMITS__MAX_CONNECTIONS_PER_ADDRESS", "100000")
            .env("FRAMEGATE__INGEST__MAX_OPEN", "100000")
            // The same recordings are ingested over and over.
            .env("FRAMEGATE__INGEST__RECOGNISE_REPEATS", "false")
            .env("FRAMEGATE__TELEMETRY__FILTER", "error")
            // Every proxy starts with an empty log, so that earlier runs do not affect the measurement.
            .env("FRAMEGATE__LOG__KIND", "memory")
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit("http://").next().unwrap().parse().unwrap();
        Self { child, address }
    }

    /// The resident set in bytes; `None` if the system does not report it.
    pub(crate) fn resident(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
    }

    /// The processor time in user and kernel mode, in steps of 10 ms; `None` if the system does not report it.
    pub(crate) fn processor_time(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // The process name before the fields may contain spaces. Linux always reports hundredths of a second here, whatever its
        // internal tick is.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<u64>().ok());
        Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
    }

    /// Waits for a run, and returns the id of the newest one.
    pub(crate) fn newest_run(&self) -> String {
        loop {
            let list = wire::get_text(self.address, "/v1/runs?limit=1");
            if let Some((_, rest)) = list.split_once("\"run_id\":\"") {
                return rest.split('"').next().unwrap().to_owned();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The number of frames in a run.
    pub(crate) fn frames(&self, run: &str) -> u64 {
        let status = wire::get_text(self.address, &format!("/v1/runs/{run}"));
        let (_, rest) = status.split_once("\"frames\":").unwrap();
        rest.split(|other: char| !other.is_ascii_digit()).next().unwrap().parse().unwrap()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder for one measurement, removed at its end.
#[cfg(feature = "jetstream")]
pub(crate) struct Folder(std::path::PathBuf);

#[cfg(feature = "jetstream")]
impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("framegate-load-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.join(name)
    }

    /// Writes a file, and returns its path as text.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name).to_str().unwrap().to_owned()
    }
}

#[cfg(feature = "jetstream")]
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Restarts this program with the maximum number of open files; returns `true` if it did. Without `unsafe` a process cannot
/// raise its own limit, so a shell does it.
pub(crate) fn raise_file_limit() -> bool {
    const RAISED: &str = "FRAMEGATE_LOAD_RAISED";
    if std::env::var_os(RAISED).is_some() {
        return false;
    }
    let program = std::env::current_exe().unwrap();
    let status = Command::new("sh")
        .args(["-c", r#"ulimit -n "$(ulimit -Hn)"; exec "$0" "$@""#])
        .arg(program)
        .args(std::env::args_os().skip(1))
        .env(RAISED, "1")
        .status()
        .unwrap();
    assert!(status.success(), "the load test failed");
    true
}
