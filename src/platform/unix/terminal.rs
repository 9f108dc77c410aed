//! The terminal on standard output and standard error.

use rustix::termios::{Winsize, tcgetwinsize};
use std::io;

/// The columns and rows of that on standard output; 0 rows if it does not report them. `None` if there is no terminal, or no columns are reported.
pub(crate) fn size() -> Option<(usize, usize)> {
    let Winsize { ws_col, ws_row, .. } = tcgetwinsize(io::stdout()).ok()?;
    (ws_col > 0).then_some((usize::from(ws_col), usize::from(ws_row)))
}

/// Whether a terminal on standard output obeys escape sequences.
pub(crate) fn stdout_obeys_escapes() -> bool {
    true
}

/// Whether a terminal on standard error obeys escape sequences.
pub(crate) fn stderr_obeys_escapes() -> bool {
    true
}
