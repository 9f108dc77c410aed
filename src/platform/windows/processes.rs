//! A program with all processes that it starts: a job object.
//!
//! Windows has no signal that a program without a console could be sent, so that every way to end it terminates the job. A runner that can be
//! asked in its own protocol, or that leaves when its standard input ends, was asked before.

use crate::platform::Stop;
use process_wrap::tokio::{ChildWrapper, CommandWrap, CreationFlags, JobObject, KillOnDrop};
use std::io;
use std::process::ExitStatus;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

/// `CREATE_NO_WINDOW`: a program of a service opens no window, and Ctrl-C in the console of this process does not reach it.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// A program and its job object. Dropping it terminates the remaining processes.
pub(crate) struct ProcessTree {
    child: Box<dyn ChildWrapper>,
}

impl ProcessTree {
    /// Starts a program in a job object of its own.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn start(command: Command) -> io::Result<Self> {
        let mut command = CommandWrap::from(command);
        let mut flags = CreationFlags(Default::default());
        flags.0.0 = CREATE_NO_WINDOW;
        let child = command.wrap(flags).wrap(KillOnDrop).wrap(JobObject).spawn()?;
        Ok(Self { child })
    }

    /// The pipe to its standard input, once.
    pub(crate) fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin().take()
    }

    /// The pipe from its standard output, once.
    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout().take()
    }

    /// The pipe from its standard error, once.
    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr().take()
    }

    /// Waits until the program itself has exited; its children may still run.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        // The outer wrapper waits for all processes of the job.
        self.child.inner_mut().wait().await
    }

    /// Terminates all processes of the job, however they are to end.
    pub(crate) fn stop(&mut self, _: Stop) {
        // An error means that they are already gone, which is fine.
        let _ = self.child.start_kill();
    }

    /// Does nothing: the job belongs to this value alone.
    pub(crate) fn forget(&mut self) {}
}
