//! A scripted model on loopback: Anthropic's Messages API, OpenAI's Responses API and Chat Completions, and the Gemini API.
//!
//! Each request with tools gets the next turn of the script, or the turn that its last prompt names (`obedient`). Other requests of
//! runners (for titles) get a short answer.

use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::obedient;

/// A part of a turn.
#[derive(Clone, Debug)]
pub enum Say {
    Text(&'static str),
    /// A word, repeated as long as the connection is read.
    Endless(&'static str),
    Tool(&'static str, Value),
    Thought(&'static str),
    /// The answer to the prompt of this number, counted from 1.
    Answer(usize),
    /// Nothing, until this file exists.
    Until(PathBuf),
    /// Instead of a turn: the API refuses the request with this message.
    Refusal(&'static str),
}

/// Where turns come from.
#[derive(Clone)]
enum Script {
    InOrder(Arc<Mutex<VecDeque<Vec<Say>>>>),
    /// The prompts name them. The file is what `Say::Until` waits for, and the tool is called by `carefully`.
    ByPrompt(PathBuf, Say),
}

impl Script {
    fn turn(&self, request: &Value) -> Vec<Say> {
        match self {
            Self::InOrder(turns) => {
                turns.lock().unwrap().pop_front().unwrap_or_else(|| vec![Say::Text("That is all.")])
            }
            Self::ByPrompt(release, tool) => obedient::turn(request, release, tool),
        }
    }
}

pub struct Model {
    pub address: SocketAddr,
    /// The requests with tools, in order of arrival.
    requests: Arc<Mutex<Vec<Value>>>,
    /// Their headers.
    headers: Arc<Mutex<Vec<HashMap<String, String>>>>,
}

impl Model {
    pub fn with_script(script: Vec<Vec<Say>>) -> Self {
        Self::start(Script::InOrder(Arc::new(Mutex::new(script.into()))))
    }

    /// A model that does what the words of the last prompt say, as `fake/agent.sh` does. `carefully` calls the tool.
    pub fn obedient(release: PathBuf, tool: Say) -> Self {
        Self::start(Script::ByPrompt(release, tool))
    }

    fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::<Mutex<Vec<Value>>>::default();
        let headers = Arc::<Mutex<Vec<HashMap<String, String>>>>::default();
        let (all_requests, all_headers) = (requests.clone(), headers.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (script, requests, headers) = (script.clone(), all_requests.clone(), all_headers.clone());
                // An error is ignored, because a runner may disconnect in the middle of an answer.
                std::thread::spawn(move || drop(answer(stream, &script, &requests, &headers)));
            }
        });
        Self { address, requests, headers }
    }

    /// The headers of the requests with tools.
    pub fn headers(&self) -> Vec<HashMap<String, String>> {
        self.headers.lock().unwrap().clone()
    }

    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(
    stream: TcpStream,
    script: &Script,
    requests: &Mutex<Vec<Value>>,
    headers: &Mutex<Vec<HashMap<String, String>>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    reader.read_line(&mut head)?;
    let (mut length, mut fields) = (0, HashMap::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap();
        }
        fields.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let path = head.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default().to_owned();
    let mut out = Out { stream, number: 0 };
    // Qwen Code has a subagent of its own that may use tools.
    let is_own = String::from_utf8_lossy(&body).contains("managed memory extraction subagent");
    let has_tools = !is_own && request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let turn = if has_tools {
        requests.lock().unwrap().push(request.clone());
        headers.lock().unwrap().push(fields);
        script.turn(&request)
    } else {
        vec![Say::Text("A title")]
    };
    if let [Say::Refusal(message)] = turn.as_slice() {
        let error = json!({"type": "invalid_request_error", "message": message});
        return out.json("400 Bad Request", &json!({"type": "error", "error": error}));
    }
    match path.rsplit('/').next().unwrap_or_default() {
        "messages" => messages(&mut out, &request, &turn),
        "responses" => responses(&mut out, &turn),
        "completions" => completions(&mut out, &request, &turn),
        name if name.ends_with(":streamGenerateContent") => contents(&mut out, &turn),
        name if name.ends_with(":generateContent") => {
            out.json("200 OK", &candidate(&json!({"text": "A title"}), Some("STOP")))
        }
        "count_tokens" => out.json("200 OK", &json!({"input_tokens": 10})),
        _ => out.json("404 Not Found", &json!({})),
    }
}

struct Out {
    stream: TcpStream,
    number: u64,
}

impl Out {
    fn json(&mut self, status: &str, body: &Value) -> std::io::Result<()> {
        let body = body.to_string();
        let length = body.len();
        write!(
            self.stream,
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )
    }

    fn begin(&mut self) -> std::io::Result<()> {
        // Headers that Codex reads.
        let own = "x-codex-primary-used-percent: 12\r\nx-models-etag: abc\r\n";
        write!(self.stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{own}connection: close\r\n\r\n")
    }

    /// An event whose name is its type.
    fn event(&mut self, mut data: Value) -> std::io::Result<()> {
        let name = data["type"].as_str().unwrap_or_default().to_owned();
        data["sequence_number"] = json!(self.number);
        self.number += 1;
        write!(self.stream, "event: {name}\ndata: {data}\n\n")?;
        self.stream.flush()
    }

    fn data(&mut self, data: &str) -> std::io::Result<()> {
        write!(self.stream, "data: {data}\n\n")?;
        self.stream.flush()
    }
}

/// Waits for what `Say::Until` names. The connection is written to, so that the wait ends when the runner disconnects.
fn wait(out: &mut Out, say: &Say) -> std::io::Result<()> {
    let Say::Until(file) = say else { return Ok(()) };
    while !file.exists() {
        write!(out.stream, ": waiting\n\n")?;
        out.stream.flush()?;
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// The pieces of a text.
fn pieces(say: &Say) -> Box<dyn Iterator<Item = String> + '_> {
    match say {
        Say::Text(text) => Box::new(text.split_inclusive(' ').map(str::to_owned)),
        Say::Endless(word) => Box::new(std::iter::repeat_with(move || {
            std::thread::sleep(Duration::from_millis(50));
            format!("{word} ")
        })),
        Say::Thought(text) => Box::new(std::iter::once((*text).to_owned())),
        Say::Answer(number) => Box::new(std::iter::once(format!("Answer {number}."))),
        Say::Tool(..) | Say::Until(_) | Say::Refusal(_) => Box::new(std::iter::empty()),
    }
}

fn messages(out: &mut Out, request: &Value, turn: &[Say]) -> std::io::Result<()> {
    let usage = json!({"input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1});
    // Claude Code takes messages of the same id for parts of one.
    let id = format!("msg_{}", request["messages"].as_array().map_or(0, Vec::len));
    let message = json!({"id": id, "type": "message", "role": "assistant", "model": request["model"], "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage});
    if request["stream"] != json!(true) {
        let mut message = message;
        message["content"] = json!([{"type": "text", "text": "A title"}]);
        message["stop_reason"] = json!("end_turn");
        return out.json("200 OK", &message);
    }
    out.begin()?;
    out.event(json!({"type": "message_start", "message": message}))?;
    let mut stop = "end_turn";
    let mut index = 0;
    for say in turn {
        if matches!(say, Say::Until(_)) {
            wait(out, say)?;
            continue;
        }
        let delta = |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        let start = match say {
            Say::Tool(name, _) => {
                stop = "tool_use";
                let id = format!("toolu_{:022}", request["messages"].as_array().map_or(0, Vec::len) * 10 + index);
                json!({"type": "tool_use", "id": id, "name": name, "input": {}})
            }
            Say::Thought(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
            _ => json!({"type": "text", "text": ""}),
        };
        out.event(json!({"type": "content_block_start", "index": index, "content_block": start}))?;
        for piece in pieces(say) {
            out.event(delta(match say {
                Say::Thought(_) => json!({"type": "thinking_delta", "thinking": piece}),
                _ => json!({"type": "text_delta", "text": piece}),
            }))?;
        }
        if matches!(say, Say::Thought(_)) {
            out.event(delta(json!({"type": "signature_delta", "signature": "c2lnbmVk"})))?;
        }
        if let Say::Tool(_, input) = say {
            out.event(delta(json!({"type": "input_json_delta", "partial_json": input.to_string()})))?;
        }
        out.event(json!({"type": "content_block_stop", "index": index}))?;
        index += 1;
    }
    let usage = json!({"input_tokens": 100, "output_tokens": 42});
    out.event(json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": usage}))?;
    out.event(json!({"type": "message_stop"}))
}

fn responses(out: &mut Out, turn: &[Say]) -> std::io::Result<()> {
    out.begin()?;
    let response = |status: &str, output: &[Value]| {
        json!({"id": "resp_1", "object": "response", "status": status, "output": output,
            "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 42,
                "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 142}})
    };
    out.event(json!({"type": "response.created", "response": response("in_progress", &[])}))?;
    let mut done = Vec::new();
    let mut index = 0;
    for say in turn {
        if matches!(say, Say::Until(_)) {
            wait(out, say)?;
            continue;
        }
        let id = format!("item_{index}");
        let item = match say {
            Say::Thought(text) => {
                let open = json!({"type": "reasoning", "id": id, "summary": []});
                out.event(json!({"type": "response.output_item.added", "output_index": index, "item": open}))?;
                let part = |kind: &str| json!({"type": kind, "item_id": id, "output_index": index, "summary_index": 0});
                let mut added = part("response.reasoning_summary_part.added");
                added["part"] = json!({"type": "summary_text", "text": ""});
                out.event(added)?;
                let mut delta = part("response.reasoning_summary_text.delta");
                delta["delta"] = json!(text);
                out.event(delta)?;
                json!({"type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": text}]})
            }
            Say::Tool(name, arguments) => {
                let item = json!({"type": "function_call", "id": id, "call_id": format!("call_{index}"), "name": name,
                    "arguments": arguments.to_string(), "status": "completed"});
                out.event(json!({"type": "response.output_item.added", "output_index": index, "item": item}))?;
                item
            }
            say => {
                let open =
                    json!({"type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": []});
                out.event(json!({"type": "response.output_item.added", "output_index": index, "item": open}))?;
                let mut text = String::new();
                for piece in pieces(say) {
                    text.push_str(&piece);
                    out.event(json!({"type": "response.output_text.delta", "item_id": id, "output_index": index,
                        "content_index": 0, "delta": piece}))?;
                }
                let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
                json!({"type": "message", "id": id, "role": "assistant", "status": "completed", "content": content})
            }
        };
        out.event(json!({"type": "response.output_item.done", "output_index": index, "item": item}))?;
        done.push(item);
        index += 1;
    }
    out.event(json!({"type": "response.completed", "response": response("completed", &done)}))
}

fn completions(out: &mut Out, request: &Value, turn: &[Say]) -> std::io::Result<()> {
    let chunk = |delta: Value, finish: Option<&str>| {
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": request["model"],
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    };
    out.begin()?;
    let mut finish = "stop";
    for (index, say) in turn.iter().enumerate() {
        wait(out, say)?;
        for piece in pieces(say) {
            out.data(&chunk(json!({"role": "assistant", "content": piece}), None).to_string())?;
        }
        if let Say::Tool(name, arguments) = say {
            finish = "tool_calls";
            let call = json!({"index": index, "id": format!("call_{index}"), "type": "function",
                "function": {"name": name, "arguments": arguments.to_string()}});
            out.data(&chunk(json!({"role": "assistant", "tool_calls": [call]}), None).to_string())?;
        }
    }
    let mut last = chunk(json!({}), Some(finish));
    last["usage"] = json!({"prompt_tokens": 100, "completion_tokens": 42, "total_tokens": 142});
    out.data(&last.to_string())?;
    out.data("[DONE]")
}

/// A chunk of the Gemini API with one part.
fn candidate(part: &Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": [part]}});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let usage = json!({"promptTokenCount": 100, "candidatesTokenCount": 42, "totalTokenCount": 142});
    json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"})
}

fn contents(out: &mut Out, turn: &[Say]) -> std::io::Result<()> {
    out.begin()?;
    for say in turn {
        wait(out, say)?;
        for piece in pieces(say) {
            let part = json!({"text": piece, "thought": matches!(say, Say::Thought(_))});
            out.data(&candidate(&part, None).to_string())?;
        }
        if let Say::Tool(name, arguments) = say {
            out.data(&candidate(&json!({"functionCall": {"name": name, "args": arguments}}), None).to_string())?;
        }
    }
    out.data(&candidate(&json!({"text": ""}), Some("STOP")).to_string())
}
