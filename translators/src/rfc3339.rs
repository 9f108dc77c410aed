//! Reads RFC 3339 times.
//!
//! Input: text. Output: Unix epoch milliseconds. Never: a time before 1970, or one that the general parser reads differently. The
//! form that runners write, in UTC and with at most nine digits of a fraction, is read here, for a tenth of the
//! instructions. Whatever else there may be is left to `jiff`.

/// Milliseconds since the Unix epoch; `None` if the text is not a time, or is one before 1970.
pub(crate) fn unix_ms(text: &str) -> Option<u64> {
    usual(text.as_bytes()).or_else(|| {
        let time: jiff::Timestamp = text.parse().ok()?;
        u64::try_from(time.as_millisecond()).ok()
    })
}

/// Reads `YYYY-MM-DDThh:mm:ssZ`, with or without a fraction; `None` if the text has another form.
fn usual(text: &[u8]) -> Option<u64> {
    let (&[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2], rest) =
        text.split_first_chunk()?
    else {
        return None;
    };
    let year = number(&[y1, y2, y3, y4])?;
    let (month, day) = (number(&[m1, m2])?, number(&[d1, d2])?);
    let (hour, minute, second) = (number(&[h1, h2])?, number(&[n1, n2])?, number(&[s1, s2])?);
    let millis = match rest {
        b"Z" => 0,
        [b'.', digits @ .., b'Z'] if (1..=9).contains(&digits.len()) => {
            number(digits)?;
            [100, 10, 1].into_iter().zip(digits).map(|(unit, digit)| unit * u64::from(digit - b'0')).sum()
        }
        _ => return None,
    };
    let is_time = year >= 1970 && (1..=days_of(month, year)?).contains(&day) && hour < 24 && minute < 60 && second < 60;
    is_time.then(|| (((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000 + millis)
}

/// The value of decimal digits; `None` if a byte is something else.
fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |value, digit| digit.is_ascii_digit().then(|| value * 10 + u64::from(digit - b'0')))
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// How many days a month has; `None` if there is no such month.
fn days_of(month: u64, year: u64) -> Option<u64> {
    match month {
        2 => Some(28 + u64::from(is_leap(year))),
        4 | 6 | 9 | 11 => Some(30),
        1..=12 => Some(31),
        _ => None,
    }
}

/// Days from 1970-01-01 to a day of the Gregorian calendar that is not earlier.
fn days(year: u64, month: u64, day: u64) -> u64 {
    // The days of a year before each month, without a leap day.
    const BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let leap_days_before = |year: u64| year / 4 - year / 100 + year / 400;
    let leaps = leap_days_before(year - 1) - leap_days_before(1969) + u64::from(month > 2 && is_leap(year));
    let before = BEFORE.get(month as usize - 1).copied().unwrap_or_default();
    (year - 1970) * 365 + leaps + before + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn general(text: &str) -> Option<u64> {
        u64::try_from(text.parse::<jiff::Timestamp>().ok()?.as_millisecond()).ok()
    }

    #[test]
    fn every_day_agrees_with_the_general_parser() {
        for year in [1970, 1972, 1999, 2000, 2024, 2025, 2026, 2100, 2400, 9998] {
            for (month, day) in (0..=13).flat_map(|month| (0..=32).map(move |day| (month, day))) {
                let text = format!("{year}-{month:02}-{day:02}T23:59:58.007Z");
                assert_eq!(usual(text.as_bytes()), general(&text), "{text}");
            }
        }
    }

    #[test]
    fn other_forms_are_left_to_the_general_parser() {
        for (text, expected) in [
            ("1970-01-01T01:00:00+01:00", Some(0)),
            ("2026-01-02 03:04:05Z", Some(1_767_323_045_000)),
            ("2026-01-02T03:04:05.1234567891Z", None),
            ("2026-01-02T03:04:60Z", Some(1_767_323_099_000)),
            ("1969-12-31T23:59:59Z", None),
            ("2026-01-02T03:04:05.Z", None),
            ("2026-01-02T03:04:05", None),
            ("2026-01-02T03:04:05.1x3Z", None),
            ("2026-02-29T03:04:05Z", None),
            ("", None),
        ] {
            assert_eq!((usual(text.as_bytes()), unix_ms(text)), (None, expected), "{text}");
            assert_eq!(general(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_result_is_that_of_the_general_parser(
            text in "[0-9]{4}-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,11})?(Z|z|\\+00:00|)"
        ) {
            prop_assert_eq!(unix_ms(&text), general(&text));
        }
    }
}
