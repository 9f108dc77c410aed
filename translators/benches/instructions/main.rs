//! Counts the instructions of each stage and compares them with a stored baseline.
//!
//! A busy machine changes times but not counts, so this runs in CI. It fails if a stage exceeds its baseline by more than
//! [`TOLERANCE`], or if a frame of a long session costs more than one of a short session.
//!
//! `cargo bench -p framegate-translators --bench instructions` counts (with valgrind) and compares. `… --bench instructions --
//! --write` stores the counts as the new baseline. `… -- --only gemini-cli` counts the stages of one runner or session.
//! `cargo test --benches` runs the stages without counting, and checks that each has a baseline.
//!
//! Counts depend on the compiler and on the processor's features, so the baseline names both. If another compiler made the
//! baseline, [`TOLERANCE_ELSEWHERE`] applies, which only finds gross errors. On another kind of processor the counts are not
//! compared, and a message says so. The cost of length is a ratio within one run, so it is checked everywhere.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a benchmark"
)]

mod baseline;
mod count;
#[path = "../sessions/mod.rs"]
mod sessions;
#[path = "../stages/mod.rs"]
mod stages;
mod work;

use baseline::{Baseline, Count};
use framegate_translators::contracts::{DEFAULT, names_with_schemas};
use std::process::ExitCode;

