//! Single keys from the terminal on standard input.
//!
//! Input: the terminal. Output: keys, without waiting for a line end and without an echo. Never: a terminal that stays in this mode when the
//! command ends or is stopped; a key out of several that came at once, such as pasted text or an arrow.

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::thread;
use tokio::sync::mpsc;

/// The keys, and the mode of the terminal before.
pub(crate) struct Keys {
    before: Termios,
    keys: mpsc::Receiver<u8>,
}

impl Keys {
    /// Takes the keys of the terminal.
    ///
    /// # Errors
    /// Standard input is no terminal, or the system lets no thread start.
    pub(crate) fn open() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let (sender, keys) = mpsc::channel(8);
        let opened = Self { before, keys };
        opened.take()?;
        // It ends with the process.
        thread::Builder::new().name("keys".to_owned()).spawn(move || read(&sender))?;
        Ok(opened)
    }

    /// The next key. The future may be dropped without loss.
    pub(crate) async fn next(&mut self) -> Option<u8> {
        self.keys.recv().await
    }

    /// Sets the mode for single keys. Keys that were pressed before are discarded.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn take(&self) -> io::Result<()> {
        let mut mode = self.before.clone();
        mode.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        mode.special_codes[SpecialCodeIndex::VMIN] = 1;
        mode.special_codes[SpecialCodeIndex::VTIME] = 0;
        Ok(tcsetattr(io::stdin(), OptionalActions::Flush, &mode)?)
    }

    /// Sets the mode from before.
    pub(crate) fn restore(&self) {
        // The terminal may be closed.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.restore();
    }
}

fn read(keys: &mpsc::Sender<u8>) {
    // Not through the buffer of standard input: what comes at once must be seen as such.
    let Ok(terminal) = io::stdin().as_fd().try_clone_to_owned() else { return };
    let mut terminal = File::from(terminal);
    let mut bytes = [0; 64];
    loop {
        match terminal.read(&mut bytes) {
            Ok(0) => return,
            Ok(1) => {
                let [key, ..] = bytes;
                if keys.blocking_send(key).is_err() {
                    return;
                }
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
