// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How much a run contended, in a few numbers: for `lockwork compare`.

use std::path::Path;

use anyhow::Result;
use lockwork_report::finding::Finding;
use lockwork_report::text::{counted, duration, percent, whole};
use serde::Serialize;

use crate::command::profiles;
use crate::herd::{herds, Herd};
use crate::model::{Fate, Profile};
use crate::names::Names;
use crate::summary::{contended, why};
use crate::unseen::{self, Unseen, NOTHING};
use crate::users::lock_waiters;
use crate::users::still_waited;
use crate::verdict::{is_nothing, lost_share, quick_sum, tried};

/// What all processes of a run did with their locks.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Locking {
    /// Locks that were acquired.
    pub locks: usize,
    /// Their acquisitions.
    pub acquisitions: u64,
    /// Those that found the lock held, [`Locking::timeouts`] and [`Locking::backs`].
    pub contended: u64,
    /// Waits that timed out, which are no acquisitions.
    pub timeouts: u64,
    /// Waits for a mutex at the end of a wait for a condition variable, which are no acquisitions.
    pub backs: u64,
    /// Calls of trylock that found the lock held.
    pub failed: u64,
    /// Contended acquisitions of read/write locks.
    pub contended_rwlocks: u64,
    /// Waits for condition variables that were many and short.
    pub quick_waits: u64,
    /// Condition variables whose broadcasts wake many threads together, and that a policy replaces.
    pub herds: usize,
    /// Waiting that is in no lock's figures.
    #[serde(flatten)]
    pub not_seen: Unseen,
    /// Threads that waited for a lock when it ended, or was stopped.
    pub still_waiting: usize,
    /// Processes that still run, though the one that was started has ended.
    pub running: usize,
    /// Threads of whose calls none are counted.
    pub unrecorded_threads: u64,
    /// The greatest share of its threads' time that a process waited for locks, 0.01 for
    /// 1 %.
    pub waited: f64,
    /// Whether that process may have run much longer than is known. Then [`Locking::waited`] is of
    /// the known part of the run, and no share of the whole is known.
    pub at_least: bool,
    /// How long all threads waited for locks, ns.
    #[serde(skip)]
    pub waited_ns: u64,
}

/// What the run that recorded into `file` did.
///
/// # Errors
/// There is no profile.
pub fn locking(file: &Path) -> Result<Locking> {
    Ok(Locking::of(&profiles(file, false)?))
}

/// The same, and why threads waited for the lock that they waited for longest, in the process that
/// waited longest; if that is hardly anything, which condition variable wakes a herd; else none.
/// The name comes first.
///
/// # Errors
/// There is no profile.
pub fn explained(file: &Path) -> Result<(Locking, Option<Finding>)> {
    let profiles = profiles(file, false)?;
    Ok((Locking::of(&profiles), profiles.first().and_then(worst)))
}

fn worst(profile: &Profile) -> Option<Finding> {
    let names = Names::new(profile);
    if is_nothing(profile) {
        let herd = *herds(profile).first()?;
        let mut found = herd.finding(profile);
        herd.name_in(&mut found.evidence, &names);
        return Some(found);
    }
    let lock = contended(profile).next()?;
    let (mut found, _) = why(profile, &names, lock);
    let waited = duration(profile.ns(lock.sum.waited as f64));
    let name = format!("{} {}", lock.kind(), names.lock(lock));
    found
        .evidence
        .insert(0, format!("{name}: threads waited {waited}"));
    Some(found)
}

