//! What a run costs: its tokens times the prices of its models on the day on which it began.
//!
//! Input: the tokens of a run and of its model calls. Output: an amount, or the reason why there is none; whether the amount is exact. Never: a token that is billed
//! twice, because it is in a call and in the run's total; an amount for a run of which a part has no price.
//!
//! A price is linear in tokens, so the cost is a sum of parts: each call at the prices for its size, and what the total has beyond the calls
//! at the prices for a small call. The latter is negative if a runner's calls have more than its total.

use super::money::Usd;
use super::table::{Entry, Table};
use super::tokens::{Difference, Tokens};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use serde::{Serialize, Serializer};
use std::fmt;

/// The model calls of a run to one model whose inputs have a size between the same limits.
#[derive(Clone, Copy, Debug)]
pub struct Calls<'a> {
    /// The model; `None` if the runner does not name it.
    pub model: Option<&'a str>,
    /// The limit of an input's size that each of the calls exceeds; 0: none.
    pub above_input_tokens: u64,
    /// The sum of their tokens.
    pub tokens: Tokens,
}

/// What a run used.
#[derive(Clone, Debug, Default)]
pub struct Spent<'a> {
    /// All tokens of the run; `None` if its runner reported none.
    pub total: Option<Tokens>,
    /// The total by model, if the runner gives it that way, or if there is only one model; empty if it is not known.
    pub total_by_model: Vec<(&'a str, Tokens)>,
    /// The model calls that the runner reported one by one; they are parts of the total.
    pub calls: Vec<Calls<'a>>,
    /// The model that the run named last.
    pub model: Option<&'a str>,
    /// When the run began, in Unix epoch milliseconds.
    pub started_at_ms: u64,
}

/// Why a run has no computed cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unpriced {
    /// The runner reported no tokens.
    NoUsage,
    /// The runner named no model.
    NoModel,
    /// These models have no price on that day.
    NoPrice {
        /// The models, as the runner spells them.
        models: Vec<String>,
        /// The day on which the run began.
        day: Date,
    },
}

impl Unpriced {
    /// The name of the reason in the APIs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NoUsage => "no_usage",
            Self::NoModel => "no_model",
            Self::NoPrice { .. } => "no_price",
        }
    }

    /// The models without a price.
    pub fn models(&self) -> &[String] {
        match self {
            Self::NoPrice { models, .. } => models,
            Self::NoUsage | Self::NoModel => &[],
        }
    }
}

impl fmt::Display for Unpriced {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoUsage => formatter.write_str("no usage reported"),
            Self::NoModel => formatter.write_str("no model named"),
            Self::NoPrice { models, day } => write!(formatter, "no price for {} on {day}", models.join(", ")),
        }
    }
}

/// Why a computed cost may differ from what the same tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Approximation {
    /// The runner does not say to which model some of the tokens belong; they are priced as those of the model that the run named last.
    ModelsNotReported,
    /// The price depends on the size of each call, and the runner does not report some of them; they are priced as small ones.
    CallSizesNotReported,
}

impl Approximation {
    /// Every reason.
    pub const ALL: [Self; 2] = [Self::ModelsNotReported, Self::CallSizesNotReported];

    /// The name of the reason in the APIs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ModelsNotReported => "models_not_reported",
            Self::CallSizesNotReported => "call_sizes_not_reported",
        }
    }
}

/// The computed cost of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComputedCost {
    /// The amount.
    Known {
        /// US dollars.
        usd: Usd,
        /// Why it is not exact; empty if it is.
        approximate: Vec<Approximation>,
    },
    /// There is none.
    Unpriced(Unpriced),
}

impl ComputedCost {
    /// The amount, if there is one.
    pub fn usd(&self) -> Option<Usd> {
        match self {
            Self::Known { usd, .. } => Some(*usd),
            Self::Unpriced(_) => None,
        }
    }

    /// Why there is no amount.
    pub fn unpriced(&self) -> Option<&Unpriced> {
        match self {
            Self::Known { .. } => None,
            Self::Unpriced(reason) => Some(reason),
        }
    }

