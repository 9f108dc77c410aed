//! Authentication and authorisation: tokens, their scopes, and the runs that each token may see.
//!
//! Input: the secrets of the tokens, once; then the credentials of requests. Output: a [`Caller`]. Never: a stored secret
//! (only its digest is kept); a secret in a message or a log line; a comparison whose time reveals how much of a secret was
//! right.

mod file;

pub use file::{AuthError, read, read_one};
pub(crate) use file::{one_line, secret_in};

use crate::clock::Clock;
use framegate_translators::frame::{Stream, StreamKind};
use framegate_translators::runners::name_of;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::sync::{Arc, LazyLock};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use uuid::Uuid;

/// What a token permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Send a runner's output.
    Ingest,
    /// Read runs, events and artifacts.
    Read,
    /// Start runs, stop them, and answer approvals.
    Control,
    /// Inspect and change the proxy itself.
    Admin,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 4] = [Self::Ingest, Self::Read, Self::Control, Self::Admin];

    /// The spelling in configurations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Read => "read",
            Self::Control => "control",
            Self::Admin => "admin",
        }
    }
}

/// The runs that a caller sees. An empty list restricts nothing; every list that is not empty must contain the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restriction {
    /// Sessions, by their UUID or by the runner's own id.
    pub sessions: Vec<String>,
    /// Runs, by their UUID.
    pub runs: Vec<Uuid>,
    /// Runners, by their names.
    pub runners: Vec<String>,
}

impl Restriction {
    /// True if it restricts nothing.
    pub fn is_open(&self) -> bool {
        self.sessions.is_empty() && self.runs.is_empty() && self.runners.is_empty()
    }

    /// Whether the caller sees a stream: a run, a task of a run, or, if no runs are listed, the session's records outside
    /// runs.
    pub fn admits(&self, stream: &Stream) -> bool {
        let run = match stream.kind {
            StreamKind::Session => Some(stream.id),
            _ => stream.origin_run,
        };
        self.admits_run(run, stream.session.id, &stream.session.name, name_of(stream.provider.name))
    }

    /// Whether the caller may create a stream. Records outside of runs that name no session are in no other session: a runner may write them before
    /// it names its session.
    pub fn admits_new(&self, stream: &Stream) -> bool {
        let is_unnamed = stream.kind == StreamKind::Thread && stream.session.name.is_empty();
        let is_of_runner = || self.runners.iter().any(|known| known == name_of(stream.provider.name));
        let may_be_unnamed = || self.runs.is_empty() && (self.runners.is_empty() || is_of_runner());
        self.admits(stream) || (is_unnamed && may_be_unnamed())
    }

    /// The same check for the parts of a run's identity.
    pub fn admits_run(&self, run: Option<Uuid>, session: Uuid, session_name: &str, runner: &str) -> bool {
        let of_session =
            |known: &String| (!session_name.is_empty() && known == session_name) || known.parse() == Ok(session);
        (self.sessions.is_empty() || self.sessions.iter().any(of_session))
            && (self.runs.is_empty() || run.is_some_and(|run| self.runs.contains(&run)))
            && (self.runners.is_empty() || self.runners.iter().any(|known| known == runner))
    }
}

/// A new random secret: 64 hexadecimal digits, from 296 random bits of the system.
pub fn new_secret() -> String {
    let random = (0..4).fold(Sha256::new(), |random, _| random.chain_update(Clock::System.new_id().as_bytes()));
    format!("{:x}", random.finalize())
}

/// The sender of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The token's name; `anonymous` if no token is needed.
    pub name: String,
    /// What the caller may do.
    pub scopes: Vec<Scope>,
    /// The runs that the caller sees.
    pub restriction: Arc<Restriction>,
    /// Distinguishes tokens of the same name with different secrets; reveals nothing else about the secret.
    version: u64,
}

impl Caller {
    /// The caller when no tokens are configured: may do everything.
    pub fn anonymous() -> Arc<Self> {
        static ANONYMOUS: LazyLock<Arc<Caller>> = LazyLock::new(|| Arc::new(Caller::everything("anonymous")));
        ANONYMOUS.clone()
    }

    /// The caller of public paths without a token: has no scope.
    pub fn nobody() -> Arc<Self> {
        static NOBODY: LazyLock<Arc<Caller>> =
            LazyLock::new(|| Arc::new(Caller { scopes: Vec::new(), ..Caller::everything("nobody") }));
        NOBODY.clone()
    }

    /// A caller that may do everything.
    fn everything(name: &str) -> Self {
        Self { name: name.to_owned(), scopes: Scope::ALL.to_vec(), restriction: Arc::default(), version: 0 }
    }

    /// Whether the caller has this scope.
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}

/// A token in the form used for comparison.
#[derive(Clone, Debug)]
struct Known {
    /// SHA-256 of the secret. All digests have the same length, so not even the length of the secret leaks.
    digest: [u8; 32],
    caller: Arc<Caller>,
}

/// All configured tokens.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    known: Vec<Known>,
}

