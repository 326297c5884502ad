// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What loom itself cannot do. A new version of it that can is told by these tests.
use loom::sync::atomic::AtomicU32;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

/// Threads that store to one word, and then load it this often.
fn store_and_load(threads: u32, loads: u32) -> Result<(), String> {
    let result = catch_unwind(AssertUnwindSafe(|| {
        loom::model(move || {
            let word = Arc::new(AtomicU32::new(0));
            let thread = |id: u32| {
                let word = word.clone();
                move || {
                    word.store(id, Relaxed);
                    for _ in 0..loads {
                        word.load(Relaxed);
                    }
                }
            };
            let others: Vec<_> = (1..threads)
                .map(|id| loom::thread::spawn(thread(id)))
                .collect();
            thread(threads)();
            for other in others {
                other.join().expect("it ends");
            }
        });
    }));
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>();
        text.cloned().unwrap_or_default()
    })
}

/// loom keeps the modification order of a word as one vector for each store, and adds to
/// a store's vector when a load reads it. It does not add to those of later stores.
/// So three stores that nothing orders can be read in a circle, until two of them
/// have the same vector: that it takes for impossible.
#[test]
fn loom_fails_on_three_stores_that_nothing_orders() {
    assert_eq!(store_and_load(2, 3), Ok(()));
    let failure = store_and_load(3, 2).expect_err("loom can do it now: see docs/proof.md");
    assert!(
        failure.contains("assertion `left != right` failed"),
        "{failure}"
    );
}
