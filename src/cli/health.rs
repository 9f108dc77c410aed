//! `framegate health [URL]`: asks a proxy whether it lives, for container runtimes and scripts that have no HTTP client.
//!
//! Exit code 0: it answers with 2xx. 1: it answers with something else, or not at all, or not in time.

use super::{EXIT_CLEAN, EXIT_FINDINGS};
use anyhow::{Context, anyhow, bail};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, HOST};
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::net::TcpStream;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where to ask, over plain HTTP; without a path, /healthz
    #[arg(value_name = "URL", default_value = "http://127.0.0.1:8080/healthz")]
    url: String,
    /// A file with the token to send
    #[arg(long, value_name = "FILE", env = "FRAMEGATE__SERVER__TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// How long the answer may take, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 3000)]
    timeout_ms: u64,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let url = url(&args.url)?;
    let token = match args.token_file.as_ref().filter(|path| !path.as_os_str().is_empty()) {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            Some(text.trim().to_owned())
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
    let limit = Duration::from_millis(args.timeout_ms);
    let answer = runtime.block_on(async {
        tokio::time::timeout(limit, ask(&url, token.as_deref()))
            .await
            .unwrap_or_else(|_| Err(anyhow!("no answer within {} ms", args.timeout_ms)))
    });
    match answer {
        Ok((status, text)) => {
            writeln!(std::io::stdout(), "{status} {}", text.trim())?;
            Ok(ExitCode::from(if status.is_success() { EXIT_CLEAN } else { EXIT_FINDINGS }))
        }
        Err(error) => {
            // Not EXIT_FAILED: container runtimes know 0 and 1 alone.
            let _ = writeln!(std::io::stderr(), "error: {url}: {error:#}");
            Ok(ExitCode::from(EXIT_FINDINGS))
        }
    }
}

fn url(text: &str) -> anyhow::Result<Uri> {
    let url: Uri = text.parse().with_context(|| format!("{text:?} is no URL"))?;
    if url.scheme_str() != Some("http") || url.host().is_none_or(str::is_empty) {
        bail!("{text:?} is no URL of the form http://HOST:PORT/PATH; health asks over plain HTTP alone");
    }
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let path = if path == "/" { "/healthz" } else { path };
    let authority = url.authority().map_or("", |authority| authority.as_str());
    format!("http://{authority}{path}").parse().with_context(|| format!("{text:?} is no URL"))
}

/// How much of an answer is shown, in bytes.
const SHOWN: usize = 16 << 10;

async fn ask(url: &Uri, token: Option<&str>) -> anyhow::Result<(StatusCode, String)> {
    let host = url.host().unwrap_or_default();
    let port = url.port_u16().unwrap_or(80);
    let stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await.context("cannot connect")?;
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
    fn a_url_without_a_path_asks_for_healthz() {
        for (given, asked) in [
            ("http://localhost:8080", "http://localhost:8080/healthz"),
            ("http://localhost:8080/", "http://localhost:8080/healthz"),
            ("http://[::1]:9/readyz", "http://[::1]:9/readyz"),
        ] {
            assert_eq!(url(given).unwrap().to_string(), asked);
        }
        for wrong in ["", "localhost:8080", "https://localhost", "/healthz", "http://"] {
            assert!(url(wrong).is_err(), "{wrong}");
        }
    }
}
