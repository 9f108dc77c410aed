//! The notice for a run that is no longer kept: an error, after which no client expects more of the answer.

use super::encode::write_error;
use crate::dropped::{CODE, Dropped};
use crate::encode::Events;

pub(super) fn notice(dropped: &Dropped<'_>, out: &mut Events) {
    write_error(dropped.events, &dropped.stream.id, CODE, &dropped.message(), out);
}
