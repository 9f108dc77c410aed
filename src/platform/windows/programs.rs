//! Which file a program's name means.
//!
//! The system finds `.exe` files only. Runners that npm installed are `.cmd` scripts, which the standard library starts through `cmd.exe` if
//! their path says so; it refuses arguments that `cmd.exe` would not pass on as they are, such as one with several lines.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The ends of names of programs that can be started, in the order in which they are tried.
const ENDS: &[&str] = &["exe", "com", "cmd", "bat"];

/// The program to start: the first file in a folder of `PATH` (in these variables, whose names are in capitals) with this name, or with this
/// name and one of the ends. The name itself if there is none: the system then says so.
pub(crate) fn found(name: &str, variables: &BTreeMap<OsString, OsString>) -> OsString {
    search_in(name, variables).map_or_else(|| name.into(), PathBuf::into_os_string)
}

/// Whether there is no program with this name now. A relative path is never missing: it depends on the run's directory.
pub(crate) fn is_missing(name: &str, variables: &BTreeMap<OsString, OsString>) -> bool {
    let path = Path::new(name);
    (path.is_absolute() || path.components().count() == 1) && search_in(name, variables).is_none()
}

fn search_in(name: &str, variables: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    let path = variables.get(OsStr::new("PATH")).map(OsString::as_os_str).unwrap_or_default();
    search(Path::new(name), path, |file| file.is_file())
}

fn search(name: &Path, path: &OsStr, is_file: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let has_end = name.extension().is_some_and(|end| ENDS.iter().any(|known| end.eq_ignore_ascii_case(known)));
    let at = |place: PathBuf| {
        let ended = ENDS.iter().filter(|_| !has_end).map(|end| {
            let mut file = place.clone().into_os_string();
            file.push(".");
            file.push(end);
            PathBuf::from(file)
        });
        has_end.then(|| place.clone()).into_iter().chain(ended).find(|file| is_file(file))
    };
    if name.components().count() > 1 || name.is_absolute() {
        return at(name.to_owned());
    }
    // A relative folder would depend on where the proxy runs.
    std::env::split_paths(path).filter(|folder| folder.is_absolute()).find_map(|folder| at(folder.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_found_beside_programs() {
        let files = [r"C:\a\run.cmd", r"C:\b\run.exe", r"C:\b\other.exe"];
        let found = |name: &str| {
            let found = search(Path::new(name), OsStr::new(r"rel;C:\a;C:\b"), |file| {
                files.iter().any(|known| Path::new(known) == file)
            });
            found.map(|path| path.display().to_string())
        };
        assert_eq!(found("run").as_deref(), Some(r"C:\a\run.cmd"));
        assert_eq!(found("run.exe").as_deref(), Some(r"C:\b\run.exe"));
        assert_eq!(found("other").as_deref(), Some(r"C:\b\other.exe"));
        assert_eq!(found(r"C:\b\run").as_deref(), Some(r"C:\b\run.exe"));
        assert_eq!(found("none"), None);
    }

    #[test]
    fn a_relative_path_is_never_missing() {
        let none = BTreeMap::new();
        assert!(is_missing("no-such-program", &none));
        assert!(is_missing(r"C:\no-such-folder\no-such-program.exe", &none));
        assert!(!is_missing(r".\perhaps", &none));
    }
}
