//! The server of the page in `examples/react-chat`.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The page's server, which ends with the test.
pub struct Page {
    child: Child,
    pub url: String,
}

impl Page {
    /// Starts it in front of the proxy at this address.
    pub fn start(proxy: SocketAddr) -> Self {
        let mut command = Command::new("node");
        command.arg("start.mjs").current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/react-chat"));
        command.env("PORT", "0").env("NO_PROXY", "*").env("FRAMEGATE_URL", format!("http://{proxy}"));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.split([' ', ',']).find(|word| word.starts_with("http://localhost:"));
        let url = url.unwrap_or_else(|| panic!("no address in {line:?}")).to_owned();
        Self { child, url }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
