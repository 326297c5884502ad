// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Workloads of the simulator, from what a profile says of a lock.

use std::fmt::Write;

use anyhow::Result;
use lockwork_profile::demand::Demand;
use lockwork_sim::machine::Machine;
use lockwork_sim::workload::{Time, Workload};

use crate::nested::Round;
use crate::times::{sleep, sleep_classes, time, written, Thinking};

/// How thinking times may be distributed: those to simulate.
pub fn thinkings(lock: &Demand) -> &'static [Thinking] {
    match Round::of(lock) {
        Some(round) => round.thinking(),
        None => Thinking::with(&lock.think.classes),
    }
}

/// Rounds of a thread before the measured time, and in it, at least.
const ROUNDS: (f64, f64) = (50.0, 500.0);
/// Simulated time before the measured one, and that one, µs, at least.
const LEAST_US: (f64, f64) = (1000.0, 20_000.0);
/// Slices of the scheduler in both, where threads share CPUs.
const SLICES: (f64, f64) = (2.0, 10.0);
/// The longest that a workload may ask for, µs.
const LONGEST_US: f64 = 1e6;

/// What the threads of a program do with one of its locks.
///
/// # Errors
/// The profile's histogram makes no sense.
pub fn of(lock: &Demand, thinking: Thinking, name: &str) -> Result<Workload> {
    let section = time(&lock.section)?;
    let read_section = match &lock.read_section {
        Some(times) => time(times)?,
        None => section.clone(),
    };
    Ok(Workload {
        name: name.to_owned(),
        summary: format!("{}, as profiled", lock.name),
        locks: Vec::new(),
        think: thinking.time(&lock.think)?,
        sleep: lock.sleep.map(sleep).transpose()?,
        section,
        read_section,
        lines: 0,
        embedded: false,
        reads: lock.reads,
        long_hold: None,
        short_hold: None,
        entry_bytes: 0,
        affinity: false,
        preemptible: true,
        loops: None,
        warmup_us: LEAST_US.0,
        measure_us: LEAST_US.1,
        threads: vec![lock.threads.round().max(1.0) as usize],
        fitted_to: Vec::new(),
        program: Round::of(lock)
            .map(|round| round.program(thinking))
            .transpose()?,
    })
}

/// The same for so many threads of a machine: long enough for them.
pub fn long_enough(workload: &Workload, machine: &Machine, threads: usize) -> Workload {
    let sleep = workload.sleep.as_ref().map_or(0.0, Time::mean);
    let round = (workload.think.mean() + workload.section.mean() + sleep) / 1e3;
    let slices = match threads > machine.cpus() {
        true => machine.scheduler.slice_us,
        false => 0.0,
    };
    let long = |rounds: f64, least: f64, slice: f64| {
        least
            .max(rounds * round)
            .max(slice * slices)
            .min(LONGEST_US)
    };
    Workload {
        warmup_us: long(ROUNDS.0, LEAST_US.0, SLICES.0),
        measure_us: long(ROUNDS.1, LEAST_US.1, SLICES.1),
        ..workload.clone()
    }
}

/// A file for `lockwork sim --workload`.
///
/// # Errors
/// The profile's histogram makes no sense.
pub fn file(workload: &Workload, lock: &Demand, locks: &[&str], from: &str) -> Result<String> {
    let names: Vec<String> = locks.iter().map(|lock| format!("\"{lock}\"")).collect();
    let source = format!("source = \"{}\"", plain(from));
    let mut text = format!(
        "# SPDX-License-Identifier: MIT OR GPL-2.0-only\n\
         # Written by lockwork predict.\n\
         summary = \"{}\"\nlocks = [{}]\nthreads = {:?}\naffinity = {}\npreemptible = {}\n",
        plain(&workload.summary),
        names.join(", "),
        workload.threads,
        workload.affinity,
        workload.preemptible
    );
    for (name, us) in [
        ("warmup", workload.warmup_us),
        ("measure", workload.measure_us),
    ] {
        let _ = writeln!(text, "{name} = {{ us = {us}, source = \"chosen\" }}");
    }
    if let Some(round) = Round::of(lock) {
        return Ok(text + &round.tables(thinkings(lock)[0], &source)?);
    }
    let mut put = |name: &str, time: &Time, classes: &[(f64, f64, u64)]| {
        let _ = writeln!(text, "{name} = {}", written(time, classes, &source));
    };
    put("think", &workload.think, &lock.think.classes);
    put("section", &workload.section, &lock.section.classes);
    if let Some(reads) = &lock.read_section {
        put("read_section", &workload.read_section, &reads.classes);
    }
    if let (Some(sleep), Some(of)) = (&workload.sleep, lock.sleep) {
        put("sleep", sleep, &sleep_classes(of));
    }
    let _ = writeln!(text, "reads = {{ share = {}, {source} }}", workload.reads);
    Ok(text)
}