    /// Whether there is an amount that is not exact.
    pub fn is_approximate(&self) -> bool {
        matches!(self, Self::Known { approximate, .. } if !approximate.is_empty())
    }
}

/// In a status: `{"usd": 0.0053}`, or `{"unpriced": "no_price", "message": "no price for big on 2026-11-25", "models": ["big"]}`.
impl Serialize for ComputedCost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Default, Serialize)]
        struct Form<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            usd: Option<Usd>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            approximate: &'a [Approximation],
            #[serde(skip_serializing_if = "Option::is_none")]
            unpriced: Option<&'static str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            message: Option<String>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            models: &'a [String],
        }
        let form = match self {
            Self::Known { usd, approximate } => Form { usd: Some(*usd), approximate, ..Form::default() },
            Self::Unpriced(reason) => Form {
                unpriced: Some(reason.as_str()),
                message: Some(reason.to_string()),
                models: reason.models(),
                ..Form::default()
            },
        };
        form.serialize(serializer)
    }
}

/// The day of a time in UTC. A time after the year 9999 is on its last day.
pub(crate) fn day_of(unix_ms: u64) -> Date {
    let time = i64::try_from(unix_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    Offset::UTC.to_datetime(time.unwrap_or(Timestamp::MAX)).date()
}

/// Tokens to which the same prices apply.
struct Part<'t> {
    entry: &'t Entry,
    above: u64,
    tokens: Difference,
}

/// The parts of a cost, and what is missing.
struct Sum<'t> {
    tables: &'t [&'t Table],
    day: Date,
    parts: Vec<Part<'t>>,
    /// What the total has beyond the calls, by entry.
    beyond: Vec<(&'t Entry, Difference)>,
    missing: Vec<String>,
}

impl<'t> Sum<'t> {
    /// Adds tokens of a model at the prices for calls above a limit.
    fn add(&mut self, model: &str, above: u64, tokens: &Tokens, times: i128) -> Option<&'t Entry> {
        let Some(found) = self.tables.iter().find_map(|table| table.find(model, self.day)) else {
            if !self.missing.iter().any(|known| known == model) {
                self.missing.push(model.to_owned());
            }
            return None;
        };
        let is_it = |part: &&mut Part<'_>| std::ptr::eq(part.entry, found.entry) && part.above == above;
        match self.parts.iter_mut().find(is_it) {
            Some(part) => part.tokens.add(tokens, times),
            None => {
                let mut part = Part { entry: found.entry, above, tokens: Difference::default() };
                part.tokens.add(tokens, times);
                self.parts.push(part);
            }
        }
        Some(found.entry)
    }

    /// Adds tokens of a model to what the total has beyond the calls.
    fn add_beyond(&mut self, entry: Option<&'t Entry>, tokens: &Tokens, times: i128) {
        let Some(entry) = entry else { return };
        let place = self.beyond.iter().position(|(known, _)| std::ptr::eq(*known, entry)).unwrap_or_else(|| {
            self.beyond.push((entry, Difference::default()));
            self.beyond.len() - 1
        });
        if let Some((_, beyond)) = self.beyond.get_mut(place) {
            beyond.add(tokens, times);
        }
    }

    /// Whether tokens beyond the reported calls may be of a call with a larger input, which costs more.
    fn may_be_large(&self) -> bool {
        self.beyond.iter().any(|(entry, beyond)| {
            let least = entry.tiers.first().map(|tier| tier.above_input_tokens);
            least.is_some_and(|least| beyond.whole_input() > i128::from(least))
        })
    }

    fn usd(&self) -> Usd {
        let cost = |part: &Part<'_>| part.tokens.cost(part.entry.rates_above(part.above));
        self.parts.iter().map(cost).fold(Usd::default(), Usd::plus).or_zero()
    }
}

