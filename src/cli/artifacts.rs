//! Artifacts as files: one for each content, named by its SHA-256.
//!
//! In: artifacts. Out: `DIR/DIGEST`, whole or not there. Never: a file written twice, a name that the input chose.

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
    /// The directory, which is made where it is not there.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn open(directory: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(directory)
            .with_context(|| format!("--artifacts: cannot make the directory {}", directory.display()))?;
        Ok(Self { directory: directory.to_owned() })
    }

    /// Writes what is not there yet.
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
            // Under another name first: whoever finds the file finds all of it.
            let part = self.directory.join(format!(".{name}.{}", std::process::id()));
            fs::write(&part, &artifact.content)
                .and_then(|()| fs::rename(&part, &path))
                .with_context(|| format!("--artifacts: cannot write {}", path.display()))?;
        }
        Ok(())
    }
}
