//! Writes text as a JSON string.
//!
//! Most text has little to escape, so it is scanned eight bytes at a time and copied in runs. The escapes are those of
//! `serde_json`: the short form if there is one, otherwise `\u00xx`.

/// Appends the string, including its quotes.
pub(crate) fn write(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    // Reserve what text usually needs.
    out.reserve(rest.len() + rest.len() / 16 + 10);
    out.push(b'"');
    while let Some(&byte) = plain(&mut rest, out) {
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0C => b'f',
            control => {
                let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(control >> 4), digit(control & 15)]);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
    out.push(b'"');
}

/// Copies the bytes that need no escape; consumes and returns the next byte, which needs one.
fn plain<'t>(text: &mut &'t [u8], out: &mut Vec<u8>) -> Option<&'t u8> {
    let mut words = 0;
    while let Some((word, tail)) = text.split_first_chunk::<8>() {
        // Little-endian, so that the first byte has the lowest flag. The lowest flag is exact; higher ones may be carries from
        // it.
        let special = specials(u64::from_le_bytes(*word));
        // Copy all eight bytes and truncate the excess: a copy of constant size is cheaper than one of a few bytes.
        out.extend_from_slice(word);
        if special != 0 {
            let size = special.trailing_zeros() as usize / 8;
            out.truncate(out.len() - 8 + size);
            *text = text.get(size + 1..).unwrap_or_default();
            return word.get(size);
        }
        *text = tail;
        words += 1;
        // Text that was plain so far is likely to continue so.
        while words > 1
            && let Some((block, tail)) = text.split_first_chunk::<32>()
            && is_plain(block)
        {
            out.extend_from_slice(block);
            *text = tail;
        }
    }
    let size = text.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\').unwrap_or(text.len());
    let (run, tail) = text.split_at(size);
    out.extend_from_slice(run);
    let special = tail.first();
    *text = tail.get(1..).unwrap_or_default();
    special
}

/// Whether no byte in the block needs an escape.
fn is_plain(block: &[u8; 32]) -> bool {
    let (words, _) = block.as_chunks::<8>();
    words.iter().fold(0, |flags, word| flags | specials(u64::from_le_bytes(*word))) == 0
}

/// Flags the control characters, quotes and backslashes among eight bytes. No flag is missing, and the lowest one is exact.
fn specials(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let is_zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    let quotes = is_zero(word ^ (ONES * b'"' as u64));
    let backslashes = is_zero(word ^ (ONES * b'\\' as u64));
    (controls | quotes | backslashes) & HIGHS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        write(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_character_below_256_is_escaped_at_every_position() {
        for code in 0..=255u8 {
            for before in 0..70 {
                let text = format!("{}{}tail of it", "x".repeat(before), char::from(code));
                assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
            }
        }
    }

    proptest! {
        #[test]
        fn the_output_equals_that_of_serde_json(text in "\\PC*|[\\x00-\\x7f\u{e9}\u{1F600}]*") {
            prop_assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
        }
    }
}
