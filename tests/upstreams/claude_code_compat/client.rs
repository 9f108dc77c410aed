//! A client of the control protocol.

use crate::started::PATIENCE;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

/// A client of the control protocol.
pub struct Client {
    pub child: Child,
    pub input: Option<ChildStdin>,
    lines: Receiver<Value>,
    pub seen: Vec<Value>,
    last: u64,
    prompts: u64,
}

/// The flags of a client that answers questions.
pub const STREAMING: [&str; 6] =
    ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--permission-prompt-tool=stdio"];

impl Client {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let line = line.unwrap();
                let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { child, input, lines, seen: Vec::new(), last: 0, prompts: 0 }
    }

    pub fn write(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a prompt, and returns its id.
    pub fn prompt(&mut self, text: &str) -> String {
        self.prompts += 1;
        let uuid = format!("prompt {}", self.prompts);
        self.prompt_again(text, &uuid);
        uuid
    }

    /// Sends a prompt with this id.
    pub fn prompt_again(&mut self, text: &str, uuid: &str) {
        self.write(&json!({
            "type": "user",
            "session_id": "",
            "message": {"role": "user", "content": text},
            "parent_tool_use_id": null,
            "uuid": uuid,
        }));
    }

    pub fn next(&mut self) -> Value {
        let message =
            self.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("the command says nothing: {error}"));
        self.seen.push(message.clone());
        message
    }

    pub fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next();
            if fits(&message) {
                return message;
            }
        }
    }

    pub fn result(&mut self) -> Value {
        self.until(|message| message["type"] == "result")
    }

    /// Sends a request, and returns the response.
    pub fn ask(&mut self, request: &Value) -> Value {
        self.last += 1;
        let id = format!("request {}", self.last);
        self.write(&json!({"type": "control_request", "request_id": id, "request": request}));
        let is_answer =
            |message: &Value| message["type"] == "control_response" && message["response"]["request_id"] == id;
        self.until(is_answer)["response"].clone()
    }

    pub fn question(&mut self) -> Value {
        self.until(|message| message["request"]["subtype"] == "can_use_tool")
    }

    pub fn answer(&mut self, question: &Value, response: &Value) {
        let response = json!({"subtype": "success", "request_id": question["request_id"], "response": response});
        self.write(&json!({"type": "control_response", "response": response}));
    }

    /// A whole turn.
    pub fn turn(&mut self, text: &str) -> Value {
        self.seen.clear();
        self.prompt(text);
        self.result()
    }

    /// Whether the only call that was seen failed.
    pub fn has_failed_call(&self) -> bool {
        let blocks = self.seen.iter().filter_map(|message| message["message"]["content"].as_array()).flatten();
        let results: Vec<&Value> = blocks.filter(|block| block["type"] == "tool_result").collect();
        assert_eq!(results.len(), 1, "{:#?}", self.seen);
        results[0]["is_error"] == true
    }

    /// Closes standard input, and returns the exit code and standard error.
    pub fn leave(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        (self.child.wait().unwrap().code(), text)
    }
}
