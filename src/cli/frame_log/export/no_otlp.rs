//! The part of `export` that sends spans, in a build without the feature `otel`.

use super::super::Source;
use super::super::source::Found;
use crate::config::Otlp;
use anyhow::bail;
use std::io::Write;

pub(super) fn run(_: &[Found], _: &Otlp, _: u64, _: &dyn Source, _: &mut dyn Write) -> anyhow::Result<u8> {
    bail!(
        "--to otlp: this framegate was built without OpenTelemetry; build it with cargo build --release --features otel"
    )
}
