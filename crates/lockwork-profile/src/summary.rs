// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The report on the terminal: the few locks that matter, and why.

use std::fmt::Write;

use lockwork_report::finding::Finding;
use lockwork_report::table;
use lockwork_report::text::{counted, cut, duration, grouped, percent, seconds, shell, whole};

use crate::deadlock::{self, cycles};
use crate::model::{mean, Counts, Fate, Lock, Profile, Use, Waiter};
use crate::names::Names;
use crate::nesting::nests;
use crate::rules::{self, Case};

/// Locks of which the reason is given.
const EXPLAINED: usize = 3;
/// Callers of a lock call that are shown.
const CALLERS: usize = 2;
/// Locks that are listed.
const LISTED: usize = 10;
/// A lock with less of the waiting than this is not explained.
const LITTLE: f64 = 0.01;
/// Locks that are named with which one is nested.
const NESTS: usize = 3;
/// Of acquisitions, or in a section, so often at least.
const OFTEN: f64 = 0.05;
/// Waits of a deadlock are at least so long.
const DEADLOCK_NS: u64 = 100_000_000;
/// A name's columns in the table.
const NAME: usize = 48;
/// Less waiting than this share of the threads' time is nothing to win.
pub const NOTHING: f64 = 0.005;
/// A wait for a condition variable that is so short on average, in nanoseconds, lasts about
/// as long as one or two wake-ups take.
const QUICK_NS: u64 = 100_000;
/// So many of them, and so many each second, are worth a word.
const MANY: u64 = 1_000;
const MANY_A_SECOND: f64 = 1_000.0;

/// What is said about one process.
pub fn render(profile: &Profile) -> String {
    let names = Names::new(profile);
    let mut text = heading(profile);
    let waited: Vec<&Lock> = contended(profile).collect();
    let (stuck, is_deadlock) = stuck(profile, &names);
    let quick = quick_waits(profile);
    let is_nothing = waited.is_empty() || lost_share(profile) < NOTHING;
    if !profile.warnings.is_empty() {
        text += &damaged(profile);
    } else if is_deadlock {
        // That is the verdict.
    } else if !profile.locks.iter().any(Lock::is_lock) {
        text += &no_locks();
    } else if is_nothing {
        text += &nothing_to_win(profile, quick.is_some());
    }
    text += &stuck;
    if !waited.is_empty() {
        text += &format!("\n{}\n", list(profile, &names, &waited));
    }
    if !is_nothing {
        let all = profile.sum().waited as f64;
        let much = |lock: &&&Lock| lock.sum.waited as f64 >= all * LITTLE;
        let explained_ones = waited.iter().take_while(much).take(EXPLAINED);
        for (at, lock) in explained_ones.enumerate() {
            text += &explained(profile, &names, lock, at + 1);
        }
    }
    text += &shared_lines(profile, &names);
    text += &condvars(profile, &names);
    if let Some(quick) = quick {
        text += &format!("\n{quick}\n");
    }
    text += &futexes(profile, &names);
    text + &notes(profile, &names)
}

/// Locks that threads waited for, in the profile's order.
pub fn contended(profile: &Profile) -> impl Iterator<Item = &Lock> {
    let locks = profile.locks.iter();
    locks.filter(|lock| lock.is_lock() && lock.sum.waited > 0)
}

/// The time waited, as a share of the threads' time; threads are taken to live as long as
/// the process.
pub fn lost_share(profile: &Profile) -> f64 {
    let all = profile.seconds * profile.threads.max(1) as f64;
    profile.ns(profile.sum().waited as f64) as f64 / 1e9 / all.max(1e-9)
}

