//! Checks every fact of every Claude Code recording against the frames.

mod calls;
mod case;
mod figures;
mod runs;
mod side_chains;
mod texts;
