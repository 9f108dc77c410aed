//! The interface of every decoder: records in, frame bodies out.
//!
//! Input: one parsed [`Record`] at a time. Output: calls on the [`Normalizer`], which tracks what is open, closes it before a run
//! ends, emits every text once, and numbers the frames. Never: an error that ends the stream, a clock, or anything about
//! contracts.

use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, RunEnd};
use crate::sequence::StreamKey;

/// One upstream record, parsed as far as its top level.
///
/// Text that is not JSON never reaches a decoder: the pipeline reports it.
#[derive(Debug)]
pub struct Record<'a> {
    /// The whole value.
    pub json: Json<'a>,
    /// Its fields, if it is an object.
    pub fields: Object<'a>,
    /// The SSE `event:` value.
    pub event_name: Option<&'a str>,
    /// The record's number in the input, from 0.
    pub index: u64,
    /// Where it begins, in bytes from the start of the input.
    pub offset: u64,
}

/// Decodes one runner's records.
///
/// The record's `provider_event` frame is emitted automatically before the record's first frame, on the same stream. A decoder
/// that needs it on another stream calls [`Normalizer::record_on`] first.
pub trait Decoder: Send {
    /// Decodes the next record. Ignores what it does not know; the record is kept anyway.
    fn record(&mut self, record: &Record<'_>, normalizer: &mut Normalizer);

    /// The host sends this to the runner, one JSON value at a time. It is no record of the input. A decoder that relies on it takes all
    /// records for the runner's own from then on.
    fn sent(&mut self, message: &Object<'_>, normalizer: &mut Normalizer) {
        let _ = (message, normalizer);
    }

    /// Handles a record that is not JSON, or is the end marker `[DONE]`: only selects its stream, by default the open run.
    fn opaque(&mut self, done: bool, normalizer: &mut Normalizer) {
        let _ = done;
        normalizer.record_on_current();
    }

    /// Ends a run on behalf of the runner, because the run's end was lost.
    fn give_up(&mut self, run: StreamKey, end: RunEnd, normalizer: &mut Normalizer) {
        normalizer.end_run(run, end);
    }

    /// The input is over: emits what is still pending. Runs that remain open are closed as interrupted afterwards.
    fn end(&mut self, normalizer: &mut Normalizer) {
        let _ = normalizer;
    }
}
