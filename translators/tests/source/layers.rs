//! The modules of `translators/src` form layers: no module imports another one that imports it, directly or through others.
//!
//! The units are the files and folders beside `lib.rs`. An import is a path that begins at the root of the crate, in a `use` or
//! anywhere else: `crate::json::Json`, or `super::json` in a file beside `lib.rs`. Comments and test code do not count, nor do
//! strings, except those that are such a path: an attribute may name one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// For each pair of modules: where the first one imports the second one, as `file:line`.
type Imports = BTreeMap<(String, String), Vec<String>>;

#[test]
fn no_import_cycles_exist() {
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    collect(&root, &root, &mut files);
    let imports = imports(&files);
    let of = |from: &str, to: &str| imports.contains_key(&(from.to_owned(), to.to_owned()));
    assert!(of("runners", "json") && of("pipeline", "frame"), "the test does not find the imports: {imports:?}");
    let modules: BTreeSet<String> = files.iter().filter_map(|(path, _)| unit(path)).collect();
    for ((_, to), places) in &imports {
        assert!(modules.contains(to), "crate::{to} is not a separate module: {}", places.join(", "));
    }
    let cycles = cycles(&imports);
    assert!(cycles.is_empty(), "{}", cycles.iter().map(|knot| describe(knot, &imports)).collect::<String>());
}

/// The source files below `folder`, each with its path below `root`.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            files.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// The path of the module that a file holds: `redact/mod.rs` is `redact`, `drift/live.rs` is `drift::live`.
fn module_of(file: &str) -> Vec<&str> {
    let file = file.strip_suffix(".rs").unwrap_or(file);
    file.strip_suffix("/mod").unwrap_or(file).split('/').filter(|name| *name != "lib").collect()
}

/// The unit that a file belongs to; `None` for `lib.rs`.
fn unit(file: &str) -> Option<String> {
    module_of(file).first().map(|name| (*name).to_owned())
}

/// The imports between units, without those in test code.
fn imports(files: &[(String, String)]) -> Imports {
    let read: Vec<(&str, Vec<Token>)> = files.iter().map(|(file, text)| (file.as_str(), tokens(text))).collect();
    let mut tests = BTreeSet::new();
    let kept: Vec<(&str, Vec<Token>)> =
        read.into_iter().map(|(file, tokens)| (file, without_tests(file, tokens, &mut tests))).collect();
    let mut imports = Imports::new();
    for (file, tokens) in kept {
        let module = module_of(file);
        let is_test = (1..=module.len()).any(|depth| tests.contains(&module[..depth].join("::")));
        let Some(from) = unit(file).filter(|_| !is_test) else { continue };
        for (to, line) in paths_from_root(&tokens, module.len()) {
            if to != from {
                imports.entry((from.clone(), to)).or_default().push(format!("{file}:{line}"));
            }
        }
    }
    imports
}

/// A word or a punctuation mark, with its line.
#[derive(Clone, Debug)]
struct Token {
    text: String,
    line: usize,
}

/// The tokens of a file, without comments, strings, characters and lifetimes.
fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (mut tokens, mut index) = (Vec::new(), 0);
    let mut counted = (0, 1);
    while index < chars.len() {
        let (from, now) = counted;
        counted = (index, now + chars[from..index].iter().filter(|letter| **letter == '\n').count());
        let token = |text: String| Token { text, line: counted.1 };
        match at(index) {
            '/' if at(index + 1) == '/' => {
                while index < chars.len() && at(index) != '\n' {
                    index += 1;
                }
            }
            '/' if at(index + 1) == '*' => {
                let mut depth = 0;
                loop {
                    match (at(index), at(index + 1)) {
                        ('/', '*') => (depth, index) = (depth + 1, index + 2),
                        ('*', '/') => (depth, index) = (depth - 1, index + 2),
                        _ => index += 1,
                    }
                    if depth == 0 || index >= chars.len() {
                        break;
                    }
                }
            }
            '"' => {
                let end = after_string(&chars, index);
                // `#[serde(with = "crate::…")]` imports too.
                let inside: String = chars.get(index + 1..end - 1).unwrap_or_default().iter().collect();
                if inside.starts_with("crate::") && inside.chars().all(|letter| is_word(letter) || letter == ':') {
                    tokens.extend(self::tokens(&inside).into_iter().map(|inner| token(inner.text)));
                }
                index = end;
            }
            '\'' if at(index + 1) == '\\' => {
                index += 3;
                while index < chars.len() && at(index) != '\'' {
                    index += 1;
                }
                index += 1;
            }
            '\'' if at(index + 2) == '\'' => index += 3,
            '\'' => {
                index += 1;
                while is_word(at(index)) {
                    index += 1;
                }
            }
            letter if is_word(letter) => {
                let start = index;
                while is_word(at(index)) {
                    index += 1;
                }
                let word: String = chars[start..index].iter().collect();
                let hashes = chars[index..].iter().take_while(|letter| **letter == '#').count();
                if ["r", "br", "cr"].contains(&word.as_str()) && at(index + hashes) == '"' {
                    index += hashes + 1;
                    let ends = |index: usize| at(index) == '"' && (1..=hashes).all(|hash| at(index + hash) == '#');
                    while index < chars.len() && !ends(index) {
                        index += 1;
                    }
                    index += hashes + 1;
                } else if !(["b", "c"].contains(&word.as_str()) && ['"', '\''].contains(&at(index))) {
                    tokens.push(token(word));
                }
            }
            ':' if at(index + 1) == ':' => {
                tokens.push(token("::".to_owned()));
                index += 2;
            }
            letter => {
                if !letter.is_whitespace() {
                    tokens.push(token(letter.to_string()));
                }
                index += 1;
            }
        }
    }
    tokens
}

