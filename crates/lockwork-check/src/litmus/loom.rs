// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What loom itself cannot do. A new version of it that can is told by these tests.
use loom::sync::atomic::AtomicU32;
use std::collections::BTreeSet;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

/// Each of some threads stores its number, from 1, to one word, and then loads it this
/// often. What the last loads of all of them may find.
fn store_and_load(threads: usize, loads: u32) -> Result<BTreeSet<Vec<u32>>, String> {
    let results = Arc::new(Mutex::new(BTreeSet::new()));
    let all = results.clone();
    let model = catch_unwind(AssertUnwindSafe(|| {
        loom::model(move || {
            let word = Arc::new(AtomicU32::new(0));
            let thread = |id: usize| {
                let word = word.clone();
                move || {
                    word.store(id as u32, Relaxed);
                    (0..loads).fold(0, |_, _| word.load(Relaxed))
                }
            };
            let others: Vec<_> = (2..=threads)
                .map(|id| loom::thread::spawn(thread(id)))
                .collect();
            let mut found = vec![thread(1)()];
            found.extend(
                others
                    .into_iter()
                    .map(|other| other.join().expect("it ends")),
            );
            all.lock().expect("no panic holds it").insert(found);
        });
    }));
    let found = results.lock().expect("no panic holds it").clone();
    model.map(|()| found).map_err(|panic| {
        let text = panic.downcast_ref::<String>();
        text.cloned().unwrap_or_default()
    })
}

/// loom keeps the modification order of a word as one vector for each store, and adds to
/// a store's vector when a load reads it. It does not add to those of later stores.
/// So three threads may each find the next one's store after their own: a circle, which
/// C11 forbids.
#[test]
fn loom_lets_three_stores_be_read_in_a_circle() {
    let circle = |found: BTreeSet<Vec<u32>>| found.contains(&vec![2, 3, 1]);
    let found = store_and_load(3, 1);
    assert_eq!(found.map(circle), Ok(true), "mended: see docs/proof.md");
    // Of two stores the order is kept.
    let found = store_and_load(2, 3).expect("results");
    assert!(
        found.contains(&vec![2, 2]) && !found.contains(&vec![2, 1]),
        "{found:?}"
    );
}

/// Then two of them have the same vector in the end, which loom takes for impossible.
#[test]
fn loom_fails_on_three_stores_that_nothing_orders() {
    let failure = store_and_load(3, 2).expect_err("mended: see docs/proof.md");
    assert!(
        failure.contains("assertion `left != right` failed"),
        "{failure}"
    );
}
