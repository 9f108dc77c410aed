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
    let is_quoted = |quoted: &str, plain: &str| unquoted(quoted).is_some_and(|quoted| begin_alike(quoted, plain));
    one == other || is_quoted(one, other) || is_quoted(other, one)
}

fn unquoted(title: &str) -> Option<&str> {
    let inner = title.strip_prefix('"')?;
    // The closing quote is missing if the title is cut.
    inner.strip_suffix('"').or_else(|| cut(inner).map(|_| inner))
}

/// Whether two titles are equal, as far as they are there.
fn begin_alike(one: &str, other: &str) -> bool {
    match (cut(one), cut(other)) {
        (None, None) => one == other,
        (Some(one), None) => other.starts_with(one),
        (None, Some(other)) => one.starts_with(other),
        (Some(one), Some(other)) => one.starts_with(other) || other.starts_with(one),
    }
}

/// What is there of a title that was cut. A short title with an ellipsis ends as its prompt does.
fn cut(title: &str) -> Option<&str> {
    title.strip_suffix('…').filter(|left| left.chars().count() > TITLE_CHARS / 2)
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
        for (one, other, expected) in [
            ("Fix it", "Fix it…", false),
            ("Fix", "Fix it", false),
            // A prompt with quotes of its own, and the same prompt in further ones.
            ("\"main\" is wrong", "\"\"main\" is wrong\"", true),
            ("\"main\" is wrong", "main\" is wrong", false),
            ("\"", "", false),
        ] {
            assert_eq!(is_same_prompt(one, other), expected, "{one} {other}");
            assert_eq!(is_same_prompt(other, one), expected, "{other} {one}");
        }
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
