//! The database file: opening, lock and layout.
//!
//! Input: a path. Output: a connection to a database of the newest layout, or an error. Never: another program's file changed,
//! or a layout migrated only in part.

use super::Fsync;
use crate::log::LogError;
use crate::platform::limits;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `frmg`, as SQLite's `application_id`. It identifies a file as a frame log.
const APPLICATION_ID: i64 = 0x6672_6D67;

/// The migrations: entry N brings layout N to N + 1, starting from an empty file.
const MIGRATIONS: &[&str] = &[
    include_str!("v1.sql"),
    include_str!("v2.sql"),
    include_str!("v3.sql"),
    include_str!("v4.sql"),
    include_str!("v5.sql"),
    include_str!("v6.sql"),
];

/// The newest layout, stored as SQLite's `user_version`.
pub const LAYOUT: i64 = MIGRATIONS.len() as i64;

/// WAL size at which the writer runs a checkpoint itself. Only a checkpoint that moves everything resets the WAL, and a
/// background checkpoint never catches up while appends continue.
pub(super) const CHECKPOINT_BYTES: u64 = 64 << 20;

/// Page size of a new file. A transaction with a few small frames writes three pages: with 16 KiB pages it took a fifth more
/// CPU time than with 8 KiB. Texts of many kilobytes cost the same with both, and a fifth more with 4 KiB.
const PAGE_BYTES: u64 = 8 << 10;

/// Size of the writer's page cache.
const CACHE_KIB: i64 = 16 << 10;

/// How much is returned to the file system at a time, in bytes.
const VACUUM_BYTES: u64 = 4 << 20;

/// Converts an error of SQLite to an error of the log.
pub(super) fn failure(path: &Path, what: &'static str, error: &rusqlite::Error) -> LogError {
    let (path, detail) = (path.to_owned(), error.to_string());
    if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
        && let Some(limit) = file_limit_reached(&path)
    {
        let detail = format!("the file size is limited to {limit} bytes (ulimit -f, LimitFSIZE= of systemd): {detail}");
        return LogError::NoSpace { path, detail };
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => LogError::NoSpace { path, detail },
        Some(ErrorCode::DatabaseCorrupt) => LogError::Damaged { path, detail },
        Some(ErrorCode::NotADatabase) => LogError::Foreign { path, detail },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LogError::Locked { path },
        _ => LogError::Failed { path, what, detail },
    }
}

/// How close to the limit a file that cannot grow is considered full: at most a page.
const NEAR_LIMIT: u64 = 64 << 10;

/// The system's limit on file size, if a file of the database has reached it. SQLite reports a write that the limit cuts off as
/// a full disk, but a write that begins at the limit as an I/O error. Callers should see the same error for both.
fn file_limit_reached(path: &Path) -> Option<u64> {
    let limit = limits::file_bytes()?;
    let is_reached = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        std::fs::metadata(name).is_ok_and(|file| file.len().saturating_add(NEAR_LIMIT) > limit)
    };
    ["", "-wal", "-shm"].into_iter().any(is_reached).then_some(limit)
}

/// The exclusive right to write to a database. It ends with the process, whatever the cause.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The lock belongs to the open file. A forked child that has not called exec yet shares that file: closing only this
        // handle would leave the file locked until then.
        let _ = self.file.unlock();
    }
}

impl Lock {
    /// Takes the lock. It is on a separate file, because SQLite's own locks are lost when another handle of the database file
    /// is closed.
    ///
    /// # Errors
    /// Another process has the lock, or the file cannot be created.
    pub fn take(path: &Path) -> Result<Self, LogError> {
        let failed = |error: std::io::Error| LogError::Failed {
            path: path.to_owned(),
            what: "cannot be locked (check that the directory exists and is writable)",
            detail: error.to_string(),
        };
        let mut name = path.as_os_str().to_owned();
        name.push("-lock");
        let file =
            File::options().create(true).truncate(false).write(true).open(PathBuf::from(name)).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(LogError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

/// Opens a database for the writer; creates it if it does not exist.
///
/// # Errors
/// See [`LogError`].
pub fn open_writable(
    path: &Path,
    _lock: &Lock,
    fsync: Fsync,
    check: bool,
    max_bytes: Option<u64>,
) -> Result<Connection, LogError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |error: rusqlite::Error| failure(path, "cannot be opened", &error);
    let mut database = Connection::open_with_flags(path, flags).map_err(failed)?;
    let found = layout(&database, path)?;
    if check && found > 0 {
        quick_check(&database, path)?;
    }
    let setup = |database: &mut Connection| -> rusqlite::Result<()> {
        database.busy_timeout(Duration::from_secs(5))?;
        plan_once(database)?;
        if found == 0 {
            database.pragma_update(None, "page_size", PAGE_BYTES)?;
            database.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
            database.pragma_update(None, "application_id", APPLICATION_ID)?;
        }
        database.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        set_synchronous(database, fsync)?;
        // An older file has smaller pages.
        let page = page_bytes(database)?;
        database.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_BYTES / page)?;
        database.pragma_update(None, "cache_size", -CACHE_KIB)?;
        if let Some(bytes) = max_bytes {
            let pages = bytes.div_ceil(page).clamp(1, u64::from(u32::MAX - 1));
            database.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
        }
        migrate(database, found)
    };
    setup(&mut database).map_err(failed)?;
    Ok(database)
}

/// Opens a second connection to a database that is open for writing, for the checkpoint thread. Also returns the page size.
///
/// # Errors
/// See [`LogError`].
pub(super) fn open_beside(path: &Path, fsync: Fsync) -> Result<(Connection, u64), LogError> {
    let open = || -> rusqlite::Result<(Connection, u64)> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(path, flags)?;
        set_synchronous(&database, fsync)?;
        let page = page_bytes(&database)?;
        Ok((database, page))
    };
    open().map_err(|error| failure(path, "cannot be opened", &error))
}

