//! Reads the HTTP upstreams of a configuration, with their secrets and certificates.

use crate::auth::{one_line, secret_in};
use crate::config::Config;
use crate::config::upstream::{Authorization, Http, Kind, Retrieve, Upstream};
use crate::headers::Passing;
use crate::upstream::responses::{Credentials, Patience, Responses, Settings};
use crate::upstream::{Modes, sse};
use anyhow::{Context, anyhow};
use framegate_translators::contracts::FRAMES;
use framegate_translators::runners::runner;
use hyper::header::HeaderName;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The upstreams of kind `sse`.
///
/// # Errors
/// A secret cannot be read, or a setting cannot be used.
pub(super) fn feeds(config: &Config) -> anyhow::Result<Vec<sse::Settings>> {
    let mut found = Vec::new();
    for upstream in &config.upstream {
        let Kind::Sse(settings) = &upstream.kind else { continue };
        found.push(feed(upstream, settings).with_context(|| format!("upstream {:?}", upstream.name))?);
    }
    Ok(found)
}

fn feed(upstream: &Upstream, settings: &crate::config::upstream::Sse) -> anyhow::Result<sse::Settings> {
    let ms = Duration::from_millis;
    let runner = runner(&upstream.runner).with_context(|| format!("unknown runner {:?}", upstream.runner))?;
    Ok(sse::Settings {
        name: upstream.name.clone(),
        runner,
        modes: Modes::new(&upstream.modes, runner),
        url: settings.http.url.parse().context("url")?,
        contract: settings.has_frames().then_some(FRAMES),
        credentials: credentials(&settings.http)?,
        ca_file: is_set(&settings.http.ca_file),
        connect_timeout: ms(settings.http.connect_timeout_ms),
        answer_timeout: ms(settings.answer_timeout_ms),
        idle_timeout: (settings.idle_timeout_ms > 0).then(|| ms(settings.idle_timeout_ms)),
        pause: (ms(settings.reconnect_min_ms), ms(settings.reconnect_max_ms)),
        lost_after: ms(settings.lost_after_ms),
        start_timeout: ms(settings.start_timeout_ms),
        max_runs: upstream.max_runs,
        is_required: settings.required,
    })
}

/// The upstreams of kind `responses`, in the order of the configuration.
///
/// # Errors
/// A secret or a certificate cannot be read, or a setting cannot be used.
pub(super) fn responses(config: &Config) -> anyhow::Result<Vec<Arc<Responses>>> {
    let mut found = Vec::new();
    for upstream in &config.upstream {
        let Kind::Responses(settings) = &upstream.kind else { continue };
        let one = one(upstream, settings).with_context(|| format!("upstream {:?}", upstream.name))?;
        found.push(Arc::new(one));
    }
    Ok(found)
}

fn one(upstream: &Upstream, settings: &crate::config::upstream::Responses) -> anyhow::Result<Responses> {
    let credentials = credentials(&settings.http)?;
    let settings = Settings {
        name: upstream.name.clone(),
        url: settings.http.url.parse().context("url")?,
        credentials,
        request_headers: Passing::new(&settings.request_headers, &settings.remove_request_headers)?,
        response_headers: Passing::new(&settings.response_headers, &settings.remove_response_headers)?,
        ca_file: is_set(&settings.http.ca_file),
        connect_timeout: Duration::from_millis(settings.http.connect_timeout_ms),
        head_timeout: Duration::from_millis(settings.answer_timeout_ms),
        idle_timeout: (settings.idle_timeout_ms > 0).then(|| Duration::from_millis(settings.idle_timeout_ms)),
        max_request_bytes: settings.max_request_bytes,
        cancel_on_disconnect: settings.cancel_on_disconnect,
        patience: Patience {
            bytes: settings.client_buffer_bytes,
            time: Duration::from_millis(settings.slow_client_ms),
        },
        gives_kept: settings.retrieve == Retrieve::Kept,
        max_connections: settings.max_connections,
        max_queued: settings.max_queued,
        queue_timeout: Duration::from_millis(settings.queue_timeout_ms),
    };
    Ok(Responses::new(settings)?)
}

/// Decides whose credentials requests carry. Secrets are read here, once.
fn credentials(settings: &Http) -> anyhow::Result<Credentials> {
    match settings.authorization {
        Authorization::None => Ok(Credentials::None),
        Authorization::Passthrough => Ok(Credentials::OfTheClient),
        Authorization::Configured => {
            let variable = &settings.secret_env;
            let secret = match is_set(&settings.secret_file) {
                Some(file) => secret_in(&file).map_err(|message| anyhow!("secret_file: {message}"))?,
                None => {
                    let text = std::env::var(variable)
                        .map_err(|_| anyhow!("secret_env: there is no environment variable {variable}"))?;
                    let secret = one_line(&text).map(str::to_owned);
                    secret.ok_or_else(|| anyhow!("secret_env: {variable} must contain a secret on one line"))?
                }
            };
            // Errors name neither the header nor the secret: a user may have swapped the two settings.
            let header: HeaderName = settings
                .credential_header
                .parse()
                .map_err(|_| anyhow!("credential_header is not a valid header name"))?;
            Credentials::own(header, &settings.credential_scheme, &secret)
                .map_err(|_| anyhow!("the secret cannot be sent in a header"))
        }
    }
}

fn is_set(path: &Path) -> Option<PathBuf> {
    (!path.as_os_str().is_empty()).then(|| path.to_owned())
}
