//! NATS servers with JetStream, each a process of its own.
//!
//! Input: the program in `NATS_SERVER`. Output: one server, or a cluster of three, with their stores and logs in a folder that is
//! removed at the end of the test, unless it fails. Never: a server that outlives its [`Servers`], or one that is reachable from
//! another machine.

use crate::ports;
use crate::proxy::Folder;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum time that servers need to become ready.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often other ports are tried.
const TRIES: usize = 8;

/// What a server's log says if another process has one of its ports.
const TAKEN: &str = "address already in use";

/// One server, or a cluster. Servers are numbered from 0.
pub struct Servers {
    members: Vec<Member>,
    /// `None` only while this is dropped.
    folder: Option<Folder>,
    /// How clients connect.
    scheme: &'static str,
}

/// The ports of a server.
#[derive(Clone, Copy)]
struct Ports {
    clients: u16,
    monitoring: u16,
    routes: u16,
}

struct Member {
    name: String,
    ports: Ports,
    /// `None` if the server was killed.
    child: Option<Child>,
    is_paused: bool,
}

impl Servers {
    /// One server.
    pub fn one() -> Self {
        Self::of(1, "nats", "")
    }

    /// One server that asks clients for TLS or credentials, as its further `configuration` says.
    pub fn guarded(scheme: &'static str, configuration: &str) -> Self {
        Self::of(1, scheme, configuration)
    }

    /// A cluster of three.
    pub fn three() -> Self {
        Self::of(3, "nats", "")
    }

    fn of(count: usize, scheme: &'static str, more: &str) -> Self {
        for _ in 0..TRIES {
            let mut servers = Self::configured(count, scheme, more);
            (0..count).for_each(|nth| servers.start(nth));
            let deadline = Instant::now() + PATIENCE;
            while !servers.are_ready() {
                if servers.collision().is_some() {
                    break;
                }
                servers.check(deadline);
                thread::sleep(Duration::from_millis(20));
            }
            if servers.collision().is_none() {
                return servers;
            }
        }
        panic!("{TRIES} times, another process took a port of a NATS server");
    }

    /// Servers that are not running yet, with their configurations written.
    fn configured(count: usize, scheme: &'static str, more: &str) -> Self {
        let folder = Folder::new();
        let free = ports::free(count * 3);
        let members = free.chunks(3).enumerate().map(|(nth, free)| Member {
            name: format!("nats-{nth}"),
            ports: Ports { clients: free[0], monitoring: free[1], routes: free[2] },
            child: None,
            is_paused: false,
        });
        let members: Vec<Member> = members.collect();
        for member in &members {
            let own = configuration(member, &members, &folder);
            folder.write(&format!("{}.conf", member.name), &format!("{own}{more}\n"));
        }
        Self { members, folder: Some(folder), scheme }
    }

    fn folder(&self) -> &Folder {
        self.folder.as_ref().unwrap()
    }

    /// The number of servers, running or not.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    /// Where clients connect.
    pub fn urls(&self) -> Vec<String> {
        self.addresses().iter().map(|address| format!("{}://{address}", self.scheme)).collect()
    }

