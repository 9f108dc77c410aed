//! The standard input of a program: one piece after another, without anybody waiting who has something else to do.
//!
//! In: pieces, one at a time. Out: whether each was taken. Never: a program that reads nothing holding up the reading of what
//! it says.

use framegate_translators::host::Sending;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

/// See the module.
pub(super) struct Writer {
    to: Option<mpsc::Sender<Vec<u8>>>,
    done: mpsc::Receiver<Result<(), String>>,
    _task: AbortOnDropHandle<()>,
}

impl Writer {
    /// Writes to that input; without one, nothing is taken.
    pub(super) fn new(input: Option<ChildStdin>) -> Self {
        let (to, mut pieces) = mpsc::channel::<Vec<u8>>(1);
        let (told, done) = mpsc::channel(1);
        let has_input = input.is_some();
        let task = tokio::spawn(async move {
            let Some(mut input) = input else { return };
            while let Some(piece) = pieces.recv().await {
                let written = async {
                    input.write_all(&piece).await?;
                    input.flush().await
                };
                let outcome = written.await.map_err(|error| format!("the runner takes no input any more: {error}"));
                if told.send(outcome).await.is_err() {
                    return;
                }
            }
        });
        Self { to: has_input.then_some(to), done, _task: AbortOnDropHandle::new(task) }
    }

    /// Sends a piece; the outcome, where it is known at once. Else [`Writer::sent`] gives it.
    pub(super) fn send(&mut self, sending: Sending) -> Option<Result<(), String>> {
        match sending {
            Sending::Input(piece) => {
                let taken = self.to.as_ref().is_some_and(|to| to.try_send(piece).is_ok());
                (!taken).then(|| Err("the runner's standard input is closed".to_owned()))
            }
            Sending::EndOfInput => {
                self.close();
                Some(Ok(()))
            }
            Sending::Post { .. } => Some(Err("this runner has no server to ask".to_owned())),
        }
    }

    /// What became of the piece that was sent last.
    pub(super) async fn sent(&mut self) -> Result<(), String> {
        match self.done.recv().await {
            Some(outcome) => outcome,
            None => std::future::pending().await,
        }
    }

    /// The input is over when what was sent is written.
    pub(super) fn close(&mut self) {
        self.to = None;
    }
}
