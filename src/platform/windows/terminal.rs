//! The console on standard output and standard error.

use console::Term;
use winapi_util::console::Console;

/// The columns and rows of that on standard output; `None` if there is no console.
pub(crate) fn size() -> Option<(usize, usize)> {
    let (rows, columns) = Term::stdout().size_checked()?;
    (columns > 0).then_some((usize::from(columns), usize::from(rows)))
}

/// Has a console on standard output obey escape sequences, and returns whether it does: those before Windows 10 do not.
pub(crate) fn stdout_obeys_escapes() -> bool {
    Console::stdout().is_ok_and(|mut console| console.set_virtual_terminal_processing(true).is_ok())
}

/// The same for a console on standard error.
pub(crate) fn stderr_obeys_escapes() -> bool {
    Console::stderr().is_ok_and(|mut console| console.set_virtual_terminal_processing(true).is_ok())
}
