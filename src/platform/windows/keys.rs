//! Single keys from the console on standard input.
//!
//! Input: key events. Output: keys, without waiting for a line end and without an echo. Never: a key out of several that came at once, such
//! as pasted text.

use console::{Key, Term};
use std::io;
use std::sync::mpsc::{self as blocking, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc;

/// How soon after another key one counts as having come with it. A console passes pasted text on as single keys.
const AT_ONCE: Duration = Duration::from_millis(20);

/// The keys.
pub(crate) struct Keys {
    keys: mpsc::Receiver<u8>,
}

impl Keys {
    /// Takes the keys of the console.
    ///
    /// # Errors
    /// Standard output is no console, or the system lets no thread start.
    pub(crate) fn open() -> io::Result<Self> {
        // Keys of something else would be read without an end.
        if !Term::stdout().is_term() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "standard output is no console"));
        }
        let (pressed, all) = blocking::channel();
        let (sender, keys) = mpsc::channel(8);
        // Both end with the process.
        thread::Builder::new().name("keys".to_owned()).spawn(move || {
            while let Ok(key) = Term::stdout().read_key() {
                if pressed.send(key).is_err() {
                    return;
                }
            }
        })?;
        thread::Builder::new().name("single keys".to_owned()).spawn(move || pass_on(&all, &sender))?;
        Ok(Self { keys })
    }

    /// The next key. The future may be dropped without loss.
    pub(crate) async fn next(&mut self) -> Option<u8> {
        self.keys.recv().await
    }

    /// Does nothing: key events do not depend on a mode of the console.
    ///
    /// # Errors
    /// None; other systems have some.
    pub(crate) fn take(&self) -> io::Result<()> {
        Ok(())
    }

    /// Does nothing, like [`take`](Self::take).
    pub(crate) fn restore(&self) {}
}

/// Passes on keys that came alone.
fn pass_on(all: &Receiver<Key>, keys: &mpsc::Sender<u8>) {
    while let Ok(key) = all.recv() {
        let mut is_alone = true;
        loop {
            match all.recv_timeout(AT_ONCE) {
                Ok(_) => is_alone = false,
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        let byte = match key {
            Key::Char(letter) if is_alone => u8::try_from(letter).ok(),
            Key::Enter if is_alone => Some(b'\n'),
            _ => None,
        };
        if let Some(byte) = byte.filter(u8::is_ascii)
            && keys.blocking_send(byte).is_err()
        {
            return;
        }
    }
}
