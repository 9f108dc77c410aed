//! Ends a program in stages: a request in its own protocol, then a signal, then a kill.
//!
//! Input: why it must end, and the time. Output: what to do now, and when to check again. Never: a stage before its time; a
//! program that is asked without a deadline.

use super::stderr;
use crate::config::upstream::Command;
use crate::log::StreamId;
use crate::platform::{Stop, exit};
use std::process::ExitStatus;
use std::time::Duration;
use tokio::time::Instant;

/// Why a program must end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// Its run was interrupted.
    Interrupt {
        /// Who interrupted it: the name of a token.
        by: String,
        /// The run; `None`: whatever is in progress.
        of: Option<StreamId>,
    },
    /// It has nothing more to do, or it closed its output.
    Leaving,
    /// It did not report a run in time.
    NoRun,
    /// It refused the request, in these words.
    Refused(String),
    /// It was silent for too long.
    Idle,
    /// It ran for too long.
    TooLong,
    /// The proxy is stopping.
    Stopping,
}

/// The stage that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Asked,
    Signalled,
    Killed,
}

/// The shutdown of one program.
#[derive(Debug)]
pub(super) struct ProgramShutdown {
    pub(super) cause: Cause,
    stage: Stage,
    next: Instant,
    after_signal: Duration,
}

/// When the proxy stops: the longest time between the signal and the kill.
const STOPPING: Duration = Duration::from_secs(2);

impl ProgramShutdown {
    /// The program was asked to end through its protocol, or is expected to exit on its own.
    pub(super) fn asked(cause: Cause, settings: &Command, now: Instant) -> Self {
        let patience = match cause {
            Cause::Leaving => settings.exit_grace_ms,
            _ => settings.interrupt_grace_ms,
        };
        Self {
            cause,
            stage: Stage::Asked,
            next: now + Duration::from_millis(patience),
            after_signal: Duration::from_millis(settings.signal_grace_ms),
        }
    }

    /// The program cannot be asked: the first signal is due immediately.
    pub(super) fn at_once(cause: Cause, settings: &Command, now: Instant) -> Self {
        let mut shutdown = Self { next: now, ..Self::asked(cause, settings, now) };
        if shutdown.cause == Cause::Stopping {
            shutdown.after_signal = shutdown.after_signal.min(STOPPING);
        }
        shutdown
    }

    /// Whether the program was only asked so far, so that the shutdown can still be called off.
    pub(super) fn is_asked(&self) -> bool {
        self.stage == Stage::Asked
    }

    /// When the next stage is due; `None` after the last.
    pub(super) fn next(&self) -> Option<Instant> {
        (self.stage != Stage::Killed).then_some(self.next)
    }

    /// How to end the program now; `None` if no stage is due.
    pub(super) fn step(&mut self, now: Instant) -> Option<Stop> {
        if self.next().is_none_or(|next| now < next) {
            return None;
        }
        self.next = now + self.after_signal;
        if self.stage == Stage::Asked {
            self.stage = Stage::Signalled;
            // An interruption sends the same signal as Ctrl-C, on which runners save their state.
            let is_interrupt = matches!(self.cause, Cause::Interrupt { .. });
            return Some(if is_interrupt { Stop::Interrupt } else { Stop::Terminate });
        }
        self.stage = Stage::Killed;
        Some(Stop::Kill)
    }
}

/// The code and the message for a run that is still open when the program has ended.
pub(super) fn of_run(cause: Option<&Cause>, settings: &Command, status: Option<ExitStatus>) -> (&'static str, String) {
    let ended = status.map_or_else(|| "could not be waited for".to_owned(), exit_text);
    match cause {
        Some(Cause::Interrupt { by, .. }) => ("interrupted", format!("{by} interrupted the run; the runner {ended}")),
        Some(Cause::Idle) => {
            let ms = settings.idle_timeout_ms;
            ("runner_idle", format!("the runner said nothing for {ms} ms (upstream.idle_timeout_ms); it {ended}"))
        }
        Some(Cause::TooLong) => {
            let ms = settings.run_timeout_ms;
            ("run_timeout", format!("the runner took more than {ms} ms (upstream.run_timeout_ms); it {ended}"))
        }
        Some(Cause::Stopping) => {
            (crate::ingest::PROXY_STOPPING, "the proxy stopped before the runner said how the run ended".to_owned())
        }
        Some(Cause::Leaving | Cause::NoRun | Cause::Refused(_)) | None => {
            ("runner_exited", format!("the runner {ended} before it said how the run ended"))
        }
    }
}

