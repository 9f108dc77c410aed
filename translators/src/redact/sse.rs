//! Rebuilds the block of an SSE event whose payload was changed.
//!
//! Input: the block of an event, and its redacted payload. Output: the block with that payload. Never: a change of other
//! lines, except for the event name.

/// The block of an SSE event with another payload and, if given, another event name. Other lines stay.
pub(super) fn block(old: &[u8], payload: &[u8], event_name: Option<&str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(old.len());
    let mut is_said = false;
    for line in old.split(|&byte| byte == b'\n') {
        let field = field_of(line);
        if field == b"data" {
            if !std::mem::replace(&mut is_said, true) {
                let gap: &[u8] =
                    if line.get(4..6) == Some(b": ") || payload.starts_with(b" ") { b"data: " } else { b"data:" };
                for part in payload.split(|&byte| byte == b'\n') {
                    out.extend_from_slice(gap);
                    out.extend_from_slice(part);
                    out.push(b'\n');
                }
            }
            continue;
        }
        if let (b"event", Some(name)) = (field, event_name) {
            let gap: &[u8] = if line.get(5..7) == Some(b": ") { b"event: " } else { b"event:" };
            out.extend_from_slice(gap);
            out.extend_from_slice(name.as_bytes());
        } else {
            out.extend_from_slice(line);
        }
        out.push(b'\n');
    }
    out.pop();
    out
}

/// The field name of an SSE line.
pub(super) fn field_of(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(line);
    line.split(|byte| matches!(byte, b':' | b'\n' | b'\r')).next().unwrap_or_default()
}
