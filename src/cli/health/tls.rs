//! The TLS connection to the proxy that is probed.

use super::Trust;
use crate::client::roots;
use anyhow::{Context, anyhow};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error as RustlsError, SignatureScheme};

/// Secures a connection to this host.
pub(super) async fn secured(stream: TcpStream, host: &str, trust: &Trust<'_>) -> anyhow::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from(host.to_owned()).context("the host cannot be the name in a certificate")?;
    TlsConnector::from(Arc::new(tls(trust)?)).connect(name, stream).await.context("the TLS handshake failed")
}

fn tls(trust: &Trust<'_>) -> anyhow::Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    Ok(match trust {
        Trust::Roots(file) => builder.with_root_certificates(roots(*file)?).with_no_client_auth(),
        Trust::Certificate(file) => {
            let certificate = read(file)?;
            let only = OnlyThis { certificate: Some(certificate), is_here: false, provider };
            builder.dangerous().with_custom_certificate_verifier(Arc::new(only)).with_no_client_auth()
        }
        Trust::Here(file) => {
            let certificate = read(file).map_err(|error| warn(&format!("{error:#}"))).ok();
            let only = OnlyThis { certificate, is_here: true, provider };
            builder.dangerous().with_custom_certificate_verifier(Arc::new(only)).with_no_client_auth()
        }
    })
}

fn read(file: &Path) -> anyhow::Result<CertificateDer<'static>> {
    CertificateDer::from_pem_file(file).map_err(|error| anyhow!("cannot use {}: {error}", file.display()))
}

fn warn(message: &str) {
    let _ = writeln!(std::io::stderr(), "warning: {message}");
}

/// The message about a server with a different certificate.
const ANOTHER: &str = "the server's certificate is not the configured one";

/// Accepts exactly one certificate, whatever it contains.
#[derive(Debug)]
struct OnlyThis {
    /// `None` if the file cannot be read.
    certificate: Option<CertificateDer<'static>>,
    /// The server is on this machine and is accepted with any certificate.
    is_here: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for OnlyThis {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, RustlsError> {
        match &self.certificate {
            Some(certificate) if end_entity == certificate => {}
            _ if !self.is_here => return Err(RustlsError::General(ANOTHER.to_owned())),
            Some(_) => warn(ANOTHER),
            None => {}
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
