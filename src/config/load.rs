//! Loads the sources of the configuration and merges them.

use super::Config;
use super::approvals;
use super::budgets;
use super::error::{ConfigError, Problem, unknown};
use super::otel_variables::{self, Standard};
use super::source::Source;
use super::upstream;
use super::webhooks;
use figment::Figment;
use figment::error::Kind;
use figment::providers::{Format, Serialized, Toml};
use figment::value::Dict;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The prefix of framegate's environment variables.
pub(super) const ENV_PREFIX: &str = "FRAMEGATE__";

/// The prefix of OpenTelemetry's standard variables.
const OTEL_PREFIX: &str = "OTEL_";

/// The only top-level key of the file that is not a section: it holds a list of tables.
pub(super) const UPSTREAM: &str = "upstream";

/// The file that is read if none is named; it may be missing.
pub const DEFAULT_FILE: &str = "config.toml";

/// The variable that names the file, if no flag does.
const FILE_VARIABLE: &str = "FRAMEGATE_CONFIG";

/// The sources of settings, lowest precedence first.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// A file that must exist; `None`: [`DEFAULT_FILE`], if it exists.
    pub file: Option<PathBuf>,
    /// Whether [`DEFAULT_FILE`] is not read, because the working directory is not the user's own.
    pub ignores_default_file: bool,
    /// Environment variables; those without the prefix are ignored.
    pub environment: Vec<(String, String)>,
    /// The standard variables of OpenTelemetry; `None` if they are not read, because the command sends no spans.
    pub opentelemetry: Option<Vec<(String, String)>>,
    /// Settings of the command line, as `section.key` and text.
    pub flags: Vec<(String, String)>,
}

impl Sources {
    /// Collects the sources: the named file, that of the variable `FRAMEGATE_CONFIG`, or the default one; and the given environment variables
    /// (`std::env::vars_os()`).
    ///
    /// # Errors
    /// One of framegate's variables is not valid Unicode.
    pub fn new(
        file: Option<PathBuf>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let environment: Vec<(OsString, OsString)> = environment.into_iter().collect();
        let named = || environment.iter().find(|(name, file)| name == FILE_VARIABLE && !file.is_empty());
        let file = file.or_else(|| named().map(|(_, file)| PathBuf::from(file)));
        let ours = with_prefix(ENV_PREFIX, environment)?;
        Ok(Self { file, environment: ours, ..Self::default() })
    }

    /// The same, and what these sources do not set is taken from the standard variables of OpenTelemetry. A build without the
    /// feature `otel` does not read them: they may be meant for other programs.
    ///
    /// # Errors
    /// One of the variables is not valid Unicode.
    pub fn with_opentelemetry(
        self,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let variables = cfg!(feature = "otel").then(|| with_prefix(OTEL_PREFIX, environment)).transpose()?;
        Ok(Self { opentelemetry: variables, ..self })
    }

    /// The same, but without a named file, no file is read.
    #[must_use]
    pub fn without_default_file(self) -> Self {
        Self { ignores_default_file: true, ..self }
    }

