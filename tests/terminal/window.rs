//! A window: the other end of a pseudo-terminal, with a program in it.

use crate::screen::Screen;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The maximum time that a test waits.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Window {
    child: Child,
    keyboard: File,
    inside: File,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Window {
    /// Runs the binary in a window of this size.
    pub fn run(arguments: &[&str], columns: u16, set: &[(&str, &str)]) -> Self {
        let window = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&window).unwrap();
        unlockpt(&window).unwrap();
        let name = ptsname(&window, Vec::new()).unwrap();
        let inside = OpenOptions::new().read(true).write(true).open(Path::new(name.to_str().unwrap())).unwrap();
        tcsetwinsize(&inside, size(columns)).unwrap();
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait", env!("CARGO_BIN_EXE_framegate")]).args(arguments);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env("TERM", "xterm");
        command.env("FRAMEGATE__LOG__KIND", "memory").envs(set.iter().copied());
        command
            .stdin(inside.try_clone().unwrap())
            .stdout(inside.try_clone().unwrap())
            .stderr(inside.try_clone().unwrap());
        let child = command.spawn().unwrap();
        let keyboard = File::from(window.try_clone().unwrap());
        let seen = Arc::<Mutex<Vec<u8>>>::default();
        read(window, seen.clone());
        Self { child, keyboard, inside, seen }
    }

    /// Everything that was written to the terminal.
    pub fn bytes(&self) -> Vec<u8> {
        self.seen.lock().unwrap().clone()
    }

    /// What the window shows, with the rows that have scrolled away.
    pub fn text(&self) -> String {
        Screen::of(&self.bytes()).text()
    }

    /// Waits until the window shows this.
    pub fn wait_for(&self, text: &str) {
        self.wait_until(text, |shown| shown.contains(text));
    }

    pub fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let begin = Instant::now();
        while !is_so(&self.text()) {
            assert!(begin.elapsed() < PATIENCE, "no {what:?} in:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn press(&mut self, key: &str) {
        self.keyboard.write_all(key.as_bytes()).unwrap();
    }

    pub fn resize(&self, columns: u16) {
        tcsetwinsize(&self.inside, size(columns)).unwrap();
    }

    /// Whether the terminal reads whole lines and shows what is typed.
    pub fn is_cooked(&self) -> bool {
        tcgetattr(&self.inside).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Waits for the end of the program.
    pub fn wait(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                // What it wrote last may still be on its way.
                std::thread::sleep(Duration::from_millis(100));
                return status;
            }
            assert!(begin.elapsed() < PATIENCE, "still running:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(columns: u16) -> Winsize {
    Winsize { ws_col: columns, ws_row: 30, ws_xpixel: 0, ws_ypixel: 0 }
}

fn read(window: OwnedFd, seen: Arc<Mutex<Vec<u8>>>) {
    let mut window = File::from(window);
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        // An error means that the program has closed the terminal.
        while let Ok(count) = window.read(&mut bytes) {
            seen.lock().unwrap().extend(&bytes[..count]);
        }
    });
}

/// Runs the binary with its output in a pipe.
pub fn piped(arguments: &[&str], input: &[u8], set: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
    command.args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").envs(set.iter().copied());
    command.env("FRAMEGATE__LOG__KIND", "memory");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feed = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feed.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}
