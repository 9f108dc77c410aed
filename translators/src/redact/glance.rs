//! The first look at a record: whether it is worth another one.
//!
//! In: a record's bytes, or a text without escapes. Out: whether it may hold a secret, and where it may have a piece. Most
//! records have nothing and are let through with that. Never: a secret that is passed over; that many a record is called
//! suspect and has none costs only time.

use super::pieces::MARK;
use super::rules::Shape;
use super::sieve::Wanted;
use super::text::{Literal, finder};
use super::{Rules, shape, words};

/// What one look at a record's bytes tells.
pub(super) struct Glance {
    /// Whether it may hold a secret.
    pub(super) is_suspect: bool,
    pub(super) mark: Mark,
}

/// Where a record has the key that stands on the way to every piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Nowhere,
    /// Once; it ends here.
    Once(usize),
    /// More than once, or nobody has looked for it everywhere.
    Anywhere,
}

/// What the sieve tells that key as; all other numbers are those of literals, and of spellings behind them.
const PIECE: usize = usize::MAX;

impl Rules {
    /// Whether a record may hold a secret, and where it may have a piece; one look at its bytes, and nothing is kept of it.
    pub(super) fn glance(&self, bytes: &[u8]) -> Glance {
        let mut mark = Mark::Nowhere;
        let is_suspect = !self.patterns.is_empty()
            || self.sieve.any(bytes, |number, place| match self.literals.get(number) {
                _ if number == PIECE => {
                    mark = if mark == Mark::Nowhere { Mark::Once(place.end) } else { Mark::Anywhere };
                    false
                }
                Some(Literal::Rule { shape: Shape::Token { .. } | Shape::Jwt, .. }) => {
                    !words::is_inside_a_word(bytes, place.start) || words::is_behind_an_escape(bytes, place.start)
                }
                Some(Literal::Rule { shape: Shape::Url, .. }) => shape::has_a_password(bytes, place.end),
                _ => !bytes.get(place.clone()).is_some_and(|said| said.ends_with(b"\"")) || is_a_key(bytes, place.end),
            });
        // The first suspect ends the look.
        let is_marked = is_suspect && memchr::memmem::find(bytes, MARK).is_some();
        Glance { is_suspect, mark: if is_marked { Mark::Anywhere } else { mark } }
    }

    /// Whether there may be a secret in a text without escapes.
    pub(super) fn has_a_literal(&self, text: &[u8]) -> bool {
        !self.patterns.is_empty() || self.sieve.any(text, |number, _| number != PIECE)
    }
}

/// What to look for in a record: each of these but those that have another one in them which is enough by itself.
pub(super) fn worth_a_look(scouted: &[String], literals: &[Literal]) -> Result<Vec<Wanted>, aho_corasick::BuildError> {
    let is_exact = |number: usize| matches!(literals.get(number), Some(Literal::Rule { is_exact: true, .. }));
    let is_enough = |number: usize| {
        !is_exact(number) && !matches!(literals.get(number), Some(Literal::Rule { shape: Shape::Url, .. }))
    };
    let enough = scouted.iter().enumerate().filter(|(number, _)| is_enough(*number));
    let enough = finder(enough.map(|(_, text)| text.as_bytes()))?;
    let is_needed = |text: &str| enough.find_overlapping_iter(text).all(|shorter| shorter.len() == text.len());
    let needed = scouted.iter().enumerate().filter(|(_, text)| is_needed(text));
    let wanted = |(number, text): (usize, &String)| Wanted {
        number,
        text: text.as_bytes().to_vec(),
        is_exact: is_exact(number),
    };
    // What says that a record may have a piece is looked for on the same way.
    let mark = Wanted { number: PIECE, text: MARK.to_vec(), is_exact: true };
    Ok(needed.map(wanted).chain([mark]).collect())
}

