//! The input of a filter: a file, the standard input, or bytes that were read from a database.
//!
//! Input: a path, or bytes. Output: chunks of bytes as they arrive, decompressed, and whether more is available. Never: bytes in a form that no
//! runner writes (an archive, UTF-16). These are an error that names the command that converts them to text.

use crate::compression::Decompressing;
use crate::platform::input::Readable;
use crate::visible;
use framegate_translators::foreign::{Foreign, ForeignDetector};
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The size of a read. A read returns as soon as any bytes are available.
const CHUNK_BYTES: usize = 64 << 10;

/// An open input.
pub(super) struct Input {
    source: Decompressing<Source>,
    chunk: Vec<u8>,
    /// The bytes that were read ahead, and how many of them `next` has returned.
    ahead: (Vec<u8>, usize),
    front: ForeignDetector,
    path: PathBuf,
    /// The framegate command that reads the input, for error messages.
    command: &'static str,
}

enum Source {
    Readable(Readable),
    Bytes(Cursor<Vec<u8>>),
    Other(Box<dyn Read + Send>),
}

impl Read for Source {
    fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Readable(readable) => readable.read(chunk),
            Self::Bytes(bytes) => bytes.read(chunk),
            Self::Other(reader) => reader.read(chunk),
        }
    }
}

/// Whether the path means the standard input.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The path as shown to users. A file name may have line ends and escape sequences, which become visible.
pub(super) fn shown(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { visible::line(&path.display().to_string()).into_owned() }
}

/// The path as the prefix of a message about a position in the input.
pub(super) fn name_of(path: &Path) -> String {
    if is_stdin(path) { "stdin".to_owned() } else { visible::line(&path.display().to_string()).into_owned() }
}

impl Input {
    /// Opens the input for a framegate command.
    ///
    /// # Errors
    /// The system's error, or an error if the path is a directory.
    pub(super) fn open(path: &Path, command: &'static str) -> io::Result<Self> {
        let source = if is_stdin(path) { Readable::stdin() } else { Readable::file(path)? };
        if source.is_directory() {
            let files = path.join("*");
            let message = format!("it is a directory; name the files in it, for example {}", shown(&files));
            return Err(io::Error::new(ErrorKind::IsADirectory, message));
        }
        Ok(Self::of(Source::Readable(source), path, command))
    }

    /// Bytes that were read from a file by other means.
    pub(super) fn of_bytes(bytes: Vec<u8>, path: &Path, command: &'static str) -> Self {
        Self::of(Source::Bytes(Cursor::new(bytes)), path, command)
    }

    /// What is read from several files that do not grow any more. `path` names one of them.
    pub(super) fn of_reader(reader: Box<dyn Read + Send>, path: &Path, command: &'static str) -> Self {
        Self::of(Source::Other(reader), path, command)
    }

    fn of(source: Source, path: &Path, command: &'static str) -> Self {
        Self {
            source: Decompressing::new(source),
            chunk: vec![0; CHUNK_BYTES],
            ahead: (Vec::new(), 0),
            front: ForeignDetector::default(),
            path: path.to_owned(),
            command,
        }
    }

    /// Whether the whole input exists already: it is no pipe that another process may still write to.
    pub(super) fn is_whole(&self) -> bool {
        match self.source.source() {
            Source::Bytes(_) | Source::Other(_) => true,
            Source::Readable(readable) => readable.is_file(),
        }
    }

    /// How many bytes it has, if they are in memory.
    pub(super) fn known_bytes(&self) -> Option<u64> {
        match self.source.source() {
            Source::Bytes(bytes) => Some(bytes.get_ref().len() as u64),
            Source::Readable(_) | Source::Other(_) => None,
        }
    }

    /// Whether the input has been empty so far.
    pub(super) fn is_empty(&self) -> bool {
        self.front.is_empty()
    }

    /// Whether its first bytes show that it is not text.
    pub(super) fn is_binary(&self) -> bool {
        self.front.is_binary()
    }

    /// Reads ahead until `enough` returns true, or `most` bytes were read. [`Input::next`] returns these bytes again.
    ///
    /// # Errors
    /// As for [`Input::next`].
    pub(super) fn look_ahead(&mut self, most: usize, mut enough: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
        while self.ahead.0.len() < most {
            let start = self.ahead.0.len();
            self.ahead.0.resize(start + CHUNK_BYTES, 0);
            let room = self.ahead.0.get_mut(start..).unwrap_or_default();
            let read = self.source.read(room);
            self.ahead.0.truncate(start + *read.as_ref().unwrap_or(&0));
            let new = self.ahead.0.get(start..).unwrap_or_default();
            if read? == 0 || enough(new) {
                break;
            }
        }
        Ok(())
    }

    /// Waits until bytes or the end of the input can be read; returns false on timeout. [`Input::next`] reads more at once than
    /// the buffer of the standard input holds, as [`Readable::wait`] requires.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn wait(&self, patience: Duration) -> io::Result<bool> {
        if self.ahead.1 < self.ahead.0.len() || self.source.is_ready() {
            return Ok(true);
        }
        match self.source.source() {
            Source::Readable(readable) => readable.wait(patience),
            Source::Bytes(_) | Source::Other(_) => Ok(true),
        }
    }

    /// Returns the next bytes as soon as there are any; an empty slice at the end.
    ///
    /// # Errors
    /// The system's error, or an error if the bytes have a form that no runner writes.
    pub(super) fn next(&mut self) -> io::Result<&[u8]> {
        let Self { source, chunk, ahead: (held, given), front, path, command } = self;
        let next = if *given < held.len() {
            let from = std::mem::replace(given, held.len().min(*given + CHUNK_BYTES));
            held.get(from..*given).unwrap_or_default()
        } else {
            *held = Vec::new();
            *given = 0;
            let length = source.read(chunk)?;
            chunk.get(..length).unwrap_or_default()
        };
        match front.feed(next) {
            Some(foreign) => Err(io::Error::new(ErrorKind::InvalidData, remedy(&foreign, path, command))),
            None => Ok(next),
        }
    }
}

/// The command that reads files only.
const WITHOUT_PIPE: &str = "import";

/// Says what the input is, and which command makes it readable.
fn remedy(foreign: &Foreign, path: &Path, command: &str) -> String {
    let Some(reader) = foreign.reader else {
        return format!("the input is {foreign}; runners write JSON or event streams");
    };
    if is_stdin(path) {
        return format!("the input is {foreign}: … | {reader} | framegate {command} …");
    }
    if command == WITHOUT_PIPE {
        return format!("the input is {foreign}: write it to another file with {reader} {}", quoted(path));
    }
    format!("the input is {foreign}: {reader} {} | framegate {command} …", quoted(path))
}

/// The path, quoted for a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./+:@%,=".contains(letter);
    if text.chars().all(is_plain) && !text.is_empty() { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