impl Locking {
    fn of(profiles: &[Profile]) -> Locking {
        let mut all = Locking::default();
        for profile in profiles {
            let sum = profile.sum();
            all.locks += profile.locks.iter().filter(|lock| lock.is_lock()).count();
            all.acquisitions += sum.count + profile.dropped;
            all.contended += sum.contended;
            all.timeouts += sum.timeouts;
            all.backs += sum.backs;
            all.failed += sum.failed;
            let rwlocks = profile.locks.iter().filter(|lock| lock.kind() == "rwlock");
            all.contended_rwlocks += rwlocks.map(|lock| lock.sum.contended).sum::<u64>();
            all.quick_waits += quick_sum(profile).count;
            let replaced = |herd: &Herd<'_>| !herd.condvar.kept.is_kept();
            all.herds += herds(profile).into_iter().filter(replaced).count();
            all.not_seen += Unseen::of(profile);
            all.still_waiting += lock_waiters(profile).len();
            all.running += usize::from(profile.fate == Fate::Runs);
            all.unrecorded_threads += profile.bare + profile.unseen;
            let share = lost_share(profile);
            if share > all.waited {
                (all.waited, all.at_least) = (share, profile.at_least);
            }
            let waited = profile.sum().waited + still_waited(profile);
            all.waited_ns += profile.ns(waited as f64);
        }
        all
    }

    /// Whether no lock was called that an interposer replaces, so that another lock changes
    /// nothing.
    pub fn is_unused(&self) -> bool {
        self.acquisitions == 0 && self.failed == 0 && self.unrecorded_threads == 0
    }

    /// Acquisitions that found their lock held, and [`Locking::backs`].
    pub fn found_it_held(&self) -> u64 {
        self.contended.saturating_sub(self.timeouts)
    }

    /// What is said where many calls of trylock failed.
    pub fn tried(&self) -> Option<String> {
        tried(self.failed, self.acquisitions)
    }

    /// What is said where threads hardly waited in what is seen, and may have waited in what is
    /// not.
    pub fn unseen(&self) -> Option<String> {
        let seen = "Threads hardly wait for its locks";
        match (self.not_seen.taken_back, self.not_seen.is_little()) {
            (0, true) => None,
            (0, false) => Some(format!("{seen}.{}", self.but())),
            _ => Some(format!("{seen}, as far as that is seen.{}", self.but())),
        }
    }

    /// What is not seen, as a sentence of its own; empty: nothing that may matter.
    fn but(&self) -> String {
        unseen::but(&self.not_seen.told())
    }

    /// Other waits whose time is known, as a sentence of its own; empty: none, or short ones beside
    /// those for locks.
    fn beside(&self) -> String {
        unseen::but(&self.not_seen.beside(self.waited_ns))
    }

    /// What that means for the choice of a lock. `run` is "this run" or the like.
    pub fn sentence(&self, run: &str) -> String {
        self.sentence_beside(run, false)
    }

    /// The same; `differs`: another lock was found to make a difference.
    pub fn sentence_beside(&self, run: &str, differs: bool) -> String {
        let said = self.of_what_was_seen(run, differs);
        match self.running {
            0 => said,
            n => format!(
                "{said} {} in the background, and what {} from now on is not counted: a \
                 program that is measured has to stay in the foreground.",
                match n {
                    1 => "1 process of it still runs".to_owned(),
                    n => format!("{n} processes of it still run"),
                },
                if n == 1 { "it does" } else { "they do" },
            ),
        }
    }

