//! `telemetry.filter`: which log lines are written.
//!
//! Input: the text of the setting. Output: the filter, or why it is not one. Never: a misspelt level that is read as a target.

use tracing_subscriber::EnvFilter;

/// Why a filter is rejected.
#[derive(Debug, thiserror::Error)]
#[error(
    "{given:?} is not a log filter: {cause} (use a level such as \"info\", or targets such as \"warn,framegate=debug\")"
)]
pub struct BadFilter {
    given: String,
    cause: String,
}

/// Parses a filter: `off`, a level, or a comma-separated list of `target=level`.
///
/// # Errors
/// The given text, and what would be valid.
pub fn filter(given: &str) -> Result<EnvFilter, BadFilter> {
    let bad = |cause: String| BadFilter { given: given.to_owned(), cause };
    // `EnvFilter` reads a bare word that is not a level as a target, so a misspelt level would enable everything.
    let levels = ["off", "error", "warn", "info", "debug", "trace"];
    let is_word = |part: &&str| !part.is_empty() && part.chars().all(char::is_alphabetic);
    let is_level = |part: &str| levels.contains(&part.to_ascii_lowercase().as_str());
    let parts: Vec<&str> = given.split(',').map(str::trim).collect();
    if let Some(word) = parts.iter().copied().filter(is_word).find(|word| !is_level(word)) {
        return Err(bad(format!("{word:?} is not a level; the levels are {}", levels.join(", "))));
    }
    EnvFilter::builder().parse(parts.join(",")).map_err(|error| bad(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_level_or_targets() {
        for good in ["info", "WARN", "off", "warn,framegate=debug", "framegate::http=trace", "info, hyper=warn"] {
            assert!(filter(good).is_ok(), "{good}");
        }
        for (bad, part) in
            [("inof", "\"inof\" is not a level"), ("framegate=loud", "framegate=loud"), ("a=b=c", "a=b=c")]
        {
            let message = filter(bad).unwrap_err().to_string();
            assert!(message.contains(part) && message.contains("such as"), "{message}");
        }
    }
}
