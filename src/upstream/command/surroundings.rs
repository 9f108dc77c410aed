//! Where a run's program works, and which variables it has.
//!
//! In: what the upstream is set to, the directory that was asked for, the proxy's own environment. Out: a directory of the
//! list, and the variables. Never: a directory outside of the list, whatever links lead there; a variable that nobody named;
//! a secret in a message.

use crate::config::upstream::Command;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest file that can be a secret.
const MAX_SECRET: u64 = 64 << 10;

/// The directory that the program works in; `None`: where the proxy does.
///
/// # Errors
/// It is none, or none of those that runs may work in.
pub(super) fn directory(command: &Command, asked: Option<&str>) -> Result<Option<PathBuf>, String> {
    let resolved = |path: &Path| {
        let shown = path.display();
        let path = path.canonicalize().map_err(|error| format!("the directory {shown} cannot be used: {error}"))?;
        if path.is_dir() { Ok(path) } else { Err(format!("{shown} is no directory")) }
    };
    let Some(asked) = asked else {
        return command.directories.first().map(|first| resolved(first)).transpose();
    };
    if !Path::new(asked).is_absolute() {
        return Err(format!("the directory {asked:?} is no absolute path"));
    }
    let refused = || format!("runs of this upstream may not work in {asked:?} (upstream.directories)");
    // Whoever may not have a directory is not told whether there is one.
    let wanted = resolved(Path::new(asked)).map_err(|_| refused())?;
    let allowed = command.directories.iter().filter_map(|allowed| allowed.canonicalize().ok());
    if allowed.into_iter().any(|allowed| wanted.starts_with(allowed)) { Ok(Some(wanted)) } else { Err(refused()) }
}

/// The variables, and nothing else of the environment.
///
/// # Errors
/// A secret that is not there.
pub(super) fn variables(
    command: &Command,
    own: &dyn Fn(&str) -> Option<OsString>,
) -> Result<BTreeMap<String, OsString>, String> {
    let mut variables = BTreeMap::new();
    for name in &command.pass_environment {
        if let Some(value) = own(name) {
            variables.insert(name.clone(), value);
        }
    }
    for (name, value) in &command.environment {
        variables.insert(name.clone(), value.into());
    }
    for (name, of) in &command.secret_variables {
        let value = own(of).ok_or_else(|| format!("the secret {name} is in the variable {of}, which is not set"))?;
        variables.insert(name.clone(), value);
    }
    for (name, path) in &command.secret_files {
        let cannot =
            |why: &dyn std::fmt::Display| format!("the secret {name} in {} cannot be read: {why}", path.display());
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(|error| cannot(&error))?;
        let read = file.take(MAX_SECRET + 1).read_to_string(&mut text).map_err(|error| cannot(&error.kind()))?;
        let value = text.trim_end_matches(['\r', '\n']);
        if read as u64 > MAX_SECRET {
            return Err(cannot(&format!("it has more than {MAX_SECRET} bytes")));
        }
        if value.is_empty() || value.contains('\0') {
            return Err(cannot(&"it is empty, or no text"));
        }
        variables.insert(name.clone(), value.into());
    }
    Ok(variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("framegate-surroundings-{}-{name}", std::process::id()));
            std::fs::create_dir_all(path.join("work/deep")).unwrap();
            std::fs::create_dir_all(path.join("other")).unwrap();
            Self(path.canonicalize().unwrap())
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn no_way_leads_out_of_the_list() {
        let folder = Folder::new("list");
        let path = |name: &str| folder.0.join(name).display().to_string();
        std::os::unix::fs::symlink(path("other"), path("work/link")).unwrap();
        std::os::unix::fs::symlink(path("work/deep"), path("inside")).unwrap();
        let command = Command { directories: vec![path("work").into()], ..Command::default() };
        assert_eq!(directory(&command, None), Ok(Some(path("work").into())));
        assert_eq!(directory(&command, Some(&path("work/deep"))), Ok(Some(path("work/deep").into())));
        assert_eq!(directory(&command, Some(&path("inside"))), Ok(Some(path("work/deep").into())));
        for outside in ["other", "work/../other", "work/link", "work/none", "", "workother"] {
            let told = directory(&command, Some(&path(outside))).unwrap_err();
            assert!(told.contains("upstream.directories"), "{outside}: {told}");
        }
        assert!(directory(&command, Some("work")).unwrap_err().contains("absolute"));
        assert_eq!(directory(&Command::default(), None), Ok(None));
        assert!(directory(&Command::default(), Some(&path("work"))).is_err());
        let gone = Command { directories: vec![path("gone").into()], ..Command::default() };
        assert!(directory(&gone, None).unwrap_err().contains("cannot be used"));
    }

    #[test]
    fn only_what_is_named_is_passed_and_secrets_are_read_where_they_are() {
        let folder = Folder::new("secrets");
        let file = folder.0.join("key");
        std::fs::write(&file, "from a file\n").unwrap();
        let mut command = Command {
            pass_environment: vec!["HOME".to_owned(), "ABSENT".to_owned()],
            environment: [("A".to_owned(), "a".to_owned())].into(),
            secret_files: [("FILE_KEY".to_owned(), file.clone())].into(),
            secret_variables: [("VARIABLE_KEY".to_owned(), "OURS".to_owned())].into(),
            ..Command::default()
        };
        let own = |name: &str| match name {
            "HOME" => Some(OsString::from("/home")),
            "OURS" => Some(OsString::from("of ours")),
            "PATH" => Some(OsString::from("/bin")),
            _ => None,
        };
        let found = variables(&command, &own).unwrap();
        let found: Vec<(&str, &str)> =
            found.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        let expected = [("A", "a"), ("FILE_KEY", "from a file"), ("HOME", "/home"), ("VARIABLE_KEY", "of ours")];
        assert_eq!(found, expected);
        command.secret_variables.insert("VARIABLE_KEY".to_owned(), "NONE".to_owned());
        assert!(variables(&command, &own).unwrap_err().contains("VARIABLE_KEY is in the variable NONE"));
        command.secret_variables.clear();
        for (text, expected) in [("", "empty"), ("a\0b", "no text")] {
            std::fs::write(&file, text).unwrap();
            let told = variables(&command, &own).unwrap_err();
            assert!(told.contains("FILE_KEY") && told.contains(expected), "{told}");
        }
        std::fs::write(&file, "k".repeat(64 << 10)).unwrap();
        assert!(variables(&command, &own).is_ok());
        std::fs::write(&file, "k".repeat((64 << 10) + 1)).unwrap();
        let told = variables(&command, &own).unwrap_err();
        assert!(told.contains("more than 65536 bytes") && !told.contains("kk"), "{told}");
    }
}
