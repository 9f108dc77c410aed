//! Environment variables.

use std::ffi::OsString;

/// The variable with the user's home directory.
pub(crate) const HOME: &str = "USERPROFILE";

/// Variables without which programs of the system do not work: where the system, its programs and the user's files are.
pub(crate) const NEEDED: &[&str] = &[
    "ALLUSERSPROFILE",
    "APPDATA",
    "COMMONPROGRAMFILES",
    "COMMONPROGRAMFILES(X86)",
    "COMMONPROGRAMW6432",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "PUBLIC",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERDOMAIN",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// The name by which a variable is known, in capitals: names do not differ by case.
pub(crate) fn known_name(name: OsString) -> OsString {
    name.to_ascii_uppercase()
}
