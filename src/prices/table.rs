//! A table of prices, and which of its entries applies to a model on a day.
//!
//! Input: entries, the name of a model, a day. Output: the entry with the most specific pattern among those that are valid on that day. Never: an
//! entry that becomes valid later; a choice that depends on anything but the entries, the name and the day.

use super::money::Price;
use super::names::forms;
use super::pattern::Pattern;
use jiff::civil::Date;
use serde::{Serialize, Serializer};
use std::collections::HashMap;

/// What tokens of a model cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rates {
    /// Input tokens read outside the cache.
    pub input: Price,
    /// Output tokens.
    pub output: Price,
    /// Input tokens read from the cache.
    pub cache_read: Price,
    /// Input tokens written to the cache.
    pub cache_write: Price,
    /// The part of them that is written to entries which live for one hour.
    pub cache_write_1h: Price,
    /// The part of the output tokens that was reasoning.
    pub reasoning: Price,
}

/// The prices of calls whose input is larger than a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tier {
    /// The limit, in tokens: the whole input of the call, cached tokens included, is more than this.
    pub above_input_tokens: u64,
    /// The prices of all tokens of such a call.
    #[serde(flatten)]
    pub rates: Rates,
}

/// One entry of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The vendor whose prices these are; absent if the file does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// The patterns of the models' names.
    pub models: Vec<String>,
    /// The first day on which the prices apply; absent for prices without a beginning.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "day")]
    pub valid_from: Option<Date>,
    /// The day on which the prices were known to be these; absent if the file does not say.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "day")]
    pub known_on: Option<Date>,
    /// The prices.
    #[serde(flatten)]
    pub rates: Rates,
    /// The prices of calls with a larger input, by limit; empty if size does not matter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<Tier>,
    /// Whether the entry is part of the program.
    pub is_built_in: bool,
}

#[expect(clippy::ref_option, reason = "serde passes references")]
fn day<S: Serializer>(day: &Option<Date>, serializer: S) -> Result<S::Ok, S::Error> {
    day.map(|day| day.to_string()).serialize(serializer)
}

impl Entry {
    /// The prices of a call whose input is larger than `above` tokens, and not larger than the next limit.
    pub(super) fn rates_above(&self, above: u64) -> &Rates {
        let tier = self.tiers.iter().rfind(|tier| tier.above_input_tokens <= above);
        tier.map_or(&self.rates, |tier| &tier.rates)
    }
}

/// The entry that applies to a model.
#[derive(Clone, Copy, Debug)]
pub struct Found<'t> {
    /// The entry.
    pub entry: &'t Entry,
    /// The pattern of the entry that matches.
    pub pattern: &'t str,
}

/// Entries, with what is needed to find one quickly.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    entries: Vec<Entry>,
    exact: HashMap<String, Vec<usize>>,
    wildcards: Vec<(Pattern, usize)>,
}

impl Table {
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let mut table = Self::default();
        for (at, entry) in entries.iter().enumerate() {
            for pattern in entry.models.iter().map(|text| Pattern::new(text)) {
                if pattern.is_exact() {
                    table.exact.entry(pattern.as_str().to_owned()).or_default().push(at);
                } else {
                    table.wildcards.push((pattern, at));
                }
            }
        }
        table.entries = entries;
        table
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry that applies to a model on a day. The forms of the name are tried in turn.
    pub(super) fn find(&self, model: &str, day: Date) -> Option<Found<'_>> {
        forms(model).iter().find_map(|form| self.find_form(form, day))
    }

    fn find_form(&self, form: &str, day: Date) -> Option<Found<'_>> {
        let valid = |at: usize| self.entries.get(at).filter(|entry| entry.valid_from.is_none_or(|first| first <= day));
        let newest = |places: &[usize]| {
            let entries = places.iter().filter_map(|at| Some((*at, valid(*at)?)));
            entries.max_by_key(|(at, entry)| (entry.valid_from, *at))
        };
        if let Some((name, places)) = self.exact.get_key_value(form)
            && let Some((_, entry)) = newest(places)
        {
            return Some(Found { entry, pattern: name });
        }
        let matching = self.wildcards.iter().filter(|(pattern, _)| pattern.matches(form));
        let found = matching.filter_map(|(pattern, at)| Some((pattern, *at, valid(*at)?)));
        let best = found.max_by_key(|(pattern, at, entry)| (pattern.specificity(), entry.valid_from, *at));
        best.map(|(pattern, _, entry)| Found { entry, pattern: pattern.as_str() })
    }
}
