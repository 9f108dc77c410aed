//! Compresses the page for `src/ui.rs`: browsers get it as it is here, so it is in the program in that form only.

use flate2::{Compression, GzBuilder};
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// The files of `ui/dist`.
const FILES: [&str; 3] = ["index.html", "app.js", "app.css"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    // Cargo sets the variable if the feature is selected, and runs this program again if the selection changes.
    if std::env::var_os("CARGO_FEATURE_UI").is_none() {
        return Ok(());
    }
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let dist = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("ui/dist");
    for name in FILES {
        let path = dist.join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        // Without a time or a system, so that a build can be reproduced.
        let mut encoder = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
        encoder.write_all(&text)?;
        fs::write(out.join(format!("{name}.gz")), encoder.finish()?)?;
    }
    Ok(())
}
