//! Connections over plain TCP or TLS.

use super::{ClientError, HttpVersion};
use crate::clock::Clock;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

pub(super) type Connector = HttpsConnector<HttpConnector>;

/// Wraps a connector of TCP. Without `tls`, no certificate is trusted.
pub(super) fn connector(
    mut tcp: HttpConnector,
    version: HttpVersion,
    tls: bool,
    ca_file: Option<&Path>,
) -> Result<Connector, ClientError> {
    tcp.enforce_http(false);
    let builder = ClientConfig::builder_with_details(Arc::new(ring::default_provider()), Arc::new(Clock::System))
        .with_safe_default_protocol_versions()
        .map_err(|error| ClientError::Tls(error.to_string()))?;
    let roots = if tls { roots(ca_file)? } else { RootCertStore::empty() };
    let config = builder.with_root_certificates(roots).with_no_client_auth();
    let builder = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http();
    Ok(match version {
        HttpVersion::One => builder.enable_http1().wrap_connector(tcp),
        HttpVersion::Two => builder.enable_http2().wrap_connector(tcp),
    })
}

/// The certificates of a file, or those that the machine trusts.
pub(crate) fn roots(ca_file: Option<&Path>) -> Result<RootCertStore, ClientError> {
    let mut store = RootCertStore::empty();
    let Some(path) = ca_file else {
        let found = rustls_native_certs::load_native_certs();
        store.add_parsable_certificates(found.certs);
        if store.is_empty() {
            let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
            return Err(ClientError::NoRoots(why));
        }
        return Ok(store);
    };
    let wrong = |message: String| ClientError::Roots { path: path.to_owned(), message };
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| wrong(format!("cannot be read as PEM: {error}")))?;
    for certificate in certificates {
        store.add(certificate).map_err(|error| wrong(error.to_string()))?;
    }
    if store.is_empty() {
        return Err(wrong("it contains no \"BEGIN CERTIFICATE\"".to_owned()));
    }
    Ok(store)
}
