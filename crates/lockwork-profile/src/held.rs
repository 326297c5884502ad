// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How long a lock was held, where samples say that it was longer than there was time. Most holds are
//! estimated from some of them; a few long ones among these may stand for many short ones.

use crate::model::{Lock, Use};

/// An estimate that is so many times as long as there was time says nothing of a mean hold.
const FAR: f64 = 1.1;

/// Cuts the holds of `lock` off where the time ends: one thread holds it at a time, or each of `threads`
/// if it is held for reading.
pub fn cut_off(lock: &mut Lock, ticks: u64, threads: u64) {
    let one = |how| how != Use::Read && how != Use::Futex;
    let far = [
        scale(lock, one, ticks as f64),
        scale(
            lock,
            |how| how == Use::Read,
            ticks as f64 * threads.max(1) as f64,
        ),
    ];
    lock.held_beyond = far.contains(&true);
    let held = lock.sites.iter().filter(|site| site.how.acquires());
    if lock.is_lock() {
        lock.sum.held = held.map(|site| site.counts.held).sum();
    }
}

/// Brings the holds of these sites to `most` ticks, if they are more; whether they are far more.
fn scale(lock: &mut Lock, is_such: impl Fn(Use) -> bool, most: f64) -> bool {
    let sites = lock.sites.iter_mut();
    let mut such: Vec<_> = sites
        .filter(|site| site.how.acquires() && is_such(site.how))
        .collect();
    let held: f64 = such.iter().map(|site| site.counts.held).sum();
    if held <= most {
        return false;
    }
    for site in &mut such {
        site.counts.held *= most / held;
    }
    held > FAR * most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Counts, Site};

    /// A lock that was held so for these ticks, in a run of 1,000 with four threads.
    fn held(sites: &[(Use, f64)]) -> (Vec<f64>, f64, bool) {
        let site = |(how, held): &(Use, f64)| Site {
            address: 1,
            how: *how,
            counts: Counts {
                held: *held,
                ..Counts::default()
            },
        };
        let mut lock = Lock {
            sites: sites.iter().map(site).collect(),
            ..Lock::default()
        };
        cut_off(&mut lock, 1_000, 4);
        let sites = lock.sites.iter().map(|site| site.counts.held);
        (sites.collect(), lock.sum.held, lock.held_beyond)
    }

    #[test]
    fn no_lock_is_held_for_longer_than_the_run() {
        let of = |ticks: &[f64]| {
            let sites: Vec<_> = ticks.iter().map(|held| (Use::Mutex, *held)).collect();
            held(&sites)
        };
        assert_eq!(of(&[600.0, 300.0]), (vec![600.0, 300.0], 900.0, false));
        assert_eq!(of(&[525.0, 525.0]), (vec![500.0, 500.0], 1_000.0, false));
        assert_eq!(of(&[9_000.0, 1_000.0]), (vec![900.0, 100.0], 1_000.0, true));
    }

    #[test]
    fn readers_may_hold_it_together() {
        let all = [(Use::Read, 3_900.0), (Use::Write, 900.0)];
        assert_eq!(held(&all), (vec![3_900.0, 900.0], 4_800.0, false));
        let (sites, _, beyond) = held(&[(Use::Read, 40_000.0), (Use::Write, 900.0)]);
        assert_eq!((sites, beyond), (vec![4_000.0, 900.0], true));
    }
}
