//! Opens a link with a secret in the user's browser.
//!
//! Input: a link, and `$BROWSER`. Output: a started browser, which reads the link from a file of the user. Never: the link in the arguments of a
//! program, where other users of the machine can read it.

use crate::clock::Clock;
use crate::platform::browsers::{DEFAULT, SEPARATOR};
use crate::platform::permissions::private;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The file that leads the browser to the link. It is removed with the value.
pub(super) struct Signpost(PathBuf);

impl Drop for Signpost {
    fn drop(&mut self) {
        // A file that stays leads to a link that no longer works.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Starts a browser: the first command that can be started. The link must have no character that is special in HTML.
pub(super) fn open(link: &str) -> io::Result<Signpost> {
    let signpost = signpost(link)?;
    let mut failed = None;
    for words in candidates(std::env::var("BROWSER").ok().as_deref()) {
        let Some((program, arguments)) = words.split_first() else { continue };
        match start(program, arguments, &signpost.0) {
            Ok(()) => return Ok(signpost),
            Err(error) => failed = Some(io::Error::new(error.kind(), format!("{program}: {error}"))),
        }
    }
    Err(failed.unwrap_or_else(|| ErrorKind::NotFound.into()))
}

fn signpost(link: &str) -> io::Result<Signpost> {
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = own.unwrap_or_else(std::env::temp_dir);
    let path = folder.join(format!("framegate-{}.html", Clock::System.new_id()));
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(&path)?;
    let made = Signpost(path);
    write!(
        file,
        "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; url={link}\"><title>framegate</title>"
    )?;
    Ok(made)
}

/// The commands that may start a browser, each as its words. `$BROWSER` has one or several.
fn candidates(chosen: Option<&str>) -> Vec<Vec<String>> {
    let commands = chosen.filter(|chosen| !chosen.trim().is_empty()).unwrap_or(DEFAULT);
    commands.split(SEPARATOR).map(|command| command.split_whitespace().map(str::to_owned).collect()).collect()
}

/// Starts a command with the file in place of `%s`, or else as its last argument.
fn start(program: &str, arguments: &[String], file: &Path) -> io::Result<()> {
    let mut command = Command::new(program);
    let has_place = arguments.iter().any(|argument| argument == "%s");
    for argument in arguments {
        match argument == "%s" {
            true => command.arg(file),
            false => command.arg(argument),
        };
    }
    if !has_place {
        command.arg(file);
    }
    let mut browser = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    // Waits for the browser, so that no zombie is left.
    std::thread::spawn(move || browser.wait());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::candidates;

    #[test]
    fn the_variable_for_browsers_has_commands_separated_by_colons() {
        let words = |chosen| candidates(chosen).iter().map(|words| words.join(" ")).collect::<Vec<_>>();
        assert_eq!(words(None), ["xdg-open", "open"]);
        assert_eq!(words(Some(" ")), ["xdg-open", "open"]);
        assert_eq!(words(Some("firefox  --new-window %s:chromium")), ["firefox --new-window %s", "chromium"]);
    }
}
