//! A program with all processes that it starts: a process group.

use crate::platform::Stop;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::process::ExitStatus;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// A program and its process group. Dropping it kills the remaining processes.
pub(crate) struct ProcessTree {
    child: Child,
    /// `None` once the system may reuse its id.
    group: Option<Pid>,
}

impl ProcessTree {
    /// Starts a program in a process group of its own.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn start(mut command: Command) -> io::Result<Self> {
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(Self { child, group })
    }

    /// The pipe to its standard input, once.
    pub(crate) fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// The pipe from its standard output, once.
    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// The pipe from its standard error, once.
    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Waits until the program itself has exited; its children may still run.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Sends the signal to the whole group.
    pub(crate) fn stop(&mut self, how: Stop) {
        let signal = match how {
            Stop::Interrupt => Signal::INT,
            Stop::Terminate => Signal::TERM,
            Stop::Kill => Signal::KILL,
        };
        // An error means that the group is already gone, which is fine.
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Forgets the group, which is dead: the system may reuse its id.
    pub(crate) fn forget(&mut self) {
        self.group = None;
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.stop(Stop::Kill);
    }
}
