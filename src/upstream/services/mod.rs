//! Carries out what a runner asks its host to do with files and terminals.
//!
//! Input: requests of the runner, one at a time. Output: their results, in any order. Never: a file outside the directory of the run; a
//! command that outlives the run; a request that blocks another one.

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
        Ok(Self { files, terminals, working: JoinSet::new() })
    }

    /// Starts to carry out a request. [`Services::done`] returns its result.
    pub(super) fn begin(&mut self, request: ServiceRequest) {
        let ServiceRequest { ticket, service } = request;
        match service {
            Service::ReadFile { path, first_line, lines } => {
                let files = self.files.clone();
                self.working.spawn_blocking(move || (ticket, files.read(&path, first_line, lines).map(Served::Text)));
            }
            Service::WriteFile { path, content } => {
                let files = self.files.clone();
                self.working.spawn_blocking(move || (ticket, files.write(&path, &content).map(|()| Served::Done)));
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
