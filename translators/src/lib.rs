//! Sans-IO translators between coding agents' event streams and the event contracts that UIs use.
//!
//! Bytes come in, events go out; between them is [`frame`], the canonical model. A runner's decoder does not know contracts,
//! and a contract's encoder does not know runners: they share only frames.
//!
//! Nothing here waits, reads a clock, opens a file or a socket, or keeps global state. The time is an argument, and ids are
//! derived from ids that the caller provides.
//!
//! # Example
//!
//! The output of a runner, translated into the events of a contract:
//!
//! ```
//! use framegate_translators::contracts::contract;
//! use framegate_translators::encode::{EncoderOptions, EventRef, write_ndjson};
//! use framegate_translators::frame::Frame;
//! use framegate_translators::framing::Limits;
//! use framegate_translators::pipeline::{Ingest, Translator};
//! use framegate_translators::runners::runner;
//! use framegate_translators::sequence::Identity;
//! use uuid::Uuid;
//!
//! let input = concat!(
//!     r#"{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}"#, "\n",
//!     r#"{"type":"result","subtype":"success","is_error":false,"result":"Hello","session_id":"s"}"#, "\n",
//! );
//! let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
//! let ingest = Ingest::new(runner("claude-code").unwrap(), None, Limits::default(), identity);
//! let mut translator = Translator::new(ingest, contract("sse.v1").unwrap(), EncoderOptions::default());
//!
//! let (mut out, now_ms) = (Vec::new(), 1_770_000_000_000);
//! let mut sink = |_: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>| {
//!     events.for_each(|event| write_ndjson(event, &mut out));
//! };
//! translator.feed(input.as_bytes(), now_ms, &mut sink);
//! translator.finish(now_ms, &mut sink);
//!
//! let events = String::from_utf8(out).unwrap();
//! assert!(events.lines().last().unwrap().contains("run_completed"));
//! ```
//!
//! # Features
//!
//! `validation` (default) validates against JSON Schemas with `jsonschema`. Without it, the crate does not depend on `jsonschema`:
//! schemas do not compile, so the [`gate`], [`verify::Checker`] and [`drift`] cannot be set up; records of Open Responses carry no schema
//! errors, and forms of MCP servers that have fields cannot be filled in.

mod derived;
pub mod frame;
mod hash;
pub mod json;
mod newest;
mod rfc3339;
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
pub mod event_kind;

pub mod drift;
pub mod dropped;
pub mod gate;
pub mod redact;
pub mod schema;
pub mod verify;
pub mod warnings;
pub mod when;

mod frame_schemas;

pub mod contracts;
pub mod publish;
pub mod runners;

pub mod pipeline;
