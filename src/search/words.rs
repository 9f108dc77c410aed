//! Words: what is looked for, and how texts are prepared for it.
//!
//! Input: a text, or what a person typed. Output: the text as it is indexed; an expression of SQLite's FTS5. Never: an expression that a person
//! wrote (operators of FTS5 are words here like any others).
//!
//! FTS5 takes a sequence of letters and digits for one word. Texts in scripts without spaces between words would be one word each, so their
//! characters are separated here, in texts and queries alike.

use std::borrow::Cow;
use std::fmt::Write;

/// How long a query may be, in bytes.
pub const QUERY_BYTES: usize = 1000;

/// How many words and phrases a query may have.
pub const MOST_TERMS: usize = 32;

/// Separates the characters of scripts without spaces.
pub(super) const SEPARATOR: char = '\u{1}';

/// Stand before and after what was found, in an excerpt.
pub(super) const MARKS: [char; 2] = ['\u{2}', '\u{3}'];

/// Whether each character of the script is a word.
fn is_word_alone(character: char) -> bool {
    matches!(character,
        '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

fn is_reserved(character: char) -> bool {
    character == '\0' || character == SEPARATOR || MARKS.contains(&character)
}

/// A text as it is indexed.
pub(super) fn prepared(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|character| is_word_alone(character) || is_reserved(character)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 3);
    for character in text.chars() {
        match character {
            _ if is_reserved(character) => out.push(' '),
            _ if is_word_alone(character) => out.extend([SEPARATOR, character, SEPARATOR]),
            _ => out.push(character),
        }
    }
    Cow::Owned(out)
}

/// A word or phrase of a query.
#[derive(Debug, PartialEq, Eq)]
struct Term {
    text: String,
    /// Whether its last word may go on.
    is_prefix: bool,
    is_excluded: bool,
}

/// Reads a query: words that must all occur, `"phrases"`, `begin*` for words that begin so, and `-word` for words that must not occur.
///
/// # Errors
/// What is wrong with it.
pub(super) fn expression(query: &str) -> Result<String, String> {
    if query.len() > QUERY_BYTES {
        return Err(format!("the query has {} bytes; at most {QUERY_BYTES} are allowed", query.len()));
    }
    let terms = terms(query);
    if terms.len() > MOST_TERMS {
        return Err(format!("the query has {} words and phrases; at most {MOST_TERMS} are allowed", terms.len()));
    }
    let (excluded, wanted): (Vec<Term>, Vec<Term>) = terms.into_iter().partition(|term| term.is_excluded);
    if wanted.is_empty() {
        return Err(match excluded.is_empty() {
            true => "the query has no word: letters or digits are needed".to_owned(),
            false => "the query only excludes words; name one that must occur".to_owned(),
        });
    }
    let mut out = "(".to_owned();
    for (nth, term) in wanted.iter().enumerate() {
        out.push_str(if nth == 0 { "" } else { " AND " });
        write_term(term, &mut out);
    }
    out.push(')');
    for term in &excluded {
        out.push_str(" NOT ");
        write_term(term, &mut out);
    }
    Ok(out)
}

fn write_term(term: &Term, out: &mut String) {
    let text = prepared(&term.text).replace('"', " ");
    let _ = write!(out, "\"{text}\"{}", if term.is_prefix { " *" } else { "" });
}

fn terms(query: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        let after_minus =
            rest.strip_prefix('-').filter(|after| after.starts_with(|c: char| c == '"' || !c.is_whitespace()));
        let is_excluded = after_minus.is_some();
        rest = after_minus.unwrap_or(rest);
        let (text, later) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_at(rest.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(rest.len())),
        };
        let star_after = later.strip_prefix('*');
        let (text, is_prefix) = match text.strip_suffix('*') {
            Some(begin) => (begin, true),
            None => (text, star_after.is_some()),
        };
        rest = star_after.unwrap_or(later).trim_start();
        if text.chars().any(char::is_alphanumeric) {
            terms.push(Term { text: text.to_owned(), is_prefix, is_excluded });
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_query_is_words_phrases_beginnings_and_exclusions() {
        for (query, wanted) in [
            ("fix the parser", "(\"fix\" AND \"the\" AND \"parser\")"),
            ("  \"fix the\" parser ", "(\"fix the\" AND \"parser\")"),
            ("pars* -test", "(\"pars\" *) NOT \"test\""),
            ("\"exit co\"* -\"no such\"", "(\"exit co\" *) NOT \"no such\""),
            ("src/main.rs", "(\"src/main.rs\")"),
            ("a - b", "(\"a\" AND \"b\")"),
            ("say \"never closed", "(\"say\" AND \"never closed\")"),
            ("AND OR NOT NEAR(a)", "(\"AND\" AND \"OR\" AND \"NOT\" AND \"NEAR(a)\")"),
            ("body:x", "(\"body:x\")"),
        ] {
            assert_eq!(expression(query).unwrap(), wanted, "{query}");
        }
        assert_eq!(expression("検索").unwrap(), "(\"\u{1}検\u{1}\u{1}索\u{1}\")");
        for (query, wrong) in [("", "no word"), ("-", "no word"), ("\"\" * !", "no word"), ("-a -b", "only excludes")] {
            assert!(expression(query).unwrap_err().contains(wrong), "{query}");
        }
        assert!(expression(&"x".repeat(QUERY_BYTES)).is_ok());
        assert!(expression(&"x".repeat(QUERY_BYTES + 1)).unwrap_err().contains("1001 bytes"));
        assert!(expression(&"x ".repeat(MOST_TERMS)).is_ok());
        assert!(expression(&"x ".repeat(MOST_TERMS + 1)).unwrap_err().contains("33 words"));
    }

    proptest! {
        /// FTS5 accepts every expression, whatever a person types.
        #[test]
        fn every_expression_is_valid(query in "[a-z*\"()^:+ \\-検\u{1}\u{2}\\PC]{0,40}") {
            let Ok(expression) = expression(&query) else { return Ok(()) };
            let database = rusqlite::Connection::open_in_memory().unwrap();
            database.execute_batch("CREATE VIRTUAL TABLE words USING fts5(body, tags, content='')").unwrap();
            let found = database.query_row("SELECT count(*) FROM words WHERE words MATCH ?1", [format!("body : ({expression})")], |row| row.get::<_, i64>(0));
            prop_assert_eq!(found, Ok(0), "{}", expression);
        }
    }
}
