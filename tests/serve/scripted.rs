//! An upstream whose answers the test writes, byte by byte if necessary.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub method: String,
    pub path: String,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

pub struct Upstream {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    open: Arc<AtomicUsize>,
}

impl Upstream {
    /// Answers each request with the script, which writes to the connection. The connection is then closed.
    pub fn start(script: impl Fn(&ReceivedRequest, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, open) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let upstream = Self { address, requests: requests.clone(), open: open.clone() };
        let script = Arc::new(script);
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let (script, requests, open) = (script.clone(), requests.clone(), open.clone());
                open.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || {
                    let _ = stream.set_nodelay(true);
                    if let Some(request) = read(&stream) {
                        requests.lock().unwrap().push(request.clone());
                        script(&request, &mut stream);
                    }
                    drop(stream);
                    open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        upstream
    }

    /// Answers every request with an event stream of these bytes.
    pub fn streaming(bytes: Vec<u8>) -> Self {
        Self::start(move |_, stream| {
            stream_head(stream);
            let _ = stream.write_all(&bytes);
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until every connection is closed.
    pub fn wait_until_quiet(&self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.open.load(Ordering::SeqCst) > 0 {
            assert!(Instant::now() < deadline, "{} connections stay open", self.open.load(Ordering::SeqCst));
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Reads a request.
pub fn read(stream: impl Read) -> Option<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let mut body = Vec::new();
    if let Some(length) = headers.get("content-length") {
        body.resize(length.parse().ok()?, 0);
        reader.read_exact(&mut body).ok()?;
    } else if headers.contains_key("transfer-encoding") {
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let length = usize::from_str_radix(line.trim(), 16).ok()?;
            let mut chunk = vec![0; length + 2];
            reader.read_exact(&mut chunk).ok()?;
            if length == 0 {
                break;
            }
            body.extend_from_slice(&chunk[..length]);
        }
    }
    Some(ReceivedRequest { method, path, headers, body })
}

/// Makes the connection end with a reset when it is dropped.
pub fn reset(stream: &TcpStream) {
    let stream = stream.try_clone().unwrap();
    stream.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    runtime.block_on(async { tokio::net::TcpStream::from_std(stream).unwrap().set_zero_linger().unwrap() });
}

/// The head of an event stream that ends with its connection.
pub fn stream_head(stream: &mut TcpStream) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nx-request-id: req_1\r\n\
                openai-version: 2020-10-01\r\nset-cookie: secret=1\r\nx-other: 1\r\nconnection: close\r\n\r\n";
    let _ = stream.write_all(head.as_bytes());
}

/// A complete answer.
pub fn whole(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body);
}

/// Waits until the peer closes the connection.
pub fn wait_for_close(stream: &mut TcpStream) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
    let mut buffer = [0; 1024];
    while let Ok(1..) = stream.read(&mut buffer) {}
}
