// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Workloads of roles: what their locks, queues and resources have to do with each other.

use super::{machine, outcome, setup, workload};
use crate::outcome::Outcome;
use crate::settle::Verdict;
use crate::workload::{Program, Queue, Resource, Role, SharedLock, Step, Time, What, Workload};
use crate::{simulate, Guests, Setup};

pub(super) fn always(what: What) -> Step {
    Step { chance: 1.0, what }
}

pub(super) fn think(ns: f64) -> Step {
    always(What::Think(Time::Fixed(ns)))
}

pub(super) fn section(lock: usize, ns: f64, inside: Vec<Step>) -> Step {
    always(What::Lock {
        lock,
        reads: 0.0,
        section: Time::Fixed(ns),
        read_section: Time::Fixed(ns),
        inside,
    })
}

fn uses(resource: usize, ns: f64) -> Step {
    always(What::Use {
        resource,
        time: Time::Fixed(ns),
    })
}

fn put(ns: f64) -> Step {
    always(What::Put {
        queue: 0,
        section: Time::Fixed(ns),
    })
}

fn get(ns: f64) -> Step {
    always(What::Get {
        queue: 0,
        section: Time::Fixed(ns),
    })
}

pub(super) fn role(name: &str, steps: Vec<Step>) -> Role {
    Role {
        name: name.to_owned(),
        parts: 1,
        steps,
    }
}

pub(super) fn lock(name: &str) -> SharedLock {
    SharedLock {
        name: name.to_owned(),
        kind: None,
        count: 1,
        lines: 1,
        packed: false,
    }
}

fn resource(servers: usize, busy: bool) -> Resource {
    Resource {
        name: "it".to_owned(),
        per_node: false,
        servers,
        busy,
        rate: None,
    }
}

pub(super) fn of(locks: Vec<SharedLock>, roles: Vec<Role>) -> Program {
    Program {
        locks,
        queues: Vec::new(),
        resources: Vec::new(),
        roles,
    }
}

fn queued(capacity: u64, roles: Vec<Role>) -> Program {
    let queue = Queue {
        name: "queue".to_owned(),
        kind: None,
        capacity,
    };
    Program {
        queues: vec![queue],
        ..of(Vec::new(), roles)
    }
}

fn with(program: Program) -> Workload {
    Workload {
        preemptible: true,
        program: Some(program),
        ..workload()
    }
}

fn found(kind: &str, threads: usize, program: Program) -> Outcome {
    found_in(kind, threads, with(program))
}

fn found_in(kind: &str, threads: usize, workload: Workload) -> Outcome {
    let machine = machine();
    outcome(&Setup {
        threads,
        ..setup(&machine, kind, &workload)
    })
}

/// Rounds of the threads of a role.
fn rounds(outcome: &Outcome, role: usize) -> u64 {
    let program = outcome.program.as_ref().expect("it has roles");
    let all = program.rounds.iter().zip(&program.roles);
    all.filter(|(_, of)| **of == role)
        .map(|(rounds, _)| rounds)
        .sum()
}

fn rw_locks() -> Vec<&'static str> {
    let all = crate::locks().expect("they load");
    all.iter()
        .filter(|lock| lock.is_rw)
        .map(|lock| lock.name)
        .collect()
}

#[test]
fn each_lock_excludes_and_is_counted_by_its_own_name() {
    for kind in ["mutex", "qspinlock_fair", "ticket_lock", "glibc_mutex"] {
        super::reset(None);
        let steps = vec![
            think(200.0),
            section(0, 30.0, vec![section(1, 10.0, vec![])]),
            section(1, 20.0, vec![]),
        ];
        let outcome = found(
            kind,
            9,
            of(vec![lock("outer"), lock("inner")], vec![role("all", steps)]),
        );
        super::WRONG.with_borrow(|wrong| assert!(wrong.is_empty(), "{kind}: {wrong:?}"));
        let program = outcome.program.as_ref().expect("it has roles");
        let [outer, inner] = [0, 1].map(|at| program.locks[at].acquisitions);
        let rounds = rounds(&outcome, 0);
        // A round has one and two; nine threads are in the middle of one.
        assert!(outer.abs_diff(rounds) <= 9, "{kind}: {outer} in {rounds}");
        assert!(
            inner.abs_diff(2 * rounds) <= 18,
            "{kind}: {inner} in {rounds}"
        );
        assert_eq!(outcome.acquisitions(), outer + inner, "{kind}");
        let waits: u64 = program.locks.iter().map(|lock| lock.waits.len()).sum();
        assert_eq!(outcome.waits.len(), waits, "{kind}");
        // A holder of the outer lock also waits for the inner lock and holds it for 10 ns.
        let held = program.locks[0].ns_held;
        assert!(
            held <= outcome.ns,
            "{kind}: held for {held} of {}",
            outcome.ns
        );
        assert!(
            held >= 40.0 * outer.saturating_sub(1) as f64,
            "{kind}: {held}"
        );
    }
}

