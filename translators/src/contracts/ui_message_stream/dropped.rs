//! The notice for a run that is no longer kept: an `error`, which the SDK reports to the application.

use super::data::ErrorText;
use crate::dropped::Dropped;
use crate::encode::Events;

pub(super) fn notice(dropped: &Dropped<'_>, out: &mut Events) {
    let message = dropped.message();
    super::writer::write(&dropped.stream.id, dropped.events, "error", &ErrorText { error_text: &message }, out);
}
