//! Converts request bodies in UTF-16.
//!
//! Input: the `charset` of a `Content-Type`, and bytes in pieces of any size. Output: the same text in UTF-8. Never: a body
//! in another encoding read as UTF-8; it is refused.
//!
//! A body without a `charset` is UTF-16 if it begins with a UTF-16 byte order mark, or as JSON in UTF-16 begins: with a zero
//! byte next to a non-zero one (RFC 4627, section 3).

use super::problem::Problem;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderMap};

/// The encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Charset {
    Utf8,
    Utf16 { is_big_endian: bool },
}

const BIG: Charset = Charset::Utf16 { is_big_endian: true };
const LITTLE: Charset = Charset::Utf16 { is_big_endian: false };

/// The body has an unsupported encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body is UTF-32; send it as UTF-8 or UTF-16")]
pub(super) struct Unreadable;

/// Converts one body.
#[derive(Debug)]
pub(super) struct Reader {
    /// `None` until the encoding is known.
    charset: Option<Charset>,
    /// The first bytes until the encoding is known; after that, an incomplete character.
    held: Vec<u8>,
}

impl Reader {
    /// A reader for a body with these headers.
    ///
    /// # Errors
    /// 415: an unsupported charset.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let named = headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).and_then(charset_in);
        let charset = match named.as_deref() {
            None | Some("utf-8" | "utf8" | "us-ascii" | "utf-16" | "utf16") => None,
            Some("utf-16le") => Some(LITTLE),
            Some("utf-16be") => Some(BIG),
            Some(other) => {
                let detail = format!("the body's charset is {other:?}; send it as UTF-8 or UTF-16");
                return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
            }
        };
        Ok(Self { charset, held: Vec::new() })
    }

    /// Converts the next bytes to UTF-8; `None` if they are UTF-8 already.
    ///
    /// # Errors
    /// The body has an unsupported encoding.
    pub(super) fn read(&mut self, bytes: &[u8], is_over: bool) -> Result<Option<Vec<u8>>, Unreadable> {
        let charset = match self.charset {
            Some(Charset::Utf8) => return Ok(None),
            Some(charset) => {
                self.held.extend_from_slice(bytes);
                charset
            }
            None => {
                if self.held.is_empty()
                    && bytes.first().is_some_and(|first| first.is_ascii_graphic())
                    && bytes.get(1).is_some_and(|second| *second != 0)
                {
                    self.charset = Some(Charset::Utf8);
                    return Ok(None);
                }
                self.held.extend_from_slice(bytes);
                let Some((charset, mark)) = recognised(&self.held, is_over)? else { return Ok(Some(Vec::new())) };
                self.charset = Some(charset);
                self.held.drain(..mark);
                charset
            }
        };
        Ok(Some(match charset {
            Charset::Utf8 => std::mem::take(&mut self.held),
            Charset::Utf16 { is_big_endian } => self.utf16(is_big_endian, is_over),
        }))
    }

    fn utf16(&mut self, is_big_endian: bool, is_over: bool) -> Vec<u8> {
        let unit = |pair: &[u8; 2]| if is_big_endian { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) };
        let (pairs, odd) = self.held.as_chunks::<2>();
        let mut units: Vec<u16> = pairs.iter().map(unit).collect();
        let mut rest = odd.to_vec();
        // The first half of a surrogate pair waits for the second.
        if let Some(last) = pairs.last().filter(|pair| !is_over && (0xD800..0xDC00).contains(&unit(pair))) {
            units.pop();
            rest.splice(0..0, *last);
        }
        let mut text: String =
            char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        if is_over && !rest.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            rest.clear();
        }
        self.held = rest;
        text.into_bytes()
    }
}

