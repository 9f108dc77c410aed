//! The id of a response, in one record.
//!
//! Input: a record. Output: the id that the upstream gave the response. Never: the id of an item.

use crate::json::Object;

/// The longest id that counts, in bytes.
const LONGEST: usize = 256;

/// The id of the record's response.
pub(super) fn of(fields: &Object<'_>) -> Option<String> {
    let in_object = fields.object("response").and_then(|response| response.str("id").map(|id| id.into_owned()));
    let is_response = || fields.str("object").is_some_and(|object| object == "response");
    let own = || fields.str("id").filter(|_| is_response()).map(|id| id.into_owned());
    let id = in_object.or_else(|| fields.str("response_id").map(|id| id.into_owned())).or_else(own)?;
    (!id.is_empty() && id.len() <= LONGEST).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_in(text: &str) -> Option<String> {
        of(&Object::parse(text)?)
    }

    #[test]
    fn the_id_is_where_upstreams_put_it() {
        for (text, expected) in [
            (r#"{"type":"response.created","response":{"id":"resp_1"}}"#, Some("resp_1")),
            (r#"{"type":"response.output_text.delta","response_id":"resp_2"}"#, Some("resp_2")),
            (r#"{"object":"response","id":"resp_3","status":"completed"}"#, Some("resp_3")),
            (r#"{"type":"response.output_item.added","id":"item"}"#, None),
            (r#"{"type":"response.created","response":{"id":""}}"#, None),
            (r#"{"type":"response.created","response":{"id":7}}"#, None),
            ("[]", None),
        ] {
            assert_eq!(id_in(text).as_deref(), expected, "{text}");
        }
        let long = format!(r#"{{"response":{{"id":"{}"}}}}"#, "x".repeat(LONGEST + 1));
        assert_eq!(id_in(&long), None);
        let longest = format!(r#"{{"response":{{"id":"{}"}}}}"#, "x".repeat(LONGEST));
        assert!(id_in(&longest).is_some());
    }
}
