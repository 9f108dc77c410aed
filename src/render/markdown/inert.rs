//! Text of a run in a Markdown document: it may have a look, but it cannot act.
//!
//! Input: any text. Output: Markdown without HTML, without images that a viewer would fetch, without link targets other than the
//! web, mail and relative ones, and without definitions of links, which would reach into the rest of the document. Never: a `<`
//! outside of code.

use crate::render::blocks::SegmentKind;
use crate::render::terminal::markdown_options;
use crate::visible;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};
use std::collections::BTreeSet;
use std::ops::Range;

/// By how many levels headings of a text are lowered, so that they are below those of the document.
const LOWERED: usize = 2;

/// The lowest level of headings.
const LOWEST: usize = 6;

/// A segment of a text.
pub(super) fn segment(text: &str, kind: SegmentKind) -> String {
    let text = without_tabs(&visible::text(text));
    if kind == SegmentKind::Cut {
        return cut(&text);
    }
    // Whether indented lines are code depends on what is before them, so that they get a fence.
    let code = text.split_inclusive('\n').take_while(|line| line.starts_with(INDENT) || line.trim().is_empty());
    let (indented, rest) = text.split_at_checked(code.map(str::len).sum()).unwrap_or((&text, ""));
    if kind == SegmentKind::Blocks && !indented.trim().is_empty() {
        let lines: Vec<&str> = indented.lines().map(|line| line.strip_prefix(INDENT).unwrap_or_default()).collect();
        let code = fenced("", &lines.join("\n"));
        return if rest.trim().is_empty() { code } else { format!("{code}\n\n{}", blocks(rest)) };
    }
    blocks(&text)
}

/// The indentation of code.
const INDENT: &str = "    ";

/// Text with spaces instead of tabs, whose columns would change within a quote.
fn without_tabs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for char in text.chars() {
        match char {
            '\t' => {
                let spaces = INDENT.len() - column % INDENT.len();
                out.push_str(INDENT.get(..spaces).unwrap_or(INDENT));
                column += spaces;
                continue;
            }
            '\n' => column = 0,
            _ => column += 1,
        }
        out.push(char);
    }
    out
}

/// How often a text is looked at again.
const ROUNDS: usize = 6;

/// Blocks of Markdown. A bracket that is escaped may leave another one that begins a link, so that the result is looked at again.
fn blocks(text: &str) -> String {
    let mut out = text.to_owned();
    for _ in 0..ROUNDS {
        let (code, escaped) = acting(&out);
        out = escape(&out, &code, &escaped);
        if escaped.is_empty() {
            return lowered(&out);
        }
    }
    cut(text)
}

/// The code in a text, and the places where a backslash turns something that would act into text.
fn acting(text: &str) -> (Vec<Range<usize>>, BTreeSet<usize>) {
    // What a viewer finds is found here too, because the result has no `<` outside of code, and neither has this.
    let masked = text.replace('<', "^");
    let parser = Parser::new_ext(&masked, markdown_options());
    let mut escaped: BTreeSet<usize> = BTreeSet::new();
    for (_, definition) in parser.reference_definitions().iter() {
        escaped.insert(definition.span.start);
    }
    let mut code: Vec<Range<usize>> = Vec::new();
    for (event, range) in parser.into_offset_iter() {
        match event {
            // A line in it that begins with HTML would be HTML, because blocks come first.
            Event::Code(_) if text.get(range.clone()).is_some_and(|code| code.contains('\n')) => {}
            Event::Code(_) | Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => code.push(range),
            Event::Start(Tag::Link { dest_url, .. }) if !is_harmless(&dest_url) => drop(escaped.insert(range.start)),
            Event::Start(Tag::Image { dest_url, .. }) => {
                // `\!` leaves a link, `!\[` leaves text.
                let at = if is_harmless(&dest_url) { range.start } else { range.start + 1 };
                escaped.insert(at);
            }
            _ => {}
        }
    }
    (code, escaped)
}

/// A part of a segment that was cut: what it means is unknown, so that it is shown as it is.
fn cut(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '<' => out.push_str("&lt;"),
            '[' | ']' | '`' | '!' | '~' => out.extend(['\\', char]),
            _ => out.push(char),
        }
    }
    out
}

fn escape(text: &str, code: &[Range<usize>], escaped: &BTreeSet<usize>) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut code = code.iter().peekable();
    for (at, char) in text.char_indices() {
        while code.next_if(|range| range.end <= at).is_some() {}
        if code.peek().is_some_and(|range| range.contains(&at)) {
            out.push(char);
            continue;
        }
        if escaped.contains(&at) {
            out.push('\\');
        }
        if char != '<' {
            out.push(char);
            continue;
        }
        // A backslash before it would turn the entity into text.
        let slashes = out.len() - out.trim_end_matches('\\').len();
        if slashes % 2 == 1 {
            out.pop();
        }
        out.push_str("&lt;");
    }
    out
}

