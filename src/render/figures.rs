//! Durations, counts and sums for people.

/// Milliseconds, as `0.3 s`, `12 s`, `4 min 5 s` or `2 h 10 min`.
pub(crate) fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..10 => format!("{}.{} s", seconds, ms % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A count with `,` between groups of three digits.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count in three digits at most: `950`, `1.2k`, `34k`, `5.6M`.
pub(crate) fn short(count: u64) -> String {
    let scaled = |unit: u64, name: &str| {
        let tenths = count / (unit / 10);
        if tenths < 100 { format!("{}.{}{name}", tenths / 10, tenths % 10) } else { format!("{}{name}", count / unit) }
    };
    match count {
        0..1000 => count.to_string(),
        1000..1_000_000 => scaled(1000, "k"),
        _ => scaled(1_000_000, "M"),
    }
}

/// US dollars: cents, or four digits after the point below ten cents.
pub(crate) fn dollars(sum: f64) -> String {
    if sum == 0.0 {
        "$0".to_owned()
    } else if sum.abs() < 0.1 {
        format!("${sum:.4}")
    } else {
        format!("${sum:.2}")
    }
}

/// `1 tool`, `2 tools`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Bytes, as `512 bytes`, `34 KiB` or `5.6 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1024 => counted(count, "byte"),
        1024..1_048_576 => format!("{} KiB", count / 1024),
        _ => format!("{}.{} MiB", count / 1_048_576, count % 1_048_576 * 10 / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!(
            [0, 340, 9999, 12_345, 245_000, 7_800_000].map(duration),
            ["0.0 s", "0.3 s", "9.9 s", "12 s", "4 min 5 s", "2 h 10 min"]
        );
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [999, 1000, 12_345, 999_999, 5_600_000, 12_000_000].map(short),
            ["999", "1.0k", "12k", "999k", "5.6M", "12M"]
        );
        assert_eq!([0.0, 0.0123, 0.5, 12.345].map(dollars), ["$0", "$0.0123", "$0.50", "$12.35"]);
        assert_eq!([1, 2].map(|count| counted(count, "turn")), ["1 turn", "2 turns"]);
        assert_eq!([1, 1023, 35_000, 5_900_000].map(bytes), ["1 byte", "1,023 bytes", "34 KiB", "5.6 MiB"]);
    }
}
