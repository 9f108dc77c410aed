//! How this process is asked to end, and how it ends others.

/// What asks this process to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndSignal {
    /// The user: Ctrl-C.
    Interrupt,
    /// The system, or another program.
    Terminate,
}

impl EndSignal {
    /// The number of its signal on Unix. Exit codes are 128 more, on every system.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }
}

/// How a program is made to end, in the order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// As by Ctrl-C, on which runners save their state.
    Interrupt,
    /// It is asked to end.
    Terminate,
    /// It ends, whatever it does.
    Kill,
}
