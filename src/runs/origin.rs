//! What the proxy knows about the runs of an input before it reads them.

use super::labels::Labels;
use super::workspace::Workplace;
use std::sync::Arc;

/// What runs get when they begin.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// What the client that sent or started them says about them.
    pub labels: Labels,
    /// The configured name of the upstream that they belong to; `None` for input that a client sends.
    pub upstream: Option<Arc<str>>,
    /// Whether they are read from the files in which a runner keeps its sessions.
    pub is_history: bool,
    /// Where the input's last session works, as its records said.
    pub workplace: Workplace,
}
