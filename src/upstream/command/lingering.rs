//! The programs of an upstream that wait for a further prompt.
//!
//! Input: which programs wait. Output: a request to leave, for the one that has waited longest, when a new run needs its place. Never: such a
//! request for a program that was at work when it was made.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// All programs that wait.
#[derive(Debug, Default)]
pub(super) struct Lingering {
    programs: Mutex<Programs>,
}

#[derive(Debug, Default)]
struct Programs {
    /// In the order in which they began to wait.
    waiting: BTreeMap<u64, Arc<Notify>>,
    last: u64,
}

/// One program.
#[derive(Debug)]
pub(super) struct Lingerer {
    all: Arc<Lingering>,
    asked: Arc<Notify>,
    /// Its number while it waits.
    number: Option<u64>,
}

impl Lingering {
    /// A program that does not wait.
    pub(super) fn program(self: &Arc<Self>) -> Lingerer {
        Lingerer { all: self.clone(), asked: Arc::default(), number: None }
    }

    /// Asks the program that has waited longest to leave. Returns whether there is one.
    pub(super) fn ask_one(&self) -> bool {
        let first = self.lock().waiting.pop_first();
        first.map(|(_, program)| program.notify_one()).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Programs> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lingerer {
    /// Records whether the program waits for a prompt.
    pub(super) fn waits(&mut self, waits: bool) {
        match (waits, self.number) {
            (true, None) => {
                let mut programs = self.all.lock();
                programs.last += 1;
                self.number = Some(programs.last);
                let number = programs.last;
                programs.waiting.insert(number, self.asked.clone());
            }
            (false, Some(number)) => {
                self.number = None;
                self.all.lock().waiting.remove(&number);
            }
            _ => {}
        }
    }

    /// Waits until the program is asked to leave. It may be at work again by then.
    pub(super) async fn asked(&self) {
        self.asked.notified().await;
    }
}

impl Drop for Lingerer {
    fn drop(&mut self) {
        self.waits(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_program_that_has_waited_longest_is_asked_once() {
        let all = Arc::new(Lingering::default());
        let mut programs: Vec<Lingerer> = (0..3).map(|_| all.program()).collect();
        assert!(!all.ask_one());
        for at in [1, 0, 2] {
            programs[at].waits(true);
            programs[at].waits(true);
        }
        programs[0].waits(false);
        programs[0].waits(true);
        drop(programs.pop());
        assert!(all.ask_one() && all.ask_one() && !all.ask_one());
        for program in &programs {
            program.asked().await;
        }
    }
}
