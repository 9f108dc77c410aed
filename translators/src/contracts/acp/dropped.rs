//! The notice for a run that is no longer kept: the error that ends the prompt.

use super::data::{AboutFailure, Failure};
use super::writer::Envelope;
use crate::dropped::{CODE, Dropped};
use crate::encode::Events;

/// The protocol's code of what does not exist.
const NOT_FOUND: i32 = -32002;

pub(super) fn notice(dropped: &Dropped<'_>, out: &mut Events) {
    let failure = Failure { code: Some(CODE), usage: None };
    let about = AboutFailure { cost_usd: None };
    let envelope = Envelope::new(dropped.stream);
    envelope.error(dropped.events, NOT_FOUND, &dropped.message(), &failure, &about, out);
}
