// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Whether there is anything to win: by another lock, by condition variables that poll.

use lockwork_report::text::{counted, duration, grouped, percent, whole};

use crate::cycles::cycles;
use crate::herd::herds;
use crate::model::{mean, Counts, Fate, Lock, Profile, Use, Waiter};
use crate::program::{compare, runs_again};
use crate::share::Share;
use crate::sharing;
use crate::unseen::{self, Unseen, NOTHING};
use crate::users::{lock_waiters, still_waited};

/// Waits of a deadlock are at least so long.
const DEADLOCK_NS: u64 = 100_000_000;
/// Where failed tries are this share of the acquisitions, a program may wait by repeating them.
const TRIED: f64 = 0.01;
/// Fewer of them are no waiting.
const TRIES: u64 = 8;
/// A wait for a condition variable that is so short on average, in nanoseconds, lasts about
/// as long as one or two wake-ups take.
const QUICK_NS: u64 = 100_000;
/// So many of them, and so many each second, are worth a word.
const MANY: u64 = 1_000;
const MANY_A_SECOND: f64 = 1_000.0;

/// What comes before all figures: that the file is damaged, or that there is nothing to win.
/// Empty: neither.
pub fn verdict(profile: &Profile) -> String {
    if !profile.warnings.is_empty() {
        damaged(profile)
    } else if !deadlocks(profile).is_empty() {
        String::new() // That is the verdict.
    } else if profile.dropped > profile.sum().count {
        "Most acquisitions are not in the file, which had no more room or could not be opened again \
         by the program, so nobody knows whether there is anything to win.\n"
            .to_owned()
    } else if !profile.locks.iter().any(Lock::is_lock) {
        no_locks(profile)
    } else if is_nothing(profile) {
        nothing_to_win(profile)
    } else {
        String::new()
    }
}

/// Whether threads hardly waited for locks, in the waits that are seen.
pub fn is_nothing(profile: &Profile) -> bool {
    lost_share(profile) < NOTHING
}

/// How long threads waited for locks.
pub fn waited(profile: &Profile) -> String {
    let time = |ticks: u64| duration(profile.ns(ticks as f64));
    let all = time(profile.sum().waited);
    let open = time(still_waited(profile));
    let waits = match lock_waiters(profile).len() {
        0 => format!("threads waited {all} in all"),
        1 => format!("threads waited {all} in all, and {open} in a wait that has not ended"),
        n => format!("threads waited {all} in all, and {open} in {n} waits that have not ended"),
    };
    let is_over = lock_waiters(profile).is_empty();
    let little = is_nothing(profile) && (is_over || profile.at_least);
    let share = || percent(lost_share(profile));
    match Share::all(profile).beyond {
        _ if little => waits,
        true if profile.at_least => {
            format!("{waits}; when the run ended is not known, so there is no share")
        }
        true => format!(
            "{waits}, longer than the known part of the run: when the run ended is not known, so \
             there is no share"
        ),
        false if is_over => format!("{waits}, {} of their time", share()),
        false => format!("{waits}: {} of their time", share()),
    }
}

/// Whether those make half of all waiting or more, and a real part of the threads' time.
pub fn is_stuck(profile: &Profile) -> bool {
    still_waited(profile) > profile.sum().waited && !is_nothing(profile)
}

/// The time waited, as a share of the threads' time. Waits that have not ended count as long as they
/// have lasted.
pub fn lost_share(profile: &Profile) -> f64 {
    Share::all(profile).waiting()
}

/// What is wrong with the file; nothing is said of what it may have lost.
fn damaged(profile: &Profile) -> String {
    let lines = profile.warnings.iter();
    let lines: String = lines.map(|line| format!("warning: {line}\n")).collect();
    lines + "These figures are of a part of the run. Nobody knows what is missing.\n"
}

/// Circles of threads that wait for each other's locks at the end of the recording, where each of
/// the waits has been long: a wait with a deadline, and one that a try comes before, may end. A
/// damaged file may lack what ended them, so it has none.
pub fn deadlocks(profile: &Profile) -> Vec<Vec<Waiter>> {
    if !profile.warnings.is_empty() {
        return Vec::new();
    }
    let is_long = |waiter: &Waiter| profile.ns(waiter.since as f64) >= DEADLOCK_NS;
    let waiters = lock_waiters(profile);
    let circles = cycles(&waiters).into_iter();
    let owned = |circle: Vec<&Waiter>| circle.into_iter().cloned().collect();
    circles
        .map(owned)
        .filter(|circle: &Vec<Waiter>| circle.iter().all(is_long))
        .collect()
}

