//! The output of commands, for clients that show it as terminals (`_meta.terminal_output` among their capabilities).
//!
//! Input: the updates of a run, whose calls of shells have their output so far as content. Output: the same updates; a command has a terminal as
//! its content, and its output comes piece by piece, each piece once, then its exit. Never: a terminal of the client itself, which would run a
//! command; a terminal without its announcement; another update than the contract's for a call that is no command.
//!
//! A client creates a terminal when the call is announced, so an announcement that does not say the kind of the call waits until the next
//! message about it. These fields are not part of the protocol, but Claude's and Codex's agents send them, and clients know them:
//! `update._meta.terminal_info`, `terminal_output` and `terminal_exit`.

use super::rpc;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// The maximum number of calls that are known at a time. Beyond it, calls have their output as content.
const MAX_CALLS: usize = 1000;

/// Clears a terminal. The output of a command can only be continued, unless the runner reports an earlier part of it later.
const CLEAR: &str = "\u{1b}c";

/// The commands of a run that are in progress.
#[derive(Debug, Default)]
pub(super) struct Terminals(BTreeMap<String, Call>);

#[derive(Debug)]
enum Call {
    /// Its announcement waits.
    Announced(Value),
    Terminal(Shown),
}

/// What the terminal of a command shows.
#[derive(Debug, Default)]
struct Shown {
    pieces: Vec<Piece>,
    ends_in_line: bool,
}

/// A text, of which only the beginning is shown.
#[derive(Clone, Copy, Debug)]
struct Piece {
    bytes: usize,
    hash: u64,
}

impl Piece {
    fn of(text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self { bytes: text.len(), hash: hasher.finish() }
    }

    /// The rest of a text that begins with this one.
    fn rest(self, text: &str) -> Option<&str> {
        let (begin, rest) = text.split_at_checked(self.bytes)?;
        (Self::of(begin).hash == self.hash).then_some(rest)
    }
}

impl Terminals {
    /// What an update is to the client; `None` if it waits. `cwd` is the directory of the session.
    pub(super) fn adapt(&mut self, mut message: Value, cwd: &str) -> Option<Value> {
        let Some(update) = message.pointer("/params/update") else { return Some(message) };
        let is_announcement = match update["sessionUpdate"].as_str() {
            Some("tool_call") => true,
            Some("tool_call_update") => false,
            _ => return Some(message),
        };
        let Some(id) = update["toolCallId"].as_str().map(str::to_owned) else { return Some(message) };
        let is_over = matches!(update["status"].as_str(), Some("completed" | "failed"));
        if is_announcement && update.get("kind").is_none() && !is_over && self.0.len() < MAX_CALLS {
            self.0.insert(id, Call::Announced(message));
            return None;
        }
        let mut is_new = is_announcement;
        if !is_announcement
            && let Some(Call::Announced(_)) = self.0.get(&id)
            && let Some(Call::Announced(announced)) = self.0.remove(&id)
        {
            message = merged(announced, message);
            is_new = true;
        }
        let is_command = message.pointer("/params/update/kind").and_then(Value::as_str) == Some("execute");
        if is_new && is_command && self.0.len() < MAX_CALLS {
            self.0.insert(id.clone(), Call::Terminal(Shown::default()));
        }
        if let Some(Call::Terminal(shown)) = self.0.get_mut(&id)
            && let Some(update) = message.pointer_mut("/params/update")
        {
            as_terminal(update, &id, shown, is_new.then_some(cwd));
        }
        if is_over {
            self.0.remove(&id);
        }
        Some(message)
    }

    /// The announcement of a call that waits: the next message about the call is a question. It is then no terminal.
    pub(super) fn announced(&mut self, id: &str) -> Option<Value> {
        self.0.get(id).filter(|call| matches!(call, Call::Announced(_)))?;
        match self.0.remove(id)? {
            Call::Announced(message) => Some(message),
            Call::Terminal(_) => None,
        }
    }

    /// The announcements that still wait.
    pub(super) fn left(&mut self) -> Vec<Value> {
        let calls = std::mem::take(&mut self.0).into_values();
        let announced = |call| match call {
            Call::Announced(message) => Some(message),
            Call::Terminal(_) => None,
        };
        calls.filter_map(announced).collect()
    }
}

