//! String formats, in the spellings that framegate and the runners write.
//!
//! Input: a string without escapes. Output: `true` if it certainly has the format. Never: `true` for a string that the full
//! validator rejects.

#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Format {
    Uuid,
    DateTime,
}

impl Format {
    /// Whether this is the UUID format.
    pub(in super::super) fn is_uuid(self) -> bool {
        matches!(self, Self::Uuid)
    }

    /// Accepts the spellings that we write; other valid ones are left to the full validator.
    pub(super) fn accepts(self, text: &str) -> bool {
        let bytes = text.as_bytes();
        match self {
            Self::Uuid => {
                // No early exit, so that the loop can be vectorised.
                let is_dashed = [8, 13, 18, 23].iter().all(|&at| bytes.get(at) == Some(&b'-'));
                let count = |is: fn(&u8) -> bool| bytes.iter().map(|byte| usize::from(is(byte))).sum::<usize>();
                bytes.len() == 36 && is_dashed && count(u8::is_ascii_hexdigit) == 32
            }
            Self::DateTime => date_time(bytes),
        }
    }
}

/// `YYYY-MM-DDThh:mm:ss[.fff]Z`, with days up to 28 and seconds up to 59.
fn date_time(bytes: &[u8]) -> bool {
    let Some((whole, fraction)) = bytes.split_at_checked(19) else { return false };
    let shape = whole.iter().zip(b"dddd-dd-ddTdd:dd:dd").all(|(byte, expected)| match expected {
        b'd' => byte.is_ascii_digit(),
        _ => byte == expected,
    });
    let two = |at: usize| {
        whole.get(at..at + 2).and_then(|pair| std::str::from_utf8(pair).ok()?.parse::<u8>().ok()).unwrap_or(99)
    };
    let fraction = fraction.strip_suffix(b"Z").is_some_and(|digits| match digits {
        [] => true,
        [b'.', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    });
    shape
        && fraction
        && (1..=12).contains(&two(5))
        && (1..=28).contains(&two(8))
        && two(11) < 24
        && two(14) < 60
        && two(17) < 60
}

/// 26 characters of Crockford's base 32, upper case.
pub(super) fn is_ulid(text: &str) -> bool {
    text.len() == 26
        && text.bytes().all(|byte| {
            byte.is_ascii_digit() || (byte.is_ascii_uppercase() && !matches!(byte, b'I' | b'L' | b'O' | b'U'))
        })
}

/// A pattern of allowed words: `^(word|word|…)$`. One alternative may be `[^:]+:.+`, a name with its owner.
#[derive(Clone, Debug)]
pub(in super::super) struct Spelling {
    words: Vec<String>,
    named: bool,
}

/// A name prefixed with its owner, as implementors name their own types.
const NAMED: &str = "[^:]+:.+";

impl Spelling {
    /// Parses a pattern; `None` if it has another form.
    pub(super) fn of(pattern: &str) -> Option<Self> {
        let inner = pattern.strip_prefix('^')?.strip_suffix('$')?;
        let list = inner.strip_prefix('(').and_then(|list| list.strip_suffix(')'));
        let mut this = Self { words: Vec::new(), named: false };
        for alternative in list.map_or_else(|| vec![inner], |list| list.split('|').collect()) {
            let is_word = alternative.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            match alternative {
                NAMED => this.named = true,
                word if is_word && !word.is_empty() && list.is_some() => this.words.push(word.to_owned()),
                _ => return None,
            }
        }
        Some(this)
    }

    /// Whether a string without escapes matches.
    pub(super) fn accepts(&self, text: &str) -> bool {
        let is_named =
            |text: &str| text.split_once(':').is_some_and(|(owner, name)| !owner.is_empty() && !name.is_empty());
        self.words.iter().any(|word| word == text) || (self.named && is_named(text))
    }
}
