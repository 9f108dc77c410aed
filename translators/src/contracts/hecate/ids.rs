//! ULIDs with the document's prefixes.
//!
//! Input: UUIDs, times, sequence numbers. Output: a prefix and 26 characters of Crockford's base 32, the first of which is 0 to
//! 7. Never: randomness; the same frames give the same ids.
//!
//! A UUID and a ULID both have 128 bits. So the id of a run or session is its UUID in another spelling and can be converted
//! back. The task is the conversation: its runs belong together, and a server finds it from the path alone. An event's id
//! consists of 48 bits of time, 40 of sequence and 40 that identify the run. Time never decreases within a run, so ids sort as
//! strings.

use crate::derived::uuid_v5;
use uuid::Uuid;

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The number of characters after the prefix.
const LENGTH: usize = 26;

/// The id of a run.
pub fn run_id(run: Uuid) -> String {
    prefixed("run_", run.as_u128())
}

/// The id of a conversation.
pub fn session_id(session: Uuid) -> String {
    prefixed("chat_", session.as_u128())
}

/// The id of the task for a conversation.
pub fn task_id(session: Uuid) -> String {
    prefixed("task_", session.as_u128())
}

/// The UUID in an id with that prefix (`run_`, `chat_`, `task_`); `None` if it is not such an id.
pub fn uuid_of(prefix: &str, id: &str) -> Option<Uuid> {
    let digits = id.strip_prefix(prefix).filter(|digits| digits.len() == LENGTH)?;
    let mut value = 0u128;
    for (at, digit) in digits.bytes().enumerate() {
        let digit = ALPHABET.iter().position(|known| *known == digit)?;
        if at == 0 && digit > 7 {
            return None;
        }
        value = value << 5 | digit as u128;
    }
    Some(Uuid::from_u128(value))
}

pub(super) fn checkpoint_id(checkpoint: Uuid) -> String {
    prefixed("ckpt_", checkpoint.as_u128())
}

/// The id of a call that is not a call for the runner: derived from the run and an event's sequence number.
pub(super) fn call_id(run: Uuid, sequence: u64) -> String {
    prefixed("call_", uuid_v5(&run, format!("hecate/call/{sequence}").as_bytes()).as_u128())
}

/// The id of a call to which the runner gave none.
pub(super) fn tool_call_id(tool: Uuid) -> String {
    prefixed("call_", tool.as_u128())
}

/// The id of a stored object. For a SHA-256 it is the first 128 bits, so that the object can be found; for anything else a
/// UUIDv5.
pub fn artifact_id(artifact: &str) -> String {
    let digest = artifact.strip_prefix("sha256:").filter(|digest| digest.len() == 64);
    let bits = digest.and_then(|digest| u128::from_str_radix(digest.get(..32)?, 16).ok());
    let bits = bits.unwrap_or_else(|| uuid_v5(&Uuid::NAMESPACE_OID, artifact.as_bytes()).as_u128());
    prefixed("art_", bits)
}

/// The bits that identify a run in the ids of its events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunBits(u128);

const FORTY_BITS: u128 = (1 << 40) - 1;

impl RunBits {
    pub(super) fn new(run: Uuid) -> Self {
        // Run ids chosen by a person may differ in only a few bits, perhaps not these; a hash differs in all bits.
        Self(uuid_v5(&run, b"hecate").as_u128() & FORTY_BITS)
    }

    pub(super) fn event_id(self, unix_ms: u64, sequence: u64) -> String {
        let time = u128::from(unix_ms.min((1 << 48) - 1));
        prefixed("evt_", time << 80 | (u128::from(sequence) & FORTY_BITS) << 40 | self.0)
    }
}

fn prefixed(prefix: &str, bits: u128) -> String {
    let mut id = String::with_capacity(prefix.len() + LENGTH);
    id.push_str(prefix);
    for at in (0..LENGTH).rev() {
        let digit = (bits >> (at * 5)) as usize & 31;
        id.push(char::from(ALPHABET.get(digit).copied().unwrap_or(b'0')));
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_are_spelled_like_ulids() {
        assert_eq!(run_id(Uuid::nil()), "run_00000000000000000000000000");
        assert_eq!(run_id(Uuid::max()), "run_7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
        // The time in a UUIDv7 becomes the time in the ULID.
        let run = Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0001);
        assert!(run_id(run).starts_with("run_01K0000000"), "{}", run_id(run));
        assert_eq!(task_id(run).strip_prefix("task_"), session_id(run).strip_prefix("chat_"));
        for wrong in ["", "run_", "run_8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "run_0000000000000000000000000U", "chat_0"] {
            assert_eq!(uuid_of("run_", wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_artifact_id_is_a_prefix_of_its_digest() {
        let digest = format!("sha256:{}{}", "f".repeat(32), "0".repeat(32));
        assert_eq!(artifact_id(&digest), "art_7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
        assert_ne!(artifact_id("one"), artifact_id("two"));
        assert_eq!(artifact_id("sha256:xyz").len(), 30);
    }

    proptest! {
        #[test]
        fn a_uuid_is_read_back(bits in any::<u128>()) {
            let uuid = Uuid::from_u128(bits);
            prop_assert_eq!(uuid_of("run_", &run_id(uuid)), Some(uuid));
        }

        #[test]
        fn event_ids_sort_by_time_then_sequence(run in any::<u128>(), one in (any::<u64>(), 0u64..1 << 40), two in (any::<u64>(), 0u64..1 << 40)) {
            let bits = RunBits::new(Uuid::from_u128(run));
            let cap = |(ms, sequence): (u64, u64)| (ms.min((1 << 48) - 1), sequence);
            prop_assert_eq!(bits.event_id(one.0, one.1).cmp(&bits.event_id(two.0, two.1)), cap(one).cmp(&cap(two)));
        }
    }
}
