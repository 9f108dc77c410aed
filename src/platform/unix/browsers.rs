//! Which commands open a file in the user's browser.

/// The commands that are tried if `$BROWSER` names none, in the form of `$BROWSER`.
pub(crate) const DEFAULT: &str = "xdg-open:open";

/// What separates commands in `$BROWSER`.
pub(crate) const SEPARATOR: char = ':';
