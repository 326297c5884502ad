// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Condition variables whose broadcasts wake many threads, most of which wait again at once. They found
//! nothing to do, or did something very short: which of the two, no call for a lock says. A thread takes the
//! mutex back inside of its wait for the condition variable, where nobody times it.

use lockwork_report::finding::Finding;
use lockwork_report::text::{cut, grouped, percent};

use crate::model::{mean, Lock, Profile, Use};
use crate::names::{Names, NAME};
use crate::program::{compare, runs_again};

/// Fewer broadcasts say nothing.
const FEW: u64 = 8;
/// A broadcast that wakes so many on average wakes a herd.
const MANY: f64 = 3.0;
/// This share of the waits is entered again at once, and this one ends by broadcasts.
const MOST: f64 = 0.5;

/// A condition variable that wakes a herd.
#[derive(Clone, Copy)]
pub struct Herd<'a> {
    /// The condition variable.
    pub condvar: &'a Lock,
    /// How many wait for it on average when it is broadcast.
    woken: f64,
    /// The share of waits that were entered again at once.
    at_once: f64,
}

/// All of them, those that wake most at once first.
pub fn herds(profile: &Profile) -> Vec<Herd<'_>> {
    let mut all: Vec<Herd<'_>> = profile.locks.iter().filter_map(Herd::of).collect();
    all.sort_by(|a, b| b.woken.total_cmp(&a.woken));
    all
}

impl<'a> Herd<'a> {
    /// Of this condition variable, if it wakes one.
    pub fn of(condvar: &'a Lock) -> Option<Herd<'a>> {
        if condvar.is_lock() {
            return None;
        }
        let (broadcasts, waits) = (condvar.of(Use::Broadcast), condvar.of(Use::Wait));
        let woken = mean(broadcasts.queue as f64, broadcasts.count);
        let at_once = mean(waits.at_once as f64, waits.count);
        // Where most waits end by signals, broadcasts are not what makes them begin again.
        let ended = waits.count.saturating_sub(waits.timeouts);
        let by_them = broadcasts.queue as f64 >= MOST * ended as f64;
        let is_one = broadcasts.count >= FEW && woken >= MANY && at_once >= MOST && by_them;
        is_one.then_some(Herd {
            condvar,
            woken,
            at_once,
        })
    }
}

impl Herd<'_> {
    /// Whether `lock` is taken by a function that waits for the condition variable, too. Then its
    /// waiters come back for this lock.
    pub fn is_of(&self, names: &Names<'_>, lock: &Lock) -> bool {
        let waits = self.condvar.sites.iter().filter(|s| s.how == Use::Wait);
        let waits_in: Vec<String> = waits.map(|s| function(&names.site(s.address))).collect();
        let mut sites = lock.sites.iter();
        sites.any(|site| waits_in.contains(&function(&names.site(site.address))))
    }

    /// The figures.
    pub fn evidence(&self) -> Vec<String> {
        vec![
            format!(
                "a broadcast meets {} waiters on average",
                grouped(self.woken, 1)
            ),
            format!(
                "{} of its waits are entered again at once: the thread found nothing to do, or did \
                 something that takes less than about 1 µs",
                percent(self.at_once)
            ),
        ]
    }

    /// Says in its figures, the first of them, which condition variable it is.
    pub fn name_in(&self, evidence: &mut [String], names: &Names<'_>) {
        let name = cut(&names.lock(self.condvar), NAME);
        if let Some(first) = evidence.first_mut() {
            *first = format!("condition variable {name}: {first}");
        }
    }

    /// A sentence, if no policy replaces the condition variable.
    pub fn kept(&self) -> Option<String> {
        let kind = self.condvar.kept.of("condition variable");
        (self.condvar.kept.is_kept()).then(|| format!("No policy replaces a {kind}."))
    }

    /// What is said of the condition variable itself.
    pub fn finding(&self, profile: &Profile) -> Finding {
        let mut evidence = self.evidence();
        evidence.push(
            "each thread that is woken takes the mutex back first; how long it waits for that is not \
             seen"
                .to_owned(),
        );
        let (program, ends) = runs_again(profile);
        Finding {
            rule: "herd",
            why: "Its broadcasts wake many threads together, and most of these wait again at once."
                .to_owned(),
            evidence,
            advice: advice(
                profile,
                self.kept().as_deref(),
                &compare(&program, ends, "mutex"),
            ),
        }
    }
}

