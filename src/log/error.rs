//! Why a log could not do what it was asked.

use std::path::PathBuf;

/// Why a log could not do what it was asked. Where something was to be appended, nothing was.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The frames that are kept fill the log, and may not be dropped, or could not be.
    #[error("the frame log is full: {bytes} bytes are kept, the limit is {limit} (log.max_bytes)")]
    Full {
        /// Bytes that are held.
        bytes: u64,
        /// Bytes that may be held.
        limit: u64,
    },
    /// The disk has no room.
    #[error("no room on disk for the frame log {}: {detail}", .path.display())]
    NoSpace {
        /// The database.
        path: PathBuf,
        /// SQLite's words.
        detail: String,
    },
    /// The database could not be read or written.
    #[error("the frame log {} {what}: {detail}", .path.display())]
    Failed {
        /// The database.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// The words of SQLite or of the system.
        detail: String,
    },
    /// Another process writes to the database.
    #[error("the frame log {} is in use by another framegate; stop it, or set another log.path", .path.display())]
    Locked {
        /// The database.
        path: PathBuf,
    },
    /// The database was made by a later version.
    #[error(
        "the frame log {} has layout {found}, and this framegate knows layouts up to {known}: use the framegate that made it, or set another log.path",
        .path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its layout.
        found: i64,
        /// The newest layout that is known.
        known: i64,
    },
    /// The file is a database of somebody else's, or none.
    #[error("{} is no frame log of framegate: {detail}", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What shows it.
        detail: String,
    },
    /// Pages of the database are broken.
    #[error(
        "the frame log {} is damaged: {detail}; `framegate log verify` tells more, and a copy made by `framegate log backup` can take its place",
        .path.display()
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What is broken.
        detail: String,
    },
    /// A frame does not follow on what is kept of its stream.
    #[error("frame {found} of stream {stream} does not follow: the log has {expected} frames of it")]
    Sequence {
        /// The stream.
        stream: uuid::Uuid,
        /// How many frames the log has.
        expected: u64,
        /// The frame's number.
        found: u64,
    },
    /// The frames that were asked for are not kept any more; later ones of the stream are.
    #[error("the first {frames} frames of stream {stream} are not kept any more")]
    Gone {
        /// The stream.
        stream: uuid::Uuid,
        /// How many are gone.
        frames: u64,
    },
    /// The first frames of a stream are gone, and with them what a contract's later events follow from.
    #[error(
        "the first {frames} frames of stream {stream} are not kept any more, and {contract} cannot go on without them"
    )]
    Untold {
        /// The stream.
        stream: uuid::Uuid,
        /// How many are gone.
        frames: u64,
        /// The contract.
        contract: &'static str,
    },
    /// The log was closed.
    #[error("the frame log is closed")]
    Closed,
}

impl LogError {
    /// Whether there would be no error if there were more room.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. } | Self::NoSpace { .. })
    }
}
