// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The clients in which a spinner is cut off meet what they are there for.
use super::ONE;
use crate::client::{clients, SOURCES};
use crate::explore::{run, Method, Task};

/// Enough to meet each step that the clients meet at all.
const LIMIT: u64 = 5_000;

/// The line of this text in `cancel_queue.h`.
fn line_of(text: &str) -> u32 {
    let source = SOURCES.iter().find(|source| source.0 == "cancel_queue.h");
    let mut lines = source.expect("the file").1.lines();
    lines.position(|line| line.contains(text)).expect(text) as u32 + 1
}

/// How often a thread of the client came to that line.
fn reached(lock: &str, name: &str, line: u32) -> u64 {
    let mut all = clients().into_iter();
    let client = all.find(|client| client.lock() == lock && client.name() == name);
    let client = client.expect("the client");
    let task = Task {
        method: Method::Exhaustive,
        bound: client.bound(),
        schedules: 0,
        seed: 1,
        seconds: client.seconds(),
        mutant: None,
        limit: Some(LIMIT),
    };
    let one = ONE.lock().unwrap_or_else(|broken| broken.into_inner());
    // The engine's state is a thread's.
    let outcome = std::thread::spawn(move || run(client, &task, &|_| ())).join();
    drop(std::panic::take_hook());
    drop(one);
    let outcome = outcome.expect("the explorer ends");
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    let mut there = outcome.reached.iter();
    there
        .find(|site| site.0 == "cancel_queue.h" && site.1 == line)
        .map_or(0, |site| site.4)
}

#[test]
fn a_spinner_leaves_the_end_of_the_queue() {
    let leaves = line_of("return try_cmpxchg_relaxed(&node->place");
    for lock in ["mutex", "rwsem"] {
        assert_ne!(reached(lock, "cut_off", leaves), 0, "{lock}");
    }
}

#[test]
fn a_spinner_leaves_from_between_two_others() {
    let links_past_it = line_of("WRITE_ONCE(prev->next, next)");
    for lock in ["mutex", "rwsem"] {
        let times = reached(lock, "cut_off_between", links_past_it);
        assert_ne!(times, 0, "{lock}");
        // Three threads are too few for that.
        assert_eq!(reached(lock, "cut_off", links_past_it), 0, "{lock}");
    }
}
