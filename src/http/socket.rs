//! Sets the options of every accepted socket.
//!
//! Input: a socket, and the settings. Output: no delay between small events, a bound on what the system buffers for a client
//! that does not read, and detection of a dead peer. A socket whose options cannot be set is served anyway.

use super::settings::Settings;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

/// How many unanswered keepalive probes close a connection.
const QUESTIONS: u32 = 4;

pub(super) fn tune(stream: &TcpStream, settings: &Settings) {
    let socket = SockRef::from(stream);
    let _ = socket.set_tcp_nodelay(true);
    if let Some(bytes) = settings.send_buffer {
        let _ = socket.set_send_buffer_size(bytes);
    }
    if let Some(after) = settings.tcp_keepalive {
        let asked = TcpKeepalive::new().with_time(after).with_interval(after / QUESTIONS).with_retries(QUESTIONS);
        let _ = socket.set_tcp_keepalive(&asked);
    }
}
