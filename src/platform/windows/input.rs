//! Inputs whose bytes may come later: standard input, which a thread reads, because Windows cannot wait for bytes of a pipe with a limit.
//! Other inputs count as ready, which is true of files on disk.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, Cursor, Read};
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;
use winapi_util::HandleRef;
use winapi_util::file::typ;

/// `FILE_FLAG_BACKUP_SEMANTICS`: a directory can be opened too, and is then known to be one.
const DIRECTORIES_TOO: u32 = 0x0200_0000;

/// How many bytes the thread reads at once.
const CHUNK_BYTES: usize = 64 << 10;

/// How many chunks the thread is ahead at most.
const CHUNKS: usize = 2;

/// An open input.
pub(crate) struct Readable(Source);

enum Source {
    Stdin(RefCell<Chunks>),
    File(File),
}

impl Readable {
    /// The standard input, which nothing else may read from now on.
    pub(crate) fn stdin() -> Self {
        Self(Source::Stdin(RefCell::default()))
    }

    /// Opens a file.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn file(path: &Path) -> io::Result<Self> {
        OpenOptions::new().read(true).custom_flags(DIRECTORIES_TOO).open(path).map(|file| Self(Source::File(file)))
    }

    /// Whether it is a directory.
    pub(crate) fn is_directory(&self) -> bool {
        match &self.0 {
            Source::Stdin(_) => false,
            Source::File(file) => file.metadata().is_ok_and(|metadata| metadata.is_dir()),
        }
    }

    /// Whether it is a file on disk, which has all its bytes already.
    pub(crate) fn is_file(&self) -> bool {
        let found = match &self.0 {
            Source::Stdin(_) => typ(HandleRef::stdin()),
            Source::File(file) => typ(file),
        };
        found.is_ok_and(|kind| kind.is_disk())
    }

    /// Waits until bytes or the end can be read; returns false on timeout.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn wait(&self, patience: Duration) -> io::Result<bool> {
        match &self.0 {
            Source::Stdin(chunks) => chunks.borrow_mut().wait(patience),
            Source::File(_) => Ok(true),
        }
    }
}

impl Read for Readable {
    fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Source::Stdin(chunks) => chunks.get_mut().read(chunk),
            Source::File(file) => file.read(chunk),
        }
    }
}

/// What the thread has read.
#[derive(Debug, Default)]
struct Chunks {
    /// `None` before the first read, which starts the thread.
    coming: Option<Receiver<io::Result<Vec<u8>>>>,
    /// What came, or why nothing more comes.
    ready: Option<io::Result<Cursor<Vec<u8>>>>,
    is_over: bool,
}

impl Chunks {
    fn coming(&mut self) -> io::Result<&Receiver<io::Result<Vec<u8>>>> {
        if self.coming.is_none() {
            let (sender, coming) = sync_channel(CHUNKS);
            // It ends with the process.
            thread::Builder::new().name("stdin".to_owned()).spawn(move || fill(&sender))?;
            self.coming = Some(coming);
        }
        self.coming.as_ref().ok_or_else(|| io::ErrorKind::Other.into())
    }

    fn wait(&mut self, patience: Duration) -> io::Result<bool> {
        if self.is_over || self.ready.is_some() {
            return Ok(true);
        }
        match self.coming()?.recv_timeout(patience) {
            Ok(chunk) => self.ready = Some(chunk.map(Cursor::new)),
            Err(RecvTimeoutError::Timeout) => return Ok(false),
            Err(RecvTimeoutError::Disconnected) => self.is_over = true,
        }
        Ok(true)
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match &mut self.ready {
                Some(Ok(chunk)) => {
                    let read = chunk.read(into)?;
                    // Nothing may stay that counts as ready.
                    if chunk.position() >= chunk.get_ref().len() as u64 {
                        self.ready = None;
                    }
                    return Ok(read);
                }
                Some(Err(_)) => {
                    self.is_over = true;
                    return self.ready.take().map_or(Ok(0), |ended| ended.map(|_| 0));
                }
                None if self.is_over => return Ok(0),
                None => match self.coming()?.recv() {
                    Ok(chunk) => self.ready = Some(chunk.map(Cursor::new)),
                    Err(_) => self.is_over = true,
                },
            }
        }
    }
}

/// Reads standard input to its end.
fn fill(chunks: &SyncSender<io::Result<Vec<u8>>>) {
    let mut stdin = io::stdin().lock();
    loop {
        let mut chunk = vec![0; CHUNK_BYTES];
        let read = stdin.read(&mut chunk).map(|length| {
            chunk.truncate(length);
            chunk
        });
        let is_over = match &read {
            Ok(chunk) => chunk.is_empty(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => true,
        };
        if is_over && read.is_ok() {
            return;
        }
        if chunks.send(read).is_err() || is_over {
            return;
        }
    }
}
