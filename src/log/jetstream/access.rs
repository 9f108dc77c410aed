//! How the proxy identifies itself to the servers, and which servers it trusts.
//!
//! Input: the files that the configuration names. Output: options for the connection. Never: a connection with less than what is configured; an
//! error that does not name the setting and the file, or that quotes the file.

use super::JetstreamOptions;
use async_nats::ConnectOptions;
use nkeys::{KeyPair, KeyPairType};
use std::fmt::Display;
use std::path::Path;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The options for the connection.
///
/// # Errors
/// A file cannot be read, or does not have what it should have.
pub(super) async fn connect_options(options: &JetstreamOptions) -> Result<ConnectOptions, String> {
    let mut connecting = ConnectOptions::new()
        .name("framegate")
        .request_timeout(Some(options.timeout))
        .connection_timeout(options.timeout)
        .custom_inbox_prefix(format!("_INBOX.{}", options.prefix));
    if let Some(path) = &options.credentials_file {
        let read = connecting.credentials_file(path).await;
        connecting = read.map_err(|error| wrong("credentials_file", path, error))?;
    }
    if let Some(path) = &options.nkey_file {
        let seed = std::fs::read_to_string(path).map_err(|error| wrong("nkey_file", path, error))?;
        let seed = seed.trim();
        let is_of_user = KeyPair::from_seed(seed).is_ok_and(|pair| pair.key_pair_type() == KeyPairType::User);
        if !is_of_user {
            return Err(wrong("nkey_file", path, "it has no nkey seed of a user, which begins with SU"));
        }
        connecting = connecting.nkey(seed.to_owned());
    }
    if let Some(path) = &options.tls_ca_file {
        certificates("tls_ca_file", path)?;
        connecting = connecting.add_root_certificates(path.clone());
    }
    if let (Some(certificate), Some(key)) = (&options.tls_cert_file, &options.tls_key_file) {
        certificates("tls_cert_file", certificate)?;
        PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable("tls_key_file", key, "private key", error))?;
        connecting = connecting.add_client_certificate(certificate.clone(), key.clone());
    }
    Ok(connecting)
}

/// Checks that a file has certificates.
fn certificates(setting: &str, path: &Path) -> Result<(), String> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(found) if found.is_empty() => Err(unreadable(setting, path, "certificate", PemError::NoItemsFound)),
        Ok(_) => Ok(()),
        Err(error) => Err(unreadable(setting, path, "certificate", error)),
    }
}

/// The message for a file that should have a PEM item. It does not quote the file, which may contain a key.
fn unreadable(setting: &str, path: &Path, item: &str, error: PemError) -> String {
    match error {
        PemError::Io(error) => wrong(setting, path, error),
        PemError::NoItemsFound => wrong(setting, path, format!("it has no {item} as PEM")),
        _ => wrong(setting, path, "it is not valid PEM, or is incomplete"),
    }
}

fn wrong(setting: &str, path: &Path, why: impl Display) -> String {
    format!("log.{setting} {}: {why}", path.display())
}