    fn of_what_was_seen(&self, run: &str, differs: bool) -> String {
        let used = format!(
            "{} of {} in {run}{}",
            counted(self.acquisitions as usize, "acquisition"),
            counted(self.locks, "lock"),
            match self.unrecorded_threads {
                0 => String::new(),
                n => format!(", without those of {}", counted(n as usize, "more thread")),
            }
        );
        if self.is_unused() && self.still_waiting == 0 {
            return format!(
                "{} made no lock call that an interposer sees: the locks of this program \
                 are not replaced.{}",
                capital(run),
                self.but()
            );
        }
        if self.still_waiting > 0 {
            return format!(
                "{}When {run} ended, {} still waited for a lock: `lockwork profile` says for \
                 which, and whether that is a deadlock.{}",
                match self.contended {
                    0 => String::new(),
                    _ => format!("{}. ", self.found_held(&used)),
                },
                counted(self.still_waiting, "thread"),
                self.beside()
            );
        }
        if let Some(tried) = self.tried().filter(|_| self.waited < NOTHING) {
            return format!(
                "{tried} Threads waited in other calls for {} ({used}).{}",
                self.part_of_time(),
                self.beside()
            );
        }
        let waits = match (self.quick_waits, self.herds) {
            (0, 0) => None,
            (0, _) => Some("broadcasts to many threads".to_owned()),
            (n, _) => Some(format!("{} short waits for condition variables", whole(n))),
        };
        if self.contended == 0 && self.unrecorded_threads > 0 {
            return format!(
                "Nobody knows whether its locks were contended ({used}).{}",
                self.beside()
            );
        }
        if self.not_seen.taken_back > 0 && self.waited < NOTHING {
            let waited = match self.contended {
                0 => format!("Its locks were never contended ({used})"),
                _ => format!(
                    "Threads waited for locks for {} ({used})",
                    self.part_of_time()
                ),
            };
            return format!("{waited}, as far as that is seen.{}", self.but());
        }
        if self.contended == 0 {
            let but = self.but();
            let hint = match waits {
                Some(waits) => format!("only its {waits} may become faster"),
                None if differs => {
                    "the difference probably does not come from waiting for locks".to_owned()
                }
                None if but.is_empty() && self.running == 0 => "no lock makes it faster".to_owned(),
                None => "nothing to win in these".to_owned(),
            };
            return format!("Its locks were never contended ({used}): {hint}.{but}");
        }
        let hint = match (self.waited < NOTHING, waits) {
            (false, _) => "`lockwork profile` says for which lock, and why".to_owned(),
            (true, None) if differs => {
                "the difference probably does not come from waiting for locks".to_owned()
            }
            (true, None) => "there is little to win".to_owned(),
            (true, Some(waits)) => format!("there is little to win but in its {waits}"),
        };
        let but = match self.waited < NOTHING {
            true => self.but(),
            false => self.beside(),
        };
        format!("{}: {hint}.{but}", self.found_held(&used))
    }

    /// How many of the acquisitions `used` were contended, and how long threads waited.
    fn found_held(&self, used: &str) -> String {
        let acquired = self.acquisitions + self.backs;
        let share = percent(self.found_it_held() as f64 / acquired.max(1) as f64);
        let timed_out = match self.timeouts {
            0 => String::new(),
            n => format!(", {} timed out", counted(n as usize, "wait")),
        };
        format!(
            "{share} of {used} found their lock held{timed_out}, and threads waited for {}",
            self.part_of_time()
        )
    }

    /// How much of their time threads waited for locks.
    fn part_of_time(&self) -> String {
        let share = percent(self.waited);
        match self.at_least {
            false => format!("{share} of their time"),
            true => format!("{share} of the time that is known, as a process ended unseen"),
        }
    }
}

fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Counts;
    use crate::verdict::tests::one_mutex;

    #[test]
    fn the_process_that_waited_most_says_of_what_time_the_share_is() {
        let of = |waited, at_least| Profile {
            at_least,
            lock_waits: vec![(0, waited)],
            ..one_mutex(Counts {
                count: 100,
                contended: 50,
                waited,
                ..Counts::default()
            })
        };
        let (much, little) = (500_000_000, 50_000_000);
        for (most, other) in [(true, false), (false, true)] {
            let both = [of(much, most), of(little, other)];
            let seen = Locking::of(&both);
            assert_eq!((seen.at_least, seen.contended), (most, 100));
            assert!(seen.waited > 0.0 && seen.waited == lost_share(&both[0]));
            assert_eq!(seen.waited_ns, much + little);
            let [most, other] = both;
            let turned = Locking::of(&[other, most]);
            assert_eq!(
                (turned.at_least, turned.waited),
                (seen.at_least, seen.waited)
            );
        }
    }

    #[test]
    fn a_comparison_is_told_how_much_was_contended() {
        let mut seen = Locking {
            locks: 2,
            ..Locking::default()
        };
        assert!(seen
            .sentence("a warm-up run")
            .starts_with("A warm-up run made no lock call"));
        seen.not_seen.elsewhere = 20_000;
        assert!(
            seen.sentence("a warm-up run")
                .contains("slept 20,000 times elsewhere"),
            "{}",
            seen.sentence("a warm-up run")
        );
        seen.acquisitions = 1;
        let text = seen.sentence("a warm-up run");
        assert!(
            text.contains(
                "(1 acquisition of 2 locks in a warm-up run): nothing to win in these. But"
            ) && text.contains("slept 20,000 times elsewhere"),
            "{text}"
        );
        seen.not_seen.elsewhere = 0;
        seen.acquisitions = 1000;
        let text = seen.sentence("a warm-up run");
        assert!(
            text.starts_with("Its locks were never contended (1,000"),
            "{text}"
        );
        assert!(text.ends_with("no lock makes it faster."), "{text}");
        let text = seen.sentence_beside("a warm-up run", true);
        let why = "a warm-up run): the difference probably does not come from waiting for locks.";
        assert!(text.ends_with(why), "{text}");
        seen.failed = 10;
        let text = seen.sentence("a warm-up run");
        assert!(text.starts_with("10 calls of trylock"), "{text}");
        seen.failed = 0;
        seen.quick_waits = 1000;
        let text = seen.sentence("a warm-up run");
        assert!(text.contains("only its 1,000 short waits"), "{text}");
        (seen.quick_waits, seen.herds) = (0, 1);
        let text = seen.sentence("a warm-up run");
        assert!(text.contains("only its broadcasts to many"), "{text}");
        (seen.quick_waits, seen.herds) = (1000, 0);
        seen.not_seen.taken_back = 5_000;
        let text = seen.sentence("a warm-up run");
        assert!(
            text.contains("never contended (1,000")
                && text.contains("5,000 waits for condition variables ended")
                && !text.contains("no lock makes"),
            "{text}"
        );
        seen.not_seen.taken_back = 0;
        seen.quick_waits = 0;
        seen.unrecorded_threads = 3;
        let text = seen.sentence("a warm-up run");
        assert!(
            text.starts_with("Nobody knows") && text.contains("those of 3 more threads"),
            "{text}"
        );
        seen.unrecorded_threads = 0;
        seen.contended = 10;
        let text = seen.sentence("a warm-up run");
        assert!(
            text.starts_with("1.0 % of 1,000") && text.contains("little to win"),
            "{text}"
        );
        (seen.contended, seen.backs) = (3_010, 3_000);
        let text = seen.sentence("a warm-up run");
        assert!(text.starts_with("75.2 % of 1,000"), "{text}");
        (seen.contended, seen.timeouts) = (3_010, 3_000);
        seen.backs = 0;
        let text = seen.sentence("a warm-up run");
        assert!(
            text.starts_with("1.0 % of 1,000") && text.contains("held, 3,000 waits timed out, and"),
            "{text}"
        );
        (seen.contended, seen.timeouts) = (10, 0);
        seen.not_seen.taken_back = 5_000;
        let text = seen.sentence("a warm-up run");
        assert!(
            text.contains("not seen") && !text.contains("little to win"),
            "{text}"
        );
        seen.not_seen.taken_back = 0;
        seen.quick_waits = 1000;
        let text = seen.sentence("a warm-up run");
        assert!(
            text.ends_with("little to win but in its 1,000 short waits for condition variables."),
            "{text}"
        );
        seen.running = 1;
        let text = seen.sentence("a warm-up run");
        assert!(
            text.contains("variables. 1 process of it still runs"),
            "{text}"
        );
        seen.still_waiting = 2;
        assert!(
            seen.sentence("a warm-up run")
                .contains("2 threads still waited"),
            "{}",
            seen.sentence("a warm-up run")
        );
        seen.still_waiting = 0;
        seen.waited = 0.5;
        assert!(seen
            .sentence("a warm-up run")
            .contains("50.0 % of their time: `lockwork profile`"));
        seen.at_least = true;
        let text = seen.sentence("a warm-up run");
        assert!(
            text.contains("50.0 % of the time that is known, as"),
            "{text}"
        );
        seen.at_least = false;
        seen.not_seen.other_futex_ns = 2_000_000_000;
        let text = seen.sentence("a warm-up run");
        assert!(
            text.contains("why. But threads waited 2.00 s in the C library for something else"),
            "{text}"
        );
        seen.waited_ns = 40_000_000_000;
        let text = seen.sentence("a warm-up run");
        assert!(!text.contains("something else"), "{text}");
    }
}
