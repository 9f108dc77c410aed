//! Random secrets of every format with a fixed form. They are for tests, which must not contain literal secrets.

use super::formats::all;
use super::text::Prepared;

/// One secret of each such format, with the name of its rule. The same seed produces the same secrets.
#[doc(hidden)]
pub fn samples(seed: u64) -> Vec<(&'static str, String)> {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    let mut random = move |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap_or_default() % bound.max(1)
    };
    let made = all().filter_map(|format| Some((format.name, Prepared::new(format).sample(&mut random)?)));
    made.collect()
}
