//! The notice for a run that is no longer kept: an `error`, which every `openai` package raises.

use super::writer::Writer;
use crate::dropped::{CODE, Dropped};
use crate::encode::{Events, Null, Value, Word, data, key};
use uuid::Uuid;

data! {
    struct Error<'a> {
        kind: Word => "type",
        code: &'a str,
        message: &'a str,
        param: Null,
    }
}

pub(super) fn notice(dropped: &Dropped<'_>, out: &mut Events) {
    write(&dropped.stream.id, dropped.events, CODE, &dropped.message(), out);
}

/// Writes an error.
fn write(run: &Uuid, number: u64, code: &str, message: &str, out: &mut Events) {
    Writer::new(run, number).event("error", out, |map| {
        Error { kind: Word("run_error"), code, message, param: Null }.field(key!("error"), map);
    });
}
