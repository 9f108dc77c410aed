//! Compresses the schemas of `schemas/` for `src/schema/packed.rs`: they are 3.9 MB of text, and 0.3 MB in a program.
//!
//! Each folder that a list of schemas names is compressed on its own, because its schemas repeat each other and are used together.

use miniz_oxide::deflate::compress_to_vec_zlib;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The best compression of `miniz_oxide`. It takes a second, and only when a schema changes.
const LEVEL: u8 = 10;

/// How many folders lead to the schemas of a runner's surface (`runners/RUNNER/SURFACE`), and to those of a contract
/// (`CONTRACT/VERSION`). Deeper folders are part of the names of schemas.
const SURFACE_DEPTH: usize = 3;
const CONTRACT_DEPTH: usize = 2;

/// The schemas of a folder: each has a line with the length of its name, a space, and the length of its text; then both follow.
type Folders = BTreeMap<String, String>;

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("schemas");
    let mut folders = Folders::new();
    collect(&root, &[], &mut folders)?;

    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let mut list = format!("static FOLDERS: [Folder; {}] = [\n", folders.len());
    for (at, (folder, text)) in folders.iter().enumerate() {
        let file = out.join(format!("{at}.zlib"));
        fs::write(&file, compress_to_vec_zlib(text.as_bytes(), LEVEL))?;
        writeln!(list, "    Folder::new({folder:?}, include_bytes!({file:?})),")?;
    }
    list.push_str("];\n");
    fs::write(out.join("schemas.rs"), list)?;
    Ok(())
}

/// Adds the schemas in and below `path`, whose names below `schemas/` are `names`.
fn collect(path: &Path, names: &[String], folders: &mut Folders) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", path.display());
    // In order, so that a build can be reproduced.
    let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
    entries.sort();
    for entry in entries {
        let name = entry.file_name().and_then(|name| name.to_str()).ok_or("a name in schemas/ is not UTF-8")?;
        if entry.is_dir() {
            let below: Vec<String> = names.iter().cloned().chain([name.to_owned()]).collect();
            collect(&entry, &below, folders)?;
        } else if let Some(kind) = kind_of(name) {
            println!("cargo::rerun-if-changed={}", entry.display());
            let depth =
                if names.first().is_some_and(|first| first == "runners") { SURFACE_DEPTH } else { CONTRACT_DEPTH };
            let (folder, rest) = names.split_at(names.len().min(depth));
            let name: Vec<&str> = rest.iter().map(String::as_str).chain([kind]).collect();
            let name = name.join("/");
            let text = fs::read_to_string(&entry)?;
            let packed = folders.entry(folder.join("/")).or_default();
            write!(packed, "{} {}\n{name}{text}", name.len(), text.len())?;
        }
    }
    Ok(())
}

/// The name under which a schema is packed; `None` for the other files in `schemas/`.
fn kind_of(file: &str) -> Option<&str> {
    if file == "document.json" { Some(file) } else { file.strip_suffix(".schema.json") }
}
