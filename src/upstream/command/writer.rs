//! The standard input of a program: one piece after another, without anybody waiting who has something else to do.
//!
//! In: pieces, one at a time. Out: whether each was taken. Never: a program that reads nothing holding up the reading of what
//! it says; what it says to a piece read before it is known that the piece was taken, where [`Writer::sent`] is asked first.

use framegate_translators::host::Sending;
use tokio::io::{self, AsyncWrite, AsyncWriteExt};
use tokio::process::ChildStdin;

/// See the module.
pub(super) struct Writer<W = ChildStdin> {
    input: Option<W>,
    /// What is being written, and how much of it is.
    piece: Option<(Vec<u8>, usize)>,
    /// The input is over behind it.
    is_last: bool,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    /// Writes to that input; without one, nothing is taken.
    pub(super) fn new(input: Option<W>) -> Self {
        Self { input, piece: None, is_last: false }
    }

    /// Sends a piece; the outcome, where it is known at once. Else [`Writer::sent`] gives it.
    pub(super) fn send(&mut self, sending: Sending) -> Option<Result<(), String>> {
        match sending {
            Sending::Input(piece) if self.input.is_some() && !self.is_last && self.piece.is_none() => {
                self.piece = Some((piece, 0));
                None
            }
            Sending::Input(_) => Some(Err("the runner's standard input is closed".to_owned())),
            Sending::EndOfInput => {
                self.close();
                Some(Ok(()))
            }
            Sending::Post { .. } => Some(Err("this runner has no server to ask".to_owned())),
        }
    }

    /// Goes on writing; what became of the piece that was sent last. May be dropped, and asked again.
    pub(super) async fn sent(&mut self) -> Result<(), String> {
        let (Some(input), Some((piece, written))) = (&mut self.input, &mut self.piece) else {
            return std::future::pending().await;
        };
        let outcome = write(input, piece, written).await;
        self.piece = None;
        if self.is_last {
            self.input = None;
        }
        outcome.map_err(|error| format!("the runner takes no input any more: {error}"))
    }

    /// The input is over when what was sent is written.
    pub(super) fn close(&mut self) {
        self.is_last = true;
        if self.piece.is_none() {
            self.input = None;
        }
    }
}

/// Writes what is left of a piece, of which so much is written.
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
    async fn a_piece_is_written_whole_however_often_one_stops_waiting_for_it() {
        let (input, mut output) = io::duplex(4);
        let mut writer = Writer::new(Some(input));
        assert_eq!(writer.send(Sending::Input(b"a longer piece".to_vec())), None);
        let refused = writer.send(Sending::Input(b"another".to_vec()));
        assert!(refused.is_some_and(|outcome| outcome.is_err()), "one at a time");
        // The input ends behind the piece, and not in it.
        assert_eq!(writer.send(Sending::EndOfInput), Some(Ok(())));
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
        assert!(writer.send(Sending::Input(b"too late".to_vec())).is_some_and(|outcome| outcome.is_err()));
    }

    #[tokio::test]
    async fn an_input_that_nobody_reads_any_more_is_told() {
        let (input, output) = io::duplex(4);
        let mut writer = Writer::new(Some(input));
        drop(output);
        assert_eq!(writer.send(Sending::Input(b"piece".to_vec())), None);
        assert!(writer.sent().await.is_err_and(|error| error.contains("takes no input any more")));
        assert!(
            Writer::<ChildStdin>::new(None).send(Sending::Input(Vec::new())).is_some_and(|outcome| outcome.is_err())
        );
    }
}
