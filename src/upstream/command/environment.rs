//! The working directory and the environment variables of a run's program.
//!
//! Input: the upstream's settings, the requested directory, the proxy's own environment. Output: a directory within the
//! allowed ones, and the variables. Never: a directory outside the allowed ones, whatever links lead there; a variable that
//! neither the configuration nor the preset names; a secret in a message.

use crate::config::upstream::{Command, environment};
use crate::platform::variables::known_name;
use crate::platform::{paths, programs};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest file that is accepted as a secret, in bytes.
const MAX_SECRET: u64 = 64 << 10;

/// The program's working directory; `None`: that of the proxy.
///
/// # Errors
/// The path is not a directory, or runs of the upstream may not work in it.
pub(super) fn directory(command: &Command, asked: Option<&str>) -> Result<Option<PathBuf>, String> {
    let Some(asked) = asked else {
        return command.directories.first().map(|first| resolved(first)).transpose();
    };
    if !Path::new(asked).is_absolute() {
        return Err(format!("the directory {asked:?} is not an absolute path"));
    }
    let refused = || format!("runs of this upstream may not work in {asked:?} (upstream.directories)");
    // Do not reveal whether a directory that is not allowed exists.
    let wanted = resolved(Path::new(asked)).map_err(|_| refused())?;
    let allowed = command.directories.iter().filter_map(|allowed| paths::canonical(allowed).ok());
    if allowed.into_iter().any(|allowed| wanted.starts_with(allowed)) { Ok(Some(wanted)) } else { Err(refused()) }
}

fn resolved(path: &Path) -> Result<PathBuf, String> {
    let shown = path.display();
    let path = paths::canonical(path).map_err(|error| format!("cannot use the directory {shown}: {error}"))?;
    if path.is_dir() { Ok(path) } else { Err(format!("{shown} is not a directory")) }
}

/// The name or path of the program.
pub(super) fn program(command: &Command) -> &str {
    if command.program.is_empty() { command.preset.program() } else { &command.program }
}

