// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Locks that divide themselves, forced to do so thousands of times: by count, not
//! by time.
use lockwork_torture::{choose, torture, LockReport, Plan, Stop, Verdict};

/// Divisions of each lock, at least; each of them ends by a joining.
const WANTED: u64 = 2000;
/// Runs that may be needed for that: each divides tens of times at the least.
const RUNS: u32 = 200;

fn sum(report: &LockReport, events: &[&str]) -> u64 {
    let counted = events.iter().map(|event| report.events.get(*event));
    counted.map(|sum| sum.copied().unwrap_or(0)).sum()
}

fn one(name: &str) -> LockReport {
    let kind = choose(name).expect("in the catalogue")[0];
    let plan = Plan {
        stop: Stop::Operations(1000),
        ..Plan::quick().only(&["switching"])
    };
    let report = torture(kind, &plan, &mut |_| {});
    let mut rows = report.properties.iter();
    let row = rows
        .find(|row| row.property == "switching")
        .expect("its row");
    assert!(matches!(row.verdict, Verdict::Pass(_)), "{report}");
    report
}

fn thousands(name: &str) {
    let mut opened = 0;
    for _ in 0..RUNS {
        let report = one(name);
        let now = sum(&report, &["numa_opened"]);
        let closed = ["numa_closed_idle", "numa_closed_poor", "numa_closed_off"];
        assert_eq!(sum(&report, &closed), now, "{report}");
        opened += now;
        if opened >= WANTED {
            return;
        }
    }
    panic!("{name} was divided {opened} times in {RUNS} runs");
}

#[test]
fn numa_osq_divides_and_joins_thousands_of_times() {
    thousands("numa_osq");
}

#[test]
fn mutex_numa_divides_and_joins_thousands_of_times() {
    thousands("mutex_numa");
}
