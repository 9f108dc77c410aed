//! The part of a text that shows why it was found.
//!
//! Input: a text, and an expression. Output: a short part of the text in segments, some of which are words that were looked for. Never: a match that
//! the index would not find (the same tokenizer decides).

use super::words::{MARKS, SEPARATOR, prepared};
use rusqlite::Connection;

/// How many words an excerpt has at most.
const WORDS: usize = 40;

/// How many characters a segment has at most; a longer one is shortened in the middle.
const SEGMENT_CHARS: usize = 400;

/// A piece of an excerpt.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Segment {
    /// The text. Line breaks and other white space are as in the original.
    pub text: String,
    /// Whether it was looked for.
    pub is_match: bool,
}

/// Makes excerpts.
pub(super) struct Excerpts(Connection);

impl Excerpts {
    pub(super) fn new() -> rusqlite::Result<Self> {
        let database = Connection::open_in_memory()?;
        database
            .execute_batch("CREATE VIRTUAL TABLE one USING fts5(body, tokenize='unicode61 remove_diacritics 2')")?;
        Ok(Self(database))
    }

    /// The excerpt of a text; `None` if the expression does not match it.
    pub(super) fn of(&self, text: &str, expression: &str) -> rusqlite::Result<Option<Vec<Segment>>> {
        let database = &self.0;
        database.execute("DELETE FROM one", [])?;
        database.prepare_cached("INSERT INTO one (rowid, body) VALUES (1, ?1)")?.execute([prepared(text)])?;
        let mut found =
            database.prepare_cached("SELECT snippet(one, 0, ?1, ?2, '…', ?3) FROM one WHERE one MATCH ?4")?;
        let [before, after] = MARKS.map(String::from);
        let mut rows = found.query(rusqlite::params![before, after, WORDS, expression])?;
        let marked: Option<String> = rows.next()?.map(|row| row.get(0)).transpose()?;
        Ok(marked.map(|marked| segments(&marked)))
    }
}

/// Reads the marks around words that were looked for.
fn segments(marked: &str) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut is_match = false;
    for part in marked.split_inclusive(MARKS) {
        let text: String = part.chars().filter(|c| *c != SEPARATOR && !MARKS.contains(c)).collect();
        match segments.last_mut() {
            // Characters that are words of their own are found one by one.
            Some(last) if last.is_match == is_match => last.text.push_str(&text),
            _ if text.is_empty() => {}
            _ => segments.push(Segment { text, is_match }),
        }
        is_match = match part.chars().next_back() {
            Some(last) if last == MARKS[0] => true,
            Some(last) if last == MARKS[1] => false,
            _ => is_match,
        };
    }
    segments.iter_mut().for_each(|segment| shorten(&mut segment.text));
    segments
}

/// Leaves the middle of a long text out: it may be one word of many kilobytes.
fn shorten(text: &mut String) {
    let chars = text.chars().count();
    if chars > SEGMENT_CHARS {
        let half = SEGMENT_CHARS / 2;
        let begin: String = text.chars().take(half).collect();
        let end: String = text.chars().skip(chars - half).collect();
        *text = format!("{begin}…{end}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::words::expression;

    fn excerpt(text: &str, query: &str) -> Option<String> {
        let segments = Excerpts::new().unwrap().of(text, &expression(query).unwrap()).unwrap()?;
        let shown =
            |segment: &Segment| if segment.is_match { format!("[{}]", segment.text) } else { segment.text.clone() };
        Some(segments.iter().map(shown).collect())
    }

    #[test]
    fn words_are_marked_as_the_index_finds_them() {
        for (text, query, wanted) in [
            ("Fix the Parser.\nThen test.", "parser", "Fix the [Parser].\nThen test."),
            ("résumé", "resume", "[résumé]"),
            ("see src/main.rs:10", "src/main.rs", "see [src/main.rs]:10"),
            ("parsing parses", "pars*", "[parsing] [parses]"),
            ("全文検索エンジン", "検索", "全文[検索]エンジン"),
            ("nul\0 and \u{2}marks\u{3}", "marks", "nul  and  [marks] "),
        ] {
            assert_eq!(excerpt(text, query).as_deref(), Some(wanted), "{query}");
        }
        assert_eq!(excerpt("索検", "検索"), None, "the order counts");
        assert_eq!(excerpt("fix the parser", "fix -parser"), None);
    }

    #[test]
    fn an_excerpt_is_short() {
        let long = format!("{} needle {}", "hay ".repeat(10_000), "x".repeat(100_000));
        let shown = excerpt(&long, "needle").unwrap();
        assert!(shown.contains("[needle]") && shown.chars().count() < 1000, "{}", shown.len());
    }
}
