//! `[[upstream]]`: the runners that the proxy itself starts or connects to.
//!
//! Input: the tables of the configuration file. Output: one [`Upstream`] for each table, with every value in its range, or a
//! list of all problems. Never: a table that is silently left out; a secret (secrets are in files and variables, which are read
//! when they are needed).

mod agent;
mod command;
pub mod environment;
mod http;
mod modes;
mod responses;
mod sse;

pub use agent::{Agent, FileAccess};
pub use command::{Command, Preset};
pub use http::{Authorization, Http};
pub use modes::Modes;
pub use responses::{Responses, Retrieve};
pub use sse::Sse;

use super::error::{Problem, unknown};
use super::source::misfit;
use super::table::{Table, find, keys, settings};
use figment::value::{Dict, Value};
use framegate_translators::contracts::FRAMES as CONTRACT_OF_FRAMES;
use framegate_translators::runners::{AGENTS, FEED, FRAMES, RESPONSES, RUNNERS, runner};
use serde::de::DeserializeOwned;

/// One runner that the proxy starts or connects to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Its name, which clients use to request it.
    pub name: String,
    /// The name of the runner that produces its output.
    pub runner: String,
    /// The maximum number of concurrent runs. For kind `responses`, the number of connections is limited instead.
    pub max_runs: usize,
    /// The modes of the runner that requests may choose.
    pub modes: Modes,
    /// How the proxy reaches it.
    pub kind: Kind,
}

/// How the proxy reaches an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The proxy starts a program for each run. It may be an ACP agent ([`Command::agent`]).
    Command(Box<Command>),
    /// The proxy follows an event feed.
    Sse(Box<Sse>),
    /// The proxy forwards requests to a server of the Responses API.
    Responses(Box<Responses>),
}

settings! {
    /// The settings that every kind has.
    pub(super) struct Common {
        /// Name by which clients ask for it: letters, digits, `-`, `_` and `.`, at most 64. Each upstream must have one.
        name: String = String::new();
        /// Runner whose output it gives. Empty: that of the preset, opencode for a feed, open-responses for a server.
        runner: String = String::new();
        /// Maximum number of concurrent runs; of a feed, of runs that are being started.
        max_runs: usize = 8, in 1..=100_000;
        /// Modes of the runner that requests may choose, such as `["default", "plan"]`. Empty: none.
        modes: Vec<String> = Vec::new();
        /// Mode if the request names none. Empty: the choice of the runner.
        mode: String = String::new();
    }
}

/// The values of `kind`.
const KINDS: [&str; 4] = ["command", AGENT, "sse", "responses"];

/// The kind whose programs are agents of one protocol, which it is named after.
const AGENT: &str = AGENTS.name;

/// Reads the tables. Adds problems to `problems`; `spell` formats the position of a key.
pub(super) fn read(tables: &Value, spell: &dyn Fn(&str) -> String, problems: &mut Vec<Problem>) -> Vec<Upstream> {
    let mut report = |key: &str, message: String| problems.push(Problem { place: spell(key), message });
    let Value::Array(_, tables) = tables else {
        report("upstream", "must be a list of tables: write [[upstream]]".to_owned());
        return Vec::new();
    };
    let mut read: Vec<Upstream> = Vec::new();
    for (at, table) in tables.iter().enumerate() {
        // A table without a name is identified by its position, counted from one.
        let name = table.as_dict().and_then(|table| table.get("name")?.as_str()).unwrap_or_default();
        let which = if name.is_empty() { format!("upstream {}", at + 1) } else { format!("upstream {name:?}") };
        let mut report = |key: &str, message| {
            let key = if key.is_empty() { which.clone() } else { format!("{which}, {key}") };
            report(&key, message);
        };
        let Value::Dict(_, table) = table else {
            report("", "must be a table: write [[upstream]]".to_owned());
            continue;
        };
        if let Some(upstream) = one(table.clone(), &mut report) {
            if read.iter().any(|other| other.name == upstream.name) {
                report("name", "another upstream has the same name".to_owned());
            }
            read.push(upstream);
        }
    }
    read
}

