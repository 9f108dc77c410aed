//! The open readers, with the lag of each.
//!
//! Input: readers that begin and end. Output: the longest lag for each contract and form. Never: a lag that is measured between scrapes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Measures how many frames a reader has not got yet.
type Lag = Box<dyn Fn() -> u64 + Send>;

/// The open readers, by number: contract, form and lag.
type Open = HashMap<u64, (&'static str, &'static str, Lag)>;

#[derive(Default)]
pub(super) struct Readers {
    next: AtomicU64,
    open: Mutex<Open>,
}

impl Readers {
    /// Adds a reader. Returns its number.
    pub(super) fn enter(&self, contract: &'static str, wire: &'static str, lag: Lag) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.lock().insert(number, (contract, wire, lag));
        number
    }

    /// Removes a reader.
    pub(super) fn leave(&self, number: u64) {
        self.lock().remove(&number);
    }

    /// The longest lag, in frames, of the readers of each contract in each form.
    pub(super) fn most_lag(&self) -> HashMap<(&'static str, &'static str), u64> {
        let mut most: HashMap<(&str, &str), u64> = HashMap::new();
        for (contract, wire, lag) in self.lock().values() {
            let most = most.entry((contract, wire)).or_default();
            *most = lag().max(*most);
        }
        most
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