impl Tokens {
    /// Whether no tokens are configured, so that none is needed.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Adds a token.
    ///
    /// # Errors
    /// The name of the existing token with the same secret or the same name.
    pub fn add(&mut self, secret: &str, mut caller: Caller) -> Result<(), String> {
        let digest: [u8; 32] = Sha256::digest(secret).into();
        let twin = self.known.iter().find(|known| known.digest == digest || known.caller.name == caller.name);
        if let Some(twin) = twin {
            return Err(twin.caller.name.clone());
        }
        caller.version = Sha256::digest(digest).iter().take(8).fold(0, |version, byte| version << 8 | u64::from(*byte));
        self.known.push(Known { digest, caller: Arc::new(caller) });
        Ok(())
    }

    /// The names of all tokens.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.known.iter().map(|known| known.caller.name.as_str())
    }

    /// The caller whose secret this is. Every digest is compared in full, whether or not a match was found.
    pub fn caller(&self, secret: &str) -> Option<Arc<Caller>> {
        let given: [u8; 32] = Sha256::digest(secret).into();
        let mut found = 0u32;
        for (place, known) in (1u32..).zip(&self.known) {
            found.conditional_assign(&place, known.digest.ct_eq(&given));
        }
        let place = usize::try_from(found).ok()?.checked_sub(1)?;
        self.known.get(place).map(|known| known.caller.clone())
    }

    /// Whether a caller is unchanged: the same secret and the same rights.
    pub fn still_has(&self, caller: &Caller) -> bool {
        if self.is_empty() {
            return *caller == *Caller::anonymous();
        }
        self.known.iter().any(|known| *known.caller == *caller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::frame::Session;

    fn stream(kind: StreamKind, id: u128, origin_run: Option<u128>) -> Stream {
        let session = Arc::new(Session { id: Uuid::from_u128(9), name: "chat".into() });
        Stream {
            kind,
            id: Uuid::from_u128(id),
            session,
            origin_run: origin_run.map(Uuid::from_u128),
            provider: framegate_translators::runners::runner("codex").unwrap().provider,
        }
    }

    #[test]
    fn a_restriction_admits_only_what_all_of_its_lists_contain() {
        let run = stream(StreamKind::Session, 1, None);
        let text = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let of = |sessions: &[&str], runs: &[u128], runners: &[&str]| Restriction {
            sessions: text(sessions),
            runs: runs.iter().map(|run| Uuid::from_u128(*run)).collect(),
            runners: text(runners),
        };
        assert!(Restriction::default().admits(&run) && Restriction::default().is_open());
        let id = Uuid::from_u128(9).to_string();
        for (sessions, runs, runners, seen) in [
            (&["chat"][..], &[][..], &[][..], true),
            (&[&*id], &[], &[], true),
            (&["other"], &[], &[], false),
            (&[""], &[], &[], false),
            (&[], &[2, 1], &[], true),
            (&[], &[2], &[], false),
            (&["chat"], &[2], &[], false),
            (&[], &[], &["codex"], true),
            (&["chat"], &[1], &["opencode"], false),
        ] {
            assert_eq!(of(sessions, runs, runners).admits(&run), seen, "{sessions:?} {runs:?} {runners:?}");
        }
        let of_run_1 = of(&[], &[1], &[]);
        assert!(of_run_1.admits(&stream(StreamKind::Task, 5, Some(1))), "a run's task belongs to the run");
        assert!(!of_run_1.admits(&stream(StreamKind::Task, 5, Some(2))));
        assert!(!of_run_1.admits(&stream(StreamKind::Thread, 9, None)), "a session has other runs too");
    }

    #[test]
    fn only_its_secret_finds_a_token() {
        let caller = |name: &str| Caller { name: name.to_owned(), ..Caller::everything("") };
        let mut tokens = Tokens::default();
        assert!(tokens.caller("").is_none());
        for name in ["one", "two", "three"] {
            tokens.add(&format!("secret of {name}"), caller(name)).unwrap();
        }
        assert_eq!(tokens.caller("secret of two").unwrap().name, "two");
        assert_eq!(tokens.caller("secret of three").unwrap().name, "three");
        for wrong in ["", "secret of", "secret of two ", "secret of four"] {
            assert!(tokens.caller(wrong).is_none(), "{wrong:?}");
        }
        assert_eq!(tokens.add("secret of one", caller("four")), Err("one".to_owned()));
        assert_eq!(tokens.add("another", caller("two")), Err("two".to_owned()));
        assert!(!format!("{tokens:?}").contains("secret"));
    }

    #[test]
    fn a_caller_keeps_access_while_its_secret_and_rights_stay_the_same() {
        let of = |secret: &str, scopes: &[Scope]| {
            let mut tokens = Tokens::default();
            tokens
                .add(secret, Caller { name: "ui".to_owned(), scopes: scopes.to_vec(), ..Caller::everything("") })
                .unwrap();
            tokens
        };
        let (tokens, no_tokens) = (of("one", &[Scope::Read]), Tokens::default());
        let caller = tokens.caller("one").unwrap();
        assert!(of("one", &[Scope::Read]).still_has(&caller));
        assert!(!of("two", &[Scope::Read]).still_has(&caller));
        assert!(!of("one", &[Scope::Ingest]).still_has(&caller));
        assert!(!no_tokens.still_has(&caller));
        assert!(no_tokens.still_has(&Caller::anonymous()) && !tokens.still_has(&Caller::anonymous()));
    }
}
