//! The title of a run, from its first prompt.
//!
//! Input: a prompt. Output: one short line. Never: a control character; a title without letters.

/// Maximum length of a title, in characters.
const TITLE_CHARS: usize = 120;

/// The title that a prompt gives its run: white space and control characters are folded, and a longer prompt ends in an ellipsis.
/// `None` if nothing is left.
pub(super) fn title(prompt: &str) -> Option<String> {
    let is_space = |letter: char| letter.is_whitespace() || letter.is_control();
    let (mut title, mut letters) = (String::new(), 0);
    for word in prompt.split(is_space).filter(|word| !word.is_empty()) {
        if letters > 0 {
            title.push(' ');
            letters += 1;
        }
        let before = title.len();
        title.extend(word.chars().take(TITLE_CHARS + 1));
        letters += title.get(before..).map_or(0, |word| word.chars().count());
        if letters > TITLE_CHARS {
            let cut: String = title.chars().take(TITLE_CHARS - 1).collect();
            return Some(format!("{}…", cut.trim_end()));
        }
    }
    Some(title).filter(|title| !title.is_empty())
}

/// Whether two titles are of the same prompt. Some runners keep a prompt of the command line in quotes, which may leave less of it in a title.
pub(crate) fn is_same_prompt(one: &str, other: &str) -> bool {
    let ((one, one_is_cut), (other, other_is_cut)) = (unquoted(one), unquoted(other));
    one == other || (one_is_cut && other.starts_with(one)) || (other_is_cut && one.starts_with(other))
}

/// A title without quotes and ellipsis, and whether more of the prompt is missing.
fn unquoted(title: &str) -> (&str, bool) {
    let inner = title.strip_prefix('"');
    let title = inner.map_or(title, |inner| inner.strip_suffix('"').unwrap_or(inner));
    // A short title ends as its prompt does.
    let cut = title.strip_suffix('…').filter(|cut| cut.chars().count() > TITLE_CHARS / 2);
    (cut.unwrap_or(title), cut.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_in_quotes_is_the_same_prompt() {
        for letters in [1, 20, TITLE_CHARS - 2, TITLE_CHARS - 1, TITLE_CHARS, TITLE_CHARS + 1, 500] {
            let prompt = "ab c".repeat(letters).chars().take(letters).collect::<String>();
            let (plain, quoted) = (title(&prompt).unwrap(), title(&format!("\"{prompt}\"")).unwrap());
            assert!(is_same_prompt(&plain, &quoted) && is_same_prompt(&quoted, &plain), "{plain}\n{quoted}");
            assert!(is_same_prompt(&plain, &plain) && is_same_prompt(&quoted, &quoted));
            let other = title(&format!("x{prompt}")).unwrap();
            assert!(!is_same_prompt(&plain, &other) && !is_same_prompt(&other, &quoted), "{plain}\n{other}");
        }
        assert!(!is_same_prompt("Fix it", "Fix it…") && !is_same_prompt("Fix", "Fix it"));
    }

    #[test]
    fn a_title_is_one_short_line() {
        for (prompt, expected) in [
            ("", None),
            (" \n\t ", None),
            ("Fix the test", Some("Fix the test")),
            ("  Fix\r\n\n the\u{a0}\u{2028}test\0", Some("Fix the test")),
        ] {
            assert_eq!(title(prompt).as_deref(), expected, "{prompt:?}");
        }
        let whole = "é".repeat(TITLE_CHARS);
        assert_eq!(title(&whole), Some(whole.clone()));
        for longer in [format!("{whole}é"), format!("{whole} x"), "word ".repeat(1000), "x".repeat(1 << 20)] {
            let title = title(&longer).unwrap();
            assert!(title.chars().count() <= TITLE_CHARS && title.ends_with('…') && !title.contains(" …"), "{title}");
        }
    }
}
