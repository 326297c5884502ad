// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! With outcomes made by hand; crates/lockwork-cli/tests/sim.rs has real ones.

mod files;
mod planning;
mod sweeping;
mod tables;

use super::ending::told;
use super::plan::Job;
use super::rows::Row;
use super::simulations::End;
use super::*;
use crate::machine::Distance;
use crate::outcome::{Counts, Doing, Event, OfLocks, Outcome, Stuck, WaitSplit};
use crate::settle::Verdict;
use crate::{Found, Knob, Lock, Setup};
use clap::Parser;
use hdrhistogram::Histogram;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: SimArgs,
}

fn args(words: &[&str]) -> SimArgs {
    let all = [&["sim"], words].concat();
    Command::try_parse_from(all).expect("arguments").args
}

fn known() -> Known {
    let plain = [
        "ticket_lock",
        "qspinlock_fair",
        "qspinlock_steal",
        "tas_lock",
    ];
    let lock = |(name, is_rw)| Lock {
        name,
        summary: "a lock",
        sleeps: false,
        is_rw,
        needs_clusters: name == "qrwlock",
        is_baseline: name == "tas_lock",
    };
    let shared = ["rwlock", "qrwlock"].map(|name| (name, true));
    let plain = plain.into_iter().map(|name| (name, false));
    let knob = |name, min, max| Knob {
        name,
        help: "a knob",
        words: Vec::new(),
        min,
        max,
        default: min,
    };
    Known {
        locks: plain.chain(shared).map(lock).collect(),
        knobs: vec![knob("depth", 5, 32), knob("limit", 0, 1)],
        events: vec!["opened", "local", "closed"],
    }
}

fn plan(words: &[&str]) -> Plan {
    Plan::of(&args(words), &known()).unwrap_or_else(|error| panic!("{error:#}"))
}

fn refused(words: &[&str]) -> String {
    let error = Plan::of(&args(words), &known()).expect_err("a mistake");
    format!("{error:#}")
}

/// A simulation in which each thread acquired so often in 1 ms.
fn outcome(by_thread: &[u64]) -> Outcome {
    let mut waits = Histogram::new(3).expect("a histogram");
    let total = by_thread.iter().sum();
    waits.record_n(2000, total).expect("recorded");
    let mut counts = Counts {
        loads: total * 3,
        stores: total,
        rmws: total * 2,
        link_bytes: vec![0, total * 64, total * 64, 0],
        wakeups: total / 2,
        useful_wakeups: total / 4,
        refused_sleeps: 0,
        ..Counts::default()
    };
    counts.moved[Distance::Hop1 as usize] = total;
    counts.handovers[Distance::Cluster as usize] = total * 3 / 4;
    counts.handovers[Distance::Hop1 as usize] = total / 4;
    Outcome {
        ns: 1e6,
        by_thread: by_thread.to_vec(),
        reads: 0,
        waits,
        read_waits: Histogram::new(3).expect("a histogram"),
        overtakes: Histogram::new(3).expect("a histogram"),
        split: WaitSplit {
            queueing: total as f64 * 1500.0,
            transfer: total as f64 * 500.0,
            ..WaitSplit::default()
        },
        ns_in_lock: 25.0,
        ns_waited: 0.0,
        ns_busy: 100.0,
        counts,
        batches: Vec::new(),
        settled: Some(Verdict::Settled),
        finished_ns: None,
        operations: 1,
        seconds: 0.5,
        timeline: Vec::new(),
        program: None,
        vms: Vec::new(),
    }
}

/// As a simulator would: depends on the setup and on nothing else.
fn fake(setup: &Setup) -> Result<Found> {
    let each = 1000 * setup.lock.len() as u64 + setup.seed;
    let mut outcome = outcome(&vec![each; setup.threads]);
    outcome.finished_ns = setup.workload.loops.map(|n| n as f64 * 1e3);
    Ok(Ok(outcome))
}

fn stuck(setup: &Setup) -> Result<Found> {
    if setup.lock != "tas_lock" {
        return fake(setup);
    }
    Ok(Err(Stuck {
        what: "deadlock at 5 µs".to_owned(),
        threads: vec!["thread 0: CPU 0, waits at tas_lock.h:7".to_owned()],
    }))
}

fn done(plan: &Arc<Plan>, jobs: usize, simulate: Simulate) -> (Vec<Done>, End) {
    simulations::run(plan, jobs, simulate, &mut |_| Ok(())).expect("simulated")
}

/// The cells of the row that begins with these words, and those of the header.
fn cells(text: &str, heading: &str, row: &[&str]) -> (Vec<String>, Vec<String>) {
    let mut lines = text.lines().skip_while(|line| !line.contains(heading));
    let split = |line: &str| -> Vec<String> {
        let cells = line.split("  ").map(str::trim);
        cells
            .filter(|cell| !cell.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let mut header = split(lines.next().expect(heading));
    if heading.starts_with("Why") {
        header = split(lines.next().expect("a header"));
    }
    let found = lines.map(split).find(|cells| cells[..2] == *row);
    (header, found.expect("the row"))
}

fn cell(text: &str, heading: &str, row: &[&str], column: &str) -> String {
    let (header, cells) = cells(text, heading, row);
    let at = header.iter().position(|name| name == column);
    cells[at.unwrap_or_else(|| panic!("no {column} in {header:?}"))].clone()
}
