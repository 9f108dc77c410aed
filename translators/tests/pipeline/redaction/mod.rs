//! What redaction removes from the output of every contract, and what it leaves unchanged.

mod ends;
mod harmless;
mod harness;
mod large;
mod pieces;
mod places;
mod planted;
mod secrets;
mod settings;
mod timed;
mod untouched;
mod waiting;
