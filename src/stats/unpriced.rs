//! The runs without a computed cost, by the reason.
//!
//! Input: the reasons of runs. Output: how many runs have which reason, and which models have no price. Never: more than [`MOST_UNPRICED`]
//! entries, however many models there are (further ones are summed in an entry that says so).

use crate::prices::Unpriced;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;

/// How many entries an answer has, besides the one for all further models.
pub const MOST_UNPRICED: usize = 100;

/// Runs without a computed cost for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnpricedRuns {
    /// The reason: `no_usage`, `no_model` or `no_price`.
    pub reason: Cow<'static, str>,
    /// The model without a price; absent with the other reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The runs. A run that used several models without a price is in the entry of each.
    pub runs: u64,
    /// Whether this is the sum of all models beyond the limit.
    #[serde(default, skip_serializing_if = "is_false")]
    pub rest: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The reasons so far.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    known: HashMap<(&'static str, Option<String>), u64>,
    beyond: u64,
}

impl Reasons {
    /// Adds the reason of a run.
    pub(super) fn add(&mut self, unpriced: &Unpriced) {
        let models = unpriced.models();
        if models.is_empty() {
            *self.known.entry((unpriced.as_str(), None)).or_default() += 1;
        }
        let mut is_beyond = false;
        for model in models {
            let key = (unpriced.as_str(), Some(model.clone()));
            if let Some(runs) = self.known.get_mut(&key) {
                *runs += 1;
            } else if self.known.len() < MOST_UNPRICED {
                self.known.insert(key, 1);
            } else {
                is_beyond = true;
            }
        }
        self.beyond += u64::from(is_beyond);
    }

    /// The entries: those with the most runs first.
    pub(super) fn list(self) -> Vec<UnpricedRuns> {
        let entry = |((reason, model), runs)| UnpricedRuns { reason: Cow::Borrowed(reason), model, runs, rest: false };
        let mut list: Vec<UnpricedRuns> = self.known.into_iter().map(entry).collect();
        list.sort_by(|one, other| {
            other.runs.cmp(&one.runs).then_with(|| (&one.reason, &one.model).cmp(&(&other.reason, &other.model)))
        });
        let rest = UnpricedRuns { reason: Cow::Borrowed("no_price"), model: None, runs: self.beyond, rest: true };
        list.extend(Some(rest).filter(|rest| rest.runs > 0));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_price(models: &[&str]) -> Unpriced {
        let models = models.iter().map(|model| (*model).to_owned()).collect();
        Unpriced::NoPrice { models, day: jiff::civil::date(2026, 11, 25) }
    }

    #[test]
    fn reasons_are_counted_by_model_and_the_most_frequent_come_first() {
        let mut reasons = Reasons::default();
        for unpriced in
            [Unpriced::NoUsage, no_price(&["b"]), no_price(&["a", "b"]), Unpriced::NoUsage, Unpriced::NoUsage]
        {
            reasons.add(&unpriced);
        }
        assert_eq!(
            serde_json::to_value(reasons.list()).unwrap(),
            serde_json::json!([
                {"reason": "no_usage", "runs": 3},
                {"reason": "no_price", "model": "b", "runs": 2},
                {"reason": "no_price", "model": "a", "runs": 1},
            ])
        );
    }

    #[test]
    fn models_beyond_the_limit_are_summed_in_an_entry_that_says_so() {
        let mut reasons = Reasons::default();
        for nth in 0..MOST_UNPRICED + 5 {
            reasons.add(&no_price(&[&format!("model {nth}"), "model 0"]));
        }
        let list = reasons.list();
        assert_eq!(list.len(), MOST_UNPRICED + 1);
        let rest = list.last().unwrap();
        assert_eq!((rest.rest, rest.runs, &rest.model), (true, 5, &None));
    }
}