/// Makes SQLite plan a statement once, when it is prepared, and not again for bound values.
fn plan_once(database: &Connection) -> rusqlite::Result<()> {
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

fn set_synchronous(database: &Connection, fsync: Fsync) -> rusqlite::Result<()> {
    let synchronous = match fsync {
        Fsync::Always => "FULL",
        Fsync::Interval(_) => "NORMAL",
        Fsync::Never => "OFF",
    };
    database.pragma_update(None, "synchronous", synchronous)
}

/// Opens a database for reading only, also while another process writes to it.
///
/// # Errors
/// See [`LogError`]; [`LogError::Failed`] if the file does not exist.
pub fn open_read_only(path: &Path) -> Result<Connection, LogError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |error: rusqlite::Error| failure(path, "cannot be opened", &error);
    let database = Connection::open_with_flags(path, flags).map_err(failed)?;
    database.busy_timeout(Duration::from_secs(5)).map_err(failed)?;
    plan_once(&database).map_err(failed)?;
    match layout(&database, path)? {
        LAYOUT => Ok(database),
        found => Err(LogError::Foreign {
            path: path.to_owned(),
            detail: format!("its layout is {found}; `framegate serve` upgrades it to {LAYOUT}"),
        }),
    }
}

/// The layout of a database; 0 for an empty file.
fn layout(database: &Connection, path: &Path) -> Result<i64, LogError> {
    let number = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0));
    let failed = |error: rusqlite::Error| failure(path, "cannot be opened", &error);
    let found = number("PRAGMA user_version").map_err(failed)?;
    let id = number("PRAGMA application_id").map_err(failed)?;
    let tables = number("SELECT count(*) FROM sqlite_schema").map_err(failed)?;
    if id != APPLICATION_ID && (tables > 0 || found > 0) {
        let detail = "it is another program's SQLite database".to_owned();
        return Err(LogError::Foreign { path: path.to_owned(), detail });
    }
    if found > LAYOUT {
        return Err(LogError::Newer { path: path.to_owned(), found, known: LAYOUT });
    }
    Ok(found.max(0))
}

fn migrate(database: &mut Connection, found: i64) -> rusqlite::Result<()> {
    let done = usize::try_from(found).unwrap_or_default();
    for (step, sql) in MIGRATIONS.iter().enumerate().skip(done) {
        let change = database.transaction()?;
        change.execute_batch(sql)?;
        change.pragma_update(None, "user_version", step + 1)?;
        change.commit()?;
    }
    Ok(())
}

/// Fails if SQLite finds the file damaged.
fn quick_check(database: &Connection, path: &Path) -> Result<(), LogError> {
    let found = integrity(database, "quick_check").map_err(|error| failure(path, "cannot be checked", &error))?;
    match found.first() {
        None => Ok(()),
        Some(first) => Err(LogError::Damaged { path: path.to_owned(), detail: first.clone() }),
    }
}

/// The findings of SQLite's `quick_check` or `integrity_check`; empty if the file is sound.
pub(crate) fn integrity(database: &Connection, pragma: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = database.prepare(&format!("PRAGMA {pragma}"))?;
    let found = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(found.into_iter().filter(|line| line != "ok").collect())
}

fn page_bytes(database: &Connection) -> rusqlite::Result<u64> {
    database.pragma_query_value(None, "page_size", |row| row.get::<_, u64>(0)).map(|bytes| bytes.max(512))
}

/// Returns a bounded amount of freed pages to the file system.
pub(crate) fn give_back(database: &Connection) -> rusqlite::Result<()> {
    let pages = VACUUM_BYTES / page_bytes(database)?;
    let mut statement = database.prepare_cached(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}
