//! How a session begins: which request opens it, and which requests configure it before its first prompt.
//!
//! Input: what the host wants, what the agent is able to do. Output: requests. Never: a session in another mode or with another model than
//! the host chose.

use crate::frame::RawJson;
use crate::host::Opening;
use crate::json::{Json, Object};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::VecDeque;

/// The code of the error with which an agent asks for `authenticate`.
pub(super) const AUTHENTICATION_REQUIRED: i64 = -32_000;

/// How an agent continues a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Resume {
    #[default]
    No,
    /// It only continues. It may also be able to load.
    Silently { loads: bool },
    /// It tells its history first.
    Load,
}

impl Resume {
    /// Reads what the agent is able to do.
    pub(super) fn read(capabilities: &Object<'_>) -> Self {
        let resumes =
            capabilities.object("sessionCapabilities").is_some_and(|session| session.some("resume").is_some());
        match (resumes, capabilities.bool("loadSession") == Some(true)) {
            (true, loads) => Self::Silently { loads },
            (false, true) => Self::Load,
            (false, false) => Self::No,
        }
    }

    /// Falls back to loading the session, if the agent is able to and that was not tried.
    pub(super) fn falls_back(&mut self) -> bool {
        let can = *self == Self::Silently { loads: true };
        if can {
            *self = Self::Load;
        }
        can
    }
}

/// The way to authenticate that needs no person: one with a key that the agent has in its environment, otherwise the first one that
/// needs no terminal.
pub(super) fn method(greeting: &Object<'_>) -> Option<String> {
    let is = |fields: &Object<'_>, kind: &str| fields.str("type").as_deref() == Some(kind);
    let needs_terminal = |method: &Object<'_>| {
        let of_meta = |meta: Object<'_>| is(&meta, "terminal") || meta.some("terminal-auth").is_some();
        is(method, "terminal") || method.object("_meta").is_some_and(of_meta)
    };
    let has_key = |method: &Object<'_>| {
        is(method, "env_var") || method.object("_meta").is_some_and(|meta| meta.some("api-key").is_some())
    };
    let methods: Vec<Object<'_>> = greeting.items("authMethods").into_iter().filter_map(Json::object).collect();
    let mut usable = methods.iter().filter(|method| !needs_terminal(method) && method.str("id").is_some());
    let first = usable.clone().next();
    let chosen = usable.find(|method| has_key(method)).or(first)?;
    chosen.str("id").map(Cow::into_owned)
}

/// Checks that the agent offers a method to authenticate.
///
/// # Errors
/// It offers others, or none.
pub(super) fn offers(greeting: &Object<'_>, method: &str) -> Result<(), String> {
    let offered = greeting.items("authMethods").into_iter().filter_map(Json::object);
    let ids: Vec<String> = offered.filter_map(|method| method.str("id").map(String::from)).take(MOST_NAMED).collect();
    match ids.iter().any(|id| id == method) {
        true => Ok(()),
        false if ids.is_empty() => Err(format!("the agent offers no authentication, so not {method:?}")),
        false => Err(format!("the agent does not offer the authentication {method:?}; it offers {}", ids.join(", "))),
    }
}

/// The maximum number of methods that a message names.
const MOST_NAMED: usize = 16;

/// Checks that the agent supports the transport of each MCP server. All agents support programs, which have no `type`.
///
/// # Errors
/// It does not support one of them.
pub(super) fn supports(capabilities: &Object<'_>, servers: &[RawJson]) -> Result<(), String> {
    let known = capabilities.object("mcpCapabilities");
    for server in servers {
        let Some(server) = Object::parse(server.get()) else { continue };
        let Some(transport) = server.str("type") else { continue };
        if known.as_ref().is_none_or(|known| known.bool(&transport) != Some(true)) {
            let name = server.str("name").unwrap_or_default();
            return Err(format!("the agent cannot reach the MCP server {name:?}: it does not support {transport}"));
        }
    }
    Ok(())
}

/// The request that opens the session.
///
/// # Errors
/// The agent is not able to continue a session.
pub(super) fn request(
    opening: &Opening,
    resume: Resume,
    servers: &[RawJson],
) -> Result<(&'static str, Value), &'static str> {
    let cwd = opening.cwd.as_deref().unwrap_or(".");
    let Some(session) = &opening.session else {
        return Ok(("session/new", json!({"cwd": cwd, "mcpServers": servers})));
    };
    let method = match resume {
        Resume::Silently { .. } => "session/resume",
        Resume::Load => "session/load",
        Resume::No => return Err("the agent is not able to continue a session"),
    };
    Ok((method, json!({"sessionId": session, "cwd": cwd, "mcpServers": servers})))
}

/// A part of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// An option of the session, by its id, with the value.
    Option(String, String),
    Mode(String),
    Model(String),
}

/// The requests that configure a session before its first prompt.
#[derive(Debug, Default)]
pub(super) struct Configuration(VecDeque<Part>);