fn heading(profile: &Profile) -> String {
    let sum = profile.sum();
    let locks = profile.locks.iter().filter(|lock| lock.is_lock()).count();
    let policy = match profile.policy.as_str() {
        "" => "glibc's locks".to_owned(),
        policy => format!("the lock {policy}"),
    };
    // A program that used no lock has threads, too, but nobody counted them.
    let threads = match profile.threads {
        0 => String::new(),
        n => format!("{}, ", counted(n as usize, "thread")),
    };
    format!(
        "{} (process {}{}): {}, {threads}{policy}\n\
         {}, {} acquisitions, {} of them contended; threads waited {} in all\n",
        cut(&command(profile), 60),
        profile.pid,
        if profile.from_fork { ", forked" } else { "" },
        seconds(profile.seconds),
        counted(locks, "lock"),
        whole(sum.count),
        percent(sum.contention()),
        duration(profile.ns(sum.waited as f64)),
    )
}

/// What is wrong with the file; nothing is said of what it may have lost.
fn damaged(profile: &Profile) -> String {
    let lines = profile.warnings.iter();
    let lines: String = lines.map(|line| format!("warning: {line}\n")).collect();
    lines + "These figures are of a part of the run. Nobody knows what is missing.\n"
}

/// The threads that wait for a lock at the end of the recording, not for a condition variable.
/// Those that wait for a lock at the end of the recording.
pub fn lock_waiters(profile: &Profile) -> Vec<Waiter> {
    let is_lock = |waiter: &&Waiter| {
        let lock = profile.locks.iter().find(|l| l.address == waiter.lock);
        lock.is_none_or(Lock::is_lock)
    };
    profile.waiters.iter().filter(is_lock).cloned().collect()
}

/// What is said of threads that wait for a lock at the end of the recording, and whether it is a
/// deadlock: a circle of waits which have all been long. Who held a lock is known from when the
/// wait began, so a circle of short ones may be none.
fn stuck(profile: &Profile, names: &Names<'_>) -> (String, bool) {
    let waiters = lock_waiters(profile);
    let mut text = String::new();
    let is_long = |waiter: &&Waiter| profile.ns(waiter.since as f64) >= DEADLOCK_NS;
    for cycle in cycles(&waiters) {
        if !cycle.iter().all(is_long) {
            continue;
        }
        let _ = writeln!(text, "A deadlock of {}:", counted(cycle.len(), "thread"));
        for waiter in cycle {
            let _ = writeln!(text, "   {}", deadlock::line(profile, names, waiter));
        }
    }
    let is_deadlock = !text.is_empty();
    if !is_deadlock && !waiters.is_empty() {
        let _ = writeln!(
            text,
            "When the recording ended, {} waited for a lock:",
            counted(waiters.len(), "thread")
        );
        for waiter in waiters.iter().take(LISTED) {
            let _ = writeln!(text, "   {}", deadlock::line(profile, names, waiter));
        }
        if waiters.len() > LISTED {
            let _ = writeln!(text, "   and {} more", waiters.len() - LISTED);
        }
    }
    (text, is_deadlock)
}

/// The command line as one would type it.
pub fn command(profile: &Profile) -> String {
    match profile.command.is_empty() {
        true => "a program".to_owned(),
        false => shell(&profile.command),
    }
}

/// The command line that runs all of this again, and whether it comes to its end by itself.
fn runs_again(profile: &Profile) -> (String, bool) {
    let own = (&profile.command, profile.fate);
    let first = profile.started.as_ref().map(|f| (&f.command, f.fate));
    let (words, fate) = first
        .filter(|(_, fate)| *fate == Fate::Ended)
        .unwrap_or(own);
    // A process of init is a service; its manager ends it.
    let service = profile.started.is_none() && profile.parent <= 1;
    let text = shell(words);
    match text.is_empty() {
        true => (command(profile), true),
        false => (text, fate == Fate::Ended && !service),
    }
}

fn no_locks() -> String {
    "It made no pthread lock call: nothing to win here by another lock. Locks of Go, and of \
     programs that make their own system calls, and semaphores are not seen.\n"
        .to_owned()
}

/// The verdict where threads hardly waited for locks; `is_quick`: [`quick_waits`] has something.
pub fn nothing_to_win(profile: &Profile, is_quick: bool) -> String {
    let place = if is_quick { "by another lock" } else { "here" };
    match profile.sum().contended {
        0 => format!("Its locks were never contended: nothing to win {place}.\n"),
        _ => format!(
            "Threads waited for locks for {} of their time: nothing to win {place}.\n",
            percent(lost_share(profile))
        ),
    }
}

