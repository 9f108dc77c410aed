//! Synthetic Claude Code runs of any length, whose messages consist of pieces.

/// The records before the first piece.
pub(crate) fn opening(session: usize) -> Vec<u8> {
    let mut out = format!(
        "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"{}\",\"model\":\"m\",\"tools\":[]}}\n",
        session_id(session)
    );
    out += &message_begins(session, 0);
    out.into_bytes()
}

/// The end of the current message and the start of the next one.
pub(crate) fn next_message(session: usize, nth: usize) -> Vec<u8> {
    (message_ends(session) + &message_begins(session, nth)).into_bytes()
}

fn message_begins(session: usize, nth: usize) -> String {
    let message = format!(r#"{{"type":"message_start","message":{{"id":"m{nth}","role":"assistant"}}}}"#);
    let block = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    event(session, &message) + &event(session, block)
}

fn message_ends(session: usize) -> String {
    event(session, r#"{"type":"content_block_stop","index":0}"#) + &event(session, r#"{"type":"message_stop"}"#)
}

/// One piece of text. Callers make each text unique.
pub(crate) fn piece(session: usize, text: &str) -> Vec<u8> {
    let delta =
        format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}"#);
    event(session, &delta).into_bytes()
}

/// The records after the last piece.
pub(crate) fn closing(session: usize) -> Vec<u8> {
    let mut out = message_ends(session);
    out += &format!(
        "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"x\",\"session_id\":\"{}\"}}\n",
        session_id(session)
    );
    out.into_bytes()
}

fn event(session: usize, event: &str) -> String {
    format!(
        "{{\"type\":\"stream_event\",\"event\":{event},\"session_id\":\"{}\",\"parent_tool_use_id\":null,\
         \"uuid\":\"b8342c65-dc22-4ad7-9760-0afad64d5add\"}}\n",
        session_id(session)
    )
}

fn session_id(session: usize) -> String {
    format!("a2d54fc6-831a-4f18-8adb-{session:012x}")
}
