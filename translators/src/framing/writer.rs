//! The usual bytes of a unit.
//!
//! Input: an event's name and payload. Output: its block, as most servers write it. Never: the blank line after it.

/// The default SSE block of an event.
pub(crate) fn sse_block(event_name: Option<&str>, payload: &[u8]) -> Vec<u8> {
    let mut block = Vec::with_capacity(payload.len() + 32);
    if let Some(name) = event_name {
        block.extend_from_slice(b"event: ");
        block.extend_from_slice(name.as_bytes());
        block.push(b'\n');
    }
    block.extend_from_slice(b"data: ");
    block.extend_from_slice(payload);
    block
}