/// Whether what ends in a quote before this place may be a key. The colon may stand on another line, behind its field's name.
pub(super) fn is_a_key(bytes: &[u8], end: usize) -> bool {
    let rest = bytes.get(end..).unwrap_or_default();
    rest.iter().find(|byte| !matches!(byte, b' ' | b'\t')).is_none_or(|byte| matches!(byte, b':' | b'\n' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;
    use crate::framing::{Framing, Limits, Reader};
    use proptest::prelude::*;
    use std::sync::LazyLock;

    static RULES_OF_ALL: LazyLock<Arc<Rules>> = LazyLock::new(|| {
        let keys = DEFAULT_KEYS.iter().map(|key| (*key).to_owned()).chain(["*_pin_code".to_owned(), "iban".to_owned()]);
        Arc::new(Rules::new(Settings { keys: keys.collect(), ..Settings::default() }).unwrap())
    });

    /// Everything that makes a record worth a look, by an automaton of all of it.
    struct Slow(AhoCorasick);

    static SLOW: LazyLock<Slow> = LazyLock::new(|| {
        let rules = &*RULES_OF_ALL;
        let mut scouted = Vec::new();
        for (spelling, literal) in rules.spellings.iter().zip(&rules.literals) {
            match literal {
                Literal::Rule { .. } => scouted.push(spelling.clone()),
                Literal::Key => {
                    scouted.extend(["\"", "\\"].iter().chain(&ASSIGNING).map(|sign| format!("{spelling}{sign}")));
                }
            }
        }
        scouted.extend(ESCAPES.iter().map(|escape| (*escape).to_owned()));
        Slow(finder(scouted.iter().map(String::as_bytes)).unwrap())
    });

    impl Slow {
        fn is_worth_a_look(&self, rules: &Rules, bytes: &[u8]) -> bool {
            self.0.find_overlapping_iter(bytes).any(|found| {
                let number = found.pattern().as_usize();
                match rules.literals.get(number) {
                    Some(Literal::Rule { shape: Shape::Token { .. } | Shape::Jwt, .. }) => {
                        let begins = !words::is_inside_a_word(bytes, found.start());
                        rules.is_spelt(number, &bytes[found.range()])
                            && (begins || words::is_behind_an_escape(bytes, found.start()))
                    }
                    Some(Literal::Rule { shape: Shape::Url, .. }) => shape::has_a_password(bytes, found.end()),
                    _ => !bytes[found.range()].ends_with(b"\"") || is_a_key(bytes, found.end()),
                }
            })
        }
    }

    /// Text of which a good part is nearly a secret.
    fn text() -> impl Strategy<Value = String> {
        let spelling = any::<prop::sample::Index>().prop_map(|at| at.get(&RULES_OF_ALL.spellings).clone());
        let part = prop_oneof![
            4 => spelling.clone(),
            1 => spelling.clone().prop_map(|text| text.to_ascii_uppercase()),
            2 => (spelling, any::<prop::sample::Index>()).prop_map(|(text, at)| text[at.index(text.len())..].to_owned()),
            2 => prop::sample::select(ESCAPES).prop_map(str::to_owned),
            6 => "[a-z]{1,12}",
            3 => "[A-Za-z0-9]{36,44}",
            8 => prop::sample::select(&["\"", "\\", "\":\"", "\\\"", " ", "_", "-", ".", "/", ":", "@", "\\n", "user:", "\\u00e9",
                "[", "[3", "2m", "[0m", "\\u001b[32m", "\\u005b3\\u0032m", "\\u001b[1\\u003b3\\u0031\\u006d"][..])
                .prop_map(str::to_owned),
        ];
        prop::collection::vec(part, 0..9).prop_map(|parts| parts.concat())
    }

    fn redacted(text: &[u8]) -> Vec<u8> {
        let mut redactor = Redactor::new(RULES_OF_ALL.clone(), &[]);
        let mut out = Vec::new();
        let mut reader = Reader::new(Framing::Ndjson, Limits::default());
        let mut sink = |redacted: Redacted<'_>| out.extend_from_slice(redacted.unit.bytes);
        reader.feed(text, &mut |unit| redactor.unit(&unit, 0, &mut sink));
        reader.finish(&mut |unit| redactor.unit(&unit, 0, &mut sink));
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

        #[test]
        fn the_glance_says_what_an_automaton_of_all_literals_says(text in text()) {
            let rules = &*RULES_OF_ALL;
            prop_assert_eq!(rules.glance(text.as_bytes()).is_suspect, SLOW.is_worth_a_look(rules, text.as_bytes()));
        }

        #[test]
        fn what_is_not_worth_a_look_has_nothing(parts in prop::collection::vec(text(), 1..4), is_json in any::<bool>()) {
            let rules = &*RULES_OF_ALL;
            let text = if is_json { serde_json::json!({"a": parts, "b": {"c": parts.concat()}}).to_string() } else { format!("x{}", parts.concat()) };
            let edits = record::look(rules, text.as_bytes(), None).edits;
            if !rules.glance(text.as_bytes()).is_suspect {
                prop_assert!(edits.is_empty(), "{}: {:?}", text, edits);
            }
            if edits.is_empty() {
                prop_assert_eq!(redacted(text.as_bytes()), text.as_bytes());
            }
        }

        #[test]
        fn where_no_literal_is_no_secret_is(text in text()) {
            let rules = &*RULES_OF_ALL;
            if !text.contains('\\') && !rules.has_a_literal(text.as_bytes()) {
                let finding = rules.scan(text.as_bytes());
                prop_assert!(finding.hits.is_empty() && finding.tail.is_none_or(|(tail, _)| tail.open.is_none()), "{}", text);
            }
        }

        #[test]
        fn what_leaves_nothing_is_not_remembered(text in text()) {
            let rules = &*RULES_OF_ALL;
            // A piece stands inside a JSON string, so a quote in it has an escape before it, and what has an escape is looked at.
            let text = text.replace('"', "\\\"");
            if !rules.glance(format!("{{\"delta\":\"{text}\"}}").as_bytes()).is_suspect && rules.leaves_nothing(text.as_bytes()) {
                let finding = rules.scan(text.as_bytes());
                prop_assert!(finding.hits.is_empty() && finding.tail.is_none(), "{}: {:?}", text, finding);
            }
        }
    }
}