/// What would keep runs from starting now: directories, secrets and the program, if they are missing.
pub(super) fn missing(command: &Command, own: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<String> {
    let directories = command.directories.iter().filter_map(|path| resolved(path).err());
    let program = |variables: BTreeMap<OsString, OsString>| {
        let name = program(command);
        programs::is_missing(name, &variables).then(|| {
            if Path::new(name).is_absolute() {
                format!("{name} is not a program")
            } else {
                format!("the program {name} is not in the PATH of the upstream: install it, or set upstream.program to its path")
            }
        })
    };
    directories.chain(variables(command, own).map_or_else(Some, program)).collect()
}

/// The program's variables; it receives nothing else from the environment.
///
/// # Errors
/// A secret is missing or cannot be read.
pub(super) fn variables(
    command: &Command,
    own: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<BTreeMap<OsString, OsString>, String> {
    let own: BTreeMap<OsString, OsString> = own.into_iter().map(|(name, value)| (known_name(name), value)).collect();
    let listed: Vec<&str> = match &command.pass_environment {
        Some(listed) => listed.iter().map(String::as_str).collect(),
        None => environment::passed(command.preset).collect(),
    };
    // A name that is not Unicode passes only if all names do (`*`).
    let is_passed = |name: &OsString| match name.to_str() {
        Some(name) => listed.iter().any(|listed| environment::is_meant(listed, name)),
        None => listed.contains(&"*"),
    };
    let mut variables: BTreeMap<OsString, OsString> =
        own.iter().filter(|(name, _)| is_passed(name)).map(|(name, value)| (name.clone(), value.clone())).collect();
    for (name, value) in &command.environment {
        variables.insert(known_name(name.into()), value.into());
    }
    for (name, of) in &command.secret_variables {
        let value = own
            .get(&known_name(of.into()))
            .cloned()
            .ok_or_else(|| format!("the secret {name} comes from the variable {of}, which is not set"))?;
        variables.insert(known_name(name.into()), value);
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
            return Err(cannot(&"it is empty, or contains NUL"));
        }
        variables.insert(known_name(name.into()), value.into());
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
    fn directories_outside_the_list_are_unreachable() {
        let folder = Folder::new("list");
        let path = |name: &str| folder.0.join(name).display().to_string();
        std::os::unix::fs::symlink(path("other"), path("work/link")).unwrap();
        std::os::unix::fs::symlink(path("work/deep"), path("inside")).unwrap();
        let sh = || "/bin/sh".to_owned();
        let command = Command { program: sh(), directories: vec![path("work").into()], ..Command::default() };
        assert_eq!(directory(&command, None), Ok(Some(path("work").into())));
        assert_eq!(directory(&command, Some(&path("work/deep"))), Ok(Some(path("work/deep").into())));
        assert_eq!(directory(&command, Some(&path("inside"))), Ok(Some(path("work/deep").into())));
        for outside in ["other", "work/../other", "work/link", "work/none", "", "workother"] {
            let message = directory(&command, Some(&path(outside))).unwrap_err();
            assert!(message.contains("upstream.directories"), "{outside}: {message}");
        }
        assert!(directory(&command, Some("work")).unwrap_err().contains("absolute"));
        assert_eq!(directory(&Command::default(), None), Ok(None));
        assert!(directory(&Command::default(), Some(&path("work"))).is_err());
        let gone = Command { directories: vec![path("gone").into()], ..Command::default() };
        assert!(directory(&gone, None).unwrap_err().contains("cannot use the directory"));
        assert!(missing(&gone, []).concat().contains("cannot use the directory"));
        assert_eq!(missing(&command, []), Vec::<String>::new());
        let command = Command { program: "no-such-program".to_owned(), ..Command::default() };
        let own = [(OsString::from("PATH"), OsString::from("/bin"))];
        assert!(
            missing(&command, own).concat().contains("the program no-such-program is not in the PATH of the upstream")
        );
        let command = Command { program: path("work"), ..command };
        assert!(missing(&command, []).concat().contains("work is not a program"));
    }

    #[test]
    fn only_listed_variables_are_passed_and_secrets_are_read_from_their_sources() {
        let folder = Folder::new("secrets");
        let file = folder.0.join("key");
        std::fs::write(&file, "from a file\n").unwrap();
        let mut command = Command {
            pass_environment: Some(vec!["HOME".to_owned(), "ABSENT".to_owned(), "SOME_*".to_owned()]),
            environment: [("A".to_owned(), "a".to_owned())].into(),
            secret_files: [("FILE_KEY".to_owned(), file.clone())].into(),
            secret_variables: [("VARIABLE_KEY".to_owned(), "OURS".to_owned())].into(),
            ..Command::default()
        };
        let own = || {
            [("HOME", "/home"), ("OURS", "of ours"), ("PATH", "/bin"), ("SOME_A", "1"), ("SOME_B", "2"), ("SOM", "3")]
                .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        };
        let passed = |command: &Command| -> Vec<(String, String)> {
            let text = |text: OsString| text.into_string().unwrap();
            variables(command, own()).unwrap().into_iter().map(|(name, value)| (text(name), text(value))).collect()
        };
        let expected = [
            ("A", "a"),
            ("FILE_KEY", "from a file"),
            ("HOME", "/home"),
            ("SOME_A", "1"),
            ("SOME_B", "2"),
            ("VARIABLE_KEY", "of ours"),
        ];
        assert_eq!(passed(&command), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let names = |pass_environment| -> Vec<String> {
            passed(&Command { pass_environment, ..Command::default() }).into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names(None), ["HOME", "PATH"]);
        assert_eq!(names(Some(Vec::new())), Vec::<String>::new());
        assert_eq!(names(Some(vec!["*".to_owned()])), ["HOME", "OURS", "PATH", "SOM", "SOME_A", "SOME_B"]);
        command.secret_variables.insert("VARIABLE_KEY".to_owned(), "NONE".to_owned());
        assert!(variables(&command, own()).unwrap_err().contains("VARIABLE_KEY comes from the variable NONE"));
        assert!(missing(&command, own()).concat().contains("VARIABLE_KEY comes from the variable NONE"));
        command.secret_variables.clear();
        for (text, expected) in [("", "empty"), ("a\0b", "contains NUL")] {
            std::fs::write(&file, text).unwrap();
            let message = variables(&command, own()).unwrap_err();
            assert!(message.contains("FILE_KEY") && message.contains(expected), "{message}");
        }
        std::fs::write(&file, "k".repeat(64 << 10)).unwrap();
        assert!(variables(&command, own()).is_ok());
        std::fs::write(&file, "k".repeat((64 << 10) + 1)).unwrap();
        let message = variables(&command, own()).unwrap_err();
        assert!(message.contains("more than 65536 bytes") && !message.contains("kk"), "{message}");
    }
}
