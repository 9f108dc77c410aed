//! The notice for a run that is no longer kept: a `result`, after which no reader expects more of the run.

use super::ending::{Outcome, write_result};
use super::words::INTERRUPTED;
use super::writer::Writer;
use crate::dropped::Dropped;
use crate::encode::Events;

pub(super) fn notice(dropped: &Dropped<'_>, out: &mut Events) {
    let message = dropped.message();
    let mut writer = Writer::at(dropped.stream, dropped.events);
    let outcome = Outcome { subtype: INTERRUPTED, is_error: true, errors: vec![&message], ..Outcome::default() };
    write_result(&mut writer, &outcome, out);
}
