//! Commands that a runner has its host run.
//!
//! Input: commands, and the ids of earlier ones. Output: the end of their output, how they ended. Never: a command that starts outside the
//! directory of the run; a process of a command left behind once the command has ended, the terminal is released, or the runner's run
//! is over; more terminals than the bound.

use super::tail::Tail;
use crate::clock::sleep_until;
use crate::config::upstream::Agent;
use crate::platform::processes::ProcessTree;
use crate::platform::{Stop, exit, paths, programs};
use framegate_translators::host::{Served, ServiceError, TerminalExit};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

/// How long a command that is ended may take, before it is killed.
const KILL_GRACE: Duration = Duration::from_secs(2);

/// How long output is read after the command has ended, if another process holds the pipe.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// A command to run.
pub(super) struct Order {
    pub(super) command: String,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) cwd: Option<String>,
    pub(super) output_bytes: Option<u64>,
}

/// The terminals of one runner.
pub(super) struct Terminals {
    root: PathBuf,
    variables: BTreeMap<OsString, OsString>,
    most: usize,
    most_output: usize,
    next: u64,
    open: BTreeMap<String, Terminal>,
}

struct Terminal {
    output: Arc<Mutex<Tail>>,
    exit: watch::Receiver<Option<TerminalExit>>,
    /// Ends the command.
    stop: watch::Sender<bool>,
    /// Dropping it kills the command.
    _task: AbortOnDropHandle<()>,
}

impl Terminals {
    /// The terminals of a runner that works in this directory, whose path has no links, and has these variables.
    pub(super) fn new(settings: &Agent, root: PathBuf, variables: BTreeMap<OsString, OsString>) -> Self {
        let (most, most_output) = (settings.max_terminals, settings.max_terminal_output_bytes);
        Self { root, variables, most, most_output, next: 0, open: BTreeMap::new() }
    }

