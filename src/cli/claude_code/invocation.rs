//! What one call of the command is to do, as its flags say.
//!
//! Input: flags. Output: settings. Never: a setting that cannot be kept; such a flag is an error.

use super::flags::{Effect, Given};
use super::permissions::{Answerer, Mode, Permissions};
use serde_json::Value;
use uuid::Uuid;

/// How the output is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Output {
    /// The text of the result.
    #[default]
    Text,
    /// The result; with `--verbose`, an array of all messages.
    Json,
    /// Each message on a line.
    Stream,
}

/// The session that the first prompt belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Session {
    #[default]
    New,
    /// A new one, with this id for the client.
    Named(String),
    /// The one with this id or name.
    Resumed(String),
    /// The last one of this directory.
    Latest,
}

/// What to do.
#[derive(Clone, Debug, Default)]
pub(super) struct Invocation {
    pub(super) output: Output,
    /// Whether standard input has messages; otherwise it is text.
    pub(super) reads_messages: bool,
    pub(super) is_verbose: bool,
    pub(super) has_partial_messages: bool,
    pub(super) repeats_prompts: bool,
    /// The prompt of the command line.
    pub(super) prompt: Option<String>,
    pub(super) session: Session,
    pub(super) is_remembered: bool,
    pub(super) model: Option<String>,
    /// What precedes the first prompt of a new session.
    pub(super) instructions: Vec<Instructions>,
    pub(super) permissions: Permissions,
    pub(super) max_turns: Option<u64>,
    /// What standard error says of flags without effect.
    pub(super) warnings: Vec<String>,
}

/// A system prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Instructions {
    Text(String),
    File(String),
}

/// What the flags ask for.
#[derive(Clone, Debug)]
pub(super) enum Asked {
    /// The version.
    Version,
    /// A conversation.
    Conversation(Box<Invocation>),
}

impl Asked {
    /// Reads arguments. `is_behind_others`: the proxy has other clients, which can answer questions. `is_terminal`: standard input is a
    /// terminal.
    ///
    /// # Errors
    /// The arguments are invalid, or cannot be kept; the message says which.
    pub(super) fn read(arguments: &[String], is_behind_others: bool, is_terminal: bool) -> Result<Self, String> {
        let given = Given::read(arguments)?;
        if given.has("--version") {
            return Ok(Self::Version);
        }
        let warnings = effects(&given)?;
        let output = match given.value("--output-format") {
            None | Some("text") => Output::Text,
            Some("json") => Output::Json,
            Some("stream-json") => Output::Stream,
            Some(other) => return Err(choice("--output-format", other, "text, json, stream-json")),
        };
        let reads_messages = match given.value("--input-format") {
            None | Some("text") => false,
            Some("stream-json") => true,
            Some(other) => return Err(choice("--input-format", other, "text, stream-json")),
        };
        if reads_messages && output != Output::Stream {
            return Err("--input-format=stream-json requires --output-format=stream-json".to_owned());
        }
        if let [_, second, ..] = given.words.as_slice() {
            return Err(format!("too many arguments: there is a prompt already before {second:?}"));
        }
        if !given.has("--print") && !reads_messages && is_terminal {
            return Err("there is no interactive mode: use -p with a prompt".to_owned());
        }
        let repeats_prompts = given.has("--replay-user-messages");
        if repeats_prompts && !reads_messages {
            return Err("--replay-user-messages requires --input-format=stream-json".to_owned());
        }
        let max_turns = given.value("--max-turns").map(|text| {
            let turns = text.parse().ok().filter(|turns| *turns > 0);
            turns.ok_or_else(|| {
                format!("option '--max-turns' argument '{text}' is invalid: it must be a positive number")
            })
        });
        let mut invocation = Invocation {
            output,
            reads_messages,
            is_verbose: given.has("--verbose"),
            has_partial_messages: given.has("--include-partial-messages"),
            repeats_prompts,
            prompt: given.words.first().cloned(),
            session: session(&given)?,
            is_remembered: !given.has("--no-session-persistence"),
            model: given.value("--model").and_then(model),
            instructions: instructions(&given),
            permissions: Permissions::default(),
            max_turns: max_turns.transpose()?,
            warnings,
        };
        invocation.permissions(&given, is_behind_others)?;
        if !invocation.is_remembered {
            invocation
                .warnings
                .push("--no-session-persistence: the upstream stores its sessions as it is set up to".into());
        }
        Ok(Self::Conversation(Box::new(invocation)))
    }
}

