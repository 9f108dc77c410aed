//! Canonical frames, as another framegate (or another writer of `spec/frames.md`) wrote them.
//!
//! Input: events of `frames.v1` or `frames.v2`, one per line or as SSE. Output: the same frames in the same streams, with their
//! numbers, times and ids, so that `frames.v2` of the output equals the input. Never: a record of a record. A record that is no
//! valid frame becomes a `provider_event` of this runner.
//!
//! | part | where |
//! |---|---|
//! | recognition; the type of a frame | `recognise` |
//! | stream, number, time, id | `envelope` |
//! | fields of each type | `body`, `tasks`, `files` |
//! | types of fields, and their errors | `fields` |
//! | streams that begin; the runner's name | `decoder` |

mod body;
mod decoder;
mod envelope;
mod fields;
mod files;
mod recognise;
mod tasks;

use super::{Modes, Runner, Surface, sample};
use crate::decode::Record;
use crate::frame::Provider;
use crate::frame_schemas;
use crate::redact::{Order, Pieces};

/// The runner of streams that name none that is known.
const PROVIDER: Provider = Provider { name: "frames", title: "framegate" };

/// The runner.
pub(super) const RUNNER: Runner = Runner {
    name: "frames",
    provider: PROVIDER,
    genai_provider: "frames",
    about: "the canonical frames of another framegate, or of another program that writes them",
    extensible: false,
    is_of_frames: true,
    surfaces: &[
        Surface {
            name: "v2",
            source: "framegate translate --to frames.v2, or GET /v1/…/events?contract=frames.v2",
            recognise: recognise::v2,
            kind_of: recognise::kind_of,
            schemas: frame_schemas::V2,
        },
        Surface {
            name: "v1",
            source: "framegate translate --to frames.v1, or the log of another writer",
            recognise: recognise::v1,
            kind_of: recognise::kind_of,
            schemas: frame_schemas::V1,
        },
    ],
    pieces: &[Pieces { parent: &[], leaves: &[&["delta"], &["chunk"]], above: &["type"], order: Order::Parallel }],
    time,
    decoder: || Box::<decoder::Frames>::default(),
    dialogue: None,
    modes: Modes::NONE,
    presets: &[],
    demo: None,
    response_id: None,
    workspace: None,
    history: &[],
    sample: sample!("frames", "claude-code.v2.ndjson", Ndjson),
};

fn time(record: &Record<'_>) -> Option<u64> {
    record.fields.u64("timestamp_ms")
}
