//! Events to bytes.

use crate::encode::{EventId, EventRef};

/// Writes an event as a line.
pub fn write_ndjson(event: EventRef<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(event.payload);
    out.push(b'\n');
}

/// Writes an event as a server-sent event: `id:` and `event:` where the contract has them, one `data:` line, LF.
///
/// `named` says whether the contract names its events on the wire.
pub fn write_sse(event: EventRef<'_>, named: bool, out: &mut Vec<u8>) {
    match event.id {
        EventId::None => {}
        EventId::Number(id) => {
            out.extend_from_slice(b"id: ");
            out.extend_from_slice(id.to_string().as_bytes());
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

/// Writes a runner's own record: a line, or an SSE block and the blank line that ends it.
pub fn write_raw(event: EventRef<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(event.payload);
    out.extend_from_slice(if event.kind == "sse" { b"\n\n" } else { b"\n" });
}
