//! Counts held permits of each token and each address: connections, ingests and event streams.
//!
//! Input: a request for a permit. Output: the permit, counted until it is dropped, or the limit that is reached. Never:
//! memory for a client that holds nothing; a permit that counts against one limit but not another.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The kind of permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Connection,
    /// A connection beyond the limit, which may only send probe requests.
    Reserved,
    Ingest,
    Stream,
    /// A run in progress that the client started with a prompt.
    StartedRun,
}

/// A holder of permits: a token, if there are any, and an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Client {
    pub(super) token: Option<Arc<str>>,
    pub(super) address: IpAddr,
}

impl Client {
    /// A client of which only the address is known.
    pub(super) fn at(address: IpAddr) -> Self {
        Self { token: None, address: network_of(address) }
    }
}

/// The address under which a client is counted. An IPv6 client usually controls a whole /64 network, so that counts as one.
pub(super) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [one, two, three, four, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(one, two, three, four, 0, 0, 0, 0))
        }
        IpAddr::V4(address) => IpAddr::V4(address),
    }
}

/// The limits for one kind of permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) all: usize,
    pub(super) per_token: usize,
    pub(super) per_address: usize,
}

/// The limit that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    Token,
    Address,
    All,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Holder {
    All,
    Token(Arc<str>),
    Address(IpAddr),
}

/// The number of held permits.
#[derive(Debug, Default)]
pub(super) struct Tally(Mutex<HashMap<(Kind, Holder), usize>>);

impl Tally {
    /// Takes a permit.
    ///
    /// # Errors
    /// The limit that is reached. Nothing is counted then.
    pub(super) fn take(self: &Arc<Self>, kind: Kind, client: &Client, bounds: Bounds) -> Result<Place, Full> {
        let of_token = client.token.clone().map(|token| (Holder::Token(token), bounds.per_token, Full::Token));
        let of_address = (Holder::Address(client.address), bounds.per_address, Full::Address);
        let of_all = (Holder::All, bounds.all, Full::All);
        let mut held = self.held();
        let mut keys = Vec::with_capacity(3);
        for (holder, limit, full) in of_token.into_iter().chain([of_address, of_all]) {
            let key = (kind, holder);
            if held.get(&key).copied().unwrap_or_default() >= limit {
                return Err(full);
            }
            keys.push(key);
        }
        for key in &keys {
            *held.entry(key.clone()).or_default() += 1;
        }
        drop(held);
        Ok(Place { tally: self.clone(), keys })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<(Kind, Holder), usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A permit, released when dropped.
#[derive(Debug)]
pub(super) struct Place {
    tally: Arc<Tally>,
    keys: Vec<(Kind, Holder)>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.tally.held();
        for key in &self.keys {
            let left = held.get(key).copied().unwrap_or_default().saturating_sub(1);
            if left == 0 {
                held.remove(key);
            } else {
                held.insert(key.clone(), left);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(token: &str, address: &str) -> Client {
        let token = (!token.is_empty()).then(|| Arc::from(token));
        Client { token, ..Client::at(address.parse().unwrap()) }
    }

    #[test]
    fn each_limit_is_named_and_every_place_is_given_back() {
        let tally = Arc::new(Tally::default());
        let bounds = Bounds { all: 3, per_token: 1, per_address: 2 };
        let take = |token: &str, address: &str| tally.take(Kind::Stream, &client(token, address), bounds);
        let mut held = vec![take("one", "10.0.0.1").unwrap()];
        assert_eq!(take("one", "10.0.0.2").unwrap_err(), Full::Token);
        held.push(take("two", "10.0.0.1").unwrap());
        assert_eq!(take("three", "10.0.0.1").unwrap_err(), Full::Address);
        held.push(take("", "10.0.0.2").unwrap());
        assert_eq!(take("", "10.0.0.3").unwrap_err(), Full::All);
        assert!(tally.take(Kind::Ingest, &client("one", "10.0.0.1"), bounds).is_ok(), "another kind");
        held.clear();
        assert!(tally.held().is_empty());
        assert!(take("one", "10.0.0.1").is_ok());
    }

    #[test]
    fn an_address_is_counted_by_its_network() {
        let of = |text: &str| network_of(text.parse().unwrap()).to_string();
        assert_eq!((of("192.0.2.7"), of("::ffff:192.0.2.7")), ("192.0.2.7".to_owned(), "192.0.2.7".to_owned()));
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    }
}
