//! `config.toml` and the references of settings in `docs` are written from the declarations of settings.
//!
//! `FRAMEGATE_BLESS=1 cargo test --lib config` writes them anew.

use super::approvals::Rule;
use super::source::{misfit, variable};
use super::table::{Section, Setting, Table};
use super::upstream::{Agent, Command, Common, Http, Responses, Sse};
use super::webhooks::Endpoint;
use super::{Config, NOTE, SECTIONS, Sources, approvals, upstream, webhooks};
use figment::providers::{Format, Toml};
use figment::value::{Dict, Value};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The first lines of `config.toml`.
const HEADER: &str = "\
# framegate reads this file from the working directory, or the file that --config names. It lists every setting with its
# default. An environment variable FRAMEGATE__SECTION__KEY overrides the file, and a flag overrides both.
";

/// The tables that are not sections, by the name of their place in `docs`.
const LISTED: &[(&str, &[Setting])] = &[
    ("approvals.rule", Rule::SETTINGS),
    ("webhooks.endpoint", Endpoint::SETTINGS),
    ("upstream", Common::SETTINGS),
    ("upstream http", Http::SETTINGS),
    ("upstream command", Command::SETTINGS),
    ("upstream acp", Agent::SETTINGS),
    ("upstream responses", Responses::SETTINGS),
    ("upstream sse", Sse::SETTINGS),
];

/// Every setting, with its section or table.
fn all() -> impl Iterator<Item = (&'static str, &'static Setting)> {
    let sections = SECTIONS.iter().map(|section| (section.name, section.settings));
    sections.chain(LISTED.iter().copied()).flat_map(|(name, settings)| settings.iter().map(move |one| (name, one)))
}

/// A text on one line, with `{presets}` replaced by the names of the presets.
fn text(lines: &[&str]) -> String {
    let presets: Vec<&str> = framegate_translators::runners::presets().map(|(_, preset)| preset.name).collect();
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ").replace("{presets}", &presets.join(", "))
}

