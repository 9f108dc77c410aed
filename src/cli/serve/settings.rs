//! Converts the configuration to the server's settings: milliseconds to durations, 0 to `None`, and files to secrets and
//! certificates.

use super::upstreams;
use crate::auth::{self, AuthError, Tokens};
use crate::config::Config;
use crate::http::{Live, Rate, Rates, Settings, Tls};
use crate::ingest;
use anyhow::Context;
use framegate_translators::contracts::contract;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::framing::Limits;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The complete settings of the server.
///
/// # Errors
/// A token or a certificate cannot be read, or a setting cannot be used.
pub(in crate::cli) fn settings(config: &Config) -> anyhow::Result<Settings> {
    let server = &config.server;
    let above_zero = |ms: u64| (ms > 0).then(|| Duration::from_millis(ms));
    Ok(Settings {
        responses: upstreams::responses(config)?,
        feeds: upstreams::feeds(config)?,
        listen: server.listen,
        page: config.ui.enabled.at(server.listen),
        one_time: None,
        live: live(config)?,
        max_connections: server.max_connections,
        reserved_connections: server.reserved_connections,
        send_buffer: Some(server.send_buffer_bytes).filter(|bytes| *bytes > 0),
        tcp_keepalive: above_zero(server.tcp_keepalive_ms),
        http2_max_streams: server.http2_max_streams,
        http2_ping: Duration::from_millis(server.http2_ping_ms),
        http2_ping_timeout: Duration::from_millis(server.http2_ping_timeout_ms),
        tls_handshake: Duration::from_millis(config.tls.handshake_timeout_ms),
        tls_reload: above_zero(config.tls.reload_interval_ms),
        header_read_timeout: Duration::from_millis(server.header_read_timeout_ms),
        max_header_bytes: server.max_header_bytes,
        max_body_bytes: (server.max_body_bytes > 0).then_some(server.max_body_bytes),
        heartbeat: Duration::from_millis(server.heartbeat_ms),
        sse_retry: Duration::from_millis(server.sse_retry_ms),
        shutdown_flush: Duration::from_millis(server.shutdown_flush_ms),
        shutdown_grace: Duration::from_millis(server.shutdown_grace_ms),
        ingest_start: above_zero(config.ingest.start_timeout_ms),
        ingest_idle: above_zero(config.ingest.idle_timeout_ms),
        max_compression: config.ingest.max_compression_ratio,
        max_decompressed: Some(config.ingest.max_decompressed_bytes).filter(|bytes| *bytes > 0),
        max_ingests: config.ingest.max_open,
        ingest: ingest::Settings { max_open_runs: config.limits.max_open_runs, ..ingest_settings(config)? },
        recognise_repeats: config.ingest.recognise_repeats,
        max_idempotency_keys: config.ingest.max_idempotency_keys,
        idempotency_key_lifetime: Duration::from_millis(config.ingest.idempotency_key_ms),
        max_prompt_body: config.prompts.max_request_bytes,
        max_prompt_requests: config.prompts.max_requests,
        prompt_repeat: Duration::from_millis(config.prompts.repeat_ms),
        max_conversations: config.prompts.max_conversations,
        page_default: server.page_limit_default,
        page_max: server.page_limit_max,
        default_contract: contract(&server.default_contract)
            .with_context(|| format!("unknown contract {:?}", server.default_contract))?,
        encoder: encoder_options(config),
        upstreams: config.upstream.clone(),
        policy: Arc::new(config.approvals.policy()?),
    })
}

/// How inputs are read.
///
/// # Errors
/// A redaction rule cannot be used.
pub(in crate::cli) fn ingest_settings(config: &Config) -> anyhow::Result<ingest::Settings> {
    let settings = &config.ingest;
    Ok(ingest::Settings {
        limits: Limits { record_bytes: settings.max_record_bytes, preview_bytes: settings.preview_bytes },
        drift: settings.drift,
        redaction: config.redaction.rules()?.map(Arc::new),
        max_records_per_run: config.limits.max_records_per_run,
        ahead_bytes: settings.ahead_bytes,
        ..ingest::Settings::default()
    })
}

/// The encoder options for every client.
pub(in crate::cli) fn encoder_options(config: &Config) -> EncoderOptions {
    EncoderOptions {
        thinking: config.hecate.thinking,
        artifacts: config.hecate.artifacts,
        user_messages: config.hecate.user_messages,
        task_budget_micros_usd: Some(config.hecate.task_budget_micros_usd).filter(|budget| *budget > 0),
        ..EncoderOptions::default()
    }
}

/// The settings that can change while the server runs.
///
/// # Errors
/// A token or a certificate cannot be read, or a setting cannot be used.
pub(super) fn live(config: &Config) -> anyhow::Result<Live> {
    let (limits, tls) = (&config.limits, &config.tls);
    let rate = |per_second: u64, burst: u64| (per_second > 0).then_some(Rate { per_second, burst });
    let has_tls = !tls.certificate_file.as_os_str().is_empty();
    Ok(Live {
        allowed_hosts: config.server.allowed_hosts.clone(),
        cors_origins: config.server.cors_origins.clone(),
        trusted_proxies: config.server.trusted_proxies.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
        tokens: tokens(&config.server.token_file, &config.auth.tokens_file)?,
        rates: Rates {
            requests: rate(limits.requests_per_second, limits.request_burst),
            ingest_bytes: rate(limits.ingest_bytes_per_second, limits.ingest_burst_bytes),
            streams: limits.max_event_streams,
            streams_per_client: limits.max_event_streams_per_client,
            streams_per_address: limits.max_event_streams_per_address,
            ingests_per_client: limits.max_ingests_per_client,
            ingests_per_address: limits.max_ingests_per_address,
            started_runs_per_client: limits.max_started_runs_per_client,
            connections_per_address: limits.max_connections_per_address,
        },
        tls: has_tls.then(|| Tls::read(&tls.certificate_file, &tls.key_file)).transpose()?,
        hsts_seconds: tls.hsts_seconds,
    })
}

fn tokens(one: &Path, many: &Path) -> Result<Tokens, AuthError> {
    let is_set = |path: &Path| !path.as_os_str().is_empty();
    let mut tokens = Tokens::default();
    if is_set(one) {
        auth::read_one(one, &mut tokens)?;
    }
    if is_set(many) {
        auth::read(many, &|name| std::env::var(name).ok(), &mut tokens)?;
    }
    Ok(tokens)
}
