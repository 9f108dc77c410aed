//! Starts the runtime and all the threads that it needs.
//!
//! Input: the number of threads that may wait for the disk at once. Output: a runtime whose threads are already running, or an
//! error that says what the system refuses. Never: a panic, or work that waits for ever, because a thread cannot be started
//! later.

use anyhow::{Context, anyhow};
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::thread::{Builder, available_parallelism};
use std::time::Duration;
use tokio::runtime::Runtime;

/// The log's own threads, and a reserve.
const THREADS: usize = 6;

/// How long an idle blocking thread is kept: longer than the process lives. A thread then never has to be restarted at a time
/// when the system allows no more threads.
const KEPT: Duration = Duration::from_secs(100 * 365 * 86_400);

/// How long the blocking threads wait for each other, in case the system lets fewer start after all.
const TOGETHER: Duration = Duration::from_secs(2);

/// Builds the runtime. Its worker threads and `readers` blocking threads, which may wait for the disk, are started at once.
///
/// # Errors
/// The system lets the process start too few threads.
pub(super) fn runtime(readers: usize) -> anyhow::Result<Runtime> {
    let workers = available_parallelism().map_or(1, NonZeroUsize::get);
    let needed = workers + readers + THREADS;
    let started = threads(needed);
    if let Some((count, error)) = started {
        return Err(anyhow!(
            "framegate needs {needed} threads, but the system lets it start only {count} ({error}): raise the limit of \
             processes (ulimit -u, TasksMax= of systemd, the pids limit of the container) or of memory"
        ));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_keep_alive(KEPT)
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    warm(&runtime, readers);
    Ok(runtime)
}

/// Starts `count` threads at once and ends them. If one cannot be started, returns how many ran, and the error.
fn threads(count: usize) -> Option<(usize, std::io::Error)> {
    let mut started = Vec::with_capacity(count);
    let mut refused = None;
    for at in 0..count {
        let (end, ended) = mpsc::channel::<()>();
        match Builder::new().name("trial".to_owned()).spawn(move || ended.recv().is_ok()) {
            Ok(thread) => started.push((end, thread)),
            Err(error) => {
                refused = Some((at, error));
                break;
            }
        }
    }
    for (end, thread) in started {
        drop(end);
        let _ = thread.join();
    }
    refused
}

/// Starts one blocking thread for each concurrent reader.
fn warm(runtime: &Runtime, readers: usize) {
    let running = Arc::new((Mutex::new(0usize), Condvar::new()));
    let started: Vec<_> = (0..readers)
        .map(|_| {
            let running = running.clone();
            runtime.spawn_blocking(move || {
                let (count, changed) = &*running;
                let mut count = count.lock().unwrap_or_else(PoisonError::into_inner);
                *count += 1;
                changed.notify_all();
                // Each task waits for the others, so that no thread takes two tasks.
                drop(changed.wait_timeout_while(count, TOGETHER, |count| *count < readers));
            })
        })
        .collect();
    runtime.block_on(async {
        for thread in started {
            let _ = thread.await;
        }
    });
}
