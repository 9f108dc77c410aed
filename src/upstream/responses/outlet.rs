//! The way of an upstream's own bytes to the client that asked for them.
//!
//! In: chunks, as they come. Out: the same chunks, then the end, or the news that there is none. Never: more bytes held than
//! the bound, an end that looks like a good one where it is not, a client that is waited for longer than the bound.

use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

/// How long, and for how much, a client is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Bytes that may wait for it.
    pub bytes: usize,
    /// How long it is waited for in all, where more would have to wait.
    pub time: Duration,
}

/// What the client is given.
enum Item {
    Chunk(Bytes, OwnedSemaphorePermit),
    /// A last word, which finds room always.
    Word(Bytes),
    End,
}

/// Where the bytes go in.
pub(super) struct Outlet {
    to: mpsc::UnboundedSender<Item>,
    room: Arc<Semaphore>,
    patience: Patience,
    waited: Duration,
    /// The last bytes, to know whether an event is whole.
    tail: [u8; 4],
}

/// Where they come out. Dropping it says that the client left.
pub struct Inlet {
    from: mpsc::UnboundedReceiver<Item>,
    is_over: bool,
    _left: DropGuard,
}

/// Why nothing more goes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shut {
    /// The client left.
    Left,
    /// It does not read.
    Slow,
}

/// There is no good end: what was given is not the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn;

/// Both ends; `left` is cancelled when the second one is dropped.
pub(super) fn outlet(patience: Patience, left: &CancellationToken) -> (Outlet, Inlet) {
    let (to, from) = mpsc::unbounded_channel();
    let room = Arc::new(Semaphore::new(patience.bytes));
    let outlet = Outlet { to, room, patience, waited: Duration::ZERO, tail: [0; 4] };
    (outlet, Inlet { from, is_over: false, _left: left.clone().drop_guard() })
}

impl Outlet {
    /// Gives the client a chunk; waits for room while there is patience left.
    pub(super) async fn send(&mut self, chunk: &Bytes, left: &CancellationToken) -> Result<(), Shut> {
        if left.is_cancelled() {
            return Err(Shut::Left);
        }
        // A chunk that is larger than all the room there is takes all of it.
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

    /// A comment behind the last event, where that is whole; in the middle of one, it would end it.
    pub(super) fn word(&self, reason: &str) {
        let is_whole = self.tail.ends_with(b"\n\n") || self.tail.ends_with(b"\r\r") || self.tail == *b"\r\n\r\n";
        if is_whole {
            let _ = self.to.send(Item::Word(Bytes::from(format!(": {reason}\n\n"))));
        }
    }

    /// That was all. Without it, the other end is torn.
    pub(super) fn end(self) {
        let _ = self.to.send(Item::End);
    }
}

impl Inlet {
    /// The next bytes; `None` at a good end.
    ///
    /// # Errors
    /// There is none.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Torn> {
        if self.is_over {
            return Ok(None);
        }
        match self.from.recv().await {
            // Its room is free as soon as the connection has the bytes.
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

    fn pair(bytes: usize, ms: u64) -> (Outlet, Inlet, CancellationToken) {
        let left = CancellationToken::new();
        let (outlet, inlet) = outlet(Patience { bytes, time: Duration::from_millis(ms) }, &left);
        (outlet, inlet, left)
    }

    #[tokio::test]
    async fn bytes_come_out_as_they_went_in_and_then_their_end() {
        let (mut outlet, mut inlet, left) = pair(10, 1000);
        outlet.send(&Bytes::from_static(b"one"), &left).await.unwrap();
        outlet.send(&Bytes::from_static(b"two"), &left).await.unwrap();
        outlet.end();
        assert_eq!(inlet.next().await, Ok(Some(Bytes::from_static(b"one"))));
        assert_eq!(inlet.next().await, Ok(Some(Bytes::from_static(b"two"))));
        assert_eq!(inlet.next().await, Ok(None));
        assert_eq!(inlet.next().await, Ok(None));
    }

    #[tokio::test]
    async fn what_is_not_ended_is_torn() {
        let (mut outlet, mut inlet, left) = pair(10, 1000);
        outlet.send(&Bytes::from_static(b"data: x"), &left).await.unwrap();
        // In the middle of an event, a word would end it.
        outlet.word("why");
        drop(outlet);
        assert_eq!(inlet.next().await, Ok(Some(Bytes::from_static(b"data: x"))));
        assert_eq!(inlet.next().await, Err(Torn));
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_given_up_in_time_and_told_so() {
        let (mut outlet, mut inlet, left) = pair(8, 20);
        outlet.send(&Bytes::from_static(b"data: 1\n\n"), &left).await.unwrap();
        assert_eq!(outlet.send(&Bytes::from_static(b"data: 2\n\n"), &left).await, Err(Shut::Slow));
        outlet.word("too slow");
        drop(outlet);
        assert_eq!(inlet.next().await, Ok(Some(Bytes::from_static(b"data: 1\n\n"))));
        assert_eq!(inlet.next().await, Ok(Some(Bytes::from_static(b": too slow\n\n"))));
        assert_eq!(inlet.next().await, Err(Torn));
    }

    #[tokio::test]
    async fn a_client_that_reads_in_time_is_waited_for() {
        let (mut outlet, mut inlet, left) = pair(4, 30_000);
        let sending = tokio::spawn(async move {
            for _ in 0..50 {
                outlet.send(&Bytes::from_static(b"12345678"), &left).await.unwrap();
            }
            outlet.end();
        });
        let mut read = 0;
        while let Ok(Some(chunk)) = inlet.next().await {
            read += chunk.len();
        }
        assert_eq!(read, 400);
        sending.await.unwrap();
    }

    #[tokio::test]
    async fn a_client_that_leaves_is_noticed() {
        let (mut outlet, inlet, left) = pair(4, 30_000);
        outlet.send(&Bytes::from_static(b"1234"), &left).await.unwrap();
        let leaving = tokio::spawn(async move {
            tokio::task::yield_now().await;
            drop(inlet);
        });
        assert_eq!(outlet.send(&Bytes::from_static(b"5678"), &left).await, Err(Shut::Left));
        leaving.await.unwrap();
        assert!(left.is_cancelled());
    }
}
