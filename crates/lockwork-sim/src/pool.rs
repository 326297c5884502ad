// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Simulations side by side: each is a job of its own, and none waits for
//! another.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often `on_done` is called when nothing is done.
const TICK: Duration = Duration::from_millis(50);

/// As many jobs as the process has CPUs.
pub fn cpus() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Runs `f` on each item, `jobs` at once, in threads of their own.
///
/// `on_done` runs in the caller's thread: for each result with the item's index,
/// as they come, and with nothing every 50 ms, so that it can look for signals.
/// It may set `stop`: items that nobody has begun are then left out. What has
/// begun is finished. The results are in the items' order, `None` where left out.
pub fn run<T: Sync, R: Send>(
    jobs: usize,
    items: &[T],
    stop: &AtomicBool,
    f: impl Fn(&T) -> R + Sync,
    mut on_done: impl FnMut(Option<(usize, &R)>),
) -> Vec<Option<R>> {
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let next = AtomicUsize::new(0);
    let (f, next) = (&f, &next);
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            let sender = sender.clone();
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    if sender.send((index, f(item))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender); // the last worker to leave ends the loop below
        loop {
            match receiver.recv_timeout(TICK) {
                Ok((index, result)) => {
                    on_done(Some((index, &result)));
                    results[index] = Some(result);
                }
                Err(RecvTimeoutError::Timeout) => on_done(None),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        for jobs in [0, 1, 3, 99] {
            let items: Vec<u64> = (0..20).collect();
            let mut seen = Vec::new();
            let stop = AtomicBool::new(false);
            let results = run(
                jobs,
                &items,
                &stop,
                |n| n * n,
                |done| {
                    seen.extend(done.map(|(index, _)| index));
                },
            );
            let squares: Vec<_> = items.iter().map(|n| Some(n * n)).collect();
            assert_eq!(results, squares);
            seen.sort_unstable();
            assert_eq!(seen, (0..20).collect::<Vec<_>>());
        }
    }

    #[test]
    fn nothing_to_do_is_done_at_once() {
        let stop = AtomicBool::new(false);
        let results = run(2, &[], &stop, |n: &u64| *n, |_| ());
        assert_eq!(results, []);
    }

    #[test]
    fn what_nobody_began_is_left_out_after_a_stop() {
        let stop = AtomicBool::new(false);
        let items = [1, 2, 3, 4];
        let work = |n: &u64| {
            // As the signal would come while the second is at work.
            stop.fetch_or(*n == 2, Ordering::Relaxed);
            *n
        };
        let results = run(1, &items, &stop, work, |_| ());
        assert_eq!(results, [Some(1), Some(2), None, None]);
    }

    #[test]
    fn the_caller_is_asked_while_nothing_is_done() {
        let stop = AtomicBool::new(false);
        let go = AtomicBool::new(false);
        let wait = |_: &u64| {
            while !go.load(Ordering::Relaxed) {
                thread::yield_now();
            }
        };
        run(1, &[1], &stop, wait, |done| {
            if done.is_none() {
                go.store(true, Ordering::Relaxed);
            }
        });
        assert!(go.load(Ordering::Relaxed));
    }
}
