//! The state that all requests share, and the caller of one request.
//!
//! Input: a stream's id. Output: the stream, if the caller may see it; the permit of an event stream. Never: a stream outside the
//! caller's restriction.

use super::conversations::Conversations;
use super::idempotency::Keys;
use super::kept_responses::KeptResponses;
use super::lease::Lease;
use super::limits::Meters;
use super::live::Control;
use super::one_time::OneTime;
use super::places::Client;
use super::problem::Problem;
use super::repeats::Repeats;
use super::settings::Settings;
use super::silent::Silent;
use super::threads::Threads;
use crate::auth::Caller;
use crate::budgets::Budgets;
use crate::runs::{Entry, Runs};
use crate::search::Search;
use crate::shutdown::Shutdown;
use crate::upstream::{Host, Upstreams};
use framegate_translators::frame::StreamKind;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// The state of a request: what all requests share, and the caller.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) runs: Arc<Runs>,
    pub(super) settings: Arc<Settings>,
    pub(super) ingests: Arc<Semaphore>,
    /// What upstreams use of the proxy.
    pub(super) host: Host,
    /// The upstreams that start runs.
    pub(super) upstreams: Upstreams,
    pub(super) meters: Arc<Meters>,
    /// Ingests that have not sent anything yet.
    pub(super) silent: Arc<Silent>,
    pub(super) idempotency_keys: Arc<Keys>,
    /// Requests with prompts, and the runs that they started.
    pub(super) repeats: Arc<Repeats>,
    /// Conversations of chat completions.
    pub(super) conversations: Arc<Conversations>,
    /// Chats that clients name themselves.
    pub(super) threads: Arc<Threads>,
    /// What requests said about responses of coding agents.
    pub(super) kept_responses: Arc<KeptResponses>,
    /// The token that can be fetched with a code.
    pub(super) one_time: Arc<OneTime>,
    pub(super) control: Control,
    /// The search over the runs; `None` if it is off.
    pub(super) search: Option<Arc<Search>>,
    /// The budgets; `None` if there are none in this program.
    pub(super) budgets: Option<Arc<Budgets>>,
    pub(super) shutdown: Arc<Shutdown>,
    /// Cancelled when connections that have not begun a request must end.
    pub(super) closing: CancellationToken,
    /// The caller; [`Caller::nobody`] until it is known.
    pub(super) caller: Arc<Caller>,
    /// The client's address.
    pub(super) address: IpAddr,
}

impl Shared {
    /// Finds a stream that the caller may see. Any other stream counts as unknown.
    pub(super) fn find(&self, kind: StreamKind, id: Uuid) -> Option<Arc<Entry>> {
        self.runs.find((kind, id)).filter(|entry| self.sees(entry))
    }

    /// Finds a stream of any kind that the caller may see.
    pub(super) fn find_any(&self, id: Uuid) -> Option<Arc<Entry>> {
        self.runs.find_any(id).filter(|entry| self.sees(entry))
    }

    pub(super) fn sees(&self, entry: &Entry) -> bool {
        self.caller.restriction.admits(&entry.stream)
    }

    /// The caller as a holder of permits. Without tokens, it is identified only by its address.
    pub(super) fn client(&self) -> Client {
        let has_token = self.caller.name != Caller::anonymous().name;
        let token = has_token.then(|| Arc::from(&*self.caller.name));
        Client { token, ..Client::at(self.address) }
    }

    /// Acquires what an event stream of the caller holds while it is open.
    pub(super) fn stream(&self) -> Result<Lease, Problem> {
        let slot = self.meters.stream(&self.client(), &self.control.live().rates)?;
        Ok(Lease::new(slot, self.caller.clone(), self.control.watch()))
    }
}