    /// Starts a command; returns the id of its terminal.
    pub(super) fn create(&mut self, order: &Order) -> Result<String, ServiceError> {
        if self.open.len() >= self.most {
            return Err(ServiceError::Refused(format!(
                "{} terminals are open; release one (upstream.max_terminals of the proxy)",
                self.most
            )));
        }
        let directory = self.directory(order.cwd.as_deref())?;
        let mut command = Command::new(programs::found(&order.command, &self.variables));
        command
            .args(&order.arguments)
            .env_clear()
            .envs(&self.variables)
            .envs(order.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut tree = ProcessTree::start(command)
            .map_err(|error| ServiceError::Failed(format!("{:?} cannot be started: {error}", order.command)))?;
        let most = order
            .output_bytes
            .map_or(self.most_output, |asked| usize::try_from(asked).unwrap_or(usize::MAX).min(self.most_output));
        let output = Arc::new(Mutex::new(Tail::new(most)));
        let (exits, exit) = watch::channel(None);
        let (stop, stops) = watch::channel(false);
        let pipes = (tree.take_stdout(), tree.take_stderr());
        let followed = output.clone();
        let task = async move {
            let ended = follow(&mut tree, pipes, &followed, stops).await;
            drop(tree);
            exits.send_replace(Some(ended));
        };
        let terminal = Terminal { output, exit, stop, _task: AbortOnDropHandle::new(tokio::spawn(task)) };
        self.next += 1;
        let id = format!("terminal-{}", self.next);
        self.open.insert(id.clone(), terminal);
        Ok(id)
    }

    /// The output so far.
    pub(super) fn output(&self, id: &str) -> Result<Served, ServiceError> {
        let terminal = self.find(id)?;
        // Before the output, which is complete once there is an exit.
        let exit = terminal.exit.borrow().clone();
        let (text, is_truncated) = lock(&terminal.output).text();
        Ok(Served::Output { text, is_truncated, exit })
    }

    /// Waits until the command has ended.
    pub(super) fn exit(&self, id: &str) -> Result<impl Future<Output = TerminalExit> + use<>, ServiceError> {
        let mut exit = self.find(id)?.exit.clone();
        Ok(async move {
            // The terminal was released first: its command was killed.
            let killed = || TerminalExit { code: None, signal: Some("SIGKILL".to_owned()) };
            exit.wait_for(Option::is_some).await.map_or_else(|_| killed(), |exit| exit.clone().unwrap_or_default())
        })
    }

    /// Ends the command.
    pub(super) fn kill(&self, id: &str) -> Result<(), ServiceError> {
        self.find(id)?.stop.send_replace(true);
        Ok(())
    }

    /// Ends the command at once and forgets the terminal.
    pub(super) fn release(&mut self, id: &str) -> Result<(), ServiceError> {
        self.open.remove(id).map(drop).ok_or_else(|| unknown(id))
    }

    /// Whether a command runs.
    pub(super) fn are_running(&self) -> bool {
        self.open.values().any(|terminal| terminal.exit.borrow().is_none())
    }

    fn find(&self, id: &str) -> Result<&Terminal, ServiceError> {
        self.open.get(id).ok_or_else(|| unknown(id))
    }

    /// The directory of a command.
    fn directory(&self, asked: Option<&str>) -> Result<PathBuf, ServiceError> {
        let Some(asked) = asked else { return Ok(self.root.clone()) };
        let refused = || ServiceError::Refused(format!("{asked:?} is no directory within that of the run"));
        let path = paths::canonical(Path::new(asked)).map_err(|_| refused())?;
        let is_within = Path::new(asked).is_absolute() && path.starts_with(&self.root) && path.is_dir();
        if is_within { Ok(path) } else { Err(refused()) }
    }
}

fn unknown(id: &str) -> ServiceError {
    ServiceError::NotFound(format!("there is no terminal {:?}", id.chars().take(64).collect::<String>()))
}

fn lock(output: &Mutex<Tail>) -> MutexGuard<'_, Tail> {
    // The lock is held for no other work, so an output is whole even after a panic.
    output.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the output of a command until it has ended. The processes that it left are then killed.
async fn follow(
    tree: &mut ProcessTree,
    (mut stdout, mut stderr): (Option<impl AsyncRead + Unpin>, Option<impl AsyncRead + Unpin>),
    output: &Mutex<Tail>,
    mut stops: watch::Receiver<bool>,
) -> TerminalExit {
    let mut status = None;
    let mut deadline = None;
    let (mut from_stdout, mut from_stderr) = (vec![0; 8192], vec![0; 8192]);
    while status.is_none() || stdout.is_some() || stderr.is_some() {
        tokio::select! {
            ended = tree.wait(), if status.is_none() => {
                status = Some(ended.ok());
                deadline = Some(Instant::now() + LAST_OUTPUT);
            }
            length = read(&mut stdout, &mut from_stdout) => keep(length, &mut stdout, &from_stdout, output),
            length = read(&mut stderr, &mut from_stderr) => keep(length, &mut stderr, &from_stderr, output),
            Ok(_) = stops.wait_for(|is_stopped| *is_stopped), if deadline.is_none() => {
                tree.stop(Stop::Terminate);
                deadline = Some(Instant::now() + KILL_GRACE);
            }
            () = sleep_until(deadline) => match status {
                None => {
                    tree.stop(Stop::Kill);
                    deadline = Some(Instant::now() + KILL_GRACE);
                }
                Some(_) => break,
            },
        }
    }
    exit_of(status.flatten())
}

async fn read(pipe: &mut Option<impl AsyncRead + Unpin>, chunk: &mut [u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.read(chunk).await.unwrap_or_default(),
        None => std::future::pending().await,
    }
}

fn keep<R>(length: usize, pipe: &mut Option<R>, chunk: &[u8], output: &Mutex<Tail>) {
    match length {
        0 => *pipe = None,
        length => lock(output).push(chunk.get(..length).unwrap_or_default()),
    }
}

fn exit_of(status: Option<ExitStatus>) -> TerminalExit {
    let signal = status.and_then(exit::signal);
    TerminalExit { code: status.and_then(|status| status.code()), signal: signal.map(exit::signal_name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminals(name: &str) -> Terminals {
        let root = std::env::temp_dir().join(format!("framegate-terminals-{name}-{}", std::process::id()));
        std::fs::create_dir_all(root.join("sub")).unwrap();
        let settings = Agent { max_terminals: 2, max_terminal_output_bytes: 1024, ..Agent::default() };
        let path = std::env::var_os("PATH").unwrap();
        let variables = BTreeMap::from([(OsString::from("PATH"), path)]);
        Terminals::new(&settings, root.canonicalize().unwrap(), variables)
    }

    fn sh(script: &str) -> Order {
        Order {
            command: "sh".to_owned(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            environment: vec![("OWN".to_owned(), "value".to_owned())],
            cwd: None,
            output_bytes: None,
        }
    }

    fn text(terminals: &Terminals, id: &str) -> (String, bool) {
        match terminals.output(id).unwrap() {
            Served::Output { text, is_truncated, exit: Some(_) } => (text, is_truncated),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_command_has_its_output_and_exit() {
        let mut terminals = terminals("exit");
        let id = terminals.create(&sh("pwd; echo $OWN $HOME; echo no >&2; exit 3")).unwrap();
        assert!(terminals.are_running());
        assert_eq!(terminals.exit(&id).unwrap().await, TerminalExit { code: Some(3), signal: None });
        let (output, is_truncated) = text(&terminals, &id);
        let mut lines: Vec<&str> = output.lines().collect();
        lines.sort_unstable();
        assert_eq!((lines.len(), is_truncated), (3, false), "{output}");
        assert!(lines.contains(&"value") && lines.contains(&"no") && lines.contains(&terminals.root.to_str().unwrap()));
        let long = terminals.create(&sh("i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done")).unwrap();
        terminals.exit(&long).unwrap().await;
        let (output, is_truncated) = text(&terminals, &long);
        assert!(is_truncated && output.len() <= 1024 && output.ends_with("line 499\n"));
        assert!(
            matches!(terminals.create(&sh("true")), Err(ServiceError::Refused(why)) if why.contains("max_terminals"))
        );
        terminals.release(&id).unwrap();
        assert!(matches!(terminals.output(&id), Err(ServiceError::NotFound(_))));
        let missing = Order { command: "/no/such/program".to_owned(), ..sh("") };
        assert!(matches!(terminals.create(&missing), Err(ServiceError::Failed(_))));
    }

    #[tokio::test]
    async fn a_command_ends_with_its_children() {
        let mut terminals = terminals("kill");
        let own = terminals.root.join("pid");
        let script = format!("sleep 60 & echo $! > {}; trap '' TERM; wait; sleep 60", own.display());
        let id = terminals.create(&sh(&script)).unwrap();
        let pid = loop {
            match std::fs::read_to_string(&own) {
                Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
                _ => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        };
        terminals.kill(&id).unwrap();
        let exit = terminals.exit(&id).unwrap().await;
        assert_eq!((exit.code, exit.signal.as_deref()), (None, Some("SIGKILL")));
        while Path::new(&format!("/proc/{pid}/stat")).exists()
            && !std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default().contains(") Z ")
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let waits = terminals.create(&sh("sleep 60")).unwrap();
        let exit = terminals.exit(&waits).unwrap();
        terminals.release(&waits).unwrap();
        assert_eq!(exit.await.signal.as_deref(), Some("SIGKILL"));
    }

    #[tokio::test]
    async fn a_command_starts_within_the_directory() {
        let mut terminals = terminals("cwd");
        let root = terminals.root.clone();
        std::os::unix::fs::symlink("/", root.join("out")).unwrap_or_default();
        let at = |path: PathBuf| Order { cwd: Some(path.to_str().unwrap().to_owned()), ..sh("pwd") };
        let id = terminals.create(&at(root.join("sub"))).unwrap();
        terminals.exit(&id).unwrap().await;
        assert_eq!(text(&terminals, &id).0.trim(), root.join("sub").to_str().unwrap());
        for path in ["/", "sub", "/no/such"].map(PathBuf::from).into_iter().chain([root.join("out"), root.join("..")]) {
            assert!(matches!(terminals.create(&at(path.clone())), Err(ServiceError::Refused(_))), "{path:?}");
        }
    }
}
