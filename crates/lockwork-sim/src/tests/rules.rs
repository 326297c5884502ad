// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The rules that can be left out: each one does what it says.

use super::{epyc, outcome, setup, workload};
use crate::machine::{self, Distance, Machine};
use crate::outcome::Outcome;
use crate::workload::{Time, Workload};
use crate::{Placement, Rules, Setup};

fn without(rule: &str) -> Rules {
    Rules::without(&[rule.to_owned()]).expect("a rule")
}

/// A ticket lock: all waiters read each hand-over.
fn tickets(machine: &Machine, rules: Rules) -> Outcome {
    let wanting = Workload {
        affinity: true,
        think: Time::Fixed(100.0),
        measure_us: 1000.0,
        ..workload()
    };
    outcome(&Setup {
        threads: 32,
        cpus: 0,
        placement: Placement::Compact,
        rules,
        ..setup(machine, "ticket_lock", &wanting)
    })
}

/// Lines from beyond the cluster, and from within it, for each acquisition.
fn moved(outcome: &Outcome) -> (f64, f64) {
    let each = |n: u64| n as f64 / outcome.acquisitions() as f64;
    let within = outcome.counts.moved[Distance::Cluster as usize];
    let all: u64 = outcome.counts.moved.iter().sum();
    (each(all - within), each(within))
}

#[test]
fn a_cluster_fetches_a_line_once() {
    let machine = epyc();
    let (far, near) = moved(&tickets(&machine, Rules::default()));
    let (far_without, near_without) = moved(&tickets(&machine, without("cluster-fill")));
    // Eight clusters of four, two changes of the line for each acquisition.
    assert!(
        far_without > 1.5 * far,
        "{far_without} and {far} from other clusters"
    );
    assert!(
        near_without < near,
        "{near_without} and {near} from the own one"
    );
    assert!(near > far, "{near} and {far}");
}

#[test]
fn loads_within_a_cluster_do_not_keep_the_line() {
    let machine = epyc();
    let with = tickets(&machine, Rules::default()).rate();
    let ordered = tickets(&machine, without("cache-order")).rate();
    let plain = tickets(&machine, without("cluster-fill")).rate();
    assert!(with > ordered, "{with} and {ordered}");
    assert!(ordered > plain, "{ordered} and {plain}");
}

#[test]
fn threads_of_a_core_share_it() {
    let machine = machine::load("dl980").expect("it is in the program");
    let quiet = Workload {
        affinity: true,
        think: Time::Exponential(100_000.0),
        measure_us: 2000.0,
        ..workload()
    };
    let rate = |threads: usize, rules| {
        let found = outcome(&Setup {
            threads,
            cpus: 0,
            placement: Placement::Compact,
            rules,
            ..setup(&machine, "mcs_lock", &quiet)
        });
        found.rate() / threads as f64
    };
    // CPUs 0 to 79 are the first threads of the cores.
    let [alone, both] = [40, 160].map(|threads| rate(threads, Rules::default()));
    let apart = rate(160, without("smt-share"));
    assert!(both < 0.8 * apart, "{both} and {apart}");
    assert!(alone > both, "{alone} and {both}");
    assert_eq!(rate(40, without("smt-share")), alone);
}

#[test]
fn a_read_modify_write_at_the_head_of_the_queue_costs_little() {
    let machine = machine::load("westmere-ex-4s").expect("it is in the program");
    let loops = Workload {
        affinity: true,
        think: Time::Fixed(5.0),
        section: Time::Fixed(10.0),
        lines: 0,
        measure_us: 1000.0,
        ..workload()
    };
    let over = |rules| {
        let [store, rmw] = ["qspinlock_fair", "qspinlock_fair_rmw"].map(|lock| {
            let found = outcome(&Setup {
                threads: 4,
                cpus: 0,
                placement: Placement::PerNode,
                rules,
                ..setup(&machine, lock, &loops)
            });
            found.rate()
        });
        store / rmw
    };
    let [early, late] = [Rules::default(), without("early-store")].map(over);
    // Published: 1 to 4 %.
    assert!((0.98..1.08).contains(&early), "{early}");
    assert!(late > early + 0.1, "{late} and {early}");
}

#[test]
fn a_load_from_the_own_cache_hides_behind_what_is_computed() {
    let machine = machine::load("westmere-ex-4s").expect("it is in the program");
    let round = |section, rules| {
        let alone = Workload {
            think: Time::Fixed(0.0),
            section: Time::Fixed(section),
            lines: 0,
            measure_us: 100.0,
            ..workload()
        };
        let found = outcome(&Setup {
            threads: 1,
            cpus: 0,
            rules,
            ..setup(&machine, "ticket_lock", &alone)
        });
        found.ns / found.acquisitions() as f64
    };
    // The unlock of a ticket lock loads its number.
    let load = machine.costs[Distance::Own as usize].load;
    for (section, hidden) in [(10.0, load), (1.0, 1.0), (0.0, 0.0)] {
        let [with, without] = [Rules::default(), without("early-load")];
        let found = round(section, without) - round(section, with);
        assert!((found - hidden).abs() < 0.02, "{section}: {found}");
    }
}

#[test]
fn an_island_takes_a_free_lock_before_others_see_that_it_is_free() {
    let machine = machine::load("dl980").expect("it is in the program");
    let wanting = Workload {
        affinity: true,
        think: Time::Fixed(100.0),
        measure_us: 3000.0,
        ..workload()
    };
    // All that see it free ask for its line.
    let rate = |rules| {
        let found = outcome(&Setup {
            threads: 80,
            cpus: 0,
            placement: Placement::Compact,
            rules,
            ..setup(&machine, "rwlock", &wanting)
        });
        found.rate()
    };
    let [with, without] = [Rules::default(), without("island-first")].map(rate);
    assert!(with > 1.2 * without, "{with} and {without}");
}

#[test]
fn few_active_cores_run_faster() {
    let machine = epyc();
    let computing = Workload {
        affinity: true,
        think: Time::Fixed(10_000.0),
        measure_us: 12_000.0,
        ..workload()
    };
    let gain = |threads| {
        let [with, without] = [Rules::default(), without("boost")].map(|rules| {
            let found = outcome(&Setup {
                threads,
                cpus: 0,
                placement: Placement::Compact,
                rules,
                ..setup(&machine, "mcs_lock", &computing)
            });
            found.ns_busy / found.acquisitions() as f64
        });
        without / with
    };
    let all = 3.0 / 2.55;
    let [one, twelve, many] = [1, 12, 32].map(gain);
    assert!((one / all - 1.0).abs() < 0.01, "{one}");
    // Lines from other cores take as long as before.
    assert!(twelve < all && twelve > 1.1, "{twelve}");
    assert!((many - 1.0).abs() < 0.01, "{many}");
}
