//! The `framegate` command: parses its arguments, calls the library and returns the exit code.

use clap::Parser;
use framegate::cli::{Cli, EXIT_FAILED, is_closed_pipe};
use std::io::Write;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: framegate::Allocator = framegate::ALLOCATOR;

fn main() -> ExitCode {
    match framegate::cli::run(Cli::parse()) {
        Ok(code) => code,
        // The reader closed the pipe because it needs no more output.
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // If stderr is closed too, the error cannot be reported.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(EXIT_FAILED)
        }
    }
}
