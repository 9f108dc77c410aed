//! The console on standard output.

use console::Term;

/// Its columns and rows; `None` if there is no console.
pub(crate) fn size() -> Option<(usize, usize)> {
    let (rows, columns) = Term::stdout().size_checked()?;
    (columns > 0).then_some((usize::from(columns), usize::from(rows)))
}

/// Has the console obey escape sequences, and returns whether it does: those before Windows 10 do not.
pub(crate) fn obeys_escapes() -> bool {
    anstyle_query::windows::enable_ansi_colors().unwrap_or(false)
}
