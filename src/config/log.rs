//! `[log]`: the constraints on the database file, and on the NATS servers of a log that several proxies share.
//!
//! Never: a message with the URL of a server that contains a password.

use super::constraints::is_set;
use super::{Log, LogKind};
use hyper::Uri;
use hyper::http::uri::Authority;

/// The error for the kind jetstream in a build without the feature.
const NOT_BUILT: &str = "is \"jetstream\", but this framegate was built without the feature jetstream; build it with \
                         cargo build --release --features jetstream";

/// How many servers may be named. A client learns the others of a cluster from the first that answers.
const MOST_SERVERS: usize = 32;

/// The longest prefix. Names of streams are also names of folders at the servers.
const LONGEST_PREFIX: usize = 32;

/// The least that `max_bytes` can be, and what 0 means, in bytes: frames that are kept in a file, and in memory or by servers.
const LEAST_BYTES: u64 = 1 << 20;
const FILE_BYTES: u64 = 8 << 30;
const OTHER_BYTES: u64 = 1 << 30;

impl Log {
    /// How many bytes of frames a log of this kind keeps.
    pub fn bytes_in(&self, kind: LogKind) -> u64 {
        match (self.max_bytes, kind) {
            (0, LogKind::Sqlite) => FILE_BYTES,
            (0, LogKind::Memory | LogKind::Jetstream) => OTHER_BYTES,
            (bytes, _) => bytes,
        }
    }

