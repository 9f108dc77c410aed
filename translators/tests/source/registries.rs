//! The registries are the whole truth: outside the folder of a runner or a contract, no code knows its name or its position.
//!
//! - Code names no runner, provider or contract, in no string and no path. It reads what it needs from `RUNNERS` and `CONTRACTS`.
//! - Tests and benches may name one as their sample, or a few. They assert what they expect of it, but do not decide by a name
//!   what to do, do not list most of a registry, and do not index it.
//!
//! A file belongs to a runner or a contract if its path names it. Other exceptions are listed here, each with its reason.

use framegate_translators::contracts::CONTRACTS;
use framegate_translators::runners::RUNNERS;
use regex::Regex;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Code that names a runner or a contract.
const CODE: &[(&str, &str)] = &[
    ("translators/src/runners/mod.rs", "the registry, and the roles of single runners"),
    ("translators/src/contracts/mod.rs", "the registry, and the roles of single contracts"),
    ("src/http/openapi.rs", "describes the HTTP paths that the documents of two contracts define"),
    ("src/http/openapi/operations.rs", "describes the operations of these paths"),
    ("src/http/openapi/shapes.rs", "describes parameters and bodies of these paths"),
    ("src/http/feeds.rs", "a message recommends a contract instead of the one that a feed cannot have"),
    ("src/http/schemas.rs", "a message has the path of a schema as an example"),
    ("src/cli/serve/mod.rs", "commands for users to try have contracts as examples"),
];

/// How many runners and contracts a list may name as samples.
const SAMPLE_RUNNERS: usize = 2;
const SAMPLE_CONTRACTS: usize = 3;

/// Tests and benches that list most runners or contracts. A new one needs no line in them; the reason says why.
const TESTS: &[(&str, &str)] = &[
    ("benches/durable.rs", "a load of four recordings of different sizes: the log on disk treats all runners alike"),
    (
        "benches/load/durable.rs",
        "a load of four recordings of different sizes: the log on disk treats all runners alike",
    ),
    ("src/http/negotiate.rs", "requests with examples of names, defaults and `raw`: the negotiation looks names up"),
    ("tests/serve/resuming.rs", "recordings with endings of every kind, read in every contract of the registry"),
    (
        "tests/storage/front.rs",
        "how the notice of each contract names what was pruned; `state.rs` checks notices of all",
    ),
    (
        "tests/storage/migration.rs",
        "the recordings in databases of older layouts, to which later runners cannot belong",
    ),
    ("tests/storage/recent.rs", "a few recordings with several runs: the log treats all runners alike"),
    (
        "tests/upstreams/presets.rs",
        "the presets' names and variables as documented; `Runner::presets` has their checks",
    ),
    (
        "translators/benches/instructions/work.rs",
        "a fixed choice of recordings; for other runners, the sample is counted",
    ),
    ("translators/src/when.rs", "the forms of time in the records of single runners, each with its value"),
    (
        "translators/tests/contracts/documents/ours.rs",
        "the envelopes as the documents name them, independent of the schemas",
    ),
    (
        "translators/tests/many_open.rs",
        "inputs that leave most open; what bounds them is the normalizer, for all runners",
    ),
    ("translators/tests/runners/runner_cases/limits.rs", "records of single runners that end in the same outcome"),
    ("translators/tests/runners/runner_cases/usage.rs", "where single contracts have the totals that must agree"),
    (
        "translators/tests/contracts/withheld.rs",
        "stand-ins as the documents define them; the other tests there cover all contracts",
    ),
];

static TOKENS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r####"(?s)//[^\n]*|/\*.*?\*/|b?r##".*?"##|b?r#".*?"#|b?r"[^"]*"|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'|'\w+|\w+|=>|==|!=|::|\S"####,
    )
    .unwrap()
});

/// A token of a source file, with its line.
#[derive(Clone, Copy, Debug)]
struct Token<'t> {
    text: &'t str,
    line: usize,
}

