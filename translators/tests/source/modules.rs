//! Every file of a test program is a module of it: cargo does not notice a file that no `mod` names, and its tests would not run.

use std::path::{Path, PathBuf};

/// Folders with installed packages.
const INSTALLED: [&str; 2] = ["node_modules", "python_modules"];

/// The sources below a folder: their paths from there, and their texts.
fn sources(root: &Path) -> Vec<(PathBuf, String)> {
    let (mut left, mut found) = (vec![root.to_owned()], Vec::new());
    while let Some(folder) = left.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                let is_installed = INSTALLED.iter().any(|name| path.ends_with(name));
                left.extend((!is_installed).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push((path.strip_prefix(root).unwrap().to_owned(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

/// Whether the file that is above this one in the tree of modules names it, or any file names its path.
fn is_named(file: &Path, files: &[(PathBuf, String)]) -> bool {
    // `a/b/mod.rs` is the module `b` of `a`, as `a/b.rs` is.
    let module = if file.ends_with("mod.rs") { file.parent().unwrap() } else { file };
    let (folder, name) = (module.parent().unwrap(), module.file_stem().unwrap().to_str().unwrap());
    let above = [folder.join("main.rs"), folder.join("mod.rs"), folder.with_extension("rs")];
    let is_said = |text: &str, wanted: &str| text.lines().any(|line| line.trim().trim_start_matches("pub ") == wanted);
    files.iter().any(|(path, text)| above.contains(path) && is_said(text, &format!("mod {name};")))
        || files.iter().any(|(_, text)| paths(text).any(|path| file.ends_with(path)))
}

/// What the attributes `path` name, without the way up.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.lines().filter_map(|line| line.trim().strip_prefix("#[path = \"")?.strip_suffix("\"]"));
    quoted.map(|path| path.trim_start_matches("../"))
}

fn forgotten(files: &[(PathBuf, String)]) -> Vec<&Path> {
    // Files at the top, and `main.rs` of folders, are programs.
    let parts = |path: &Path| path.components().count();
    let is_program = |path: &Path| parts(path) == 1 || (parts(path) == 2 && path.ends_with("main.rs"));
    let modules = files.iter().map(|(path, _)| path.as_path()).filter(|path| !is_program(path));
    modules.filter(|path| !is_named(path, files)).collect()
}

#[test]
fn every_file_of_the_tests_is_a_module() {
    for folder in ["../tests", "tests"] {
        let files = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
        assert!(files.len() > 100, "{folder} has tests");
        let forgotten = forgotten(&files);
        assert!(forgotten.is_empty(), "name these files of {folder} with `mod` in the file above them: {forgotten:#?}");
    }
}

#[test]
fn a_forgotten_file_is_found() {
    let file = |path: &str, text: &str| (PathBuf::from(path), text.to_owned());
    let files = [
        file("alone.rs", ""),
        file(
            "a/main.rs",
            "mod one;\npub mod two;\n#[path = \"../b/shared.rs\"]\nmod shared;\nmod three;\n// mod five;\n",
        ),
        file("a/one.rs", "mod inner;"),
        file("a/one/inner.rs", ""),
        file("a/one/other.rs", ""),
        file("a/two/mod.rs", "mod deep;"),
        file("a/two/deep.rs", ""),
        file("a/two/three.rs", ""),
        file("a/three/main.rs", ""),
        file("a/five.rs", ""),
        file("b/main.rs", ""),
        file("b/shared.rs", ""),
    ];
    let expected = ["a/one/other.rs", "a/two/three.rs", "a/three/main.rs", "a/five.rs"];
    assert_eq!(forgotten(&files), expected.map(Path::new));
}
