//! The layers of the proxy: no import cycle between the top-level modules of `src`, nor between the files of `src/http`.
//!
//! A unit of the first graph is a folder or a file at the top of `src`, without `lib.rs` and `main.rs`, which only list and
//! start the others. A unit of the second graph is a file or a folder of `src/http`; `mod.rs` is the unit `mod`. An edge is a
//! `use` or an inline path that starts with `crate`, `super` or `self`; in `http/mod.rs`, a path that starts with a child's
//! name too. Test code and comments do not count.
//!
//! Also: only `src/platform` depends on the operating system, and its folders `unix` and `windows` export the same items.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The places of the imports behind each edge.
type Graph = BTreeMap<(String, String), BTreeSet<String>>;

/// One source file: where it is, its module path, and its text without comments and test code.
struct Source {
    place: String,
    module: Vec<String>,
    is_mod: bool,
    text: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect(&root, &root, &mut found);
    found.sort_by(|one, other| one.place.cmp(&other.place));
    found
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, found);
            continue;
        }
        let relative = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let Some(name) = relative.strip_suffix(".rs") else { continue };
        let mut module: Vec<String> = name.split('/').map(str::to_owned).collect();
        let last = module.last().unwrap().clone();
        if last == "tests" || ["lib", "main"].contains(&name) {
            continue;
        }
        let is_mod = last == "mod";
        if is_mod {
            module.pop();
        }
        let text = code_of(&fs::read_to_string(&path).unwrap());
        found.push(Source { place: format!("src/{relative}"), module, is_mod, text });
    }
}

/// Blanks comment lines and test modules, so that line numbers stay.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut was_test_only = false;
    let mut is_in_tests = false;
    for line in text.lines() {
        is_in_tests |= was_test_only && line.starts_with("mod ") && line.ends_with('{');
        was_test_only = line == "#[cfg(test)]";
        if !is_in_tests && !line.trim_start().starts_with("//") {
            code.push_str(line);
        }
        is_in_tests &= line != "}";
        code.push('\n');
    }
    code
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Every path in the text that starts with `start::`: its byte position, and the segments after the start. A group in braces
/// gives one path for each member.
fn paths_from(text: &str, start: &str) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(&format!("{start}::")) {
        let before = &text[..at];
        // The middle of a longer name or path, or a visibility such as `pub(in crate::runs)`.
        if before.ends_with(|letter: char| is_of_name(letter) || letter == ':') || before.ends_with("(in ") {
            continue;
        }
        let mut members = Vec::new();
        members_of(&text[at + start.len() + 2..], &mut Vec::new(), &mut members);
        found.extend(members.into_iter().map(|path| (at, path)));
    }
    found
}

/// Reads one path or one group in braces; returns how many bytes it has.
fn members_of(text: &str, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let skip = |at: usize| at + (text[at..].len() - text[at..].trim_start().len());
    let mut at = skip(0);
    if text[at..].starts_with('{') {
        at = skip(at + 1);
        while !text[at..].starts_with('}') {
            at = skip(at + members_of(&text[at..], before, found));
            // The member's other name, and the comma.
            at += text[at..].find([',', '}']).expect("a group ends");
            at = skip(at + usize::from(text[at..].starts_with(',')));
        }
        return at + 1;
    }
    let name: String = text[at..].chars().take_while(|letter| is_of_name(*letter)).collect();
    at += name.len();
    let is_named = !name.is_empty();
    if is_named {
        before.push(name);
    }
    if is_named && text[at..].starts_with("::") {
        at += 2 + members_of(&text[at + 2..], before, found);
    } else {
        found.push(before.clone());
        // `*` is the only member without a name.
        at += usize::from(text[at..].starts_with('*'));
    }
    if is_named {
        before.pop();
    }
    at
}

/// Every path of a file, from the root of the crate: its line, and its segments.
fn imports(source: &Source, children: &BTreeSet<String>) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    let mut add = |start: &str, base: &[String], is_child: bool| {
        for (at, mut path) in paths_from(&source.text, start) {
            let mut base = base.to_vec();
            while !is_child && path.first().is_some_and(|name| name == "super") {
                path.remove(0);
                base.pop();
            }
            base.extend(path);
            found.push((source.text[..at].matches('\n').count() + 1, base));
        }
    };
    add("crate", &[], false);
    add("self", &source.module, false);
    add("super", &source.module[..source.module.len() - 1], false);
    for child in children {
        add(child, &[source.module.clone(), vec![child.clone()]].concat(), true);
    }
    found
}

fn add(graph: &mut Graph, from: &str, to: &str, place: String) {
    if from != to {
        graph.entry((from.to_owned(), to.to_owned())).or_default().insert(place);
    }
}

/// The graph of the top-level modules.
fn modules(sources: &[Source]) -> Graph {
    let units: BTreeSet<&String> = sources.iter().map(|source| &source.module[0]).collect();
    let mut graph = Graph::new();
    for source in sources {
        for (line, path) in imports(source, &BTreeSet::new()) {
            let to = path.first().unwrap_or_else(|| panic!("{}:{line}: an import of the whole crate", source.place));
            assert!(units.contains(to), "{}:{line}: {to} is not a module of src", source.place);
            add(&mut graph, &source.module[0], to, format!("{}:{line}", source.place));
        }
    }
    graph
}