impl Invocation {
    fn permissions(&mut self, given: &Given, is_behind_others: bool) -> Result<(), String> {
        let mut mode = given.value("--permission-mode").map(Mode::read).transpose()?.unwrap_or_default();
        if given.has("--dangerously-skip-permissions") {
            mode = Mode::BypassPermissions;
        }
        let prompts = given.value("--permission-prompts").unwrap_or("host");
        let answerer = match (given.value("--permission-prompt-tool"), prompts) {
            (_, "none") => Answerer::None,
            (_, other) if other != "host" => return Err(choice("--permission-prompts", other, "host, none")),
            (Some("stdio"), _) if !self.reads_messages => {
                return Err("--permission-prompt-tool=stdio requires --input-format=stream-json".to_owned());
            }
            (Some("stdio"), _) => Answerer::Client,
            (Some(tool), _) => {
                return Err(format!(
                    "--permission-prompt-tool {tool}: only stdio is supported, no tool of an MCP server"
                ));
            }
            (None, _) if is_behind_others => Answerer::Others,
            (None, _) => Answerer::None,
        };
        let may_bypass = mode == Mode::BypassPermissions || given.has("--allow-dangerously-skip-permissions");
        self.permissions = Permissions { mode, may_bypass, answerer, ..Permissions::default() };
        self.warnings.extend(mode.caveat().map(str::to_owned));
        for rule in self.permissions.allow(&given.values("--allowedTools").unwrap_or_default()) {
            self.warnings.push(format!("--allowedTools {rule}: only whole names of tools are allowed in advance"));
        }
        Ok(())
    }
}

/// The warnings about flags without effect.
///
/// # Errors
/// The first flag that is refused.
fn effects(given: &Given) -> Result<Vec<String>, String> {
    let mut warnings = Vec::new();
    for (flag, values) in given.all() {
        let name = flag.names.first().copied().unwrap_or_default();
        let reason = match flag.effect {
            Effect::Refused(reason) if values.is_empty() || values.iter().any(|value| !value.is_empty()) => {
                Some(reason)
            }
            Effect::Ignored => {
                warnings.push(format!("{name} has no effect here"));
                None
            }
            Effect::Works => refused_value(name, values),
            Effect::Refused(_) | Effect::Nothing => None,
        };
        if let Some(reason) = reason {
            return Err(format!("{name} is not supported: {reason}"));
        }
    }
    Ok(warnings)
}

/// Why a flag is refused with these values.
fn refused_value(name: &str, values: &[String]) -> Option<&'static str> {
    let parsed = |value: &String| serde_json::from_str::<Value>(value).ok();
    let is_empty_object = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
    match name {
        "--tools" => {
            let refused = values.iter().any(|value| value != "default");
            refused.then_some("the upstream has its own set of tools")
        }
        "--mcp-config" => {
            let has_none = |value: &String| {
                parsed(value).is_some_and(|config| {
                    config.get("mcpServers").unwrap_or(&config).as_object().is_some_and(serde_json::Map::is_empty)
                })
            };
            (!values.iter().all(has_none)).then_some("configure the MCP servers in the upstream itself")
        }
        "--settings" => {
            let is_empty =
                |value: &String| value.is_empty() || parsed(value).is_some_and(|value| is_empty_object(&value));
            (!values.iter().all(is_empty))
                .then_some("its rules, hooks and variables would have no effect; configure the upstream itself instead")
        }
        _ => None,
    }
}

fn choice(name: &str, value: &str, choices: &str) -> String {
    format!("option '{name}' argument '{value}' is invalid. Allowed choices are {choices}.")
}

/// A model; `None` for the upstream's own.
pub(super) fn model(name: &str) -> Option<String> {
    (!name.is_empty() && name != "default").then(|| name.to_owned())
}

fn session(given: &Given) -> Result<Session, String> {
    let named = given.value("--session-id");
    match (given.has("--resume"), given.value("--resume"), given.has("--continue"), named) {
        (true, _, true, _) => Err("--resume and --continue exclude each other".to_owned()),
        (true, _, _, Some(_)) | (_, _, true, Some(_)) => {
            Err("--session-id names a new session: it cannot be used with --resume or --continue".to_owned())
        }
        (true, None | Some(""), ..) => Err("--resume requires the id of a session".to_owned()),
        (true, Some(id), ..) => Ok(Session::Resumed(id.to_owned())),
        (_, _, true, _) => Ok(Session::Latest),
        (_, _, _, Some(id)) => {
            let id = Uuid::try_parse(id).map_err(|_| "Invalid session ID. Must be a valid UUID.".to_owned())?;
            Ok(Session::Named(id.to_string()))
        }
        _ => Ok(Session::New),
    }
}

