//! The agent's requests for files and terminals.
//!
//! Input: requests of the agent, results of the host. Output: requests for the host, results for the agent. Never: a request that the
//! client did not offer; more than [`MOST`] requests at once; a second result for a request.

use super::super::super::json_rpc::{INVALID_PARAMS, METHOD_NOT_FOUND, request_id};
use crate::frame::{RawJson, SharedStr};
use crate::host::{Offer, Served, Service, ServiceError, ServiceRequest, TerminalExit};
use crate::json::{Json, Kind, Object};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The maximum number of requests that the host works on. Further ones are refused at once.
const MOST: usize = 256;

/// The code of the error about a file or terminal that does not exist.
const NOT_FOUND: i32 = -32_002;

/// The code of the error about something that failed.
const INTERNAL_ERROR: i32 = -32_603;

/// An error for the agent: its code and message.
pub(super) type Refusal = (i32, String);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Services {
    pub(super) offer: Offer,
    next: u64,
    /// The ids of the requests that await their results, as keys and as the agent wrote them.
    open: BTreeMap<u64, (SharedStr, RawJson)>,
    waiting: Vec<ServiceRequest>,
}

impl Services {
    /// What the client says about itself.
    pub(super) fn capabilities(&self) -> Value {
        json!({
            "fs": {"readTextFile": self.offer.reads_files, "writeTextFile": self.offer.writes_files},
            "terminal": self.offer.terminals,
            "elicitation": {"form": {}, "url": {}},
        })
    }

    /// Whether the method is one for files or terminals.
    pub(super) fn is_service(method: &str) -> bool {
        method.starts_with("fs/") || method.starts_with("terminal/")
    }

    /// Takes a request.
    ///
    /// # Errors
    /// The client did not offer it, its parameters are wrong, or too many requests are open.
    pub(super) fn begin(&mut self, method: &str, id: Json<'_>, params: &Object<'_>) -> Result<(), Refusal> {
        let is_offered = match method {
            "fs/read_text_file" => self.offer.reads_files,
            "fs/write_text_file" => self.offer.writes_files,
            _ => self.offer.terminals,
        };
        let unknown = || (METHOD_NOT_FOUND, format!("this client does not support {method}"));
        if !is_offered {
            return Err(unknown());
        }
        let invalid = |key: &str| (INVALID_PARAMS, format!("{method}: {key} is missing or has the wrong type"));
        let service = read(method, params).ok_or_else(unknown)?.map_err(invalid)?;
        if self.open.len() >= MOST {
            return Err((INTERNAL_ERROR, format!("more than {MOST} requests are open")));
        }
        self.next += 1;
        self.open.insert(self.next, (request_id(id), id.to_raw_as_it_came()));
        self.waiting.push(ServiceRequest { ticket: self.next, service });
        Ok(())
    }

    /// Takes the requests for the host.
    pub(super) fn take(&mut self) -> Vec<ServiceRequest> {
        std::mem::take(&mut self.waiting)
    }

    /// The id of the request that a result belongs to, with what to answer; `None` if it was withdrawn.
    pub(super) fn end(
        &mut self,
        ticket: u64,
        result: Result<Served, ServiceError>,
    ) -> Option<(RawJson, Result<Value, Refusal>)> {
        let (_, id) = self.open.remove(&ticket)?;
        let answer = match result {
            Ok(served) => Ok(written(served)),
            Err(ServiceError::NotFound(why)) => Err((NOT_FOUND, why)),
            Err(ServiceError::Refused(why)) => Err((INVALID_PARAMS, why)),
            Err(ServiceError::Failed(why)) => Err((INTERNAL_ERROR, why)),
        };
        Some((id, answer))
    }

    /// Forgets a request that the agent withdraws; returns its id. The host's result is then ignored.
    pub(super) fn withdraw(&mut self, key: &str) -> Option<RawJson> {
        let ticket = *self.open.iter().find(|(_, (known, _))| **known == *key)?.0;
        self.waiting.retain(|request| request.ticket != ticket);
        self.open.remove(&ticket).map(|(_, id)| id)
    }
}