    /// Reads and merges the sources.
    ///
    /// # Errors
    /// All problems in the sources.
    pub fn load(&self) -> Result<Config, ConfigError> {
        if self.file.is_none() && self.ignores_default_file {
            return self.load_with(DEFAULT_FILE.to_owned(), "");
        }
        let default = Path::new(DEFAULT_FILE);
        let (path, needed) = self.file.as_deref().map_or((default, false), |path| (path, true));
        let name = path.display().to_string();
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound && !needed => String::new(),
            Err(error) => return Err(Problem { place: name, message: format!("cannot be read: {error}") }.into()),
        };
        self.load_with(name, &text).map_err(|error| if needed { error } else { error.of_default_file(&text) })
    }

    /// The settings that the standard variables name. `own` are framegate's own sources, highest precedence first.
    fn standard(&self, own: [&Source; 3], problems: &mut Vec<Problem>) -> Vec<Standard> {
        let Some(variables) = &self.opentelemetry else { return Vec::new() };
        let lookup = |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let [flags, environment, file] = own.map(|source| source.text("otlp", "endpoint"));
        let names_collector = match flags.or(environment) {
            // The empty endpoint of a variable or a flag is meant: no spans are sent.
            Some("") => return Vec::new(),
            named => named.or(file).is_some_and(|url| !url.is_empty()),
        };
        otel_variables::read(&lookup, names_collector).unwrap_or_else(|found| {
            problems.extend(found);
            Vec::new()
        })
    }

    fn load_with(&self, name: String, text: &str) -> Result<Config, ConfigError> {
        let mut file: Dict = Toml::from_str(text).map_err(|error| {
            // The parser's message spans lines, because it shows the line and the position. It is used as it is.
            Problem { place: name.clone(), message: format!("is not valid TOML: {}", error.to_string().trim_end()) }
        })?;
        let mut problems = Vec::new();
        let spell = |key: &str| format!("{name}, {key}");
        let upstream = file.remove(UPSTREAM).map(|tables| upstream::read(&tables, &spell, &mut problems));
        let rules = approvals::LIST.take(&mut file).map(|tables| approvals::read(&tables, &spell, &mut problems));
        let limits = budgets::LIST.take(&mut file).map(|tables| budgets::read(&tables, &spell, &mut problems));
        let endpoints = webhooks::LIST.take(&mut file).map(|tables| webhooks::read(&tables, &spell, &mut problems));
        let (mut file, mut environment, mut flags) =
            (Source::file(name, file), Source::environment(&self.environment), Source::flags(&self.flags));
        [&mut file, &mut environment, &mut flags].into_iter().for_each(|source| source.take_misfits(&mut problems));
        let standard = self.standard([&flags, &environment, &file], &mut problems);
        file.leave_defaults_to(&standard);
        let mut standard = Source::standard(&standard);
        standard.take_misfits(&mut problems);
        let mut figment = Figment::from(Serialized::defaults(Config::default()));
        for source in [standard, file, environment, flags] {
            figment = figment.merge(source);
        }
        match figment.extract::<Config>() {
            Ok(mut config) => {
                config.upstream = upstream.unwrap_or_default();
                config.approvals.rule = rules.unwrap_or_default();
                config.budgets.limit = limits.unwrap_or_default();
                config.webhooks.endpoint = endpoints.unwrap_or_default();
                problems.extend(
                    config
                        .cross_check()
                        .into_iter()
                        .map(|(key, message)| Problem { place: place_of(&figment, key), message }),
                );
                if problems.is_empty() { Ok(config) } else { Err(ConfigError { problems }) }
            }
            Err(errors) => {
                problems.extend(errors.into_iter().map(|error| {
                    let key = error.path.join(".");
                    Problem { place: place_of(&figment, &key), message: message_of(&key, &error.kind) }
                }));
                Err(ConfigError { problems })
            }
        }
    }
}