/// Detects the encoding and the length of its byte order mark; `None` if more bytes are needed.
fn recognised(front: &[u8], is_over: bool) -> Result<Option<(Charset, usize)>, Unreadable> {
    Ok(match front {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => return Err(Unreadable),
        [first, 0, 0, 0, ..] | [0, 0, 0, first, ..] if *first != 0 => return Err(Unreadable),
        // UTF-32 cannot be ruled out yet.
        [0xFF, 0xFE] | [0xFF, 0xFE, 0] | [_, 0] | [_, 0, 0] | [0, 0, _] if !is_over => None,
        [0xFF, 0xFE, ..] => Some((LITTLE, 2)),
        [0xFE, 0xFF, ..] => Some((BIG, 2)),
        [0, second, ..] if *second != 0 => Some((BIG, 0)),
        [first, 0, ..] if *first != 0 => Some((LITTLE, 0)),
        [_, _, ..] => Some((Charset::Utf8, 0)),
        [] | [_] if !is_over => None,
        _ => Some((Charset::Utf8, 0)),
    })
}

/// The `charset` of a media type, in lower case.
fn charset_in(media: &str) -> Option<String> {
    media.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches('"').to_ascii_lowercase();
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(media: &str) -> Result<Reader, u16> {
        let headers: HeaderMap = [(CONTENT_TYPE, media.parse().unwrap())].into_iter().collect();
        Reader::of(&headers).map_err(|problem| problem.status().as_u16())
    }

    fn read(media: &str, body: &[u8], length: usize) -> Result<Vec<u8>, Unreadable> {
        let mut reader = reader(media).unwrap();
        let mut out = Vec::new();
        for piece in body.chunks(length) {
            out.extend(reader.read(piece, false)?.unwrap_or_else(|| piece.to_vec()));
        }
        out.extend(reader.read(b"", true)?.unwrap_or_default());
        Ok(out)
    }

    const TEXT: &str = "{\"text\":\"Grüße 🎉\"}\n";

    fn utf16(text: &str, is_big_endian: bool, has_mark: bool) -> Vec<u8> {
        let mark = has_mark.then_some('\u{FEFF}');
        let units = mark.into_iter().chain(text.chars()).collect::<String>().encode_utf16().collect::<Vec<_>>();
        units.into_iter().flat_map(|unit| if is_big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    }

    #[test]
    fn every_encoding_and_chunking_yields_the_same_utf_8() {
        for is_big_endian in [false, true] {
            for has_mark in [false, true] {
                for length in [1, 2, 3, 5, 1000] {
                    let body = utf16(TEXT, is_big_endian, has_mark);
                    for media in
                        ["application/x-ndjson", "application/json; charset=UTF-16", "text/plain; charset=utf-8"]
                    {
                        assert_eq!(
                            read(media, &body, length).unwrap(),
                            TEXT.as_bytes(),
                            "{media} {is_big_endian} {length}"
                        );
                    }
                }
            }
        }
        for (media, is_big_endian) in [("a/b; charset=utf-16le", false), ("a/b; charset=\"UTF-16BE\"", true)] {
            assert_eq!(read(media, &utf16(TEXT, is_big_endian, false), 3).unwrap(), TEXT.as_bytes());
        }
        for body in [TEXT.as_bytes(), b"", b"{", b"\xEF\xBB\xBF{}\n", b"\xFF\xFFno text", b"\0"] {
            for length in [1, 2, 1000] {
                assert_eq!(read("application/x-ndjson", body, length).unwrap(), body, "{body:?}");
            }
        }
    }

    #[test]
    fn an_incomplete_character_is_replaced() {
        let mut body = utf16("a🎉", false, true);
        body.truncate(body.len() - 1);
        assert_eq!(read("a/b", &body, 1).unwrap(), "a\u{FFFD}\u{FFFD}".as_bytes());
    }

    #[test]
    fn other_encodings_are_refused() {
        assert_eq!(reader("text/plain; charset=iso-8859-1").unwrap_err(), 415);
        assert_eq!(reader("text/plain; charset=shift_jis").unwrap_err(), 415);
        for body in [&b"\xFF\xFE\0\0{\0\0\0"[..], b"\0\0\xFE\xFF", b"{\0\0\0}\0\0\0", b"\0\0\0{"] {
            assert_eq!(read("a/b", body, 1), Err(Unreadable), "{body:?}");
        }
    }
}