/// Reads a request; `None` if the method is unknown.
///
/// # Errors
/// The name of the parameter that is missing or has the wrong type.
fn read(method: &str, params: &Object<'_>) -> Option<Result<Service, &'static str>> {
    let text = |key: &'static str| params.str(key).map(String::from).ok_or(key);
    // Absent and null mean the same.
    let number = |key: &'static str| match params.some(key) {
        None => Ok(None),
        Some(value) => value.u64().map(Some).ok_or(key),
    };
    let optional = |key: &'static str| match params.some(key) {
        None => Ok(None),
        Some(value) => value.str().map(|text| Some(text.into_owned())).ok_or(key),
    };
    let file = || Ok(Service::ReadFile { path: text("path")?, first_line: number("line")?, lines: number("limit")? });
    let list = |key: &'static str| match params.some(key) {
        None => Ok(Vec::new()),
        Some(list) if list.kind() == Kind::Array => Ok(list.items()),
        Some(_) => Err(key),
    };
    let terminal = || {
        let arguments: Option<Vec<_>> =
            list("args")?.into_iter().map(|argument| argument.str().map(String::from)).collect();
        let variable = |variable: Json<'_>| {
            let variable = variable.object()?;
            Some((variable.str("name")?.into_owned(), variable.str("value")?.into_owned()))
        };
        let environment: Option<Vec<_>> = list("env")?.into_iter().map(variable).collect();
        Ok(Service::CreateTerminal {
            command: text("command")?,
            arguments: arguments.ok_or("args")?,
            environment: environment.ok_or("env")?,
            cwd: optional("cwd")?,
            output_bytes: number("outputByteLimit")?,
        })
    };
    let id = || text("terminalId");
    Some(match method {
        "fs/read_text_file" => file(),
        "fs/write_text_file" => {
            text("path").and_then(|path| Ok(Service::WriteFile { path, content: text("content")? }))
        }
        "terminal/create" => terminal(),
        "terminal/output" => id().map(Service::ReadTerminal),
        "terminal/wait_for_exit" => id().map(Service::WaitForExit),
        "terminal/kill" => id().map(Service::KillTerminal),
        "terminal/release" => id().map(Service::ReleaseTerminal),
        _ => return None,
    })
}

/// The result as the protocol has it.
fn written(served: Served) -> Value {
    let status = |exit: TerminalExit| json!({"exitCode": exit.code, "signal": exit.signal});
    match served {
        Served::Done => json!({}),
        Served::Text(text) => json!({"content": text}),
        Served::Terminal(id) => json!({"terminalId": id}),
        Served::Output { text, is_truncated, exit } => {
            json!({"output": text, "truncated": is_truncated, "exitStatus": exit.map(status)})
        }
        Served::Exit(exit) => status(exit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn services() -> Services {
        let offer = Offer { reads_files: true, terminals: true, ..Offer::default() };
        Services { offer, ..Services::default() }
    }

    fn ask(services: &mut Services, id: u64, method: &str, params: &Value) -> Result<(), Refusal> {
        let (id, params) = (id.to_string(), params.to_string());
        services.begin(method, Json::parse(&id).unwrap(), &Object::parse(&params).unwrap())
    }

    #[test]
    fn only_so_many_requests_are_open() {
        let mut services = services();
        let wait = json!({"sessionId": "s", "terminalId": "t"});
        for id in 0..MOST as u64 {
            ask(&mut services, id, "terminal/wait_for_exit", &wait).unwrap();
        }
        assert_eq!(ask(&mut services, 999, "terminal/wait_for_exit", &wait).unwrap_err().0, INTERNAL_ERROR);
        let taken = services.take();
        assert_eq!((taken.len(), services.take().len()), (MOST, 0));
        let first = taken.first().unwrap().ticket;
        let (id, answer) = services.end(first, Ok(Served::Done)).unwrap();
        assert_eq!((id.get(), answer), ("0", Ok(json!({}))));
        assert!(services.end(first, Ok(Served::Done)).is_none(), "one result for each request");
        ask(&mut services, 999, "terminal/wait_for_exit", &wait).unwrap();
    }

    #[test]
    fn a_withdrawn_request_has_no_result() {
        let mut services = services();
        ask(&mut services, 7, "fs/read_text_file", &json!({"sessionId": "s", "path": "/a"})).unwrap();
        assert_eq!(services.withdraw("request-8").map(|id| id.get().to_owned()), None);
        assert_eq!(services.withdraw("request-7").map(|id| id.get().to_owned()), Some("7".to_owned()));
        assert!(services.take().is_empty(), "the host had not begun");
        assert!(services.end(1, Ok(Served::Done)).is_none());
    }

    #[test]
    fn what_is_not_offered_or_not_valid_is_refused() {
        let mut services = services();
        let mut code = |method: &str, params: Value| ask(&mut services, 1, method, &params).unwrap_err().0;
        assert_eq!(code("fs/write_text_file", json!({"path": "/a", "content": ""})), METHOD_NOT_FOUND);
        assert_eq!(code("terminal/resize", json!({"terminalId": "t"})), METHOD_NOT_FOUND);
        for (method, params) in [
            ("fs/read_text_file", json!({"path": 1})),
            ("fs/read_text_file", json!({"path": "/a", "line": "2"})),
            ("fs/read_text_file", json!({"path": "/a", "limit": -1})),
            ("terminal/create", json!({"args": []})),
            ("terminal/create", json!({"command": "x", "args": [1]})),
            ("terminal/create", json!({"command": "x", "env": [{"name": "A"}]})),
            ("terminal/create", json!({"command": "x", "cwd": 1})),
            ("terminal/output", json!({})),
        ] {
            assert_eq!(code(method, params.clone()), INVALID_PARAMS, "{method} {params}");
        }
    }
}
