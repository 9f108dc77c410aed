//! What every decoder is: records in, frame bodies out.
//!
//! In: one [`Record`] at a time, already parsed. Out: calls on the [`Ledger`], which knows what is open, closes it before
//! a run ends, says every text once, and numbers the frames. Never: an error that ends the stream, a clock, a contract.

use crate::json::{Json, Object};
use crate::ledger::{Ledger, RunEnd};
use crate::sequence::StreamKey;

/// One upstream record, parsed as far as its top level.
///
/// What is no JSON never reaches a decoder: the pipeline reports it.
#[derive(Debug)]
pub struct Record<'a> {
    /// The whole value.
    pub json: Json<'a>,
    /// Its fields, where it is an object.
    pub fields: Object<'a>,
    /// The SSE `event:` value.
    pub event_name: Option<&'a str>,
    /// Counts the records of the input from 0.
    pub index: u64,
    /// Where it begins, in bytes from the start of the input.
    pub offset: u64,
}

/// Reads one runner's records and says what happened.
///
/// The record's `provider_event` frame need not be asked for: it goes out before the first frame that the record gives
/// rise to, on the same stream; a decoder that wants it elsewhere calls [`Ledger::record_on`] first.
pub trait Decoder: Send {
    /// Reads the next record. Whatever it does not know, it leaves alone: the record is kept anyhow.
    fn record(&mut self, record: &Record<'_>, ledger: &mut Ledger);

    /// A record came that is no JSON, or is the end marker `[DONE]`: says on which stream it is kept, and nothing else.
    /// By default on the run that is open.
    fn opaque(&mut self, done: bool, ledger: &mut Ledger) {
        let _ = done;
        ledger.record_on_current();
    }

    /// Somebody else than the runner ends a run that goes on: its last words are lost.
    fn give_up(&mut self, run: StreamKey, end: RunEnd, ledger: &mut Ledger) {
        ledger.end_run(run, end);
    }

    /// The input is over: says what is still to be said. Runs that stay open are closed as interrupted afterwards.
    fn end(&mut self, ledger: &mut Ledger) {
        let _ = ledger;
    }
}
