//! Writes artifacts to files, one for each distinct content, named by its SHA-256.
//!
//! Input: artifacts. Output: `DIR/DIGEST`, complete or absent. Never: a file written twice, a name that the input chose.

use anyhow::Context;
use framegate_translators::artifacts::Artifact;
use std::fs;
use std::path::{Path, PathBuf};

/// A directory of artifacts.
#[derive(Debug)]
pub(super) struct ArtifactFiles {
    directory: PathBuf,
}

impl ArtifactFiles {
    /// Opens the directory, and creates it if it does not exist.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub(super) fn open(directory: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(directory)
            .with_context(|| format!("--artifacts: cannot create the directory {}", directory.display()))?;
        Ok(Self { directory: directory.to_owned() })
    }

    /// Writes the artifacts that do not exist yet.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn write(&self, artifacts: &[Artifact]) -> anyhow::Result<()> {
        for artifact in artifacts {
            let id = artifact.id();
            let name = id.rsplit(':').next().unwrap_or_default();
            let path = self.directory.join(name);
            if path.exists() {
                continue;
            }
            // Write to a temporary name first, so that a reader never sees a partial file.
            let part = self.directory.join(format!(".{name}.{}", std::process::id()));
            fs::write(&part, &artifact.content)
                .and_then(|()| fs::rename(&part, &path))
                .with_context(|| format!("--artifacts: cannot write {}", path.display()))?;
        }
        Ok(())
    }
}
