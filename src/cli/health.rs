//! `framegate health [URL]`: probes a proxy, for container runtimes and scripts that have no HTTP client.
//!
//! Without a URL, the command probes the proxy that the configuration describes: at its port on this machine, over TLS if it
//! has a certificate. The command then trusts exactly that certificate, whatever name it contains. A running proxy loads a new
//! certificate with some delay, and does not load an unusable one. At a loopback address, a different certificate is therefore
//! only a warning, and no token is sent. Never: a TLS answer accepted from another machine that has not proved its identity; a
//! token sent to such a server.
//!
//! Exit code 0: the proxy answers with 2xx. Exit code 1: it answers with another status, or not in time, or not at all.

#[cfg_attr(not(feature = "tls"), path = "health/no_tls.rs")]
mod tls;

use super::{EXIT_CLEAN, EXIT_FINDINGS};
use crate::config::Sources;
use anyhow::{Context, anyhow, bail};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, HOST};
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The URL to probe, http:// or https://; without a path, /healthz [default: where the configured proxy listens]
    #[arg(value_name = "URL")]
    url: Option<String>,
    /// The configuration file, if no URL is given [default: the one that FRAMEGATE_CONFIG names, or config.toml if it is there]
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    config: Option<PathBuf>,
    /// A file with the certificates to trust, as PEM [default: those of the machine]
    #[arg(long, value_name = "FILE", requires = "url")]
    ca_file: Option<PathBuf>,
    /// A file with the token to send
    #[arg(long, value_name = "FILE", env = "FRAMEGATE__SERVER__TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// How long the answer may take, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 3000)]
    timeout_ms: u64,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (url, trust) = match &args.url {
        Some(text) => (url(text)?, Trust::Roots(args.ca_file.as_deref())),
        None => {
            let config = Sources::new(args.config.clone(), std::env::vars_os())?.load()?;
            let (certificate, here) = (config.tls.certificate_file, here(config.server.listen));
            let scheme = if certificate.as_os_str().is_empty() { "http" } else { "https" };
            let trust =
                if here.ip().is_loopback() { Trust::Here(certificate) } else { Trust::Certificate(certificate) };
            (url(&format!("{scheme}://{here}"))?, trust)
        }
    };
    let token_file = args.token_file.as_ref().filter(|_| !matches!(trust, Trust::Here(_)));
    let token = match token_file.filter(|path| !path.as_os_str().is_empty()) {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            Some(text.trim().to_owned())
        }
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start the async runtime")?;
    let limit = Duration::from_millis(args.timeout_ms);
    let answer = runtime.block_on(async {
        tokio::time::timeout(limit, ask(&url, &trust, token.as_deref()))
            .await
            .unwrap_or_else(|_| Err(anyhow!("no answer within {} ms", args.timeout_ms)))
    });
    match answer {
        Ok((status, text)) => {
            writeln!(std::io::stdout(), "{status} {}", text.trim())?;
            Ok(ExitCode::from(if status.is_success() { EXIT_CLEAN } else { EXIT_FINDINGS }))
        }
        Err(error) => {
            // Not EXIT_FAILED: container runtimes only know 0 and 1.
            let _ = writeln!(std::io::stderr(), "error: {url}: {error:#}");
            Ok(ExitCode::from(EXIT_FINDINGS))
        }
    }
}

fn url(text: &str) -> anyhow::Result<Uri> {
    let url: Uri = text.parse().with_context(|| format!("invalid URL {text:?}"))?;
    let scheme = url.scheme_str().unwrap_or_default();
    if !matches!(scheme, "http" | "https") || url.host().is_none_or(str::is_empty) {
        bail!("invalid URL {text:?}: use http://HOST:PORT/PATH or https://HOST:PORT/PATH");
    }
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let path = if path == "/" { "/healthz" } else { path };
    let authority = url.authority().map_or("", |authority| authority.as_str());
    format!("{scheme}://{authority}{path}").parse().with_context(|| format!("invalid URL {text:?}"))
}

/// The number of bytes of an answer that are shown.
const SHOWN: usize = 16 << 10;

/// How a server proves its identity.
#[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "only TLS asks for the certificates"))]
enum Trust<'a> {
    /// By a certificate for the requested name, signed by a root in this file. `None` means the roots of the machine.
    Roots(Option<&'a Path>),
    /// By having exactly this certificate.
    Certificate(PathBuf),
    /// Any server on this machine is accepted. A different certificate than this one causes a warning.
    Here(PathBuf),
}

/// The address at which this machine reaches the listener: an unspecified address becomes the loopback address.
fn here(mut listen: SocketAddr) -> SocketAddr {
    match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => listen.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => listen.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    listen
}

async fn ask(url: &Uri, trust: &Trust<'_>, token: Option<&str>) -> anyhow::Result<(StatusCode, String)> {
    let is_tls = url.scheme_str() == Some("https");
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    let port = url.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    let stream = TcpStream::connect((host, port)).await.context("cannot connect")?;
    if !is_tls {
        return say(stream, url, token).await;
    }
    say(tls::secured(stream, host, trust).await?, url, token).await
}

async fn say(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    url: &Uri,
    token: Option<&str>,
) -> anyhow::Result<(StatusCode, String)> {
    let host = url.host().unwrap_or_default();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let path = url.path_and_query().map_or("/healthz", |path| path.as_str());
    let authority = url.authority().map_or(host, |authority| authority.as_str());
    let mut request = Request::get(path).header(HOST, authority);
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    let mut answer = sender.send_request(request.body(Empty::<Bytes>::new())?).await.context("no answer")?;
    let mut text = Vec::new();
    while let Some(Ok(frame)) = answer.frame().await {
        text.extend(frame.into_data().unwrap_or_default().iter().take(SHOWN - text.len()));
        if text.len() >= SHOWN {
            break;
        }
    }
    Ok((answer.status(), String::from_utf8_lossy(&text).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_a_path_requests_healthz() {
        for (given, asked) in [
            ("http://localhost:8080", "http://localhost:8080/healthz"),
            ("http://localhost:8080/", "http://localhost:8080/healthz"),
            ("http://[::1]:9/readyz", "http://[::1]:9/readyz"),
            ("https://proxy.example/", "https://proxy.example/healthz"),
        ] {
            assert_eq!(url(given).unwrap().to_string(), asked);
        }
        for wrong in ["", "localhost:8080", "ftp://localhost", "/healthz", "http://"] {
            assert!(url(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_wildcard_address_is_reached_over_loopback() {
        let asked = [("0.0.0.0:1", "127.0.0.1:1"), ("[::]:2", "[::1]:2"), ("10.0.0.1:3", "10.0.0.1:3")];
        for (listen, expected) in asked {
            assert_eq!(here(listen.parse().unwrap()).to_string(), expected);
        }
    }
}
