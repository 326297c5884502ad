// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The report on the terminal: the few locks that matter, and why.

use std::fmt::Write;

use lockwork_report::finding::Finding;
use lockwork_report::table;
use lockwork_report::text::{counted, cut, duration, grouped, percent, whole};

use crate::herd::herds;
use crate::model::{Blame, Fate, Lock, Profile, Site, Use, Waiter};
use crate::names::{Names, NAME};
use crate::nesting::nests;
use crate::program::{command, runs_again};
use crate::rules::{self, Case};
use crate::starving::starving;
use crate::tables::{self, LISTED};
use crate::users::lock_waiters;
use crate::verdict::{self, deadlocks, is_nothing, quick_waits, tried};
use crate::{callers, deadlock, futexes, raw, sharing, unseen};

/// Locks of which the reason is given.
const EXPLAINED: usize = 3;
/// Further reasons that are named.
const ALSO: usize = 2;
/// Callers of a lock call that are shown.
const CALLERS: usize = 2;
/// A lock with less of the waiting than this is not explained.
const LITTLE: f64 = 0.01;
/// Locks that are named with which one is nested.
const NESTS: usize = 3;
/// Of acquisitions, or in a section, so often at least.
const OFTEN: f64 = 0.05;
/// What is said about one process, in a terminal of so many columns.
pub fn render(profile: &Profile, width: Option<usize>) -> String {
    let names = Names::new(profile);
    let waited: Vec<&Lock> = contended(profile).collect();
    let verdict = verdict::verdict(profile);
    let mut text = heading(profile) + &verdict + &stuck(profile, &names);
    if !waited.is_empty() {
        text += &format!("\n{}\n", list(profile, &names, &waited, width));
    }
    if !is_nothing(profile) {
        let all = profile.sum().waited as f64;
        let much =
            |lock: &&&Lock| lock.sum.waited as f64 >= all * LITTLE || starving(profile, lock) > 0;
        let explained_ones = waited.iter().take_while(much).take(EXPLAINED);
        for (at, lock) in explained_ones.enumerate() {
            text += &explained(profile, &names, lock, at + 1);
        }
    }
    for sentence in sharing::sentences(profile, &names) {
        let _ = writeln!(text, "\n{sentence}");
    }
    text += &callers::render(profile, &names);
    text += &condvars(profile, &names, width);
    if let Some(quick) = quick_waits(profile) {
        text += &format!("\n{quick}\n");
    }
    text += &futexes(profile, &names);
    text + &notes(profile, &names, &verdict)
}

/// Locks that threads waited for, those that cost most time first; also one for which a writer
/// [starves](starving), though its wait has not ended.
pub fn contended(profile: &Profile) -> impl Iterator<Item = &Lock> {
    let locks = profile.locks.iter().filter(|lock| lock.is_lock());
    let lost = locks.map(|lock| (lock.sum.waited + starving(profile, lock), lock));
    let mut all: Vec<(u64, &Lock)> = lost.filter(|(lost, _)| *lost > 0).collect();
    all.sort_by_key(|(lost, _)| u64::MAX - lost);
    all.into_iter().map(|(_, lock)| lock)
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
        n => format!("{} at a time, ", counted(n as usize, "thread")),
    };
    format!(
        "{} (process {}{}): {}, {threads}{policy}\n\
         {}, {}, {} of them contended{}; {}\n{}",
        cut(&command(profile), 60),
        profile.pid,
        if profile.from_fork { ", forked" } else { "" },
        profile.length(),
        counted(locks, "lock"),
        counted(sum.count as usize, "acquisition"),
        percent(sum.contention()),
        sum.timed_out(),
        verdict::waited(profile),
        cpus(profile).map_or_else(String::new, |cpus| format!("{cpus}\n")),
    )
}

/// Of a run that is shorter, in seconds, what it took of the CPUs is mostly its start.
const SHORT: f64 = 0.1;

/// How busy the program kept its CPUs, if its end was seen.
pub(crate) fn cpus(profile: &Profile) -> Option<String> {
    let used = profile.usage?.cpu / profile.seconds;
    let cpus = profile.cpus?;
    (profile.seconds >= SHORT).then(|| {
        format!(
            "The program used {} of {} on average.",
            match used.min(cpus as f64) {
                little if little < 0.05 => "less than 0.1".to_owned(),
                used => grouped(used, 1),
            },
            counted(cpus as usize, "CPU")
        )
    })
}

/// The threads that wait for a lock at the end of the recording: deadlocks, or some of them.
fn stuck(profile: &Profile, names: &Names<'_>) -> String {
    let mut text = String::new();
    let line = |waiter: &Waiter| format!("   {}\n", deadlock::line(profile, names, waiter));
    for circle in deadlocks(profile) {
        let _ = writeln!(text, "A deadlock of {}:", counted(circle.len(), "thread"));
        text.extend(circle.iter().map(line));
    }
    let waiters = lock_waiters(profile);
    if text.is_empty() && !waiters.is_empty() {
        let _ = writeln!(
            text,
            "When the recording ended, {} waited for a lock:",
            counted(waiters.len(), "thread")
        );
        text.extend(waiters.iter().take(LISTED).map(line));
        if waiters.len() > LISTED {
            let _ = writeln!(text, "   and {} more", waiters.len() - LISTED);
        }
    }
    text
}