/// What to try, and the command that measures it. With Lockwork's locks that has been tried.
pub fn advice(profile: &Profile, kept: Option<&str>, compare: &str) -> String {
    let signal =
        "If one woken thread is enough each time, wake one by pthread_cond_signal. If all have \
                  to wake, the broadcast is needed";
    match (kept, profile.policy.is_empty()) {
        (Some(kept), _) => format!("{signal}. {kept}"),
        (None, true) => format!(
            "{signal}, and Lockwork's mutex wakes its waiters one after the other: {compare}"
        ),
        (None, false) => format!("{signal}."),
    }
}

/// `name` of `name (file:line)`.
fn function(site: &str) -> String {
    site.split(" (").next().unwrap_or(site).to_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::{Counts, Kept, Site};

    /// A condition variable that was broadcast 100 times, when so many waited, and so many waits of
    /// 100 for each of them were entered again at once.
    pub(crate) fn condvar(waiters: u64, at_once: u64) -> Lock {
        let waits = Counts {
            count: 100 * waiters,
            contended: 100 * waiters,
            waited: 100 * waiters * 200_000,
            at_once: at_once * waiters,
            ..Counts::default()
        };
        let broadcasts = Counts {
            count: 100,
            queue: 100 * waiters,
            ..Counts::default()
        };
        let site = |address, how, counts: &Counts| Site {
            address,
            how,
            counts: counts.clone(),
        };
        Lock {
            address: 4096,
            sites: vec![
                site(1, Use::Wait, &waits),
                site(2, Use::Broadcast, &broadcasts),
            ],
            sum: waits,
            ..Lock::default()
        }
    }

    fn found(condvar: Lock) -> Option<Finding> {
        found_with("", condvar)
    }

    fn found_with(policy: &str, condvar: Lock) -> Option<Finding> {
        let profile = Profile {
            policy: policy.to_owned(),
            ns_per_tick: 1.0,
            seconds: 1.0,
            locks: vec![condvar],
            ..Profile::default()
        };
        let all = herds(&profile);
        all.first().map(|herd| herd.finding(&profile))
    }

    #[test]
    fn a_herd_is_named_though_nobody_waited_for_a_mutex() {
        let finding = found(condvar(16, 90)).expect("a herd");
        assert_eq!(finding.rule, "herd");
        assert!(finding.evidence[0].contains("16.0 waiters"), "{finding:?}");
        assert!(finding.evidence[1].contains("90.0 %"), "{finding:?}");
        assert!(finding.advice.contains("--locks mutex"), "{finding:?}");
        let finding = found_with("mutex", condvar(16, 90)).expect("a herd");
        assert!(!finding.advice.contains("--locks"), "{finding:?}");
        let mut shared = condvar(16, 90);
        shared.kept = Kept(crate::raw::SHARED);
        let finding = found(shared).expect("a herd");
        let kept = "No policy replaces a process-shared condition variable.";
        assert!(finding.advice.ends_with(kept), "{finding:?}");
        assert!(!finding.advice.contains("--locks"), "{finding:?}");
        // Two of them, and those that do something longer.
        assert!(found(condvar(2, 90)).is_none());
        assert!(found(condvar(16, 40)).is_none());
    }

    #[test]
    fn a_thread_that_waits_again_at_once_may_have_done_what_it_was_woken_for() {
        let finding = found(condvar(8, 99)).expect("a herd");
        let said = format!("{finding:?}");
        assert!(!said.contains("for nothing"), "{said}");
        assert!(said.contains("or did something"), "{said}");
        // A signal would leave those asleep that have to wake.
        assert!(finding.advice.starts_with("If one woken"), "{said}");
        assert!(finding.advice.contains("If all have to wake"), "{said}");
    }

    #[test]
    fn waits_that_end_by_signals_are_no_herd() {
        let mut few = condvar(16, 99);
        let all = few.of(Use::Wait).count;
        few.sites[0].counts.count = 2 * all;
        few.sites[0].counts.at_once = 2 * all;
        assert!(found(few.clone()).is_some(), "broadcasts end half of them");
        few.sites[0].counts.count = 10 * all;
        few.sites[0].counts.at_once = 10 * all;
        assert!(found(few.clone()).is_none(), "one consumer, by signals");
        few.sites[0].counts.timeouts = 9 * all;
        assert!(found(few).is_some(), "the others ran out of time");
    }
}
