//! Counts instructions by running this program again under valgrind, within marked stages only.
//!
//! callgrind dumps its counters and resets them whenever [`a_stage_begins_here`] or [`a_stage_ends_here`] is entered. One
//! process can therefore run all stages, and their preparation is not counted.

use crate::baseline::{Baseline, Count};
use crate::work;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

/// The argument that starts this program as the counted process.
pub(crate) const COUNTED: &str = "--counted";
/// The functions that mark the places for valgrind. Their bodies differ, since identical functions could be merged into one.
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

/// Runs the stages, and prints the result of each on stdout.
pub(crate) fn counted(only: Option<&str>) {
    println!("machine {}", machine());
    work::each(only, &mut |stage| {
        if stage.warm {
            black_box((stage.run)());
        }
        a_stage_begins_here();
        let counts = black_box((stage.run)());
        a_stage_ends_here();
        println!("{} {} {}", stage.bytes, counts.events, stage.name);
    });
}

/// The processor features as valgrind presents them to the program. Libraries select their code by these.
fn machine() -> String {
    #[cfg(target_arch = "x86_64")]
    let features =
        [("avx2", std::arch::is_x86_feature_detected!("avx2")), ("sha", std::arch::is_x86_feature_detected!("sha"))];
    #[cfg(not(target_arch = "x86_64"))]
    let features: [(&str, bool); 0] = [];
    let features = features.iter().filter(|(_, has)| *has).map(|(name, _)| format!(" {name}"));
    std::env::consts::ARCH.to_owned() + &features.collect::<String>()
}

/// Counts the stages of one runner or session, or all of them; returns a message if that fails.
pub(crate) fn with_valgrind(only: Option<&str>) -> Result<Baseline, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("instructions-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let counted = in_folder(&folder, only);
    let _ = std::fs::remove_dir_all(&folder);
    counted
}

fn in_folder(folder: &Path, only: Option<&str>) -> Result<Baseline, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .args(["--dump-line=no", "--compress-strings=yes"])
        .arg(format!("--dump-before={BEGIN}"))
        .arg(format!("--dump-before={END}"))
        .arg(format!("--callgrind-out-file={}", folder.join("counts").display()))
        .arg(std::env::current_exe().unwrap())
        .arg(COUNTED)
        .args(only)
        // The environment is stored on the stack: its length shifts the addresses that follow it.
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
            return Err(format!("unexpected output of the counted program: {line:?}"));
        };
        // The first dump is the time before the first stage, the second is that stage, the third is the time until the next
        // one.
        let dump = folder.join(format!("counts.{}", 2 * nth + 2));
        let instructions = total(&dump).ok_or_else(|| format!("valgrind has no count for {name:?}"))?;
        counts.push(Count { name: name.to_owned(), instructions, bytes, events });
    }
    if counts.is_empty() {
        return Err("the counted program ran no stage".to_owned());
    }
    Ok(Baseline { compiler: compiler(), machine, counts })
}

/// The sum in the dump at the end of a stage; `None` if the file is another dump or contains no count.
fn total(path: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    if !text.lines().any(|line| line.starts_with("desc: Trigger: ") && line.contains(END.trim_matches('*'))) {
        return None;
    }
    let sum = text.lines().find_map(|line| line.strip_prefix("summary: ").or(line.strip_prefix("totals: ")))?;
    sum.trim().parse().ok().filter(|sum| *sum > 0)
}

/// The compiler that builds the workspace.
fn compiler() -> String {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(program).arg("--version").output();
    said.map_or("unknown".to_owned(), |said| String::from_utf8_lossy(&said.stdout).trim().to_owned())
}
