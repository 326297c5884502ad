// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Waiting that is in no lock's figures, and that may be much: where it is, nobody may say that
//! there is nothing to win.

use lockwork_report::text::whole;

use crate::model::{mean, Profile, Use};

/// Less waiting than this share of the threads' time is nothing to win.
pub const NOTHING: f64 = 0.005;
/// About what a thread waits, in nanoseconds, for a mutex that another one holds: a wake-up and a
/// short section. Only the order of magnitude matters.
const WAIT_NS: f64 = 20_000.0;
/// Each process sleeps so often.
const FEW: u64 = 100;

/// How often a thread took a mutex back at the end of a wait for a condition variable: not at the
/// end of a deadline, for which nothing woke it. 0 if that can hardly have taken time, or is seen.
pub fn taken_back(profile: &Profile) -> u64 {
    if profile.sees_back {
        return 0;
    }
    let (mut ends, mut waited) = (0, 0);
    for condvar in profile.locks.iter().filter(|lock| lock.has(Use::Wait)) {
        let waits = condvar.of(Use::Wait);
        ends += waits.count.saturating_sub(waits.timeouts);
        waited += waits.waited;
    }
    let most = (ends as f64 * WAIT_NS).min(profile.ns(waited as f64) as f64);
    match most >= NOTHING * time(profile) {
        true => ends,
        false => 0,
    }
}

/// Of all threads, in nanoseconds. They are taken to live as long as the process.
fn time(profile: &Profile) -> f64 {
    (profile.seconds * profile.threads.max(1) as f64 * 1e9).max(1.0)
}

fn of_taking_back(times: u64) -> String {
    format!(
        "{} waits for condition variables ended with taking a mutex back, and how long threads waited \
         for that is not seen",
        whole(times)
    )
}

/// How often threads slept in calls that no interposer sees, or in futex calls of locks that are
/// not pthread's. 0 if that is seldom, or less often than in the calls that are seen.
pub fn elsewhere(profile: &Profile) -> u64 {
    let of = |how| {
        let locks = profile.locks.iter().map(move |lock| lock.of(how));
        locks.fold((0, 0), |(count, ticks), c| {
            (count + c.count, ticks + c.waited)
        })
    };
    let ((waits, _), (futexes, waited)) = (of(Use::Wait), of(Use::Futex));
    let sum = profile.sum();
    // Sleeps were counted in a sample of the waits for locks. A thread that waits for a condition
    // variable may sleep twice: for it, and then for the mutex.
    let each = mean(sum.slept as f64, sum.watched).max(1.0);
    let known = (sum.contended as f64 * each) as u64 + 2 * waits;
    let slept = profile.slept.unwrap_or(0);
    let unknown = match slept.saturating_sub(known) {
        rest if rest * 2 >= slept => rest,
        _ => 0,
    };
    let is_much = |ns: f64| ns >= NOTHING * time(profile);
    let by_futex = match is_much(profile.ns(waited as f64) as f64) {
        true => futexes,
        false => 0,
    };
    match unknown >= FEW && is_much(unknown as f64 * WAIT_NS) {
        true => unknown.max(by_futex),
        false => by_futex,
    }
}

fn of_elsewhere(times: u64) -> String {
    format!(
        "threads slept {} times elsewhere, in calls that no interposer sees: for semaphores, for locks that \
         make system calls themselves, as Go's, for input and output, or for a time",
        whole(times)
    )
}

/// What is said of so many mutexes that were [`taken_back`], and so many sleeps [`elsewhere`].
pub fn told(taken_back: u64, elsewhere: u64) -> Vec<String> {
    let taken_back = (taken_back > 0).then(|| of_taking_back(taken_back));
    let elsewhere = (elsewhere > 0).then(|| of_elsewhere(elsewhere));
    taken_back.into_iter().chain(elsewhere).collect()
}

/// These, as a sentence behind another one; empty: there are none.
pub fn but(all: &[String]) -> String {
    match all.is_empty() {
        true => String::new(),
        false => format!(" But {}.", all.join("; and ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::herd::tests::condvar;
    use crate::model::{Counts, Lock, Site};

    fn profile(lock: Lock, seconds: f64) -> Profile {
        Profile {
            ns_per_tick: 1.0,
            seconds,
            threads: 16,
            locks: vec![lock],
            ..Profile::default()
        }
    }

    fn of(condvar: Lock, seconds: f64) -> u64 {
        taken_back(&profile(condvar, seconds))
    }

    #[test]
    fn many_ends_of_waits_may_hide_waiting_for_a_mutex() {
        assert_eq!(of(condvar(16, 0), 0.1), 1_600);
        // A pool of threads that has little to do.
        assert_eq!(of(condvar(16, 0), 100.0), 0);
        // It is seen.
        let mut seen = profile(condvar(16, 0), 0.1);
        seen.sees_back = true;
        assert_eq!(taken_back(&seen), 0);
        // Nobody woke them.
        let mut late = condvar(16, 0);
        late.sites[0].counts.timeouts = 1_600;
        assert_eq!(of(late, 0.1), 0);
    }

    #[test]
    fn sleeps_that_no_lock_explains_are_elsewhere() {
        let of = |slept, seconds| {
            elsewhere(&Profile {
                slept: Some(slept),
                ..profile(condvar(16, 0), seconds)
            })
        };
        // Of 1,600 waits, each of which may be two.
        assert_eq!(of(3_200, 0.1), 0);
        assert_eq!(of(5_000, 0.1), 0);
        assert_eq!(of(20_000, 0.1), 16_800);
        // In so long a time that is little.
        assert_eq!(of(20_000, 100.0), 0);
        // Nobody counted.
        assert_eq!(elsewhere(&profile(condvar(16, 0), 0.1)), 0);
    }

    #[test]
    fn futex_calls_that_are_not_of_pthread_are_elsewhere() {
        let of = |waited| {
            let counts = Counts {
                count: 20,
                waited,
                ..Counts::default()
            };
            let futex = Lock {
                sites: vec![Site {
                    address: 1,
                    how: Use::Futex,
                    counts: counts.clone(),
                }],
                sum: counts,
                ..Lock::default()
            };
            elsewhere(&profile(futex, 1.0))
        };
        assert_eq!(of(200_000_000), 20);
        assert_eq!(of(20_000_000), 0);
    }
}
