//! Environment variables.

use std::ffi::OsString;

/// The variable with the user's home directory.
pub(crate) const HOME: &str = "HOME";

/// Variables without which programs of the system do not work: none beyond those of every system.
pub(crate) const NEEDED: &[&str] = &[];

/// The name by which a variable is known: names differ by case.
pub(crate) fn known_name(name: OsString) -> OsString {
    name
}
