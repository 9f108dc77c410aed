//! The state of an encoder, or of a stream's normalizer, as bytes, so that another process can continue from it.
//!
//! Input: a state. Output: bytes, and the state again. Never: a state of another version, read as one of this
//! version.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved<S> {
    version: u32,
    state: S,
}

/// Serialises a state. Raise the version when the meaning of the state changes; added and removed fields are detected without
/// that.
pub(crate) fn save<S: Serialize>(version: u32, state: &S) -> Option<Vec<u8>> {
    serde_json::to_vec(&Saved { version, state }).ok()
}

/// Reads a state; `None` if it is of another version.
pub(crate) fn restore<S: DeserializeOwned>(version: u32, saved: &[u8]) -> Option<S> {
    let saved: Saved<S> = serde_json::from_slice(saved).ok()?;
    (saved.version == version).then_some(saved.state)
}

/// A map whose keys are not strings, stored as a list of pairs.
pub(crate) mod pairs {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::HashMap;
    use std::hash::{BuildHasher, Hash};

    pub(crate) fn serialize<K, V, H, S>(map: &HashMap<K, V, H>, serializer: S) -> Result<S::Ok, S::Error>
    where
        K: Serialize,
        V: Serialize,
        S: Serializer,
    {
        serializer.collect_seq(map)
    }

    pub(crate) fn deserialize<'de, K, V, H, D>(deserializer: D) -> Result<HashMap<K, V, H>, D::Error>
    where
        K: Deserialize<'de> + Eq + Hash,
        V: Deserialize<'de>,
        H: BuildHasher + Default,
        D: Deserializer<'de>,
    {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

/// A float stored by its bits, because a sum may exceed what JSON can express.
pub(crate) mod bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(number.to_bits())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        u64::deserialize(deserializer).map(f64::from_bits)
    }
}
