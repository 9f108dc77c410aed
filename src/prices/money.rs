//! Prices and amounts, exact.
//!
//! Input: US dollars per million tokens, with at most six decimals. Output: whole picodollars (trillionths of a US dollar), and their sums. Never: a
//! sum of floating-point numbers; an amount that wraps around (it stays at the largest).

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The decimals of a US dollar in a picodollar.
const PICO_DECIMALS: usize = 12;

/// The decimals that a price may have: then one token costs whole picodollars.
const PRICE_DECIMALS: usize = 6;

/// The highest price, in US dollars per million tokens.
const MOST_PER_MILLION: u64 = 1_000_000;

/// What one token costs, in picodollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Price(u64);

impl Price {
    /// Reads US dollars per million tokens as a decimal number, such as `0.075`.
    ///
    /// # Errors
    /// It is no such number, or out of range.
    pub fn per_million(text: &str) -> Result<Self, String> {
        let read = || {
            let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
            let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
            if whole.is_empty() || !is_number(whole) || !is_number(decimals) || decimals.len() > PRICE_DECIMALS {
                return None;
            }
            let picos: u64 = format!("{whole}{decimals:0<PRICE_DECIMALS$}").parse().ok()?;
            (picos <= MOST_PER_MILLION * 10_u64.pow(PRICE_DECIMALS as u32)).then_some(Self(picos))
        };
        read().ok_or_else(|| {
            format!(
                "{text} is not a price: use US dollars per million tokens, from 0 to {MOST_PER_MILLION}, with at most \
                 {PRICE_DECIMALS} decimals"
            )
        })
    }

    /// What so many tokens cost. The number is negative if they are taken off another amount.
    pub(super) fn times(self, tokens: i128) -> Usd {
        Usd(i128::from(self.0).saturating_mul(tokens))
    }
}

/// US dollars per million tokens, as short as possible.
impl fmt::Display for Price {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:07}", self.0);
        let (whole, decimals) = digits.split_at(digits.len() - PRICE_DECIMALS);
        formatter.pad(format!("{whole}.{decimals}").trim_end_matches('0').trim_end_matches('.'))
    }
}

/// As a number, so that a script reads the listed prices as they are in the file.
impl Serialize for Price {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        number(&self.to_string()).serialize(serializer)
    }
}

/// An amount of US dollars, in picodollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usd(i128);

impl Usd {
    /// Reads US dollars as a decimal number, such as `12.50`.
    ///
    /// # Errors
    /// It is no such number, or out of range.
    pub fn parse(text: &str) -> Result<Self, String> {
        let price = Price::per_million(text);
        // A price per million tokens is a millionth of a dollar for each token: a million times that.
        price.map(|price| price.times(1_000_000)).map_err(|_| {
            format!(
                "{text} is not an amount: use US dollars from 0 to {MOST_PER_MILLION}, with at most {PRICE_DECIMALS} decimals"
            )
        })
    }

    /// The amount that a runner reported; 0 for one that is negative or no number.
    pub fn reported(dollars: f64) -> Self {
        // All digits, without the decimal point, are picodollars.
        let digits = format!("{:.PICO_DECIMALS$}", dollars.max(0.0)).replace('.', "");
        Self(digits.parse().unwrap_or(if dollars > 0.0 { i128::MAX } else { 0 }))
    }

    /// The sum of two amounts.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self(self.0.saturating_add(more.0))
    }

    /// What is left of an amount without another.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The nearest floating-point number of US dollars, for output.
    pub fn to_f64(self) -> f64 {
        number(&self.to_string())
    }

    /// The amount in picodollars.
    pub fn picos(self) -> i128 {
        self.0
    }

    /// An amount that is not negative.
    pub(super) fn or_zero(self) -> Self {
        self.max(Self(0))
    }
}

/// US dollars, exact and as short as possible.
impl fmt::Display for Usd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let digits = format!("{:013}", self.0.unsigned_abs());
        let (whole, decimals) = digits.split_at(digits.len() - PICO_DECIMALS);
        let text = format!("{sign}{whole}.{decimals}");
        formatter.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// A text of digits is always a number.
fn number(text: &str) -> f64 {
    text.parse().unwrap_or_default()
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

/// Reads a number that this type has written: exactly up to 4,096 US dollars, where neighbouring numbers are less than a picodollar apart.
impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        // All digits, without the decimal point, are picodollars.
        let digits = format!("{dollars:.PICO_DECIMALS$}").replace('.', "");
        Ok(Self(digits.parse().unwrap_or(if dollars < 0.0 { i128::MIN } else { i128::MAX })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Picodollars in a US dollar.
    const PICOS: i128 = 1_000_000_000_000;

    fn price(text: &str) -> Price {
        Price::per_million(text).unwrap()
    }

    #[test]
    fn a_price_is_exact_and_written_as_it_was_read() {
        for text in ["0", "5", "0.5", "0.003625", "37.5", "1000000", "0.000001", "12.345678"] {
            assert_eq!(price(text).to_string(), text);
        }
        assert_eq!((price("3").0, price("0.075").0, price("2.50").to_string()), (3_000_000, 75_000, "2.5".to_owned()));
        for wrong in
            ["", "-1", "1e3", "0.0000001", "1000000.1", "1000001", ".", ".5", "1.2.3", "NaN", "99999999999999999999999"]
        {
            assert!(Price::per_million(wrong).unwrap_err().contains("per million tokens"), "{wrong}");
        }
    }

    #[test]
    fn an_amount_is_tokens_times_the_price() {
        // The figures of a recorded Claude Code run: it reports 0.0053 US dollars.
        let cost = price("4").times(610).plus(price("20").times(143));
        assert_eq!((cost.to_string(), cost.to_f64()), ("0.0053".to_owned(), 0.0053));
        assert_eq!(price("0.000001").times(1).to_string(), "0.000000000001");
        assert_eq!(price("2").times(-3).to_string(), "-0.000006");
        let most = price("1000000").times(i128::from(u64::MAX)).plus(Usd(i128::MAX));
        assert_eq!(most, Usd(i128::MAX));
        assert_eq!(serde_json::to_string(&cost).unwrap(), "0.0053");
        assert_eq!(serde_json::from_str::<Usd>("0.0053").unwrap(), cost);
    }

    proptest! {
        #[test]
        fn an_amount_is_read_as_it_was_written(picos in 0..4_096 * PICOS) {
            let amount = Usd(picos);
            prop_assert_eq!(serde_json::from_str::<Usd>(&serde_json::to_string(&amount).unwrap()).unwrap(), amount);
        }

        /// Floating-point sums depend on the order; these do not.
        #[test]
        fn the_order_of_a_sum_does_not_matter(amounts in prop::collection::vec(any::<u64>(), 0..50)) {
            let sum = |amounts: &[u64]| amounts.iter().fold(Usd::default(), |sum, one| sum.plus(Usd(i128::from(*one))));
            let mut sorted = amounts.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sum(&amounts), sum(&sorted));
        }
    }
}
