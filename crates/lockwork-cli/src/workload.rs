// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork workload`: the embedded key-value cache, see c/kvcache.h.

use std::fmt::Write as _;
use std::thread::available_parallelism;

use anyhow::Result;

use crate::cli::WorkloadArgs;
use crate::error::{Exit, OWN_ERROR, PROGRAM_FAILED};
use lockwork_report::text::{counted, grouped, percent, percent_to};

/// Finds the workload's result in its output.
pub const METRIC: &str = r"throughput: ([\d.,]+) ops/s";

/// What its output says before the share of acquisitions that found their lock held.
const CONTENDED: &str = "contended: ";

/// `struct kv_config`.
#[repr(C)]
struct Config {
    threads: u32,
    shards: u32,
    keys: u32,
    capacity: u32,
    ops: u64,
    seed: u64,
    read_ratio: f64,
    skew: f64,
}

/// `struct kv_result`.
#[repr(C)]
#[derive(Default)]
struct Outcome {
    seconds: f64,
    hits: u64,
    misses: u64,
    evictions: u64,
    waits: u64,
    held: u64,
    max_wait_ns: u64,
    least: u64,
    most: u64,
    fairness: f64,
    faults: u64,
}

extern "C" {
    fn kvcache_run(config: *const Config, result: *mut Outcome) -> libc::c_int;
}

/// Runs the workload and returns its report.
pub fn run(args: &WorkloadArgs) -> Result<String> {
    let config = Config {
        threads: args.threads.unwrap_or_else(usual_threads),
        shards: args.shards,
        keys: args.keys,
        capacity: args.capacity.unwrap_or((args.keys / 2).max(1)),
        ops: args.ops,
        seed: args.seed,
        read_ratio: args.read_ratio,
        skew: args.skew,
    };
    let mut outcome = Outcome::default();
    // SAFETY: both structs mirror kvcache.h; the C side checks its allocations.
    let err = unsafe { kvcache_run(&config, &mut outcome) };
    if err != 0 {
        let error = std::io::Error::from_raw_os_error(err);
        let message = format!("the workload cannot start: {error}; try fewer --threads or --keys");
        return Err(Exit::with(OWN_ERROR, message));
    }
    if outcome.faults > 0 {
        let message = format!(
            "the cache is corrupt ({} failed checks): a lock let two threads in at once",
            outcome.faults
        );
        return Err(Exit::with(PROGRAM_FAILED, message));
    }
    Ok(report(&config, &outcome))
}

fn cpus() -> u32 {
    available_parallelism().map_or(1, |n| n.get() as u32)
}

/// How many threads there are unless somebody asks for another number.
fn usual_threads() -> u32 {
    cpus().saturating_mul(4).min(4096)
}

/// The share of acquisitions that found their lock held, as `output` says; 0.01 is 1 %.
pub fn contended(output: &[u8]) -> Option<f64> {
    let text = String::from_utf8_lossy(output);
    let (_, rest) = text.split_once(CONTENDED)?;
    let (text, _) = rest.split_once(" %")?;
    match text.strip_prefix('<') {
        // Somewhere below that, and not nothing.
        Some(bound) => Some(bound.parse::<f64>().ok()? / 400.0),
        None => Some(text.parse::<f64>().ok()? / 100.0),
    }
}

/// What to know about a comparison by this workload, of whose acquisitions under glibc
/// the share `contended` found their lock held.
pub fn note(contended: f64) -> String {
    let (cpus, threads) = (cpus(), usual_threads());
    let s = if cpus == 1 { "" } else { "s" };
    format!(
        "The workload ran {threads} threads on {cpus} CPU{s}; {} of its acquisitions under \
         glibc found their lock held. With other CPUs, other load beside it or another program \
         the ratios are others: `lockwork compare -- PROGRAM` measures yours.",
        percent_to(contended, 2)
    )
}

fn report(config: &Config, outcome: &Outcome) -> String {
    let reads = (outcome.hits + outcome.misses).max(1);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}, {}, {} (skew {}), {:.0} % reads",
        counted(config.threads as usize, "thread"),
        counted(config.shards as usize, "shard"),
        counted(config.keys as usize, "key"),
        config.skew,
        config.read_ratio * 100.0
    );
    let per_second = config.ops as f64 / outcome.seconds.max(1e-9);
    let _ = writeln!(text, "throughput: {} ops/s", grouped(per_second, 0));
    let _ = writeln!(
        text,
        "hits: {} of reads, {}",
        percent(outcome.hits as f64 / reads as f64),
        counted(outcome.evictions as usize, "eviction")
    );
    let _ = writeln!(
        text,
        "{CONTENDED}{} of {} found their shard locked",
        percent_to(outcome.held as f64 / outcome.waits.max(1) as f64, 2),
        counted(outcome.waits as usize, "timed acquisition")
    );
    let longest = match outcome.held {
        0 => "0 ms".to_owned(),
        _ => format!("{:.3} ms", outcome.max_wait_ns as f64 / 1e6),
    };
    let _ = writeln!(
        text,
        "longest wait for a shard: {longest} of {} timed",
        grouped(outcome.waits as f64, 0)
    );
    let _ = writeln!(
        text,
        "fairness: {:.3} (Jain's index; 1 is even), threads did {} to {} operations",
        outcome.fairness,
        grouped(outcome.least as f64, 0),
        grouped(outcome.most as f64, 0)
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(threads: u32) -> (Config, Outcome) {
        let config = Config {
            threads,
            shards: 2,
            keys: 1000,
            capacity: 100,
            ops: 20_000,
            seed: 1,
            read_ratio: 1.0,
            skew: 0.9,
        };
        let mut outcome = Outcome::default();
        // SAFETY: as in run().
        let err = unsafe { kvcache_run(&config, &mut outcome) };
        assert_eq!((err, outcome.faults), (0, 0));
        (config, outcome)
    }

    #[test]
    fn one_thread_finds_no_lock_held() {
        let (config, outcome) = ran(1);
        assert!(outcome.waits > 0);
        let text = report(&config, &outcome);
        assert_eq!(contended(text.as_bytes()), Some(0.0), "{text}");
        assert_eq!(outcome.max_wait_ns, 0);
        assert!(text.contains("longest wait for a shard: 0 ms of"), "{text}");
        assert!(
            text.starts_with("1 thread, 2 shards, 1,000 keys "),
            "{text}"
        );
        assert_eq!(contended(b"throughput: 1 ops/s"), None);
        assert_eq!(contended(b"contended: 12.50 % of 8"), Some(0.125));
        let few = contended(b"contended: <0.01 % of 90,000").expect("a share");
        assert!(note(few).contains("; <0.01 % of its"), "{}", note(few));
    }

    #[test]
    fn counts_every_read() {
        let (config, outcome) = ran(3);
        assert_eq!(outcome.hits + outcome.misses, config.ops);
        assert!(outcome.evictions > 0 && outcome.hits > 0);
        assert!(outcome.fairness > 0.0 && outcome.fairness <= 1.0);
        assert!(outcome.held > 0 || outcome.max_wait_ns == 0);
    }
}
