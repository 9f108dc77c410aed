//! Cases of pi's format: messages that come several times, updates that replace, ends that are no ends. Small records, written by hand.

mod calls;
mod ends;
mod messages;
mod questions;
mod recordings;
mod records;
mod session_files;
