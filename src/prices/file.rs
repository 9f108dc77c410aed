//! Reads a table of prices from TOML.
//!
//! Input: a text. Output: its entries, or everything that is wrong with it, each with the entry and what would be right. Never: an entry that is left out
//! silently; a price that was rounded.

use super::SIZE_LIMITS;
use super::money::Price;
use super::pattern::Pattern;
use super::table::{Entry, Rates, Tier};
use figment::providers::{Format, Toml};
use jiff::civil::Date;
use serde::Deserialize;
use std::collections::HashMap;
use std::path::Path;

/// The longest pattern of a model's name, in characters.
const PATTERN_CHARS: usize = 200;

/// The most entries of a file.
const MOST_ENTRIES: usize = 10_000;

/// A table that cannot be used: everything that is wrong with it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problems.join("; "))]
pub struct PriceError {
    /// The problems, each with its place; at least one.
    pub problems: Vec<String>,
}

impl From<String> for PriceError {
    fn from(problem: String) -> Self {
        Self { problems: vec![problem] }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    price: Vec<Given>,
}

/// An entry as it is in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    vendor: Option<String>,
    models: Models,
    valid_from: Option<Day>,
    known_on: Option<Day>,
    input: Number,
    output: Number,
    cache_read: Option<Number>,
    cache_write: Option<Number>,
    cache_write_1h: Option<Number>,
    reasoning: Option<Number>,
    #[serde(default)]
    tiers: Vec<GivenTier>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenTier {
    above_input_tokens: u64,
    input: Number,
    output: Number,
    cache_read: Option<Number>,
    cache_write: Option<Number>,
    cache_write_1h: Option<Number>,
    reasoning: Option<Number>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "models must be a list of patterns such as [\"gpt-5*\"]")]
enum Models {
    Patterns(Vec<String>),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a day must be a text such as \"2026-10-01\"")]
enum Day {
    Text(String),
}

/// A number, whole or not. The shortest decimal number of a floating-point one is what the file has, up to 15 digits.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "a price must be a number without quotes, such as 1.25")]
enum Number {
    Whole(i64),
    Real(f64),
}

impl Number {
    fn price(self) -> Result<Price, String> {
        match self {
            Self::Whole(number) => Price::per_million(&number.to_string()),
            Self::Real(number) => Price::per_million(&number.to_string()),
        }
    }
}

/// Reads the entries of a file.
///
/// # Errors
/// The file cannot be read, or what [`parse`] says.
pub(super) fn read(path: &Path) -> Result<Vec<Entry>, PriceError> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{shown}: cannot be read: {error}"))?;
    parse(&text, &shown, false)
}

/// Reads the entries of a text. `place` names it in messages.
///
/// # Errors
/// Everything that is wrong with the text.
pub(super) fn parse(text: &str, place: &str, is_built_in: bool) -> Result<Vec<Entry>, PriceError> {
    let document: Document = Toml::from_str(text).map_err(|error: <Toml as Format>::Error| {
        let line = error.span().and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count() + 1);
        let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
        let form = "a table of prices has [[price]] tables with models, input and output";
        format!("{place}{line}: {}; {form}", error.message().trim_end().replace('\n', " "))
    })?;
    if document.price.len() > MOST_ENTRIES {
        return Err(
            format!("{place}: has {} entries, but at most {MOST_ENTRIES} are read", document.price.len()).into()
        );
    }
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    for (number, given) in (1..).zip(document.price) {
        let Models::Patterns(models) = &given.models;
        let name = models.first().map(|model| format!(" ({model})")).unwrap_or_default();
        let (entry, wrong) = given.checked(is_built_in);
        problems.extend(wrong.into_iter().map(|message| format!("{place}, price {number}{name}: {message}")));
        entries.push(entry);
    }
    problems.extend(repeated(&entries).into_iter().map(|message| format!("{place}, {message}")));
    if problems.is_empty() { Ok(entries) } else { Err(PriceError { problems }) }
}

