//! The order in which files are stored that are decoded at the same time.
//!
//! Input: the sessions of each file. Output: the turn of a file, which lasts until it is dropped. Never: two files at once that may have runs
//! in common; the turn of a file before that of an earlier one.

use crate::ingest::RunSession;
use std::collections::{BTreeSet, HashSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The turns of all files.
#[derive(Default)]
pub(super) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// How many places were given out.
    places: usize,
    /// The first place that has not had its turn.
    next: usize,
    /// Later places that need no turn.
    given_up: BTreeSet<usize>,
    /// The files whose turn it is.
    held: Vec<(usize, Sessions)>,
}

impl State {
    /// Moves on from the next place, and from those after it that need no turn.
    fn pass(&mut self) {
        self.next += 1;
        while self.given_up.remove(&self.next) {
            self.next += 1;
        }
    }
}

/// The sessions of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sessions {
    /// These, and no others.
    Known(HashSet<RunSession>),
    /// They are not known yet.
    Unknown,
}

impl Sessions {
    fn may_share_runs(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Known(one), Self::Known(other)) => {
                one.iter().any(|session| other.iter().any(|known| session.may_share_runs(known)))
            }
            (Self::Unknown, _) | (_, Self::Unknown) => true,
        }
    }
}

/// The place of a file in the order. If it is dropped, the file needs no turn.
pub(super) struct Place<'t> {
    turns: &'t Turns,
    place: usize,
    is_over: bool,
}

/// The turn of a file.
pub(super) struct Turn<'t> {
    turns: &'t Turns,
    place: usize,
}

impl Turns {
    /// The next place.
    pub(super) fn place(&self) -> Place<'_> {
        let mut state = self.state();
        let place = state.places;
        state.places += 1;
        Place { turns: self, place, is_over: false }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'t> Place<'t> {
    /// Where the file is in the order, from 0.
    pub(super) fn number(&self) -> usize {
        self.place
    }

    /// Waits until all earlier files have had their turns, and until those are over that may have runs in common with this file.
    pub(super) fn turn(mut self, sessions: Sessions) -> Turn<'t> {
        let (turns, place) = (self.turns, self.place);
        self.is_over = true;
        let must_wait = |state: &mut State| {
            state.next != place || state.held.iter().any(|(_, held)| held.may_share_runs(&sessions))
        };
        let waited = turns.changed.wait_while(turns.state(), must_wait);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.held.push((place, sessions));
        state.pass();
        turns.changed.notify_all();
        Turn { turns, place }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut state = self.turns.state();
        if state.next == self.place {
            state.pass();
        } else {
            state.given_up.insert(self.place);
        }
        self.turns.changed.notify_all();
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.state().held.retain(|(place, _)| *place != self.place);
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    /// Long enough for a thread to take its turn, if it could.
    const WHILE: Duration = Duration::from_millis(50);

    /// A time in which each turn comes that is due.
    const PATIENCE: Duration = Duration::from_secs(60);

    fn named(ids: &[u128]) -> Sessions {
        Sessions::Known(ids.iter().map(|id| RunSession::of("codex", Some(uuid::Uuid::from_u128(*id)))).collect())
    }

    fn nameless(provider: &'static str) -> Sessions {
        Sessions::Known(HashSet::from([RunSession::of(provider, None)]))
    }

    /// Whether a file may be stored while another one is.
    fn at_once(first: Sessions, second: Sessions) -> bool {
        let turns = Turns::default();
        let (one, two) = (turns.place(), turns.place());
        let held = one.turn(first);
        thread::scope(|scope| {
            let (began, begun) = mpsc::channel();
            scope.spawn(move || {
                let _turn = two.turn(second);
                began.send(()).unwrap();
            });
            let is_at_once = begun.recv_timeout(WHILE).is_ok();
            drop(held);
            if !is_at_once {
                begun.recv_timeout(PATIENCE).unwrap();
            }
            is_at_once
        })
    }

    #[test]
    fn files_of_different_sessions_are_stored_at_once() {
        assert!(at_once(named(&[1, 2]), named(&[3])));
        assert!(at_once(named(&[1]), Sessions::Known(HashSet::new())));
        assert!(at_once(nameless("claude"), named(&[1])));
    }

    #[test]
    fn files_that_may_have_runs_in_common_are_stored_one_after_the_other() {
        assert!(!at_once(named(&[1, 2]), named(&[2, 3])));
        assert!(!at_once(nameless("codex"), named(&[1])));
        assert!(!at_once(named(&[1]), nameless("codex")));
        assert!(!at_once(nameless("codex"), nameless("codex")));
        assert!(!at_once(Sessions::Unknown, named(&[1])));
        assert!(!at_once(named(&[1]), Sessions::Unknown));
    }

    #[test]
    fn a_later_file_waits_for_the_turn_of_an_earlier_one_or_until_it_needs_none() {
        let turns = Turns::default();
        let (one, two, three) = (turns.place(), turns.place(), turns.place());
        assert_eq!((one.number(), two.number(), three.number()), (0, 1, 2));
        thread::scope(|scope| {
            let (began, begun) = mpsc::channel();
            scope.spawn(move || {
                let _turn = three.turn(named(&[3]));
                began.send(()).unwrap();
            });
            assert!(begun.recv_timeout(WHILE).is_err());
            drop(two);
            assert!(begun.recv_timeout(WHILE).is_err(), "the first file has not had its turn");
            drop(one);
            begun.recv_timeout(PATIENCE).unwrap();
        });
    }
}
