//! Takes the place of the connector with TLS in a build without the feature `tls`: connections over plain TCP.
//!
//! Never: a request for an `https` URL sent unencrypted. [`HttpConnector`] refuses every other scheme than `http`.

use super::{ClientError, HttpVersion};
use crate::features::WITHOUT_TLS;
use hyper_util::client::legacy::connect::HttpConnector;
use std::path::Path;

pub(super) type Connector = HttpConnector;

pub(super) fn connector(
    tcp: HttpConnector,
    _: HttpVersion,
    tls: bool,
    _: Option<&Path>,
) -> Result<Connector, ClientError> {
    if tls { Err(ClientError::Tls(WITHOUT_TLS.to_owned())) } else { Ok(tcp) }
}
