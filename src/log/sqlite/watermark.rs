//! The watermark: how far the log had got, in a file beside the database, `<path>-mark`.
//!
//! Input: the position after the last commit. Output: the same, on a later start. Never: a commit that fails because of it.
//!
//! SQLite treats a damaged write-ahead log as one that ends before the damage, and silently drops all later commits. It cannot
//! change this file. The file is written after each commit and not synced: after a power failure it may be older than the
//! database, but never newer than what was acknowledged.
//!
//! After its single line the file is padded. The padding is given up if the disk is so full that the database cannot even be
//! opened: that needs a file for the memory that its connections share.

use crate::platform::files::write_all_at;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum length of the line.
const LINE: u64 = 256;

/// Length of the file with its padding.
const RESERVE: usize = 256 << 10;

/// The start of the line; the number is the version of the format.
const BEGIN: &str = "framegate-mark 1";

/// The open watermark file.
#[derive(Debug)]
pub(super) struct Watermark {
    file: Option<File>,
    database: String,
    has_failed: bool,
}

impl Watermark {
    /// Opens the file. Returns the position that it records for that database.
    pub(super) fn open(path: &Path, database: &[u8]) -> (Self, Option<u64>) {
        let marked = read(path, database);
        let file = File::options().create(true).truncate(false).write(true).open(beside(path));
        if let Err(error) = &file {
            let path = beside(path);
            tracing::warn!(path = %path.display(), %error, "the position of the frame log cannot be written");
        }
        if let Ok(file) = &file
            && file.metadata().is_ok_and(|found| found.len() < RESERVE as u64)
        {
            // If there is no room for the padding now, a later start tries again.
            let _ = write_all_at(file, &vec![0; RESERVE - LINE as usize], LINE);
        }
        (Self { file: file.ok(), database: hex(database), has_failed: false }, marked)
    }

    /// Records that frames up to that position are committed.
    pub(super) fn write(&mut self, next_position: u64) {
        let Some(file) = &self.file else { return };
        let text = format!("{BEGIN} {} {next_position:020}", self.database);
        let line = format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes()));
        let written = write_all_at(file, line.as_bytes(), 0);
        if let (Err(error), false) = (&written, self.has_failed) {
            tracing::warn!(%error, "the position of the frame log cannot be written");
        }
        self.has_failed = written.is_err();
    }
}

/// The position recorded beside a database; `None` if there is none, or it is for another database.
pub(crate) fn read(path: &Path, database: &[u8]) -> Option<u64> {
    let mut line = String::new();
    File::open(beside(path)).ok()?.take(LINE).read_to_string(&mut line).ok()?;
    let (text, checksum) = line.lines().next()?.rsplit_once(' ')?;
    let is_whole = u32::from_str_radix(checksum, 16).is_ok_and(|sum| sum == crc32fast::hash(text.as_bytes()));
    let (of, position) = text.strip_prefix(BEGIN)?.trim_start().split_once(' ')?;
    if !is_whole || of != hex(database) {
        return None;
    }
    position.parse().ok()
}

/// Removes the padding. Returns whether there was any.
pub(super) fn give_up_reserve(path: &Path) -> bool {
    let Ok(file) = File::options().write(true).open(beside(path)) else { return false };
    file.metadata().is_ok_and(|found| found.len() > LINE) && file.set_len(LINE).is_ok()
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-mark");
    PathBuf::from(name)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watermark_is_read_back_only_for_its_own_database() {
        let path = std::env::temp_dir().join(format!("framegate-watermark-{}", std::process::id()));
        let (mut watermark, before) = Watermark::open(&path, b"one");
        assert_eq!(before, None);
        for position in [1, u64::MAX, 7] {
            watermark.write(position);
            assert_eq!((read(&path, b"one"), read(&path, b"other")), (Some(position), None));
        }
        let mut damaged = std::fs::read(beside(&path)).unwrap();
        assert_eq!(damaged.len(), RESERVE);
        for at in 0..damaged.iter().position(|byte| *byte == b'\n').unwrap() {
            damaged[at] ^= 1;
            std::fs::write(beside(&path), &damaged).unwrap();
            assert_eq!(read(&path, b"one"), None, "{at}");
            damaged[at] ^= 1;
        }
        assert!(give_up_reserve(&path) && !give_up_reserve(&path));
        std::fs::write(beside(&path), &damaged[..LINE as usize]).unwrap();
        let (_, after) = Watermark::open(&path, b"one");
        assert_eq!((after, std::fs::metadata(beside(&path)).unwrap().len()), (Some(7), RESERVE as u64));
        std::fs::remove_file(beside(&path)).unwrap();
    }
}
