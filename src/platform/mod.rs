//! Everything that differs between operating systems: `unix` (Linux, macOS) and `windows`.
//!
//! Input: what the proxy wants of the system, such as the end of a program with all processes that it started. Output: the same interface on
//! every system. Never: a name of one system's interface in another module of `src`; a module or an item that only one system exports
//! (`tests/layers.rs` checks both).
//!
//! Both systems have the same files, one for each idea:
//!
//! | module | Unix | Windows |
//! |---|---|---|
//! | `allocator` | jemalloc with the feature `jemalloc`, else the system's | the system's |
//! | `browsers` | `xdg-open`, `open` | `explorer` |
//! | `contained` | files that no link leads out of a directory, by `openat2`: Linux only | none: refused |
//! | `exit` | the signal that ended a program | none: programs end with a status |
//! | `files` | writes at a position, syncs directories | the same; directories need no sync |
//! | `hangup` | SIGHUP: a reload, or the end of the terminal | none: a reload is a restart, and the end of a console is a signal to end |
//! | `identity` | device and inode | volume and file index |
//! | `input` | polls standard input and named pipes | a thread reads standard input; other inputs count as ready |
//! | `keys` | single bytes of a terminal | key events of a console |
//! | `limits` | open files and file size (`ulimit`) | none |
//! | `paths` | canonical paths | the same, without the prefix `\\?\` where that is possible |
//! | `permissions` | modes 0600 and 0700 | the access list that the folder passes on |
//! | `processes` | a process group, which gets signals | a job object, which can only be terminated |
//! | `programs` | the system finds programs | the same, and `.cmd` and `.bat` scripts as of npm |
//! | `signals` | SIGINT, SIGTERM | Ctrl-C and Ctrl-Break; closing the console, the system's shutdown |
//! | `stderr` | standard error goes elsewhere for a time (`dup2`) | none |
//! | `suspension` | Ctrl-Z | none |
//! | `terminal` | size; obeys escape sequences | the same, of a console that is set to obey them |
//! | `variables` | names of variables differ by case | they do not |

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

mod ends;

pub(crate) use ends::{EndSignal, Stop};
#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;
