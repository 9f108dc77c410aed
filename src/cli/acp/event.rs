//! The messages of a run, adapted to one client.
//!
//! Input: a message of the contract. Output: what it is to the client, with the session id that the client knows. Never: a kind of update that
//! the client did not offer to take.

use super::modes::Modes;
use super::rpc;
use serde_json::{Value, json};

/// What a message of a run is to the client.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    /// An update, for the client.
    Update(Value),
    /// The parameters of a question, and the approval's id.
    Question { approval: String, params: Value },
    /// A question was decided.
    Withdrawn { approval: String },
    /// The answer of the prompt: a message without an id for the client.
    Answer(Value),
}

/// What a message's consumer knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'r> {
    /// The client's id of the session.
    pub(super) session: &'r str,
    /// Whether the client takes notices.
    pub(super) takes_notices: bool,
    pub(super) options: Options<'r>,
}

/// What the client may choose in a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options<'r> {
    /// The models.
    pub(super) models: &'r [String],
    /// The modes.
    pub(super) modes: &'r Modes,
    /// The mode that it chose.
    pub(super) mode: Option<&'r str>,
}

impl Options<'_> {
    /// All options, with the model in use. Without one, the first model to choose from is in use.
    pub(super) fn list(self, model: Option<&str>) -> Vec<Value> {
        let model = model.or_else(|| self.models.first().map(String::as_str));
        let model = model.map(|model| model_option(self.models, model));
        model.into_iter().chain(self.modes.option(self.mode)).collect()
    }
}

impl Reader<'_> {
    /// Adapts a message; `None` if it is none of the contract's.
    pub(super) fn adapt(self, mut message: Value) -> Option<Event> {
        let id = |value: &Value| value.as_str().map(str::to_owned);
        match message.get("method").and_then(Value::as_str) {
            Some("session/update") => {
                self.adapt_update(message.get_mut("params")?);
                Some(Event::Update(message))
            }
            Some("session/request_permission") => {
                let approval = id(message.get("id")?)?;
                let mut params = message.get_mut("params")?.take();
                self.set_session(&mut params);
                Some(Event::Question { approval, params })
            }
            Some("$/cancel_request") => Some(Event::Withdrawn { approval: id(message.pointer("/params/requestId")?)? }),
            Some(_) => None,
            None => {
                (message.get("result").is_some() || message.get("error").is_some()).then_some(Event::Answer(message))
            }
        }
    }

    fn set_session(self, params: &mut Value) {
        rpc::set(params, "sessionId", self.session.into());
    }

    fn adapt_update(self, params: &mut Value) {
        self.set_session(params);
        let kind = params.pointer("/update/sessionUpdate").and_then(Value::as_str);
        match kind {
            Some("session_info_update") if self.takes_notices => {
                let Some(notice) = params.pointer("/_meta/framegate/notice") else { return };
                let mut update = json!({"sessionUpdate": "notice"});
                for key in ["severity", "title", "description"] {
                    if let Some(value) = notice.get(key) {
                        rpc::set(&mut update, key, value.clone());
                    }
                }
                rpc::set(params, "update", update);
            }
            Some("config_option_update") => {
                let Some(current) = used_model(params).map(str::to_owned) else { return };
                // The contract knows the model in use. An update has all options.
                if let Some(options) = params.pointer_mut("/update/configOptions") {
                    *options = self.options.list(Some(&current)).into();
                }
            }
            _ => {}
        }
    }
}

/// The model in the parameters of an update, if it is about the options of the session.
pub(super) fn used_model(params: &Value) -> Option<&str> {
    let options = params.pointer("/update/configOptions")?.as_array()?;
    options.iter().find(|option| option["id"] == MODEL)?["currentValue"].as_str()
}

/// The id of the option that chooses the model.
pub(super) const MODEL: &str = "model";

/// The option that chooses the model. The current one may be none of those that the client may choose.
pub(super) fn model_option(models: &[String], current: &str) -> Value {
    let mut names: Vec<&str> = models.iter().map(String::as_str).collect();
    if !names.contains(&current) {
        names.push(current);
    }
    let values: Vec<Value> = names.iter().map(|name| json!({"value": name, "name": name})).collect();
    json!({
        "id": MODEL, "name": "Model", "category": "model", "type": "select", "currentValue": current, "options": values,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::acp::modes::tests::listed;

    const OPTIONS: Options<'static> = Options { models: &[], modes: &Modes::NONE, mode: None };
    const READER: Reader<'static> = Reader { session: "mine", takes_notices: false, options: OPTIONS };

    #[test]
    fn each_message_has_the_session_id_of_the_client() {
        let update =
            json!({"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "plan"}}});
        let Some(Event::Update(update)) = READER.adapt(update) else { panic!("no update") };
        assert_eq!(update["params"]["sessionId"], "mine");
        let question =
            json!({"id": "a1", "method": "session/request_permission", "params": {"sessionId": "s", "options": []}});
        let params = json!({"sessionId": "mine", "options": []});
        assert_eq!(READER.adapt(question), Some(Event::Question { approval: "a1".to_owned(), params }));
        let withdrawn = json!({"method": "$/cancel_request", "params": {"requestId": "a1"}});
        assert_eq!(READER.adapt(withdrawn), Some(Event::Withdrawn { approval: "a1".to_owned() }));
        assert!(matches!(READER.adapt(json!({"id": "r", "result": {}})), Some(Event::Answer(_))));
        assert!(matches!(READER.adapt(json!({"id": "r", "error": {}})), Some(Event::Answer(_))));
        for strange in
            [json!({}), json!(1), json!({"method": "other", "params": {}}), json!({"method": "session/update"})]
        {
            assert_eq!(READER.adapt(strange), None);
        }
    }

    #[test]
    fn a_notice_is_a_notice_only_for_clients_that_take_them() {
        let message = json!({"method": "session/update", "params": {
            "update": {"sessionUpdate": "session_info_update"},
            "_meta": {"framegate": {"notice": {"severity": "warning", "title": "retrying", "code": "overloaded"}}},
        }});
        let kind = |takes_notices| match (Reader { takes_notices, ..READER }).adapt(message.clone()) {
            Some(Event::Update(update)) => update["params"]["update"].clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(kind(false), json!({"sessionUpdate": "session_info_update"}));
        assert_eq!(kind(true), json!({"sessionUpdate": "notice", "severity": "warning", "title": "retrying"}));
    }

    #[test]
    fn the_models_to_choose_from_are_offered_with_the_one_in_use() {
        let models = ["small".to_owned(), "large".to_owned()];
        let modes = Modes::new(listed(&["plan"]), None, &[]).unwrap();
        let options = Options { models: &models, modes: &modes, mode: Some("plan") };
        let message = json!({"method": "session/update", "params": {
            "update": {"sessionUpdate": "config_option_update", "configOptions": [model_option(&[], "other")]},
        }});
        let Some(Event::Update(update)) = (Reader { options, ..READER }).adapt(message) else { panic!("no update") };
        let option = &update["params"]["update"]["configOptions"][0];
        assert_eq!(option["currentValue"], "other");
        let names: Vec<&str> =
            option["options"].as_array().unwrap().iter().map(|value| value["value"].as_str().unwrap()).collect();
        assert_eq!(names, ["small", "large", "other"]);
        let mode = &update["params"]["update"]["configOptions"][1];
        assert_eq!((&mode["id"], &mode["currentValue"]), (&json!("mode"), &json!("plan")));
    }
}
