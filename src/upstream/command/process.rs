//! A running program, with all processes that it starts in its process group.
//!
//! Input: program, arguments, directory, variables. Output: its standard output, a handle for its standard input, its exit
//! status. Never: a process of the group left behind when the value is dropped; a full pipe of standard error that blocks the
//! program.

use super::stderr::{self, Stderr};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio_util::task::AbortOnDropHandle;

/// What to start.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    pub(super) directory: Option<PathBuf>,
    pub(super) variables: BTreeMap<OsString, OsString>,
    /// Whether its standard input is a pipe to the proxy; otherwise it is empty.
    pub(super) takes_input: bool,
    /// The longest line of its standard error, and how much of it is logged, in bytes.
    pub(super) stderr_bounds: (usize, usize),
    /// Whether its standard error is passed to that of this process instead of the log.
    pub(super) relays_stderr: bool,
}

/// One running program and its process group.
pub(super) struct Process {
    child: Child,
    group: Group,
    stderr: AbortOnDropHandle<Stderr>,
}

/// A process group. Dropping it kills the remaining processes.
pub(in crate::upstream) struct Group(Option<Pid>);

impl Group {
    /// The group that a program leads.
    pub(in crate::upstream) fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)))
    }

    pub(in crate::upstream) fn signal(&self, signal: Signal) {
        // An error means that the group is already gone, which is fine.
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// The handles of a program that was started.
pub(super) struct Started {
    pub(super) process: Process,
    pub(super) input: Option<ChildStdin>,
    pub(super) output: ChildStdout,
}

/// Starts a program.
///
/// # Errors
/// The error of the operating system.
pub(super) fn start(program: &Program) -> std::io::Result<Started> {
    let mut command = Command::new(&program.name);
    command
        .args(&program.arguments)
        .env_clear()
        .envs(&program.variables)
        .process_group(0)
        .stdin(if program.takes_input { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    let mut child = command.spawn()?;
    let group = Group::of(&child);
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(output), Some(errors)) = (output, errors) else {
        return Err(std::io::Error::other("the program has no standard output"));
    };
    let stderr =
        AbortOnDropHandle::new(tokio::spawn(stderr::collect(errors, program.stderr_bounds, program.relays_stderr)));
    Ok(Started { process: Process { child, group, stderr }, input, output })
}

impl Process {
    /// Waits until the program itself has exited; its children may still run.
    pub(super) async fn left(&mut self) -> std::io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Sends a signal to the whole group.
    pub(super) fn signal(&self, signal: Signal) {
        self.group.signal(signal);
    }

    /// Kills the rest of the group. Returns the end of its standard error.
    pub(super) async fn finish(mut self) -> Stderr {
        self.group.signal(Signal::KILL);
        // A process that it started outside the group may still hold the pipe. Do not wait for it beyond the timeout.
        let _ = self.child.wait().await;
        let collected = tokio::time::timeout(LAST_WORDS, &mut self.stderr).await;
        // The group is dead, and the system may reuse its id.
        self.group.0 = None;
        collected.ok().and_then(Result::ok).unwrap_or_default()
    }
}

/// How long standard error is read after the program has exited.
const LAST_WORDS: Duration = Duration::from_millis(500);
