//! The running totals that runners reported for their sessions, from which the next input of a session continues.
//!
//! Input: usage figures of kept frames; after a restart, those of the stored statuses. Output: the newest totals of a session.
//! Never: more than [`SESSIONS`] sessions or [`TOTALS`] totals of one, or totals of one session used for another.

use framegate_translators::frame::{Figures, Frame};
use framegate_translators::normalizer::Memory;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use uuid::Uuid;

/// How many sessions are remembered. The session updated longest ago is removed first.
const SESSIONS: usize = 65_536;

/// How many totals of a session are remembered.
const TOTALS: usize = 32;

/// Running totals by session, bounded.
#[derive(Debug, Default)]
pub struct Totals(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    sessions: HashMap<Uuid, (u64, VecDeque<Figures>)>,
    order: BTreeMap<u64, Uuid>,
    next: u64,
}

impl Totals {
    /// Takes the running total from a kept frame, if it has one.
    pub(super) fn frame(&self, frame: &Frame) {
        if let framegate_translators::frame::Body::UsageReported(usage) = &frame.body
            && let Some(running) = &usage.running
        {
            self.learn(frame.stream.session.id, running);
        }
    }

    /// Adds a running total of a session.
    pub(super) fn learn(&self, session: Uuid, total: &Figures) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Known { sessions, order, next } = &mut *known;
        *next += 1;
        let (place, totals) = sessions.entry(session).or_default();
        order.remove(place);
        order.insert(*next, session);
        *place = *next;
        if totals.contains(total) {
            return;
        }
        if totals.len() == TOTALS {
            totals.pop_front();
        }
        totals.push_back(total.clone());
        if sessions.len() > SESSIONS
            && let Some((_, oldest)) = order.pop_first()
        {
            sessions.remove(&oldest);
        }
    }
}

impl Memory for Totals {
    fn totals(&self, session: Uuid) -> Vec<Figures> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.sessions.get(&session).map(|(_, totals)| totals.iter().cloned().collect()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(input_tokens: u64) -> Figures {
        Figures { input_tokens, ..Figures::default() }
    }

    #[test]
    fn totals_are_bounded_and_separate_per_session() {
        let totals = Totals::default();
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        for input in 0..100 {
            totals.learn(one, &figures(input));
        }
        totals.learn(other, &figures(7));
        totals.learn(other, &figures(7));
        let known = totals.totals(one);
        assert_eq!((known.len(), known[0].input_tokens, known[31].input_tokens), (TOTALS, 68, 99));
        assert_eq!(totals.totals(other), [figures(7)]);
        assert!(totals.totals(Uuid::from_u128(3)).is_empty());
    }

    #[test]
    fn the_least_recently_used_session_is_evicted_first() {
        let totals = Totals::default();
        let session = |nth: usize| Uuid::from_u128(nth as u128 + 1);
        for nth in 0..SESSIONS {
            totals.learn(session(nth), &figures(1));
        }
        totals.learn(session(0), &figures(2));
        totals.learn(session(SESSIONS), &figures(1));
        assert_eq!(totals.totals(session(0)).len(), 2);
        assert!(totals.totals(session(1)).is_empty());
        assert_eq!(totals.0.lock().unwrap().sessions.len(), SESSIONS);
    }
}