fn list(profile: &Profile, names: &Names<'_>, locks: &[&Lock], width: Option<usize>) -> String {
    let shown = &locks[..locks.len().min(LISTED)];
    let mut rows = tables::locks(profile, names, shown);
    for (at, row) in rows.iter_mut().enumerate() {
        row[0] = cut(&format!("{} {}", at + 1, row[0]), NAME);
    }
    let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
    let mut text = table::within(width, &tables::LOCKS, &rows, tables::LESS);
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

/// Why threads wait for a lock of this profile, and what else is so.
pub fn why(profile: &Profile, names: &Names<'_>, lock: &Lock) -> (Finding, Vec<Finding>) {
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
    let (found, also) = why(profile, names, lock);
    let text = format!("\n{number}. {} {}\n", lock.full_kind(), names.lock(lock));
    text + &reason(&found, &also) + &nested(profile, names, lock) + &who(profile, names, lock)
}

fn reason(found: &Finding, also: &[Finding]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "   why: {}", found.why);
    for evidence in &found.evidence {
        let _ = writeln!(text, "        {evidence}");
    }
    for other in also.iter().take(ALSO) {
        let _ = writeln!(text, "   also: {}", other.why);
    }
    let _ = writeln!(text, "   try: {}", found.advice);
    text
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

/// The calls that waited; those that have one name, as two lambdas of one line, are together.
fn alike<'a>(names: &Names<'_>, lock: &'a Lock) -> Vec<(String, Use, Vec<&'a Site>)> {
    let mut all: Vec<(String, Use, Vec<&Site>)> = Vec::new();
    for site in lock.sites.iter().filter(|s| s.counts.waited > 0) {
        let name = names.locker(site.address);
        match all
            .iter_mut()
            .find(|(known, how, _)| *known == name && *how == site.how)
        {
            Some((_, _, sites)) => sites.push(site),
            None => all.push((name, site.how, vec![site])),
        }
    }
    all
}

/// Who waits, and who held it meanwhile.
fn who(profile: &Profile, names: &Names<'_>, lock: &Lock) -> String {
    let mut text = String::new();
    let time = |ticks: u64| duration(profile.ns(ticks as f64));
    for (name, how, sites) in alike(names, lock).iter().take(3) {
        let waited = sites.iter().map(|site| site.counts.waited).sum();
        let _ = writeln!(
            text,
            "   {name} waited {} to {}",
            time(waited),
            match how {
                Use::Back => "take it back after a wait for a condition variable".to_owned(),
                how => format!("{} it", how.name()),
            }
        );
        for site in sites {
            text += &from_where(profile, names, lock, site.address);
        }
        let mut holders: Vec<(String, u64, Vec<u64>)> = Vec::new();
        let is_theirs = |blame: &&Blame| sites.iter().any(|site| site.address == blame.site);
        for blame in lock.blames.iter().filter(is_theirs) {
            let holder = names.locker(blame.holder_site);
            match holders.iter_mut().find(|h| h.0 == holder) {
                Some(known) => {
                    known.1 += blame.waited;
                    let new = blame.holder.filter(|thread| !known.2.contains(thread));
                    known.2.extend(new);
                }
                None => holders.push((holder, blame.waited, blame.holder.into_iter().collect())),
            }
        }
        holders.sort_by_key(|holder| u64::MAX - holder.1);
        for (holder, waited, threads) in holders.iter().take(2) {
            let _ = writeln!(
                text,
                "      {} of that while {} held it{}",
                time(*waited),
                holder,
                of_threads(profile, threads)
            );
        }
    }
    text
}

/// The callers in the stack that waited longest, where the call itself is in a wrapper.
fn from_where(profile: &Profile, names: &Names<'_>, lock: &Lock, site: u64) -> String {
    let callers = callers::called_by(profile, names, (lock.address, site), CALLERS);
    callers.map_or_else(String::new, |callers| format!("      {callers}\n"))
}

fn of_threads(profile: &Profile, threads: &[u64]) -> String {
    let tid = |number: &u64| profile.tid(*number).unwrap_or(*number).to_string();
    match threads {
        [] => String::new(),
        [one] => format!(" (thread {})", tid(one)),
        [first, rest @ ..] => format!(" (thread {} and {} more)", tid(first), rest.len()),
    }
}

