//! Requests about sessions: to begin one, to open one again, to configure and to close it.
//!
//! Input: the parameters of a request, and reports of a history. Output: the answer, perhaps after the history. Never: a session that is open although
//! its history could not be read.

use super::{Action, Agent, Answered, Load, Open, at_work, text};
use crate::cli::acp::event::{Event, MODEL, used_model};
use crate::cli::acp::modes::MODE;
use crate::cli::acp::rpc::{self, INTERNAL_ERROR, RpcError};
use crate::cli::acp::session::{Session, unknown};
use serde_json::{Value, json};
use uuid::Uuid;

/// The longest path that Linux accepts, in bytes. Sessions are remembered with theirs.
const MAX_PATH: usize = 4096;

impl Agent {
    pub(super) fn new_session(&mut self, params: &Value) -> Answered {
        let cwd = directory(params)?;
        let id = self.settings.clock.new_id().to_string();
        let now = self.settings.clock.now_ms();
        let session = Session { cwd, is_open: true, updated_at_ms: now, ..Session::default() };
        self.sessions.add(id.clone(), session)?;
        self.warn_of_servers(params);
        let mut result = self.options(&id);
        rpc::set(&mut result, "sessionId", id.into());
        Ok(Some(result))
    }

    /// The servers of the client cannot be given to the runner.
    fn warn_of_servers(&mut self, params: &Value) {
        let servers = params.get("mcpServers").and_then(Value::as_array).into_iter().flatten();
        let names: Vec<&str> = servers.filter_map(|server| server["name"].as_str()).collect();
        if !names.is_empty() {
            let text = format!(
                "the MCP servers {} of the client are not used: configure them for the runner itself",
                names.join(", ")
            );
            self.actions.push(Action::Warn(text));
        }
    }

    /// What the client may choose in a session, as an object, which is empty without a choice.
    fn options(&self, id: &str) -> Value {
        let mut result = json!({});
        let list = self.option_list(id);
        if !list.is_empty() {
            rpc::set(&mut result, "configOptions", list.into());
        }
        let mode = self.sessions.get(id).and_then(|session| session.mode.as_deref());
        if let Some(modes) = self.modes.state(mode) {
            rpc::set(&mut result, "modes", modes);
        }
        result
    }

    fn option_list(&self, id: &str) -> Vec<Value> {
        let session = self.sessions.get(id);
        let model = session.and_then(|session| session.model.as_deref().or(session.used_model.as_deref()));
        self.reader(id).options.list(model)
    }

    /// Notes the model that an update is about, which is then an option of the session.
    pub(super) fn note_model(&mut self, id: &str, update: &Value) {
        let model = update.get("params").and_then(used_model);
        if let (Some(model), Some(session)) = (model, self.sessions.get_mut(id)) {
            session.used_model = Some(model.to_owned());
        }
    }

    /// Chooses the mode of the next prompts.
    pub(super) fn set_mode(&mut self, params: &Value) -> Answered {
        let id = text(params, "sessionId")?;
        let session = self.sessions.open(id)?;
        let mode = text(params, "modeId")?;
        self.modes.check(mode)?;
        session.mode = Some(mode.to_owned());
        // The mode is an option too.
        let update = json!({"sessionUpdate": "config_option_update", "configOptions": self.option_list(id)});
        self.send(rpc::notification("session/update", json!({"sessionId": id, "update": update})));
        Ok(Some(json!({})))
    }

    pub(super) fn set_option(&mut self, params: &Value) -> Answered {
        let id = text(params, "sessionId")?;
        let session = self.sessions.open(id)?;
        let (option, value) = (text(params, "configId")?, text(params, "value")?);
        match option {
            MODEL if self.settings.models.iter().any(|model| model == value) => session.model = Some(value.to_owned()),
            MODEL if !self.settings.models.is_empty() => {
                let known = self.settings.models.join(", ");
                return Err(RpcError::params(format!("there is no model {value:?}; there are {known}")));
            }
            MODE => {
                self.modes.check(value)?;
                session.mode = Some(value.to_owned());
                let update = json!({"sessionUpdate": "current_mode_update", "currentModeId": value});
                self.send(rpc::notification("session/update", json!({"sessionId": id, "update": update})));
            }
            _ => return Err(RpcError::params(format!("there is no option {option:?}"))),
        }
        Ok(Some(json!({"configOptions": self.option_list(id)})))
    }

