//! Cases that Claude Code's format allows and no recording covers: small records written by hand.

mod blocks;
mod children;
mod records;
mod runs;
mod tasks;
mod transcripts;
