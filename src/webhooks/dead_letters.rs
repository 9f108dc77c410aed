//! Deliveries that were given up, each in a file of its own.
//!
//! Input: deliveries. Output: files that outlive the process, until a delivery succeeds after all. Never: more files than the bound; a file with a part
//! of a delivery; a file that other users can read.

use crate::platform::files::sync_directory;
use crate::platform::permissions::private;
use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The end of the names of files.
const SUFFIX: &str = ".json";

/// A delivery that was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// The `webhook-id`.
    pub id: String,
    /// The name of the endpoint.
    pub webhook: String,
    /// The kind of event.
    pub r#type: String,
    /// The run.
    pub run_id: Uuid,
    /// When it happened, in Unix epoch milliseconds.
    pub at_ms: u64,
    /// When the delivery was given up, in Unix epoch milliseconds.
    pub given_up_ms: u64,
    /// How many attempts were made.
    pub attempts: u32,
    /// Why the delivery was given up.
    pub error: String,
    /// The body of the request, which is JSON.
    pub body: String,
}

/// The folder of these files.
#[derive(Clone, Debug)]
pub struct DeadLetters {
    folder: PathBuf,
    most: usize,
}

impl DeadLetters {
    /// The files in a folder, at most so many. The folder is created when it is needed.
    pub fn at(folder: &Path, most: usize) -> Self {
        Self { folder: folder.to_owned(), most }
    }

    /// Keeps a delivery. Returns how many older ones were removed to make room.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn keep(&self, letter: &DeadLetter) -> io::Result<usize> {
        fs::create_dir_all(&self.folder)?;
        // In the order of time, so that the oldest is the first.
        let name = format!("{:013}-{}-{}{SUFFIX}", letter.given_up_ms, letter.id, letter.webhook);
        let part = self.folder.join(format!(".{name}.part"));
        let mut file = private(OpenOptions::new().write(true).create(true).truncate(true)).open(&part)?;
        file.write_all(&serde_json::to_vec(letter)?)?;
        file.sync_all()?;
        fs::rename(&part, self.folder.join(name))?;
        sync_directory(&self.folder)?;
        let files = self.files()?;
        let excess = files.len().saturating_sub(self.most);
        files.iter().take(excess).try_for_each(|path| remove(path))?;
        Ok(excess)
    }

    /// Every delivery with its file, oldest first. A file that cannot be read has its error.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> io::Result<Vec<(PathBuf, io::Result<DeadLetter>)>> {
        let read = |path: &Path| Ok(serde_json::from_slice(&fs::read(path)?)?);
        Ok(self.files()?.into_iter().map(|path| (path.clone(), read(&path))).collect())
    }

    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut files = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<PathBuf>>>()?;
        files.retain(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.ends_with(SUFFIX) && !name.starts_with('.')
        });
        files.sort_unstable();
        Ok(files)
    }
}

/// Removes a file. Another process may have removed it.
///
/// # Errors
/// The file is still there.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn letter(number: u64) -> DeadLetter {
        DeadLetter {
            id: format!("msg_{number}"),
            webhook: "ci".to_owned(),
            r#type: "run.failed".to_owned(),
            run_id: Uuid::from_u128(number.into()),
            at_ms: number,
            given_up_ms: number,
            attempts: 3,
            error: "no answer".to_owned(),
            body: "{\"a\":1}".to_owned(),
        }
    }

    #[test]
    fn the_newest_deliveries_are_kept_until_they_are_removed() {
        let folder = std::env::temp_dir().join(format!("framegate-dead-{}", crate::clock::Clock::System.new_id()));
        let letters = DeadLetters::at(&folder, 3);
        assert!(letters.list().unwrap().is_empty() && !folder.exists());
        let removed: Vec<usize> = [9, 10, 11, 12, 13].map(|number| letters.keep(&letter(number)).unwrap()).to_vec();
        assert_eq!(removed, [0, 0, 0, 1, 1]);
        fs::write(folder.join(".x.json.part"), "{").unwrap();
        fs::write(folder.join("y.json"), "{").unwrap();
        let found = letters.list().unwrap();
        let kept: Vec<&DeadLetter> = found.iter().filter_map(|(_, letter)| letter.as_ref().ok()).collect();
        assert_eq!(kept, [&letter(11), &letter(12), &letter(13)]);
        assert_eq!(found.len(), 4, "a damaged file is listed");
        let path = &found[0].0;
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        remove(path).unwrap();
        remove(path).unwrap();
        assert_eq!(letters.list().unwrap().len(), 3);
        fs::remove_dir_all(folder).unwrap();
    }
}
