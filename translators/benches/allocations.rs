//! Counts the allocations of each stage, and their bytes.
//!
//! The stages, recordings and sessions are those of the instruction counts. Times are not measured, because the counting
//! allocator adds a cost.
//!
//! `cargo bench -p framegate-translators --bench allocations`

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing, missing_docs, reason = "a benchmark")]

#[path = "sessions/mod.rs"]
mod sessions;
#[path = "stages/mod.rs"]
mod stages;
#[path = "instructions/work.rs"]
mod work;

fn main() {
    println!("{:44} {:>11} {:>10} {:>8} {:>16}", "allocations", "", "per event", "per KB", "bytes per event");
    work::each(None, &mut |stage| {
        if stage.warm {
            (stage.run)();
        }
        let mut events = 0;
        let counted = allocation_counter::measure(|| events = (stage.run)().events);
        let each = |count: u64| count as f64 / events.max(1) as f64;
        assert!(counted.count_total > 0, "{} must allocate", stage.name);
        println!(
            "{:44} {:>11} {:>10.2} {:>8.2} {:>16.0}",
            stage.name,
            counted.count_total,
            each(counted.count_total),
            counted.count_total as f64 / (stage.bytes as f64 / 1e3),
            each(counted.bytes_total),
        );
    });
}
