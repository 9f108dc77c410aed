//! Suggests a known name for a misspelled one.

/// How many characters of a name are compared.
const COMPARED: usize = 64;

/// Returns the known name with the smallest edit distance to `given`, or `None` if none is close enough to suggest.
pub fn nearest<'n>(given: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let given: String = given.to_lowercase().chars().take(COMPARED).collect();
    known
        .into_iter()
        .map(|name| (strsim::levenshtein(&given, name), name))
        .filter(|(edits, name)| *edits <= 1 + name.len() / 4)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name_and_an_unrelated_word_finds_none() {
        let known = ["frames.v2", "sse.v1", "agent-manager.v1"];
        assert_eq!(nearest("frame.v2", known), Some("frames.v2"));
        assert_eq!(nearest("SSE.v1", known), Some("sse.v1"));
        assert_eq!(nearest("agent_manager.v1", known), Some("agent-manager.v1"));
        assert_eq!(nearest("hecate", known), None);
        assert_eq!(nearest("", known), None);
    }
}