/// A value in TOML.
fn toml(value: &Value) -> String {
    match value {
        Value::String(_, text) => format!("{text:?}"),
        Value::Bool(_, is) => is.to_string(),
        Value::Num(_, number) => number.to_u128().unwrap().to_string(),
        Value::Array(_, items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Dict(_, items) if items.is_empty() => "{}".to_owned(),
        other => panic!("{other:?} has no form in config.toml"),
    }
}

/// The paragraph of a note, and its example.
fn note(lines: &[&str]) -> (String, String) {
    let fence = lines.iter().position(|line| line.trim() == "```toml").unwrap();
    let example = lines[fence + 1..lines.len() - 1].iter().map(|line| format!("{}\n", line.trim())).collect();
    (text(&lines[..fence]), example)
}

fn config_toml() -> String {
    let mut file = HEADER.to_owned();
    let commented = |lines: &[&str]| {
        let (paragraph, example) = note(lines);
        let example: String = example.lines().map(|line| format!("# {line}\n")).collect();
        format!("\n# {}\n#\n{example}", paragraph.trim())
    };
    for Section { name, settings, note } in SECTIONS {
        let _ = writeln!(file, "\n[{name}]");
        for setting in *settings {
            let _ = writeln!(file, "# {}\n{} = {}", text(setting.text), setting.key, toml(&(setting.default)()));
        }
        if !note.is_empty() {
            file += &commented(note);
        }
    }
    file + &commented(NOTE)
}

/// The unit of a number, which is the end of its key.
fn unit(key: &str) -> &str {
    match key.rsplit('_').next() {
        Some("ms") => " ms",
        Some("seconds") => " s",
        Some("hours") => " h",
        Some("bytes") => " bytes",
        _ => "",
    }
}

/// A text as the cell of a Markdown table.
fn cell(text: &str) -> String {
    let escaped = |(at, part): (usize, &str)| {
        // Every other part is code.
        if at % 2 == 0 { part.replace('*', "\\*") } else { part.to_owned() }
    };
    text.replace('|', "\\|").split('`').enumerate().map(escaped).collect::<Vec<_>>().join("`")
}

/// The reference of one table, in Markdown.
fn reference(settings: &[Setting], with_reload: bool) -> String {
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let columns =
        ["setting", "default", "range", "reloads", "meaning"].iter().filter(|one| with_reload || **one != "reloads");
    let columns: Vec<String> = columns.map(|&name| name.to_owned()).collect();
    let mut table = row(&columns) + &"|---".repeat(columns.len()) + "|\n";
    for setting in settings {
        let default = match (setting.default)() {
            Value::Empty(..) => String::new(),
            value => toml(&value),
        };
        let default = match default.len() {
            0 => default,
            1..=60 => format!("`{default}`"),
            _ => "[config.toml](../config.toml)".to_owned(),
        };
        let range = setting.range.clone();
        let range = range.map(|range| format!("{} to {}{}", range.start(), range.end(), unit(setting.key)));
        let mut cells = vec![format!("`{}`", setting.key), default, range.unwrap_or_default()];
        if with_reload {
            cells.push(if setting.reloads { "yes" } else { "" }.to_owned());
        }
        cells.push(cell(&text(setting.text)));
        table += &row(&cells);
    }
    table
}

/// The content of a generated place in a document.
fn generated(name: &str) -> String {
    let reloaded = |section: &Section| {
        let keys = section.settings.iter().filter(|setting| setting.reloads).map(|one| format!("`{}`", one.key));
        let keys = keys.collect::<Vec<_>>().join(", ");
        (!keys.is_empty()).then(|| format!("- `[{}]`: {keys}\n", section.name))
    };
    match name {
        "sections" => SECTIONS
            .iter()
            .map(|section| format!("### `[{}]`\n\n{}", section.name, reference(section.settings, true)))
            .collect::<Vec<_>>()
            .join("\n"),
        "reloads" => SECTIONS.iter().filter_map(reloaded).collect(),
        _ => {
            let (_, settings) = LISTED.iter().find(|(listed, _)| *listed == name).unwrap_or_else(|| panic!("{name}?"));
            reference(settings, false)
        }
    }
}

/// A document with every generated place filled.
fn filled(document: &str) -> (String, usize) {
    let (begin, end) = ("<!-- settings: ", "<!-- end of settings -->");
    let mut parts = document.split(begin);
    let mut filled = parts.next().unwrap().to_owned();
    let mut count = 0;
    for part in parts {
        let (name, rest) = part.split_once(" -->").unwrap();
        let (_, rest) = rest.split_once(end).unwrap();
        let _ = write!(filled, "{begin}{name} -->\n\n{}\n{end}{rest}", generated(name));
        count += 1;
    }
    (filled, count)
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Compares a file with its expected content, or writes it.
fn compare(name: &str, expected: &str) {
    if std::env::var_os("FRAMEGATE_BLESS").is_some() {
        std::fs::write(path(name), expected).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(path(name)).unwrap();
    let pairs = kept.lines().map(Some).chain([None]).zip(expected.lines().map(Some).chain([None]));
    let differing = pairs.enumerate().find(|(_, (kept, expected))| kept != expected);
    assert!(kept == expected, "{name}: {differing:?}; FRAMEGATE_BLESS=1 cargo test --lib config writes it anew");
}

#[test]
fn config_toml_has_every_setting_with_its_default_and_its_text() {
    compare("config.toml", &config_toml());
    let shipped = Sources { file: Some(path("config.toml")), ..Sources::default() };
    assert_eq!(shipped.load().unwrap(), Config::default());
}

#[test]
fn the_references_in_docs_have_every_setting() {
    let mut count = 0;
    for name in ["docs/settings.md", "docs/upstreams.md", "docs/webhooks.md"] {
        let (document, places) = filled(&std::fs::read_to_string(path(name)).unwrap());
        compare(name, &document);
        count += places;
    }
    assert_eq!(count, LISTED.len() + 2, "each table, all sections, and what reloads");
}

#[test]
fn the_examples_in_config_toml_are_valid() {
    let mut problems = Vec::new();
    let examples = SECTIONS.iter().map(|section| section.note).filter(|note| !note.is_empty()).chain([NOTE]);
    let text: String = examples.map(|lines| note(lines).1).collect();
    let file: Dict = Toml::from_str(&text).unwrap();
    let rules = &file["approvals"].as_dict().unwrap()["rule"];
    assert_eq!(approvals::read(rules, &str::to_owned, &mut problems).len(), 1);
    let endpoints = &file["webhooks"].as_dict().unwrap()["endpoint"];
    assert_eq!(webhooks::read(endpoints, &str::to_owned, &mut problems).len(), 1);
    assert_eq!(upstream::read(&file["upstream"], &str::to_owned, &mut problems).len(), 1);
    assert_eq!(problems, []);
}

#[test]
fn every_number_has_a_range_that_its_default_is_in() {
    for (name, setting) in all() {
        let (key, default) = (setting.key, (setting.default)());
        assert_eq!(default.to_num().is_some(), setting.range.is_some(), "{name}, {key}");
        // An optional list is the only setting whose default does not have its type.
        if !matches!(default, Value::Empty(..)) {
            assert_eq!(misfit(&default, setting), None, "{name}, {key}");
        }
    }
}

#[test]
fn each_setting_has_a_text_of_whole_sentences() {
    for (name, setting) in all() {
        let text = text(setting.text);
        assert!(text.ends_with('.') && text.starts_with(char::is_uppercase), "{name}, {}: {text}", setting.key);
    }
}

#[test]
fn each_setting_can_be_set_by_its_variable() {
    let mut environment = Vec::new();
    for (section, setting) in SECTIONS.iter().flat_map(|one| one.settings.iter().map(|setting| (one.name, setting))) {
        let text = match (setting.default)() {
            // The environment has no form for a table.
            Value::Dict(..) => continue,
            Value::String(_, text) => text,
            value => toml(&value),
        };
        environment.push((variable(&format!("{section}.{}", setting.key)), text));
    }
    assert!(environment.contains(&("FRAMEGATE__SERVER__MAX_CONNECTIONS".to_owned(), "4096".to_owned())));
    let sources = Sources { file: Some("/dev/null".into()), environment, ..Sources::default() };
    assert_eq!(sources.load().unwrap(), Config::default());
}
