//! The terminal on standard output.

use rustix::termios::{Winsize, tcgetwinsize};
use std::io;

/// Its columns and rows; 0 rows if it does not report them. `None` if there is no terminal, or no columns are reported.
pub(crate) fn size() -> Option<(usize, usize)> {
    let Winsize { ws_col, ws_row, .. } = tcgetwinsize(io::stdout()).ok()?;
    (ws_col > 0).then_some((usize::from(ws_col), usize::from(ws_row)))
}

/// Whether terminals obey escape sequences.
pub(crate) fn obeys_escapes() -> bool {
    true
}
