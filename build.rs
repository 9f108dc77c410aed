//! Compresses the page for `src/ui.rs`: browsers get it as it is here, so it is in the program in that form only. Asks for a main thread of the
//! usual size on Windows.

use flate2::{Compression, GzBuilder};
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// The files of `ui/dist`.
const FILES: [&str; 3] = ["index.html", "app.js", "app.css"];

/// The stack of the main thread on Windows, in bytes: as on Unix. The linker's default is an eighth of it.
const STACK_BYTES: u32 = 8 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    enlarge_stack();
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

/// Passes the size of the main thread's stack to the linker.
fn enlarge_stack() {
    if std::env::var_os("CARGO_CFG_WINDOWS").is_none() {
        return;
    }
    let is_msvc = std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|environment| environment == "msvc");
    let option = if is_msvc { format!("/STACK:{STACK_BYTES}") } else { format!("-Wl,--stack,{STACK_BYTES}") };
    println!("cargo::rustc-link-arg-bins={option}");
}
