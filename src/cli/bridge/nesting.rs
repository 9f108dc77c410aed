//! JSON of any depth as a value.
//!
//! Input: JSON. Output: the same as a value, in which whatever is nested too deeply is a text that says so. Never: a message that is lost
//! because a runner's arguments are deep; a recursion that the input controls.

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What stands for a value that is nested too deeply.
const LEFT_OUT: &str = "(left out: nested too deeply)";

/// How many levels around a value that is too deep are kept.
const LEVELS: usize = 16;

/// Reads JSON.
///
/// # Errors
/// It is not valid.
pub(in crate::cli) fn read(json: &[u8]) -> Result<Value, serde_json::Error> {
    match serde_json::from_slice(json) {
        Ok(value) => Ok(value),
        // Skipping does not recurse, so only the depth can be what was wrong.
        Err(error) => serde_json::from_slice::<&RawValue>(json).map_err(|_| error).map(|raw| outer(raw, LEVELS)),
    }
}

/// The outer levels of a value that may be too deep.
fn outer(raw: &RawValue, levels: usize) -> Value {
    let text = raw.get();
    if let Ok(value) = serde_json::from_str(text) {
        return value;
    }
    let inner = |raw: Box<RawValue>| outer(&raw, levels - 1);
    let kept: Option<Value> = match text.as_bytes().first() {
        Some(b'{') if levels > 0 => {
            let fields = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(text).ok();
            fields.map(|fields| fields.into_iter().map(|(key, raw)| (key, inner(raw))).collect::<Map<_, _>>().into())
        }
        Some(b'[') if levels > 0 => {
            let items = serde_json::from_str::<Vec<Box<RawValue>>>(text).ok();
            items.map(|items| items.into_iter().map(inner).collect::<Vec<_>>().into())
        }
        _ => None,
    };
    kept.unwrap_or_else(|| LEFT_OUT.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_too_deep_is_left_out_and_the_rest_stays() {
        let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
        let text = format!(r#"{{"id":"a","params":{{"list":[1,{{"args":{deep},"b":[{{}}]}}]}}}}"#);
        let mut value = read(text.as_bytes()).unwrap();
        let mut args = value["params"]["list"][1]["args"].take();
        assert_eq!(value, json!({"id": "a", "params": {"list": [1, {"args": null, "b": [{}]}]}}));
        let mut levels = 0;
        while let Some(inner) = args.get_mut(0) {
            args = inner.take();
            levels += 1;
        }
        assert!(args == LEFT_OUT && levels < LEVELS, "{levels}");
        assert_eq!(read(br#"{"a":[1]}"#).unwrap(), json!({"a": [1]}));
    }

    #[test]
    fn what_is_not_json_is_an_error_at_any_depth() {
        for wrong in
            ["", "{", "nonsense", "[1] 2", &"[".repeat(10_000), &format!("{}x{}", "[".repeat(500), "]".repeat(500))]
        {
            assert!(read(wrong.as_bytes()).is_err(), "{wrong:.20}");
        }
        assert!(read(b"\"\xff\"").is_err());
    }
}
