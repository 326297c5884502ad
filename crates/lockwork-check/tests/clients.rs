// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Every lock of the catalogue is proved, deep enough, and so are the parts of the user
//! world that need no system call.
use lockwork_check::{clients, locks, logic_mutants, rivals, subjects};
use lockwork_check::{Bound, Client, RIVAL_SOURCES};

fn of(lock: &str) -> Vec<Client> {
    let mut all = clients();
    all.retain(|client| client.lock() == lock);
    all
}

/// Three threads, two acquisitions each, two preemptions: the least that finds
/// a write barrier that is missing before the exchange of a queue's tail.
fn is_deep(bound: Bound) -> bool {
    let enough = bound.preemptions.is_none_or(|preemptions| preemptions >= 2);
    bound.threads >= 3 && bound.acquisitions >= 2 && enough
}

#[test]
fn each_lock_has_a_client_that_goes_deep() {
    assert!(!locks().is_empty(), "the catalogue is empty");
    for lock in locks() {
        let deep = of(lock).iter().any(|client| is_deep(client.bound()));
        assert!(deep, "no client follows {lock} to 3x2@2");
    }
}

/// Mistakes in ordering follow from the tags; what a lock does wrong beyond
/// them, only its clients' file can name.
#[test]
fn each_lock_has_a_mistake_in_logic_to_find() {
    let mistakes = logic_mutants();
    for lock in locks() {
        let clients = of(lock);
        let found = mistakes
            .iter()
            .any(|mistake| clients.iter().any(|client| client.stem() == mistake.stem));
        assert!(found, "the file with the clients of {lock} names no mutant");
    }
}

/// What is not in the catalogue is a part of the user world, and called as its file is.
#[test]
fn each_client_is_of_a_lock_or_a_part() {
    let parts = &subjects()[locks().len()..];
    assert_eq!(parts, ["cluster", "forks", "once", "slots", "waits"]);
    for client in clients() {
        let (lock, name) = (client.lock(), client.name());
        let known = locks().contains(&lock) || lock == client.stem();
        assert!(known, "{lock}/{name}: no such lock");
        let same = of(lock).iter().filter(|other| other.name() == name).count();
        assert_eq!(same, 1, "{lock}/{name} is there twice");
    }
}

/// The names in the baselines' operations: `.name = "cna",`.
fn baselines() -> Vec<&'static str> {
    let lines = RIVAL_SOURCES.iter().flat_map(|(_, text)| text.lines());
    let names = lines.filter_map(|line| line.trim().strip_prefix(".name = \""));
    names.filter_map(|rest| rest.strip_suffix("\",")).collect()
}

/// Kept with the faults that it was published with.
const FAULTY: &str = "mutex_numa_2024";

/// One preemption less: more of some rivals do not end in minutes.
fn is_rather_deep(bound: Bound) -> bool {
    let preemptions = bound.preemptions.map(|preemptions| preemptions + 1);
    is_deep(Bound {
        preemptions,
        ..bound
    })
}

#[test]
fn each_rival_is_proved_and_goes_deep_but_the_one_with_faults() {
    let all = baselines();
    assert!(all.contains(&FAULTY) && all.len() > 10, "{all:?}");
    for lock in all {
        let own = rivals().into_iter().filter(|client| client.lock() == lock);
        let deep = own.into_iter().any(|client| is_rather_deep(client.bound()));
        assert_eq!(deep, lock != FAULTY, "{lock}");
    }
    for client in rivals() {
        let known = baselines().contains(&client.lock());
        assert!(known, "{}: no such rival", client.lock());
    }
}