/// An announcement with the fields of the update that follows it.
fn merged(mut announced: Value, update: Value) -> Value {
    if let Some(fields) = update.pointer("/params/update").and_then(Value::as_object)
        && let Some(target) = announced.pointer_mut("/params/update").and_then(Value::as_object_mut)
    {
        let others = fields.iter().filter(|(key, _)| *key != "sessionUpdate");
        target.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    }
    if let (Some(later), Some(meta)) =
        (update.pointer("/params/_meta/framegate"), announced.pointer_mut("/params/_meta/framegate"))
        && let (Some(later), Some(meta)) = (later.as_object(), meta.as_object_mut())
    {
        meta.extend(later.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    announced
}

/// Moves the output of an update to its terminal. `new_in` is the directory of a terminal that is not known yet.
fn as_terminal(update: &mut Value, id: &str, shown: &mut Shown, new_in: Option<&str>) {
    let mut meta = json!({});
    if let Some(cwd) = new_in {
        let own = update.pointer("/rawInput/cwd").and_then(Value::as_str).filter(|cwd| Path::new(cwd).is_absolute());
        rpc::set(&mut meta, "terminal_info", json!({"terminal_id": id, "cwd": own.unwrap_or(cwd)}));
    }
    let terminal = || json!({"type": "terminal", "terminalId": id});
    let content = update.get_mut("content").map(Value::take).unwrap_or_default();
    let mut items = match content {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    // With changes of files as content, the output is beside it.
    let output = update.pointer("/rawOutput/output").and_then(Value::as_str).map(str::to_owned);
    let texts: Vec<String> = match output {
        Some(output) => vec![output],
        None => {
            let (texts, others): (Vec<Value>, Vec<Value>) =
                std::mem::take(&mut items).into_iter().partition(|item| text_of(item).is_some());
            items = others;
            texts.iter().filter_map(text_of).map(str::to_owned).collect()
        }
    };
    let data = shown.show(&texts);
    if !data.is_empty() {
        rpc::set(&mut meta, "terminal_output", json!({"terminal_id": id, "data": data}));
    }
    if matches!(update["status"].as_str(), Some("completed" | "failed")) {
        let code = update.pointer("/rawOutput/exit_code").cloned().unwrap_or_default();
        rpc::set(&mut meta, "terminal_exit", json!({"terminal_id": id, "exit_code": code, "signal": null}));
    }
    if let Some(fields) = update.as_object_mut() {
        fields.remove("content");
    }
    if new_in.is_some() || !items.is_empty() {
        // Content replaces what was there.
        items.insert(0, terminal());
        rpc::set(update, "content", items.into());
    }
    if meta.as_object().is_some_and(|meta| !meta.is_empty()) {
        rpc::set(update, "_meta", meta);
    }
}

/// The text of an item of content, if it is one.
fn text_of(item: &Value) -> Option<&str> {
    item.pointer("/content/text").and_then(Value::as_str)
}

impl Shown {
    /// What the terminal must write to show these texts. Without texts, nothing changes.
    fn show(&mut self, texts: &[String]) -> String {
        if texts.is_empty() {
            return String::new();
        }
        let mut before = self.pieces.iter().copied().peekable();
        let mut rests = Vec::new();
        for text in texts {
            let known = before.peek().and_then(|piece| piece.rest(text));
            rests.push(match known {
                Some(rest) => {
                    before.next();
                    (rest, false)
                }
                None => (text.as_str(), true),
            });
        }
        // Something that the terminal shows is none of the texts any more, or not as their beginning.
        let begins_anew = before.next().is_some();
        let mut data = String::new();
        if begins_anew {
            data.push_str(CLEAR);
            self.ends_in_line = false;
            rests = texts.iter().map(|text| (text.as_str(), true)).collect();
        }
        for (text, is_new) in rests.into_iter().filter(|(text, _)| !text.is_empty()) {
            if is_new && self.ends_in_line {
                data.push('\n');
            }
            data.push_str(text);
            self.ends_in_line = !text.ends_with('\n');
        }
        self.pieces = texts.iter().map(|text| Piece::of(text)).collect();
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(kind: &str, fields: Value) -> Value {
        let mut update = json!({"sessionUpdate": kind, "toolCallId": "c"});
        for (key, value) in fields.as_object().unwrap() {
            rpc::set(&mut update, key, value.clone());
        }
        json!({"method": "session/update", "params": {"sessionId": "s", "update": update}})
    }

    fn texts(texts: &[&str]) -> Value {
        texts.iter().map(|text| json!({"type": "content", "content": {"type": "text", "text": text}})).collect()
    }

    fn adapted(terminals: &mut Terminals, kind: &str, fields: Value) -> Value {
        let message = terminals.adapt(update(kind, fields), "/work").expect("the update waits");
        message["params"]["update"].clone()
    }

    /// A run with a command in progress.
    fn with_command() -> Terminals {
        let mut terminals = Terminals::default();
        let begun =
            adapted(&mut terminals, "tool_call", json!({"title": "ls", "kind": "execute", "status": "in_progress"}));
        assert_eq!(begun["content"], json!([{"type": "terminal", "terminalId": "c"}]));
        assert_eq!(begun["_meta"], json!({"terminal_info": {"terminal_id": "c", "cwd": "/work"}}));
        terminals
    }

    fn data(terminals: &mut Terminals, so_far: &[&str]) -> Value {
        let update = adapted(terminals, "tool_call_update", json!({"content": texts(so_far)}));
        assert!(update.get("content").is_none(), "{update}");
        update["_meta"]["terminal_output"]["data"].clone()
    }

    #[test]
    fn each_piece_of_output_is_written_once_and_the_exit_follows() {
        let mut terminals = with_command();
        assert_eq!(data(&mut terminals, &["one\n"]), "one\n");
        assert_eq!(data(&mut terminals, &["one\ntwo"]), "two");
        assert_eq!(data(&mut terminals, &["one\ntwo", "oops\n"]), "\noops\n");
        assert_eq!(data(&mut terminals, &["one\ntwo", "oops\n"]), Value::Null);
        let end =
            json!({"status": "failed", "content": texts(&["one\ntwo3", "oops\n!"]), "rawOutput": {"exit_code": 3}});
        let end = adapted(&mut terminals, "tool_call_update", end);
        let meta = json!({
            "terminal_output": {"terminal_id": "c", "data": "3!"},
            "terminal_exit": {"terminal_id": "c", "exit_code": 3, "signal": null},
        });
        assert_eq!((&end["_meta"], &end["status"]), (&meta, &json!("failed")));
        assert!(terminals.0.is_empty());
    }

    #[test]
    fn output_that_does_not_continue_begins_anew() {
        let mut terminals = with_command();
        assert_eq!(data(&mut terminals, &["é late\n"]), "é late\n");
        assert_eq!(data(&mut terminals, &["early\né late\n"]), "\u{1b}cearly\né late\n");
        // A shorter text that ends within a character of the one before.
        assert_eq!(data(&mut terminals, &["early\n\u{e8}"]), "\u{1b}cearly\n\u{e8}");
    }

    #[test]
    fn a_call_whose_kind_is_not_known_waits_for_it() {
        let mut terminals = Terminals::default();
        let announced = json!({"title": "Bash", "status": "pending", "name": "Bash"});
        assert_eq!(terminals.adapt(update("tool_call", announced.clone()), "/work"), None);
        let begun = adapted(
            &mut terminals,
            "tool_call_update",
            json!({"title": "ls", "kind": "execute", "rawInput": {"command": "ls", "cwd": "/else"}}),
        );
        assert_eq!(
            (&begun["sessionUpdate"], &begun["title"], &begun["status"]),
            (&json!("tool_call"), &json!("ls"), &json!("pending"))
        );
        assert_eq!(begun["_meta"]["terminal_info"]["cwd"], "/else");
        assert!(terminals.announced("c").is_none());
        // A question, or the end of the turn, does not wait.
        let mut terminals = Terminals::default();
        assert_eq!(terminals.adapt(update("tool_call", announced.clone()), "/work"), None);
        assert_eq!(terminals.announced("c"), Some(update("tool_call", announced.clone())));
        let later = json!({"kind": "execute", "content": texts(&["x"])});
        assert_eq!(adapted(&mut terminals, "tool_call_update", later.clone())["content"], later["content"]);
        assert_eq!(terminals.adapt(update("tool_call", announced.clone()), "/work"), None);
        assert_eq!(terminals.left(), [update("tool_call", announced)]);
    }

    #[test]
    fn other_calls_and_updates_are_as_in_the_contract() {
        let mut terminals = Terminals::default();
        for (kind, fields) in [
            ("tool_call", json!({"title": "Read", "kind": "read"})),
            ("tool_call_update", json!({"content": texts(&["text"]), "status": "completed"})),
            ("plan", json!({"entries": []})),
        ] {
            let message = update(kind, fields);
            assert_eq!(terminals.adapt(message.clone(), "/work"), Some(message));
        }
        assert_eq!(terminals.adapt(json!({}), "/work"), Some(json!({})));
    }

    #[test]
    fn files_that_a_command_changed_are_content_beside_the_terminal() {
        let mut terminals = with_command();
        let diff = json!({"type": "diff", "path": "/a", "newText": "x"});
        let raw = json!({"exit_code": 0, "output": "done\n"});
        let end = json!({"status": "completed", "content": [diff], "rawOutput": raw});
        let end = adapted(&mut terminals, "tool_call_update", end);
        assert_eq!(end["content"], json!([{"type": "terminal", "terminalId": "c"}, diff]));
        assert_eq!(end["_meta"]["terminal_output"]["data"], "done\n");
    }
}
