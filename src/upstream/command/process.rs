//! A running program, with all processes that it starts.
//!
//! Input: program, arguments, directory, variables. Output: its standard output, a handle for its standard input, its exit
//! status. Never: a process left behind when the value is dropped; a full pipe of standard error that blocks the
//! program.

use super::stderr::{self, Stderr};
use crate::platform::processes::ProcessTree;
use crate::platform::{Stop, programs};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{ChildStdin, ChildStdout, Command};
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

/// One running program and the processes that it started.
pub(super) struct Process {
    tree: ProcessTree,
    stderr: AbortOnDropHandle<Stderr>,
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
    let mut command = Command::new(programs::found(&program.name, &program.variables));
    command
        .args(&program.arguments)
        .env_clear()
        .envs(&program.variables)
        .stdin(if program.takes_input { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    let mut tree = ProcessTree::start(command)?;
    let (input, output, errors) = (tree.take_stdin(), tree.take_stdout(), tree.take_stderr());
    let (Some(output), Some(errors)) = (output, errors) else {
        return Err(std::io::Error::other("the program has no standard output"));
    };
    let stderr =
        AbortOnDropHandle::new(tokio::spawn(stderr::collect(errors, program.stderr_bounds, program.relays_stderr)));
    Ok(Started { process: Process { tree, stderr }, input, output })
}

impl Process {
    /// Waits until the program itself has exited; its children may still run.
    pub(super) async fn left(&mut self) -> std::io::Result<ExitStatus> {
        self.tree.wait().await
    }

    /// Ends the program and the processes that it started.
    pub(super) fn stop(&mut self, how: Stop) {
        self.tree.stop(how);
    }

    /// Kills the processes that are left. Returns the end of its standard error.
    pub(super) async fn finish(mut self) -> Stderr {
        self.tree.stop(Stop::Kill);
        // A process that left the group may still hold the pipe. Do not wait for it beyond the timeout.
        let _ = self.tree.wait().await;
        let collected = tokio::time::timeout(LAST_WORDS, &mut self.stderr).await;
        self.tree.forget();
        collected.ok().and_then(Result::ok).unwrap_or_default()
    }
}

/// How long standard error is read after the program has exited.
const LAST_WORDS: Duration = Duration::from_millis(500);
