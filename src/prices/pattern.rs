//! Patterns of model names: exact names, and `*` for any characters.
//!
//! Input: a pattern and a name, both in lower case. Output: whether the pattern matches, and how specific it is. Never: work that grows faster
//! than the length of the name times that of the pattern.

use std::cmp::Reverse;

/// A pattern of model names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pattern(String);

impl Pattern {
    /// A pattern; letters match in upper and lower case.
    pub(super) fn new(text: &str) -> Self {
        Self(text.trim().to_lowercase())
    }

    /// The text of the pattern.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether only one name matches.
    pub(super) fn is_exact(&self) -> bool {
        !self.0.contains('*')
    }

    /// Whether the whole name matches.
    pub(super) fn matches(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
        if self.is_exact() {
            return rest.is_empty();
        }
        let Some(last) = parts.next_back() else { return false };
        // Each part at its first place leaves the most room for those after it.
        for part in parts {
            let Some(at) = rest.find(part) else { return false };
            rest = rest.get(at + part.len()..).unwrap_or_default();
        }
        rest.ends_with(last)
    }

    /// The order of patterns that match the same name; the greatest is the most specific: an exact name, then the pattern with the most
    /// characters besides `*`, then the one with the fewest `*`.
    pub(super) fn specificity(&self) -> (bool, usize, Reverse<usize>) {
        let stars = self.0.matches('*').count();
        (self.is_exact(), self.0.chars().count() - stars, Reverse(stars))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_star_matches_any_characters_and_the_whole_name_must_match() {
        for (pattern, name, matches) in [
            ("gpt-5", "gpt-5", true),
            ("gpt-5", "gpt-5.1", false),
            ("gpt-5*", "gpt-5", true),
            ("gpt-5*", "gpt-5.1-codex", true),
            ("*-mini", "gpt-5-mini", true),
            ("*-mini", "gpt-5-mini-x", false),
            ("gpt-*-mini", "gpt-5-mini", true),
            ("gpt-*-mini", "gpt-mini", false),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*a*b*", "xaxbx", true),
            ("*a*b*", "xbxax", false),
            ("*", "", true),
            ("**", "anything", true),
            ("GPT-5*", "gpt-5.5", true),
            ("", "", true),
            ("ä*", "äö", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn the_most_characters_are_the_most_specific() {
        let mut patterns = ["*", "gpt-5.1", "gpt-*", "gpt-5*", "*gpt-5*"].map(Pattern::new);
        patterns.sort_by_key(Pattern::specificity);
        assert_eq!(patterns.map(|pattern| pattern.0), ["*", "gpt-*", "*gpt-5*", "gpt-5*", "gpt-5.1"]);
    }

    /// The same in the most obvious way.
    fn matches(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some((&'*', rest)) => (0..=name.len()).any(|skip| matches(rest, &name[skip..])),
            Some((letter, rest)) => name.first() == Some(letter) && matches(rest, &name[1..]),
        }
    }

    proptest! {
        #[test]
        fn a_pattern_matches_what_its_definition_says(pattern in "[ab*]{0,8}", name in "[ab]{0,8}") {
            let letters = |text: &str| text.chars().collect::<Vec<char>>();
            prop_assert_eq!(Pattern::new(&pattern).matches(&name), matches(&letters(&pattern), &letters(&name)));
        }
    }
}
