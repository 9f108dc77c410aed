//! Errors of a log.

use std::path::PathBuf;

/// Error of a log operation. If an append fails, none of its frames were kept.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The kept frames fill the log, and cannot be dropped to make room.
    #[error("the frame log is full: {bytes} bytes are kept, the limit is {limit} (log.max_bytes)")]
    Full {
        /// Bytes that are kept.
        bytes: u64,
        /// Maximum number of bytes.
        limit: u64,
    },
    /// The disk is full.
    #[error("no room on disk for the frame log {}: {detail}", .path.display())]
    NoSpace {
        /// Path of the database.
        path: PathBuf,
        /// SQLite's message.
        detail: String,
    },
    /// The database could not be read or written.
    #[error("the frame log {} {what}: {detail}", .path.display())]
    Failed {
        /// Path of the database.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// The message of SQLite or of the system.
        detail: String,
    },
    /// Another process writes to the database.
    #[error("the frame log {} is in use by another framegate; stop it, or set another log.path", .path.display())]
    Locked {
        /// Path of the database.
        path: PathBuf,
    },
    /// The database was made by a later version of framegate.
    #[error(
        "the frame log {} has layout {found}, but this framegate supports layouts up to {known}: use the framegate \
         that wrote it, or set another log.path",
        .path.display()
    )]
    Newer {
        /// Path of the database.
        path: PathBuf,
        /// Its layout.
        found: i64,
        /// The newest layout that this version supports.
        known: i64,
    },
    /// The file is another program's database, or not a database.
    #[error("{} is not a frame log of framegate: {detail}", .path.display())]
    Foreign {
        /// Path of the file.
        path: PathBuf,
        /// How that was recognised.
        detail: String,
    },
    /// Pages of the database are broken.
    #[error(
        "the frame log {} is damaged: {detail}; `framegate log verify` shows details, and a copy made by `framegate \
         log backup` can replace it",
        .path.display()
    )]
    Damaged {
        /// Path of the database.
        path: PathBuf,
        /// What is broken.
        detail: String,
    },
    /// The database was deleted or replaced while it was open. Anything written now would be lost.
    #[error(
        "{what} of the frame log {} was {how} while the proxy is running, so nothing more can be written: restore the \
         file, or restart the proxy",
        .path.display()
    )]
    Replaced {
        /// Path of the database.
        path: PathBuf,
        /// Which of its files.
        what: &'static str,
        /// What happened to it.
        how: &'static str,
    },
    /// A stream is not kept, or not any more.
    #[error("stream {stream} is no longer stored")]
    Dropped {
        /// The stream's id.
        stream: uuid::Uuid,
    },
    /// Frames that should be in the log are missing.
    #[error("frame {frame} of stream {stream} is missing from the frame log; `framegate log verify` shows details")]
    Lacking {
        /// The stream's id.
        stream: uuid::Uuid,
        /// The first missing frame.
        frame: u64,
    },
    /// A frame does not follow the kept frames of its stream.
    #[error("frame {found} of stream {stream} does not follow: the log has {expected} frames of that stream")]
    Sequence {
        /// The stream's id.
        stream: uuid::Uuid,
        /// How many frames of the stream the log has.
        expected: u64,
        /// The frame's number.
        found: u64,
    },
    /// The requested frames are not kept any more; later ones of the stream are.
    #[error("the first {frames} frames of stream {stream} are no longer stored")]
    Gone {
        /// The stream's id.
        stream: uuid::Uuid,
        /// How many frames are gone.
        frames: u64,
    },
    /// The first frames of a stream are gone, and the contract's later events cannot be derived without them.
    #[error(
        "the first {frames} frames of stream {stream} are no longer stored, and {contract} cannot continue without \
             them"
    )]
    Untold {
        /// The stream's id.
        stream: uuid::Uuid,
        /// How many frames are gone.
        frames: u64,
        /// The contract's name.
        contract: &'static str,
    },
    /// The servers of the log do not answer. It is unknown whether they did what they were asked for.
    #[error("the servers of the frame log ({servers}) do not answer: {detail}")]
    Unreachable {
        /// Their addresses.
        servers: String,
        /// What was tried, and what happened.
        detail: String,
    },
    /// The servers have no log with that prefix.
    #[error(
        "there is no log with the prefix {prefix:?} at these servers ({servers}): set log.prefix and log.servers as the \
         proxies have them; the first proxy creates the log"
    )]
    Absent {
        /// Their addresses.
        servers: String,
        /// The prefix of its names.
        prefix: String,
    },
    /// The servers of the log refuse.
    #[error("the servers of the frame log ({servers}) refuse: {detail}")]
    Servers {
        /// Their addresses.
        servers: String,
        /// Their reason.
        detail: String,
    },
    /// A request to another proxy was not delivered.
    #[error("the proxy that has the run cannot be reached at the moment, so nothing was sent to it")]
    ProxyAway,
    /// The bytes of one append, or of a request, are more than the servers can take at once.
    #[error("{bytes} bytes are more than the servers of the frame log can take at once ({most})")]
    TooLarge {
        /// Their number.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// One append has more frames than one message can have.
    #[error("{frames} frames are more than the log takes in one append ({most})")]
    TooManyFrames {
        /// Their number.
        frames: u64,
        /// The limit.
        most: u64,
    },
    /// The log was closed.
    #[error("the frame log is closed")]
    Closed,
}

impl LogError {
    /// Describes the damage, if frames in the log are missing or changed.
    pub fn damage(&self) -> Option<String> {
        match self {
            Self::Damaged { detail, .. } => Some(detail.clone()),
            Self::Lacking { frame, .. } => Some(format!("frame {frame} is missing")),
            _ => None,
        }
    }

    /// Whether the operation may succeed once the log's servers answer again.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }

    /// Whether the operation would have succeeded with more room.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. } | Self::NoSpace { .. })
    }
}
