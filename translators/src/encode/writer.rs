//! Events to bytes.

use super::{EventId, EventRef};

/// Writes an event as a line.
pub fn write_ndjson(event: EventRef<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(event.payload);
    out.push(b'\n');
}

/// Writes an event as a server-sent event: `id:` and `event:` if the contract has them, one `data:` line, LF line ends.
///
/// `named` is whether the contract names its events on the wire.
pub fn write_sse(event: EventRef<'_>, named: bool, out: &mut Vec<u8>) {
    match event.id {
        EventId::None => {}
        EventId::Number(id) => {
            out.extend_from_slice(b"id: ");
            out.extend_from_slice(id.to_string().as_bytes());
            out.push(b'\n');
        }
        EventId::Closing(id) => {
            out.extend_from_slice(b"id: ");
            out.extend_from_slice(id.to_string().as_bytes());
            out.extend_from_slice(EventId::CLOSING_SUFFIX.as_bytes());
            out.push(b'\n');
        }
        EventId::Text(id) => {
            out.extend_from_slice(b"id: ");
            out.extend_from_slice(id.as_bytes());
            out.push(b'\n');
        }
    }
    if named {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(event.kind.as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(event.payload);
    out.extend_from_slice(b"\n\n");
}

/// Writes a runner's own record: a line, or an SSE block with the blank line that ends it. Writes nothing if the previous
/// record's bytes already contain this record.
pub fn write_raw(event: EventRef<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(event.payload);
    out.extend_from_slice(match event.kind {
        "sse" => b"\n\n",
        "within" => b"",
        _ => b"\n",
    });
}