/// The environment variables with this prefix.
fn with_prefix(
    prefix: &str,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Vec<(String, String)>, ConfigError> {
    let mut found = Vec::new();
    for (name, value) in environment {
        let Some(name) = name.to_str().filter(|name| name.starts_with(prefix)) else { continue };
        let value = value
            .into_string()
            .map_err(|_| Problem { place: name.to_owned(), message: "the value is not valid Unicode".to_owned() })?;
        found.push((name.to_owned(), value));
    }
    Ok(found)
}

/// The source of a key's value, with the key as the source spells it.
fn place_of(figment: &Figment, key: &str) -> String {
    let keys: Vec<&str> = key.split('.').collect();
    figment
        .find_metadata(key)
        .map_or_else(|| key.to_owned(), |data| data.interpolate(&figment::Profile::Default, &keys))
}

pub(super) fn message_of(key: &str, kind: &Kind) -> String {
    match kind {
        Kind::UnknownVariant(given, known) => unknown("value", given, known.iter().copied()),
        _ if key == "server.listen" => super::listen::WRONG.to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, environment: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Config, String> {
        let owned =
            |list: &[(&str, &str)]| list.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
        let sources = Sources { environment: owned(environment), flags: owned(flags), ..Sources::default() };
        sources.load_with("config.toml".to_owned(), text).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_override_the_environment_and_the_environment_the_file() {
        let file = "[server]\nmax_connections = 2\npage_limit_default = 3\nlisten = \"0.0.0.0:1\"\n";
        let environment = [("FRAMEGATE__SERVER__PAGE_LIMIT_DEFAULT", "4"), ("FRAMEGATE__SERVER__LISTEN", "0.0.0.0:2")];
        let config = load(file, &environment, &[("server.listen", "[::1]:3")]).unwrap();
        assert_eq!(config.server.max_connections, 2);
        assert_eq!(config.server.page_limit_default, 4);
        assert_eq!(config.server.listen, "[::1]:3".parse().unwrap());
        assert_eq!(config.server.heartbeat_ms, 15_000);
    }

    #[test]
    fn text_from_the_environment_is_read_by_the_type_of_the_setting() {
        let environment = [
            ("FRAMEGATE__SERVER__TOKEN_FILE", "0123"),
            ("FRAMEGATE__SERVER__ALLOWED_HOSTS", "10, example.org"),
            ("FRAMEGATE__SERVER__MAX_CONNECTIONS", " 7 "),
            ("FRAMEGATE__TELEMETRY__FILTER", "warn,framegate=debug"),
            ("FRAMEGATE_LOG", "not ours"),
            ("PATH", "/bin"),
        ];
        let config = load("", &environment, &[]).unwrap();
        assert_eq!(config.server.token_file, PathBuf::from("0123"));
        assert_eq!(config.server.allowed_hosts, ["10", "example.org"]);
        assert_eq!(config.server.max_connections, 7);
        assert_eq!(config.telemetry.filter, "warn,framegate=debug");
        for (text, expected) in [("true", "true"), ("{a=1}", "{a=1}"), ("", "")] {
            let config = load("", &[("FRAMEGATE__SERVER__TOKEN_FILE", text)], &[]).unwrap();
            assert_eq!(config.server.token_file, PathBuf::from(expected));
        }
        let config = load("", &[("FRAMEGATE__SERVER__ALLOWED_HOSTS", "[\"a\", 'b']")], &[]).unwrap();
        assert_eq!(config.server.allowed_hosts, ["a", "b"]);
    }

    #[test]
    fn a_variable_names_the_file_unless_a_flag_does() {
        let variables = |file: &str| vec![(OsString::from(FILE_VARIABLE), OsString::from(file))];
        let file = |flag: Option<&str>, variable: &str| {
            Sources::new(flag.map(PathBuf::from), variables(variable)).unwrap().file
        };
        assert_eq!(file(None, "a.toml"), Some(PathBuf::from("a.toml")));
        assert_eq!(file(Some("b.toml"), "a.toml"), Some(PathBuf::from("b.toml")));
        assert_eq!(file(None, ""), None, "an empty variable names no file");
    }

    #[test]
    fn errors_name_the_setting_and_a_remedy() {
        for (text, expected) in [
            ("[upstreams]\na = 1", vec!["upstreams: unknown section \"upstreams\", did you mean \"upstream\"?"]),
            ("[ui]\nenabled = true", vec!["ui.enabled: true is not a string; put it in quotes, such as \"auto\""]),
            (
                "[server]\nallowed_hosts = [\"http://gate.example\"]",
                vec!["server.allowed_hosts: \"http://gate.example\" is not a host such as"],
            ),
            ("[server]\nallowed_hosts = [\"*.example\"]", vec!["\"*.example\" is not a host"]),
            ("[servr]", vec!["config.toml, servr: unknown section \"servr\", did you mean \"server\"?"]),
            (
                "[server]\nlisten_on = 1",
                vec!["config.toml, server.listen_on: unknown setting in [server]: \"listen_on\""],
            ),
            ("[server]\nheartbeat = 1", vec!["did you mean \"heartbeat_ms\"?", "known: allowed_hosts, "]),
            ("server = 1", vec!["config.toml, server: must be a section with the keys allowed_hosts, "]),
            ("[server]\nmax_connections = 0", vec!["server.max_connections: 0 is out of range", "from 1 to 1000000"]),
            ("[server]\nmax_connections = -1", vec!["-1 is out of range"]),
            ("[server]\nmax_connections = 1.5", vec!["1.5 is not a whole number; the default is 4096"]),
            ("[server]\nmax_connections = \"7\"", vec!["\"7\" is not a whole number"]),
            ("[server]\nlisten = 8080", vec!["server.listen: 8080 is not a string; put it in quotes"]),
            (
                "[server]\nlisten = \"localhost\"",
                vec!["config.toml, server.listen: is not an address and port such as"],
            ),
            ("[server]\nallowed_hosts = [1]", vec!["server.allowed_hosts: a list is not a list of strings"]),
            ("[server]\nallowed_hosts = [\"\"]", vec!["server.allowed_hosts: contains an empty host name"]),
            ("[server]\ndefault_contract = \"frames.v3\"", vec!["server.default_contract: unknown contract"]),
            ("[server]\npage_limit_max = 5", vec!["page_limit_default: 200 is more than server.page_limit_max (5)"]),
            ("[ingest]\nmax_record_bytes = 1024\npreview_bytes = 2000", vec!["ingest.preview_bytes: 2000 is more"]),
            (
                "[log]\nkind = \"sqlit\"",
                vec![
                    "config.toml, log.kind: unknown value \"sqlit\"",
                    "did you mean \"sqlite\"?",
                    "memory, sqlite, jetstream",
                ],
            ),
            ("[log]\nfsync = \"often\"", vec!["log.fsync: unknown value \"often\" (known: always, interval, never)"]),
            (
                "[log]\nrecent_bytes = 1099511627777",
                vec!["log.recent_bytes: 1099511627777 is out of range", "from 0 to"],
            ),
            ("[ingest]\nahead_bytes = 1073741825", vec!["ingest.ahead_bytes: 1073741825 is out of range", "from 0 to"]),
            ("[ingest]\nahead_bytes = -1", vec!["ingest.ahead_bytes: -1 is out of range"]),
            ("[log]\npath = \"\"", vec!["log.path: is empty; set it to the path of the database file"]),
            ("[log]\nstorage = \"files\"", vec!["log.storage: unknown value \"files\"", "(known: file, memory)"]),
            ("[log]\nreplicas = 7", vec!["log.replicas: 7 is out of range: use a whole number from 1 to 5"]),
            ("[log]\nprefix = \"a.b\"", vec!["config.toml, log.prefix: \"a.b\" is not a prefix"]),
            (
                "[redaction]\npatterns = { badge = \"(\" }",
                vec!["config.toml, redaction.patterns: the pattern \"badge\" is not a valid regular expression"],
            ),
            (
                "[redaction]\ndisabled_rules = [\"jtw\"]",
                vec!["redaction.disabled_rules: there is no rule \"jtw\"; `framegate rules` lists all rules"],
            ),
            ("[redaction]\nkeys = [\"*\"]", vec!["redaction.keys: \"*\" is not a key"]),
            ("[redaction]\nhold_ms = 60001", vec!["redaction.hold_ms: 60001 is out of range"]),
            ("[gate]\nmode = \"wran\"", vec!["did you mean \"warn\"? (known: off, warn, enforce)"]),
            ("[telemetry]\nfilter = \"loud\"", vec!["config.toml, telemetry.filter: \"loud\" is not a log filter"]),
            ("[telemetry]\nformat = true", vec!["telemetry.format: true is not a string"]),
            ("[otlp]\nendpoint = \"collector\"", vec!["config.toml, otlp.endpoint: must be a URL of the form"]),
            (
                "[otlp]\nqueue_spans = 0",
                vec!["otlp.queue_spans: 0 is out of range: use a whole number from 1 to 1000000"],
            ),
            ("[otlp]\nqueue_spans = 9", vec!["otlp.batch_spans: 512 is more than otlp.queue_spans (9)"]),
            ("[server", vec!["config.toml: is not valid TOML", "line 1"]),
            ("[a]\n[b]", vec!["config.toml, a: ", "; config.toml, b: "]),
        ] {
            let message = load(text, &[], &[]).unwrap_err();
            for part in expected {
                assert!(message.contains(part), "{text:?} should say {part:?}, but says: {message}");
            }
        }
    }

    #[test]
    fn errors_name_variables_and_flags_as_the_user_wrote_them() {
        for (key, text, expected) in [
            ("FRAMEGATE__SERVER__LISTN", "x", "FRAMEGATE__SERVER__LISTN: unknown setting in [server]: \"listn\""),
            ("FRAMEGATE__SERVER__LISTEN", "x", "FRAMEGATE__SERVER__LISTEN: is not an address and port"),
            (
                "FRAMEGATE__SERVER__MAX_CONNECTIONS",
                "many",
                "FRAMEGATE__SERVER__MAX_CONNECTIONS: \"many\" is not a whole",
            ),
            ("FRAMEGATE__SERVER__HEARTBEAT_MS", "1", "FRAMEGATE__SERVER__HEARTBEAT_MS: 1 is out of range"),
            ("FRAMEGATE__SERVER", "1", "FRAMEGATE__SERVER: must be a section"),
            (
                "FRAMEGATE__GATE__MODE",
                "enforced",
                "FRAMEGATE__GATE__MODE: unknown value \"enforced\", did you mean \"enforce\"",
            ),
            ("FRAMEGATE__", "1", "unknown section"),
        ] {
            let message = load("", &[(key, text)], &[]).unwrap_err();
            assert!(message.contains(expected), "{key} should say {expected:?}, but says: {message}");
        }
        let message = load("", &[], &[("gate.mode", "loud")]).unwrap_err();
        assert!(message.contains("the command line, gate.mode: unknown value \"loud\""), "{message}");
    }

    #[cfg(feature = "otel")]
    #[test]
    fn standard_variables_set_what_framegate_s_own_sources_do_not() {
        let load = |file: &str, own: &[(&str, &str)], standard: &[(&str, &str)]| {
            let owned = |list: &[(&str, &str)]| {
                list.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect::<Vec<_>>()
            };
            let sources =
                Sources { environment: owned(own), opentelemetry: Some(owned(standard)), ..Sources::default() };
            sources.load_with("config.toml".to_owned(), file).map_err(|error| error.to_string())
        };
        let standard = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "700")];
        let otlp = load("[otlp]\ninterval_ms = 7", &[], &standard).unwrap().otlp;
        assert_eq!((&*otlp.endpoint, otlp.timeout_ms, otlp.interval_ms), ("http://c:1/v1/traces", 700, 7));
        let otlp = load("[otlp]\ntimeout_ms = 800", &[("FRAMEGATE__OTLP__INTERVAL_MS", "9")], &standard).unwrap().otlp;
        assert_eq!((&*otlp.endpoint, otlp.timeout_ms, otlp.interval_ms), ("http://c:1/v1/traces", 800, 9));
        for (file, own) in
            [("[otlp]\nendpoint = \"http://own/t\"", vec![]), ("", vec![("FRAMEGATE__OTLP__ENDPOINT", "http://own/t")])]
        {
            let otlp = load(file, &own, &standard).unwrap().otlp;
            assert_eq!((&*otlp.endpoint, otlp.timeout_ms), ("http://own/t", 10_000));
        }
        // A file that lists every default does not hide the variables. An own variable does, whatever its value.
        let every_default = include_str!("../../config.toml");
        let otlp = load(every_default, &[], &standard).unwrap_or_else(|message| panic!("{message}")).otlp;
        assert_eq!((&*otlp.endpoint, otlp.timeout_ms), ("http://c:1/v1/traces", 700));
        let otlp = load(every_default, &[("FRAMEGATE__OTLP__TIMEOUT_MS", "10000")], &standard).unwrap().otlp;
        assert_eq!((&*otlp.endpoint, otlp.timeout_ms), ("http://c:1/v1/traces", 10_000));
        assert_eq!(load("", &[("FRAMEGATE__OTLP__ENDPOINT", "")], &standard).unwrap(), Config::default());
        for (variables, expected) in [
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "c:4317")], "OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL of the form"),
            (&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "c")], "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: must be a URL"),
        ] {
            let message = load("", &[], variables).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
        for (variable, value, expected) in [
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s", "OTEL_EXPORTER_OTLP_TIMEOUT: \"10s\" is not a whole number"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "1", "OTEL_EXPORTER_OTLP_TIMEOUT: 1 is out of range"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "9", "512 is more than otlp.queue_spans (9)"),
        ] {
            let message = load("", &[], &[standard[0], (variable, value)]).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn a_requested_file_must_exist() {
        let missing = Sources { file: Some("no/such/file.toml".into()), ..Sources::default() };
        let message = missing.load().unwrap_err().to_string();
        assert!(message.contains("no/such/file.toml: cannot be read"), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn variables_of_other_programs_may_contain_any_bytes() {
        use std::os::unix::ffi::OsStringExt;
        let bytes = || OsString::from_vec(vec![0xFF]);
        assert!(Sources::new(None, [("OTHER".into(), bytes())]).is_ok());
        let error = Sources::new(None, [("FRAMEGATE__SERVER__LISTEN".into(), bytes())]).unwrap_err();
        assert!(error.to_string().contains("FRAMEGATE__SERVER__LISTEN: the value is not valid Unicode"), "{error}");
    }
}
