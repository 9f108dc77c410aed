//! Runs as text on standard output, for every command that shows one.
//!
//! Input: frames, and the options for text. Output: lines as soon as they are settled; on a terminal also the newest text and a status
//! line, which are drawn again when they change. Never: a remnant of what was drawn, an escape sequence in a pipe, a message on
//! standard error in the middle of a line.

mod screen;
mod stderr;

use crate::clock::Moment;
use crate::platform::keys::Keys;
use crate::platform::{suspension, terminal};
use crate::render::terminal::{Live, Look, Terminal};
use anyhow::Context;
use framegate_translators::frame::Frame;
use screen::Screen;
use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::time::Duration;
use stderr::Captured;

/// The name of the output form. It is no contract: it has no schema, no cursor, and changes with every version.
pub(super) const NAME: &str = "text";

/// What `text` is, in lists of contracts.
pub(super) const ABOUT: &str = "The run as a conversation, for people; no contract";

/// The width of a line in a pipe.
const PIPE_COLUMNS: usize = 80;

/// The height of a terminal that does not report one.
const ROWS: usize = 24;

/// How often what is not settled is drawn again.
pub(super) const TICK: Duration = Duration::from_millis(250);

/// The least time between two drawings.
const PACE: Duration = Duration::from_millis(40);

/// How much text is collected before it is written, in bytes.
const HELD_BYTES: usize = 64 << 10;

/// When text has colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum When {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The options for text.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Text (--to text)")]
pub(super) struct TextArgs {
    #[arg(long, value_name = "WHEN", hide_possible_values = true, help = COLOR_HELP)]
    color: Option<When>,
    /// The columns of a line [default: those of the terminal, else 80]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(20..=1000))]
    width: Option<u16>,
}

const COLOR_HELP: &str = "\
When text has colours: always, never, auto (on a terminal; NO_COLOR turns it off, CLICOLOR_FORCE on) [default: auto]";

/// Whether `auto` has colours, in an environment.
fn is_coloured(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let is_off = |name: &str| variable(name).as_deref() == Some("0");
    match is_set("NO_COLOR") {
        true => false,
        false if is_set("CLICOLOR_FORCE") && !is_off("CLICOLOR_FORCE") => true,
        false => is_terminal && variable("TERM").as_deref() != Some("dumb") && !is_off("CLICOLOR"),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| OsStr::to_string_lossy(&value).into_owned())
}

/// The columns and rows of the terminal on standard output.
fn size() -> Option<(usize, usize)> {
    let (columns, rows) = terminal::size()?;
    Some((columns, if rows == 0 { ROWS } else { rows }))
}

impl TextArgs {
    /// Refuses the options for text without text.
    ///
    /// # Errors
    /// One of them was given.
    pub(super) fn refuse(&self) -> anyhow::Result<()> {
        let given = [(self.color.is_some(), "--color"), (self.width.is_some(), "--width")];
        match given.into_iter().find(|(is_given, _)| *is_given) {
            Some((_, option)) => anyhow::bail!("{option} has no effect without --to {NAME}"),
            None => Ok(()),
        }
    }

    /// How text looks on standard output.
    pub(super) fn look(&self, has_labels: bool) -> Look {
        let is_terminal = io::stdout().is_terminal();
        let has_colour = match self.color.unwrap_or_default() {
            When::Always => true,
            When::Never => false,
            When::Auto => is_coloured(is_terminal && terminal::stdout_obeys_escapes(), variable),
        };
        let wide = size().filter(|_| is_terminal).map(|(columns, _)| columns);
        let columns = self.width.map(usize::from).or(wide).unwrap_or(PIPE_COLUMNS);
        Look { columns, has_colour, has_labels }
    }
}

/// Whether things can be drawn again on standard output.
pub(super) fn is_live() -> bool {
    io::stdout().is_terminal() && variable("TERM").as_deref() != Some("dumb") && terminal::stdout_obeys_escapes()
}

/// Text on standard output.
pub(super) struct View {
    terminal: Terminal,
    screen: Screen<io::Stdout>,
    held: String,
    captured: Option<Captured>,
    /// The width was given.
    is_fixed: bool,
    rows: usize,
    started: Option<Moment>,
    drawn: Option<Moment>,
    /// A write failed; nothing more is written.
    error: Option<io::Error>,
}

impl View {
    /// Begins a text. `is_replay`: all frames exist already, so that there is nothing to draw again.
    pub(super) fn new(args: &TextArgs, has_labels: bool, is_replay: bool) -> Self {
        let is_live = is_live() && !is_replay;
        // Without it, messages would be written into what is drawn.
        let captured = if is_live { Captured::begin() } else { None };
        let mut view = Self {
            terminal: Terminal::new(args.look(has_labels)),
            screen: Screen::new(io::stdout(), is_live),
            held: String::new(),
            captured,
            is_fixed: args.width.is_some(),
            rows: ROWS,
            started: None,
            drawn: None,
            error: None,
        };
        view.measure();
        view
    }

