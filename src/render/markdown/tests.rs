//! Documents of hostile runs: whatever a run says, a viewer finds no HTML but ours.

use super::{Document, write};
use crate::render::sample::{self, Script, everywhere};
use crate::render::terminal::markdown_options;
use framegate_translators::frame::{Frame, ToolKind};
use proptest::prelude::*;
use pulldown_cmark::{Event, Parser, Tag};

fn document(frames: &[Frame]) -> String {
    let mut out = Vec::new();
    write(frames, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Fails if a viewer would find something that acts.
fn check_inert(markdown: &str) {
    let ours = |html: &str| {
        let html = html.trim_end();
        let summary = html.strip_prefix("<summary>").and_then(|rest| rest.strip_suffix("</summary>"));
        ["<details>", "<details open>", "</details>"].contains(&html)
            || summary.is_some_and(|text| !text.contains(['<', '>']))
    };
    for event in Parser::new_ext(markdown, markdown_options()) {
        match event {
            Event::Html(html) => html.lines().for_each(|line| assert!(ours(line), "{line:?} in\n{markdown}")),
            Event::InlineHtml(html) => panic!("{html:?} in\n{markdown}"),
            Event::Start(Tag::Image { dest_url, .. }) => panic!("an image of {dest_url} in\n{markdown}"),
            Event::Start(Tag::Link { dest_url, .. }) => {
                let scheme = dest_url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
                let is_harmless = scheme.is_none_or(|scheme| {
                    scheme.contains(['/', '?', '#']) || ["http", "https", "mailto"].contains(&&*scheme)
                });
                assert!(is_harmless, "a link to {dest_url:?} in\n{markdown}");
            }
            _ => {}
        }
    }
}

#[test]
fn the_document_of_a_run_has_its_parts() {
    let mut script = Script::default();
    script.prompt("Fix *it*").say("# Plan\n\nI will <b>look</b>:\n\n- `a<b>`\n- c\n\n```rust\nfn x() {}\n````x\n```\n");
    script.call(ToolKind::Shell, "Bash", &serde_json::json!({"command": "cargo test"}), "ok\n```\n", 0);
    script.call(ToolKind::Read, "Read", &serde_json::json!({"file_path": "a`b\nc"}), "", 0);
    script.subagent("look <i>").usage().complete();
    insta::assert_snapshot!(document(&script.frames));
}

#[test]
fn recordings_make_inert_documents() {
    for (name, frames) in sample::recordings() {
        let markdown = document(&frames);
        check_inert(&markdown);
        assert!(markdown.contains("## Summary") || !name.contains("text_plain"), "{name}");
    }
}

#[test]
fn documents_of_recordings_of_every_runner() {
    for (name, frames) in sample::shown() {
        insta::assert_snapshot!(format!("document_{name}"), document(&frames));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_that_a_run_says_acts(
        text in "(<script>|</details>|<summary>|<a title=\"|<img src=x>|<!--|-->|<!\\[CDATA\\[|<\\?|`|``|```|~~~|\n|\n\n|    |- |1\\. |> |\\\\|\\[x\\](\\(javascript:y\\)|: javascript:y)|\\[x\\]|!\\[i\\]\\(http://a\\)|<javascript:x>|#|\\||---|&lt;|\"|a|\t){0,30}",
    ) {
        check_inert(&document(&everywhere(&text)));
    }

    #[test]
    fn pieces_do_not_matter(text in "(a|b c|`|```|<|\n|- |#|\n\n){0,30}", at in 0..60usize) {
        let at = at.min(text.len());
        let (one, two) = text.split_at(text.floor_char_boundary(at));
        let written = |pieces: &[&str]| {
            let mut script = Script::default();
            script.say_in_pieces(pieces).complete();
            let (mut document, mut out) = (Document::default(), String::new());
            script.frames.iter().for_each(|frame| document.frame(frame, &mut out));
            document.finish(&mut out);
            // The frames have times of their own.
            out.split("## Summary").next().unwrap().to_owned()
        };
        prop_assert_eq!(written(&[one, two]), written(&[&text]));
    }
}
