// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Writers of a read/write lock that wait much longer than anybody holds it, because new readers
//! pass them.

use crate::model::{Counts, Lock, Profile, Use};

/// A writer that waits so many times as long as readers wait and hold is passed by them.
const STARVED: f64 = 10.0;
/// A single wait says so if it is so many times as long as the longest hold.
const OUTLASTS: f64 = 4.0;
/// And if it takes so many nanoseconds: a shorter one may be a thread that had lost its CPU.
const LONG_NS: u64 = 10_000_000;
/// Fewer waits have no mean to speak of.
const FEW: u64 = 8;

/// How the writers of a lock are passed.
pub struct Starved {
    /// They wait much longer on average than readers wait and hold.
    always: bool,
    /// The longest wait of a writer, in ticks, if it is much longer than the longest hold; else 0.
    once: u64,
    /// As [`starving`].
    open: u64,
    /// Whether that is most of the waiting for the lock, and is no time in which writers held it.
    pub explains: bool,
    reads: Counts,
    writes: Counts,
}

impl Starved {
    /// The writers of this lock, if they are passed.
    pub fn of(profile: &Profile, lock: &Lock) -> Option<Starved> {
        let (reads, writes) = (lock.of(Use::Read), lock.of(Use::Write));
        let always = writes.contended >= FEW
            && writes.mean_wait() >= STARVED * reads.mean_wait()
            && writes.mean_wait() >= STARVED * reads.mean_hold()
            && reads.count > writes.count;
        let once = outlasting(profile, &reads, &writes);
        let open = starving(profile, lock);
        let beyond_writers =
            once > 0 || open > 0 || (always && writes.mean_wait() >= STARVED * writes.mean_hold());
        let most = 2 * (writes.waited + open) >= lock.sum.waited + open;
        (always || once > 0 || open > 0).then_some(Starved {
            always,
            once,
            open,
            explains: beyond_writers && most,
            reads,
            writes,
        })
    }

    /// The figures, with `time` for a number of ticks.
    pub fn evidence(&self, time: impl Fn(f64) -> String) -> Vec<String> {
        let (reads, writes) = (&self.reads, &self.writes);
        let reader = time(reads.mean_wait());
        let mut all = Vec::new();
        if self.open > 0 {
            let readers = match reads.contended {
                0 => "no reader waited".to_owned(),
                _ => format!("a reader waits {reader} on average"),
            };
            all.push(format!(
                "a writer had waited for {} when the recording ended; {readers}",
                time(self.open as f64)
            ));
        }
        if self.always {
            let writer = time(writes.mean_wait());
            all.push(format!(
                "a writer waits {writer} on average, a reader {reader}"
            ));
        }
        if self.once > 0 {
            all.push(format!(
                "one wait of a writer took {}",
                time(self.once as f64)
            ));
        }
        let longest = match reads.longest_hold {
            0 => String::new(),
            ticks => format!(", {} at most", time(ticks as f64)),
        };
        all.push(match reads.mean_hold() {
            0.0 => "how long a reader holds it is not known: no hold was timed".to_owned(),
            hold => format!("a reader holds it for {} on average{longest}", time(hold)),
        });
        all
    }
}

/// The longest wait of a writer, in ticks, if no hold explains it and readers went on meanwhile. Else 0.
fn outlasting(profile: &Profile, reads: &Counts, writes: &Counts) -> u64 {
    let wait = writes.longest_wait as f64;
    let mean = reads.mean_hold().max(writes.mean_hold());
    let longest = reads.longest_hold.max(writes.longest_hold) as f64;
    let long = profile.ns(wait) >= LONG_NS
        && wait >= STARVED * mean.max(reads.mean_wait())
        && wait >= OUTLASTS * longest;
    match long && passed(reads, wait) && reads.count > writes.count {
        true => writes.longest_wait,
        false => 0,
    }
}

/// How long, in ticks, a writer had waited for this lock when the recording ended, while readers
/// had it one after the other and none of them waited any more. 0: no writer, or not for long.
pub fn starving(profile: &Profile, lock: &Lock) -> u64 {
    let at = |how| {
        let waiters = profile.waiters.iter();
        let waiters = waiters.filter(|waiter| waiter.lock == lock.address);
        let is_so = move |address| {
            let mut sites = lock.sites.iter();
            sites.any(|site| site.how == how && site.address == address)
        };
        waiters.filter(move |waiter| is_so(waiter.site))
    };
    let Some(longest) = at(Use::Write).map(|writer| writer.since).max() else {
        return 0;
    };
    let reads = lock.of(Use::Read);
    let long = longest as f64 >= STARVED * reads.mean_hold().max(reads.mean_wait());
    match long && passed(&reads, longest as f64) && at(Use::Read).next().is_none() {
        true => longest,
        false => 0,
    }
}

/// Whether readers that ended may have filled half of a wait or more. A single one that does not end
/// starves nobody.
fn passed(reads: &Counts, wait: f64) -> bool {
    reads.held * 2.0 >= wait
}