/// The graph of the files of `src/http`.
fn files_of_http(sources: &[Source]) -> Graph {
    let own: Vec<&Source> = sources.iter().filter(|source| source.module[0] == "http").collect();
    let units: BTreeSet<String> = own.iter().filter_map(|source| source.module.get(1).cloned()).collect();
    let unit =
        |path: &[String]| path.get(1).filter(|name| units.contains(*name)).map_or("mod", String::as_str).to_owned();
    let mut graph = Graph::new();
    for source in own {
        let is_root = source.is_mod && source.module.len() == 1;
        let children = if is_root { units.clone() } else { BTreeSet::new() };
        for (line, path) in imports(source, &children) {
            if path.first().is_some_and(|name| name == "http") {
                add(&mut graph, &unit(&source.module), &unit(&path), format!("{}:{line}", source.place));
            }
        }
    }
    graph
}

fn reaches(graph: &Graph, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some(unit) = waiting.pop() {
        if unit == to {
            return true;
        }
        if seen.insert(unit) {
            waiting.extend(graph.keys().filter(|(edge, _)| edge == unit).map(|(_, edge)| edge.as_str()));
        }
    }
    false
}

/// The edges that are part of a cycle, each with the places of its imports.
fn cycles(graph: &Graph) -> Vec<String> {
    let in_cycle = graph.iter().filter(|((from, to), _)| reaches(graph, to, from));
    let places = |places: &BTreeSet<String>| places.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    in_cycle.map(|((from, to), at)| format!("{from} -> {to}: {}", places(at))).collect()
}

/// Fails if edges form a cycle.
fn check(name: &str, graph: &Graph) {
    let found = cycles(graph);
    assert!(found.is_empty(), "{name}: these imports form a cycle:\n{}", found.join("\n"));
}

#[test]
fn top_level_modules_form_layers() {
    let graph = modules(&sources());
    // The scan finds a group, an inline path, and a module that is a single file.
    for (from, to) in [("cli", "config"), ("http", "runs"), ("demo", "ingest"), ("log", "clock")] {
        assert!(graph.contains_key(&(from.to_owned(), to.to_owned())), "{from} -> {to} was not found");
    }
    check("src", &graph);
}

#[test]
fn files_of_http_form_layers() {
    let graph = files_of_http(&sources());
    for (from, to) in [("mod", "connection"), ("mod", "tls"), ("connection", "router"), ("routes", "events")] {
        assert!(graph.contains_key(&(from.to_owned(), to.to_owned())), "{from} -> {to} was not found");
    }
    check("src/http", &graph);
}

/// What names an operating system, or an interface of one.
const OF_SYSTEMS: [&str; 9] = [
    "(unix)",
    "(unix,",
    "(windows)",
    "(windows,",
    "target_os",
    "target_family",
    "std::os::",
    "rustix::",
    "tokio::signal",
];

#[test]
fn only_platform_depends_on_the_system() {
    let mut found = Vec::new();
    for source in sources().iter().filter(|source| source.module[0] != "platform") {
        for (line, text) in source.text.lines().enumerate() {
            let named = OF_SYSTEMS.iter().filter(|name| text.contains(*name));
            found.extend(named.map(|name| format!("{}:{}: {name}", source.place, line + 1)));
        }
    }
    assert!(found.is_empty(), "move to src/platform:\n{}", found.join("\n"));
}

/// The items of a system that other modules can name, each with its file.
fn exports(system: &str) -> BTreeSet<String> {
    let is_of_it = |source: &&Source| source.module.starts_with(&["platform".to_owned(), system.to_owned()]);
    let mut exports = BTreeSet::new();
    for source in sources().iter().filter(is_of_it) {
        let place = source.place.replace(&format!("/{system}/"), "/");
        for line in source.text.lines().map(str::trim_start) {
            let Some(item) = line.strip_prefix("pub(crate) ").or_else(|| line.strip_prefix("pub ")) else { continue };
            let words = item.split(|letter: char| !is_of_name(letter)).filter(|word| !word.is_empty());
            // A struct of one system may be an enum of the other, and only one of them may do what is `const` or `async`.
            let mut names =
                words.skip_while(|word| ["async", "const", "enum", "fn", "mod", "struct", "type"].contains(word));
            exports.insert(format!("{place}: {}", names.next().expect("an item has a name")));
        }
    }
    exports
}

#[test]
fn both_systems_export_the_same_items() {
    let (unix, windows) = (exports("unix"), exports("windows"));
    assert!(unix.contains("src/platform/processes.rs: stop"), "{unix:?}");
    let differing: Vec<&String> = unix.symmetric_difference(&windows).collect();
    assert!(differing.is_empty(), "only one system has {differing:#?}");
}

#[test]
fn imports_of_every_form_are_found() {
    let text = "use super::{Shared, access as other, deep::{self, Two, *}};\n// use crate::comment;\nuse super::super::top;\n\
        pub(in crate::hidden) fn at() -> crate::inline::Made { not_super::x(); }\n#[cfg(test)]\nmod tests {\n    use crate::test;\n}\n\
        use crate::after::*;\n";
    let module = vec!["http".to_owned(), "events".to_owned()];
    let source = Source { place: String::new(), module, is_mod: false, text: code_of(text) };
    let found: BTreeSet<String> = imports(&source, &BTreeSet::new())
        .into_iter()
        .map(|(line, path)| format!("{line} {}", path.join("::")))
        .collect();
    let expected = [
        "1 http::Shared",
        "1 http::access",
        "1 http::deep::Two",
        "1 http::deep",
        "1 http::deep::self",
        "3 top",
        "4 inline::Made",
        "9 after",
    ];
    assert_eq!(found, expected.into_iter().map(str::to_owned).collect());
    let mut graph = Graph::new();
    for (from, to) in [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")] {
        add(&mut graph, from, to, format!("{from}.rs:1"));
    }
    assert_eq!(cycles(&graph), ["b -> c: b.rs:1", "c -> b: c.rs:1"]);
}
