//! Finds private keys in PEM armour.
//!
//! Input: a text, and the position of the header of a private key. Output: the range of the key. It includes all nearby runs
//! of base64 up to the last line, whatever separates them: line ends (escaped or not), line numbers, signs of a diff, quotes,
//! concatenation in source code. Never: a key over the maximum length, or a key in a text without base64.

use super::class::Class;
use super::tail::{Found, LONGEST, Open, Tail, Wait};

/// The shortest run of base64 that certainly continues a key.
const LINE: usize = 16;
/// A run of this length begins a key in any case. A shorter one needs digits and letters of both cases.
const CERTAIN: usize = 40;
/// The maximum distance between two lines: line ends, prefixes, and the headers of an encrypted key.
const GAP: usize = 128;

const FOOT: &[u8] = b"-----END ";

/// The state after reading part of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Armour {
    /// Whether the text ended inside a line.
    is_in_line: bool,
    left: usize,
}

/// What follows between two lines.
enum Next {
    /// A line begins at this position.
    Line(usize),
    /// The footer of the key ends at this position.
    Foot(usize),
    /// The text ends before this is known.
    Unknown,
    Nothing,
}

/// Matches a private key whose armour begins at `at` and whose title begins at `body`.
pub(super) fn find(text: &[u8], at: usize, body: usize, level: usize) -> Found {
    let is_title = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ';
    let rest = text.get(body..).unwrap_or_default();
    let title = rest.iter().take(64).take_while(|byte| is_title(byte)).count();
    if title == rest.len() {
        return Found::Tail(Tail::waiting(at, Wait::Short));
    }
    let name = rest.get(..title).unwrap_or_default();
    if !(name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK")) {
        return Found::No;
    }
    let dashes = dashes(rest, title);
    let inside = body + title + dashes;
    if dashes < 5 && inside < text.len() {
        return Found::No;
    }
    let mut from = inside;
    loop {
        match next(text, inside, from) {
            Next::Line(line) if is_certain(text, line) => {
                let armour = Armour { is_in_line: true, left: LONGEST };
                let (size, armour) = armour.go_on(text.get(line..).unwrap_or_default());
                let open = armour.map(|armour| Open::Armour { level, armour });
                return Found::Full(at..line + size, open);
            }
            Next::Line(line) => {
                from = line + Class::Armour.run(text, line);
                if from == text.len() {
                    break;
                }
            }
            Next::Foot(end) => {
                let content = text.get(inside..end).unwrap_or_default();
                let is_one =
                    content.iter().filter(|byte| byte.is_ascii_alphanumeric()).count() >= 2 * LINE + FOOT.len();
                return if is_one { Found::Full(at..end, None) } else { Found::No };
            }
            Next::Unknown => break,
            Next::Nothing => return Found::No,
        }
    }
    // The text after the title is an incomplete first line of a key.
    let is_begun = ends_in_a_line(text, inside);
    let armour = Armour { is_in_line: true, left: LONGEST };
    Found::Tail(Tail {
        start: at,
        from: at,
        held: at,
        wait: if is_begun { Wait::Long } else { Wait::Short },
        open: is_begun.then_some(Open::Armour { level, armour }),
        end: is_begun.then_some(text.len()),
    })
}

impl Armour {
    /// The state inside a line that has begun.
    pub(super) fn in_line(self) -> Self {
        Self { is_in_line: true, ..self }
    }

    /// How many bytes of the following text certainly belong to the key, and the state after them if the key may continue.
    pub(super) fn go_on(mut self, text: &[u8]) -> (usize, Option<Self>) {
        let text = text.get(..text.len().min(self.left)).unwrap_or_default();
        let (mut end, mut from) = (0, 0);
        loop {
            if self.is_in_line {
                end = from + Class::Armour.run(text, from);
                from = end;
            }
            self.is_in_line = end == text.len() && self.is_in_line;
            match next(text, end, from) {
                Next::Line(line) => {
                    self.is_in_line = true;
                    from = line;
                }
                Next::Foot(end) => return (end, None),
                Next::Nothing => return (end, None),
                Next::Unknown => {
                    self.left -= end;
                    return (end, (self.left > 0).then_some(self));
                }
            }
        }
    }
}