/// `text` with a space for each character that ends a quoted string.
fn plain(text: &str) -> String {
    let allowed = |c: char| {
        if c == '"' || c == '\\' || c.is_control() {
            ' '
        } else {
            c
        }
    };
    text.chars().map(allowed).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use lockwork_profile::demand::{Kind, Times};

    /// Two threads, 250 ns of every 1.25 µs inside.
    pub(crate) fn lock() -> Demand {
        Demand {
            name: "a \"lock\"".to_owned(),
            kind: Kind::Mutex,
            acquisitions: 1000,
            of_waiting: 1.0,
            threads: 2.0,
            rate: 1.6e6,
            whole_rate: 1.6e6,
            held: 0.2,
            reads: 0.0,
            held_beyond: false,
            section: Times {
                mean: 250.0,
                classes: vec![(128.0, 256.0, 600), (256.0, 512.0, 400)],
            },
            read_section: None,
            think: Times {
                mean: 1000.0,
                classes: Vec::new(),
            },
            sleep: None,
            left_out: None,
            partner: None,
        }
    }

    fn kind(time: &Time) -> std::mem::Discriminant<Time> {
        std::mem::discriminant(time)
    }

    #[test]
    fn a_lock_becomes_a_workload() {
        let workload = of(&lock(), Thinking::Fixed, "x").expect("it");
        assert_eq!(workload.think, Time::Fixed(1000.0));
        assert!((workload.section.mean() - 250.0).abs() < 1e-9);
        assert_eq!(workload.threads, [2]);
        let idle = Demand {
            sleep: Some((0.01, 50_000.0)),
            ..lock()
        };
        let workload = of(&idle, Thinking::Exponential, "x").expect("it");
        let sleep = workload.sleep.expect("it sleeps");
        assert!((sleep.mean() - 500.0).abs() < 1e-6, "{}", sleep.mean());
    }

    #[test]
    fn its_file_is_the_same_workload() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("x.toml");
        for lock in [
            lock(),
            Demand {
                think: Times {
                    mean: 900.0,
                    classes: vec![(512.0, 1024.0, 7), (2048.0, 4096.0, 1)],
                },
                reads: 0.75,
                read_section: Some(Times {
                    mean: 70.0,
                    classes: vec![(64.0, 128.0, 3)],
                }),
                sleep: Some((0.01, 50_000.0)),
                ..lock()
            },
        ] {
            for thinking in thinkings(&lock) {
                let made = of(&lock, *thinking, "x").expect("it");
                let text = file(&made, &lock, &["mutex"], "a \"profile\"").expect("written");
                std::fs::write(&path, text).expect("written");
                let read = lockwork_sim::workload::load(path.to_str().expect("UTF-8"));
                let mut read = read.expect("right");
                assert_eq!(read.locks, ["mutex"]);
                assert_eq!(read.summary, "a  lock , as profiled");
                for (a, b) in [
                    (&read.section, &made.section),
                    (&read.read_section, &made.read_section),
                ] {
                    assert!((a.mean() - b.mean()).abs() < 1e-6);
                }
                assert!((read.think.mean() - made.think.mean()).abs() < 1e-6);
                assert_eq!(kind(&read.think), kind(&made.think));
                assert_eq!(read.sleep.is_some(), made.sleep.is_some());
                read.locks.clear();
                assert_eq!((read.reads, read.threads), (made.reads, made.threads));
                assert_eq!(read.measure_us, made.measure_us);
            }
        }
    }

    #[test]
    fn where_threads_share_cpus_slices_pass() {
        let machine = lockwork_sim::machine::load("vm-2cpu").expect("shipped");
        let workload = of(&lock(), Thinking::Fixed, "x").expect("it");
        assert_eq!(long_enough(&workload, &machine, 2).measure_us, LEAST_US.1);
        let slices = 10.0 * machine.scheduler.slice_us;
        assert_eq!(long_enough(&workload, &machine, 3).measure_us, slices);
    }
}
