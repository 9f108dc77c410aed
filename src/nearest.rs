//! Suggests a known name for a misspelled one.

/// Returns the known name with the smallest edit distance to `given`, or `None` if none is close enough to suggest.
pub fn nearest<'n>(given: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let given: Vec<char> = given.to_lowercase().chars().take(64).collect();
    known
        .into_iter()
        .map(|name| (edits(&given, name), name))
        .filter(|(edits, name)| *edits <= 1 + name.len() / 4)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
}

/// The Levenshtein distance: the number of letters to insert, delete or replace.
fn edits(given: &[char], name: &str) -> usize {
    let mut row: Vec<usize> = (0..=given.len()).collect();
    for (at, letter) in name.chars().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        let mut left = at + 1;
        next.push(left);
        for (pair, other) in row.windows(2).zip(given) {
            let [diagonal, above] = pair else { continue };
            left = (diagonal + usize::from(letter != *other)).min(above + 1).min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name_and_an_unrelated_word_finds_none() {
        let known = ["frames.v1", "frames.v2", "sse.v1", "agent-manager.v1"];
        assert_eq!(nearest("frame.v2", known), Some("frames.v2"));
        assert_eq!(nearest("SSE.v1", known), Some("sse.v1"));
        assert_eq!(nearest("agent_manager.v1", known), Some("agent-manager.v1"));
        assert_eq!(nearest("hecate", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn edits_are_counted() {
        let edits = |a: &str, b| edits(&a.chars().collect::<Vec<_>>(), b);
        assert_eq!((edits("", "abc"), edits("abc", ""), edits("kitten", "sitting"), edits("a", "a")), (3, 3, 3, 0));
    }
}
