//! The streams at the servers.
//!
//! Input: the names and the settings. Output: streams that exist and have the properties on which this log relies. Never: a stream
//! that drops frames on its own; a stream of another program that is changed.

use super::engine::{Engine, Failure, NOT_FOUND};
use super::{JetstreamOptions, StorageKind};
use serde_json::{Value, json};

/// How many readers may follow a stream. Since version 2.15 the servers allow only 1000 unless a stream says otherwise.
const CONSUMERS: u32 = 100_000;

impl Engine {
    /// Creates the streams that do not exist, and checks the others.
    ///
    /// # Errors
    /// The servers refuse, or a stream of that name lacks a property.
    pub(super) async fn lay_out(&self, options: &JetstreamOptions) -> Result<(), Failure> {
        let common = json!({
            "num_replicas": self.replicas,
            "storage": match self.storage { StorageKind::File => "file", StorageKind::Memory => "memory" },
            "retention": "limits",
            "max_consumers": CONSUMERS,
            "max_msgs": -1,
            "max_msgs_per_subject": -1,
            "max_age": 0,
            "allow_direct": true,
        });
        let frames = json!({
            "name": self.names.frames_stream(),
            "description": "Frames of framegate.",
            "subjects": self.names.frames_subjects(),
            "discard": "new",
            "max_bytes": options.max_stream_bytes,
            "duplicate_window": 120_000_000_000_u64,
            "allow_rollup_hdrs": true,
            "allow_msg_ttl": true,
            "allow_atomic": true,
        });
        let artifacts = json!({
            "name": self.names.artifacts_stream(),
            "description": "Artifacts of framegate.",
            "subjects": self.names.artifacts_subjects(),
            "discard": "old",
            "max_bytes": options.max_artifact_bytes,
            "duplicate_window": 120_000_000_000_u64,
            "allow_atomic": true,
        });
        let leases = json!({
            "name": self.names.leases_stream(),
            "description": "Which proxies of framegate live.",
            "subjects": [self.names.leases_subject()],
            "discard": "old",
            "max_bytes": 1 << 20,
            "max_msgs_per_subject": 1,
            "duplicate_window": 1_000_000_000_u64,
            "allow_msg_ttl": true,
        });
        for stream in [frames, artifacts, leases] {
            self.ensure(&merged(&common, &stream)).await?;
        }
        Ok(())
    }

    /// Whether the streams of frames and of artifacts exist. Creates nothing.
    pub(super) async fn is_laid_out(&self) -> Result<bool, Failure> {
        for name in [self.names.frames_stream(), self.names.artifacts_stream()] {
            match self.api_patiently(&format!("STREAM.INFO.{name}"), &Value::Null).await {
                Ok(_) => {}
                Err(Failure::Refused(error)) if error.code == NOT_FOUND => return Ok(false),
                Err(failure) => return Err(failure),
            }
        }
        Ok(true)
    }

    async fn ensure(&self, wanted: &Value) -> Result<(), Failure> {
        let name = wanted.get("name").and_then(Value::as_str).unwrap_or_default();
        let found = match self.api_patiently(&format!("STREAM.INFO.{name}"), &Value::Null).await {
            Err(Failure::Refused(error)) if error.code == NOT_FOUND => {
                match self.api_patiently(&format!("STREAM.CREATE.{name}"), wanted).await {
                    Ok(_) => return Ok(()),
                    // Another proxy made it meanwhile, or an earlier request did although its answer was lost.
                    Err(Failure::Refused(error)) if error.err_code == 10058 => {
                        self.api_patiently(&format!("STREAM.INFO.{name}"), &Value::Null).await?
                    }
                    Err(failure) => return Err(failure),
                }
            }
            found => found?,
        };
        let Some(found) = found.get("config") else {
            return Err(Failure::Odd("a stream without properties".to_owned()));
        };
        check(name, wanted, found)?;
        let has_changed = CHANGEABLE.iter().any(|field| found.get(*field) != wanted.get(*field));
        if has_changed {
            self.api_patiently(&format!("STREAM.UPDATE.{name}"), &merged(found, &changes(wanted))).await?;
        }
        Ok(())
    }
}

/// Properties that follow the configuration when a proxy starts.
const CHANGEABLE: [&str; 2] = ["max_bytes", "num_replicas"];

/// Properties without which the log would lose or double frames.
const NEEDED: [&str; 9] = [
    "subjects",
    "retention",
    "storage",
    "discard",
    "max_age",
    "max_msgs",
    "allow_rollup_hdrs",
    "allow_msg_ttl",
    "allow_atomic",
];

fn check(name: &str, wanted: &Value, found: &Value) -> Result<(), Failure> {
    for field in NEEDED {
        let (Some(wanted), found) = (wanted.get(field), found.get(field)) else { continue };
        // The servers leave out what is off.
        if found != Some(wanted) && !(found.is_none() && *wanted == json!(false)) {
            let found = found.map_or_else(|| "nothing".to_owned(), Value::to_string);
            return Err(Failure::Odd(format!(
                "the stream {name} exists and has {field} = {found}, but framegate needs {wanted}: use another log.prefix, \
                 or change the stream"
            )));
        }
    }
    Ok(())
}

fn changes(wanted: &Value) -> Value {
    let fields = CHANGEABLE.iter().filter_map(|field| Some(((*field).to_owned(), wanted.get(*field)?.clone())));
    Value::Object(fields.collect())
}

fn merged(base: &Value, over: &Value) -> Value {
    let fields = [base, over].into_iter().filter_map(Value::as_object).flatten();
    Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_of_another_program_is_refused_by_its_properties() {
        let wanted = json!({"discard": "new", "max_age": 0, "allow_atomic": true});
        assert!(check("fg_frames", &wanted, &wanted).is_ok());
        let other = json!({"discard": "old", "max_age": 0, "allow_atomic": true});
        let refused = check("fg_frames", &wanted, &other);
        assert!(matches!(refused, Err(Failure::Odd(why)) if why.contains("discard = \"old\"")));
        let lacking = json!({"discard": "new", "max_age": 0});
        assert!(check("fg_frames", &wanted, &lacking).is_err());
    }
}
