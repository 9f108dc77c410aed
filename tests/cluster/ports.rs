//! Free ports on loopback.
//!
//! Output: ports that no socket uses at this moment. Never: a port that the system gives to clients, because a client that tries to
//! reconnect to a dead server could get that server's port and keep it.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// The lowest port of this program's choice.
const FIRST: u32 = 10_000;

/// The number of ports to choose from: those below Linux's usual ports of clients, which begin at 32768.
const COUNT: u32 = 22_000;

/// That many distinct free ports.
pub fn free(count: usize) -> Vec<u16> {
    static TRIED: AtomicU32 = AtomicU32::new(0);
    // Each process begins elsewhere, so that test programs that run at the same time seldom meet.
    let begin = std::process::id().wrapping_mul(7919);
    let candidates = (0..COUNT).map(|_| begin.wrapping_add(TRIED.fetch_add(1, Ordering::Relaxed)) % COUNT + FIRST);
    let listeners = candidates.filter_map(|port| TcpListener::bind(("127.0.0.1", u16::try_from(port).unwrap())).ok());
    // All of them stay open until the last one is found.
    let listeners: Vec<TcpListener> = listeners.take(count).collect();
    assert_eq!(listeners.len(), count, "too few ports are free");
    listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect()
}
