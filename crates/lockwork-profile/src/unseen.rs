// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Waiting that is in no lock's figures, and that may be much: where it is, nobody may say that
//! there is nothing to win.

use std::collections::HashMap;
use std::ops::AddAssign;

use lockwork_report::text::{duration, whole};
use serde::Serialize;

use crate::model::{mean, Counts, Profile, Use};
use crate::users::still_waited;

/// Less waiting than this share of the threads' time is nothing to win.
pub const NOTHING: f64 = 0.005;
/// About what a thread waits, in nanoseconds, for a mutex that another one holds: a wake-up and a
/// short section. Only the order of magnitude matters.
const WAIT_NS: f64 = 20_000.0;
/// A thread that waits longer on average waits for work, more likely than for a lock.
const PARKED_NS: u64 = 100_000_000;
/// Each process sleeps so often.
const FEW: u64 = 100;
/// Beside waits for locks, others are told that make so large a share of those.
const BESIDE: f64 = 0.1;

/// How often a thread took a mutex back at the end of a wait for a condition variable: not at the
/// end of a deadline, for which nothing woke it. 0 if that can hardly have taken time, or is seen.
fn taken_back(profile: &Profile) -> u64 {
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

/// Waiting that may be much, and that is in no lock's figures. 0: none, or too little.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Unseen {
    /// Mutexes that threads took back at the end of a wait for a condition variable.
    pub taken_back: u64,
    /// Sleeps in calls that no interposer sees.
    pub elsewhere: u64,
    /// Waits by `syscall(SYS_futex, …)`: they are seen, but not the locks.
    pub futex_calls: u64,
    /// Nanoseconds in these.
    pub futex_calls_ns: u64,
    /// Nanoseconds in futex calls that the program makes by system calls of its own.
    pub own_futex_ns: u64,
    /// Nanoseconds in futex calls of the C library for what is not recorded, such as semaphores.
    pub other_futex_ns: u64,
    /// Waits for condition variables for each of which one thread alone waits.
    pub parked: u64,
    /// Nanoseconds in these.
    pub parked_ns: u64,
    /// Whether threads locked mutexes of which it is not seen whether they were contended.
    pub untried: bool,
    /// Processes with several threads that were not recorded.
    pub unrecorded: u64,
}

impl AddAssign for Unseen {
    fn add_assign(&mut self, other: Unseen) {
        self.taken_back += other.taken_back;
        self.elsewhere += other.elsewhere;
        self.futex_calls += other.futex_calls;
        self.futex_calls_ns += other.futex_calls_ns;
        self.own_futex_ns += other.own_futex_ns;
        self.other_futex_ns += other.other_futex_ns;
        self.parked += other.parked;
        self.parked_ns += other.parked_ns;
        self.untried |= other.untried;
        self.unrecorded += other.unrecorded;
    }
}

impl Unseen {
    /// Of this process.
    pub(crate) fn of(profile: &Profile) -> Unseen {
        let if_much = |ns: u64| match ns as f64 >= NOTHING * time(profile) {
            true => ns,
            false => 0,
        };
        let own_futex_ns = if_much(profile.own_futex.0);
        let other_futex_ns = if_much(profile.other_futex_ns);
        let (futex_calls, futex_calls_ns) = futex_calls(profile);
        let (parked, parked_ns) = parked(profile);
        Unseen {
            taken_back: taken_back(profile),
            // Those calls are some of these sleeps, if not all.
            elsewhere: match own_futex_ns + other_futex_ns {
                0 => elsewhere(profile),
                _ => 0,
            },
            futex_calls,
            futex_calls_ns,
            own_futex_ns,
            other_futex_ns,
            parked,
            parked_ns,
            untried: profile.untried,
            unrecorded: profile.unrecorded,
        }
    }

    /// Whether there is none but mutexes that were taken back.
    pub fn is_little(&self) -> bool {
        let waits = self.elsewhere + self.futex_calls + self.parked;
        waits + self.own_futex_ns + self.other_futex_ns + self.unrecorded == 0 && !self.untried
    }

    /// What is said of it where threads waited for locks, so many ns in all: of the waits whose time
    /// is known, unless they are short beside those.
    pub fn beside(&self, waited_ns: u64) -> Vec<String> {
        let is_much = |ns: u64| ns as f64 >= BESIDE * waited_ns as f64;
        let if_much = |ns: u64, what: u64| if is_much(ns) { what } else { 0 };
        let others = Unseen {
            futex_calls: if_much(self.futex_calls_ns, self.futex_calls),
            own_futex_ns: if_much(self.own_futex_ns, self.own_futex_ns),
            other_futex_ns: if_much(self.other_futex_ns, self.other_futex_ns),
            parked: if_much(self.parked_ns, self.parked),
            untried: self.untried,
            ..Unseen::default()
        };
        others.told()
    }

