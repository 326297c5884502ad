// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What about these simulations is to be kept in mind.

use super::plan::Plan;
use super::rows::Row;
use crate::outcome::Outcome;
use crate::settle::Verdict;
use crate::workload::Program;
use lockwork_report::text::counted;

/// Fewer acquisitions than this say little.
const FEW: u64 = 1000;

/// One sentence each.
pub(super) fn warnings(plan: &Plan, rows: &[Row]) -> Vec<String> {
    let mut all = plan.oddities.clone();
    if plan.seeds == 1 {
        all.push("only one seed: nothing says how much chance there is in this (--seeds)".into());
    }
    all.extend(alone(plan, rows));
    all.extend(exclusive(plan));
    all.extend(crowded(plan));
    all.extend(kept(plan));
    let short = concerned(rows, |row| (row.outcomes.len() as u64) < plan.seeds);
    if !short.is_empty() {
        all.push(format!("fewer seeds than asked for: {short}"));
    }
    all.extend(unsettled(rows));
    let few = concerned(rows, |row| row.acquisitions() < FEW);
    if !few.is_empty() {
        all.push(format!(
            "fewer than {FEW} acquisitions, so quantiles and shares are rough: {few}"
        ));
    }
    let starved = concerned(rows, |row| {
        row.outcomes
            .iter()
            .any(|outcome| outcome.done().contains(&0))
    });
    if !starved.is_empty() {
        all.push(format!(
            "threads that never got {}, in some seed; their waits are in no column: {starved}",
            if plan.workload.program.is_some() {
                "through a round"
            } else {
                "the lock"
            }
        ));
    }
    all
}

/// What is no steady state.
fn unsettled(rows: &[Row]) -> Vec<String> {
    let kinds = [
        (
            Verdict::Drifts,
            "not settled, the halves of the measured time differ",
        ),
        (
            Verdict::Short,
            "not settled, the measured time is too short to tell",
        ),
    ];
    let lines = kinds.into_iter().map(|(verdict, words)| {
        let is = |outcome: &&Outcome| outcome.settled == Some(verdict);
        let rows = concerned(rows, |row| row.outcomes.iter().any(is));
        (!rows.is_empty()).then(|| format!("{words} (--settle, --measure-us): {rows}"))
    });
    lines.flatten().collect()
}

/// Seeds that made no difference.
fn alone(plan: &Plan, rows: &[Row]) -> Option<String> {
    let same = |row: &Row| row.variation() == Some(0.0);
    let all = plan.seeds > 1 && !rows.is_empty() && rows.iter().all(same);
    all.then(|| "all seeds gave the same: nothing here is random, and CV says nothing".to_owned())
}

fn exclusive(plan: &Plan) -> Option<String> {
    let locks = plan.locks.iter().filter(|lock| !lock.is_rw);
    let names: Vec<&str> = locks.map(|lock| lock.name).collect();
    let program = plan.workload.program.as_ref();
    let shares = plan.workload.reads > 0.0 || program.is_some_and(Program::shares_compared);
    (shares && !names.is_empty()).then(|| {
        format!(
            "locks without readers take, and write, what others share: {}",
            names.join(", ")
        )
    })
}

fn crowded(plan: &Plan) -> Option<String> {
    let most = plan.threads.iter().max().copied().unwrap_or(0);
    let cpus = plan.cpus();
    (plan.workload.affinity && most > cpus).then(|| {
        format!(
            "affinity with more threads than CPUs ({most} on {cpus}): threads that share a CPU \
             cannot move to an idle one"
        )
    })
}

/// Locks for which the workload's word says nothing.
fn kept(plan: &Plan) -> Option<String> {
    let most = plan.threads.iter().max().copied().unwrap_or(0);
    let locks = plan.locks.iter().filter(|lock| !lock.sleeps);
    let names: Vec<&str> = locks.map(|lock| lock.name).collect();
    let preempts = plan.workload.preemptible && most > plan.cpus() && !names.is_empty();
    preempts.then(|| {
        format!(
            "the workload is preemptible, but who waits for a lock that only spins, or holds it, \
             keeps the CPU, as in a kernel: {}",
            names.join(", ")
        )
    })
}

/// The rows of which something is true: "tas_lock with 1 thread, …".
fn concerned(rows: &[Row], is: impl Fn(&Row) -> bool) -> String {
    let text = |row: &Row| format!("{} with {}", row.lock, counted(row.threads, "thread"));
    let all: Vec<String> = rows.iter().filter(|row| is(row)).map(text).collect();
    match all.len() {
        0..=6 => all.join(", "),
        more => format!("{}, and {} more", all[..5].join(", "), more - 5),
    }
}