    /// Whether things are drawn again: the caller must then call [`tick`](Self::tick).
    pub(super) fn is_live(&self) -> bool {
        self.screen.is_live()
    }

    /// Takes a frame.
    pub(super) fn frame(&mut self, frame: &Frame) {
        self.started.get_or_insert_with(Moment::now);
        self.terminal.frame(frame, &mut self.held);
        if self.held.len() >= HELD_BYTES
            && let Err(error) = self.write()
        {
            self.error = Some(error);
            self.held.clear();
        }
    }

    /// Appends a line that is not from a run.
    pub(super) fn message(&mut self, text: &str) {
        self.terminal.message(text, &mut self.held);
    }

    /// Writes what is settled.
    ///
    /// # Errors
    /// The output's error.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.draw(&[], false)
    }

    /// Draws what is not settled again. Called every [`TICK`].
    ///
    /// # Errors
    /// The output's error.
    pub(super) fn tick(&mut self) -> io::Result<()> {
        self.draw(&[], true)
    }

    /// Writes what is settled, and draws the rest with these lines below it.
    ///
    /// # Errors
    /// The output's error.
    pub(super) fn draw(&mut self, below: &[String], is_tick: bool) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if let Some(captured) = &mut self.captured {
            captured.take().iter().for_each(|line| self.terminal.message(line, &mut self.held));
        }
        if is_tick {
            self.measure();
        }
        // What is drawn repeats the beginning of settled text, so that it is drawn again with every text.
        let is_due = is_tick || !self.held.is_empty() || self.drawn.is_none_or(|drawn| drawn.elapsed() >= PACE);
        if !self.is_live() {
            return self.write();
        }
        if !is_due {
            return Ok(());
        }
        self.drawn = Some(Moment::now());
        let elapsed = self.started.map(|started| u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX));
        let mut live = self.terminal.live(elapsed, self.rows.saturating_sub(below.len()));
        let more = self.terminal.plain(below);
        live.lines.extend(more.lines);
        live.widths.extend(more.widths);
        let text = std::mem::take(&mut self.held);
        self.screen.show(&text, live)
    }

    /// Writes what is settled, without anything below it.
    fn write(&mut self) -> io::Result<()> {
        let text = std::mem::take(&mut self.held);
        self.screen.show(&text, Live::default())
    }

    fn measure(&mut self) {
        if !self.screen.is_live() {
            return;
        }
        if let Some((columns, rows)) = size() {
            self.rows = rows;
            self.screen.resize(columns);
            if !self.is_fixed {
                self.terminal.resize(columns);
            }
        }
    }

    /// Ends the text: writes everything that is held, and removes what is not settled.
    ///
    /// # Errors
    /// The output's error.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.terminal.finish(&mut self.held);
        self.end()
    }

    /// Writes what is settled, and removes the rest.
    ///
    /// # Errors
    /// The output's error.
    pub(super) fn end(&mut self) -> io::Result<()> {
        if let Some(mut captured) = self.captured.take() {
            let lines = captured.end();
            lines.iter().for_each(|line| self.terminal.message(line, &mut self.held));
        }
        self.write()
    }

    /// Removes what is drawn, until it is drawn again.
    ///
    /// # Errors
    /// The output's error.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.write()
    }

    /// Stops like a program that knows nothing of keys; returns when it is continued. Then the caller draws again.
    ///
    /// # Errors
    /// The output's error, or the system's.
    pub(super) fn stop_here(&mut self, keys: Option<&Keys>) -> anyhow::Result<()> {
        self.clear().context("cannot write")?;
        if let Some(keys) = keys {
            keys.restore();
        }
        suspension::stop_here().context("cannot stop")?;
        keys.map_or(Ok(()), Keys::take).context("cannot read keys")
    }

    /// Whether no run is in progress.
    pub(super) fn is_idle(&self) -> bool {
        self.terminal.is_idle()
    }

    /// Has the next [`flush`](Self::flush) return this error.
    pub(super) fn keep(&mut self, error: io::Error) {
        self.error = Some(error);
    }
}

/// Removes what is drawn, if the command ends early.
impl Drop for View {
    fn drop(&mut self) {
        // The command reports the error that ended it.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides_about_colours() {
        let coloured = |is_terminal, set: &[(&str, &str)]| {
            is_coloured(is_terminal, |name| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(coloured(true, &[]) && !coloured(false, &[]));
        assert!(!coloured(true, &[("NO_COLOR", "1")]) && coloured(true, &[("NO_COLOR", "")]));
        assert!(coloured(false, &[("CLICOLOR_FORCE", "1")]) && !coloured(false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!coloured(true, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]));
        assert!(!coloured(true, &[("TERM", "dumb")]) && !coloured(true, &[("CLICOLOR", "0")]));
    }
}
