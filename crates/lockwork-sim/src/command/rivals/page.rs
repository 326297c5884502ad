// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The page: its text, and the section of each part.

use super::found::{range, Cell, Found, Line};
use super::guests;
use super::parts::Part;
use lockwork_report::page::{self, Kind};
use lockwork_report::text::number;
use std::fmt::Write;

/// What stands before the sections.
pub(super) const HEAD: &str = "\
<!-- SPDX-License-Identifier: MIT OR GPL-2.0-only -->
# Rivals

How Lockwork's locks compare with published ones. The program wrote this page: `lockwork
rivals --write docs/rivals.md`. All figures are simulated ([sim.md](sim.md)), on machines whose
latencies are published or assumed ([machines.md](machines.md)); none of these machines but
`westmere-ex-4s` was fitted to a measurement of locks. A simulation is not a measurement.

The rivals are written from their papers. The file of each, in
[`crates/lockwork-sim/baselines/`](../crates/lockwork-sim/baselines), says from which, and what
it leaves out. `lockwork check --rivals` model-checks them, but for `mutex_numa_2024`, which is
kept with its known faults. A rival may be faster in its authors' code, on a real machine, or
with another setting.

In the tables **bold** is a lock of Lockwork. *Mops/s* is million acquisitions a second, all
threads together. *Longest* is the longest wait of any thread that got the lock, in µs, over
all seeds. *Jain* is Jain's index of fairness over the threads' acquisitions: 1 is even.
*Lines* are the cache lines that came from another cache or from memory, for each acquisition.
The last three are those of the last column. *48 on 1/3* is 48 threads on virtual CPUs of
which three share a CPU; *24 on 1/1.5*: half of the CPUs have two. Locks that serve waiters by clusters of CPUs are left out on a machine
with one cluster.

Some machines have sections of their own, and two sections have [every
machine](#spinlocks-on-every-machine), up to 1,024 CPUs. The last one says [where ours is
behind](#where-ours-is-behind), and why.

What no column shows: the locks' sizes; that `cohort` is 4 KiB, and that the queue locks need
a node for each holder; that waiters of `numa_osq` can leave the queue, which costs it 2 to 4 % where it is divided and up to
15 % where it is not ([numa_osq](locks/numa_osq.md#measured)); how a lock behaves when it is not contended by all threads at
once.
";

/// What the page is made of.
pub(super) const KIND: Kind = Kind {
    noun: "part",
    writer: "lockwork rivals --write",
};

/// The section of a part, its marks included; `charts` is the folder, as the page names it.
pub(super) fn section(part: &Part, found: &Found, charts: &str) -> String {
    let mut text = format!("## {}\n\n```\n", part.title);
    for command in part.all() {
        let _ = writeln!(text, "lockwork sim {command}");
    }
    text += "```\n\n";
    let _ = writeln!(text, "{}", self::charts(part, charts));
    if part.has_guests() {
        text += &guests::text(part, found);
    } else {
        text += &rates(found);
        text += "\nLongest wait, µs:\n\n";
        text += &table(found, &[], |cell| vec![number(cell.longest)]);
        text += &queue(found);
    }
    KIND.section(&part.name, &text)
}

/// The charts of a part, as the page has them.
pub(super) fn charts(part: &Part, folder: &str) -> String {
    let name = &part.name;
    format!(
        "![throughput]({folder}/{name}-throughput.svg)\n![longest wait]({folder}/{name}-longest.svg)\n"
    )
}

/// The queue that the NUMA-aware mutex spins in, beside the rivals it was asked to be held
/// against. Empty if one of them is not there.
fn queue(found: &Found) -> String {
    const LEAST: usize = 8;
    let against = |rival: &str| {
        let [ours, rival] = [found.plain("numa_osq")?, found.plain(rival)?];
        let all = ours.cells.iter().zip(&rival.cells).zip(&found.threads);
        let many = all.filter(|(_, &threads)| threads >= LEAST);
        let (least, most) = range(many.map(|((ours, rival), _)| ours.rate / rival.rate));
        Some(format!("{least:.2} to {most:.2}"))
    };
    match (against("cna"), against("hq_spinlock")) {
        (Some(cna), Some(hq)) => format!(
            "\nWith {LEAST} and more threads `numa_osq` has {cna} times the throughput of `cna`, and {hq} \
             times that of `hq_spinlock`.\n"
        ),
        _ => String::new(),
    }
}

fn rates(found: &Found) -> String {
    let more = ["Longest", "Jain", "Lines"];
    let mut text = String::from("Mops/s by threads, and what else the last column has:\n\n");
    text += &table(found, &more, |cell| {
        vec![
            number(cell.rate),
            number(cell.longest),
            format!("{:.2}", cell.jain),
            number(cell.lines),
        ]
    });
    text
}

/// The first of `cells` of each column, and all others of the last one.
fn table(found: &Found, more: &[&str], cells: impl Fn(&Cell) -> Vec<String>) -> String {
    let columns = found.columns.iter().map(String::as_str);
    let header: Vec<&str> = ["Lock"]
        .into_iter()
        .chain(columns)
        .chain(more.iter().copied())
        .collect();
    let row = |line: &Line| {
        let mut row = vec![line.name()];
        let all: Vec<Vec<String>> = line.cells.iter().map(&cells).collect();
        row.extend(all.iter().map(|cells| cells[0].clone()));
        if let Some(last) = all.last() {
            row.extend(last[1..].iter().cloned());
        }
        row
    };
    let rows: Vec<Vec<String>> = found.lines.iter().map(row).collect();
    page::table(&header, &rows)
}
