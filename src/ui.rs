//! The page in a browser: three files that `npm run build --prefix ui` writes, as part of this program. `build.rs` compresses them.
//!
//! Input: none. Output: the texts, compressed or not. Never: a file that is read at run time.

use flate2::read::GzDecoder;
use std::io::Read;
use std::sync::OnceLock;

/// A file of the page.
pub struct File {
    gzip: &'static [u8],
    text: OnceLock<String>,
}

impl File {
    const fn new(gzip: &'static [u8]) -> Self {
        Self { gzip, text: OnceLock::new() }
    }

    /// The file, compressed with gzip.
    pub fn gzip(&self) -> &'static [u8] {
        self.gzip
    }

    /// The file, which is decompressed at the first call.
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| {
            let mut text = String::new();
            // Reading from memory does not fail, and a test reads each file.
            let _ = GzDecoder::new(self.gzip).read_to_string(&mut text);
            text
        })
    }
}

/// The document. It refers to the script as `/app.js` and to the style sheet as `/app.css`.
pub static INDEX: File = File::new(include_bytes!(concat!(env!("OUT_DIR"), "/index.html.gz")));

/// The script, an ECMAScript module without imports.
pub static SCRIPT: File = File::new(include_bytes!(concat!(env!("OUT_DIR"), "/app.js.gz")));

/// The style sheet.
pub static STYLE: File = File::new(include_bytes!(concat!(env!("OUT_DIR"), "/app.css.gz")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_the_text_that_was_built() {
        for (file, name) in [(&INDEX, "index.html"), (&SCRIPT, "app.js"), (&STYLE, "app.css")] {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/dist").join(name);
            assert!(file.text() == std::fs::read_to_string(path).unwrap(), "{name}");
            assert!(file.gzip().len() < file.text().len(), "{name}");
        }
    }

    #[test]
    fn the_page_refers_to_its_own_files_and_has_nothing_inline() {
        let index = INDEX.text();
        for attribute in [" src=\"", " href=\""] {
            for value in index.split(attribute).skip(1).map(|rest| rest.split('"').next().unwrap_or_default()) {
                assert!(["/app.js", "/app.css"].contains(&value) || value.starts_with("data:image/"), "{value}");
            }
        }
        for wrong in ["<style", " style=", " onload=", "javascript:", "<base", "<iframe"] {
            assert!(!index.contains(wrong), "{wrong}: {index}");
        }
        for script in index.split("<script").skip(1) {
            assert!(script.contains("src=\"/app.js\"") && script.contains("></script>"), "{script}");
        }
        assert!(index.contains("\"/app.css\""), "{index}");
    }

    #[test]
    fn the_style_sheet_loads_nothing() {
        for wrong in ["@import", "url("] {
            assert!(!STYLE.text().contains(wrong), "{wrong}");
        }
    }
}