/// Entries that would apply to the same models from the same day on.
fn repeated(entries: &[Entry]) -> Vec<String> {
    let mut seen: HashMap<(Pattern, Option<Date>), usize> = HashMap::new();
    let mut problems = Vec::new();
    for (number, entry) in (1..).zip(entries) {
        for model in &entry.models {
            if let Some(first) = seen.insert((Pattern::new(model), entry.valid_from), number) {
                let from =
                    entry.valid_from.map_or_else(|| "without valid_from".to_owned(), |day| format!("from {day} on"));
                problems.push(format!("price {number}: price {first} has {model:?} {from}, too; keep one of them"));
            }
        }
    }
    problems
}

impl Given {
    /// The entry, and everything that is wrong with it.
    fn checked(self, is_built_in: bool) -> (Entry, Vec<String>) {
        let mut problems = Vec::new();
        let Models::Patterns(models) = self.models;
        if models.is_empty() {
            problems.push("models is empty; name the models, for example [\"gpt-5*\"]".to_owned());
        }
        for model in &models {
            let length = model.trim().chars().count();
            if length == 0 || length > PATTERN_CHARS || model.chars().any(char::is_control) {
                let form = format!("from 1 to {PATTERN_CHARS} characters, where * stands for any others");
                problems.push(format!("models: {model:?} is not a pattern: use {form}"));
            }
        }
        let mut day = |key: &str, day: Option<&Day>| {
            let read = day.map(|Day::Text(text)| text.parse::<Date>().map_err(|_| text));
            read.transpose().unwrap_or_else(|text| {
                problems.push(format!("{key}: {text:?} is not a day such as \"2026-11-25\""));
                None
            })
        };
        let valid_from = day("valid_from", self.valid_from.as_ref());
        let known_on = day("known_on", self.known_on.as_ref());
        let mut rates = |of: &str, numbers: [Option<Number>; 6]| {
            let mut read = |key: &str, number: Option<Number>| {
                number?.price().map_err(|message| problems.push(format!("{of}{key}: {message}"))).ok()
            };
            let [input, output, cache_read, cache_write, cache_write_1h, reasoning] = numbers;
            let input = read("input", input).unwrap_or_default();
            let output = read("output", output).unwrap_or_default();
            let cache_write = read("cache_write", cache_write).unwrap_or(input);
            Rates {
                input,
                output,
                cache_read: read("cache_read", cache_read).unwrap_or(input),
                cache_write,
                cache_write_1h: read("cache_write_1h", cache_write_1h).unwrap_or(cache_write),
                reasoning: read("reasoning", reasoning).unwrap_or(output),
            }
        };
        let (input, output) = (Some(self.input), Some(self.output));
        let base = rates("", [input, output, self.cache_read, self.cache_write, self.cache_write_1h, self.reasoning]);
        let mut of_tier = |tier: &GivenTier| {
            let (input, output) = (Some(tier.input), Some(tier.output));
            let numbers = [input, output, tier.cache_read, tier.cache_write, tier.cache_write_1h, tier.reasoning];
            let above_input_tokens = tier.above_input_tokens;
            Tier { above_input_tokens, rates: rates(&format!("tier above {above_input_tokens}, "), numbers) }
        };
        let mut tiers: Vec<Tier> = self.tiers.iter().map(&mut of_tier).collect();
        tiers.sort_by_key(|tier| tier.above_input_tokens);
        for (at, tier) in tiers.iter().enumerate() {
            let limit = tier.above_input_tokens;
            if !SIZE_LIMITS.contains(&limit) {
                let known = SIZE_LIMITS.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
                problems.push(format!("tiers: above_input_tokens {limit} is not known; use one of {known}"));
            }
            if at > 0 && tiers.get(at - 1).is_some_and(|before| before.above_input_tokens == limit) {
                problems.push(format!("tiers: two of them have above_input_tokens {limit}; keep one of them"));
            }
        }
        (Entry { vendor: self.vendor, models, valid_from, known_on, rates: base, tiers, is_built_in }, problems)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        parse(text, "my.toml", false).unwrap_err().to_string()
    }