/// Reads one table; `None` if a problem was reported.
fn one(mut table: Dict, report: &mut dyn FnMut(&str, String)) -> Option<Upstream> {
    let kind = table.remove("kind");
    let kind = match kind.as_ref().and_then(Value::as_str) {
        Some(kind) if KINDS.contains(&kind) => kind,
        Some(other) => {
            report("kind", unknown("kind of upstream", other, KINDS.into_iter()));
            return None;
        }
        None => {
            report("kind", format!("is missing; use one of {}", KINDS.join(", ")));
            return None;
        }
    };
    let (of_family, of_kind) = match kind {
        "command" => (Command::SETTINGS, &[][..]),
        AGENT => (Command::SETTINGS, Agent::SETTINGS),
        "sse" => (Http::SETTINGS, Sse::SETTINGS),
        _ => (Http::SETTINGS, Responses::SETTINGS),
    };
    let mut fits = true;
    let mut report = |key: &str, message: String| {
        fits = false;
        report(key, message);
    };
    // For kind `responses`, `max_runs` is an alias of `max_connections`.
    if kind == "responses"
        && let Some(max_runs) = find(Common::SETTINGS, "max_runs")
        && let Some(value) = table.remove("max_runs")
    {
        match misfit(&value, max_runs) {
            Some(message) => report("max_runs", message),
            None if table.contains_key("max_connections") => {
                report("max_runs", "means the same as max_connections for this kind; remove one of them".to_owned());
            }
            None => {
                table.insert("max_connections".to_owned(), value);
            }
        }
    }
    // The names of presets of this kind have a short form.
    if kind == AGENT
        && let Some(given) = table.get("preset").and_then(Value::as_str).filter(|given| *given != Preset::NONE)
    {
        match agent::preset_name(given) {
            Ok(name) => drop(table.insert("preset".to_owned(), Value::from(name))),
            Err(message) => {
                report("preset", message);
                return None;
            }
        }
    }
    let (mut common, mut family, mut own) = (Dict::new(), Dict::new(), Dict::new());
    for (key, value) in table {
        let sides = [(Common::SETTINGS, &mut common), (of_family, &mut family), (of_kind, &mut own)];
        let found = sides.into_iter().find_map(|(known, side)| Some((find(known, &key)?, side)));
        let Some((setting, side)) = found else {
            let known = keys(Common::SETTINGS).chain(keys(of_family)).chain(keys(of_kind));
            report(&key, unknown(&format!("setting of an upstream of kind {kind:?}:"), &key, known));
            continue;
        };
        if let Some(message) = misfit(&value, setting) {
            report(&key, message);
            continue;
        }
        side.insert(key, value);
    }
    let common: Common = typed(common, &mut report)?;
    let (kind, own_runner) = match kind {
        "command" => {
            let command: Command = typed(family, &mut report)?;
            command.check(&mut report);
            let runner = command.preset.runner();
            (Kind::Command(Box::new(command)), runner)
        }
        AGENT => {
            let agent: Agent = typed(own, &mut report)?;
            let command = Command { agent: Some(Box::new(agent)), ..typed(family, &mut report)? };
            command.check(&mut report);
            (Kind::Command(Box::new(command)), AGENTS.name)
        }
        "sse" => {
            let http: Http = typed(family, &mut report)?;
            let sse = Sse { http, ..typed(own, &mut report)? };
            sse.check(&mut report);
            let runner = if sse.has_frames() { FRAMES } else { FEED };
            (Kind::Sse(Box::new(sse)), runner.name)
        }
        _ => {
            let http: Http = typed(family, &mut report)?;
            let responses = Responses { http, ..typed(own, &mut report)? };
            responses.check(&mut report);
            (Kind::Responses(Box::new(responses)), RESPONSES.name)
        }
    };
    let Common { name, runner: given, max_runs, modes, mode } = common;
    if !is_name(&name) {
        report("name", format!("invalid name {name:?}: use at most 64 letters, digits, \"-\", \"_\" and \".\""));
    }
    let name_of_runner = if given.is_empty() { own_runner.to_owned() } else { given };
    if name_of_runner.is_empty() {
        report("runner", "is missing: without a preset, the runner must be named".to_owned());
    } else if runner(&name_of_runner).is_none() {
        report("runner", unknown("runner", &name_of_runner, RUNNERS.iter().map(|runner| runner.name)));
    }
    let is_agent = matches!(&kind, Kind::Command(command) if command.agent.is_some());
    let has_frames = matches!(&kind, Kind::Sse(sse) if sse.has_frames());
    let is_fixed = is_agent || has_frames || matches!(kind, Kind::Responses(_));
    let is_of_preset = matches!(&kind, Kind::Command(command) if command.agent.is_none() && !command.preset.is_none());
    if is_of_preset && name_of_runner != own_runner && runner(&name_of_runner).is_some() {
        report("runner", format!("the preset is for {own_runner:?}; remove runner, or choose another preset"));
    }
    if is_fixed && name_of_runner != own_runner {
        report("runner", format!("is always {own_runner:?} for this kind; remove it"));
    }
    if matches!(kind, Kind::Sse(_)) && !has_frames && name_of_runner == FRAMES.name {
        report("contract", format!("is missing: a feed of frames needs contract = {:?}", CONTRACT_OF_FRAMES.name));
    }
    let modes = Modes { names: modes, default: Some(mode).filter(|mode| !mode.is_empty()) };
    let upstream = Upstream { name, runner: name_of_runner, max_runs, modes, kind };
    modes::check(&upstream, &mut report);
    fits.then_some(upstream)
}

