//! Carries out what a runner asks its host to do with files and terminals.
//!
//! Input: requests of the runner, one at a time. Output: their results, in any order. Never: a file outside the directory of the run; a
//! command that outlives the run; a request for a file that is carried out before an earlier one; a command that blocks another request.

mod files;
mod mcp_servers;
mod tail;
mod terminals;

use crate::config::upstream::{Agent, FileAccess};
use files::Files;
use framegate_translators::host::{Offer, Served, Service, ServiceError, ServiceRequest};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use terminals::Terminals;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// What an agent is offered, by its settings.
///
/// # Errors
/// The file with the MCP servers cannot be read.
pub(super) fn offer(settings: &Agent) -> Result<Offer, String> {
    let path = &settings.mcp_servers_file;
    Ok(Offer {
        reads_files: settings.files != FileAccess::None,
        writes_files: settings.files == FileAccess::Write,
        terminals: settings.terminals,
        authentication: Some(settings.authentication.clone()).filter(|method| !method.is_empty()),
        mcp_servers: if path.as_os_str().is_empty() { Vec::new() } else { mcp_servers::read(path)? },
    })
}

/// The services for one runner.
pub(super) struct Services {
    files: Files,
    terminals: Terminals,
    working: JoinSet<(u64, Result<Served, ServiceError>)>,
    /// Closed when the last request for a file that began so far was carried out.
    last_file: Option<oneshot::Receiver<()>>,
}

impl Services {
    /// Creates the services for a runner that works in that directory and has these variables.
    ///
    /// # Errors
    /// The directory cannot be opened.
    pub(super) fn new(
        settings: &Agent,
        directory: &Path,
        variables: BTreeMap<OsString, OsString>,
    ) -> std::io::Result<Self> {
        let files = Files::new(directory, settings.max_file_bytes)?;
        let terminals = Terminals::new(settings, directory.to_owned(), variables);
        Ok(Self { files, terminals, working: JoinSet::new(), last_file: None })
    }

    /// Starts to carry out a request. [`Services::done`] returns its result.
    pub(super) fn begin(&mut self, request: ServiceRequest) {
        let ServiceRequest { ticket, service } = request;
        match service {
            Service::ReadFile { path, first_line, lines } => {
                self.on_files(ticket, move |files| files.read(&path, first_line, lines).map(Served::Text));
            }
            Service::WriteFile { path, content } => {
                self.on_files(ticket, move |files| files.write(&path, &content).map(|()| Served::Done));
            }
            Service::CreateTerminal { command, arguments, environment, cwd, output_bytes } => {
                let order = terminals::Order { command, arguments, environment, cwd, output_bytes };
                let created = self.terminals.create(&order).map(Served::Terminal);
                self.reply(ticket, created);
            }
            Service::ReadTerminal(id) => {
                let output = self.terminals.output(&id);
                self.reply(ticket, output);
            }
            Service::WaitForExit(id) => match self.terminals.exit(&id) {
                Ok(exit) => drop(self.working.spawn(async move { (ticket, Ok(Served::Exit(exit.await))) })),
                Err(error) => self.reply(ticket, Err(error)),
            },
            Service::KillTerminal(id) => {
                let killed = self.terminals.kill(&id).map(|()| Served::Done);
                self.reply(ticket, killed);
            }
            Service::ReleaseTerminal(id) => {
                let released = self.terminals.release(&id).map(|()| Served::Done);
                self.reply(ticket, released);
            }
        }
    }

    /// Works on a file after all earlier requests for files: the runner need not wait for the answers.
    fn on_files(&mut self, ticket: u64, work: impl FnOnce(&Files) -> Result<Served, ServiceError> + Send + 'static) {
        let files = self.files.clone();
        let (is_done, done) = oneshot::channel::<()>();
        let before = self.last_file.replace(done);
        self.working.spawn(async move {
            if let Some(before) = before {
                // The sender is dropped, without a message, when the earlier request was carried out.
                let _ = before.await;
            }
            let result = tokio::task::spawn_blocking(move || work(&files)).await;
            drop(is_done);
            (ticket, result.unwrap_or_else(|error| Err(ServiceError::Failed(error.to_string()))))
        });
    }

    fn reply(&mut self, ticket: u64, result: Result<Served, ServiceError>) {
        self.working.spawn(std::future::ready((ticket, result)));
    }

    /// The next result; waits for ever if nothing is being carried out. The future may be dropped and requested again.
    pub(super) async fn done(&mut self) -> (u64, Result<Served, ServiceError>) {
        loop {
            match self.working.join_next().await {
                Some(Ok(done)) => return done,
                // A task that was cancelled or that panicked has no ticket. The runner's request stays open.
                Some(Err(error)) => tracing::error!(%error, "a request of the runner was not carried out"),
                None => return std::future::pending().await,
            }
        }
    }

    /// The same; waits for ever without services.
    pub(super) async fn done_of(services: &mut Option<Self>) -> (u64, Result<Served, ServiceError>) {
        match services {
            Some(services) => services.done().await,
            None => std::future::pending().await,
        }
    }

    /// Whether a command of the runner is running, so that the runner's silence means nothing.
    pub(super) fn is_busy(&self) -> bool {
        self.terminals.are_running()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn requests_for_files_are_carried_out_in_their_order() {
        let folder = std::env::temp_dir().join(format!("framegate-services-order-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let root = folder.canonicalize().unwrap();
        let path = root.join("a.txt").to_str().unwrap().to_owned();
        let settings = Agent { files: FileAccess::Write, max_file_bytes: 1 << 20, ..Agent::default() };
        let mut services = Services::new(&settings, &root, BTreeMap::new()).unwrap();
        for round in 0..50 {
            let write = |content: String| Service::WriteFile { path: path.clone(), content };
            let read = Service::ReadFile { path: path.clone(), first_line: None, lines: None };
            let requests = [write("a".repeat(1 << 19)), write("b".to_owned()), read];
            for (ticket, service) in requests.into_iter().enumerate() {
                services.begin(ServiceRequest { ticket: ticket as u64, service });
            }
            let mut text = None;
            for _ in 0..3 {
                if let (2, Ok(Served::Text(read))) = services.done().await {
                    text = Some(read);
                }
            }
            assert_eq!(text.as_deref(), Some("b"), "round {round}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
