//! A program that runs, with everything that it starts in its process group.
//!
//! In: program, arguments, directory, variables. Out: its standard output, a place for its input, how it ended. Never: a
//! process of the group that is left when the value is dropped, a standard error that fills up and stops the program.

use super::stderr::{self, Stderr};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio_util::task::AbortOnDropHandle;

/// What is started.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    pub(super) directory: Option<PathBuf>,
    pub(super) variables: BTreeMap<String, OsString>,
    /// Whether its standard input is for us; else it is empty.
    pub(super) takes_input: bool,
    /// The longest line of its standard error, and how much of it is told, in bytes.
    pub(super) stderr_bounds: (usize, usize),
}

/// See the module.
pub(super) struct Process {
    child: Child,
    group: Group,
    stderr: AbortOnDropHandle<Stderr>,
}

/// A process group; what is left of it is killed when this is dropped.
struct Group(Option<Pid>);

impl Group {
    fn signal(&self, signal: Signal) {
        // The group may be gone already, which is what was wanted.
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

/// The ends of a program that was started.
pub(super) struct Started {
    pub(super) process: Process,
    pub(super) input: Option<ChildStdin>,
    pub(super) output: ChildStdout,
}

/// Starts it.
///
/// # Errors
/// The system's.
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
    let group = Group(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)));
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(output), Some(errors)) = (output, errors) else {
        return Err(std::io::Error::other("the program has no output"));
    };
    let stderr = AbortOnDropHandle::new(tokio::spawn(stderr::told(errors, program.stderr_bounds)));
    Ok(Started { process: Process { child, group, stderr }, input, output })
}

impl Process {
    /// Waits until the program has left; what it started may still be there.
    pub(super) async fn left(&mut self) -> std::io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Sends the whole group a signal.
    pub(super) fn signal(&self, signal: Signal) {
        self.group.signal(signal);
    }

    /// Kills what is left of the group, and gives what it said on its standard error last.
    pub(super) async fn finish(mut self) -> Stderr {
        self.group.signal(Signal::KILL);
        // A process that it started outside of its group may hold the pipe; nobody waits for it.
        let _ = self.child.wait().await;
        let told = tokio::time::timeout(LAST_WORDS, &mut self.stderr).await;
        // The group is dead and its number may be given to others.
        self.group.0 = None;
        told.ok().and_then(Result::ok).unwrap_or_default()
    }
}

/// How long the standard error is read behind the end.
const LAST_WORDS: Duration = Duration::from_millis(500);