/// The place after a string that begins at `index`.
fn after_string(chars: &[char], mut index: usize) -> usize {
    index += 1;
    while index < chars.len() && chars[index] != '"' {
        index += if chars[index] == '\\' { 2 } else { 1 };
    }
    index + 1
}

/// Removes the items under `#[cfg(test)]`. Those that are files are noted in `tests` by their module path.
fn without_tests(file: &str, tokens: Vec<Token>, tests: &mut BTreeSet<String>) -> Vec<Token> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let is = |index: usize, text: &str| tokens.get(index).is_some_and(|token| token.text == text);
    let (mut kept, mut index) = (Vec::new(), 0);
    while index < tokens.len() {
        if !MARK.iter().enumerate().all(|(nth, text)| is(index + nth, text)) {
            kept.push(tokens[index].clone());
            index += 1;
            continue;
        }
        index += MARK.len();
        while is(index, "#") {
            index = end_of_item(&tokens, index + 1);
        }
        let end = end_of_item(&tokens, index);
        let item: Vec<&str> = tokens[index..end].iter().map(|token| token.text.as_str()).collect();
        if let [.., "mod", name, ";"] = item.as_slice() {
            let module = module_of(file);
            tests.insert(module.iter().chain([name]).copied().collect::<Vec<_>>().join("::"));
        }
        index = end;
    }
    kept
}

/// The place after an item: after its semicolon, its braces, or, for what remains of an attribute, its brackets.
fn end_of_item(tokens: &[Token], start: usize) -> usize {
    let is_attribute = tokens.get(start).is_some_and(|token| token.text == "[");
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(start) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        let is_end = token.text == ";" || token.text == "}" || (is_attribute && token.text == "]");
        if depth == 0 && is_end {
            return index + 1;
        }
    }
    tokens.len()
}

/// The first names of the paths that begin at the crate's root, with their lines. `depth` is that of the file's own module.
fn paths_from_root(tokens: &[Token], depth: usize) -> Vec<(String, usize)> {
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text.as_str());
    let (mut found, mut inner, mut braces) = (Vec::new(), Vec::new(), 0);
    let mut index = 0;
    while index < tokens.len() {
        match text(index) {
            "mod" if text(index + 2) == "{" => inner.push(braces),
            "{" => braces += 1,
            "}" => {
                braces -= 1;
                inner.pop_if(|opened| *opened == braces);
            }
            _ => {}
        }
        let begins = index == 0 || text(index - 1) != "::";
        let mut up = 0;
        while begins && text(index + 2 * up) == "super" && text(index + 2 * up + 1) == "::" {
            up += 1;
        }
        let next = match text(index) {
            "crate" if begins && text(index + 1) == "::" => Some(index + 2),
            "super" if begins && up == depth + inner.len() => Some(index + 2 * up),
            _ => None,
        };
        match next.map(|next| (next, text(next))) {
            Some((next, "{")) => {
                let end = end_of_item(tokens, next);
                let mut depth = 0;
                for at in next..end {
                    match text(at) {
                        "{" => depth += 1,
                        "}" => depth -= 1,
                        _ => {}
                    }
                    if depth == 1 && ["{", ","].contains(&text(at)) && !["}", ","].contains(&text(at + 1)) {
                        found.push((text(at + 1).to_owned(), tokens[at + 1].line));
                    }
                }
            }
            Some((next, name)) => found.push((name.to_owned(), tokens[next].line)),
            None => {}
        }
        index += 1;
    }
    found
}

