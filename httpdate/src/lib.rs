//! HTTP dates (RFC 9110, section 5.6.7), as far as hyper and the OpenTelemetry exporter need them.
//!
//! Input: a time, or `Sun, 06 Nov 1994 08:49:37 GMT`. Output: the other form. Never: a panic, for any time or text. The two obsolete
//! forms, which senders must not write, are rejected.
//!
//! hyper's server asks the crate of this name for the date whenever it polls a connection, even if it sends no date. That crate panics
//! before 1970 and after 9999, so a machine with a wrong clock loses every connection. The workspace replaces it with this crate
//! (`[patch.crates-io]`).

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The last second of the year 9999.
const LATEST: u64 = 253_402_300_799;

const DAY: u64 = 86_400;

/// A time in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HttpDate(u64);

/// A time before 1970 is the beginning of 1970, and one after 9999 the end of that year.
impl From<SystemTime> for HttpDate {
    fn from(time: SystemTime) -> Self {
        Self(time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()).min(LATEST))
    }
}

impl fmt::Display for HttpDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.0 / DAY, self.0 % DAY);
        let (year, month, day) = civil(days);
        let weekday = match days % 7 {
            0 => "Thu",
            1 => "Fri",
            2 => "Sat",
            3 => "Sun",
            4 => "Mon",
            5 => "Tue",
            _ => "Wed",
        };
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
    }
}

/// A time as HTTP writes it.
pub fn fmt_http_date(time: SystemTime) -> String {
    HttpDate::from(time).to_string()
}

/// The text is no date as HTTP writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(());

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an HTTP date: expected one like Sun, 06 Nov 1994 08:49:37 GMT")
    }
}

impl std::error::Error for Error {}

/// Reads a time as HTTP writes it, from 1970 to 9999.
///
/// # Errors
/// For any other text, also one with the wrong day of the week.
pub fn parse_http_date(text: &str) -> Result<SystemTime, Error> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let read = || {
        let (day, year) = (number(5, 7)?, number(12, 16)?);
        let (hour, minute, second) = (number(17, 19)?, number(20, 22)?, number(23, 25)?);
        let month = text.get(8..11)?;
        // The first of January is at most this many days after 1970; the day itself is within the year that begins there.
        let first = year.checked_sub(1970)? * 365 + (year - 1969) / 4 - (year - 1901) / 100 + (year - 1601) / 400;
        let days = (first..first + 366).find(|days| civil(*days) == (year, month, day))?;
        Some(days * DAY + hour * 3600 + minute * 60 + second)
    };
    // What is written back tells whether everything else was right, too.
    let date = read().map(HttpDate).filter(|date| date.to_string() == text).ok_or(Error(()))?;
    Ok(UNIX_EPOCH + Duration::from_secs(date.0))
}

/// Year, month and day of a day since 1970. Years are counted from March on, so that the day that some of them have more is their last.
fn civil(days: u64) -> (u64, &'static str, u64) {
    const ERA: u64 = 146_097;
    // From the first of March of the year 0.
    let days = days + 719_468;
    let (era, day_of_era) = (days / ERA, days % ERA);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let months = ["Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"];
    let month = usize::try_from(from_march).ok().and_then(|at| months.get(at)).copied().unwrap_or("Mar");
    (era * 400 + year_of_era + u64::from(from_march >= 10), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_as_http_has_it() {
        for (seconds, expected) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_709_251_200, "Fri, 01 Mar 2024 00:00:00 GMT"),
            (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (LATEST, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (LATEST + 1, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (1_000_000_000_000, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] {
            assert_eq!(fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
        assert_eq!(fmt_http_date(UNIX_EPOCH - Duration::from_secs(1)), "Thu, 01 Jan 1970 00:00:00 GMT");
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        for seconds in [0, 784_111_777, 951_782_400, 1_709_251_200, 4_107_542_399, LATEST] {
            let time = UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(parse_http_date(&fmt_http_date(time)), Ok(time));
        }
        for text in [
            "",
            "Sun, 06 Nov 1994",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:61 GMT",
            "Wed, 30 Feb 2000 00:00:00 GMT",
            "Wed, 01 Jan 1969 00:00:00 GMT",
            "Sün, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
        ] {
            assert_eq!(parse_http_date(text), Err(Error(())), "{text}");
        }
    }
}
