//! The settings of an upstream of kind `sse`.

use super::http::Http;
use crate::config::table::settings;
use framegate_translators::contracts::FRAMES;

settings! {
    /// An event feed that the proxy follows.
    pub struct Sse {
        /// Contract of the feed, if another framegate serves it: `frames.v2`. Empty: the feed has the runner's own events.
        contract: String = String::new();
        /// Time until the head of an answer.
        answer_timeout_ms: u64 = 30_000, in 100..=3_600_000;
        /// Silence of the feed after which the proxy reconnects. 0: never.
        idle_timeout_ms: u64 = 60_000, in 0..=604_800_000;
        /// Pause before the first attempt to reconnect. It doubles with each attempt.
        reconnect_min_ms: u64 = 500, in 10..=600_000;
        /// Longest pause between attempts.
        reconnect_max_ms: u64 = 30_000, in 10..=3_600_000;
        /// Silence of a run, after the feed was lost, after which the run is interrupted.
        lost_after_ms: u64 = 60_000, in 0..=86_400_000;
        /// Time until the feed is connected, and then until it reports a run that was started.
        start_timeout_ms: u64 = 30_000, in 100..=3_600_000;
        /// Answer `/readyz` with 503 while the feed is not connected.
        required: bool = true;
    }
    /// Its URL and connection settings, in the same table of the file.
    with http: Http;
}

impl Sse {
    /// Whether the feed is one of another framegate.
    pub fn has_frames(&self) -> bool {
        self.contract == FRAMES.name
    }

    /// The contract that the query of the URL names.
    fn contract_of_url(&self) -> Option<String> {
        let (_, query) = self.http.url.split_once('?')?;
        let named = query.split('&').find_map(|pair| pair.strip_prefix("contract="));
        named.map(str::to_owned)
    }

    /// Checks constraints between settings.
    pub(super) fn check(&self, report: &mut dyn FnMut(&str, String)) {
        self.http.check(true, report);
        if !self.contract.is_empty() && self.contract != FRAMES.name {
            report("contract", format!("is {:?}; a feed of frames has {:?}", self.contract, FRAMES.name));
        }
        if self.has_frames()
            && let Some(other) = self.contract_of_url().filter(|other| other != FRAMES.name)
        {
            report("url", format!("asks for the contract {other:?}; leave it out of the query"));
        }
        if self.reconnect_min_ms > self.reconnect_max_ms {
            let message =
                format!("{} is more than reconnect_max_ms ({})", self.reconnect_min_ms, self.reconnect_max_ms);
            report("reconnect_min_ms", message);
        }
    }
}