impl Configuration {
    /// Finds how to choose the model and the mode, in the answer that opened the session.
    ///
    /// # Errors
    /// The agent does not offer the model or the mode.
    pub(super) fn read(opening: &Opening, session: &Object<'_>) -> Result<Self, String> {
        let mut parts = VecDeque::new();
        if let Some(model) = &opening.model {
            let listed = session.object("models").map(|models| has(&models, "availableModels", &["modelId"], model));
            let part = option(session, "model", model).or_else(|| listed?.then(|| Part::Model(model.clone())));
            parts.push_back(part.ok_or_else(|| format!("the agent does not offer the model {model:?}"))?);
        }
        if let Some(mode) = &opening.mode {
            let listed = session.object("modes").map(|modes| has(&modes, "availableModes", &["id"], mode));
            let part = option(session, "mode", mode).or_else(|| listed?.then(|| Part::Mode(mode.clone())));
            parts.push_back(part.ok_or_else(|| format!("the agent does not offer the mode {mode:?}"))?);
        }
        Ok(Self(parts))
    }

    /// Whether every request was sent.
    pub(super) fn is_done(&self) -> bool {
        self.0.is_empty()
    }

    /// The next request.
    pub(super) fn next(&mut self, session: &str) -> Option<(&'static str, Value)> {
        Some(match self.0.pop_front()? {
            Part::Option(id, value) => {
                ("session/set_config_option", json!({"sessionId": session, "configId": id, "value": value}))
            }
            Part::Mode(mode) => ("session/set_mode", json!({"sessionId": session, "modeId": mode})),
            Part::Model(model) => ("session/set_model", json!({"sessionId": session, "modelId": model})),
        })
    }
}

/// Whether a list has an object with this value.
fn has(fields: &Object<'_>, list: &str, keys: &[&str], value: &str) -> bool {
    let is_it = |item: Object<'_>| keys.iter().any(|key| item.str(key).as_deref() == Some(value));
    fields.items(list).into_iter().filter_map(Json::object).any(is_it)
}

/// The option of that category, if it has the value. Its values may be in groups.
fn option(session: &Object<'_>, category: &str, value: &str) -> Option<Part> {
    let options = session.items("configOptions").into_iter().filter_map(Json::object);
    let mut of_category = options.filter(|option| option.str("category").as_deref() == Some(category));
    of_category.find_map(|option| {
        let in_group = |group: Object<'_>| has(&group, "options", &["value"], value);
        let grouped = || option.items("options").into_iter().filter_map(Json::object).any(in_group);
        let is_offered = has(&option, "options", &["value"], value) || grouped();
        is_offered.then(|| Some(Part::Option(option.str("id")?.into_owned(), value.to_owned())))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_preferred_and_a_terminal_is_never_asked_for() {
        let chosen = |methods: Value| method(&Object::parse(&json!({"authMethods": methods}).to_string()).unwrap());
        let (plain, key) = (json!({"id": "oauth"}), json!({"id": "key", "_meta": {"api-key": {"provider": "google"}}}));
        let environment = json!({"id": "env", "type": "env_var"});
        let terminals = [
            json!({"id": "t", "type": "terminal"}),
            json!({"id": "t", "_meta": {"type": "terminal"}}),
            json!({"id": "t", "_meta": {"terminal-auth": {"command": "login"}}}),
        ];
        assert_eq!(chosen(json!([plain, key])).as_deref(), Some("key"));
        assert_eq!(chosen(json!([plain, environment])).as_deref(), Some("env"));
        assert_eq!(chosen(json!([{"name": "no id"}, plain])).as_deref(), Some("oauth"));
        for terminal in terminals {
            assert_eq!(chosen(json!([terminal])), None, "{terminal}");
            assert_eq!(chosen(json!([terminal, plain])).as_deref(), Some("oauth"));
        }
        assert_eq!(chosen(json!([])), None);
    }

    #[test]
    fn an_agent_that_cannot_resume_loads_once() {
        let of = |capabilities: Value| Resume::read(&Object::parse(&capabilities.to_string()).unwrap());
        let mut both = of(json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}));
        assert!(both.falls_back() && both == Resume::Load && !both.falls_back());
        let mut only = of(json!({"sessionCapabilities": {"resume": {}}}));
        assert!(!only.falls_back() && !of(json!({})).falls_back());
    }

    #[test]
    fn authentication_and_servers_must_be_supported() {
        let greeting = json!({"authMethods": [{"id": "a"}, {"id": "b"}]}).to_string();
        let greeting = Object::parse(&greeting).unwrap();
        assert!(offers(&greeting, "b").is_ok());
        assert!(offers(&greeting, "c").unwrap_err().contains("it offers a, b"));
        assert!(offers(&Object::parse("{}").unwrap(), "c").unwrap_err().contains("no authentication"));
        let of = |text: &str| crate::json::Json::parse(text).unwrap().to_raw_as_it_came();
        let (program, http) = (of(r#"{"name":"p","command":"x"}"#), of(r#"{"type":"http","name":"h","url":"x"}"#));
        let capable = Object::parse(r#"{"mcpCapabilities":{"http":true}}"#).unwrap();
        let plain = Object::parse("{}").unwrap();
        assert!(
            supports(&plain, std::slice::from_ref(&program)).is_ok()
                && supports(&capable, &[program, http.clone()]).is_ok()
        );
        assert!(supports(&plain, &[http]).unwrap_err().contains("\"h\""));
    }
}
