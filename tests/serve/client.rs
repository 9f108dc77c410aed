//! A plain HTTP/1.1 client that shows the bytes on the wire as they arrive.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An answer whose body has not been read yet.
pub struct Answer {
    pub status: u16,
    pub headers: HashMap<String, String>,
    reader: BufReader<TcpStream>,
    body: Framing,
}

enum Framing {
    Length(usize),
    Chunked { left: usize, over: bool },
    None,
}

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    pub id: Option<String>,
    pub name: Option<String>,
    pub data: String,
}

impl Event {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

pub fn get(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut stream = connect(address);
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\n").unwrap();
    for (name, value) in headers {
        write!(stream, "{name}: {value}\r\n").unwrap();
    }
    stream.write_all(b"\r\n").unwrap();
    Answer::read(stream)
}

/// Sends a complete body.
pub fn post(address: SocketAddr, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut stream = connect(address);
    write!(stream, "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n", body.len()).unwrap();
    for (name, value) in headers {
        write!(stream, "{name}: {value}\r\n").unwrap();
    }
    stream.write_all(b"\r\n").unwrap();
    stream.write_all(body).unwrap();
    Answer::read(stream)
}

/// A body that is sent in pieces.
pub struct Upload {
    stream: TcpStream,
}

impl Upload {
    pub fn start(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Self {
        let mut stream = connect(address);
        write!(stream, "POST {path} HTTP/1.1\r\nhost: {address}\r\ntransfer-encoding: chunked\r\n").unwrap();
        for (name, value) in headers {
            write!(stream, "{name}: {value}\r\n").unwrap();
        }
        stream.write_all(b"\r\n").unwrap();
        Self { stream }
    }

    pub fn send(&mut self, piece: &[u8]) {
        if !piece.is_empty() {
            write!(self.stream, "{:x}\r\n", piece.len()).unwrap();
            self.stream.write_all(piece).unwrap();
            self.stream.write_all(b"\r\n").unwrap();
        }
    }

    /// Ends the body. The answer can be read at any later time.
    pub fn finish(mut self) -> Answer {
        self.stream.write_all(b"0\r\n\r\n").unwrap();
        Answer::read(self.stream)
    }

    /// The answer, while the body is still being sent.
    pub fn answer(&self) -> Answer {
        Answer::read(self.stream.try_clone().unwrap())
    }

    pub fn end(&mut self) {
        self.stream.write_all(b"0\r\n\r\n").unwrap();
    }
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    // A test that hangs would report nothing. Runners that are started may take long while other tests run.
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

impl Answer {
    pub fn read(stream: TcpStream) -> Self {
        Self::read_from(BufReader::new(stream))
    }

    fn read_from(mut reader: BufReader<TcpStream>) -> Self {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status in {line:?}"));
        let mut headers = HashMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let body = match headers.get("content-length") {
            Some(length) => Framing::Length(length.parse().unwrap()),
            None if headers.get("transfer-encoding").is_some_and(|coding| coding == "chunked") => {
                Framing::Chunked { left: 0, over: false }
            }
            None => Framing::None,
        };
        Self { status, headers, reader, body }
    }

    /// The answer after this one, which is an interim answer (100) without a body.
    pub fn next(self) -> Self {
        Self::read_from(self.reader)
    }

    /// The body as it appears on the wire.
    pub fn into_raw(self) -> (BufReader<TcpStream>, HashMap<String, String>) {
        (self.reader, self.headers)
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The next byte of the body; `None` at its end.
    fn byte(&mut self) -> Option<u8> {
        match &mut self.body {
            Framing::None => return None,
            Framing::Length(0) => return None,
            Framing::Length(left) => *left -= 1,
            Framing::Chunked { over: true, .. } => return None,
            Framing::Chunked { left, over } => {
                if *left == 0 {
                    let mut line = String::new();
                    self.reader.read_line(&mut line).unwrap();
                    if line.trim().is_empty() {
                        line.clear();
                        self.reader.read_line(&mut line).unwrap();
                    }
                    *left = usize::from_str_radix(line.trim(), 16).unwrap_or_else(|_| panic!("no chunk in {line:?}"));
                    if *left == 0 {
                        *over = true;
                        return None;
                    }
                }
                *left -= 1;
            }
        }
        let mut byte = [0];
        self.reader.read_exact(&mut byte).unwrap();
        Some(byte[0])
    }

    /// The next line of the body, without its line end; `None` at the body's end.
    pub fn line(&mut self) -> Option<String> {
        let mut line = Vec::new();
        loop {
            match self.byte() {
                None if line.is_empty() => return None,
                None | Some(b'\n') => return Some(String::from_utf8(line).unwrap()),
                Some(byte) => line.push(byte),
            }
        }
    }

    pub fn text(mut self) -> String {
        let mut bytes = Vec::new();
        while let Some(byte) = self.byte() {
            bytes.push(byte);
        }
        String::from_utf8(bytes).unwrap()
    }

    /// The rest of the body, read in large pieces.
    pub fn bytes(mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        while let Some(byte) = self.byte() {
            bytes.push(byte);
            // The rest of the current chunk.
            let left = match &mut self.body {
                Framing::Chunked { left, .. } | Framing::Length(left) => std::mem::take(left),
                Framing::None => 0,
            };
            let start = bytes.len();
            bytes.resize(start + left, 0);
            self.reader.read_exact(&mut bytes[start..]).unwrap();
        }
        bytes
    }

    pub fn json(self) -> serde_json::Value {
        let text = self.text();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The rest of a chunked body as it appears on the wire, and whether it ended in order.
    pub fn rest(self) -> (String, bool) {
        let mut reader = self.into_raw().0;
        let mut bytes = Vec::new();
        // A reset connection counts as cut off, too.
        let _ = reader.read_to_end(&mut bytes);
        let is_whole = bytes.ends_with(b"\r\n0\r\n\r\n") || bytes == b"0\r\n\r\n";
        (String::from_utf8_lossy(&bytes).into_owned(), is_whole)
    }

    /// The next server-sent event; `None` at the end. Comments are skipped.
    pub fn event(&mut self) -> Option<Event> {
        let mut event = Event::default();
        let mut has_data = false;
        loop {
            let line = self.line()?;
            if line.is_empty() {
                if has_data {
                    return Some(event);
                }
                continue;
            }
            let (field, value) = line.split_once(": ").unwrap_or((&line, ""));
            match field {
                "id" => event.id = Some(value.to_owned()),
                "event" => event.name = Some(value.to_owned()),
                "data" => {
                    has_data = true;
                    event.data.push_str(value);
                }
                _ => {}
            }
        }
    }

    pub fn events(mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.event()).collect()
    }
}
