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

#[cfg(test)]
mod tests {
    use super::*;

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