/// The sum of the waits for those condition variables that glibc's threads waited for often and
/// not for long; mostly not to the end of a deadline.
pub fn quick_sum(profile: &Profile) -> Counts {
    let mut sum = Counts::default();
    if !profile.policy.is_empty() {
        return sum;
    }
    for condvar in &profile.locks {
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
        rules::compare(&program, ends, "mutex")
    ))
}

fn list(profile: &Profile, names: &Names<'_>, locks: &[&Lock]) -> String {
    let header = [
        "lock",
        "waited",
        "share",
        "acquired",
        "contended",
        "wait p50",
        "p99",
        "hold p50",
        "p99",
        "queue",
    ];
    let all = profile.sum().waited;
    let quantile = |ticks: u64| match ticks {
        0 => "-".to_owned(),
        ticks => format!("≤ {}", duration(profile.ns(ticks as f64))),
    };
    let rows = locks.iter().take(LISTED).enumerate().map(|(at, lock)| {
        let sum = &lock.sum;
        let name = format!("{} {} {}", at + 1, lock.kind(), names.lock(lock));
        [
            cut(&name, NAME),
            duration(profile.ns(sum.waited as f64)),
            percent(mean(sum.waited as f64, all)),
            whole(sum.count),
            percent(sum.contention()),
            quantile(sum.wait_times.quantile(0.5)),
            quantile(sum.wait_times.quantile(0.99)),
            quantile(sum.hold_times.quantile(0.5)),
            quantile(sum.hold_times.quantile(0.99)),
            grouped(mean(sum.queue as f64, sum.contended), 2),
        ]
    });
    let mut text = table::render(header, rows);
    if locks.len() > LISTED {
        let rest: u64 = locks[LISTED..].iter().map(|lock| lock.sum.waited).sum();
        text += &format!(
            "\n… and {}, {} in all",
            counted(locks.len() - LISTED, "more lock"),
            duration(profile.ns(rest as f64))
        );
    }
    text
}

/// The finding for a lock of this profile.
pub fn finding(profile: &Profile, names: &Names<'_>, lock: &Lock) -> Finding {
    let (program, ends) = runs_again(profile);
    rules::why(&Case {
        profile,
        names,
        lock,
        program: &program,
        ends,
    })
}

fn explained(profile: &Profile, names: &Names<'_>, lock: &Lock, number: usize) -> String {
    let found = finding(profile, names, lock);
    let mut text = format!("\n{number}. {} {}\n", lock.kind(), names.lock(lock));
    let _ = writeln!(text, "   why: {}", found.why);
    for evidence in &found.evidence {
        let _ = writeln!(text, "        {evidence}");
    }
    let _ = writeln!(text, "   try: {}", found.advice);
    text + &nested(profile, names, lock) + &who(profile, names, lock)
}

/// Inside which locks it is taken, and which are taken inside it.
fn nested(profile: &Profile, names: &Names<'_>, lock: &Lock) -> String {
    let mut text = String::new();
    for nest in nests(profile, lock).iter().take(NESTS) {
        let is_inner = nest.inner.address == lock.address;
        let _ = match is_inner {
            true if nest.of_inner() >= OFTEN => writeln!(
                text,
                "   {} of its acquisitions are made while {} is held",
                percent(nest.of_inner()),
                cut(&names.lock(nest.outer), NAME)
            ),
            false if nest.by_section() >= OFTEN => writeln!(
                text,
                "   while it is held, {} is taken {} times on average",
                cut(&names.lock(nest.inner), NAME),
                grouped(nest.by_section(), 2)
            ),
            _ => Ok(()),
        };
    }
    text
}

