// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Every lock of the catalogue is proved, deep enough, and so are the parts of the user
//! world that need no system call.
use lockwork_check::{clients, locks, logic_mutants, subjects, Bound, Client};

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
    assert_eq!(parts, ["forks", "once", "slots", "waits"]);
    for client in clients() {
        let (lock, name) = (client.lock(), client.name());
        let known = locks().contains(&lock) || lock == client.stem();
        assert!(known, "{lock}/{name}: no such lock");
        let same = of(lock).iter().filter(|other| other.name() == name).count();
        assert_eq!(same, 1, "{lock}/{name} is there twice");
    }
}
