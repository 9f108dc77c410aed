//! What `check` finds when a valid stream is broken: each field that a document names, missing or of another type; each rule
//! between events. The tables and expectations are written from the documents, not from schemas or verifiers.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

#[path = "../support/mod.rs"]
mod support;

mod fields;
mod order;
mod tables;
