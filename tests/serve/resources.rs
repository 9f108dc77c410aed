//! The resources of a proxy: tasks, files and sockets. After any fault it must hold no more than before.

use crate::client::get;
use crate::proxy::Proxy;
use std::time::{Duration, Instant};

/// The number of live tasks, including the one of the request for it, and of open files and sockets.
pub type Resources = (u64, usize);

pub fn resources(proxy: &Proxy) -> Resources {
    let text = get(proxy.address, "/metrics", &[]).text();
    let tasks = text.lines().find_map(|line| line.strip_prefix("framegate_tasks ")).unwrap();
    (tasks.parse().unwrap(), std::fs::read_dir(format!("/proc/{}/fd", proxy.pid())).unwrap().count())
}

/// Waits until the proxy holds no more than before.
pub fn wait_until_released(proxy: &Proxy, before: Resources) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let now = resources(proxy);
        if now.0 <= before.0 && now.1 <= before.1 {
            return;
        }
        assert!(Instant::now() < deadline, "{now:?} tasks and files, {before:?} before");
        std::thread::sleep(Duration::from_millis(20));
    }
}