/// The largest sets of modules that import each other, directly or through others.
fn cycles(imports: &Imports) -> Vec<BTreeSet<String>> {
    let reached = |from: &String| {
        let (mut reached, mut left) = (BTreeSet::new(), vec![from]);
        while let Some(module) = left.pop() {
            for (_, to) in imports.keys().filter(|(from, _)| from == module) {
                if reached.insert(to.clone()) {
                    left.push(to);
                }
            }
        }
        reached
    };
    let modules: BTreeSet<&String> = imports.keys().map(|(from, _)| from).collect();
    let reach: BTreeMap<&String, BTreeSet<String>> = modules.iter().map(|module| (*module, reached(module))).collect();
    let mut cycles = BTreeSet::new();
    for module in modules {
        let back = |other: &&String| reach.get(*other).is_some_and(|reached| reached.contains(module));
        let knot: BTreeSet<String> = reach[module].iter().filter(back).cloned().collect();
        if !knot.is_empty() {
            cycles.insert(knot);
        }
    }
    cycles.into_iter().collect()
}

/// Names each import between the modules of a cycle. The rarest come first, because those are usually the ones to cut.
fn describe(knot: &BTreeSet<String>, imports: &Imports) -> String {
    let inside = imports.iter().filter(|((from, to), _)| knot.contains(from) && knot.contains(to));
    let mut inside: Vec<_> = inside.collect();
    inside.sort_by_key(|(_, places)| places.len());
    let lines = inside.iter().map(|((from, to), places)| {
        let more = places.len().saturating_sub(3);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let first: Vec<&str> = places.iter().take(3).map(String::as_str).collect();
        format!("  {from} imports {to}: {}{more}\n", first.join(", "))
    });
    let names: Vec<&str> = knot.iter().map(String::as_str).collect();
    format!("these modules import each other: {}\n{}", names.join(", "), lines.collect::<String>())
}

/// The imports of small files, as `from to place`.
fn imports_of(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<(String, String)> = files.iter().map(|(file, text)| ((*file).into(), (*text).into())).collect();
    let list = |((from, to), places): (&(String, String), &Vec<String>)| format!("{from} {to} {}", places.join(" "));
    imports(&files).iter().map(list).collect()
}

#[test]
fn every_form_of_import_counts() {
    for (text, expected) in [
        ("use crate::b::X;", vec!["a b a/c.rs:1"]),
        ("\npub(crate) use crate::{b::{X, Y}, c, a::Z};", vec!["a b a/c.rs:2", "a c a/c.rs:2"]),
        ("fn f(x: &crate::b::X) {\n crate::c::g() }", vec!["a b a/c.rs:1", "a c a/c.rs:2"]),
        ("use super::super::b::X;\nuse super::X;", vec!["a b a/c.rs:1"]),
        (
            "mod x { use super::super::y; use super::super::super::b; } use super::super::c;",
            vec!["a b a/c.rs:1", "a c a/c.rs:1"],
        ),
        ("\n#[serde(with = \"crate::b::x\")] x: X,", vec!["a b a/c.rs:2"]),
        ("#[serde(with = \"x\")] struct S<'a>(&'a crate::b::X);", vec!["a b a/c.rs:1"]),
    ] {
        assert_eq!(imports_of(&[("a/c.rs", text)]), expected, "{text}");
    }
    assert_eq!(imports_of(&[("a.rs", "use super::b;"), ("lib.rs", "use crate::b;")]), ["a b a.rs:1"]);
}

#[test]
fn comments_strings_and_test_code_do_not_count() {
    for text in [
        "// use crate::b;\n/* crate::b /* crate::c */ crate::b */ //! [x](crate::b)",
        "const X: &str = \"in crate::b\"; const Y: &[u8] = br#\"\" crate::b\"#; const Z: [char; 2] = ['\"', '\\\"']; // crate::b",
        "#[cfg(test)]\n#[allow(x)]\nmod tests { use crate::b; fn f() { crate::c::g() } }",
        "#[cfg(test)] use crate::{b, c};\n#[cfg(test)] const X: [u8; 2] = crate::b::X;",
        "fn f() { other::crate::b() }",
    ] {
        assert_eq!(imports_of(&[("a.rs", text)]), Vec::<String>::new(), "{text}");
    }
    let files = [("a.rs", "#[cfg(test)] pub mod x;"), ("a/x.rs", "use crate::b;"), ("a/x/y.rs", "use crate::b;")];
    assert_eq!(imports_of(&files), Vec::<String>::new());
    assert_eq!(imports_of(&[("a.rs", "#[cfg(test)] mod x { } use crate::b;")]), ["a b a.rs:1"]);
}

#[test]
fn a_cycle_is_reported_with_its_imports() {
    let files = [("a.rs", "use crate::b;"), ("b.rs", "use crate::c;"), ("c.rs", "\nuse crate::a;\nuse crate::d;")];
    let files = files.map(|(file, text)| (file.to_owned(), text.to_owned()));
    let imports = imports(&files);
    let cycles = cycles(&imports);
    let described: Vec<String> = cycles.iter().map(|knot| describe(knot, &imports)).collect();
    let expected = "these modules import each other: a, b, c\n  a imports b: a.rs:1\n  b imports c: b.rs:1\n  c imports a: c.rs:2\n";
    assert_eq!(described, [expected]);
}
