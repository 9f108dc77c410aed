//! What a proxy holds: tasks, files and sockets. Whatever went wrong, it holds no more afterwards than before.

use crate::client::get;
use crate::proxy::Proxy;
use std::time::{Duration, Instant};

/// How many tasks are alive, that of the request for it among them, and how many files and sockets are open.
pub type Held = (u64, usize);

pub fn held(proxy: &Proxy) -> Held {
    let text = get(proxy.address, "/metrics", &[]).text();
    let tasks = text.lines().find_map(|line| line.strip_prefix("framegate_tasks ")).unwrap();
    (tasks.parse().unwrap(), std::fs::read_dir(format!("/proc/{}/fd", proxy.pid())).unwrap().count())
}

/// Waits until it holds no more than it did.
pub fn lets_go(proxy: &Proxy, before: Held) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let now = held(proxy);
        if now.0 <= before.0 && now.1 <= before.1 {
            return;
        }
        assert!(Instant::now() < deadline, "{now:?} tasks and files, {before:?} before");
        std::thread::sleep(Duration::from_millis(20));
    }
}
