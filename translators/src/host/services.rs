//! What a runner asks its host to do: read and write files, run commands.
//!
//! Input: what the host offers. Output: one request at a time, for the host to carry out; its result goes back to the runner. Never: a
//! request of a kind that the host did not offer.

use crate::frame::RawJson;

/// What a host offers to a runner.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// The runner may read files through the host.
    pub reads_files: bool,
    /// The runner may write files through the host.
    pub writes_files: bool,
    /// The runner may run commands through the host.
    pub terminals: bool,
    /// The id of the method with which the host authenticates; `None` for one that needs no person, if the runner asks for it.
    pub authentication: Option<String>,
    /// The MCP servers for the session, in the form of the runner's protocol.
    pub mcp_servers: Vec<RawJson>,
}

/// A request that the host carries out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceRequest {
    /// The number that identifies its result.
    pub ticket: u64,
    /// What to do.
    pub service: Service,
}

/// What a host can do for a runner. Paths are the runner's own words; the host decides which it allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Service {
    /// Read a text file.
    ReadFile {
        /// The file.
        path: String,
        /// The first line, counted from 1; `None` for the beginning.
        first_line: Option<u64>,
        /// The maximum number of lines; `None` for all.
        lines: Option<u64>,
    },
    /// Write a text file, which need not exist.
    WriteFile {
        /// The file.
        path: String,
        /// The whole content.
        content: String,
    },
    /// Start a command in a terminal.
    CreateTerminal {
        /// The program.
        command: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Further environment variables.
        environment: Vec<(String, String)>,
        /// Its working directory; `None` for that of the run.
        cwd: Option<String>,
        /// How much of its output is kept, in bytes; `None` for as much as the host allows.
        output_bytes: Option<u64>,
    },
    /// Tell the output so far.
    ReadTerminal(String),
    /// Wait until the command has ended.
    WaitForExit(String),
    /// End the command; its output can still be read.
    KillTerminal(String),
    /// End the command and forget the terminal.
    ReleaseTerminal(String),
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Served {
    /// It is done.
    Done,
    /// The text of a file.
    Text(String),
    /// The id of a new terminal.
    Terminal(String),
    /// The output of a terminal.
    Output {
        /// The end of the output, or all of it.
        text: String,
        /// Whether the beginning is missing.
        is_truncated: bool,
        /// How the command ended; `None` while it runs.
        exit: Option<TerminalExit>,
    },
    /// How a command ended.
    Exit(TerminalExit),
}

/// How a command ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalExit {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The name of the signal, such as `SIGKILL`; `None` if it exited.
    pub signal: Option<String>,
}

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceError {
    /// There is no such file or terminal.
    NotFound(String),
    /// The host does not allow it, or a value is invalid.
    Refused(String),
    /// It was tried and failed.
    Failed(String),
}
