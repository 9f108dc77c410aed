//! Which commands open a file in the user's browser.

/// The command that is used if `$BROWSER` names none: it opens a file with the program for its kind.
pub(crate) const DEFAULT: &str = "explorer";

/// What separates commands in `$BROWSER`. Paths contain colons.
pub(crate) const SEPARATOR: char = ';';
