//! One HTML file with the page and the data that it shows.
//!
//! Input: the data as JSON without `<`. Output: the page's document, with its script, its style sheet and the data inside. Never: a
//! reference to another file or to a network; a script besides the page's own: the document allows only that one, by its hash.

use crate::ui;
use anyhow::{Context, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The id of the element with the data.
const DATA: &str = "framegate-export";

/// The document.
///
/// # Errors
/// The page was built without one of the marks that the parts replace.
pub(super) fn document(json: &str) -> anyhow::Result<String> {
    ensure!(!json.contains('<'), "the data must not contain \"<\"");
    assemble(ui::INDEX.text(), ui::SCRIPT.text(), ui::STYLE.text(), json)
}

fn assemble(index: &str, script: &str, style: &str, json: &str) -> anyhow::Result<String> {
    let (script, style) = (inline(script), inline(style));
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data: blob:; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(&style)
    );
    // The script is moved behind the data, so that the data need not be waited for.
    let (before, _, after) = around(index, "<script", "/app.js", "</script>")?;
    let index = format!("{before}{after}");
    let (before, _, after) = around(&index, "<link", "/app.css", ">")?;
    let index = format!("{before}<style>{style}</style>{after}");
    // The character set has to be in the first 1024 bytes, and the policy before everything that it applies to.
    let (before, charset, after) = around(&index, "<meta", "charset=", ">")?;
    let meta = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">");
    let index = format!("{before}{charset}\n    {meta}{after}");
    let (before, after) = index.rsplit_once("</body>").context("the page has no </body>")?;
    Ok(format!(
        "{before}<script type=\"application/json\" id=\"{DATA}\">{json}</script>\n    <script type=\"module\">{script}</script>\n  \
         </body>{after}"
    ))
}

/// The text before, the text of, and the text after the tag that has `mark` in it.
fn around<'d>(document: &'d str, open: &str, mark: &str, close: &str) -> anyhow::Result<(&'d str, &'d str, &'d str)> {
    let missing = || format!("the page has no {open} with {mark}");
    let at = document.find(mark).with_context(missing)?;
    let start = document.get(..at).and_then(|before| before.rfind(open)).with_context(missing)?;
    let length = document.get(at..).and_then(|after| after.find(close)).with_context(missing)?;
    let (before, rest) = document.split_at(start);
    let (tag, after) = rest.split_at(at + length + close.len() - start);
    Ok((before, tag, after))
}

/// A script or a style sheet as the content of an element: nothing in it ends the element. `\x3C` is `<` in every kind of literal
/// of a script; a style sheet has neither of the two.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        let starts = |word: &str| from.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        out.push_str(before);
        out.push_str(if starts("</script") || starts("</style") || starts("<!--") { "\\x3C" } else { "<" });
        rest = from.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// The hash of an inline script or style, as a policy names it.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = "<!doctype html><html><head><meta charset=\"utf-8\"><script type=\"module\" src=\"/app.js\"></script>\
                         <link rel=\"stylesheet\" href=\"/app.css\"></head><body><div id=\"app\"></div></body></html>";

    #[test]
    fn a_script_cannot_end_its_element() {
        let script = "const a = '</SCRIPT>' + `<!-- <script>` + /<!--/u; if (a<b) c";
        let document = assemble(INDEX, script, "a>b{}", "{}").unwrap();
        let inside = document.split("<script type=\"module\">").nth(1).unwrap().split("</script>").next().unwrap();
        assert_eq!(inside, "const a = '\\x3C/SCRIPT>' + `\\x3C!-- <script>` + /\\x3C!--/u; if (a<b) c");
        assert!(document.contains(&hash(inside)), "the policy has the hash of what is inside the element");
        assert!(document.contains("<style>a>b{}</style>") && document.contains(&hash("a>b{}")));
    }

    #[test]
    fn the_policy_is_behind_the_character_set_and_before_everything_else() {
        let document = document("{\"runs\":[]}").unwrap();
        let at = |part: &str| document.find(part).unwrap_or_else(|| panic!("no {part}"));
        assert!(at("charset=") < at("Content-Security-Policy") && at("charset=") < 1024);
        assert!(at("Content-Security-Policy") < at("<style>") && at("<style>") < at(DATA));
        assert!(at("id=\"framegate-export\">{\"runs\":[]}</script>") < at("<script type=\"module\">"));
        assert!(!document.contains("\"/app.js\"") && !document.contains("\"/app.css\""));
        assert_eq!(document.matches("</script>").count(), 2);
    }

    #[test]
    fn data_with_markup_is_refused() {
        assert!(document("{\"a\":\"</script>\"}").is_err());
    }
}