    /// The same, as addresses.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.members.iter().map(|member| SocketAddr::from(([127, 0, 0, 1], member.ports.clients))).collect()
    }

    /// The path of a log file, which is shown if the test fails.
    pub fn log(&self, name: &str) -> PathBuf {
        self.folder().path(&format!("{name}.log"))
    }

    /// Starts a server: the first time, or again after [`Servers::kill`], on the same store and ports. Does not wait until it is
    /// ready.
    pub fn start(&mut self, nth: usize) {
        assert!(!self.is_running(nth), "server {nth} is running already");
        let name = self.members[nth].name.clone();
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.log(&name)).unwrap();
        let mut command = Command::new(program());
        command.arg("--config").arg(self.folder().path(&format!("{name}.conf")));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        self.members[nth].child = Some(child);
        self.members[nth].is_paused = false;
    }

    /// Kills a server without a shutdown, running or paused.
    pub fn kill(&mut self, nth: usize) {
        let mut child = self.members[nth].child.take().unwrap_or_else(|| panic!("server {nth} is not running"));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Stops a server's process: it answers nothing, and its connections stay open.
    pub fn pause(&mut self, nth: usize) {
        self.signal(nth, Signal::STOP);
        self.members[nth].is_paused = true;
    }

    /// Lets a paused server go on.
    pub fn resume(&mut self, nth: usize) {
        self.signal(nth, Signal::CONT);
        self.members[nth].is_paused = false;
    }

    fn signal(&self, nth: usize, signal: Signal) {
        let child = self.members[nth].child.as_ref().unwrap_or_else(|| panic!("server {nth} is not running"));
        kill_process(Pid::from_child(child), signal).unwrap();
    }

    pub fn kill_all(&mut self) {
        (0..self.count()).for_each(|nth| self.kill(nth));
    }

    pub fn start_all(&mut self) {
        (0..self.count()).for_each(|nth| self.start(nth));
    }

    pub fn pause_all(&mut self) {
        (0..self.count()).for_each(|nth| self.pause(nth));
    }

    pub fn resume_all(&mut self) {
        (0..self.count()).for_each(|nth| self.resume(nth));
    }

    /// Whether the server's process exists. A paused one does.
    pub fn is_running(&mut self, nth: usize) -> bool {
        self.members[nth].child.as_mut().is_some_and(|child| child.try_wait().unwrap().is_none())
    }

    /// Waits until every server that is neither killed nor paused is ready; these must be a majority.
    pub fn wait_ready(&mut self) {
        assert!(self.awake().count() * 2 > self.count(), "servers without a majority do not become ready");
        let deadline = Instant::now() + PATIENCE;
        while !self.are_ready() {
            // A restarted server needs the ports that it had, so it tries again until they are free.
            if let Some(nth) = self.collision() {
                self.members[nth].child = None;
                std::fs::rename(self.log(&self.members[nth].name), self.log("port-taken")).unwrap();
                self.start(nth);
            }
            self.check(deadline);
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Fails if a server exited on its own for another reason than its ports, or if it is too late.
    fn check(&mut self, deadline: Instant) {
        if self.collision().is_some() {
            return;
        }
        for nth in 0..self.count() {
            let has_exited = self.members[nth].child.is_some() && !self.is_running(nth);
            assert!(!has_exited, "server {nth} has exited:\n{}", self.text(nth));
        }
        if Instant::now() >= deadline {
            let logs: Vec<String> = (0..self.count()).map(|nth| self.text(nth)).collect();
            panic!("the NATS servers are not ready:\n{}", logs.join("\n"));
        }
    }

    fn text(&self, nth: usize) -> String {
        std::fs::read_to_string(self.log(&self.members[nth].name)).unwrap_or_default()
    }

    /// A server that exited because another process has one of its ports.
    fn collision(&mut self) -> Option<usize> {
        (0..self.count())
            .find(|nth| self.members[*nth].child.is_some() && !self.is_running(*nth) && self.text(*nth).contains(TAKEN))
    }

    fn are_ready(&self) -> bool {
        if self.count() == 1 {
            return self.awake().all(|member| member.ask("/healthz?js-enabled-only=true").is_some());
        }
        // Each has all streams, and knows a leader of the cluster that is not among the killed and the paused.
        let is_awake = |leader: &str| self.awake().any(|member| member.name == leader);
        let has_leader = |state: Value| state["meta_cluster"]["leader"].as_str().is_some_and(is_awake);
        self.awake().all(|member| member.ask("/healthz").is_some() && member.ask("/jsz").is_some_and(has_leader))
    }

    fn awake(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.child.is_some() && !member.is_paused)
    }
}

impl Member {
    /// What the server answers on its monitoring port; `None` if it does not answer with 200.
    fn ask(&self, path: &str) -> Option<Value> {
        let address = SocketAddr::from(([127, 0, 0, 1], self.ports.monitoring));
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        (head.split(' ').nth(1)? == "200").then(|| serde_json::from_str(body).ok())?
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for child in self.members.iter_mut().filter_map(|member| member.child.as_mut()) {
            let _ = child.kill();
            let _ = child.wait();
        }
        if thread::panicking() {
            // The folder stays.
            let folder = std::mem::ManuallyDrop::new(self.folder.take());
            let path = folder.as_ref().map(|folder| folder.path(""));
            eprintln!("the logs of servers and proxies are in {}", path.unwrap_or_default().display());
        }
    }
}

/// The program of the server.
fn program() -> PathBuf {
    let path = std::env::var_os("NATS_SERVER");
    let path = path.unwrap_or_else(|| panic!("NATS_SERVER must be the path of nats-server; ./test.sh installs it"));
    assert!(Path::new(&path).is_file(), "NATS_SERVER must be the path of nats-server, but {path:?} is not a file");
    PathBuf::from(path)
}

fn configuration(member: &Member, all: &[Member], folder: &Folder) -> String {
    let Ports { clients, monitoring, routes } = member.ports;
    let store = folder.path(&member.name);
    let mut text = format!(
        "server_name: \"{}\"\nlisten: \"127.0.0.1:{clients}\"\nhttp: \"127.0.0.1:{monitoring}\"\n\
         jetstream {{ store_dir: \"{}\", max_mem: 256MB, max_file: 4GB }}\n",
        member.name,
        store.display()
    );
    if all.len() > 1 {
        // The folder's name is in the cluster's name, so that servers of two tests never join.
        let cluster = folder.path("").components().next_back().unwrap().as_os_str().to_owned();
        let others = all.iter().map(|member| format!("\"nats-route://127.0.0.1:{}\"", member.ports.routes));
        let others: Vec<String> = others.collect();
        let (cluster, others) = (cluster.to_string_lossy(), others.join(", "));
        writeln!(text, "cluster {{ name: \"{cluster}\", listen: \"127.0.0.1:{routes}\", routes: [{others}] }}")
            .unwrap();
    }
    text
}