impl<'t> Token<'t> {
    /// The content of a string; `None` for other tokens.
    fn string(self) -> Option<&'t str> {
        let text = self.text.strip_prefix('b').unwrap_or(self.text);
        let text = text.strip_prefix('r').filter(|rest| rest.starts_with(['#', '"'])).unwrap_or(text).trim_matches('#');
        text.strip_prefix('"')?.strip_suffix('"')
    }
}

/// The tokens of a file, without comments.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut line, mut from) = (1, 0);
    let found = TOKENS.find_iter(text).map(|found| {
        line += text[from..found.start()].matches('\n').count();
        from = found.start();
        Token { text: found.as_str(), line }
    });
    found.filter(|token| !token.text.starts_with("//") && !token.text.starts_with("/*")).collect()
}

/// The tokens without those of test modules, and the names of the test modules in files of their own.
fn without_tests<'t>(tokens: &[Token<'t>]) -> (Vec<Token<'t>>, Vec<&'t str>) {
    let (mut kept, mut modules, mut at) = (Vec::new(), Vec::new(), 0);
    let is_test = |at: usize| {
        let words: Vec<&str> = tokens[at..].iter().take(7).map(|token| token.text).collect();
        words == ["#", "[", "cfg", "(", "test", ")", "]"]
    };
    while at < tokens.len() {
        if !is_test(at) {
            kept.push(tokens[at]);
            at += 1;
            continue;
        }
        // The item after the attribute ends with its first closed block, or with a semicolon before one.
        let (mut depth, start) = (0, at + 7);
        at = start;
        while at < tokens.len() {
            match tokens[at].text {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 && matches!(tokens[at - 1].text, "}" | ";") {
                break;
            }
        }
        if tokens[at - 1].text == ";"
            && let Some(module) = tokens[start..at].iter().position(|token| token.text == "mod")
        {
            modules.push(tokens[start + module + 1].text);
        }
    }
    (kept, modules)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The sources below folders: their paths from the root, and their texts.
fn sources(folders: &[&str]) -> Vec<(String, String)> {
    let mut left: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    let mut found = Vec::new();
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                left.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                let path = entry.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
                found.push((path, std::fs::read_to_string(&entry).unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn runner_names() -> impl Iterator<Item = &'static str> {
    RUNNERS.iter().flat_map(|runner| [runner.name, runner.provider.name])
}

fn contract_names() -> impl Iterator<Item = &'static str> {
    CONTRACTS.iter().map(|contract| contract.name)
}

/// The names of the folders of runners and contracts.
fn folders() -> BTreeSet<String> {
    let of = |folder: &str| std::fs::read_dir(root().join("translators/src").join(folder)).unwrap();
    let all = of("runners").chain(of("contracts")).map(|entry| entry.unwrap());
    all.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// Whether a part of the path begins or ends with the name of a folder of a runner or a contract.
fn is_in_a_folder(path: &str, folders: &BTreeSet<String>) -> bool {
    let is_named = |part: &str, name: &str| {
        part == name
            || part.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'))
            || part.ends_with(&format!("_{name}"))
    };
    path.split(['/', '.']).any(|part| folders.iter().any(|name| is_named(part, name)))
}

/// Whether a text contains a name as a word of its own. The name of the records' contract is an everyday word: it counts alone.
fn says(text: &str, name: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || "-_".contains(letter);
    let is_plain = name.chars().all(|letter| letter.is_ascii_lowercase());
    if is_plain {
        return text == name;
    }
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + name.len()..].starts_with(is_word))
}

/// The places where a registry is indexed.
fn indexed(tokens: &[Token<'_>]) -> impl Iterator<Item = usize> {
    tokens.windows(3).filter_map(|three| {
        let is_registry = matches!(three[0].text, "RUNNERS" | "CONTRACTS");
        let is_index = three[1].text == "["
            || three[1].text == "." && matches!(three[2].text, "first" | "last" | "get" | "split_first" | "nth");
        (is_registry && is_index).then_some(three[0].line)
    })
}

/// The places in assertions without alternatives: they say what a test expects of its sample.
fn asserted(tokens: &[Token<'_>]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for start in 0..tokens.len() {
        let is_assertion = ["assert", "assert_eq", "assert_ne"].contains(&tokens[start].text)
            && tokens.get(start + 1).is_some_and(|token| token.text == "!");
        if !is_assertion {
            continue;
        }
        let mut depth = 0;
        let end = (start + 2..tokens.len()).find(|at| {
            match tokens[*at].text {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let all = start..end.unwrap_or(start);
        let has_alternative = tokens[all.clone()].windows(2).any(|two| two[0].text == "|" && two[1].text == "|");
        if !has_alternative {
            found.extend(all);
        }
    }
    found
}

fn report(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}\n{}", found.join("\n"));
}

#[test]
fn code_names_no_runner_and_no_contract() {
    let folders = folders();
    let files = sources(&["translators/src", "src"]);
    let mut tests = BTreeSet::new();
    for (path, text) in &files {
        let module = path.strip_suffix(".rs").unwrap();
        let module = module.strip_suffix("/mod").or(module.strip_suffix("/lib")).unwrap_or(module);
        let (_, modules) = without_tests(&tokens(text));
        tests.extend(modules.iter().map(|name| format!("{module}/{name}")));
    }
    let is_test = |path: &str| {
        let module = path.trim_end_matches(".rs");
        tests
            .iter()
            .any(|test| module.strip_prefix(test.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    };
    let (mut found, mut used) = (Vec::new(), BTreeSet::new());
    for (path, text) in &files {
        if is_in_a_folder(path, &folders) || is_test(path) {
            continue;
        }
        let (tokens, _) = without_tests(&tokens(text));
        let mut lines: Vec<(usize, String)> =
            indexed(&tokens).map(|line| (line, "indexes a registry".to_owned())).collect();
        for token in &tokens {
            let Some(text) = token.string() else { continue };
            for name in runner_names().chain(contract_names()).filter(|name| says(text, name)) {
                lines.push((token.line, format!("names {name:?}")));
            }
        }
        for four in tokens.windows(4) {
            let is_path =
                matches!(four[0].text, "runners" | "contracts") && four[1].text == "::" && four[3].text == "::";
            if is_path && folders.contains(four[2].text) {
                lines.push((four[0].line, format!("imports from the folder {}", four[2].text)));
            }
        }
        match CODE.iter().find(|(exempt, _)| exempt == path) {
            Some((exempt, _)) if !lines.is_empty() => drop(used.insert(*exempt)),
            _ => found.extend(lines.into_iter().map(|(line, what)| format!("{path}:{line} {what}"))),
        }
    }
    report(&found, "add what this code needs to know to `Runner` or `Contract`:");
    let unused: Vec<String> =
        CODE.iter().map(|(path, _)| (*path).to_owned()).filter(|path| !used.contains(path.as_str())).collect();
    let registries = ["translators/src/runners/mod.rs", "translators/src/contracts/mod.rs"];
    let unused: Vec<String> = unused.into_iter().filter(|path| !registries.contains(&path.as_str())).collect();
    report(&unused, "these files name nothing any more; remove their exceptions:");
}

#[test]
fn tests_compare_with_no_name_and_list_none() {
    let folders = folders();
    let (mut found, mut used) = (Vec::new(), BTreeSet::new());
    let files = sources(&["translators/src", "src", "tests", "benches", "translators/tests", "translators/benches"]);
    for (path, text) in &files {
        if is_in_a_folder(path, &folders)
            || path == "translators/tests/source/registries.rs"
            || CODE.iter().any(|(code, _)| code == path)
        {
            continue;
        }
        let tokens = tokens(text);
        let mut lines: Vec<(usize, String)> =
            indexed(&tokens).map(|line| (line, "indexes a registry".to_owned())).collect();
        let asserted = asserted(&tokens);
        // The lists that are open: their lines, and the names in each.
        let mut lists: Vec<(usize, BTreeSet<&str>)> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            let neighbour = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.text);
            let (before, after) = (neighbour(at.checked_sub(1)), neighbour(Some(at + 1)));
            match token.text {
                "[" => lists.push((token.line, BTreeSet::new())),
                "]" => {
                    let Some((line, names)) = lists.pop() else { continue };
                    let runners = RUNNERS.iter().filter(|runner| names.contains(runner.name)).count();
                    let contracts = contract_names().filter(|name| names.contains(name)).count();
                    if runners > SAMPLE_RUNNERS || contracts > SAMPLE_CONTRACTS {
                        lines.push((line, format!("lists {names:?}")));
                    }
                }
                _ => {}
            }
            let Some(name) =
                token.string().filter(|text| runner_names().chain(contract_names()).any(|name| name == *text))
            else {
                continue;
            };
            if let Some((_, names)) = lists.last_mut() {
                names.insert(name);
            }
            let is_compared = matches!(after, "=>" | "|" | "==" | "!=") || matches!(before, "|" | "==" | "!=");
            if is_compared && !asserted.contains(&at) {
                lines.push((token.line, format!("compares with {name:?}")));
            }
        }
        match TESTS.iter().find(|(exempt, _)| exempt == path) {
            Some((exempt, _)) if !lines.is_empty() => drop(used.insert(*exempt)),
            _ => found.extend(lines.into_iter().map(|(line, what)| format!("{path}:{line} {what}"))),
        }
    }
    report(
        &found,
        "iterate the registries, add what the test needs to know to `Runner`, `Contract` or the recordings' MANIFEST.json, \
         or move the test to a file whose path names the runner or contract:",
    );
    let unused: Vec<String> =
        TESTS.iter().map(|(path, _)| (*path).to_owned()).filter(|path| !used.contains(path.as_str())).collect();
    report(&unused, "these files list nothing any more; remove their exceptions:");
}

#[test]
fn every_runner_and_contract_has_its_fixtures() {
    for runner in RUNNERS {
        let name = runner.name;
        let fixtures = root().join("tests/fixtures").join(name);
        assert!(fixtures.is_dir(), "add recordings of {name} in tests/fixtures/{name}/");
        let sample = std::fs::read(fixtures.join(runner.sample.file));
        assert!(
            sample.is_ok_and(|bytes| bytes == runner.sample.bytes),
            "the sample of {name} must be tests/fixtures/{name}/{}",
            runner.sample.file
        );
        for template in ["pieces.txt", "places.txt"] {
            let is_there = fixtures.join("templates").join(template).is_file();
            assert!(is_there, "add tests/fixtures/{name}/templates/{template}: CONTRIBUTING.md says what it contains");
        }
        assert!(
            root().join("schemas/runners").join(name).is_dir(),
            "add the schemas of {name} in schemas/runners/{name}/"
        );
        for surface in runner.surfaces {
            assert!(!surface.schemas.is_empty(), "add a schema for each record kind of {name} ({})", surface.name);
        }
    }
    for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        let name = contract.name;
        assert!(contract.document_schema.is_some(), "add document.json to the schemas of {name}");
        assert!(!contract.rules.is_empty(), "list the rules that the verifier of {name} checks");
        let kinds: Vec<&str> = contract.schemas.iter().map(|file| file.kind).collect();
        assert!(kinds.contains(&contract.notice_type), "the notice_type of {name} must be one of its types");
    }
}

/// Whether a document mentions a name in a table or in a heading.
fn is_documented(document: &str, name: &str) -> bool {
    let text = std::fs::read_to_string(root().join(document)).unwrap();
    text.lines().any(|line| (line.starts_with('|') || line.starts_with('#')) && line.contains(name))
}

#[test]
fn documents_have_every_runner_and_every_contract() {
    for runner in RUNNERS {
        let quoted = format!("`{}`", runner.name);
        assert!(is_documented("README.md", &quoted), "add {quoted} to the table of runners in README.md");
        let title = runner.provider.title;
        assert!(is_documented("docs/runners.md", title), "add {title} to the tables of docs/runners.md");
    }
    for name in contract_names() {
        let quoted = format!("`{name}`");
        assert!(is_documented("README.md", &quoted), "add {quoted} to the table of contracts in README.md");
        assert!(is_documented("docs/contracts.md", &quoted), "add {quoted} to the table of docs/contracts.md");
    }
}
