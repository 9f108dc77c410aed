//! The schemas that are built into a program, which `build.rs` has compressed.
//!
//! A folder is decompressed at the first use of one of its schemas.

use crate::hash::HashMap;
use miniz_oxide::inflate::decompress_to_vec_zlib;
use std::sync::OnceLock;

include!(concat!(env!("OUT_DIR"), "/schemas.rs"));

/// The schemas of a contract or of a runner's surface.
struct Folder {
    /// The path below `schemas/`.
    path: &'static str,
    packed: &'static [u8],
    /// The text of each schema.
    texts: OnceLock<HashMap<&'static str, &'static str>>,
}

impl Folder {
    const fn new(path: &'static str, packed: &'static [u8]) -> Self {
        Self { path, packed, texts: OnceLock::new() }
    }

    /// Empty if the compressed text is damaged; then no schema of the folder compiles.
    fn unpack(&self) -> HashMap<&'static str, &'static str> {
        let text = decompress_to_vec_zlib(self.packed).ok().and_then(|text| String::from_utf8(text).ok());
        // Schemas are used as long as the program runs.
        entries(text.unwrap_or_default().leak()).collect()
    }
}

/// The names and texts in the format that `build.rs` describes.
fn entries(mut rest: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    std::iter::from_fn(move || {
        let (lengths, after) = rest.split_once('\n')?;
        let (name, text) = lengths.split_once(' ')?;
        let (name, after) = after.split_at_checked(name.parse().ok()?)?;
        let (text, after) = after.split_at_checked(text.parse().ok()?)?;
        rest = after;
        Some((name, text))
    })
}

/// The text of a schema; empty if there is none, which the macro that names the schema excludes.
pub(super) fn text(folder: &str, name: &str) -> &'static str {
    let found = FOLDERS.iter().find(|known| known.path == folder);
    let text = found.and_then(|folder| folder.texts.get_or_init(|| folder.unpack()).get(name));
    text.copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::contracts::CONTRACTS;
    use crate::runners::RUNNERS;
    use crate::schema::{SchemaFile, Text};
    use std::path::{Path, PathBuf};

    #[test]
    fn every_schema_has_the_text_of_its_file() {
        let contracts = CONTRACTS.iter().flat_map(|contract| contract.schemas.iter().chain(contract.document_schema));
        let surfaces = RUNNERS.iter().flat_map(|runner| runner.surfaces).flat_map(|surface| surface.schemas);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
        let mut compared = 0;
        for file in contracts.chain(surfaces) {
            let SchemaFile { kind, text: Text::Packed { folder, name } } = *file else {
                panic!("{} is not compressed", file.kind)
            };
            let path: PathBuf = match name {
                "document.json" => root.join(folder).join(name),
                _ => root.join(folder).join(format!("{kind}.schema.json")),
            };
            let wanted = std::fs::read_to_string(&path).unwrap();
            assert!(file.text() == wanted, "{}", path.display());
            compared += 1;
        }
        assert!(compared > 1000, "{compared}");
    }
}