/// Who waits, and who held it meanwhile.
fn who(profile: &Profile, names: &Names<'_>, lock: &Lock) -> String {
    let mut text = String::new();
    let time = |ticks: u64| duration(profile.ns(ticks as f64));
    for site in lock.sites.iter().filter(|s| s.counts.waited > 0).take(3) {
        let _ = writeln!(
            text,
            "   {} waited {} to {} it",
            names.site(site.address),
            time(site.counts.waited),
            site.how.name()
        );
        text += &from_where(profile, names, lock, site.address);
        let mut holders: Vec<(u64, u64, Vec<u64>)> = Vec::new();
        for blame in lock.blames.iter().filter(|b| b.site == site.address) {
            match holders.iter_mut().find(|h| h.0 == blame.holder_site) {
                Some(known) => {
                    known.1 += blame.waited;
                    known.2.extend(blame.holder);
                }
                None => holders.push((
                    blame.holder_site,
                    blame.waited,
                    blame.holder.into_iter().collect(),
                )),
            }
        }
        holders.sort_by_key(|holder| u64::MAX - holder.1);
        for (holder, waited, threads) in holders.iter().take(2) {
            let _ = writeln!(
                text,
                "      {} of that while {} held it{}",
                time(*waited),
                names.site(*holder),
                of_threads(profile, threads)
            );
        }
    }
    text
}

/// The callers in the stack that waited longest, where the call itself is in a wrapper.
fn from_where(profile: &Profile, names: &Names<'_>, lock: &Lock, site: u64) -> String {
    let stack = profile
        .stacks
        .iter()
        .find(|stack| stack.lock == lock.address && stack.frames.first() == Some(&site));
    let callers: Vec<String> = stack
        .map(|stack| &stack.frames[1..])
        .unwrap_or_default()
        .iter()
        .take(CALLERS)
        .map(|address| cut(&names.site(*address), NAME))
        .collect();
    match callers.is_empty() {
        true => String::new(),
        false => format!("      called by {}\n", callers.join(", by ")),
    }
}

fn of_threads(profile: &Profile, threads: &[u64]) -> String {
    let tid = |number: &u64| profile.tid(*number).unwrap_or(*number).to_string();
    match threads {
        [] => String::new(),
        [one] => format!(" (thread {})", tid(one)),
        [first, rest @ ..] => format!(" (thread {} and {} more)", tid(first), rest.len()),
    }
}

fn shared_lines(profile: &Profile, names: &Names<'_>) -> String {
    let near = rules::neighbours(profile, 64);
    let mut wide = rules::neighbours(profile, 128);
    wide.retain(|(a, _)| !near.iter().any(|(known, _)| known.address == a.address));
    let mut text = String::new();
    for (pairs, what) in [
        (
            near,
            "False sharing: they are in one cache line of 64 bytes.",
        ),
        (
            wide,
            "Perhaps false sharing: they are in one pair of cache lines (128 bytes), which many \
             CPUs fetch together.",
        ),
    ] {
        let Some((a, b)) = pairs.first() else {
            continue;
        };
        let _ = writeln!(
            text,
            "\n{} of locks that are both used much, as {} and {}. {what} Put each lock on a line \
             of its own.",
            counted(pairs.len(), "pair"),
            names.lock(a),
            names.lock(b)
        );
    }
    text
}

fn condvars(profile: &Profile, names: &Names<'_>) -> String {
    let mut all: Vec<&Lock> = profile
        .locks
        .iter()
        .filter(|l| l.kind() == "condvar")
        .collect();
    all.sort_by_key(|condvar| u64::MAX - condvar.of(Use::Wait).count);
    if all.is_empty() {
        return String::new();
    }
    let header = [
        "condition variable",
        "waits",
        "mean wait",
        "timed out",
        "useless",
        "signals",
        "unheard",
        "broadcasts",
        "woken by each",
    ];
    let rows = all.iter().take(5).map(|condvar| {
        let (waits, signals) = (condvar.of(Use::Wait), condvar.of(Use::Signal));
        let broadcasts = condvar.of(Use::Broadcast);
        [
            cut(&names.lock(condvar), NAME),
            whole(waits.count),
            duration(profile.ns(mean(waits.waited as f64, waits.count))),
            whole(waits.timeouts),
            whole(waits.useless),
            whole(signals.count),
            whole(signals.failed),
            whole(broadcasts.count),
            grouped(mean(broadcasts.queue as f64, broadcasts.count), 1),
        ]
    });
    format!("\n{}\n", table::render(header, rows))
}