/// Whether a viewer may follow the link.
fn is_harmless(address: &str) -> bool {
    let address: String = address.chars().filter(|char| !char.is_control() && !char.is_whitespace()).collect();
    let scheme = address.split(['/', '?', '#']).next().unwrap_or_default().split_once(':');
    scheme.is_none_or(|(scheme, _)| ["http", "https", "mailto"].contains(&scheme.to_ascii_lowercase().as_str()))
}

/// Lowers a heading.
fn lowered(text: &str) -> String {
    let indent = text.len() - text.trim_start_matches(' ').len();
    let (_, rest) = text.split_at_checked(indent).unwrap_or(("", text));
    let marks = rest.len() - rest.trim_start_matches('#').len();
    let is_heading = (1..=LOWEST).contains(&marks)
        && indent < 4
        && rest.get(marks..).is_some_and(|rest| rest.starts_with([' ', '\t']));
    if is_heading { format!("{}{rest}", "#".repeat(LOWERED.min(LOWEST - marks))) } else { text.to_owned() }
}

/// One line of plain text: nothing in it has a meaning in Markdown.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::new();
    for char in visible::line(text.trim()).chars() {
        match char {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            // A dot or a colon makes no address of a bare word, but `www.` and `https:` do.
            _ if char.is_ascii_punctuation() && !matches!(char, ',' | ';' | '\'' | '"' | '/' | '%') => {
                out.extend(['\\', char])
            }
            _ => out.push(char),
        }
    }
    out
}

/// One line of text within an HTML element.
pub(super) fn html(text: &str) -> String {
    let mut out = String::new();
    for char in visible::line(text.trim()).chars() {
        match char {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(char),
        }
    }
    out
}

/// One line of code within a line.
pub(super) fn code(text: &str) -> String {
    let text = visible::line(text);
    let text = text.trim();
    if text.is_empty() {
        return String::new();
    }
    let marks = "`".repeat(longest_run(text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{space}{text}{space}{marks}")
}

/// Code in lines, in a fence that is longer than any run of backticks in it.
pub(super) fn fenced(word: &str, code: &str) -> String {
    let code = visible::text(code);
    let code = code.trim_end_matches('\n');
    let marks = "`".repeat((longest_run(code) + 1).max(3));
    let is_word = word.len() <= 30 && word.chars().all(|char| char.is_ascii_alphanumeric() || "+-#._".contains(char));
    format!("{marks}{}\n{code}\n{marks}", if is_word { word } else { "" })
}

fn longest_run(text: &str) -> usize {
    text.split(|char| char != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        segment(text, SegmentKind::Blocks)
    }

    #[test]
    fn html_is_text_except_in_code() {
        assert_eq!(shown("a <b>x</b> `<i>` \\<u>"), "a &lt;b>x&lt;/b> `<i>` &lt;u>");
        // In HTML, these backticks would not be code.
        assert_eq!(shown("<a title=\"`\"> `<img src=x>"), "&lt;a title=\"`\"> `&lt;img src=x>");
        assert_eq!(shown("- x\n  ```\n  <b>\n  ```"), "- x\n  ```\n  <b>\n  ```");
        assert_eq!(shown("    <b>\n\n\t\tx\ny <i>"), "```\n<b>\n\n    x\n```\n\ny &lt;i>");
        assert_eq!(shown("- a\n\n      <b>"), "- a\n\n      &lt;b>");
        assert_eq!(segment("`<b>` [x]: y", SegmentKind::Cut), "\\`&lt;b>\\` \\[x\\]: y");
    }

    #[test]
    fn links_that_act_are_text_and_images_are_links() {
        assert_eq!(shown("[a](https://a) [b](javascript:x)"), "[a](https://a) \\[b](javascript:x)");
        assert_eq!(
            shown("[b](java&#115;cript:x) [c](JavaScript&colon;x)"),
            "\\[b](java&#115;cript:x) \\[c](JavaScript&colon;x)"
        );
        assert_eq!(shown("![a](https://a/x.png) ![b](data:x)"), "\\![a](https://a/x.png) !\\[b](data:x)");
        assert_eq!(shown("[a]: javascript:x\n\n[a]"), "\\[a]: javascript:x\n\n\\[a]");
        assert_eq!(shown("[r](../x?a:b)"), "[r](../x?a:b)");
        assert_eq!(shown("![a[b](javascript:x)"), "!\\[a\\[b](javascript:x)");
    }

    #[test]
    fn headings_are_lowered() {
        assert_eq!((shown("# a"), shown("##### a"), shown("#a")), ("### a".into(), "###### a".into(), "#a".into()));
    }

    #[test]
    fn fences_and_code_are_longer_than_what_is_in_them() {
        assert_eq!(fenced("rust", "```\nx\n"), "````rust\n```\nx\n````");
        assert_eq!(fenced("a b", "x"), "```\nx\n```");
        assert_eq!(code("a `` b\nc"), "```a `` b⏎c```");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(plain("*a* <b> & [c]"), "\\*a\\* &lt;b\\> &amp; \\[c\\]");
        assert_eq!(html("<a>&\"\n"), "&lt;a&gt;&amp;&quot;");
    }
}
