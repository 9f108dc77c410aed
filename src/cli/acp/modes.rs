//! The modes that the client may choose.
//!
//! Input: the modes of the upstream, and those that the command line names. Output: what the client learns of them, and the mode of a prompt.
//! Never: a mode that the upstream does not offer.

use super::rpc::RpcError;
use serde::Deserialize;
use serde_json::{Value, json};

/// The id of the option that chooses the mode.
pub(super) const MODE: &str = "mode";

/// The mode of a client that has chosen none, if the upstream has no default either: the runner decides.
const OWN: &str = "as-configured";

/// A mode, as the proxy lists it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Mode {
    pub(super) name: String,
    pub(super) title: String,
    #[serde(default)]
    pub(super) about: Option<String>,
}

/// The modes to choose from, the one of a new session first. Empty: there is no choice.
#[derive(Clone, Debug, Default)]
pub(super) struct Modes(Vec<Mode>);

impl Modes {
    /// No modes.
    #[cfg(test)]
    pub(super) const NONE: Self = Self(Vec::new());

    /// Those of the upstream, or those of them that are `wanted` if any are. `default` is the mode of prompts that choose none.
    ///
    /// # Errors
    /// The upstream does not offer a wanted one.
    pub(super) fn new(listed: Vec<Mode>, default: Option<&str>, wanted: &[String]) -> Result<Self, String> {
        if !wanted.is_empty() {
            let find = |name: &String| {
                listed.iter().find(|mode| mode.name == *name).cloned().ok_or_else(|| {
                    let names: Vec<&str> = listed.iter().map(|mode| mode.name.as_str()).collect();
                    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                    format!("--mode: the upstream does not offer the mode {name:?}; it offers: {names}")
                })
            };
            return Ok(Self(wanted.iter().map(find).collect::<Result<_, _>>()?));
        }
        let (mut first, others): (Vec<_>, Vec<_>) =
            listed.into_iter().partition(|mode| Some(mode.name.as_str()) == default);
        if first.is_empty() && !others.is_empty() {
            let about = "The runner works as it is configured itself.".to_owned();
            first.push(Mode { name: OWN.to_owned(), title: "As configured".to_owned(), about: Some(about) });
        }
        first.extend(others);
        Ok(Self(first))
    }

    /// The mode in use: the chosen one, or that of a new session. `None` without a choice.
    fn current<'m>(&'m self, chosen: Option<&'m str>) -> Option<&'m str> {
        let first = self.0.first()?;
        Some(chosen.unwrap_or(&first.name))
    }

    /// The mode of a prompt; `None` if the upstream decides.
    pub(super) fn of_prompt(&self, chosen: Option<&str>) -> Option<String> {
        self.current(chosen).filter(|name| *name != OWN).map(str::to_owned)
    }

    /// Checks a choice of the client.
    ///
    /// # Errors
    /// There is no such mode.
    pub(super) fn check(&self, name: &str) -> Result<(), RpcError> {
        if self.0.iter().any(|mode| mode.name == name) {
            return Ok(());
        }
        let names: Vec<&str> = self.0.iter().map(|mode| mode.name.as_str()).collect();
        Err(RpcError::params(match names.as_slice() {
            [] => format!("there is no mode {name:?}: the upstream offers no modes"),
            names => format!("there is no mode {name:?}; there are {}", names.join(", ")),
        }))
    }

    /// The modes of a session, as its opening has them; `None` without a choice.
    pub(super) fn state(&self, chosen: Option<&str>) -> Option<Value> {
        let modes: Vec<Value> = self.0.iter().map(|mode| described(mode, "id")).collect();
        Some(json!({"currentModeId": self.current(chosen)?, "availableModes": modes}))
    }

    /// The same as an option of the session.
    pub(super) fn option(&self, chosen: Option<&str>) -> Option<Value> {
        let modes: Vec<Value> = self.0.iter().map(|mode| described(mode, "value")).collect();
        Some(json!({
            "id": MODE, "name": "Mode", "category": "mode", "type": "select", "currentValue": self.current(chosen)?,
            "options": modes,
        }))
    }
}

fn described(mode: &Mode, id: &str) -> Value {
    let mut described = json!({id: mode.name, "name": mode.title});
    if let (Some(about), Some(fields)) = (&mode.about, described.as_object_mut()) {
        fields.insert("description".to_owned(), about.as_str().into());
    }
    described
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Modes of the upstream.
    pub(in crate::cli::acp) fn listed(names: &[&str]) -> Vec<Mode> {
        let mode = |name: &&str| Mode { name: (*name).to_owned(), title: name.to_uppercase(), about: None };
        names.iter().map(mode).collect()
    }

    #[test]
    fn a_session_begins_with_the_default_or_as_the_runner_is_configured() {
        let modes = Modes::new(listed(&["default", "plan"]), None, &[]).unwrap();
        let state = modes.state(None).unwrap();
        assert_eq!((&state["currentModeId"], state["availableModes"].as_array().unwrap().len()), (&json!(OWN), 3));
        assert_eq!((modes.of_prompt(None), modes.of_prompt(Some("plan"))), (None, Some("plan".to_owned())));
        let modes = Modes::new(listed(&["default", "plan"]), Some("plan"), &[]).unwrap();
        assert_eq!(modes.state(None).unwrap()["availableModes"][0], json!({"id": "plan", "name": "PLAN"}));
        assert_eq!(modes.option(Some("default")).unwrap()["currentValue"], "default");
        assert_eq!(modes.of_prompt(None).as_deref(), Some("plan"));
        assert!(modes.check(OWN).is_err() && modes.check("default").is_ok());
    }

    #[test]
    fn the_command_line_names_some_of_the_upstreams_modes() {
        let wanted = ["plan".to_owned()];
        let modes = Modes::new(listed(&["default", "plan"]), None, &wanted).unwrap();
        assert_eq!(modes.of_prompt(None).as_deref(), Some("plan"));
        assert!(modes.check("default").unwrap_err().message.contains("there are plan"));
        let refused = Modes::new(listed(&["default"]), None, &wanted).unwrap_err();
        assert!(refused.contains("\"plan\"") && refused.contains("it offers: default"), "{refused}");
        let none = Modes::new(Vec::new(), None, &[]).unwrap();
        assert!(none.state(None).is_none() && none.option(None).is_none() && none.of_prompt(None).is_none());
    }
}