fn futexes(profile: &Profile, names: &Names<'_>) -> String {
    let mut text = String::new();
    let all = profile.locks.iter().filter(|lock| lock.has(Use::Futex));
    let sums: Vec<(&Lock, Counts)> = all.map(|l| (l, l.of(Use::Futex))).collect();
    if sums.is_empty() {
        return text;
    }
    let waited: u64 = sums.iter().map(|(_, sum)| sum.waited).sum();
    let count: u64 = sums.iter().map(|(_, sum)| sum.count).sum();
    let _ = writeln!(
        text,
        "\nThreads waited {} in {} futex calls of locks, or of other waits, that are not pthread's:",
        duration(profile.ns(waited as f64)),
        whole(count)
    );
    for (lock, sum) in sums.iter().take(3) {
        let site = lock.sites.iter().find(|site| site.how == Use::Futex);
        let _ = writeln!(
            text,
            "   {} times, {}: {}",
            whole(sum.count),
            duration(profile.ns(sum.waited as f64)),
            names.site(site.map_or(0, |site| site.address))
        );
    }
    text
}

/// What the figures cannot know, and what went wrong.
fn notes(profile: &Profile, names: &Names<'_>) -> String {
    let mut text = String::from("\n");
    let mut note = |line: String| {
        let _ = writeln!(text, "note: {line}");
    };
    let sampled = profile
        .locks
        .iter()
        .any(|l| l.is_lock() && l.sum.count > l.sum.timed + 16);
    if sampled {
        note(
            "holds of contended acquisitions are all timed; of uncontended short ones one in 64, \
             or of very many one in 256"
                .to_owned(),
        );
    }
    if !profile.ended {
        note(match profile.fate {
            Fate::Runs => "the process still runs; all is as it was a moment ago".to_owned(),
            Fate::Stopped(signal) => {
                format!("signal {signal} ended the process; all is as it left it")
            }
            _ => "the process did not end by exit(); all is as it left it".to_owned(),
        });
    }
    if profile.dropped > 0 || profile.refused > 0 {
        note(format!(
            "the file had no room for more: {} acquisitions are in no lock's figures",
            whole(profile.dropped)
        ));
    }
    if profile.deep > 0 {
        note(format!(
            "{} acquisitions were made with 32 locks held, and their holds are not timed",
            whole(profile.deep)
        ));
    }
    if profile.unknown > 0 {
        note(format!(
            "{} unlocks were of locks that another thread had locked, or before the recording",
            whole(profile.unknown)
        ));
    }
    for warning in names.warnings() {
        let _ = writeln!(text, "warning: {warning}");
    }
    match text.trim().is_empty() {
        true => String::new(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Site;

    /// A condition variable with so many waits of so many nanoseconds each.
    fn condvar(address: u64, count: u64, each: u64, timeouts: u64) -> Lock {
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
        let quick = || condvar(64, 2_000, 50_000, 0);
        let text = said("", vec![quick()]).expect("a sentence");
        assert!(text.contains("2,000 times a second, for 50.0 µs"), "{text}");
        // One that is waited for long does not hide it.
        let idle = condvar(128, 5, 200_000_000, 0);
        assert!(said("", vec![quick(), idle]).is_some());
        // Lockwork's own, few, long ones, and those that run out of time.
        assert!(said("mutex", vec![quick()]).is_none());
        assert!(said("", vec![condvar(64, 900, 50_000, 0)]).is_none());
        assert!(said("", vec![condvar(64, 2_000, 300_000, 0)]).is_none());
        assert!(said("", vec![condvar(64, 2_000, 50_000, 1_500)]).is_none());
        assert!(said("", Vec::new()).is_none());
    }
}
