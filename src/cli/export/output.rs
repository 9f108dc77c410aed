//! Where an export is written.
//!
//! Input: a path, and whether what is there may be replaced. Output: the whole file, or none. Never: a file that is overwritten without
//! being asked for; a part of a file, if it can be helped; a pipe or a device that is replaced by a file; a replaced file that more
//! people can read than before.

use super::super::input::{self, shown};
use crate::platform::paths;
use anyhow::{Context, bail};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub(super) enum Output {
    Stdout,
    /// A file that must not exist.
    New(PathBuf),
    /// A file that is replaced. It keeps its permissions.
    Replaced(PathBuf, Permissions),
    /// A pipe or a device.
    Stream(PathBuf),
}

impl Output {
    /// Checks that the file may be written, before anything is read.
    pub(super) fn new(path: &Path, force: bool) -> anyhow::Result<Self> {
        if input::is_stdin(path) {
            return Ok(Self::Stdout);
        }
        if path.symlink_metadata().is_err() {
            return Ok(Self::New(path.to_owned()));
        }
        // A link is followed: what it points to is replaced.
        let target = paths::canonical(path).with_context(|| format!("cannot write {}", shown(path)))?;
        let there = target.metadata().with_context(|| format!("cannot write {}", shown(path)))?;
        if there.is_dir() {
            bail!("{} is a directory; name a file", shown(path));
        }
        if !there.is_file() {
            return Ok(Self::Stream(target));
        }
        if !force {
            bail!("{} exists; --force replaces it", shown(path));
        }
        Ok(Self::Replaced(target, there.permissions()))
    }

    pub(super) fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        let (path, written) = match self {
            Self::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(bytes)?;
                return Ok(stdout.flush()?);
            }
            Self::New(path) => (path, create(path, bytes, None)),
            Self::Replaced(path, permissions) => (path, replace(path, bytes, permissions)),
            Self::Stream(path) => {
                (path, OpenOptions::new().write(true).open(path).and_then(|mut stream| stream.write_all(bytes)))
            }
        };
        written.with_context(|| format!("cannot write {}", shown(path)))
    }
}

/// Creates a file that does not exist. A failure leaves none.
fn create(path: &Path, bytes: &[u8], permissions: Option<&Permissions>) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let permitted = permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions.clone()));
    let written = permitted.and_then(|()| file.write_all(bytes));
    if written.is_err() {
        // The error of the write is the one that counts.
        let _ = fs::remove_file(path);
    }
    written
}

/// Replaces a file as a whole, so that a failure leaves the old one.
fn replace(path: &Path, bytes: &[u8], permissions: &Permissions) -> io::Result<()> {
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".part-{}", std::process::id()));
    let part = path.with_file_name(name);
    create(&part, bytes, Some(permissions))?;
    let renamed = fs::rename(&part, path);
    if renamed.is_err() {
        let _ = fs::remove_file(&part);
    }
    renamed
}