fn no_locks(profile: &Profile) -> String {
    if profile.unseen > 0 {
        return "Nobody knows which locks it used, because there was no memory to record its threads: \
                record again where there is more (`ulimit -v`).\n"
            .to_owned();
    }
    if let Some(told) = unseen::unrecorded(profile) {
        return format!("It made no lock call that an interposer sees. But {told}.\n");
    }
    // Its end was seen, and yet the recorder in it did not see it call exit().
    let is_silent = profile.fate == Fate::Ended && !profile.ended;
    let hint = match (profile.replaced, is_silent) {
        (true, _) => "It executed another program. ",
        (false, true) => {
            "It did not end by exit(), so perhaps it executed another program that was not \
                 recorded. "
        }
        (false, false) => "",
    };
    let unseen = Unseen::of(profile);
    let told = match unseen.is_little() {
        true => {
            "Locks of Go, and of programs that make their own system calls, and semaphores are not \
              seen."
                .to_owned()
        }
        false => unseen::but(&unseen.told()).trim_start().to_owned(),
    };
    format!(
        "It made no lock call that an interposer sees. {hint}Plugins loaded with RTLD_DEEPBIND call \
         glibc's functions past it. Programs that it \
         starts are not recorded if they are static or setuid, or if they get another environment \
         (env -i, sudo). {told}\n"
    )
}

/// That there is nothing to win, or why nobody knows that.
fn nothing_to_win(profile: &Profile) -> String {
    let sum = profile.sum();
    let share = percent(lost_share(profile));
    if let Some(tried) = tried(sum.failed, sum.count) {
        return format!("{tried} Threads waited in other calls for {share} of their time.\n");
    }
    if profile.unseen > 0 {
        return "Nobody knows how long threads waited for locks, because some were not recorded.\n"
            .to_owned();
    }
    if sum.contended == 0 && !lock_waiters(profile).is_empty() {
        return "No wait for its locks had ended when the recording did.\n".to_owned();
    }
    let waited = match sum.contended {
        0 => "Its locks were never contended".to_owned(),
        _ => format!("Threads waited for locks for {share} of their time"),
    };
    let unseen = Unseen::of(profile);
    let mut but = unseen.told();
    let pairs = sharing::pairs(profile)
        .iter()
        .filter(|p| p.bytes == 64)
        .count();
    if pairs > 0 {
        let pairs = counted(pairs, "pair");
        but.push(format!(
            "{pairs} of them share a cache line, and that may make them slower: see below"
        ));
    }
    let herds = herds(profile).len();
    if herds > 0 {
        but.push(format!(
            "broadcasts of {} wake many threads together: see below",
            counted(herds, "condition variable")
        ));
    }
    let place = match quick_waits(profile) {
        _ if !unseen.is_little() => "in the locks that are seen",
        None if but.is_empty() => "here",
        _ => "by another lock",
    };
    let promise = match (unseen.taken_back, herds) {
        (0, 0) => format!(": nothing to win {place}."),
        (0, _) => ".".to_owned(),
        _ => ", as far as that is seen.".to_owned(),
    };
    format!("{waited}{promise}{}\n", unseen::but(&but))
}

/// What is said where many tries failed.
pub fn tried(failed: u64, acquisitions: u64) -> Option<String> {
    let many = failed >= TRIES && failed as f64 >= TRIED * acquisitions as f64;
    many.then(|| {
        format!(
            "{} calls of trylock found a lock held. A thread that repeats them waits, and such waits \
             are not timed.",
            whole(failed)
        )
    })
}

/// The sum of the waits for those condition variables that glibc's threads waited for often and
/// not for long; mostly not to the end of a deadline. Those that no policy replaces are left out, and
/// all where the length of the run, and with it how often they were in a second, is not known.
pub fn quick_sum(profile: &Profile) -> Counts {
    let mut sum = Counts::default();
    if !profile.policy.is_empty() || profile.at_least {
        return sum;
    }
    let replaced = profile.locks.iter().filter(|lock| !lock.kept.is_kept());
    for condvar in replaced {
        let waits = condvar.of(Use::Wait);
        let each = profile.ns(mean(waits.waited as f64, waits.count));
        if each <= QUICK_NS && waits.timeouts * 2 <= waits.count {
            sum += &waits;
        }
    }
    match sum.count >= MANY && a_second(profile, sum.count) >= MANY_A_SECOND {
        true => sum,
        false => Counts::default(),
    }
}

