//! Text of recordings and of hostile runs: it depends on nothing but the frames, fits the width, and obeys only us.

use super::{Look, Terminal};
use crate::render::sample::{self, Script, everywhere};
use crate::render::wrap::width;
use framegate_translators::frame::{BlockDelta, Body, Frame, ToolKind};
use proptest::prelude::*;
use serde_json::json;
use unicode_segmentation::UnicodeSegmentation;

const PLAIN: Look = Look { columns: 80, has_colour: false, has_labels: false };

fn text(frames: &[Frame], look: Look) -> String {
    let (mut terminal, mut out) = (Terminal::new(look), String::new());
    frames.iter().for_each(|frame| terminal.frame(frame, &mut out));
    terminal.finish(&mut out);
    out
}

/// The text without our own styles. Fails if it has any other escape sequence or control character.
fn unstyled(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        let (codes, later) = after.split_once('m').expect("a style ends");
        assert!(!codes.is_empty() && codes.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'), "{codes:?}");
        out.push_str(before);
        rest = later;
    }
    out.push_str(rest);
    for char in out.chars() {
        let is_hidden =
            matches!(char, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert!((!char.is_control() || char == '\n') && !is_hidden, "{char:?} in {out:?}");
    }
    out
}

/// Fails if a line is wider than it must be.
fn check_width(text: &str, columns: usize) {
    for line in unstyled(text).lines() {
        let is_address = line.contains("://");
        let has_wide = line.graphemes(true).any(|grapheme| width(grapheme) > columns / 4);
        assert!(width(line) <= columns || is_address || has_wide, "{} columns of {columns}: {line:?}", width(line));
    }
}

#[test]
fn recordings_of_every_runner_at_several_widths() {
    for (name, frames) in sample::shown() {
        for columns in [40, 80, 200] {
            let plain = text(&frames, Look { columns, ..PLAIN });
            let styled = text(&frames, Look { columns, has_colour: true, ..PLAIN });
            assert_eq!(unstyled(&styled), plain);
            insta::assert_snapshot!(format!("{name}_{columns}"), plain);
            insta::assert_snapshot!(format!("{name}_{columns}_colour"), styled.replace('\x1b', "␛"));
        }
    }
}

#[test]
fn recordings_of_every_part() {
    let parts = [
        "/subagent.partial.ndjson",
        "/edit_file.partial.ndjson",
        "exec-patch-modify",
        "exec-command-nonzero",
        "exec-command-unicode-ansi",
        "event-permission-reject",
        "event-question",
        "run-todo.",
        "run-retry-429",
        "appserver-approval-accept",
        "scripted__custom-tool",
    ];
    for (name, frames) in sample::recordings() {
        if parts.iter().any(|part| name.contains(part)) {
            insta::assert_snapshot!(format!("part_{}", name.replace('/', "_")), text(&frames, PLAIN));
        }
    }
}

#[test]
fn every_recording_fits_and_obeys_only_us() {
    for (name, frames) in sample::recordings() {
        for columns in [20, 40, 80] {
            for has_labels in [false, true] {
                let styled = text(&frames, Look { columns, has_colour: true, has_labels });
                check_width(&styled, columns);
                let plain = text(&frames, Look { columns, has_colour: false, has_labels });
                assert_eq!(unstyled(&styled), plain, "{name}");
                assert!(!plain.contains('\x1b'));
            }
        }
    }
}

/// The same run with one frame for each character of a text or an output.
fn in_characters(frames: &[Frame]) -> Vec<Frame> {
    let mut all = Vec::new();
    for frame in frames {
        let whole = match &frame.body {
            Body::OutputTextDelta(delta) | Body::ReasoningDelta(delta) => &delta.delta,
            Body::ToolStdout { chunk, .. } | Body::ToolStderr { chunk, .. } => chunk,
            _ => {
                all.push(frame.clone());
                continue;
            }
        };
        for char in whole.chars() {
            let delta = |delta: &BlockDelta| BlockDelta { delta: char.to_string(), ..delta.clone() };
            let body = match &frame.body {
                Body::OutputTextDelta(text) => Body::OutputTextDelta(delta(text)),
                Body::ReasoningDelta(text) => Body::ReasoningDelta(delta(text)),
                Body::ToolStdout { tool, .. } => Body::ToolStdout { tool: tool.clone(), chunk: char.to_string() },
                Body::ToolStderr { tool, .. } => Body::ToolStderr { tool: tool.clone(), chunk: char.to_string() },
                body => body.clone(),
            };
            all.push(Frame { body, ..frame.clone() });
        }
    }
    all
}

#[test]
fn pieces_of_recordings_do_not_matter() {
    for (name, frames) in sample::recordings() {
        let characters = in_characters(&frames);
        if characters.len() < 5000 {
            assert_eq!(text(&characters, PLAIN), text(&frames, PLAIN), "{name}");
        }
    }
}

#[test]
fn a_prompt_that_is_repeated_is_shown_once() {
    let mut script = Script::default();
    script.prompt("Fix it").say("Done").complete();
    let mut repeated = script.frames.clone();
    repeated[0].body = Body::SessionStarted { input: "Fix it".to_owned() };
    assert_eq!(text(&repeated, PLAIN), text(&script.frames, PLAIN));
    assert_eq!(text(&repeated, PLAIN).matches("Fix it").count(), 1);
}

#[test]
fn markdown_is_shown_as_it_is_meant() {
    let mut script = Script::default();
    script.say(
        "# Title\n\nA *slanted*, **bold**, ~~struck~~ `code` and a [link](https://a.example/x) to <https://b.example>, \
         ![picture](https://c.example/p.png), and <b>html</b>. It is long enough to be wrapped at eighty columns.\n\
         \n1. one\n   - inner\n     more\n2. two\n\n- [x] done\n- [ ] open\n\n> quoted\n> text\n\n```rust\nfn main() {\n\tx();\n}\n```\n\n\
         | a | number |\n|---|---:|\n| x | 1 |\n| a longer cell | 1000 |\n\n[x]: https://d.example\n\n---\nEnd",
    );
    insta::assert_snapshot!("markdown", text(&script.frames, Look { columns: 60, ..PLAIN }));
    let styled = text(&script.frames, Look { columns: 60, has_colour: true, ..PLAIN });
    insta::assert_snapshot!("markdown_colour", styled.replace('\x1b', "␛"));
}

#[test]
fn tools_are_short_and_announce_what_is_left_out() {
    let mut script = Script::default();
    let output: String = (0..1000).map(|line| format!("line {line}\n")).collect();
    script.call(ToolKind::Shell, "Bash", &json!({"command": "seq 1000"}), &output, 0);
    script.call(
        ToolKind::Shell,
        "Bash",
        &json!({"command": "make"}),
        "10%\r100%\nerror: \x1b[31mred\x1b[0m\x1b]0;x\x07\n",
        2,
    );
    script.call(ToolKind::Read, "Read", &json!({"file_path": "src/a\nb.rs"}), &output, 0);
    script.call(ToolKind::Search, "Grep", &json!({"pattern": "x y", "path": "src"}), "", 0);
    script.call(ToolKind::Mcp, "mcp__a__b", &json!({"x": 1}), "fine", 0);
    script.call(ToolKind::Edit, "Edit", &json!({"file_path": "a.rs", "old_string": "1\n2", "new_string": "3"}), "", 0);
    script.question("Bash").error("rate_limit").subagent("look").usage().complete();
    insta::assert_snapshot!("tools", text(&script.frames, PLAIN));
}

#[test]
fn subagents_that_speak_in_turns_are_told_apart() {
    let mut script = Script::default();
    let ids = ["one", "two"].map(|name| {
        let id = uuid::Uuid::from_u128(name.len() as u128 + u128::from(name.as_bytes()[0]));
        script.push(Body::SubagentStarted {
            subagent_id: name.into(),
            tool_id: Some(id),
            agent: Some(name.into()),
            task: None,
            depth: 1,
        });
        id
    });
    for round in 0..2 {
        for id in ids {
            script.parent = Some(id);
            script.say(&format!("round {round}"));
        }
    }
    insta::assert_snapshot!("subagents", text(&script.frames, PLAIN));
}

#[test]
fn deep_subagents_are_not_indented_further_but_marked() {
    let mut script = Script::default();
    for depth in 1..=500u32 {
        let id = uuid::Uuid::from_u128(u128::from(depth) << 64);
        script.push(Body::SubagentStarted {
            subagent_id: depth.to_string().into(),
            tool_id: Some(id),
            agent: Some(format!("agent {depth}").into()),
            task: Some("deeper".to_owned()),
            depth,
        });
        script.parent = Some(id);
        script.say("Here");
    }
    let out = text(&script.frames, PLAIN);
    assert!(out.contains("│ │ │ │ │ │ [500] Here"), "{out}");
    check_width(&out, 80);
    check_width(&text(&script.frames, Look { columns: 20, has_labels: true, ..PLAIN }), 20);
}

#[test]
fn what_is_held_does_not_grow_with_the_run() {
    let mut script = Script::default();
    // Nothing of this ends: texts, calls, questions, subagents, thoughts.
    for nth in 0..3000 {
        script.start(ToolKind::Shell, "Bash", &json!({"command": "x".repeat(1000)}));
        let delta =
            |delta: &str| BlockDelta { message_id: nth.to_string().into(), block_index: 0, delta: delta.to_owned() };
        script.push(Body::OutputTextDelta(delta("text")));
        script.push(Body::ReasoningDelta(delta("thought")));
    }
    let (mut terminal, mut out) = (Terminal::new(PLAIN), String::new());
    script.frames.iter().for_each(|frame| terminal.frame(frame, &mut out));
    let before = out.len();
    terminal.finish(&mut out);
    // Most of it was given up, and shown, before the end.
    assert!(before > 10 * (out.len() - before), "{before} of {}", out.len());
    let mut script = Script::default();
    script.say(&"word ".repeat(2 << 20)).say(&format!("```\n{}", "code\n".repeat(1 << 18)));
    let (mut terminal, mut out) = (Terminal::new(PLAIN), String::new());
    let mut written = 0;
    for frame in &script.frames {
        terminal.frame(frame, &mut out);
        written += out.len();
        out.clear();
    }
    assert!(written > 10 << 20);
}

#[test]
fn the_live_lines_show_what_is_not_settled() {
    let mut script = Script::default();
    script.prompt("x").usage();
    let mut all = script.frames.clone();
    let delta = BlockDelta { message_id: "m".into(), block_index: 0, delta: "not **set\x1btled".to_owned() };
    script.push(Body::OutputTextDelta(delta));
    all.push(script.frames.last().unwrap().clone());
    let (mut terminal, mut out) = (Terminal::new(Look { columns: 60, ..PLAIN }), String::new());
    all.iter().for_each(|frame| terminal.frame(frame, &mut out));
    assert!(!out.contains("not"), "{out}");
    let live = terminal.live(Some(65_000), 24);
    assert_eq!(live.lines, ["not **set␛tled", "● writing · 1 min 5 s · 90k tokens in, 567 out · $0.0123"]);
    assert!(live.widths.iter().all(|width| *width < 60));
    script.start(ToolKind::Shell, "Bash", &json!({"command": "sleep 1\nsleep 2"}));
    terminal.frame(script.frames.last().unwrap(), &mut out);
    assert!(terminal.live(None, 24).lines[1].starts_with("● Bash sleep 1 · "));
    assert_eq!(terminal.live(None, 2).lines.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn hostile_text_obeys_only_us_and_fits(
        words in prop::collection::vec(
            prop_oneof![
                any::<String>(),
                prop::sample::select(vec![
                    "\x1b[2J", "\x1b]0;t\x07", "\u{9b}31m", "\u{202e}", "\r", "\x08", "\n", "\n\n", "```\n", "- ", "| a | b |\n|---|---|\n", "> ",
                    "[a](http://b)", "![a](b)", "<b>", "# ", "    ", "你好世界", "👩\u{200d}👧", "e\u{301}\u{301}", "word ", "שלום ", "\u{7f}", "\t", "1. ",
                ]).prop_map(str::to_owned),
            ],
            0..12,
        ),
        columns in 20..100usize,
    ) {
        let frames = everywhere(&words.concat());
        let styled = text(&frames, Look { columns, has_colour: true, has_labels: columns % 2 == 0 });
        check_width(&styled, columns);
        let (mut terminal, mut out) = (Terminal::new(Look { columns, has_colour: true, has_labels: true }), String::new());
        for frame in &frames {
            terminal.frame(frame, &mut out);
            for (line, wide) in terminal.live(Some(1), 24).lines.iter().zip(terminal.live(Some(1), 24).widths) {
                let plain = unstyled(line);
                prop_assert!(!plain.contains('\n') && wide < columns && width(&plain) <= columns, "{:?}", plain);
            }
        }
    }

    #[test]
    fn pieces_of_a_text_do_not_matter(text_of in "(\\*|\\*\\*|`|a|b c| |\n|```|- |\n\n|#|\\||[x](y)){0,40}", at in 0..80usize) {
        let (one, two) = text_of.split_at(at.min(text_of.len()));
        let written = |pieces: &[&str]| {
            let mut script = Script::default();
            script.say_in_pieces(pieces).complete();
            // The frames have numbers and times of their own.
            text(&script.frames, PLAIN).split("✓ completed").next().unwrap().to_owned()
        };
        prop_assert_eq!(written(&[one, two]), written(&[&text_of]));
    }
}
