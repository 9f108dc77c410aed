//! The counts of this run, and the file with the baseline.
//!
//! The file has one line for each stage: instructions, bytes of input, events, name. The compiler and the kind of processor
//! precede them.

use std::fmt::Write;
use std::path::PathBuf;

/// The counts of one stage.
pub(crate) struct Count {
    pub(crate) name: String,
    pub(crate) instructions: u64,
    pub(crate) bytes: u64,
    pub(crate) events: u64,
}

/// The counts of all stages.
pub(crate) struct Baseline {
    pub(crate) compiler: String,
    pub(crate) machine: String,
    pub(crate) counts: Vec<Count>,
}

const HEAD: &str = "\
# Instructions of each stage: cargo bench -p framegate-translators --bench instructions [-- --write]
# instructions, bytes of input, events, stage
";

impl Baseline {
    pub(crate) fn path() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/instructions/baseline.txt")
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Count> {
        self.counts.iter().find(|count| count.name == name)
    }

    /// The stages of one runner or session; all stages if there is no name.
    pub(crate) fn only(mut self, name: Option<&str>) -> Self {
        let is_its = |count: &Count| name.is_none_or(|name| count.name.split(' ').next() == Some(name));
        self.counts.retain(is_its);
        self
    }

    /// Reads the stored baseline; returns a message if that fails.
    pub(crate) fn read() -> Result<Self, String> {
        let path = Self::path();
        let unreadable = |what: &dyn std::fmt::Display| format!("{}: {what} (-- --write creates it)", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&error))?;
        let mut read = Self { compiler: String::new(), machine: String::new(), counts: Vec::new() };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(compiler) = line.strip_prefix("compiler ") {
                compiler.clone_into(&mut read.compiler);
            } else if let Some(machine) = line.strip_prefix("machine ") {
                machine.clone_into(&mut read.machine);
            } else {
                read.counts.push(count(line).ok_or_else(|| unreadable(&format!("invalid count {line:?}")))?);
            }
        }
        Ok(read)
    }

    pub(crate) fn write(&self) {
        let mut text = HEAD.to_owned();
        writeln!(text, "compiler {}\nmachine {}", self.compiler, self.machine).unwrap();
        for Count { name, instructions, bytes, events } in &self.counts {
            writeln!(text, "{instructions} {bytes} {events} {name}").unwrap();
        }
        std::fs::write(Self::path(), text).unwrap();
    }
}

fn count(line: &str) -> Option<Count> {
    let mut words = line.splitn(4, ' ');
    let mut number = || words.next()?.parse::<u64>().ok();
    let (instructions, bytes, events) = (number()?, number()?, number()?);
    let name = words.next()?.to_owned();
    (instructions > 0 && bytes > 0).then_some(Count { name, instructions, bytes, events })
}