fn a_second(profile: &Profile, count: u64) -> f64 {
    count as f64 / profile.seconds.max(1e-9)
}

/// What to try because of them: what locks are waited for says nothing about that. Nothing is
/// said of a damaged profile, or if threads wait for locks at its end.
pub fn quick_waits(profile: &Profile) -> Option<String> {
    let sum = quick_sum(profile);
    if sum.count == 0 || !profile.warnings.is_empty() || !lock_waiters(profile).is_empty() {
        return None;
    }
    let (program, ends) = runs_again(profile);
    Some(format!(
        "Threads waited for condition variables {} times a second, for {} on average. That is about as \
         long as wake-ups take. With Lockwork's a waiter that is alone polls before it sleeps: {}",
        grouped(a_second(profile, sum.count), 0),
        duration(profile.ns(mean(sum.waited as f64, sum.count))),
        compare(&program, ends, "mutex")
    ))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::herd;
    use crate::model::{Kept, Site};

    /// A condition variable with so many waits of so many nanoseconds each.
    pub(crate) fn waited_for(address: u64, count: u64, each: u64, timeouts: u64) -> Lock {
        let counts = Counts {
            count,
            waited: count * each,
            timeouts,
            ..Counts::default()
        };
        Lock {
            address,
            sites: vec![Site {
                address: 1,
                how: Use::Wait,
                counts: counts.clone(),
            }],
            sum: counts,
            ..Lock::default()
        }
    }

    /// Of a run of one second.
    fn said(policy: &str, locks: Vec<Lock>) -> Option<String> {
        quick_waits(&Profile {
            ns_per_tick: 1.0,
            seconds: 1.0,
            policy: policy.to_owned(),
            locks,
            ..Profile::default()
        })
    }

    #[test]
    fn short_waits_for_condition_variables_are_worth_a_word() {
        let quick = || waited_for(64, 2_000, 50_000, 0);
        let text = said("", vec![quick()]).expect("a sentence");
        assert!(text.contains("2,000 times a second, for 50.0 µs"), "{text}");
        // One that is waited for long does not hide it.
        let idle = waited_for(128, 5, 200_000_000, 0);
        assert!(said("", vec![quick(), idle]).is_some());
        // One that no policy replaces.
        let mut shared = quick();
        shared.kept = Kept(crate::raw::SHARED);
        assert!(said("", vec![shared]).is_none());
        // Lockwork's own, few, long ones, and those that run out of time.
        assert!(said("mutex", vec![quick()]).is_none());
        assert!(said("", vec![waited_for(64, 900, 50_000, 0)]).is_none());
        assert!(said("", vec![waited_for(64, 2_000, 300_000, 0)]).is_none());
        assert!(said("", vec![waited_for(64, 2_000, 50_000, 1_500)]).is_none());
        assert!(said("", Vec::new()).is_none());
    }

    /// Two threads that used a mutex so within a second. A tick is a nanosecond.
    pub(crate) fn one_mutex(counts: Counts) -> Profile {
        Profile {
            ns_per_tick: 1.0,
            seconds: 1.0,
            threads: 2,
            locks: vec![Lock {
                sites: vec![Site {
                    address: 1,
                    how: Use::Mutex,
                    counts: counts.clone(),
                }],
                sum: counts,
                ..Lock::default()
            }],
            ..Profile::default()
        }
    }

    #[test]
    fn many_failed_tries_are_not_called_uncontended() {
        let of = |failed| {
            let counts = Counts {
                count: 1_000,
                failed,
                ..Counts::default()
            };
            verdict(&one_mutex(counts))
        };
        assert!(of(9).contains("never contended"));
        let text = of(4_000);
        assert!(text.starts_with("4,000 calls of trylock"), "{text}");
        assert!(!text.contains("nothing to win"), "{text}");
    }

    #[test]
    fn mutexes_that_are_taken_back_are_not_called_uncontended() {
        let of = |contended| {
            let mut profile = one_mutex(Counts {
                count: 1_000,
                contended,
                waited: contended,
                ..Counts::default()
            });
            assert!(verdict(&profile).contains("nothing to win here"));
            profile.locks.push(herd::tests::condvar(16, 90));
            verdict(&profile)
        };
        for text in [of(0), of(1)] {
            assert!(!text.contains("nothing to win"), "{text}");
            assert!(
                text.contains("1,600 waits for condition variables"),
                "{text}"
            );
        }
        assert!(of(0).starts_with("Its locks were never contended, as far"));
    }

    #[test]
    fn nothing_is_promised_above_a_herd() {
        let mut profile = one_mutex(Counts {
            count: 1_000,
            ..Counts::default()
        });
        // So long a run that taking the mutex back can hardly have taken a part of it.
        profile.seconds = 100.0;
        profile.locks.push(herd::tests::condvar(16, 90));
        let text = verdict(&profile);
        assert!(!text.contains("nothing to win"), "{text}");
        assert!(
            text.starts_with(
                "Its locks were never contended. But broadcasts of 1 condition variable"
            ),
            "{text}"
        );
    }

    #[test]
    fn false_sharing_is_something_to_win() {
        let used = |address, thread| Lock::used_by(address, &[(thread, 100_000)]);
        let profile = Profile {
            locks: vec![used(64, 0), used(104, 1)],
            ..one_mutex(Counts::default())
        };
        let text = verdict(&profile);
        assert!(text.contains("1 pair of them share"), "{text}");
        assert!(!text.contains("nothing to win here"), "{text}");
    }

    #[test]
    fn who_waits_elsewhere_is_told_so() {
        let mut profile = one_mutex(Counts {
            count: 1,
            ..Counts::default()
        });
        profile.slept = Some(50_000);
        let text = verdict(&profile);
        assert!(
            text.contains("slept 50,000 times elsewhere, in calls that no interposer sees"),
            "{text}"
        );
        profile.locks.clear();
        let text = verdict(&profile);
        assert!(
            text.contains("no lock call that an interposer sees")
                && text.contains("slept 50,000 times"),
            "{text}"
        );
    }

    #[test]
    fn nothing_is_promised_for_processes_that_were_not_recorded() {
        let mut profile = one_mutex(Counts::default());
        profile.unrecorded = 2;
        let text = verdict(&profile);
        assert!(
            text.contains("nothing to win in the locks that are seen"),
            "{text}"
        );
        assert!(text.contains("2 processes with several threads"), "{text}");
        profile.locks.clear();
        profile.unrecorded_name = "server".to_owned();
        let text = verdict(&profile);
        assert!(
            text.contains("(server is one)") && !text.contains("win"),
            "{text}"
        );
    }

    #[test]
    fn a_wait_longer_than_the_run_has_no_share() {
        let mut profile = one_mutex(Counts {
            contended: 1,
            waited: 26_000_000_000,
            ..Counts::default()
        });
        profile.lock_waits = vec![(0, 26_000_000_000)];
        let text = waited(&profile);
        assert!(
            text.contains("when the run ended is not known") && !text.contains('%'),
            "{text}"
        );
    }

    #[test]
    fn a_run_whose_end_nobody_saw_has_no_shares_and_rates() {
        let mut profile = one_mutex(Counts {
            contended: 1,
            waited: 80_000_000,
            ..Counts::default()
        });
        profile.lock_waits = vec![(0, 80_000_000)];
        profile.locks.push(waited_for(4096, 2_000, 40_000, 0));
        assert!(waited(&profile).contains('%'));
        assert!(quick_waits(&profile).is_some());
        (profile.seconds, profile.at_least) = (0.089, true);
        let text = waited(&profile);
        let known = "80.0 ms in all; when the run ended is not known, so there is no share";
        assert!(text.contains(known), "{text}");
        assert_eq!(quick_waits(&profile), None);
        let report = crate::summary::render(&profile, None);
        assert!(report.contains("ms or longer"), "{report}");
    }

    #[test]
    fn waits_that_have_not_ended_count() {
        let mut profile = one_mutex(Counts::default());
        profile.locks[0].by_thread = vec![(0, 100), (1, 100)];
        assert!(verdict(&profile).contains("never contended"));
        assert_eq!(waited(&profile), "threads waited 0 ns in all");
        profile.waiters = vec![Waiter {
            thread: 1,
            lock: 0,
            site: 1,
            holder: None,
            since: 400_000_000,
            holds: Vec::new(),
        }];
        assert_eq!(lost_share(&profile), 0.2);
        assert_eq!(verdict(&profile), "");
        assert!(
            waited(&profile).ends_with("400 ms in a wait that has not ended: 20.0 % of their time")
        );
        assert!(is_stuck(&profile));
        profile.locks[0].sum.waited = 500_000_000;
        assert!(!is_stuck(&profile));
    }
}