fn condvars(profile: &Profile, names: &Names<'_>, width: Option<usize>) -> String {
    let mut rows = tables::condvars(profile, names);
    if rows.is_empty() {
        return String::new();
    }
    for row in &mut rows {
        row[0] = cut(&row[0], NAME);
    }
    let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
    let table = table::within(width, &tables::CONDVAR, &rows, tables::LESS_CONDVAR);
    let mut text = format!("\n{table}\n");
    for herd in herds(profile).iter().take(EXPLAINED) {
        let kind = herd.condvar.kept.of("condition variable");
        let _ = writeln!(text, "\n{kind} {}", names.lock(herd.condvar));
        text += &reason(&herd.finding(profile), &[]);
    }
    text
}

fn futexes(profile: &Profile, names: &Names<'_>) -> String {
    let seen = futexes::of(profile, names)
        .map(|found| format!("\n{}:\n   {}\n", found.sum, found.sites.join("\n   ")));
    let own = futexes::own(profile, names).map(|own| format!("\n{own}.\n"));
    [seen, own].into_iter().flatten().collect()
}

/// The locks and condition variables that other processes may use, as a sentence.
fn shared(profile: &Profile) -> Option<String> {
    let all = profile.locks.iter().filter(|lock| lock.kept.is_shared());
    let (locks, condvars): (Vec<&Lock>, Vec<&Lock>) = all.partition(|lock| lock.is_lock());
    let number = locks.len() + condvars.len();
    let kinds = [
        (locks.len(), "lock"),
        (condvars.len(), "condition variable"),
    ];
    let kinds = kinds.iter().filter(|(n, _)| *n > 0);
    let kinds: Vec<String> = kinds.map(|(n, kind)| counted(*n, kind)).collect();
    (number > 0).then(|| {
        format!(
            "other processes may use {} of these, too: what they do with {} is in their own recordings",
            kinds.join(" and "),
            if number == 1 { "it" } else { "them" }
        )
    })
}

/// What the figures cannot know, and what went wrong, unless the verdict `said` so.
fn notes(profile: &Profile, names: &Names<'_>, said: &str) -> String {
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
            "each contended acquisition's hold is timed; of the other short holds a random sample is, at \
             least one of 256"
                .to_owned(),
        );
    }
    let sum = profile.sum();
    if let Some(tried) = tried(sum.failed, sum.count).filter(|_| !is_nothing(profile)) {
        note(tried);
    }
    if profile.replaced {
        let other = match profile.goes_on {
            true => "which has a report of its own",
            false => "which made no lock call that was seen",
        };
        note(format!(
            "exec replaced the program by another one, {other}; all is as it was then"
        ));
    } else if !profile.ended {
        note(match profile.fate {
            Fate::Runs => "the process still runs; all is as it was a moment ago".to_owned(),
            Fate::Stopped(signal) => {
                format!("signal {signal} ended the process; all is as it left it")
            }
            Fate::Ended => {
                "the process ended by _exit(), or executed another program; all is as it \
                            left it"
                    .to_owned()
            }
            Fate::Gone => "the process did not end by exit(); all is as it left it".to_owned(),
        });
    }
    if profile.all_stacks {
        note(
            "the stack of each acquisition was taken, which makes calls slower: read times from a \
             recording without --stacks all"
                .to_owned(),
        );
    }
    if let Some(missing) = profile.no_room() {
        note(missing);
    }
    shared(profile).into_iter().for_each(&mut note);
    unseen::beside(profile, said)
        .into_iter()
        .for_each(&mut note);
    let beyond = profile.locks.iter().filter(|lock| lock.held_beyond);
    match beyond.count() {
        0 => {}
        n => note(format!(
            "the holds of {}, estimated from samples, come to more than the run: they are cut off \
             there, and no reason rests on them",
            counted(n, "lock")
        )),
    }
    if profile.deep > 0 {
        note(format!(
            "{} holds are not seen to end, because their threads held 32 more locks by then",
            whole(profile.deep)
        ));
    }
    // Those that are not seen to end are unlocked later.
    let unknown = profile.unknown.saturating_sub(profile.deep);
    if unknown > 0 {
        note(format!(
            "{} of locks that the calling thread had not locked: another one had, nobody had, or \
             that was before the recording",
            counted(unknown as usize, "unlock")
        ));
    }
    match profile.silent {
        0 => {}
        1 => note(
            "a process with several threads made no lock call that is seen, or could not be \
             recorded (then it says so on standard error)"
                .to_owned(),
        ),
        n => note(format!(
            "{} processes with several threads made no lock call that is seen, or could not be \
             recorded (then they say so on standard error)",
            whole(n)
        )),
    }
    if profile.threads > raw::MAX_WAITS as u64 {
        note(format!(
            "a queue is counted among the first {} threads: later ones are in none",
            whole(raw::MAX_WAITS as u64)
        ));
    }
    // Where it made no lock call at all, the verdict says so.
    if profile.locks.iter().any(Lock::is_lock) {
        unseen::unrecorded(profile).into_iter().for_each(&mut note);
    }
    for warning in names.warnings() {
        let _ = writeln!(text, "warning: {warning}");
    }
    match text.trim().is_empty() {
        true => String::new(),
        false => text,
    }
}