    /// What is said of it.
    pub fn told(&self) -> Vec<String> {
        let taken_back = (self.taken_back > 0).then(|| of_taking_back(self.taken_back));
        let own = (self.own_futex_ns > 0).then(|| {
            format!(
                "threads waited {} in futex calls that no interposer sees, because the program makes \
                 them itself",
                duration(self.own_futex_ns)
            )
        });
        let futexes = (self.futex_calls > 0).then(|| {
            format!(
                "threads waited in {} futex calls of locks that are not pthread's, and that no \
                 interposer replaces",
                whole(self.futex_calls)
            )
        });
        let parked = (self.parked > 0).then(|| {
            format!(
                "threads waited {} times for condition variables of their own, one for each thread: some of \
                 these waits may be for locks that the program makes itself, as Java does, and which are \
                 is not seen",
                whole(self.parked)
            )
        });
        let elsewhere = (self.elsewhere > 0).then(|| of_elsewhere(self.elsewhere));
        let untried = self.untried.then(|| {
            "threads locked mutexes that are robust or have a priority ceiling, and whether those were \
             contended is not seen"
                .to_owned()
        });
        let others = (self.other_futex_ns > 0).then(|| {
            format!(
                "threads waited {} in the C library for something else than these locks, such as \
                 semaphores",
                duration(self.other_futex_ns)
            )
        });
        let unrecorded = (self.unrecorded > 0).then(|| of_unrecorded(self.unrecorded));
        let all = [
            unrecorded, taken_back, own, others, futexes, parked, untried, elsewhere,
        ];
        all.into_iter().flatten().collect()
    }
}

/// How often, and for how many ticks, threads waited so.
fn waits(profile: &Profile, how: Use) -> (u64, u64) {
    let locks = profile.locks.iter().map(|lock| lock.of(how));
    locks.fold((0, 0), |(count, ticks), c| {
        (count + c.count, ticks + c.waited)
    })
}

fn is_much(profile: &Profile, ticks: u64) -> bool {
    profile.ns(ticks as f64) as f64 >= NOTHING * time(profile)
}

/// How often threads slept in calls that no interposer sees. 0 if that is seldom, or less often than
/// in the calls that are seen.
fn elsewhere(profile: &Profile) -> u64 {
    let sum = profile.sum();
    // Sleeps were counted in a sample of the waits for locks. A thread that waits for a condition
    // variable may sleep twice: for it, and then for the mutex.
    let each = mean(sum.slept as f64, sum.watched).max(1.0);
    let known = (sum.contended as f64 * each) as u64;
    let known = known + 2 * waits(profile, Use::Wait).0 + waits(profile, Use::Futex).0;
    let slept = profile.slept.unwrap_or(0);
    let unknown = match slept.saturating_sub(known) {
        rest if rest * 2 >= slept => rest,
        _ => 0,
    };
    match unknown >= FEW && unknown as f64 * WAIT_NS >= NOTHING * time(profile) {
        true => unknown,
        false => 0,
    }
}

/// How often threads waited in futex calls that are not of pthread's locks, and for how many ns.
fn futex_calls(profile: &Profile) -> (u64, u64) {
    let (count, ticks) = waits(profile, Use::Futex);
    match is_much(profile, ticks) {
        true => (count, profile.ns(ticks as f64)),
        false => (0, 0),
    }
}

/// How often threads waited for a condition variable of their own, at a call where several threads
/// do, and were woken before long. And for how many ns.
fn parked(profile: &Profile) -> (u64, u64) {
    let mut calls: HashMap<u64, (u64, Counts)> = HashMap::new();
    for condvar in profile.locks.iter().filter(|lock| lock.waited_by == 1) {
        for site in condvar.sites.iter().filter(|site| site.how == Use::Wait) {
            let (condvars, sum) = calls.entry(site.address).or_default();
            *condvars += 1;
            *sum += &site.counts;
        }
    }
    let mut all = Counts::default();
    for (condvars, sum) in calls.values() {
        let each = profile.ns(mean(sum.waited as f64, sum.count));
        if *condvars > 1 && each <= PARKED_NS && sum.timeouts * 2 <= sum.count {
            all += sum;
        }
    }
    match all.count >= FEW && is_much(profile, all.waited) {
        true => (all.count, profile.ns(all.waited as f64)),
        false => (0, 0),
    }
}

fn of_unrecorded(processes: u64) -> String {
    match processes {
        1 => "a process with several threads was not recorded".to_owned(),
        n => format!(
            "{} processes with several threads were not recorded",
            whole(n)
        ),
    }
}

