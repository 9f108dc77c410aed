//! How a run ends with its client.

use super::{Client, Place, STREAMING};
use crate::approvals::claude_table;
use crate::proxy::Folder;
use crate::started::PATIENCE;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// The processes that work in a folder.
fn processes_in(folder: &Path) -> usize {
    let folder = folder.canonicalize().unwrap();
    let cwd = |entry: std::fs::DirEntry| std::fs::read_link(entry.path().join("cwd")).ok();
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(cwd).filter(|cwd| cwd.starts_with(&folder)).count()
}

fn wait_for_no_process(folder: &Folder) {
    let begin = Instant::now();
    while processes_in(&folder.path("")) > 0 {
        assert!(begin.elapsed() < PATIENCE, "a runner is left");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_signal_interrupts_the_run() {
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let place = Place::configured(&claude_table("long", ""));
        let mut client = Client::start(place.command("fake", &STREAMING));
        client.prompt("go");
        client.until(|message| message["type"] == "assistant");
        signal(&client.child, name);
        assert_eq!(client.result()["subtype"], "error_during_execution");
        assert_eq!(client.child.wait().unwrap().code(), Some(code));
        wait_for_no_process(&place.folder);
    }
}

#[test]
fn a_run_ends_if_the_client_closes_the_output() {
    let place = Place::configured(&claude_table("long", ""));
    let mut command = place.command("fake", &["-p", "go", "--output-format", "stream-json"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    wait_for_no_process(&place.folder);
}

#[test]
fn a_command_that_is_killed_leaves_no_runner() {
    let place = Place::configured(&claude_table("long", ""));
    let mut client = Client::start(place.command("fake", &STREAMING));
    client.prompt("go");
    client.until(|message| message["type"] == "assistant");
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    wait_for_no_process(&place.folder);
}
