//! Where days begin: an offset from UTC.
//!
//! Input: a text such as `+02:00`. Output: the day of a time. Never: a time that has no day (times after the year 9999 are on its last
//! day); rules of summer time, which would need a database of time zones.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use std::fmt;
use std::str::FromStr;

/// The largest offset, in minutes.
const MOST_MINUTES: i32 = 14 * 60;

/// An offset from UTC. The default is UTC itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    minutes: i32,
}

impl Zone {
    /// The day of a time in Unix epoch milliseconds.
    pub fn day(self, unix_ms: u64) -> Date {
        let known = i64::try_from(unix_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        self.offset().to_datetime(known.unwrap_or(Timestamp::MAX)).date()
    }

    /// The beginning of a day, in Unix epoch milliseconds. A day before 1970 begins at 0.
    pub fn begin(self, day: Date) -> u64 {
        let begin = self.offset().to_timestamp(day.at(0, 0, 0, 0));
        begin.map_or(0, |begin| u64::try_from(begin.as_millisecond()).unwrap_or_default())
    }

    fn offset(self) -> Offset {
        Offset::from_seconds(self.minutes * 60).unwrap_or(Offset::UTC)
    }
}

impl FromStr for Zone {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if matches!(text, "Z" | "UTC") {
            return Ok(Self::default());
        }
        let number = |text: &str| -> Option<i32> {
            (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
        };
        let minutes = || {
            let (sign, rest) = match text.strip_prefix('-') {
                Some(rest) => (-1, rest),
                None => (1, text.strip_prefix('+')?),
            };
            let (hours, minutes) = rest.split_once(':')?;
            let (hours, minutes) = (number(hours)?, number(minutes)?);
            let all = hours * 60 + minutes;
            (minutes < 60 && all <= MOST_MINUTES).then_some(sign * all)
        };
        let wrong = || format!("tz must be an offset from UTC such as +02:00, from -14:00 to +14:00, not {text:?}");
        minutes().map(|minutes| Self { minutes }).ok_or_else(wrong)
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, minutes) = if self.minutes < 0 { ('-', -self.minutes) } else { ('+', self.minutes) };
        write!(formatter, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-25T00:00:00Z.
    const MIDNIGHT: u64 = 1_795_564_800_000;

    #[test]
    fn a_day_begins_where_the_zone_says() {
        let day = |zone: &str, ms: u64| zone.parse::<Zone>().unwrap().day(ms).to_string();
        assert_eq!((day("Z", MIDNIGHT), day("Z", MIDNIGHT - 1)), ("2026-11-25".into(), "2026-11-24".into()));
        let hour = 3_600_000;
        assert_eq!(day("+02:00", MIDNIGHT - 2 * hour), "2026-11-25");
        assert_eq!(day("+02:00", MIDNIGHT - 2 * hour - 1), "2026-11-24");
        assert_eq!(day("-09:30", MIDNIGHT + 9 * hour + hour / 2), "2026-11-25");
        assert_eq!(day("-09:30", MIDNIGHT + 9 * hour + hour / 2 - 1), "2026-11-24");
        assert_eq!((day("+14:00", 0), day("-00:01", 0)), ("1970-01-01".into(), "1969-12-31".into()));
        assert_eq!((day("+14:00", u64::MAX), day("-14:00", u64::MAX)), ("9999-12-31".into(), "9999-12-30".into()));
    }

    #[test]
    fn the_begin_of_a_day_is_on_that_day_and_the_moment_before_is_not() {
        for zone in ["Z", "+02:00", "-09:30", "+14:00", "-14:00"] {
            let zone: Zone = zone.parse().unwrap();
            let begin = zone.begin(Date::constant(2026, 11, 25));
            assert_eq!(zone.day(begin).to_string(), "2026-11-25", "{zone}");
            assert_eq!(zone.day(begin - 1).to_string(), "2026-11-24", "{zone}");
        }
        assert_eq!(Zone::default().begin(Date::constant(1960, 1, 1)), 0);
    }

    #[test]
    fn only_offsets_are_zones() {
        for zone in ["+00:00", "-14:00", "+14:00", "+05:45", "-03:30"] {
            assert_eq!(zone.parse::<Zone>().unwrap().to_string(), zone);
        }
        for wrong in
            ["", "+2", "+02", "+0200", "02:00", "+14:01", "-15:00", "+01:60", "+1:000", "++1:00", "Europe/Berlin"]
        {
            assert!(wrong.parse::<Zone>().unwrap_err().contains("+02:00"), "{wrong}");
        }
    }
}
