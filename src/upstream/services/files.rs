//! Text files within the directory of a run.
//!
//! Input: absolute paths, as a runner writes them. Output: text. Never: a file outside the directory, whatever links or `..` lead
//! there; a device or a pipe; a file larger than the bound.

use crate::platform::contained::{self, ContainedDirectory};
use framegate_translators::host::ServiceError;
use std::io::{ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The files of one run.
#[derive(Clone)]
pub(super) struct Files {
    root: Arc<Path>,
    /// All access goes through it.
    dir: Arc<ContainedDirectory>,
    max_bytes: usize,
}

impl Files {
    /// Opens the directory, whose path has no links.
    pub(super) fn new(root: &Path, max_bytes: usize) -> std::io::Result<Self> {
        Ok(Self { root: root.into(), dir: Arc::new(ContainedDirectory::open(root)?), max_bytes })
    }

    /// Reads a text file: `lines` lines from line `first`, counted from 1.
    pub(super) fn read(&self, path: &str, first: Option<u64>, lines: Option<u64>) -> Result<String, ServiceError> {
        let within = self.within(path)?;
        let mut file = self.dir.read(&within).map_err(|error| failure(path, &error))?;
        let metadata = file.metadata().map_err(|error| failure(path, &error))?;
        if !metadata.is_file() {
            return Err(ServiceError::Refused(format!("{path:?} is not a file")));
        }
        let mut bytes = Vec::new();
        let most = self.max_bytes as u64;
        Read::by_ref(&mut file).take(most + 1).read_to_end(&mut bytes).map_err(|error| failure(path, &error))?;
        if bytes.len() as u64 > most {
            return Err(ServiceError::Refused(format!(
                "{path:?} has more than {most} bytes (upstream.max_file_bytes of the proxy)"
            )));
        }
        let text =
            String::from_utf8(bytes).map_err(|_| ServiceError::Failed(format!("{path:?} is not a text in UTF-8")))?;
        Ok(match (first, lines) {
            (None, None) => text,
            (first, lines) => part(&text, first.unwrap_or(1), lines).to_owned(),
        })
    }

    /// Writes a text file. Creates it, and the directories above it, if they do not exist.
    pub(super) fn write(&self, path: &str, content: &str) -> Result<(), ServiceError> {
        let within = self.within(path)?;
        if content.len() > self.max_bytes {
            let (bytes, most) = (content.len(), self.max_bytes);
            return Err(ServiceError::Refused(format!(
                "the content has {bytes} bytes, but at most {most} are allowed (upstream.max_file_bytes of the proxy)"
            )));
        }
        self.dir.create_above(&within).map_err(|error| failure(path, &error))?;
        // Truncated only once it is known to be a file.
        let mut file = self.dir.write(&within).map_err(|error| failure(path, &error))?;
        let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
        if !is_file {
            return Err(ServiceError::Refused(format!("{path:?} is not a file")));
        }
        let written = file.set_len(0).and_then(|()| file.write_all(content.as_bytes()));
        written.map_err(|error| failure(path, &error))
    }

    /// The path from the directory on.
    fn within(&self, path: &str) -> Result<PathBuf, ServiceError> {
        let given = Path::new(path);
        if !given.is_absolute() {
            return Err(ServiceError::Refused(format!("{path:?} is not an absolute path")));
        }
        // Only names go on to the handle: it cannot know that `..` above its directory is harmless.
        let mut plain = PathBuf::new();
        for component in given.components() {
            match component {
                Component::ParentDir => drop(plain.pop()),
                Component::CurDir => {}
                other => plain.push(other),
            }
        }
        let outside = || ServiceError::Refused(format!("{path:?} is outside the directory of the run"));
        let within = plain.strip_prefix(&self.root).map_err(|_| outside())?;
        if within.as_os_str().is_empty() {
            return Err(ServiceError::Refused(format!("{path:?} is the directory of the run")));
        }
        Ok(within.to_owned())
    }
}

/// The lines of a text from line `first` on.
fn part(text: &str, first: u64, lines: Option<u64>) -> &str {
    let skipped = usize::try_from(first.saturating_sub(1)).unwrap_or(usize::MAX);
    let behind = |text: &str, count: usize| match count {
        0 => 0,
        count => memchr::memchr_iter(b'\n', text.as_bytes()).nth(count - 1).map_or(text.len(), |at| at + 1),
    };
    let rest = text.get(behind(text, skipped)..).unwrap_or_default();
    let end = lines.map_or(rest.len(), |lines| behind(rest, usize::try_from(lines).unwrap_or(usize::MAX)));
    rest.get(..end).unwrap_or_default()
}

fn failure(path: &str, error: &std::io::Error) -> ServiceError {
    let cannot = || format!("{path:?} cannot be used: {error}");
    if error.kind() == ErrorKind::NotFound {
        return ServiceError::NotFound(format!("there is no file {path:?}"));
    }
    if contained::leads_outside(error) {
        return ServiceError::Refused(format!("{path:?} leads outside the directory of the run"));
    }
    if contained::is_unusable(error) { ServiceError::Refused(cannot()) } else { ServiceError::Failed(cannot()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn refused<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> String {
        match result {
            Err(ServiceError::Refused(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn files_are_read_and_written_within_the_directory_only() {
        let outer = std::env::temp_dir().join(format!("framegate-services-{}", std::process::id()));
        std::fs::create_dir_all(&outer).unwrap();
        let outer_path = outer.canonicalize().unwrap();
        let root = outer_path.join("run");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(outer_path.join("secret"), "secret").unwrap();
        symlink(outer_path.join("secret"), root.join("link")).unwrap();
        symlink("../secret", root.join("relative")).unwrap();
        symlink(&outer_path, root.join("up")).unwrap();
        std::fs::write(root.join("a.txt"), "one\ntwo\nthree").unwrap();
        symlink("a.txt", root.join("inner")).unwrap();
        let files = Files::new(&root, 100).unwrap();
        let at = |name: &str| root.join(name).to_str().unwrap().to_owned();
        assert_eq!(files.read(&at("a.txt"), None, None).unwrap(), "one\ntwo\nthree");
        assert_eq!(files.read(&at("inner"), Some(2), Some(1)).unwrap(), "two\n");
        assert_eq!(files.read(&at("sub/../a.txt"), Some(3), None).unwrap(), "three");
        assert_eq!(files.read(&at("a.txt"), Some(9), Some(u64::MAX)).unwrap(), "");
        assert!(matches!(files.read(&at("none"), None, None), Err(ServiceError::NotFound(_))));
        for path in [at("link"), at("relative"), at("up/secret"), at("../secret"), "/etc/passwd".to_owned()] {
            refused(files.read(&path, None, None));
            refused(files.write(&path, "changed"));
        }
        assert_eq!(std::fs::read_to_string(outer_path.join("secret")).unwrap(), "secret");
        refused(files.read("a.txt", None, None));
        refused(files.read(root.to_str().unwrap(), None, None));
        refused(files.write(&at("../run2/x"), ""));
        files.write(&at("new/sub/b.txt"), "new").unwrap();
        assert_eq!(std::fs::read_to_string(root.join("new/sub/b.txt")).unwrap(), "new");
        files.write(&at("new/sub/b.txt"), "n").unwrap();
        assert_eq!(std::fs::read_to_string(root.join("new/sub/b.txt")).unwrap(), "n");
        refused(files.write(&at("new"), "a directory"));
        files.write(&at("full"), &"x".repeat(100)).unwrap();
        assert_eq!(files.read(&at("full"), None, None).unwrap().len(), 100);
        assert!(refused(files.write(&at("large"), &"x".repeat(101))).contains("max_file_bytes"));
        std::fs::write(root.join("large"), "x".repeat(101)).unwrap();
        assert!(refused(files.read(&at("large"), Some(1), Some(1))).contains("max_file_bytes"));
        std::fs::write(root.join("binary"), [0xFF]).unwrap();
        assert!(matches!(files.read(&at("binary"), None, None), Err(ServiceError::Failed(_))));
        let pipe = rustix::fs::mknodat(
            rustix::fs::CWD,
            root.join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        );
        pipe.unwrap();
        // Neither waits for the other end of the pipe.
        refused(files.read(&at("pipe"), None, None));
        refused(files.write(&at("pipe"), ""));
        std::fs::remove_dir_all(outer_path).unwrap();
    }
}
