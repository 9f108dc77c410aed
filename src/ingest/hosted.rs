//! What a host tells an ingest besides the runner's output.
//!
//! Input: lines and answers that the host sends. Output: their frames in the log. Never: a frame that the host's listener does not hear of.

use super::{Ingest, IngestError, Listener};
use crate::clock::Moment;
use crate::log::StreamId;
use framegate_translators::frame::{ApprovalResolved, Frame};
use std::sync::Arc;

impl Ingest {
    /// The host sends this line to the runner, whose runs may begin with it.
    ///
    /// # Errors
    /// As for [`Ingest::feed`].
    pub async fn sent_to(&mut self, line: &[u8], listener: &mut dyn Listener) -> Result<(), IngestError> {
        let mut frames: Vec<Frame> = self.pipeline.sent(line, self.clock.now_ms()).collect();
        listener.amend(&mut frames);
        self.take_in(frames.into_iter().map(Arc::new).collect(), Moment::now(), Some(listener)).await
    }

    /// Records that the host answered a question in an open stream.
    ///
    /// # Errors
    /// As for [`Ingest::feed`].
    pub async fn resolve(&mut self, stream: StreamId, answer: ApprovalResolved) -> Result<(), IngestError> {
        let frames = self.pipeline.resolve(stream, answer, self.clock.now_ms()).map(Arc::new).collect();
        self.take_in(frames, Moment::now(), None).await
    }
}
