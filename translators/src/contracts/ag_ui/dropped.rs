//! The notice for a run that is no longer kept: a `RUN_ERROR`, which is valid as the first event too.

use super::data::RunError;
use super::writer::{Nothing, write};
use crate::dropped::{CODE, Dropped};
use crate::encode::Events;

pub(super) fn notice(dropped: &Dropped<'_>, out: &mut Events) {
    let message = dropped.message();
    let place = (&dropped.stream.id, dropped.events, dropped.at_ms);
    write(place, "RUN_ERROR", &RunError { message: &message, code: Some(CODE), usage: None }, &Nothing, out);
}
