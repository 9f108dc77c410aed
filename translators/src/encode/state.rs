//! The state of an encoder as bytes, so that another process can go on from where it stands.
//!
//! In: what an encoder holds of the frames so far. Out: bytes, and the state again. Never: a state that another version wrote
//! taken for one of this version's.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved<S> {
    version: u32,
    state: S,
}

/// The bytes of a state. The version goes up where an encoder means something else by the same state; fields that come and
/// go are found out by themselves.
pub(crate) fn save<S: Serialize>(version: u32, state: &S) -> Option<Vec<u8>> {
    serde_json::to_vec(&Saved { version, state }).ok()
}

/// The state in those bytes; `None` where it is of another version.
pub(crate) fn restore<S: DeserializeOwned>(version: u32, saved: &[u8]) -> Option<S> {
    let saved: Saved<S> = serde_json::from_slice(saved).ok()?;
    (saved.version == version).then_some(saved.state)
}

/// A map whose keys are no words, as a list of pairs.
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

/// A fraction by its bits: a sum may be beyond what JSON can say.
pub(crate) mod bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(number.to_bits())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        u64::deserialize(deserializer).map(f64::from_bits)
    }
}
