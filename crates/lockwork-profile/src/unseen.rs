// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Waiting that is in no lock's figures, and that may be much: where it is, nobody may say that there is
//! nothing to win.

use crate::model::{Profile, Use};
use crate::verdict::NOTHING;
use lockwork_report::text::whole;

/// About what a thread waits, in nanoseconds, for a mutex that another one holds: a wake-up and a
/// short section. Only the order of magnitude matters.
const WAIT_NS: f64 = 20_000.0;

/// How often a thread took a mutex back at the end of a wait for a condition variable: not at the end of
/// a deadline, for which nothing woke it. 0 if that can hardly have taken time.
pub fn taken_back(profile: &Profile) -> u64 {
    let (mut ends, mut waited) = (0, 0);
    for condvar in profile.locks.iter().filter(|lock| lock.has(Use::Wait)) {
        let waits = condvar.of(Use::Wait);
        ends += waits.count.saturating_sub(waits.timeouts);
        waited += waits.waited;
    }
    let most = (ends as f64 * WAIT_NS).min(profile.ns(waited as f64) as f64);
    let time = profile.seconds * profile.threads.max(1) as f64 * 1e9;
    match most >= NOTHING * time.max(1.0) {
        true => ends,
        false => 0,
    }
}

/// What is said of that.
pub fn of_taking_back(times: u64) -> String {
    format!(
        "{} waits for condition variables ended with taking a mutex back, and how long threads waited \
         for that is not seen",
        whole(times)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::herd::tests::condvar;
    use crate::model::Lock;

    fn of(condvar: Lock, seconds: f64) -> u64 {
        taken_back(&Profile {
            ns_per_tick: 1.0,
            seconds,
            threads: 16,
            locks: vec![condvar],
            ..Profile::default()
        })
    }

    #[test]
    fn many_ends_of_waits_may_hide_waiting_for_a_mutex() {
        assert_eq!(of(condvar(16, 0), 0.1), 1_600);
        // A pool of threads that has little to do.
        assert_eq!(of(condvar(16, 0), 100.0), 0);
        // Nobody woke them.
        let mut late = condvar(16, 0);
        late.sites[0].counts.timeouts = 1_600;
        assert_eq!(of(late, 0.1), 0);
    }
}
