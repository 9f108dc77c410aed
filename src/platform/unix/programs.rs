//! Which file a program's name means.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Where the system looks for programs if there is no `PATH`.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// The program to start: the name itself, which the system looks up.
pub(crate) fn found(name: &str, _: &BTreeMap<OsString, OsString>) -> OsString {
    name.into()
}

/// Whether there is no program with this name now. A relative path is never missing: it depends on the run's directory.
pub(crate) fn is_missing(name: &str, variables: &BTreeMap<OsString, OsString>) -> bool {
    if name.contains('/') {
        return Path::new(name).is_absolute() && !is_program(Path::new(name));
    }
    let path = variables.get(OsStr::new("PATH")).map_or(OsStr::new(USUAL_PATH), OsString::as_os_str);
    !std::env::split_paths(path).any(|folder| is_program(&folder.join(name)))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_looked_up_in_the_path_of_the_run() {
        let path = |path: &str| BTreeMap::from([(OsString::from("PATH"), OsString::from(path))]);
        assert!(!is_missing("sh", &path("/none:/bin")));
        assert!(!is_missing("sh", &BTreeMap::new()));
        assert!(is_missing("sh", &path("/none")));
        assert!(is_missing("no-such-program", &path("/bin")));
        assert!(!is_missing("/bin/sh", &path("/none")));
        assert!(is_missing("/bin/no-such-program", &path("/bin")));
        // Files that are no programs, and directories.
        assert!(is_missing("passwd", &path("/etc")));
        assert!(is_missing("/bin", &path("/bin")));
        assert!(!is_missing("./perhaps", &path("/bin")));
    }
}
