//! Sans-IO translators between coding agents' event streams and the event contracts that UIs use.
//!
//! Bytes come in, events go out; between them is [`frame`], the canonical model. A runner's decoder does not know contracts,
//! and a contract's encoder does not know runners: they share only frames.
//!
//! Nothing here waits, reads a clock, opens a file or a socket, or keeps global state. The time is an argument, and ids are
//! derived from ids that the caller provides.

mod derived;
pub mod frame;
mod hash;
pub mod json;
mod saved;

pub mod framing;
pub mod host;

pub mod artifacts;
pub mod decode;
pub mod foreign;
pub mod normalizer;
pub mod recognise;
pub mod records;
pub mod sequence;
mod tally;

mod contract;
pub mod encode;

pub mod drift;
pub mod dropped;
pub mod gate;
pub mod redact;
pub mod schema;
pub mod verify;
pub mod warnings;
pub mod when;

pub mod contracts;
pub mod publish;
pub mod runners;

pub mod pipeline;
