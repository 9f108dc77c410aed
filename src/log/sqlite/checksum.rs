//! The checksum of a stored frame.
//!
//! Input: a stored frame, with its complete body. Output: a CRC-32. Never: a checksum that depends on whether the body refers
//! to another frame's text. It covers that text as well, and stays the same when the front of a stream is pruned.

use uuid::Uuid;

/// The CRC-32 (IEEE) of a frame's number, its time, its parent's id if it has one, and its complete body. Numbers are 8 bytes,
/// little-endian.
pub(super) fn checksum(seq: u64, time_ms: u64, parent: Option<Uuid>, body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&seq.to_le_bytes());
    hasher.update(&time_ms.to_le_bytes());
    if let Some(parent) = parent {
        hasher.update(parent.as_bytes());
    }
    hasher.update(body);
    hasher.finalize()
}
