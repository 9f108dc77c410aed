//! What tokens of a model cost, and what runs cost.
//!
//! Input: the table that is part of the program (`prices.toml`), and the file of `prices.file`; the tokens of a run. Output: its computed cost. Never: a
//! cost that is stored (a change of the prices applies to all runs); a cost that a runner reported, which stays apart.

mod cost;
mod file;
mod money;
mod names;
mod pattern;
mod table;
mod tokens;

pub(crate) use cost::day_of;
pub use cost::{Approximation, Calls, ComputedCost, Spent, Unpriced};
pub use file::PriceError;
pub use money::{Price, Usd};
pub use table::{Entry, Found, Rates, Tier};
pub use tokens::Tokens;

use jiff::civil::Date;
use std::path::Path;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use table::Table;

/// The sizes of an input above which a vendor has other prices for a call, in tokens. The tokens of a run's calls are summed between them, so that prices can
/// change later.
pub const SIZE_LIMITS: [u64; 6] = [32_000, 100_000, 128_000, 200_000, 256_000, 272_000];

/// The table that is part of the program.
const BUILT_IN: &str = include_str!("prices.toml");

/// A test checks that the table has no problems.
static BUILT_IN_TABLE: LazyLock<Table> =
    LazyLock::new(|| Table::new(file::parse(BUILT_IN, "prices.toml", true).unwrap_or_default()));

/// The prices in use. Clones share them, so that a new file applies everywhere at once.
#[derive(Clone, Debug, Default)]
pub struct Prices(Arc<RwLock<Arc<Table>>>);

impl Prices {
    /// The prices of the program, and before them those of a file. An empty path names no file.
    ///
    /// # Errors
    /// Everything that is wrong with the file.
    pub fn load(path: &Path) -> Result<Self, PriceError> {
        let entries = if path.as_os_str().is_empty() { Vec::new() } else { file::read(path)? };
        Ok(Self(Arc::new(RwLock::new(Arc::new(Table::new(entries))))))
    }

    /// Replaces the prices by others, here and in all clones.
    pub fn replace(&self, new: &Self) {
        let table = new.own();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = table;
    }

    /// What a run costs.
    pub fn cost(&self, spent: &Spent<'_>) -> ComputedCost {
        let own = self.own();
        cost::of(spent, &[&*own, &*BUILT_IN_TABLE])
    }

    /// Passes the entry that applies to a model on a day to `look`. An entry of the file goes before every entry of the program.
    pub fn find<T>(&self, model: &str, day: Date, look: impl FnOnce(Option<Found<'_>>) -> T) -> T {
        let own = self.own();
        look(own.find(model, day).or_else(|| BUILT_IN_TABLE.find(model, day)))
    }

    /// All entries: those of the file, then those of the program.
    pub fn entries(&self) -> Vec<Entry> {
        self.own().entries().iter().chain(BUILT_IN_TABLE.entries()).cloned().collect()
    }

    fn own(&self) -> Arc<Table> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests;
