//! Parses the address that the server listens on, in the usual short forms.
//!
//! Input: `8080`, `:8080`, `localhost:8080`, `127.0.0.1:8080`, `[::1]:8080`. Output: an address and a port; the address is
//! loopback unless one is given. Never: a name lookup, or a non-loopback address that was not given.

use serde::{Deserialize, Deserializer, de};
use std::net::{Ipv4Addr, SocketAddr};

/// The error for a text that is not an address.
pub(super) const WRONG: &str =
    "is not an address and port such as \"127.0.0.1:8080\", \"[::1]:8080\" or \"localhost:8080\", nor a port alone";

/// Parses the address; `None` if it is invalid.
fn address(text: &str) -> Option<SocketAddr> {
    let text = text.trim();
    let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    let is_port = !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
    let of_port =
        is_port.then(|| port.parse().ok()).flatten().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    of_port.or_else(|| text.parse().ok())
}

/// Deserialises the address of a setting.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    address(&String::deserialize(deserializer)?).ok_or_else(|| de::Error::custom(WRONG))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_means_loopback_and_an_address_is_kept() {
        for (text, expected) in [
            ("8080", "127.0.0.1:8080"),
            (":8080", "127.0.0.1:8080"),
            ("localhost:0", "127.0.0.1:0"),
            (" 127.0.0.1:1 ", "127.0.0.1:1"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:8080", "[::1]:8080"),
        ] {
            assert_eq!(address(text), Some(expected.parse().unwrap()), "{text}");
        }
        for text in
            ["", ":", "localhost", "127.0.0.1", "65536", "-1", "+80", "host:80", "::1:8080x", "localhost:", "80 80"]
        {
            assert_eq!(address(text), None, "{text}");
        }
    }
}
