//! Files that are reached through one directory and never lie outside it, whatever links lead there.
//!
//! Only Linux is able to keep a path within a directory (`openat2`). Other systems refuse to open files.

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// An open directory.
#[derive(Debug)]
pub(crate) struct ContainedDirectory(OwnedFd);

impl ContainedDirectory {
    /// Opens the directory.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// Opens a file for reading; what is found may also be a device or a pipe.
    ///
    /// # Errors
    /// The system's error; see [`leads_outside`] and [`is_unusable`].
    pub(crate) fn read(&self, within: &Path) -> io::Result<File> {
        Ok(File::from(self.at(within, OFlags::RDONLY)?))
    }

    /// Opens a file for writing, and creates it if it does not exist. It is not truncated: what is found may also be a device or a pipe.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub(crate) fn write(&self, within: &Path) -> io::Result<File> {
        Ok(File::from(self.at(within, OFlags::WRONLY | OFlags::CREATE)?))
    }

    /// Creates the directories above a file.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub(crate) fn create_above(&self, within: &Path) -> io::Result<()> {
        let mut above = PathBuf::new();
        for name in within.parent().into_iter().flat_map(Path::components) {
            let parent = above.clone();
            above.push(name);
            match self.at(&above, OFlags::DIRECTORY | OFlags::RDONLY) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let start = if parent.as_os_str().is_empty() { Path::new(".") } else { &parent };
                    let parent = self.at(start, OFlags::DIRECTORY | OFlags::RDONLY)?;
                    let made = rustix::fs::mkdirat(parent, name.as_os_str(), Mode::from_raw_mode(0o777));
                    // Another process may have been faster.
                    made.or_else(|error| if error == Errno::EXIST { Ok(()) } else { Err(error) })?;
                }
                other => drop(other?),
            }
        }
        Ok(())
    }

    /// Opens a path. The system itself resolves links, and refuses those that lead outside, also if they change meanwhile.
    #[cfg(target_os = "linux")]
    fn at(&self, within: &Path, how: OFlags) -> io::Result<OwnedFd> {
        use rustix::fs::ResolveFlags;
        let mode = if how.contains(OFlags::CREATE) { Mode::from_raw_mode(0o666) } else { Mode::empty() };
        // Without waiting for the other end, if it is a pipe.
        let how = how | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        Ok(rustix::fs::openat2(&self.0, within, how, mode, ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn at(&self, _: &Path, _: OFlags) -> io::Result<OwnedFd> {
        Err(io::Error::new(ErrorKind::Unsupported, "files are only served on Linux"))
    }
}

/// Whether the error is what the system says about a link that leads outside.
pub(crate) fn leads_outside(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::XDEV | Errno::LOOP))
}

/// Whether the error lies in what was found at the path: it may not be used, or is nothing that can be opened like this.
pub(crate) fn is_unusable(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::ACCESS | Errno::PERM | Errno::ISDIR | Errno::NOTDIR | Errno::NXIO)
    )
}
