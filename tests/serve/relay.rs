//! A relay between a client and the proxy, whose connections can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

pub struct Relay {
    pub address: SocketAddr,
    open: Arc<Mutex<Vec<Arc<AtomicBool>>>>,
    cut: Arc<AtomicUsize>,
    target: Arc<Mutex<SocketAddr>>,
}

impl Relay {
    /// Relays to that address while the test runs.
    pub fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (open, cut) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let target = Arc::new(Mutex::new(target));
        let relay = Self { address, open: open.clone(), cut: cut.clone(), target: target.clone() };
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let target = *target.lock().unwrap();
                // If the target is down, the connection is closed, as by a proxy that is down.
                let Ok(server) = TcpStream::connect(target) else { continue };
                let _ = (client.set_nodelay(true), server.set_nodelay(true));
                let is_doomed = Arc::new(AtomicBool::new(false));
                open.lock().unwrap().push(is_doomed.clone());
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || copy(from, to, &AtomicBool::new(false), &AtomicUsize::new(0)));
                let cut = cut.clone();
                thread::spawn(move || copy(server, client, &is_doomed, &cut));
            }
        });
        relay
    }

    /// Cuts every connection that is open now, in the middle of the next data on it.
    pub fn cut(&self) {
        for is_doomed in self.open.lock().unwrap().drain(..) {
            is_doomed.store(true, Ordering::SeqCst);
        }
    }

    /// Relays new connections to that address from now on.
    pub fn retarget(&self, target: SocketAddr) {
        *self.target.lock().unwrap() = target;
    }

    /// The number of connections that were cut so far.
    pub fn cut_connections(&self) -> usize {
        self.cut.load(Ordering::SeqCst)
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream, is_doomed: &AtomicBool, cut: &AtomicUsize) {
    let mut buffer = [0; 16_384];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let is_last = is_doomed.load(Ordering::SeqCst);
        let bytes = if is_last { &buffer[..read / 2] } else { &buffer[..read] };
        if to.write_all(bytes).is_err() {
            break;
        }
        if is_last {
            cut.fetch_add(1, Ordering::SeqCst);
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
