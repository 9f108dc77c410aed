//! Sans-IO translators between coding agents' event streams and the event contracts that UIs speak.
//!
//! Bytes come in, events go out; what lies between is [`frame`], the canonical model. A runner's decoder knows no
//! contract, a contract's encoder knows no runner: they meet in the frame.
//!
//! Nothing here waits, reads a clock, opens a file or a socket, or keeps state outside the values it hands out. Time
//! comes in as an argument; identifiers are derived from identifiers that the caller gives.

mod derived;
pub mod frame;
mod hash;
pub mod json;

pub mod framing;
pub mod host;

pub mod artifacts;
pub mod decode;
pub mod ledger;
pub mod recognise;
pub mod records;
pub mod sequence;

pub mod encode;

pub mod drift;
pub mod dropped;
pub mod gate;
pub mod redact;
pub mod schema;
pub mod verify;
pub mod warnings;

pub mod contracts;
pub mod publish;
pub mod runners;

pub mod pipeline;
