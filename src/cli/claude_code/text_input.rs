//! A prompt from standard input.
//!
//! Input: the prompt of the command line, and standard input. Output: the whole prompt. Never: more than a bounded text; an endless wait for a
//! pipe that a prompt does not need.

use anyhow::{Context, bail};
use std::io::{ErrorKind, IsTerminal, Read};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The maximum size of a prompt, in bytes. The proxy has its own limit.
const MAX_BYTES: usize = 64 << 20;

/// How long a pipe that may be empty is waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// Reads the prompt. A text on standard input follows that of the command line.
///
/// # Errors
/// There is none, it is too long or no UTF-8, or standard input cannot be read.
pub(super) fn read(given: Option<&str>) -> anyhow::Result<String> {
    let given = given.filter(|text| !text.trim().is_empty());
    let piped = match std::io::stdin().is_terminal() {
        true => String::new(),
        false => piped(given.is_some())?,
    };
    let parts: Vec<&str> = given.into_iter().chain([piped.as_str()]).filter(|part| !part.trim().is_empty()).collect();
    match parts.is_empty() {
        true => bail!("Input must be provided either through stdin or as a prompt argument when using --print"),
        false => Ok(parts.join("\n")),
    }
}

/// Reads standard input to its end. If `may_be_empty`, a pipe without any text is given up after a while.
fn piped(may_be_empty: bool) -> anyhow::Result<String> {
    let (sender, chunks) = channel();
    thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut chunk = vec![0; 64 << 10];
        loop {
            let read = match input.read(&mut chunk) {
                Ok(0) => return,
                Ok(length) => Ok(chunk.get(..length).unwrap_or_default().to_vec()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let is_last = read.is_err();
            if sender.send(read).is_err() || is_last {
                return;
            }
        }
    })?;
    let mut text = Vec::new();
    if may_be_empty {
        match chunks.recv_timeout(PATIENCE) {
            Ok(chunk) => text = chunk.context("cannot read standard input")?,
            Err(RecvTimeoutError::Disconnected) => return Ok(String::new()),
            Err(RecvTimeoutError::Timeout) => {
                tracing::warn!("standard input has no text after 3 s: the prompt is that of the command line alone");
                return Ok(String::new());
            }
        }
    }
    while let Ok(chunk) = chunks.recv() {
        text.extend(chunk.context("cannot read standard input")?);
        if text.len() > MAX_BYTES {
            bail!("the prompt on standard input is longer than {MAX_BYTES} bytes");
        }
    }
    String::from_utf8(text).context("the prompt on standard input is not valid UTF-8")
}