#[test]
fn locks_taken_in_opposite_orders_are_a_deadlock() {
    let both = |first, second| vec![section(first, 50.0, vec![section(second, 50.0, vec![])])];
    let roles = vec![role("there", both(0, 1)), role("back", both(1, 0))];
    let program = of(vec![lock("one"), lock("two")], roles);
    let (machine, workload) = (machine(), with(program));
    let stuck = simulate(&Setup {
        threads: 4,
        ..setup(&machine, "mutex", &workload)
    })
    .expect("a possible setup")
    .expect_err("it cannot go on");
    assert!(stuck.what.starts_with("deadlock"), "{}", stuck.what);
}

#[test]
fn a_queue_keeps_its_items_and_its_room() {
    for kind in ["mutex", "mutex_xchg", "glibc_mutex", "qspinlock_fair"] {
        for capacity in [1, 7] {
            let roles = vec![
                role("put", vec![think(300.0), put(20.0)]),
                role("get", vec![get(20.0), think(700.0)]),
                role("get more", vec![get(20.0), think(100.0)]),
            ];
            let outcome = found(kind, 9, queued(capacity, roles));
            let put = rounds(&outcome, 0);
            let got = rounds(&outcome, 1) + rounds(&outcome, 2);
            // What is under way: items in the queue, and threads amid a round, at both ends
            // of the measured time.
            let most = capacity + 9;
            assert!(put > 20, "{kind}, {capacity}: {put}");
            assert!(
                put.abs_diff(got) <= most,
                "{kind}, {capacity}: {put}, {got}"
            );
        }
    }
}

#[test]
fn a_queue_that_nobody_fills_is_a_deadlock() {
    let program = queued(3, vec![role("get", vec![get(0.0)])]);
    let (machine, workload) = (machine(), with(program));
    let found = simulate(&setup(&machine, "mutex", &workload)).expect("a possible setup");
    let stuck = found.expect_err("it cannot go on");
    assert!(stuck.what.starts_with("deadlock"), "{}", stuck.what);
}

#[test]
fn a_resource_serves_so_many_uses_in_its_time() {
    let bounded = |servers, per_node, busy| {
        let one = Resource {
            per_node,
            ..resource(servers, busy)
        };
        let program = Program {
            resources: vec![one],
            ..of(
                vec![lock("lock")],
                vec![role(
                    "all",
                    vec![uses(0, 10_000.0), section(0, 0.0, vec![])],
                )],
            )
        };
        let long = Workload {
            measure_us: 2000.0,
            ..with(program)
        };
        found_in("mutex", 8, long)
    };
    for busy in [false, true] {
        for (servers, per_node, at_a_time) in [(1, false, 1.0), (3, false, 3.0), (1, true, 4.0)] {
            let outcome = bounded(servers, per_node, busy);
            let used = &outcome.program.as_ref().expect("it has roles").resources[0];
            let most = at_a_time * outcome.ns / 10_000.0;
            let uses = used.uses as f64;
            assert!(
                uses <= most + 8.0,
                "{uses} of {most}, {servers}, {per_node}"
            );
            assert!(
                uses >= 0.9 * most,
                "{uses} of {most}, {servers}, {per_node}"
            );
            let share = used.ns_busy / (used.servers as f64 * outcome.ns);
            assert!((0.9..=1.001).contains(&share), "busy for {share}");
        }
    }
    // Who sleeps meanwhile leaves the CPU to others.
    let [asleep, awake] = [false, true].map(|busy| bounded(1, false, busy).ns_busy);
    assert!(asleep < 0.5 * awake, "{asleep} and {awake}");
}