fn instructions(given: &Given) -> Vec<Instructions> {
    let text = |name| given.value(name).filter(|text| !text.is_empty()).map(str::to_owned);
    let own = [
        text("--system-prompt").map(Instructions::Text),
        text("--system-prompt-file").map(Instructions::File),
        text("--append-system-prompt").map(Instructions::Text),
        text("--append-system-prompt-file").map(Instructions::File),
    ];
    own.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Asked, String> {
        Asked::read(&arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>(), false, false)
    }

    fn conversation(arguments: &[&str]) -> Invocation {
        match read(arguments) {
            Ok(Asked::Conversation(invocation)) => *invocation,
            other => panic!("{arguments:?}: {other:?}"),
        }
    }

    #[test]
    fn the_sdks_arguments_are_understood() {
        let node = conversation(&[
            "--output-format",
            "stream-json",
            "--verbose",
            "--input-format",
            "stream-json",
            "--max-turns=3",
            "--model=m",
            "--permission-prompt-tool=stdio",
            "--resume=s",
            "--allowedTools=bash,Bash(git *)",
            "--setting-sources=",
            "--permission-mode=acceptEdits",
            "--include-partial-messages",
        ]);
        assert!(node.reads_messages && node.has_partial_messages && node.is_verbose && node.output == Output::Stream);
        assert_eq!((node.model.as_deref(), node.max_turns), (Some("m"), Some(3)));
        assert_eq!((node.session, node.permissions.answerer), (Session::Resumed("s".into()), Answerer::Client));
        assert_eq!(node.warnings.len(), 2, "{:?}", node.warnings);
        let python = conversation(&[
            "--output-format",
            "stream-json",
            "--verbose",
            "--system-prompt",
            "",
            "--input-format",
            "stream-json",
        ]);
        assert!(python.instructions.is_empty() && python.warnings.is_empty());
        assert_eq!(python.permissions.answerer, Answerer::None);
    }

    #[test]
    fn a_call_from_a_shell_is_understood() {
        let call =
            conversation(&["-p", "hi", "--append-system-prompt", "Be brief.", "--system-prompt-file", "x", "-c"]);
        assert_eq!((call.prompt.as_deref(), call.session, call.output), (Some("hi"), Session::Latest, Output::Text));
        let expected = [Instructions::File("x".into()), Instructions::Text("Be brief.".into())];
        assert_eq!(call.instructions, expected);
        assert!(matches!(read(&["-v", "--nonsense"]), Err(text) if text.contains("--nonsense")));
        assert!(matches!(read(&["-v"]), Ok(Asked::Version)));
        let harmless =
            ["--tools", "default", "--mcp-config", "{\"mcpServers\":{}}", "--settings", "{}", "--disallowedTools", ""];
        assert!(conversation(&harmless).warnings.is_empty());
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        for (arguments, expected) in [
            (&["--output-format", "xml"][..], "'xml' is invalid"),
            (&["--input-format", "stream-json"], "requires --output-format=stream-json"),
            (&["--permission-prompt-tool", "stdio"], "requires --input-format=stream-json"),
            (&["--permission-prompt-tool", "mcp__a__b"], "only stdio"),
            (&["--permission-mode", "plan"], "plan is not supported"),
            (&["--disallowedTools", "Bash"], "--disallowedTools is not supported"),
            (&["--tools", ""], "--tools is not supported"),
            (&["--mcp-config", "{\"mcpServers\":{\"a\":{}}}"], "--mcp-config is not supported"),
            (&["--mcp-config", "servers.json"], "--mcp-config is not supported"),
            (&["--settings", "{\"permissions\":{\"deny\":[\"Bash\"]}}"], "--settings is not supported"),
            (&["--settings", "settings.json"], "--settings is not supported"),
            (&["--json-schema", "{}"], "--json-schema is not supported"),
            (&["--fork-session", "--resume", "x"], "--fork-session is not supported"),
            (&["--max-turns", "0"], "must be a positive number"),
            (&["--session-id", "abc"], "Must be a valid UUID"),
            (&["--resume"], "requires the id"),
            (&["--resume", "x", "-c"], "exclude each other"),
            (&["-c", "--session-id", "8011aeb9-e9e6-4993-8a1a-5c9832203ae1"], "names a new session"),
            (&["one", "two"], "too many arguments"),
            (&["--replay-user-messages"], "requires --input-format"),
        ] {
            let error = read(arguments).unwrap_err();
            assert!(error.contains(expected), "{arguments:?}: {error}");
        }
        assert!(Asked::read(&["hi".to_owned()], false, true).unwrap_err().contains("no interactive mode"));
    }

    #[test]
    fn questions_are_left_to_other_clients_only_if_there_are_some() {
        let answerer = |arguments: &[&str], others| {
            let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
            match Asked::read(&arguments, others, false) {
                Ok(Asked::Conversation(invocation)) => invocation.permissions.answerer,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(answerer(&["-p"], false), Answerer::None);
        assert_eq!(answerer(&["-p"], true), Answerer::Others);
        assert_eq!(answerer(&["-p", "--permission-prompts", "none"], true), Answerer::None);
    }
}