/// Finds what follows `from`. The last line ended at `end`.
fn next(text: &[u8], end: usize, from: usize) -> Next {
    let mut at = from;
    while at < text.len() {
        if at - end > GAP {
            return Next::Nothing;
        }
        let rest = text.get(at..).unwrap_or_default();
        if rest.starts_with(FOOT) {
            let title =
                rest.iter().skip(FOOT.len()).take_while(|byte| byte.is_ascii_uppercase() || **byte == b' ').count();
            let dashes = dashes(rest, FOOT.len() + title);
            if dashes >= 5 {
                return Next::Foot(at + FOOT.len() + title + dashes);
            }
            if FOOT.len() + title + dashes == rest.len() {
                return Next::Unknown;
            }
        }
        let run = Class::Armour.run(text, at);
        if run >= LINE {
            return Next::Line(at);
        }
        at += run.max(1);
    }
    Next::Unknown
}

fn dashes(text: &[u8], from: usize) -> usize {
    text.iter().skip(from).take(5).take_while(|byte| **byte == b'-').count()
}

/// Whether a text ends in an incomplete next line of a key. Only line ends and line numbers may separate it from `end`, the
/// end of the line before or of the title.
pub(super) fn ends_in_a_line(text: &[u8], end: usize) -> bool {
    let line = Class::Armour.run_before(text, text.len(), text.len() - end);
    let between = text.get(end..text.len() - line).unwrap_or_default();
    // The letter of an escaped line end may have been counted as part of the line.
    let spelt = text.get(end..text.len() - line + 1).unwrap_or_default();
    let has_line_end = between.is_empty() || between.contains(&b'\n') || spelt.windows(2).any(|two| two == b"\\n");
    line >= 4 && has_line_end && !between.iter().any(|byte| byte.is_ascii_alphabetic() && *byte != b'n')
}

fn is_certain(text: &[u8], line: usize) -> bool {
    let rest = text.get(line..).unwrap_or_default();
    let run = rest.get(..Class::Armour.run(text, line).min(CERTAIN)).unwrap_or_default();
    let has = |class: fn(&u8) -> bool| run.iter().any(class);
    run.len() >= CERTAIN || (has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 3] =
        ["MIIEpAIBAAKCAQEAt8Q1Zk9zVn3fYb5cXw2pLr7m", "q1w2e3r4t5y6u7i8o9p0Zk9zVn3fYb5cXw2pLr7m", "Zk9z=="];

    fn key(joint: &str) -> String {
        format!("-----BEGIN PRIVATE KEY-----{joint}{}{joint}-----END PRIVATE KEY-----", LINES.join(joint))
    }

    fn found(text: &str) -> Option<&str> {
        match find(text.as_bytes(), 0, "-----BEGIN ".len(), 1) {
            Found::Full(place, _) => text.get(place),
            _ => None,
        }
    }

    #[test]
    fn a_pem_key_ends_at_its_footer_with_any_line_prefix() {
        for joint in [
            "\n",
            "\\n",
            "\r\n",
            "\n    12→",
            "\n> ",
            "\n+",
            "\",\n  \"",
            "\\n\" +\n    \"",
            "\n | ",
            "\n# ",
            "\n-",
            " ",
        ] {
            let key = key(joint);
            assert_eq!(found(&format!("{key} and more")), Some(key.as_str()), "{joint:?}");
        }
    }

    #[test]
    fn a_pem_key_without_a_footer_ends_at_its_last_line() {
        let text = format!(
            "-----BEGIN PRIVATE KEY-----\n{}\n{}",
            LINES[0],
            "this is what the file says, and it goes on. ".repeat(9)
        );
        assert_eq!(found(&text).map(str::len), Some("-----BEGIN PRIVATE KEY-----\n".len() + LINES[0].len()));
    }

    #[test]
    fn a_mention_of_a_pem_header_is_not_a_key() {
        let prose = " marks a key, and nothing of it follows here; the text goes on for quite a while, with no base64 in it at all. So be it.";
        for text in [
            "-----BEGIN PUBLIC KEY-----\nMIIEpAIBAAKCAQEAt8Q1Zk9zVn3fYb5cXw2pLr7mMIIEpAIBAAKCAQEAt8Q1\n",
            &format!("-----BEGIN PRIVATE KEY-----{prose}"),
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
            &format!("-----BEGIN RSA PRIVATE KEY-----\"): raise InvalidCertificateFormatError {prose}"),
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
