//! The names of streams and subjects at the servers.
//!
//! Input: the prefix of the configuration, the ids of streams, proxies and artifacts. Output: names, and what a name stands for.
//! Never: two things with one name, or a name that another prefix could have.
//!
//! | subject | messages |
//! |---|---|
//! | `PREFIX.f.KIND.UUID` | the frames of a stream, cut marks, and the mark that it was dropped |
//! | `PREFIX.s.KIND.UUID` | its status, where that changed without frames; only the last one is kept |
//! | `PREFIX.c.KIND.UUID` | its checkpoints |
//! | `PREFIX.k` | the key of feed cursors |
//! | `PREFIX.a.HASH`, `PREFIX.r.KIND.UUID.HASH` | artifacts, and which stream refers to which |
//! | `PREFIX.l.PROXY` | the lease of a proxy |
//! | `PREFIX.q.PROXY` | requests to a proxy; not stored |

use crate::log::StreamId;
use framegate_translators::frame::StreamKind;
use uuid::Uuid;

/// Names with one prefix.
#[derive(Clone, Debug)]
pub(super) struct Names {
    prefix: String,
}

/// What a subject of the stream of frames is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Frames(StreamId),
    Status(StreamId),
    Checkpoint(StreamId),
    Key,
}

impl Names {
    pub(super) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    /// The stream that has the frames.
    pub(super) fn frames_stream(&self) -> String {
        format!("{}_frames", self.prefix)
    }

    /// The stream that has the artifacts.
    pub(super) fn artifacts_stream(&self) -> String {
        format!("{}_artifacts", self.prefix)
    }

    /// The stream that has the leases.
    pub(super) fn leases_stream(&self) -> String {
        format!("{}_leases", self.prefix)
    }

    /// The subjects of the stream of frames.
    pub(super) fn frames_subjects(&self) -> Vec<String> {
        ["f.>", "s.>", "c.>", "k"].map(|rest| format!("{}.{rest}", self.prefix)).to_vec()
    }

    /// The subjects of the stream of artifacts.
    pub(super) fn artifacts_subjects(&self) -> Vec<String> {
        ["a.*", "r.*.*.*"].map(|rest| format!("{}.{rest}", self.prefix)).to_vec()
    }

    /// The subjects of the contents of all artifacts.
    pub(super) fn artifacts(&self) -> String {
        format!("{}.a.*", self.prefix)
    }

    /// The subjects of all leases.
    pub(super) fn leases_subject(&self) -> String {
        format!("{}.l.*", self.prefix)
    }

    pub(super) fn frames(&self, stream: StreamId) -> String {
        self.of("f", stream)
    }

    pub(super) fn status(&self, stream: StreamId) -> String {
        self.of("s", stream)
    }

    pub(super) fn checkpoints(&self, stream: StreamId) -> String {
        self.of("c", stream)
    }

    pub(super) fn key(&self) -> String {
        format!("{}.k", self.prefix)
    }

    /// The first 128 bits of the hash name an artifact.
    pub(super) fn artifact(&self, front: u128) -> String {
        format!("{}.a.{front:032x}", self.prefix)
    }

    pub(super) fn reference(&self, stream: StreamId, front: u128) -> String {
        format!("{}.{front:032x}", self.of("r", stream))
    }

    /// The subjects of a stream's references.
    pub(super) fn references_of(&self, stream: StreamId) -> String {
        format!("{}.*", self.of("r", stream))
    }

    /// The subjects of the references to an artifact.
    pub(super) fn references_to(&self, front: u128) -> String {
        format!("{}.r.*.*.{front:032x}", self.prefix)
    }

    pub(super) fn lease(&self, proxy: Uuid) -> String {
        format!("{}.l.{}", self.prefix, proxy.as_simple())
    }

    pub(super) fn requests(&self, proxy: Uuid) -> String {
        format!("{}.q.{}", self.prefix, proxy.as_simple())
    }

    fn of(&self, what: &str, (kind, id): StreamId) -> String {
        format!("{}.{what}.{}.{}", self.prefix, kind.as_str(), id.as_simple())
    }

    /// What a subject of the stream of frames is about; `None` if framegate did not make it.
    pub(super) fn topic(&self, subject: &str) -> Option<Topic> {
        let rest = subject.strip_prefix(self.prefix.as_str())?.strip_prefix('.')?;
        let mut words = rest.split('.');
        let topic = match words.next()? {
            "k" => return words.next().is_none().then_some(Topic::Key),
            "f" => Topic::Frames,
            "s" => Topic::Status,
            "c" => Topic::Checkpoint,
            _ => return None,
        };
        let stream = stream_of(&mut words)?;
        words.next().is_none().then(|| topic(stream))
    }

    /// The stream and the artifact of a reference's subject.
    pub(super) fn reference_of(&self, subject: &str) -> Option<(StreamId, u128)> {
        let mut words = subject.strip_prefix(self.prefix.as_str())?.strip_prefix(".r.")?.split('.');
        Some((stream_of(&mut words)?, u128::from_str_radix(words.next()?, 16).ok()?))
    }

    /// The artifact of a content's subject.
    pub(super) fn artifact_of(&self, subject: &str) -> Option<u128> {
        u128::from_str_radix(subject.strip_prefix(self.prefix.as_str())?.strip_prefix(".a.")?, 16).ok()
    }

    /// The proxy of a lease's subject.
    pub(super) fn proxy_of(&self, subject: &str) -> Option<Uuid> {
        Uuid::try_parse(subject.strip_prefix(self.prefix.as_str())?.strip_prefix(".l.")?).ok()
    }
}

fn stream_of<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<StreamId> {
    let kind = words.next()?;
    let kind = StreamKind::ALL.into_iter().find(|known| known.as_str() == kind)?;
    Some((kind, Uuid::try_parse(words.next()?).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_is_read_back() {
        let (names, id) = (Names::new("fg"), Uuid::from_u128(7));
        for kind in StreamKind::ALL {
            let stream = (kind, id);
            assert_eq!(names.topic(&names.frames(stream)), Some(Topic::Frames(stream)));
            assert_eq!(names.topic(&names.status(stream)), Some(Topic::Status(stream)));
            assert_eq!(names.topic(&names.checkpoints(stream)), Some(Topic::Checkpoint(stream)));
            assert_eq!(names.reference_of(&names.reference(stream, 9)), Some((stream, 9)));
        }
        assert_eq!(names.topic(&names.key()), Some(Topic::Key));
        assert_eq!(names.artifact_of(&names.artifact(9)), Some(9));
        assert_eq!(names.proxy_of(&names.lease(id)), Some(id));
        for foreign in ["", "fg", "fg.f", "fg.f.session", "fg.x.session.1", "fgg.k", "fg.k.k", "fg.f.session.1.2"] {
            assert_eq!(names.topic(foreign), None, "{foreign}");
        }
    }
}
