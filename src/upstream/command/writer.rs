//! Writes to the standard input of a program, one piece after another, without blocking the caller.
//!
//! Input: pieces, one at a time. Output: whether each was written. Never: a program that does not read its input blocking the
//! reading of its output. A caller that polls [`Writer::sent`] first learns that a piece was written before it reads the
//! program's reply.

use framegate_translators::host::Outgoing;
use tokio::io::{self, AsyncWrite, AsyncWriteExt};
use tokio::process::ChildStdin;

/// The writer of one program.
pub(super) struct Writer<W = ChildStdin> {
    input: Option<W>,
    /// The piece being written, and how many of its bytes are written.
    piece: Option<(Vec<u8>, usize)>,
    /// Whether the input is closed after the current piece.
    is_last: bool,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    /// Creates a writer. Without an input, every piece is refused.
    pub(super) fn new(input: Option<W>) -> Self {
        Self { input, piece: None, is_last: false }
    }

    /// Starts sending a piece. Returns the outcome if it is known immediately; otherwise [`Writer::sent`] returns it.
    pub(super) fn send(&mut self, sending: Outgoing) -> Option<Result<(), String>> {
        match sending {
            Outgoing::Input(piece) if self.input.is_some() && !self.is_last && self.piece.is_none() => {
                self.piece = Some((piece, 0));
                None
            }
            Outgoing::Input(_) => Some(Err("the runner's standard input is closed".to_owned())),
            Outgoing::EndOfInput => {
                self.close();
                Some(Ok(()))
            }
            Outgoing::Post { .. } => Some(Err("this runner has no server for requests".to_owned())),
        }
    }

    /// Continues writing and returns the outcome of the last piece. The future may be dropped and requested again.
    pub(super) async fn sent(&mut self) -> Result<(), String> {
        let (Some(input), Some((piece, written))) = (&mut self.input, &mut self.piece) else {
            return std::future::pending().await;
        };
        let outcome = write(input, piece, written).await;
        self.piece = None;
        if self.is_last {
            self.input = None;
        }
        outcome.map_err(|error| format!("the runner no longer accepts input: {error}"))
    }

    /// Closes the input once the current piece is written.
    pub(super) fn close(&mut self) {
        self.is_last = true;
        if self.piece.is_none() {
            self.input = None;
        }
    }
}

/// Writes the rest of a piece, after the bytes already written.
async fn write(input: &mut (impl AsyncWrite + Unpin), piece: &[u8], written: &mut usize) -> io::Result<()> {
    while let Some(rest @ [_, ..]) = piece.get(*written..) {
        match input.write(rest).await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            more => *written += more,
        }
    }
    input.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn a_piece_is_written_whole_although_waiting_for_it_is_cancelled() {
        let (input, mut output) = io::duplex(4);
        let mut writer = Writer::new(Some(input));
        assert_eq!(writer.send(Outgoing::Input(b"a longer piece".to_vec())), None);
        let refused = writer.send(Outgoing::Input(b"another".to_vec()));
        assert!(refused.is_some_and(|outcome| outcome.is_err()), "one at a time");
        // The input ends after the piece, not within it.
        assert_eq!(writer.send(Outgoing::EndOfInput), Some(Ok(())));
        let (mut read, mut outcome) = (Vec::new(), None);
        while outcome.is_none() {
            outcome = tokio::time::timeout(Duration::from_millis(1), writer.sent()).await.ok();
            let mut some = [0; 3];
            let length = output.read(&mut some).await.unwrap();
            read.extend_from_slice(&some[..length]);
        }
        assert_eq!(outcome, Some(Ok(())));
        output.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, b"a longer piece");
        assert!(writer.send(Outgoing::Input(b"too late".to_vec())).is_some_and(|outcome| outcome.is_err()));
    }

    #[tokio::test]
    async fn a_closed_input_is_reported() {
        let (input, output) = io::duplex(4);
        let mut writer = Writer::new(Some(input));
        drop(output);
        assert_eq!(writer.send(Outgoing::Input(b"piece".to_vec())), None);
        assert!(writer.sent().await.is_err_and(|error| error.contains("no longer accepts input")));
        assert!(
            Writer::<ChildStdin>::new(None).send(Outgoing::Input(Vec::new())).is_some_and(|outcome| outcome.is_err())
        );
    }
}