    #[test]
    fn an_entry_has_its_prices_and_those_that_follow_from_them() {
        let text = "[[price]]\nmodels = [\"a\", \"b*\"]\ninput = 3\noutput = 15.5\ncache_read = 0.3\n\
                    tiers = [{ above_input_tokens = 200_000, input = 6, output = 22.5, cache_write = 7.5 }]\n\
                    [[price]]\nmodels = [\"c\"]\nvalid_from = \"2026-09-22\"\ninput = 1\noutput = 2\ncache_write_1h = 5\nreasoning = 4\n";
        let [first, second] = &parse(text, "", false).unwrap()[..] else { panic!("two entries") };
        let shown = |rates: &Rates| {
            let Rates { input, output, cache_read, cache_write, cache_write_1h, reasoning } = rates;
            [input, output, cache_read, cache_write, cache_write_1h, reasoning].map(Price::to_string).join(" ")
        };
        assert_eq!(shown(&first.rates), "3 15.5 0.3 3 3 15.5");
        assert_eq!(shown(first.rates_above(0)), "3 15.5 0.3 3 3 15.5");
        assert_eq!(shown(first.rates_above(200_000)), "6 22.5 6 7.5 7.5 22.5");
        assert_eq!(shown(first.rates_above(272_000)), "6 22.5 6 7.5 7.5 22.5");
        assert_eq!(
            (shown(&second.rates), second.valid_from.unwrap().to_string()),
            ("1 2 1 1 5 4".into(), "2026-09-22".into())
        );
        assert_eq!(parse("", "", false).unwrap(), []);
    }

    #[test]
    fn errors_name_the_file_the_entry_and_what_would_be_right() {
        let entry = "[[price]]\nmodels = [\"x\"]\ninput = 1\noutput = 2\n";
        for (text, parts) in [
            ("[[price]\n".to_owned(), vec!["my.toml, line 1: ", "[[price]] tables with models, input and output"]),
            (format!("{entry}outptu = 3\n"), vec!["my.toml, line 5: unknown field `outptu`", "`output`"]),
            ("[[price]]\nmodels = [\"x\"]\ninput = 1\n".to_owned(), vec!["my.toml, line 1: missing field `output`"]),
            (entry.replace("1", "\"one\""), vec!["my.toml, line 3: "]),
            (
                entry.replace("1", "-1"),
                vec!["my.toml, price 1 (x): input: -1 is not a price", "per million tokens, from 0 to 1000000"],
            ),
            (entry.replace("1", "0.0000001"), vec!["input: 0.0000001 is not a price", "at most 6 decimals"]),
            (entry.replace("1", "nan"), vec!["input: NaN is not a price"]),
            (entry.replace("[\"x\"]", "[]"), vec!["my.toml, price 1: models is empty"]),
            (entry.replace("\"x\"", "\" \""), vec!["models: \" \" is not a pattern"]),
            (
                format!("{entry}valid_from = \"22.9.2026\"\n"),
                vec!["price 1 (x): valid_from: \"22.9.2026\" is not a day such as \"2026-11-25\""],
            ),
            (format!("{entry}valid_from = 2026-10-01\n"), vec!["a day must be a text such as"]),
            (entry.replace("[\"x\"]", "\"x\""), vec!["models must be a list of patterns"]),
            (entry.replace("input = 1", "input = \"1\""), vec!["a price must be a number without quotes"]),
            (format!("{entry}known_on = \"2026-02-30\"\n"), vec!["known_on: \"2026-02-30\" is not a day"]),
            (format!("{entry}{entry}"), vec!["my.toml, price 2: price 1 has \"x\" without valid_from, too"]),
            (
                format!("{entry}tiers = [{{ above_input_tokens = 1000, input = 1, output = 2 }}]\n"),
                vec!["above_input_tokens 1000 is not known; use one of 32000, "],
            ),
            (
                format!(
                    "{entry}tiers = [{{ above_input_tokens = 200000, input = -3, output = 2 }}, {{ above_input_tokens = 200000, input = 1, output = 2 }}]\n"
                ),
                vec!["tier above 200000, input: -3 is not a price", "two of them have above_input_tokens 200000"],
            ),
        ] {
            let message = wrong(&text);
            for part in parts {
                assert!(message.contains(part), "{text:?} should say {part:?}, but says: {message}");
            }
        }
        let both = format!("{}{}", entry.replace("1", "-1"), entry.replace("\"x\"", "\"y\"").replace("2", "-2"));
        let message = wrong(&both);
        assert!(message.contains("price 1 (x): input: -1") && message.contains("price 2 (y): output: -2"), "{message}");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read(Path::new("no/such/prices.toml")).unwrap_err().to_string();
        assert!(error.starts_with("no/such/prices.toml: cannot be read: "), "{error}");
    }
}