    pub(super) fn load(&mut self, request: &Value, params: &Value, replays: bool) -> Answered {
        let (id, cwd) = (text(params, "sessionId")?, directory(params)?);
        let mut is_new = false;
        if self.sessions.get(id).is_none() {
            // A session that another client began is named by the proxy's id, unless it has another one here.
            let session_id = Uuid::try_parse(id).map_err(|_| unknown(id))?;
            if let Some(known) = self.sessions.of_proxy(session_id) {
                return Err(RpcError::params(format!("the session {id:?} has the id {known:?} here")));
            }
            let now = self.settings.clock.now_ms();
            let session = Session { at_proxy: Some(session_id), updated_at_ms: now, ..Session::default() };
            self.sessions.add(id.to_owned(), session)?;
            is_new = true;
        }
        let session = self.sessions.get_mut(id).ok_or_else(|| unknown(id))?;
        if session.turn.is_some() || session.is_loading {
            return Err(at_work());
        }
        session.cwd = cwd;
        let Some(session_id) = session.at_proxy else {
            // It has no history yet.
            session.is_open = true;
            return Ok(Some(self.options(id)));
        };
        session.is_loading = true;
        self.last += 1;
        let load = Load { request: request.clone(), session: id.to_owned(), is_new, terminals: self.terminals() };
        self.loads.insert(self.last, load);
        self.actions.push(Action::Load { load: self.last, session_id, replays });
        self.warn_of_servers(params);
        Ok(None)
    }

    pub(super) fn history(&mut self, load: u64, event: Value) {
        let Some(session) = self.loads.get(&load).map(|load| load.session.clone()) else { return };
        // Questions of the past are decided, and the prompts were answered.
        if let Some(Event::Update(update)) = self.reader(&session).adapt(event) {
            let mut terminals = self.loads.get_mut(&load).and_then(|load| load.terminals.take());
            self.send_update(&session, update, &mut terminals);
            if let Some(load) = self.loads.get_mut(&load) {
                load.terminals = terminals;
            }
        }
    }

    pub(super) fn loaded(&mut self, load: u64, outcome: Result<Option<Option<Open>>, String>) {
        let Some(Load { request, session: id, is_new, terminals }) = self.loads.remove(&load) else { return };
        if let Some(session) = self.sessions.get_mut(&id) {
            session.is_loading = false;
        }
        let failed = match &outcome {
            Err(reason) => Some(RpcError::new(INTERNAL_ERROR, reason.clone())),
            Ok(None) => Some(unknown(&id)),
            Ok(Some(_)) => None,
        };
        if let Some(error) = failed {
            if is_new {
                self.sessions.remove(&id);
            }
            return self.send(rpc::error(&request, &error));
        }
        if let Some(session) = self.sessions.get_mut(&id) {
            session.is_open = true;
        }
        let options = self.options(&id);
        self.send(rpc::result(&request, options));
        if let Ok(Some(Some(Open { run, after }))) = outcome {
            let turn = self.begin(&id, None);
            if let Some(turn) = self.turns.get_mut(&turn) {
                turn.run = Some(run);
                turn.terminals = terminals;
            }
            self.actions.push(Action::Follow { turn, run, after });
        }
    }

    pub(super) fn close(&mut self, params: &Value) -> Answered {
        let id = text(params, "sessionId")?;
        let session = self.sessions.open(id)?;
        session.is_open = false;
        if let Some(turn) = session.turn {
            self.cancel(turn);
        }
        Ok(Some(json!({})))
    }
}

/// The directory of a session, which must be absolute.
fn directory(params: &Value) -> Result<String, RpcError> {
    let cwd = text(params, "cwd")?;
    if !std::path::Path::new(cwd).is_absolute() {
        return Err(RpcError::params(format!("cwd must be an absolute path, not {cwd:?}")));
    }
    if cwd.len() > MAX_PATH {
        return Err(RpcError::params(format!("cwd has {} bytes, but a path has at most {MAX_PATH}", cwd.len())));
    }
    Ok(cwd.to_owned())
}
