// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Condition variables whose broadcasts wake many threads, most of them for nothing. That is so
//! whatever the waits for the mutex are: a thread takes it back inside of its wait for the
//! condition variable, where nobody times it.

use lockwork_report::finding::Finding;
use lockwork_report::text::{grouped, percent};

use crate::model::{mean, Lock, Profile, Use};
use crate::names::Names;
use crate::program::{compare, runs_again};

/// Fewer broadcasts say nothing.
const FEW: u64 = 8;
/// A broadcast that wakes so many on average wakes a herd.
const MANY: f64 = 3.0;
/// Where this share of the waits is entered again at once, most threads are woken for nothing.
const USELESS: f64 = 0.5;

/// A condition variable that wakes a herd.
#[derive(Clone, Copy)]
pub struct Herd<'a> {
    /// The condition variable.
    pub condvar: &'a Lock,
    /// How many wait for it on average when it is broadcast.
    woken: f64,
    /// The share of waits that were for nothing.
    useless: f64,
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
        let useless = mean(waits.useless as f64, waits.count);
        let is_one = broadcasts.count >= FEW && woken >= MANY && useless >= USELESS;
        is_one.then_some(Herd {
            condvar,
            woken,
            useless,
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
                "{} of its waits are entered again at once, so they were woken for nothing",
                percent(self.useless)
            ),
        ]
    }

    /// Says in its figures, the first of them, which condition variable it is.
    pub fn name_in(&self, evidence: &mut [String], names: &Names<'_>) {
        let name = names.lock(self.condvar);
        if let Some(first) = evidence.first_mut() {
            *first = format!("condition variable {name}: {first}");
        }
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
            why: "Its broadcasts wake many threads at once, most of them for nothing.".to_owned(),
            evidence,
            advice: advice(profile, None, &compare(&program, ends, "mutex")),
        }
    }
}

/// What to try, and the command that measures it. With Lockwork's locks that has been tried.
pub fn advice(profile: &Profile, kept: Option<&str>, compare: &str) -> String {
    let signal = "Wake one thread by pthread_cond_signal where one is enough.";
    match (kept, profile.policy.is_empty()) {
        (Some(kept), _) => format!("{signal} {kept}"),
        (None, true) => format!(
            "{signal} Lockwork's mutex wakes the waiters of a broadcast one after the other: {compare}"
        ),
        (None, false) => signal.to_owned(),
    }
}

/// `name` of `name (file:line)`.
fn function(site: &str) -> String {
    site.split(" (").next().unwrap_or(site).to_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::{Counts, Site};

    /// A condition variable that was broadcast 100 times, when so many waited, and so many waits of
    /// 100 for each of them were useless.
    pub(crate) fn condvar(waiters: u64, useless: u64) -> Lock {
        let waits = Counts {
            count: 100 * waiters,
            contended: 100 * waiters,
            waited: 100 * waiters * 200_000,
            useless: useless * waiters,
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
        // Two of them, and those that find something to do.
        assert!(found(condvar(2, 90)).is_none());
        assert!(found(condvar(16, 40)).is_none());
    }
}