/// Why a program began no run. `ended` says how it ended; its standard error had so many bytes.
pub(super) fn before_run(cause: Option<&Cause>, settings: &Command, ended: &str, stderr_bytes: u64) -> String {
    match cause {
        Some(Cause::Refused(words)) => format!("the runner refused: {words}"),
        Some(Cause::NoRun) => {
            let ms = settings.start_timeout_ms;
            format!("the runner began no run within {ms} ms (upstream.start_timeout_ms)")
        }
        _ => format!(
            "the runner {ended} before it began a run; its standard error has {stderr_bytes} bytes (log target {})",
            stderr::TARGET
        ),
    }
}

/// How a program ended, in words.
pub(super) fn exit_text(status: ExitStatus) -> String {
    match (status.code(), exit::signal(status)) {
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn settings() -> Command {
        Command { interrupt_grace_ms: 100, signal_grace_ms: 50, exit_grace_ms: 10, ..Command::default() }
    }

    fn by(who: &str) -> Cause {
        Cause::Interrupt { by: who.to_owned(), of: None }
    }

    #[test]
    fn each_step_happens_at_its_time() {
        let (begin, ms) = (Instant::now(), Duration::from_millis);
        let mut shutdown = ProgramShutdown::asked(by("a"), &settings(), begin);
        assert!(shutdown.is_asked());
        assert_eq!(shutdown.step(begin + ms(99)), None);
        assert_eq!(shutdown.step(begin + ms(100)), Some(Stop::Interrupt));
        assert!(!shutdown.is_asked());
        assert_eq!(shutdown.step(begin + ms(149)), None);
        assert_eq!(shutdown.step(begin + ms(150)), Some(Stop::Kill));
        assert_eq!(shutdown.next(), None);
        assert_eq!(shutdown.step(begin + ms(1000)), None);
    }

    #[test]
    fn the_signal_depends_on_the_cause() {
        let begin = Instant::now();
        assert_eq!(ProgramShutdown::at_once(by("a"), &settings(), begin).step(begin), Some(Stop::Interrupt));
        assert_eq!(ProgramShutdown::at_once(Cause::Idle, &settings(), begin).step(begin), Some(Stop::Terminate));
        let slow = Command { signal_grace_ms: 600_000, ..settings() };
        let mut stopping = ProgramShutdown::at_once(Cause::Stopping, &slow, begin);
        assert_eq!(stopping.step(begin), Some(Stop::Terminate));
        assert_eq!(stopping.step(begin + STOPPING), Some(Stop::Kill));
        assert_eq!(
            ProgramShutdown::asked(Cause::Leaving, &settings(), begin).next(),
            Some(begin + Duration::from_millis(10))
        );
    }

    #[test]
    fn the_end_of_a_run_reports_how_its_program_ended() {
        let (exited, killed) = (ExitStatus::from_raw(3 << 8), ExitStatus::from_raw(9));
        let (code, message) = of_run(None, &settings(), Some(exited));
        assert_eq!(
            (code, message.as_str()),
            ("runner_exited", "the runner exited with status 3 before it said how the run ended")
        );
        let (code, message) = of_run(Some(&by("ada")), &settings(), Some(killed));
        assert_eq!(
            (code, message.as_str()),
            ("interrupted", "ada interrupted the run; the runner was ended by signal 9")
        );
        assert!(of_run(Some(&Cause::Idle), &settings(), None).1.contains("could not be waited for"));
    }
}
