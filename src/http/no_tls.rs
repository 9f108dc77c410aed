//! Takes the place of the server's certificate in a build without the feature `tls`: no certificate can be used.

use crate::features::WITHOUT_TLS;
use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::net::TcpStream;

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("tls.certificate_file is set, but {}", WITHOUT_TLS)]
pub struct TlsError;

/// Cannot be constructed.
#[derive(Clone, Debug)]
pub struct Tls(Infallible);

impl Tls {
    /// Reads no file.
    ///
    /// # Errors
    /// Always.
    pub fn read(_: &Path, _: &Path) -> Result<Self, TlsError> {
        Err(TlsError)
    }

    pub(super) fn acceptor(&self) -> Acceptor {
        match self.0 {}
    }
}

/// Cannot be constructed.
pub(super) struct Acceptor(Infallible);

impl Acceptor {
    pub(super) async fn accept(self, _: TcpStream) -> io::Result<(TcpStream, bool)> {
        match self.0 {}
    }
}

/// There is no certificate that could change.
pub(super) async fn watch(_: impl Fn() -> Option<Tls>, _: impl Fn(Tls), _: Duration) {}
