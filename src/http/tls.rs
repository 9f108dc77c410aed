//! The server's certificate.
//!
//! Input: two PEM files. Output: a rustls configuration for TLS 1.2 and 1.3 with ALPN `h2` and `http/1.1`; a new one when the
//! files change. Never: a key that does not match the certificate; a server without a certificate because the new one is
//! broken.

use crate::clock::Clock;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{Error as RustlsError, ServerConfig};
use tokio_rustls::server::TlsStream;

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read, or is not PEM.
    #[error("{setting}: cannot use {}: {message}", .path.display())]
    File {
        /// The setting that names the file.
        setting: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it. Never contains the file's content.
        message: String,
    },
    /// The key does not match the certificate.
    #[error("tls.key_file: the key in {} does not match the certificate in {}", .key.display(), .certificate.display())]
    Pair {
        /// The certificate file.
        certificate: PathBuf,
        /// The key file.
        key: PathBuf,
    },
}

/// A certificate in use, and the files that it was read from.
#[derive(Clone, Debug)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    stamp: Stamp,
    config: Arc<ServerConfig>,
}

/// The length and modification time of both files, to detect changes. `None`: the file does not exist.
type Stamp = [Option<(u64, Option<SystemTime>)>; 2];

fn stamp(certificate: &Path, key: &Path) -> Stamp {
    let of = |data: Metadata| (data.len(), data.modified().ok());
    [certificate, key].map(|path| std::fs::metadata(path).ok().map(of))
}

impl Tls {
    /// Reads the two files.
    ///
    /// # Errors
    /// The file that cannot be used, and why.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        // Take the stamp before reading, so that a later change is detected.
        let stamp = stamp(certificate, key);
        let wrong = |setting, path: &Path, message: String| TlsError::File { setting, path: path.to_owned(), message };
        let of_certificate = |message| wrong("tls.certificate_file", certificate, message);
        let of_key = |message| wrong("tls.key_file", key, message);
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect)
            .map_err(|error| of_certificate(pem_message(&error)))?;
        if chain.is_empty() {
            return Err(of_certificate("it contains no \"BEGIN CERTIFICATE\"".to_owned()));
        }
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| {
            of_key(match error {
                PemError::NoItemsFound => "it contains no unencrypted \"BEGIN PRIVATE KEY\"".to_owned(),
                other => pem_message(&other),
            })
        })?;
        let builder = ServerConfig::builder_with_details(Arc::new(ring::default_provider()), Arc::new(Clock::System))
            .with_safe_default_protocol_versions()
            .map_err(|error| of_certificate(error.to_string()))?;
        let mut config =
            builder.with_no_client_auth().with_single_cert(chain, secret).map_err(|error| match error {
                RustlsError::InconsistentKeys(_) => {
                    TlsError::Pair { certificate: certificate.to_owned(), key: key.to_owned() }
                }
                RustlsError::InvalidCertificate(_) => of_certificate(error.to_string()),
                other => of_key(other.to_string()),
            })?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { certificate: certificate.to_owned(), key: key.to_owned(), stamp, config: Arc::new(config) })
    }

    /// What secures a connection with the certificate.
    pub(super) fn acceptor(&self) -> Acceptor {
        Acceptor(self.config.clone().into())
    }
}

/// Secures one connection.
pub(super) struct Acceptor(TlsAcceptor);

impl Acceptor {
    /// The secured connection, and whether the client selected HTTP/2 by ALPN.
    pub(super) async fn accept(self, stream: TcpStream) -> io::Result<(TlsStream<TcpStream>, bool)> {
        let stream = self.0.accept(stream).await?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok((stream, is_http2))
    }
}

/// Describes an error in a PEM file without quoting it, because it may contain a key.
fn pem_message(error: &PemError) -> String {
    match error {
        PemError::Io(error) => error.to_string(),
        PemError::NoItemsFound => "it contains no PEM".to_owned(),
        _ => "it is not valid PEM, or is incomplete".to_owned(),
    }
}

/// Checks the files of the current certificate at this interval and installs a changed one. Ends with the task that it runs in.
pub(super) async fn watch(current: impl Fn() -> Option<Tls>, install: impl Fn(Tls), every: Duration) {
    let mut ticks = tokio::time::interval(every);
    // A change that was refused is logged once, until the files change again.
    let mut refused: Option<Stamp> = None;
    loop {
        ticks.tick().await;
        let Some(tls) = current() else { continue };
        let looked = tokio::task::spawn_blocking(move || {
            let now = stamp(&tls.certificate, &tls.key);
            let is_other = now != tls.stamp && Some(now) != refused;
            is_other.then(|| (now, Tls::read(&tls.certificate, &tls.key)))
        });
        match looked.await {
            Ok(Some((_, Ok(tls)))) => {
                refused = None;
                let path = tls.certificate.display();
                tracing::info!(certificate = %path, "the certificate changed; new connections use it");
                install(tls);
            }
            Ok(Some((now, Err(error)))) => {
                refused = Some(now);
                tracing::error!(%error, "the certificate changed but cannot be used; the old one stays in use");
            }
            Ok(None) | Err(_) => {}
        }
    }
}
