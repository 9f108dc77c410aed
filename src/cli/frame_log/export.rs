//! `export`: writes the events of stored streams in any contract. `stored` writes the frames themselves, for `import`. If the
//! first frames of a stream were pruned, the contract's own gap event precedes the rest. `otlp` sends spans of the runs to a collector.

#[cfg_attr(not(feature = "otel"), path = "export/no_otlp.rs")]
mod otlp;

use super::Source;
use super::source::Found;
use crate::cli::EXIT_CLEAN;
use crate::config::Config;
use crate::log::Gone;
use anyhow::bail;
use framegate_translators::contracts::{CONTRACTS, Contract, SseStyle, contract, names_for};
use framegate_translators::encode::{Encoder, EncoderOptions, Events, Pruned, write_ndjson, write_raw};
use framegate_translators::frame::stored::write_frame;
use std::io::Write;

/// The form that `import` reads.
const STORED: &str = "stored";

/// Spans for an OpenTelemetry collector, which are sent instead of printed.
pub(super) const OTLP: &str = "otlp";

/// How long `--to otlp` waits by default for a collector that takes nothing.
const WAIT_SECONDS: u64 = 600;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run: its id, or a prefix of it that no other id has
    #[arg(value_name = "RUN", required_unless_present = "all", conflicts_with = "all")]
    run: Option<String>,
    /// Every stream, one after the other, in the order in which they began
    #[arg(long)]
    all: bool,
    /// The contract; or `stored`: the frames as they are stored; or `otlp`: send the runs as spans to the collector of [otlp]
    #[arg(long, value_name = "CONTRACT")]
    pub(super) to: String,
    /// With --to otlp: the collector's URL for traces, instead of the configured one; it gets the configured headers
    #[arg(long, value_name = "URL")]
    pub(super) endpoint: Option<String>,
    /// With --to otlp: how many seconds to wait for a collector that takes nothing; 0: for ever
    #[arg(long, value_name = "SECONDS", default_value_t = WAIT_SECONDS)]
    pub(super) wait: u64,
    /// Also print what the contract calls experimental
    #[arg(long)]
    experimental: bool,
    #[arg(long, help = super::super::names::user_messages("print"))]
    user_messages: bool,
}

impl Args {
    /// The streams that are exported.
    fn streams(&self, log: &dyn Source) -> anyhow::Result<Vec<Found>> {
        match &self.run {
            Some(run) => Ok(vec![log.find(run)?]),
            None => log.streams(),
        }
    }
}

pub(super) fn run(args: &Args, config: &Config, log: &dyn Source, out: &mut dyn Write) -> anyhow::Result<u8> {
    if args.to == OTLP {
        if args.experimental || args.user_messages {
            bail!(
                "--experimental and --user-messages are for events of contracts; otlp.content decides what spans contain"
            );
        }
        return otlp::run(&args.streams(log)?, &config.otlp, args.wait, log, out);
    }
    if args.endpoint.is_some() {
        bail!("--endpoint is the URL of a collector, which only --to {OTLP} sends to");
    }
    let to = match contract(&args.to) {
        None if args.to == STORED => None,
        None => {
            let known = CONTRACTS.iter().map(|contract| contract.name).chain([STORED, OTLP]);
            bail!("--to: {}", crate::config::unknown("contract", &args.to, known));
        }
        some => some,
    };
    for found in &args.streams(log)? {
        let is_included = match to {
            None => stored(found, log, out)?,
            Some(contract) => events(found, contract, args, log, out)?,
        };
        if !is_included && !args.all {
            let stream = &found.kept.stream;
            bail!("{} has no events for a {} stream; use {}", args.to, stream.kind.as_str(), names_for(stream));
        }
    }
    Ok(EXIT_CLEAN)
}

fn stored(found: &Found, log: &dyn Source, out: &mut dyn Write) -> anyhow::Result<bool> {
    let mut line = Vec::new();
    log.whole(found, &mut |frame| {
        line.clear();
        write_frame(frame, &mut line);
        Ok(out.write_all(&line)?)
    })?;
    Ok(true)
}

fn events(
    found: &Found,
    contract: &'static Contract,
    args: &Args,
    log: &dyn Source,
    out: &mut dyn Write,
) -> anyhow::Result<bool> {
    let kept = &found.kept;
    let options = EncoderOptions {
        experimental: args.experimental,
        user_messages: args.user_messages,
        ..EncoderOptions::default()
    };
    let Some(mut encoder) = (contract.encoder)(&kept.stream, &options) else { return Ok(false) };
    let (mut events, mut lines) = (Events::default(), Vec::new());
    if let Some(gone) = kept.gone {
        start(found, gone, contract, args, log, &mut *encoder)?;
        let Gone { frames, last_ms, pruned_ms } = gone;
        encoder.pruned(&Pruned { stream: &kept.stream, frames, last_ms, pruned_ms }, &mut events);
        events.iter().for_each(|event| write_ndjson(event, &mut lines));
        out.write_all(&lines)?;
    }
    log.whole(found, &mut |frame| {
        events.clear();
        lines.clear();
        encoder.frame(frame, &mut events);
        for event in events.iter() {
            match contract.sse {
                SseStyle::Raw => write_raw(event, &mut lines),
                _ => write_ndjson(event, &mut lines),
            }
        }
        Ok(out.write_all(&lines)?)
    })?;
    Ok(true)
}

/// Restores a new encoder to the state at the first frame that is kept.
fn start(
    found: &Found,
    gone: Gone,
    contract: &'static Contract,
    args: &Args,
    log: &dyn Source,
    encoder: &mut dyn Encoder,
) -> anyhow::Result<()> {
    if encoder.first_event_of(gone.frames).is_some() {
        return Ok(());
    }
    // The proxy's encoder options are unknown here. Any view with the same two options describes the pruned part equally well.
    let mut names = log.views_at(found, gone.frames)?;
    names.retain(|name| {
        let words: Vec<&str> = name.split(';').collect();
        words.first() == Some(&contract.name)
            && words.contains(&"experimental") == args.experimental
            && words.contains(&"user_messages") == args.user_messages
    });
    for name in names {
        let checkpoint = log.checkpoint(found, &name, gone.frames)?;
        if checkpoint.is_some_and(|checkpoint| checkpoint.frame == gone.frames && encoder.restore(&checkpoint.state)) {
            return Ok(());
        }
    }
    bail!(
        "the first {} frames of {} were dropped, and {} cannot continue without them",
        gone.frames,
        found.kept.stream.id,
        args.to
    )
}
