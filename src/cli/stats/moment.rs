//! Times on the command line.
//!
//! Input: a day, a moment, a duration before now, or Unix epoch milliseconds. Output: Unix epoch milliseconds. Never: a guess about
//! a text that has another form.

use crate::stats::Zone;
use jiff::Timestamp;
use jiff::civil::Date;

/// A shorter number may be seconds, or a year.
const SHORTEST_MS: usize = 12;

/// The units of a duration, in milliseconds.
const UNITS: [(char, u64); 4] = [('m', 60_000), ('h', 3_600_000), ('d', 86_400_000), ('w', 7 * 86_400_000)];

/// Reads a time. Days begin where `zone` says.
///
/// # Errors
/// The text has another form.
pub(in crate::cli) fn read(text: &str, zone: Zone, now_ms: u64) -> Result<u64, String> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(text) && text.len() >= SHORTEST_MS {
        return text.parse().map_err(|_| wrong(text));
    }
    for (unit, unit_ms) in UNITS {
        if let Some(count) = text.strip_suffix(unit).filter(|count| is_number(count)) {
            let ago = count.parse::<u64>().ok().and_then(|count| count.checked_mul(unit_ms));
            return Ok(now_ms.saturating_sub(ago.unwrap_or(u64::MAX)));
        }
    }
    // A date of jiff may have a time, which is left to the next form.
    if text.len() == "2026-11-25".len()
        && let Ok(day) = text.parse::<Date>()
    {
        return Ok(zone.begin(day));
    }
    let moment = text.parse::<Timestamp>().map_err(|_| wrong(text))?;
    u64::try_from(moment.as_millisecond()).map_err(|_| format!("{text:?} is before 1970"))
}

fn wrong(text: &str) -> String {
    format!("{text:?} is not a time: use 2026-11-25, 2026-11-25T09:30:00Z, 7d, or Unix epoch milliseconds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read() {
        let now = 1_795_564_800_000 + 1;
        let read = |text: &str, zone: &str| read(text, zone.parse().unwrap(), now);
        for (text, zone, expected) in [
            ("2026-11-25", "Z", 1_795_564_800_000),
            ("2026-11-25", "+02:00", 1_795_557_600_000),
            ("2026-11-25T00:00:00Z", "+02:00", 1_795_564_800_000),
            ("2026-11-25T01:00:00.5+01:00", "Z", 1_795_564_800_500),
            ("1d", "Z", now - 86_400_000),
            ("2w", "Z", now - 14 * 86_400_000),
            ("90m", "Z", now - 90 * 60_000),
            ("0h", "Z", now),
            ("99999999999999999999d", "Z", 0),
            ("1795564800000", "Z", 1_795_564_800_000),
            ("1960-01-01", "Z", 0),
        ] {
            assert_eq!(read(text, zone), Ok(expected), "{text}");
        }
        for wrong in
            ["", "d", "2026", "1795564800", "yesterday", "2026-13-01", "2026-11-25T00:00:00", "1.5h", "-1d", "7 d"]
        {
            assert!(read(wrong, "Z").unwrap_err().contains("2026-11-25T09:30:00Z"), "{wrong}");
        }
        assert!(read("1960-01-01T00:00:00Z", "Z").unwrap_err().contains("before 1970"));
    }
}