/// How far a stage may exceed its baseline.
const TOLERANCE: f64 = 0.05;
/// The same, if another compiler made the baseline.
const TOLERANCE_ELSEWHERE: f64 = 0.25;
/// How much more a frame of a long session may cost than one of a short session.
const TOLERANCE_OF_LENGTH: f64 = 0.10;
/// The argument before the name of the only runner or session to count.
const ONLY: &str = "--only";
/// The target for the cost of one more contract for the same frames, as a share of the whole path of the first. It is only
/// reported.
const AIM_OF_ONE_MORE: f64 = 0.35;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| args.iter().any(|arg| arg == word);
    let after = |word: &str| args.iter().skip_while(|arg| *arg != word).nth(1).map(String::as_str);
    if has(count::COUNTED) {
        count::counted(after(count::COUNTED));
        return ExitCode::SUCCESS;
    }
    if !has("--bench") {
        return uncounted();
    }
    let only = after(ONLY);
    if only.is_some() && has("--write") {
        eprintln!("--write stores the counts of all stages: leave {ONLY} out");
        return ExitCode::from(2);
    }
    let counts = match count::with_valgrind(only) {
        Ok(counts) => counts,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    if has("--write") {
        counts.write();
        println!("wrote {} counts as the new baseline: {}", counts.counts.len(), Baseline::path().display());
    }
    let known = match Baseline::read() {
        Ok(known) => known.only(only),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let worse = compare(&counts, &known) + too_long(&counts);
    one_more(&counts);
    if worse > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs every stage once, and checks that the baseline has the same stages.
fn uncounted() -> ExitCode {
    let mut names = Vec::new();
    work::each(None, &mut |stage| {
        let counts = (stage.run)();
        assert!(counts.events > 0, "{} produces no events", stage.name);
        names.push(stage.name.to_owned());
    });
    let known = Baseline::read().unwrap();
    let kept: Vec<&String> = known.counts.iter().map(|count| &count.name).collect();
    assert_eq!(names.iter().collect::<Vec<_>>(), kept, "the baseline has other stages: rewrite it with -- --write");
    println!("{} stages, each with a baseline", names.len());
    ExitCode::SUCCESS
}

/// Prints every stage; returns how many exceed the tolerance.
fn compare(counts: &Baseline, known: &Baseline) -> usize {
    let same_compiler = counts.compiler == known.compiler;
    let same_machine = counts.machine == known.machine;
    let tolerance = if same_compiler { TOLERANCE } else { TOLERANCE_ELSEWHERE };
    println!("{:44} {:>14} {:>9} {:>9} {:>9}", "instructions", "", "per byte", "per event", "change");
    let mut worse = Vec::new();
    let mut better = 0;
    for count in &counts.counts {
        let before = known.counts.iter().find(|known| known.name == count.name);
        let change = before.map(|before| count.instructions as f64 / before.instructions as f64 - 1.0);
        println!(
            "{:44} {:>14} {:>9.1} {:>9.0} {:>9}",
            count.name,
            count.instructions,
            count.instructions as f64 / count.bytes as f64,
            count.per_event(),
            change.map_or("new".to_owned(), |change| format!("{:+.1} %", change * 100.0)),
        );
        match change {
            Some(change) if change > tolerance => worse.push((&count.name, change)),
            Some(change) if change < -tolerance => better += 1,
            Some(_) => {}
            None => worse.push((&count.name, f64::INFINITY)),
        }
    }
    let gone = known.counts.iter().filter(|known| counts.counts.iter().all(|count| count.name != known.name)).count();
    println!("counted on {}, compiled by {}", counts.machine, counts.compiler);
    if !same_machine {
        eprintln!("NOT compared: the baseline was counted on another kind of processor ({})", known.machine);
        return 0;
    }
    if !same_compiler {
        eprintln!(
            "the baseline was made by another compiler ({}): the tolerance is {:.0} % instead of {:.0} %; -- --write renews it",
            known.compiler,
            tolerance * 100.0,
            TOLERANCE * 100.0,
        );
    }
    for (name, change) in &worse {
        eprintln!(
            "{name}: {:+.1} % against its baseline, more than the tolerance of {:.0} %",
            change * 100.0,
            tolerance * 100.0
        );
    }
    if gone > 0 {
        eprintln!("{gone} stages of the baseline no longer exist: rewrite it with -- --write");
    }
    if better > 0 {
        println!("{better} stages are below their baseline by more than the tolerance: -- --write records the gain");
    }
    worse.len() + gone
}

/// Prints the cost of length; returns in how many sessions it exceeds the tolerance.
fn too_long(counts: &Baseline) -> usize {
    let mut worse = 0;
    for long in &counts.counts {
        let Some(name) = long.name.strip_suffix(work::LONG) else { continue };
        let Some(short) = counts.get(&format!("{name}{}", work::SHORT)) else { continue };
        let ratio = long.per_event() / short.per_event();
        println!("{name:44} a frame of a long session costs {ratio:.3} times one of a short session");
        if ratio > 1.0 + TOLERANCE_OF_LENGTH {
            eprintln!(
                "{name}: a frame of a long session costs {ratio:.2} times one of a short session, more than {:.2}",
                1.0 + TOLERANCE_OF_LENGTH
            );
            worse += 1;
        }
    }
    worse
}

/// Prints the cost of a second contract for frames that already exist.
fn one_more(counts: &Baseline) {
    for count in &counts.counts {
        let Some((runner, contract)) = count.name.split_once(work::MORE) else { continue };
        // Compare with the contract that costs least. Compare that one with the default contract.
        let whole = |name: &str| counts.get(&format!("{runner}{}{name}", work::WHOLE));
        let costs = |name: &&str| whole(name).map_or(u64::MAX, |count| count.instructions);
        let least = names_with_schemas().min_by_key(costs).unwrap_or(DEFAULT.name);
        let first = if contract == least { DEFAULT.name } else { least };
        let Some(whole) = whole(first) else { continue };
        let share = count.instructions as f64 / whole.instructions as f64;
        let beside =
            if share > AIM_OF_ONE_MORE { format!(", above the aim of {AIM_OF_ONE_MORE}") } else { String::new() };
        println!("{runner}: {contract} in addition to {first} costs {share:.2} of {first} alone{beside}");
    }
}

impl Count {
    fn per_event(&self) -> f64 {
        self.instructions as f64 / self.events.max(1) as f64
    }
}
