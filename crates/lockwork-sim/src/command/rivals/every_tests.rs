// SPDX-License-Identifier: MIT OR GPL-2.0-only

use super::counters::{Counter, Counters};
use super::every::{all, kind, threads, Of, KINDS};
use super::every_page::section;
use super::found::{Cell, Found, Line};
use super::parts::{parts, Part};
use super::shared::{Entry, Shared};
use crate::command::commands::plan;
use crate::command::plan::Known;
use crate::machine;
use std::path::Path;

fn every() -> Vec<Part> {
    let all = all().into_iter();
    all.filter(|part| kind(part).is_some()).collect()
}

#[test]
fn every_file_of_a_machine_is_compared() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/machines");
    let files = std::fs::read_dir(dir).expect("data/machines");
    let names = files.filter_map(|file| {
        let name = file.expect("a file").file_name().into_string().ok()?;
        Some(name.strip_suffix(".toml")?.to_owned())
    });
    let names: Vec<String> = names.collect();
    assert!(names.len() > 20);
    assert_eq!(every().len(), KINDS.len());
    for part in every() {
        assert_eq!(part.commands.len(), names.len(), "{}", part.name);
        for name in &names {
            let has = |command: &String| command.contains(&format!(" --machine {name} "));
            assert!(part.commands.iter().any(has), "{}: {name}", part.name);
        }
    }
}

#[test]
fn threads_are_those_of_the_machine() {
    for (name, expected) in [
        ("epyc-9654", &[2, 8, 9, 192, 384][..]),
        ("dl980", &[2, 8, 10, 11, 80, 160]),
        ("power9-2s", &[2, 3, 8, 32, 128]),
        ("kh-40000-2s", &[2, 4, 5, 8, 64]),
        ("vm-2cpu", &[1, 2]),
        ("sapphire-rapids-16s", &[2, 8, 32, 34, 512, 1024]),
    ] {
        let machine = machine::load(name).expect("a machine");
        assert_eq!(threads(&machine), expected, "{name}");
    }
}

/// A machine's figures are its section's: the command is the same but for locks and threads,
/// and the section has all of these.
#[test]
fn what_a_section_has_is_not_simulated_again() {
    let known = Known::load().expect("the locks");
    let mut shared = Shared::default();
    for part in parts().iter().filter(|part| !part.has_guests()) {
        let plan = plan(&part.commands[0], &known).expect("a plan");
        let entry = |lock, threads| Entry {
            lock,
            is_rival: true,
            threads,
            cell: Cell::sample(1.0, 1.0),
            counter: Counter::default(),
        };
        let all = plan.locks.iter().flat_map(|lock| {
            plan.threads
                .iter()
                .map(move |&threads| entry(lock.name, threads))
        });
        shared.keep(&part.commands[0], &all.collect::<Vec<_>>());
    }
    let mut there = 0;
    for part in every() {
        let brief = |command: &&String| !command.contains("--seeds 1");
        for command in part.commands.iter().filter(brief) {
            let plan = plan(command, &known).expect("a plan");
            for lock in &plan.locks {
                for &threads in &plan.threads {
                    let found = shared.find(command, lock.name, threads);
                    assert!(found.is_some(), "{command}: {} {threads}", lock.name);
                    there += 1;
                }
            }
        }
    }
    assert!(there > 100);
}

#[test]
fn a_row_has_ours_against_the_rivals_and_who_waits_less() {
    let line = |lock, is_rival, cell| Line {
        lock,
        yields: None,
        is_rival,
        cells: vec![cell],
    };
    let lines = vec![
        line("qspinlock_fair", false, Cell::sample(1.0, 3.0)),
        line("numa_spinlock", false, Cell::sample(2.0, 6.0)),
        line("cna", true, Cell::sample(1.6, 12.0)),
        line("shfl_lock", true, Cell::sample(0.5, 3.0)),
    ];
    let mut counters = Counters::default();
    let of = |across, most_overtaken| Counter {
        across,
        most_overtaken,
        ..Counter::default()
    };
    counters.add([("numa_spinlock", of(0.02, 90)), ("shfl_lock", of(0.9, 1))]);
    let all = [Of {
        machine: "m".to_owned(),
        is_new: true,
        found: Found {
            columns: vec!["8".to_owned()],
            threads: vec![8],
            lines,
            besides: Vec::new(),
        },
        counters,
    }];
    let part = every().remove(0);
    let text = section(&part, &KINDS[0], &all, "rivals");
    let row = "| m | 8 | numa\\_spinlock | 2.000 | 6.000 | cna | 1.600 | 12.00 | 1.25 / 0.50 | \
               1.25 / 0.50 | – | 2.00 |";
    assert!(text.contains(row), "{text}");
    let sum = "Of 1 rows, ours has the highest throughput, or 1 % less at most, in 1; in 1 of";
    assert!(text.contains(sum), "{text}");
    let less =
        "| numa\\_spinlock | shfl\\_lock | 1 | 0.50 to 0.50 | 0.25 to 0.25 | m (8): a waiter \
                waits for the batches of other clusters: 2.0 % of our hand-overs leave the cluster \
                (its: 90.0 %); a waiter of ours is overtaken up to 90 times (its: 1) |";
    assert!(text.contains(less), "{text}");
}
