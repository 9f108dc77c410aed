//! Writes a UUID as a JSON string.
//!
//! Each frame has several, so their digits come from a table of all bytes.

use uuid::Uuid;

/// The length of a UUID in its canonical spelling, with quotes.
const QUOTED: usize = uuid::fmt::Hyphenated::LENGTH + 2;

/// The two digits of each byte.
const DIGITS: [[u8; 2]; 256] = {
    let mut digits = [[0; 2]; 256];
    let mut byte: u16 = 0;
    let mut rest: &mut [[u8; 2]] = &mut digits;
    while let Some((first, others)) = rest.split_first_mut() {
        *first = [digit(byte >> 4), digit(byte & 15)];
        byte += 1;
        rest = others;
    }
    digits
};

const fn digit(nibble: u16) -> u8 {
    let nibble = nibble as u8;
    if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
}

/// The id in its canonical spelling, in quotes.
pub(super) fn quoted(id: &Uuid) -> [u8; QUOTED] {
    // The table has all bytes, so the compiler leaves the check out.
    let digits = |byte: u8| DIGITS.get(usize::from(byte)).copied().unwrap_or_default();
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]: [[u8; 2]; 16] = id.as_bytes().map(digits);
    let mut text = [b'-'; QUOTED];
    let mut put = |start: usize, pairs: &[[u8; 2]]| {
        let digits = pairs.as_flattened();
        if let Some(place) = text.get_mut(start..start + digits.len()) {
            place.copy_from_slice(digits);
        }
    };
    put(1, &[a, b, c, d]);
    put(10, &[e, f]);
    put(15, &[g, h]);
    put(20, &[i, j]);
    put(25, &[k, l, m, n, o, p]);
    let [first, .., last] = &mut text;
    (*first, *last) = (b'"', b'"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_equals_that_of_the_crate() {
        for seed in 0..=255u8 {
            let id = Uuid::from_bytes(std::array::from_fn(|at| seed.wrapping_mul(31).wrapping_add(at as u8 * 17)));
            assert_eq!(std::str::from_utf8(&quoted(&id)).unwrap(), format!("\"{id}\""));
        }
    }
}