#[test]
fn locks_that_share_lines_are_slower() {
    let shards = |packed| {
        let shards = SharedLock {
            count: 16,
            packed,
            lines: 0,
            ..lock("shard")
        };
        let steps = vec![think(100.0), section(0, 20.0, vec![])];
        let program = of(vec![shards], vec![role("all", steps)]);
        found("tas_lock", 8, program).rate()
    };
    let (apart, packed) = (shards(false), shards(true));
    assert!(packed < 0.7 * apart, "{packed} and {apart}");
}

#[test]
fn readers_of_a_program_share_if_the_lock_can() {
    let steps = vec![
        think(100.0),
        always(What::Lock {
            lock: 0,
            reads: 1.0,
            section: Time::Fixed(2000.0),
            read_section: Time::Fixed(2000.0),
            inside: Vec::new(),
        }),
    ];
    let program = of(vec![lock("table")], vec![role("all", steps)]);
    let holders = |kind| {
        let outcome = found(kind, 8, program.clone());
        outcome.program.expect("it has roles").locks[0].ns_held / outcome.ns
    };
    assert!(holders("mutex") <= 1.0);
    for kind in rw_locks() {
        assert!(holders(kind) > 3.0, "{kind}");
    }
}

#[test]
fn a_program_needs_a_thread_for_each_part_and_locks_that_are_there() {
    let (machine, program) = (
        machine(),
        queued(
            1,
            vec![role("put", vec![put(0.0)]), role("get", vec![get(0.0)])],
        ),
    );
    let refused = |threads, program: &Program| {
        let workload = with(program.clone());
        let error = simulate(&Setup {
            threads,
            ..setup(&machine, "mutex", &workload)
        });
        error.expect_err("it is refused").to_string()
    };
    assert!(refused(1, &program).contains("2 parts"));
    let mut unknown = program.clone();
    unknown.queues[0].kind = Some("mutexx".to_owned());
    assert!(refused(2, &unknown).contains("mutexx"));
    let mut shared = of(
        vec![lock("table")],
        vec![role("all", vec![section(0, 0.0, vec![])])],
    );
    shared.locks[0].kind = Some("mutex".to_owned());
    if let What::Lock { reads, .. } = &mut shared.roles[0].steps[0].what {
        *reads = 0.5;
    }
    assert!(refused(2, &shared).contains("shared"));
}

#[test]
fn the_same_program_gives_the_same() {
    let workload = crate::workload::load("job-server").expect("it is in the program");
    let machine = crate::machine::load("epyc-7551").expect("it is in the program");
    let run = || {
        outcome(&Setup {
            threads: 16,
            ..setup(&machine, "mutex_numa", &workload)
        })
    };
    let (one, other) = (run(), run());
    assert_eq!(one.counts, other.counts);
    assert_eq!(one.done(), other.done());
}

/// A producer that is twice as fast as its consumer, and a queue for all that it makes: the
/// rounds of both stand still until it is full.
#[test]
fn a_queue_that_fills_has_not_settled() {
    let verdict = |capacity| {
        let makes = role("makes", vec![think(1000.0), put(20.0)]);
        let takes = role("takes", vec![think(2000.0), get(20.0)]);
        let workload = Workload {
            affinity: true,
            warmup_us: 100.0,
            measure_us: 500.0,
            ..with(queued(capacity, vec![makes, takes]))
        };
        found_in("ticket_lock", 2, workload).settled
    };
    assert_eq!(verdict(1_000_000), Some(Verdict::Drifts));
    assert_eq!(verdict(4), Some(Verdict::Settled));
}

/// The holder of a spinlock keeps its virtual CPU: it would halt it, and nobody would get on.
#[test]
fn nobody_sleeps_under_a_spinlock_on_virtual_cpus() {
    let sleeps = || vec![always(What::Sleep(Time::Fixed(1000.0)))];
    let holds = role(
        "holds",
        vec![section(0, 20.0, vec![section(1, 20.0, sleeps())])],
    );
    let workload = with(of(vec![lock("a"), lock("b")], vec![holds]));
    let machine = machine();
    let try_with = |kind: &str, guests| {
        let setup = Setup {
            threads: 2,
            guests,
            ..setup(&machine, kind, &workload)
        };
        simulate(&setup).map(|found| found.expect("it ends").rate() > 0.0)
    };
    let guests = Some(Guests::pinned(2));
    let error = try_with("ticket_lock", guests)
        .expect_err("it sleeps")
        .to_string();
    assert!(
        error.contains("of kind ticket_lock, which only spins"),
        "{error}"
    );
    assert!(try_with("mutex", guests).expect("a lock that sleeps"));
}