/// The cost of a run by the first of the tables that has a price for each model.
pub(super) fn of(spent: &Spent<'_>, tables: &[&Table]) -> ComputedCost {
    if spent.total.is_none() && spent.calls.is_empty() {
        return ComputedCost::Unpriced(Unpriced::NoUsage);
    }
    let spent = &with_hour_writes(spent);
    let mut sum =
        Sum { tables, day: day_of(spent.started_at_ms), parts: Vec::new(), beyond: Vec::new(), missing: Vec::new() };
    let mut is_guessed = false;
    let known = if spent.total_by_model.is_empty() {
        by_calls(spent, &mut sum, &mut is_guessed)
    } else {
        by_models(spent, &mut sum);
        Some(())
    };
    if known.is_none() {
        return ComputedCost::Unpriced(Unpriced::NoModel);
    }
    if !sum.missing.is_empty() {
        return ComputedCost::Unpriced(Unpriced::NoPrice { models: sum.missing, day: sum.day });
    }
    let reasons = [is_guessed, sum.may_be_large()].into_iter().zip(Approximation::ALL);
    let approximate = reasons.filter_map(|(is_so, reason)| is_so.then_some(reason)).collect();
    ComputedCost::Known { usd: sum.usd(), approximate }
}

/// The same, with the writes of one hour that the calls report in the totals too: runners do not always say of a total how long entries live.
fn with_hour_writes<'a>(spent: &Spent<'a>) -> Spent<'a> {
    let of_calls = |model: Option<&str>| {
        // The only model of the total may be spelled differently in its calls.
        let is_all = model.is_none() || spent.total_by_model.len() == 1;
        let calls = spent.calls.iter().filter(|calls| is_all || calls.model.or(spent.model) == model);
        calls.fold(0_u64, |sum, calls| sum.saturating_add(calls.tokens.cache_creation_1h))
    };
    let completed = |tokens: &Tokens, hour: u64| {
        let hour = tokens.cache_creation_1h.max(hour).min(tokens.cache_creation);
        Tokens { cache_creation_1h: hour, ..*tokens }
    };
    let by_model = spent.total_by_model.iter();
    Spent {
        total: spent.total.map(|total| completed(&total, of_calls(None))),
        total_by_model: by_model.map(|(model, tokens)| (*model, completed(tokens, of_calls(Some(model))))).collect(),
        ..spent.clone()
    }
}

/// The total of each model is known: the calls only say how much of it is at the prices for larger inputs.
fn by_models(spent: &Spent<'_>, sum: &mut Sum<'_>) {
    for (model, tokens) in &spent.total_by_model {
        let entry = sum.add(model, 0, tokens, 1);
        sum.add_beyond(entry, tokens, 1);
    }
    for calls in &spent.calls {
        let Some(model) = calls.model.or(spent.model) else { continue };
        if calls.above_input_tokens == 0 {
            let entry = sum.tables.iter().find_map(|table| table.find(model, sum.day)).map(|found| found.entry);
            sum.add_beyond(entry, &calls.tokens, -1);
            continue;
        }
        let entry = sum.add(model, calls.above_input_tokens, &calls.tokens, 1);
        sum.add(model, 0, &calls.tokens, -1);
        sum.add_beyond(entry, &calls.tokens, -1);
    }
}

/// The models are only known from the calls: what the total has beyond them belongs to the model that the run named last. `None` if no
/// model is named.
fn by_calls(spent: &Spent<'_>, sum: &mut Sum<'_>, is_guessed: &mut bool) -> Option<()> {
    let fallback = spent.model.or_else(|| spent.calls.iter().find_map(|calls| calls.model));
    let mut beyond = Difference::default();
    if let Some(total) = &spent.total {
        beyond.add(total, 1);
        spent.calls.iter().for_each(|calls| beyond.add(&calls.tokens, -1));
    }
    for calls in &spent.calls {
        *is_guessed |= calls.model.is_none();
        sum.add(calls.model.or(fallback)?, calls.above_input_tokens, &calls.tokens, 1);
    }
    if let Some(total) = spent.total.as_ref().filter(|_| !beyond.is_nothing()) {
        *is_guessed = true;
        let model = fallback?;
        let entry = sum.add(model, 0, total, 1);
        sum.add_beyond(entry, total, 1);
        for calls in &spent.calls {
            sum.add(model, 0, &calls.tokens, -1);
            sum.add_beyond(entry, &calls.tokens, -1);
        }
    }
    Some(())
}
