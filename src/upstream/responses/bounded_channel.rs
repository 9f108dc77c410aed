//! Passes an upstream's bytes to the client that requested them.
//!
//! Input: chunks as they arrive. Output: the same chunks, then the end, or an error if the body is incomplete. Never: more
//! buffered bytes than the bound; an incomplete body that looks complete; a client that is waited for longer than the bound.

use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

/// How long, and with how many buffered bytes, the proxy waits for a slow client.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Bytes that may be buffered for the client.
    pub bytes: usize,
    /// Total time to wait for space in the buffer.
    pub time: Duration,
}

/// An item for the client.
enum Item {
    Chunk(Bytes, OwnedSemaphorePermit),
    /// A final comment; it does not count against the buffer.
    Word(Bytes),
    End,
}

/// The sending end.
pub(super) struct BoundedSender {
    to: mpsc::UnboundedSender<Item>,
    room: Arc<Semaphore>,
    patience: Patience,
    waited: Duration,
    /// The last bytes sent, to determine whether the last event is complete.
    tail: [u8; 4],
}

/// The receiving end. Dropping it signals that the client left.
pub struct BoundedReceiver {
    from: mpsc::UnboundedReceiver<Item>,
    is_over: bool,
    _left: DropGuard,
}

/// Why the sender accepts no more bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shut {
    /// The client left.
    Left,
    /// The client reads too slowly.
    Slow,
}

/// The body ended before it was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn;

/// Creates both ends. `left` is cancelled when the [`BoundedReceiver`] is dropped.
pub(super) fn open(patience: Patience, left: &CancellationToken) -> (BoundedSender, BoundedReceiver) {
    let (to, from) = mpsc::unbounded_channel();
    let room = Arc::new(Semaphore::new(patience.bytes));
    let sender = BoundedSender { to, room, patience, waited: Duration::ZERO, tail: [0; 4] };
    (sender, BoundedReceiver { from, is_over: false, _left: left.clone().drop_guard() })
}

impl BoundedSender {
    /// Passes a chunk to the client. Waits for space in the buffer as long as the time limit allows.
    pub(super) async fn send(&mut self, chunk: &Bytes, left: &CancellationToken) -> Result<(), Shut> {
        if left.is_cancelled() {
            return Err(Shut::Left);
        }
        // A chunk larger than the whole buffer takes all of it.
        let weight = u32::try_from(chunk.len().min(self.patience.bytes)).unwrap_or(u32::MAX);
        let permit = match self.room.clone().try_acquire_many_owned(weight) {
            Ok(permit) => permit,
            Err(_) => {
                let begun = Instant::now();
                let limit = self.patience.time.saturating_sub(self.waited);
                let found = tokio::select! {
                    () = left.cancelled() => return Err(Shut::Left),
                    found = tokio::time::timeout(limit, self.room.clone().acquire_many_owned(weight)) => found,
                };
                self.waited += begun.elapsed();
                // The semaphore is never closed.
                found.ok().and_then(Result::ok).ok_or(Shut::Slow)?
            }
        };
        for byte in chunk.iter().rev().take(4).rev() {
            self.tail.rotate_left(1);
            if let Some(last) = self.tail.last_mut() {
                *last = *byte;
            }
        }
        self.to.send(Item::Chunk(chunk.clone(), permit)).map_err(|_| Shut::Left)
    }

    /// Sends a comment after the last event if that is complete. Within an event, the comment would end it.
    pub(super) fn word(&self, reason: &str) {
        let is_whole = self.tail.ends_with(b"\n\n") || self.tail.ends_with(b"\r\r") || self.tail == *b"\r\n\r\n";
        if is_whole {
            let _ = self.to.send(Item::Word(Bytes::from(format!(": {reason}\n\n"))));
        }
    }

    /// Marks the body as complete. Without this call, the client sees it break off.
    pub(super) fn end(self) {
        let _ = self.to.send(Item::End);
    }
}

impl BoundedReceiver {
    /// The next bytes; `None` at the proper end.
    ///
    /// # Errors
    /// The body ended before it was complete.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Torn> {
        if self.is_over {
            return Ok(None);
        }
        match self.from.recv().await {
            // The space is free again as soon as the connection takes the bytes.
            Some(Item::Chunk(chunk, permit)) => {
                drop(permit);
                Ok(Some(chunk))
            }
            Some(Item::Word(word)) => Ok(Some(word)),
            Some(Item::End) => {
                self.is_over = true;
                Ok(None)
            }
            None => Err(Torn),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(bytes: usize, ms: u64) -> (BoundedSender, BoundedReceiver, CancellationToken) {
        let left = CancellationToken::new();
        let (sender, receiver) = open(Patience { bytes, time: Duration::from_millis(ms) }, &left);
        (sender, receiver, left)
    }

    #[tokio::test]
    async fn bytes_pass_unchanged_and_then_end() {
        let (mut sender, mut receiver, left) = pair(10, 1000);
        sender.send(&Bytes::from_static(b"one"), &left).await.unwrap();
        sender.send(&Bytes::from_static(b"two"), &left).await.unwrap();
        sender.end();
        assert_eq!(receiver.next().await, Ok(Some(Bytes::from_static(b"one"))));
        assert_eq!(receiver.next().await, Ok(Some(Bytes::from_static(b"two"))));
        assert_eq!(receiver.next().await, Ok(None));
        assert_eq!(receiver.next().await, Ok(None));
    }

    #[tokio::test]
    async fn a_sender_dropped_without_an_end_is_torn() {
        let (mut sender, mut receiver, left) = pair(10, 1000);
        sender.send(&Bytes::from_static(b"data: x"), &left).await.unwrap();
        // Within an event, a comment would end the event.
        sender.word("why");
        drop(sender);
        assert_eq!(receiver.next().await, Ok(Some(Bytes::from_static(b"data: x"))));
        assert_eq!(receiver.next().await, Err(Torn));
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_abandoned_in_time_with_a_notice() {
        let (mut sender, mut receiver, left) = pair(8, 20);
        sender.send(&Bytes::from_static(b"data: 1\n\n"), &left).await.unwrap();
        assert_eq!(sender.send(&Bytes::from_static(b"data: 2\n\n"), &left).await, Err(Shut::Slow));
        sender.word("too slow");
        drop(sender);
        assert_eq!(receiver.next().await, Ok(Some(Bytes::from_static(b"data: 1\n\n"))));
        assert_eq!(receiver.next().await, Ok(Some(Bytes::from_static(b": too slow\n\n"))));
        assert_eq!(receiver.next().await, Err(Torn));
    }

    #[tokio::test]
    async fn a_client_that_reads_in_time_is_waited_for() {
        let (mut sender, mut receiver, left) = pair(4, 30_000);
        let sending = tokio::spawn(async move {
            for _ in 0..50 {
                sender.send(&Bytes::from_static(b"12345678"), &left).await.unwrap();
            }
            sender.end();
        });
        let mut read = 0;
        while let Ok(Some(chunk)) = receiver.next().await {
            read += chunk.len();
        }
        assert_eq!(read, 400);
        sending.await.unwrap();
    }

    #[tokio::test]
    async fn a_disconnected_client_is_noticed() {
        let (mut sender, receiver, left) = pair(4, 30_000);
        sender.send(&Bytes::from_static(b"1234"), &left).await.unwrap();
        let leaving = tokio::spawn(async move {
            tokio::task::yield_now().await;
            drop(receiver);
        });
        assert_eq!(sender.send(&Bytes::from_static(b"5678"), &left).await, Err(Shut::Left));
        leaving.await.unwrap();
        assert!(left.is_cancelled());
    }
}
