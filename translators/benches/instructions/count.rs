//! Counting: this program once more, under valgrind, which counts inside one function alone.
//!
//! callgrind writes down what it counted since the last time, and begins at zero, whenever [`a_stage_begins_here`] or
//! [`a_stage_ends_here`] is entered. So one process goes through all stages, and what prepares them is not in their counts.

use crate::baseline::{Baseline, Count};
use crate::work;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

/// The argument with which this program runs to be counted.
pub(crate) const COUNTED: &str = "--counted";
/// What marks the places in the program, for valgrind to find. Each does something, or they would become one function.
const BEGIN: &str = "*a_stage_begins_here*";
const END: &str = "*a_stage_ends_here*";

#[inline(never)]
fn a_stage_begins_here() {
    black_box(1_u8);
}

#[inline(never)]
fn a_stage_ends_here() {
    black_box(2_u8);
}

/// Goes through all stages; says of each, on stdout, what came of it.
pub(crate) fn counted() {
    println!("machine {}", machine());
    work::each(&mut |part| {
        if part.warm {
            black_box((part.run)());
        }
        a_stage_begins_here();
        let counts = black_box((part.run)());
        a_stage_ends_here();
        println!("{} {} {}", part.bytes, counts.events, part.name);
    });
}

/// The kind of processor, as valgrind shows it to the program: libraries choose their code by it.
fn machine() -> String {
    #[cfg(target_arch = "x86_64")]
    let features =
        [("avx2", std::arch::is_x86_feature_detected!("avx2")), ("sha", std::arch::is_x86_feature_detected!("sha"))];
    #[cfg(not(target_arch = "x86_64"))]
    let features: [(&str, bool); 0] = [];
    let features = features.iter().filter(|(_, has)| *has).map(|(name, _)| format!(" {name}"));
    std::env::consts::ARCH.to_owned() + &features.collect::<String>()
}

/// Counts all stages; a message where that cannot be done.
pub(crate) fn with_valgrind() -> Result<Baseline, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("instructions-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let counted = in_folder(&folder);
    let _ = std::fs::remove_dir_all(&folder);
    counted
}

fn in_folder(folder: &Path) -> Result<Baseline, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .args(["--dump-line=no", "--compress-strings=yes"])
        .arg(format!("--dump-before={BEGIN}"))
        .arg(format!("--dump-before={END}"))
        .arg(format!("--callgrind-out-file={}", folder.join("counts").display()))
        .arg(std::env::current_exe().unwrap())
        .arg(COUNTED)
        // The environment lies on the stack: a longer one shifts what lies behind it.
        .env_clear()
        .output()
        .map_err(|error| format!("valgrind cannot be started: {error} (apt-get install valgrind)"))?;
    if !output.status.success() {
        return Err(format!("valgrind: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let said = String::from_utf8(output.stdout).unwrap();
    let mut lines = said.lines();
    let machine = lines.next().and_then(|line| line.strip_prefix("machine ")).unwrap_or_default().to_owned();
    let mut counts = Vec::new();
    for (nth, line) in lines.enumerate() {
        let mut words = line.splitn(3, ' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        let (bytes, events) = (number(), number());
        let (Some(bytes), Some(events), Some(name)) = (bytes, events, words.next()) else {
            return Err(format!("the counted program said {line:?}"));
        };
        // The first file is of what came before the first stage, the second of that stage, the third of what came between.
        let part = folder.join(format!("counts.{}", 2 * nth + 2));
        let instructions = total(&part).ok_or_else(|| format!("valgrind counted nothing of {name:?}"))?;
        counts.push(Count { name: name.to_owned(), instructions, bytes, events });
    }
    if counts.is_empty() {
        return Err("the counted program went through no stage".to_owned());
    }
    Ok(Baseline { compiler: compiler(), machine, counts })
}

/// The sum in the file that callgrind wrote at the end of a stage; `None` where it is another file, or counted nothing.
fn total(path: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    if !text.lines().any(|line| line.starts_with("desc: Trigger: ") && line.contains(END.trim_matches('*'))) {
        return None;
    }
    let sum = text.lines().find_map(|line| line.strip_prefix("summary: ").or(line.strip_prefix("totals: ")))?;
    sum.trim().parse().ok().filter(|sum| *sum > 0)
}

/// The compiler that the workspace is built with.
fn compiler() -> String {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(program).arg("--version").output();
    said.map_or("unknown".to_owned(), |said| String::from_utf8_lossy(&said.stdout).trim().to_owned())
}