    /// Checks constraints between settings. Adds the key to report and the problem.
    pub(super) fn cross_check(&self, found: &mut Vec<(&'static str, String)>) {
        let is_shared = self.kind == LogKind::Jetstream;
        if is_shared && !cfg!(feature = "jetstream") {
            found.push(("log.kind", NOT_BUILT.to_owned()));
        }
        if !is_shared && !is_set(&self.path) {
            found.push((
                "log.path",
                "is empty; set it to the path of the database file, such as \"framegate.db\"".to_owned(),
            ));
        }
        if let Some(message) = self.wrong_servers() {
            found.push(("log.servers", message));
        }
        self.check_files(found);
        self.check_bounds(found);
    }

    /// What is wrong with the list of servers.
    fn wrong_servers(&self) -> Option<String> {
        match self.servers.len() {
            0 => return Some("is empty; name at least one server, such as \"nats://127.0.0.1:4222\"".to_owned()),
            1..=MOST_SERVERS => {}
            count => return Some(format!("has {count} servers; name at most {MOST_SERVERS} of the cluster")),
        }
        let (place, wrong) = self.servers.iter().enumerate().find(|(_, url)| !is_server(url))?;
        // What stands before an @ may be a password, so the URL is not shown.
        Some(if wrong.contains('@') {
            format!("URL {} has a user or a password; remove it, and use log.credentials_file", place + 1)
        } else {
            format!("{wrong:?} is not a URL of the form nats://HOST:PORT or tls://HOST:PORT")
        })
    }

    /// Files of which only one may be set, or both must be.
    fn check_files(&self, found: &mut Vec<(&'static str, String)>) {
        if is_set(&self.credentials_file) && is_set(&self.nkey_file) {
            let message =
                "is set, but log.credentials_file is set too: the proxy signs in with one of them, so leave one empty";
            found.push(("log.nkey_file", message.to_owned()));
        }
        let (has_certificate, has_key) = (is_set(&self.tls_cert_file), is_set(&self.tls_key_file));
        if has_certificate && !has_key {
            found.push(("log.tls_key_file", "is empty, but log.tls_cert_file is set: set both or none".to_owned()));
        }
        if has_key && !has_certificate {
            found.push(("log.tls_cert_file", "is empty, but log.tls_key_file is set: set both or none".to_owned()));
        }
    }

    /// The streams at the servers, and the times.
    fn check_bounds(&self, found: &mut Vec<(&'static str, String)>) {
        let Self { prefix, replicas, timeout_ms, patience_ms, max_bytes, max_stream_bytes, .. } = self;
        let is_of_prefix =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
        if !(1..=LONGEST_PREFIX).contains(&prefix.len()) || !prefix.bytes().all(is_of_prefix) {
            let message = format!("{prefix:?} is not a prefix: use 1 to {LONGEST_PREFIX} of a-z, 0-9, _ and -");
            found.push(("log.prefix", message));
        }
        if replicas % 2 == 0 {
            let fewer = replicas.saturating_sub(1);
            let message =
                format!("{replicas} is even, and survives no more failed servers than {fewer}: use 1, 3 or 5");
            found.push(("log.replicas", message));
        }
        if patience_ms < timeout_ms {
            found.push(("log.patience_ms", format!("{patience_ms} is less than log.timeout_ms ({timeout_ms})")));
        }
        if (1..LEAST_BYTES).contains(max_bytes) {
            found.push(("log.max_bytes", format!("{max_bytes} is too small: use at least {LEAST_BYTES}, or 0")));
        }
        let max_bytes = self.bytes_in(LogKind::Jetstream);
        if *max_stream_bytes > 0 && *max_stream_bytes < max_bytes {
            let message = format!(
                "{max_stream_bytes} is less than log.max_bytes ({max_bytes}): use at least as much, or 0 for four times \
                 as much"
            );
            found.push(("log.max_stream_bytes", message));
        }
    }
}

/// Whether a client of NATS connects to this URL: a scheme and a host, and perhaps a port.
fn is_server(url: &str) -> bool {
    url.parse::<Uri>().is_ok_and(|url| {
        let is_nats = matches!(url.scheme_str(), Some("nats" | "tls"));
        is_nats && url.authority().is_some_and(is_place) && matches!(url.path(), "" | "/") && url.query().is_none()
    })
}

/// Whether it is a host, and perhaps a port, and nothing else.
fn is_place(authority: &Authority) -> bool {
    let (host, port) = (authority.host(), authority.port_u16());
    let spelled = port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    !host.is_empty() && port != Some(0) && spelled == authority.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(change: impl FnOnce(&mut Log)) -> String {
        let (mut log, mut found) = (Log::default(), Vec::new());
        change(&mut log);
        log.cross_check(&mut found);
        found.iter().map(|(key, message)| format!("{key}: {message}\n")).collect()
    }

    #[test]
    fn errors_name_the_setting_and_what_would_be_right() {
        type Change = fn(&mut Log);
        let cases: [(Change, &str); 12] = [
            (|log| log.max_bytes = LEAST_BYTES - 1, "log.max_bytes: 1048575 is too small: use at least 1048576, or 0"),
            (|log| log.path.clear(), "log.path: is empty; set it to the path of the database file"),
            (|log| log.servers.clear(), "log.servers: is empty; name at least one server, such as"),
            (|log| log.servers = vec!["tls://c".to_owned(); 33], "log.servers: has 33 servers; name at most 32"),
            (
                |log| (log.nkey_file, log.credentials_file) = ("a".into(), "b".into()),
                "log.nkey_file: is set, but log.credentials_file is set too",
            ),
            (|log| log.tls_cert_file = "a".into(), "log.tls_key_file: is empty, but log.tls_cert_file is set"),
            (|log| log.tls_key_file = "a".into(), "log.tls_cert_file: is empty, but log.tls_key_file is set"),
            (|log| log.prefix = "Gate.eu".to_owned(), "log.prefix: \"Gate.eu\" is not a prefix: use 1 to 32 of a-z"),
            (|log| log.prefix = "a".repeat(33), "is not a prefix: use 1 to 32"),
            (
                |log| log.replicas = 4,
                "log.replicas: 4 is even, and survives no more failed servers than 3: use 1, 3 or 5",
            ),
            (|log| log.patience_ms = 1999, "log.patience_ms: 1999 is less than log.timeout_ms (2000)"),
            (
                |log| log.max_stream_bytes = log.bytes_in(LogKind::Jetstream) - 1,
                "log.max_stream_bytes: 1073741823 is less than log.max_bytes (1073741824): use at least as much, or 0",
            ),
        ];
        for (change, expected) in cases {
            let message = wrong(change);
            assert!(message.contains(expected) && message.lines().count() == 1, "{expected:?}: {message}");
        }
        let at_the_limits = |log: &mut Log| {
            log.max_bytes = LEAST_BYTES;
            log.servers = vec!["tls://c".to_owned(); 32];
            (log.prefix, log.replicas) = ("a_b-9".to_owned() + &"z".repeat(27), 5);
            (log.patience_ms, log.max_stream_bytes) = (log.timeout_ms, log.bytes_in(LogKind::Jetstream));
            (log.tls_cert_file, log.tls_key_file, log.nkey_file) = ("a".into(), "b".into(), "c".into());
        };
        assert_eq!(wrong(at_the_limits), "");
    }

    #[test]
    fn a_log_in_a_file_keeps_more_than_one_in_memory_unless_the_settings_say_how_much() {
        let mut log = Log::default();
        let bytes = |log: &Log| [LogKind::Sqlite, LogKind::Memory, LogKind::Jetstream].map(|kind| log.bytes_in(kind));
        assert_eq!(bytes(&log), [FILE_BYTES, OTHER_BYTES, OTHER_BYTES]);
        log.max_bytes = LEAST_BYTES;
        assert_eq!(bytes(&log), [LEAST_BYTES; 3]);
    }

    #[test]
    fn a_server_is_a_scheme_and_a_host_and_a_message_never_shows_a_password() {
        let with = |url: &str| wrong(|log| log.servers = vec!["nats://a".to_owned(), url.to_owned()]);
        for good in ["nats://a", "tls://nats.example:4222", "nats://[::1]:4222", "nats://[::1]", "tls://10.0.0.1:1/"] {
            assert_eq!(with(good), "", "{good}");
        }
        for bad in [
            "",
            "a:4222",
            "http://a",
            "ws://a",
            "nats://",
            "nats://:4222",
            "nats://a:0",
            "nats://a:65536",
            "nats://a:+1",
            "nats://a:",
            "nats://a/b",
            "nats://a?b",
            "nats://a b",
        ] {
            let expected =
                format!("log.servers: {bad:?} is not a URL of the form nats://HOST:PORT or tls://HOST:PORT\n");
            assert_eq!(with(bad), expected);
        }
        for secret in ["nats://hunter2@a", "nats://me:hunter2@a:4222", "nats://me:hunter2 @a", "hunter2@a"] {
            let expected = "log.servers: URL 2 has a user or a password; remove it, and use log.credentials_file\n";
            assert_eq!(with(secret), expected);
        }
    }

    #[test]
    fn a_build_without_the_feature_names_the_command_to_build_it() {
        let message = wrong(|log| {
            log.kind = LogKind::Jetstream;
            // Only the other kinds have a file.
            log.path.clear();
        });
        if cfg!(feature = "jetstream") {
            assert_eq!(message, "");
        } else {
            assert_eq!(message, format!("log.kind: {NOT_BUILT}\n"));
            assert!(message.contains("cargo build --release --features jetstream"), "{message}");
        }
    }
}