/// The processes that were not recorded, and why; none: there was none.
pub fn unrecorded(profile: &Profile) -> Option<String> {
    (profile.unrecorded > 0).then(|| {
        format!(
            "{}{}, because {} static or setuid, or started with another environment (chroot, env -i, \
             sudo); what {} with locks is not known",
            of_unrecorded(profile.unrecorded),
            match profile.unrecorded_name.as_str() {
                "" => String::new(),
                name if profile.unrecorded == 1 => format!(" ({name})"),
                name => format!(" ({name} is one)"),
            },
            if profile.unrecorded == 1 { "it is" } else { "they are" },
            if profile.unrecorded == 1 { "it did" } else { "they did" },
        )
    })
}

fn of_elsewhere(times: u64) -> String {
    format!(
        "threads slept {} times elsewhere, in calls that no interposer sees: futex calls of locks that make \
         system calls themselves, as Go's, semaphores, input and output, or for a time",
        whole(times)
    )
}

/// What is told of this process beside its waits for locks, and `said` does not say.
pub fn beside(profile: &Profile, said: &str) -> Option<String> {
    let waited = profile.ns((profile.sum().waited + still_waited(profile)) as f64);
    let told = Unseen::of(profile).beside(waited).into_iter();
    let new: Vec<String> = told.filter(|told| !said.contains(told.as_str())).collect();
    (!new.is_empty()).then(|| new.join("; and "))
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
    use crate::model::{Lock, Site};
    use crate::verdict::tests::{one_mutex, waited_for};

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
            Unseen::of(&profile(futex, 1.0)).futex_calls
        };
        assert_eq!(of(200_000_000), 20);
        assert_eq!(of(20_000_000), 0);
    }

    #[test]
    fn futex_calls_of_the_program_itself_are_told() {
        let of = |ns| {
            Unseen::of(&Profile {
                own_futex: (ns, 1),
                slept: Some(20_000),
                ..profile(condvar(16, 0), 0.1)
            })
        };
        let much = of(200_000_000);
        assert_eq!(much.elsewhere, 0, "these are the same sleeps");
        let told = much.told().join("; ");
        assert!(
            told.contains("waited 200 ms in futex calls that no interposer sees"),
            "{told}"
        );
        assert!(of(2_000_000).elsewhere > 0);
        assert_eq!(of(2_000_000).own_futex_ns, 0);
    }

    #[test]
    fn waits_for_semaphores_are_told_beside_those_for_locks() {
        let of = |semaphores, waited| {
            let mut profile = one_mutex(Counts {
                count: 100,
                contended: 50,
                waited,
                ..Counts::default()
            });
            profile.lock_waits = vec![(0, waited)];
            profile.other_futex_ns = semaphores;
            profile
        };
        let sentence = "waited 300 ms in the C library for something else than these locks";
        for waited in [0, 500_000_000] {
            let report = crate::summary::render(&of(300_000_000, waited), None);
            assert_eq!(report.matches(sentence).count(), 1, "{report}");
            let page = crate::html::render(&[of(300_000_000, waited)]);
            assert_eq!(page.matches(sentence).count(), 1, "{page}");
        }
        // Few, and few beside the others.
        assert_eq!(beside(&of(1_000_000, 500_000_000), ""), None);
        assert_eq!(beside(&of(30_000_000, 500_000_000), ""), None);
        let robust = Profile {
            untried: true,
            ..of(30_000_000, 500_000_000)
        };
        let told = beside(&robust, "").expect("a sentence");
        assert!(told.starts_with("threads locked mutexes that are robust"));
        assert_eq!(beside(&robust, &told), None);
    }

    #[test]
    fn threads_that_each_have_a_condition_variable_may_wait_for_locks() {
        let of = |waited_by: usize, each: u64, condvars: u64| {
            let one = |n: u64| Lock {
                waited_by,
                ..waited_for(n * 64, 200, each, 0)
            };
            parked(&Profile {
                locks: (1..=condvars).map(one).collect(),
                ..profile(Lock::default(), 10.0)
            })
            .0
        };
        assert_eq!(of(1, 5_000_000, 8), 1_600);
        // Several threads wait for each; a single one; a pool that waits for work; next to nothing.
        assert_eq!(of(2, 5_000_000, 8), 0);
        assert_eq!(of(1, 5_000_000, 1), 0);
        assert_eq!(of(1, 500_000_000, 8), 0);
        assert_eq!(of(1, 5_000, 8), 0);
    }

    #[test]
    fn each_sort_of_wait_is_told_beside_shorter_waits_for_locks() {
        let all = Unseen {
            futex_calls: 3,
            futex_calls_ns: 1_000,
            own_futex_ns: 1_000,
            other_futex_ns: 1_000,
            parked: 7,
            parked_ns: 1_000,
            ..Unseen::default()
        };
        assert_eq!(all.beside(10_000).len(), 4);
        assert!(all.beside(10_001).is_empty());
    }
}