/// Deserialises settings; reports values that do not fit.
fn typed<T: DeserializeOwned>(settings: Dict, report: &mut dyn FnMut(&str, String)) -> Option<T> {
    Value::from(settings)
        .deserialize()
        .map_err(|errors: figment::Error| {
            for error in errors {
                let key = error.path.join(".");
                report(&key, super::load::message_of(&key, &error.kind));
            }
        })
        .ok()
}

/// Whether the name needs no escaping in a path, a log line or a metric.
pub(super) fn is_name(name: &str) -> bool {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    (1..=64).contains(&name.len()) && name.chars().all(is_of_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use figment::providers::{Format, Toml};
    use framegate_translators::runners::Freedom;
    use std::ops::RangeInclusive;

    fn load(text: &str) -> Result<Vec<Upstream>, String> {
        let file: Dict = Toml::from_str(text).unwrap();
        let mut problems = Vec::new();
        let found = read(&file["upstream"], &|key| key.to_owned(), &mut problems);
        let message = problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; ");
        if message.is_empty() { Ok(found) } else { Err(message) }
    }

    #[test]
    fn a_preset_needs_only_a_name() {
        let found = load("[[upstream]]\nname = \"claude\"\nkind = \"command\"\npreset = \"claude-code\"").unwrap();
        let [Upstream { name, runner, max_runs: 8, kind: Kind::Command(command), .. }] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!((name.as_str(), runner.as_str()), ("claude", "claude-code"));
        assert_eq!(**command, Command { preset: Preset::find("claude-code", false).unwrap(), ..Command::default() });
    }

    #[test]
    fn an_agent_needs_a_preset_or_a_program() {
        for (given, preset) in [("gemini-cli", "gemini-cli-acp"), ("codex-acp", "codex-acp"), ("goose", "goose-acp")] {
            let text = format!("[[upstream]]\nname = \"a\"\nkind = \"acp\"\npreset = \"{given}\"\nfiles = \"read\"");
            let found = load(&text).unwrap();
            let [Upstream { runner, kind: Kind::Command(command), .. }] = &found[..] else { panic!("{found:?}") };
            let agent = Agent { files: FileAccess::Read, ..Agent::default() };
            assert_eq!((runner.as_str(), command.preset.name()), ("acp", preset));
            assert_eq!(command.agent.as_deref(), Some(&agent));
        }
        let own = load("[[upstream]]\nname = \"a\"\nkind = \"acp\"\nprogram = \"x\"\nmodes = [\"fast\"]").unwrap();
        assert_eq!((own[0].runner.as_str(), &own[0].modes.names), ("acp", &vec!["fast".to_owned()]));
    }

    #[test]
    fn each_number_is_accepted_at_its_bounds_and_refused_beyond_them() {
        let kinds = [
            ("kind = \"command\"\npreset = \"codex-exec\"", &[][..], Command::SETTINGS),
            ("kind = \"acp\"\nprogram = \"x\"", Command::SETTINGS, Agent::SETTINGS),
            ("kind = \"sse\"\nurl = \"http://localhost/event\"", Http::SETTINGS, Sse::SETTINGS),
            ("kind = \"responses\"\nurl = \"http://localhost/v1\"", Http::SETTINGS, Responses::SETTINGS),
        ];
        for (kind, of_http, of_kind) in kinds {
            for setting in Common::SETTINGS.iter().chain(of_http).chain(of_kind) {
                let Some((least, most)) = setting.range.clone().map(RangeInclusive::into_inner) else { continue };
                let key = setting.key;
                // These two settings are also compared with each other.
                let other = match key {
                    "reconnect_min_ms" => "reconnect_max_ms = 3600000",
                    "reconnect_max_ms" => "reconnect_min_ms = 10",
                    _ => "",
                };
                let with = |value: i128| load(&format!("[[upstream]]\nname = \"a\"\n{kind}\n{other}\n{key} = {value}"));
                assert!(with(i128::from(least)).is_ok() && with(i128::from(most)).is_ok(), "{key}");
                for beyond in [i128::from(least) - 1, i128::from(most) + 1] {
                    let message = with(beyond).unwrap_err();
                    assert!(message.contains(&format!("upstream \"a\", {key}: {beyond} is out of range")), "{message}");
                }
            }
        }
    }

    #[test]
    fn modes_are_those_of_the_runner_or_of_the_settings() {
        let of = |more: &str| load(&format!("[[upstream]]\nname = \"a\"\n{more}"));
        let claude =
            of("kind = \"command\"\npreset = \"claude-code\"\nmodes = [\"default\", \"plan\"]\nmode = \"plan\"")
                .unwrap();
        let modes = Modes { names: vec!["default".to_owned(), "plan".to_owned()], default: Some("plan".to_owned()) };
        assert_eq!(claude[0].modes, modes);
        // Users define agents of OpenCode, and the arguments without a preset say what a mode is.
        of("kind = \"sse\"\nurl = \"http://localhost/event\"\nmodes = [\"plan\", \"docs\"]").unwrap();
        let own = "kind = \"command\"\nprogram = \"x\"\nrunner = \"codex\"\narguments = [\"--at={mode}\"]\nmodes = [\"fast\"]";
        of(own).unwrap();
        assert!(of(&format!("{own}\nresume_arguments = [\"{{session}}\"]")).is_err());
        let mut preset = of("kind = \"command\"\npreset = \"codex-exec\"").unwrap().remove(0);
        assert_eq!(preset.modes_up_to(Freedom::Edits), ["read-only", "auto"]);
        assert!(preset.offer(&["fast".to_owned()]).is_err() && preset.modes == Modes::default());
        preset.offer(&["full-access".to_owned()]).unwrap();
        assert_eq!(preset.modes.names, ["full-access"]);
        let fixed =
            of("kind = \"command\"\npreset = \"codex-exec\"\narguments = [\"-s\", \"read-only\"]").unwrap().remove(0);
        assert!(fixed.modes_up_to(Freedom::Acts).is_empty());
    }

    #[test]
    fn errors_name_their_table() {
        let command = "[[upstream]]\nname = \"a\"\nkind = \"command\"\n";
        let preset = format!("{command}preset = \"claude-code\"\n");
        let responses = "[[upstream]]\nname = \"a\"\nkind = \"responses\"\nurl = \"http://api.example/v1\"\n";
        let feed = "[[upstream]]\nname = \"a\"\nkind = \"sse\"\nurl = \"http://localhost:1/event?directory=x\"\n";
        let frames =
            "[[upstream]]\nname = \"a\"\nkind = \"sse\"\ncontract = \"frames.v2\"\nurl = \"http://edge/v1/events\"\n";
        assert!([responses, feed, frames].into_iter().all(|table| load(table).is_ok()));
        let agent = "[[upstream]]\nname = \"a\"\nkind = \"acp\"\n";
        let at = |url: &str| format!("[[upstream]]\nname = \"a\"\nkind = \"responses\"\nurl = \"{url}\"\n");
        for (text, expected) in [
            ("upstream = 1".to_owned(), "upstream: must be a list of tables"),
            ("upstream = [1]".to_owned(), "upstream 1: must be a table"),
            ("[[upstream]]\nname = \"a\"".to_owned(), "upstream \"a\", kind: is missing"),
            ("[[upstream]]\nkind = \"comand\"".to_owned(), "did you mean \"command\"?"),
            (
                "[[upstream]]\nkind = \"command\"\npreset = \"claude-code\"".to_owned(),
                "upstream 1, name: invalid name \"\"",
            ),
            (format!("{preset}\n{preset}"), "upstream \"a\", name: another upstream has the same name"),
            (format!("{preset}prset = 1"), "prset: unknown setting of an upstream of kind \"command\": \"prset\""),
            (format!("{preset}arguments = [1]"), "arguments: a list is not a list of strings"),
            (format!("{preset}environment = [1]"), "environment: a list is not a table of strings"),
            (format!("{preset}environment = {{ A = 1 }}"), "environment: a table is not a table of strings"),
            (format!("{preset}environment = {{ \"A=B\" = \"1\" }}"), "environment: \"A=B\" is not a variable name"),
            (format!("{command}preset = \"cloude\""), "preset: unknown value \"cloude\""),
            (format!("{preset}runner = \"cloude\""), "unknown runner \"cloude\""),
            (format!("{preset}pass_environment = 1"), "pass_environment: 1 is not a list of strings"),
            (format!("{preset}pass_environment = [\"A*B\"]"), "\"A*B\" is not a variable name"),
            (
                format!("{command}program = \"x\"\nrunner = \"codex\"\narguments = [\"--{{prompt}}\"]"),
                "arguments: the program could take a prompt in \"--{prompt}\" for an option",
            ),
            (
                format!(
                    "{command}program = \"x\"\nrunner = \"codex\"\narguments = [\"{{x}}\", \"--prompt={{promt}}\"]"
                ),
                "arguments: {promt} is no placeholder, did you mean {prompt}?",
            ),
            (format!("{preset}runner = \"codex\""), "runner: the preset is for \"claude-code\"; remove runner"),
            (format!("{preset}directories = [\"relative\"]"), "directories: \"relative\" is not an absolute path"),
            (format!("{preset}resume_arguments = [\"x\"]"), "resume_arguments: must not be set with a preset"),
            (at(""), "upstream \"a\", url: is missing"),
            (at("ftp://api.example"), "url: must be a URL of the form"),
            (at("https://user:secret@api.example"), "url: must be a URL of the form"),
            (at("https://api.example/v1?key=1"), "without a user or a query"),
            (at("/v1"), "url: must be a URL of the form"),
            (format!("{responses}authorization = \"configured\""), "exactly one of secret_file and secret_env"),
            (
                format!("{responses}authorization = \"configured\"\nsecret_file = \"a\"\nsecret_env = \"B\""),
                "exactly one of secret_file and secret_env",
            ),
            (format!("{responses}secret_env = \"A\""), "so the secret would not be used"),
            (format!("{responses}credential_header = \"host\""), "\"host\" is not a header name that can"),
            (format!("{responses}credential_scheme = \"a b\""), "\"a b\" is not a scheme"),
            (format!("{responses}request_headers = [\"Cookie\"]"), "request_headers: \"cookie\" carries credentials"),
            (format!("{responses}response_headers = [\"connection\"]"), "is a hop-by-hop header"),
            (
                format!("{responses}remove_request_headers = [\"two words\"]"),
                "remove_request_headers: \"two words\" is neither a header name",
            ),
            (
                format!("{responses}max_runs = 4\nmax_connections = 4"),
                "max_runs: means the same as max_connections for this kind",
            ),
            (format!("{responses}retrieve = \"never\""), "retrieve: unknown value \"never\""),
            (format!("{responses}runner = \"codex\""), "runner: is always \"open-responses\" for this kind"),
            (format!("{feed}authorization = \"passthrough\""), "a feed has no client whose credentials"),
            (format!("{feed}reconnect_min_ms = 5000\nreconnect_max_ms = 1000"), "5000 is more than reconnect_max_ms"),
            (format!("{feed}contract = \"sse.v1\""), "contract: is \"sse.v1\"; a feed of frames has \"frames.v2\""),
            (format!("{feed}runner = \"frames\""), "contract: is missing: a feed of frames needs"),
            (format!("{frames}runner = \"codex\""), "runner: is always \"frames\" for this kind"),
            (frames.replace("/v1/events", "/v1/events?contract=sse.v1"), "url: asks for the contract \"sse.v1\""),
            (format!("{agent}preset = \"claude-code\""), "preset: unknown preset of an ACP agent \"claude-code\""),
            (format!("{agent}preset = \"gemini-cli-ac\""), "did you mean \"gemini-cli-acp\"?"),
            (format!("{agent}program = \"x\"\nfiles = \"all\""), "files: unknown value \"all\""),
            (format!("{agent}program = \"x\"\nrunner = \"codex\""), "runner: is always \"acp\" for this kind"),
            (format!("{agent}program = \"x\"\nresume_arguments = [\"x\"]"), "the protocol continues sessions"),
            (
                format!("{agent}program = \"x\"\nmcp_servers_file = \"x\""),
                "mcp_servers_file: \"x\" is not an absolute path",
            ),
            (
                format!("{agent}program = \"x\"\nfile = \"read\""),
                "unknown setting of an upstream of kind \"acp\": \"file\"",
            ),
            (format!("{preset}terminals = true"), "unknown setting of an upstream of kind \"command\": \"terminals\""),
            (
                format!("{preset}modes = [\"pln\"]"),
                "modes: unknown mode of the runner claude-code \"pln\", did you mean \"plan\"?",
            ),
            (format!("{preset}mode = \"-x\""), "upstream \"a\", mode: invalid mode \"-x\""),
            (format!("{preset}modes = [\"plan\", \"plan\"]"), "modes: \"plan\" is listed twice"),
            (
                format!("{preset}modes = [\"plan\"]\narguments = [\"--permission-mode=plan\"]"),
                "modes: the arguments choose a mode with --permission-mode: remove it",
            ),
            (
                format!("{command}program = \"x\"\nrunner = \"codex\"\nmode = \"fast\""),
                "mode: without a preset, the arguments must contain {mode}",
            ),
            (format!("{responses}modes = [\"plan\"]"), "modes: an upstream of this kind has no modes"),
            (command.to_owned(), "upstream \"a\", program: is missing"),
            (format!("{command}program = \"x\""), "upstream \"a\", runner: is missing"),
            (
                format!("{command}program = \"x\"\nrunner = \"codex\"\nresume_arguments = [\"-r\"]"),
                "must contain {session}",
            ),
        ] {
            let message = load(&text).unwrap_err();
            assert!(message.contains(expected), "{text:?} should say {expected:?}, but says: {message}");
        }
    }
}
