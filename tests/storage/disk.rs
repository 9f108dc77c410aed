//! A completely full disk: a file system of a few megabytes, in a mount namespace of this test.

use crate::client::{get, post};
use crate::proxy::{Proxy, another, wrapped};
use crate::restarts::{events_in_every_contract, runs, without_counters};
use crate::scratch::Scratch;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The size of the disk.
const DISK_BYTES: u64 = 6 << 20;

/// The length of the `-mark` file without and with its reserve.
const MARK: (u64, u64) = (256, 256 << 10);

/// The mounted disk. It exists as long as the process that owns its namespace.
struct Disk {
    holder: Child,
    dir: PathBuf,
}

impl Disk {
    /// Mounts the disk on the directory; `None` if the system does not allow user namespaces.
    fn mount(dir: &Path) -> Option<Self> {
        let script = format!("mount -t tmpfs -o size={DISK_BYTES} tmpfs '{}' && echo ready && exec cat", dir.display());
        let mut holder = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut said = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let disk = Self { holder, dir: dir.to_owned() };
        (said == "ready\n").then_some(disk)
    }

    /// A command prefix that runs a program inside the namespace.
    fn inside(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.holder.id().to_string(), "--user", "--preserve-credentials", "--mount"]);
        command
    }

    /// The path of a file on the disk, from outside the namespace.
    fn file(&self, name: &str) -> PathBuf {
        let inside = format!("/proc/{}/root{}", self.holder.id(), self.dir.display());
        PathBuf::from(inside).join(name)
    }

    /// Fills all remaining room.
    fn fill(&self) {
        let mut file = File::options().create(true).append(true).open(self.file("filler")).unwrap();
        for piece in [1 << 20, 4 << 10, 1] {
            while file.write_all(&vec![1; piece]).is_ok() {}
        }
        assert!(
            File::create(self.file("one")).and_then(|mut one| one.write_all(b"x")).is_err(),
            "the disk still has room"
        );
        std::fs::remove_file(self.file("one")).unwrap();
    }

    fn empty(&self) {
        std::fs::remove_file(self.file("filler")).unwrap();
    }

    fn proxy(&self, path: &str, search: &str) -> Proxy {
        Proxy::started_by(self.inside().stderr(Stdio::null()), &settings(path, search))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

fn settings<'s>(path: &'s str, search: &'s str) -> [(&'s str, &'s str); 3] {
    [("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", path), ("FRAMEGATE__SEARCH__ENABLED", search)]
}

#[test]
fn a_start_on_a_full_disk_uses_the_reserve_and_serves_stored_runs() {
    starts_on_a_full_disk("disk", "false");
}

#[test]
fn an_index_of_texts_does_not_prevent_a_start_on_a_full_disk() {
    starts_on_a_full_disk("disk-search", "true");
}

fn starts_on_a_full_disk(name: &str, search: &str) {
    let scratch = Scratch::new(name);
    let dir = scratch.dir().join("mounted");
    std::fs::create_dir_all(&dir).unwrap();
    let Some(disk) = Disk::mount(&dir) else {
        eprintln!("skipped: this system does not allow mounts in a user namespace (unshare --user --mount)");
        return;
    };
    let path = dir.join("framegate.db").to_str().unwrap().to_owned();
    let mark = || std::fs::metadata(disk.file("framegate.db-mark")).unwrap().len();
    let ingest = |proxy: &Proxy| {
        let answer = post(proxy.address, "/v1/ingest/claude-code", &[], &another("claude-code", "text_plain.ndjson"));
        (answer.status, answer.text())
    };
    let mut proxy = disk.proxy(&path, search);
    for name in ["parallel_tools.partial.ndjson", "multi_turn_stdin.ndjson"] {
        let answer = post(proxy.address, "/v1/ingest/claude-code", &[], &another("claude-code", name));
        assert_eq!(answer.status, 201);
    }
    let known = |proxy: &Proxy| -> Vec<Value> { runs(proxy).into_iter().map(without_counters).collect() };
    let before = known(&proxy);
    let ids: Vec<&str> = before.iter().map(|run| run["run_id"].as_str().unwrap()).collect();
    let events: Vec<_> = ids.iter().map(|id| events_in_every_contract(&proxy, id)).collect();
    assert!(proxy.terminate().success());
    assert_eq!(mark(), MARK.1);

    disk.fill();
    let mut proxy = disk.proxy(&path, search);
    assert!(mark() < MARK.1, "a part of the reserve was needed: {}", mark());
    assert_eq!(known(&proxy), before);
    for (id, events) in ids.iter().zip(&events) {
        assert!(events_in_every_contract(&proxy, id) == *events, "{id}");
    }
    // The reserve covers the needs of the start, and the rest of it may hold some frames. After that the disk is full.
    let refused = (0..200).map(|_| ingest(&proxy)).find(|(status, _)| *status != 201);
    let refused = refused.unwrap_or_else(|| panic!("the disk must become full"));
    assert_eq!(refused.0, 507, "{}", refused.1);
    assert_eq!(get(proxy.address, "/healthz", &[]).status, 200);
    assert_eq!(get(proxy.address, "/readyz", &[]).status, 503);
    assert!(known(&proxy).len() >= before.len());

    // The proxy recovers without a restart as soon as there is room.
    disk.empty();
    let deadline = Instant::now() + Duration::from_secs(20);
    while ingest(&proxy).0 != 201 {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(proxy.terminate().success());
    let mut proxy = disk.proxy(&path, search);
    assert_eq!(mark(), MARK.1, "the next start restores the reserve");
    assert!(proxy.terminate().success());

    // Without the reserve, the proxy cannot start on a full disk, and says so.
    File::options().write(true).open(disk.file("framegate.db-mark")).unwrap().set_len(MARK.0).unwrap();
    disk.fill();
    let output = wrapped(&mut disk.inside(), &settings(&path, search)).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(said.contains(&path) && !said.contains("panicked"), "{said}");
}
