//! The modes of agents. Each agent has its own; these are the names that more than one of them has.
//!
//! Input: the name of a mode. Output: none; the dialogue asks the agent for it. Never: a claim about what an agent does in a mode
//! of its own.

use crate::runners::Modes;

/// No mode is common to all agents.
pub(super) const MODES: Modes = Modes { known: &[], users_define: true };
