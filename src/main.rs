//! The `framegate` command: reads its arguments, calls the library, chooses the exit code.

use clap::Parser;
use framegate::cli::{Cli, EXIT_FAILED, is_closed_pipe};
use std::io::Write;
use std::process::ExitCode;

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    match framegate::cli::run(Cli::parse()) {
        Ok(code) => code,
        // Whoever read our output has seen enough.
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to be told, should stderr be closed too.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(EXIT_FAILED)
        }
    }
}
