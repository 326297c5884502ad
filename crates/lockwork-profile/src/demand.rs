// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a simulator needs to know of a program's locks: how often each is taken, by how many
//! threads, for how long, and what the threads do in between. `lockwork predict` asks.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use lockwork_report::text::{counted, percent};

use crate::command::profiles;
use crate::histogram::Histogram;
use crate::model::{mean, Counts, Lock, Profile, Use};
use crate::names::Names;
use crate::nesting::{nested_in, nests, Nest};
use crate::share::Share;
use crate::unseen::Unseen;
use crate::users::{by_thread, lock_waiters, users, ONLY_USER};
use crate::{program, verdict};

/// Of a thread's time, or of the waiting: less than this is not worth a rule.
const LITTLE: f64 = 0.1;
/// Holds of at least so many ns may be of holders that lost their CPU.
const LOST_CPU_NS: f64 = 500_000.0;
/// A holder that lost its CPU has it back sooner.
const LOST_AT_MOST_NS: f64 = 50_000_000.0;
/// A call site with so large a share of long holds has sections that take so long.
const OWN: f64 = 0.1;
/// The long holds of the others are taken for such if they are fewer than this share of theirs.
const RARE: f64 = 0.001;
/// A lock that was acquired less often does not show how it is used.
const RARELY: u64 = 8;
/// A lock that fewer threads use has nobody to wait for.
const SHARED_BY: f64 = 1.5;

/// Two locks are nested often if so many of the inner one's acquisitions, and of the outer one's
/// sections, have to do with the other.
const NESTED: f64 = 0.1;
/// They are used by the same threads if these make so large a share of the acquisitions.
const SAME: f64 = 0.8;
/// Of so many locks, those that were waited for longest, it is asked with which they are nested.
const PAIRED: usize = 8;

/// What kind of lock it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A mutex.
    Mutex,
    /// A read/write lock.
    RwLock,
    /// A spinlock.
    Spinlock,
}

/// How long something took.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    /// On average, ns.
    pub mean: f64,
    /// From, to (ns), and how many: in rising order. Without any, only the mean is known.
    pub classes: Vec<(f64, f64, u64)>,
}

/// How one lock is used.
#[derive(Clone, Debug)]
pub struct Demand {
    /// As reports call it.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Holds: also those after a wait for a condition variable; a recursive one is one.
    pub acquisitions: u64,
    /// Its share of the program's whole waiting.
    pub of_waiting: f64,
    /// Threads that use it, weighted by how much: two that use it alike, and a third one that
    /// took it once, are 2.
    pub threads: f64,
    /// Acquisitions a second, of the time in which nobody else had the threads' CPUs.
    pub rate: f64,
    /// Acquisitions a second of the run.
    pub whole_rate: f64,
    /// The share of these threads' time in which one holds it.
    pub held: f64,
    /// The share of acquisitions that are for reading.
    pub reads: f64,
    /// Samples say that it was held for longer than the run: how long sections take is not known.
    pub held_beyond: bool,
    /// Exclusive sections.
    pub section: Times,
    /// Shared ones, if there are any.
    pub read_section: Option<Times>,
    /// Between a release and the next acquisition, on the CPU.
    pub think: Times,
    /// Before so large a share of acquisitions a thread sleeps, for so many ns on average.
    pub sleep: Option<(f64, f64)>,
    /// Holds that are left out of the sections: how many, and their share of the time held.
    pub left_out: Option<(u64, f64)>,
    /// The lock with which it is nested, if that happens often.
    pub partner: Option<Partner>,
}

impl Demand {
    /// A section on average, ns; shared ones as many as there are.
    pub fn mean_section(&self) -> f64 {
        let shared = self.read_section.as_ref().map_or(0.0, |times| times.mean);
        self.reads * shared + (1.0 - self.reads) * self.section.mean
    }
}

/// The lock with which another one is nested most, of those that threads share and that are of
/// the same kind.
#[derive(Clone, Debug)]
pub struct Partner {
    /// How it is used. It has no partner here.
    pub lock: Box<Demand>,
    /// It is held while the other one is taken; else the other way round.
    pub is_outer: bool,
    /// Acquisitions of the inner lock while the outer one is held.
    pub together: f64,
    /// How long a thread waits for the inner lock there, ns: the mean of these acquisitions, also
    /// of those that did not wait.
    pub inner_wait: f64,
}

/// A program and the locks that its threads share.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its command line.
    pub command: String,
    /// The command line that runs it again: the one that was recorded, where this is a child.
    pub again: String,
    /// The policy whose locks it ran with; `glibc` if they were its own.
    pub lock: String,
    /// How long it was recorded.
    pub seconds: f64,
    /// Threads that used locks, weighted as [`Demand::threads`].
    pub threads: f64,
    /// The share of the threads' time that they waited for locks, as [`Share`] has it.
    pub waited: f64,
    /// The part of [`Program::waited`] that was for locks that no policy replaces.
    pub kept: f64,
    /// The locks that threads share and a policy replaces, and that are taken often enough to say how;
    /// those that were waited for longest first.
    pub locks: Vec<Demand>,
    /// What is said of its waits for condition variables, if other locks may make them shorter.
    pub quick_waits: Option<String>,
    /// Waits for condition variables that ended with taking a mutex back, where that may have taken
    /// long: how long is not seen, and not in [`Program::waited`].
    pub taken_back: u64,
    /// Threads waited long in what is in no lock's figures: a note says in what.
    pub partly_seen: bool,
    /// Threads that waited for a lock when the recording ended.
    pub still_waiting: usize,
    /// Their waits are half of all waiting or more: the waits that ended do not say what the
    /// program does.
    pub stuck: bool,
    /// Why locks are not among [`Program::locks`] for which a tenth of the waiting is: a sentence each.
    pub left_out: Vec<String>,
    /// What had to be decided, or is missing: a sentence each.
    pub notes: Vec<String>,
    /// The share of all acquisitions for which the file had no room.
    pub dropped: f64,
    /// The profile's file is cut short or damaged; the first note says how.
    pub damaged: bool,
}

/// What `file` and its children's files say; of several processes, the one that waited longest.
///
/// # Errors
/// `file` cannot be read or is no profile.
pub fn program(file: &Path) -> Result<Program> {
    let all = profiles(file, false)?;
    let used = all.iter().filter(|profile| profile.sum().count > 0).count();
    let mut program = of(&all[0]);
    if used > 1 {
        program.notes.push(format!(
            "{used} processes used locks; this is the one whose threads waited longest"
        ));
    }
    Ok(program)
}

fn of(profile: &Profile) -> Program {
    let names = Names::new(profile);
    let case = Case::of(profile);
    let shared = profile.locks.iter().filter(|lock| lock.is_lock());
    let mut locks: Vec<(&Lock, Demand)> = shared
        .filter(|lock| why_left_out(lock).is_none())
        .map(|lock| (lock, case.demand(lock, names.lock(lock))))
        .collect();
    locks.sort_by(|(_, a), (_, b)| {
        let waiting = b.of_waiting.total_cmp(&a.of_waiting);
        waiting.then(b.held.total_cmp(&a.held))
    });
    let partners: Vec<Option<Partner>> = locks
        .iter()
        .take(PAIRED)
        .map(|(lock, demand)| partner(profile, lock, demand, &locks))
        .collect();
    let mut locks: Vec<Demand> = locks.into_iter().map(|(_, demand)| demand).collect();
    for (lock, partner) in locks.iter_mut().zip(partners) {
        lock.partner = partner;
    }
    let left_out = left_out(profile, &names);
    let kept = profile
        .locks
        .iter()
        .filter(|lock| lock.is_lock() && lock.kept.is_kept());
    let kept: u64 = kept.map(|lock| lock.sum.waited).sum();
    let share = Share::ended(profile);
    let unseen = Unseen::of(profile);
    let more = only_for_what_was_seen(&unseen);
    let mut notes = profile.warnings.clone();
    notes.extend(at_least(profile));
    notes.extend(more.clone());
    notes.extend(case.notes());
    notes.extend(beyond(&locks));
    notes.extend(left_out.clone());
    Program {
        command: program::command(profile),
        again: program::runs_again(profile).0,
        lock: match profile.policy.as_str() {
            "" => "glibc".to_owned(),
            policy => policy.to_owned(),
        },
        seconds: profile.seconds,
        threads: case.threads,
        waited: share.waiting(),
        kept: share.of(kept as f64),
        locks,
        quick_waits: verdict::quick_waits(profile),
        taken_back: unseen.taken_back,
        partly_seen: more.is_some(),
        still_waiting: lock_waiters(profile).len(),
        stuck: verdict::is_stuck(profile),
        left_out,
        notes,
        dropped: profile.dropped_share(),
        damaged: !profile.warnings.is_empty(),
    }
}

/// Of sections that are not known.
fn beyond(locks: &[Demand]) -> Option<String> {
    let number = locks.iter().filter(|lock| lock.held_beyond).count();
    (number > 0).then(|| {
        format!(
            "the holds of {}, estimated from samples, come to more than the run: they are cut off there, so \
             simulated sections may be far too long or too short",
            counted(number, "lock")
        )
    })
}

/// Of all shares and rates.
fn at_least(profile: &Profile) -> Option<String> {
    profile.at_least.then(|| {
        format!(
            "when the process ended is not known: it ran for {}, so shares of time and numbers a second \
             may be far too high",
            profile.length()
        )
    })
}

/// Of the bound for what other locks may win.
fn only_for_what_was_seen(unseen: &Unseen) -> Option<String> {
    let others = Unseen {
        taken_back: 0,
        ..*unseen
    };
    (!others.is_little()).then(|| {
        format!(
            "all this is of the locks that were seen; {}",
            others.told().join("; and ")
        )
    })
}

/// Whether several threads use it, and not one for the most part.
fn is_shared(lock: &Lock) -> bool {
    users(lock.by_thread.iter().map(|(_, n)| *n)) >= SHARED_BY
}

/// Why a lock is not simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOut {
    /// No policy replaces it.
    Kept,
    /// So few acquisitions say nothing of sections and thinking times.
    Rare,
    /// One thread makes most of them.
    OneSided,
}

fn why_left_out(lock: &Lock) -> Option<LeftOut> {
    if lock.kept.is_kept() {
        Some(LeftOut::Kept)
    } else if !is_shared(lock) {
        Some(LeftOut::OneSided)
    } else if lock.sum.count + lock.sum.taken_back() < RARELY {
        Some(LeftOut::Rare)
    } else {
        None
    }
}

/// For each reason the lock that threads wait for longest, and how many more there are, if each has a
/// real part of the waiting: a sentence.
fn left_out(profile: &Profile, names: &Names<'_>) -> Vec<String> {
    let reasons = [LeftOut::Kept, LeftOut::OneSided, LeftOut::Rare];
    let sentences = reasons.iter().map(|why| left_out_for(*why, profile, names));
    sentences.flatten().collect()
}

fn left_out_for(why: LeftOut, profile: &Profile, names: &Names<'_>) -> Option<String> {
    let locks = profile.locks.iter().filter(|lock| lock.is_lock());
    let waited = profile.sum().waited;
    let share = |lock: &Lock| mean(lock.sum.waited as f64, waited);
    let is_such = |lock: &Lock| why_left_out(lock) == Some(why) && share(lock) >= LITTLE;
    // A lock that one thread alone takes makes no thread of this process wait.
    let mut all: Vec<&Lock> = locks
        .filter(|l| is_such(l) && (why == LeftOut::Kept || l.by_thread.len() > 1))
        .collect();
    all.sort_by_key(|lock| Reverse(lock.sum.waited));
    let (lock, others) = all.split_first()?;
    let name = names.lock(lock);
    let waiting = format!("for which {} of the waiting is", percent(share(lock)));
    let mut text = match why {
        LeftOut::Kept => format!(
            "no policy replaces the {} {name}, {waiting}, so it is left out",
            lock.full_kind()
        ),
        LeftOut::Rare => format!(
            "{name}, {waiting}, was acquired {} in all, too seldom to say how it is used, so it is left \
             out",
            counted(lock.sum.count as usize, "time")
        ),
        LeftOut::OneSided => {
            let most = lock.by_thread.iter().map(|(_, n)| *n).max()?;
            let all: u64 = lock.by_thread.iter().map(|(_, n)| n).sum();
            let part = match mean(most as f64, all) {
                share if share >= ONLY_USER => "nearly all".to_owned(),
                share => format!("{} of all", percent(share)),
            };
            format!(
                "one thread makes {part} acquisitions of {name}, {waiting}; simulated threads all do \
                 alike, so it is left out"
            )
        }
    };
    if !others.is_empty() {
        let waited: f64 = others.iter().map(|lock| share(lock)).sum();
        let _ = write!(
            text,
            ", and so {} {} for which {} of the waiting is",
            if others.len() == 1 { "is" } else { "are" },
            counted(others.len(), "further lock"),
            percent(waited)
        );
    }
    Some(text)
}

/// The lock of `shared` with which `lock` is nested most.
fn partner(
    profile: &Profile,
    lock: &Lock,
    demand: &Demand,
    shared: &[(&Lock, Demand)],
) -> Option<Partner> {
    let often = |nest: &Nest<'_>| nest.of_inner() >= NESTED && nest.by_section() >= NESTED;
    nests(profile, lock).into_iter().find_map(|nest| {
        let is_outer = nest.inner.address == lock.address;
        let other = if is_outer { nest.outer } else { nest.inner };
        let (_, found) = shared
            .iter()
            .find(|(known, _)| known.address == other.address)?;
        let wait = mean(nest.waited as f64, nest.count);
        let nested = often(&nest) && used_by_the_same(nest.outer, nest.inner);
        (nested && found.kind == demand.kind).then(|| Partner {
            lock: Box::new(found.clone()),
            is_outer,
            together: nest.of_inner() * nest.inner.sum.count as f64,
            inner_wait: wait * profile.ns_per_tick,
        })
    })
}

/// Whether most of the inner lock's acquisitions are by threads that take the outer one, too.
/// Otherwise a round of both would be nobody's.
fn used_by_the_same(outer: &Lock, inner: &Lock) -> bool {
    let takes_outer = |thread: u64| outer.by_thread.iter().any(|(other, _)| *other == thread);
    let all: u64 = inner.by_thread.iter().map(|(_, n)| n).sum();
    let by_them = inner
        .by_thread
        .iter()
        .filter(|(thread, _)| takes_outer(*thread));
    let by_them: u64 = by_them.map(|(_, n)| n).sum();
    by_them as f64 >= SAME * all as f64
}

/// How long, in ns, and how often threads waited for condition variables that acquire so often.
/// A thread counts as much as it does among the [`users`], so one that hardly acquires does not.
fn idle(profile: &Profile, by_thread: &[(u64, u64)]) -> (f64, f64) {
    let each = || by_thread.iter().map(|(_, n)| *n);
    let sum: f64 = each().map(|n| n as f64).sum();
    let of: HashMap<u64, u64> = by_thread.iter().copied().collect();
    let one = sum / users(each()).max(1.0);
    profile.idle.iter().fold((0.0, 0.0), |(ns, waits), idle| {
        let count = of.get(&idle.thread).copied().unwrap_or(0);
        let weight = (count as f64 / one.max(1.0)).min(1.0);
        (
            ns + idle.waited as f64 * profile.ns_per_tick * weight,
            waits + idle.waits as f64 * weight,
        )
    })
}

/// Sums over all locks of a process; times in ns.
struct Case<'a> {
    profile: &'a Profile,
    threads: f64,
    waited: f64,
    /// In waits for condition variables, and how many there were: each thread's by its weight.
    idle: (f64, f64),
    /// Off the CPU for reasons that the recorder does not see.
    off: Off,
}

/// Why threads were off their CPUs while they waited for no lock.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Off {
    /// Hardly at all, or nobody knows.
    Hardly,
    /// They slept: so long, so many times.
    Asleep(f64, f64),
    /// Others had their CPUs, so long.
    Preempted(f64),
}

impl Case<'_> {
    fn of(profile: &Profile) -> Case<'_> {
        let by_thread: Vec<(u64, u64)> = by_thread(profile).into_iter().collect();
        let ns = |ticks: u64| ticks as f64 * profile.ns_per_tick;
        let mut case = Case {
            profile,
            threads: users(by_thread.iter().map(|(_, n)| *n)).max(1.0),
            waited: ns(profile.sum().waited),
            idle: idle(profile, &by_thread),
            off: Off::Hardly,
        };
        case.off = case.off();
        case
    }

    /// Of so many threads, ns. Threads are taken to live as long as the process.
    fn time(&self, threads: f64) -> f64 {
        (self.profile.seconds * 1e9 * threads).max(1.0)
    }

    fn off(&self) -> Off {
        let Some(usage) = self.profile.usage else {
            return Off::Hardly;
        };
        let time = self.time(self.threads);
        let off = time - self.waited - self.idle.0 - usage.cpu * 1e9;
        if off < LITTLE * time {
            return Off::Hardly;
        }
        let sum = self.profile.sum();
        // Sleeping waits for locks were counted in a sample of them.
        let in_waits = sum.contended as f64 * sum.slept as f64 / sum.watched.max(1) as f64;
        let idle: u64 = self.profile.idle.iter().map(|idle| idle.waits).sum();
        let slept = usage.slept as f64 - in_waits - idle as f64;
        match slept > usage.preempted as f64 {
            true => Off::Asleep(off, slept),
            false => Off::Preempted(off),
        }
    }

    fn notes(&self) -> Vec<String> {
        let share = |ns: f64| percent(ns / self.time(self.threads));
        let mut all = Vec::new();
        match self.off {
            Off::Asleep(off, _) => {
                let locks = self.profile.locks.iter().filter(|lock| lock.is_lock());
                let inside: f64 = locks.map(|lock| asleep_inside(lock).0).sum();
                let inside = (inside * self.profile.ns_per_tick).min(off);
                let little = LITTLE * self.time(self.threads);
                let stuck = !lock_waiters(self.profile).is_empty();
                if off - inside >= little && !stuck {
                    all.push(format!(
                        "threads slept for {} of their time, not for locks and in no section; so \
                         they do with more threads",
                        share(off - inside)
                    ));
                }
                if inside >= little {
                    all.push(format!(
                        "threads slept inside of sections for {} of their time; simulated sections \
                         compute for as long",
                        share(inside)
                    ));
                }
            }
            Off::Preempted(off) => all.push(format!(
                "other threads or programs had the CPU for {} of the threads' time; that is left \
                 out",
                share(off)
            )),
            Off::Hardly if self.profile.usage.is_none() => all.push(
                "the process did not end by exit(), so nobody knows its CPU time; threads are \
                 taken to compute whenever they do not wait"
                    .to_owned(),
            ),
            Off::Hardly => {}
        }
        if self.idle.0 > LITTLE * self.time(self.threads) {
            all.push(format!(
                "threads waited for condition variables for {} of their time; the same waits are \
                 taken to occur with any lock and any number of threads",
                share(self.idle.0)
            ));
        }
        let sum = self.profile.sum();
        all.extend(verdict::tried(sum.failed, sum.count));
        all.extend(self.profile.no_room());
        all
    }

    fn demand(&self, lock: &Lock, name: String) -> Demand {
        let (threads, sum) = (users(lock.by_thread.iter().map(|(_, n)| *n)), &lock.sum);
        let ns = self.profile.ns_per_tick;
        // What all threads did together is divided among those that use this lock.
        let part = (threads / self.threads).min(1.0);
        let (time, own) = (self.time(threads), sum.waited as f64 * ns);
        let reads = lock.of(Use::Read);
        let (section, left_out) = times(
            &counts(lock, &[Use::Mutex, Use::Write, Use::Spin, Use::Back]),
            ns,
        );
        let (read_section, of_reads) = times(&counts(lock, &[Use::Read]), ns);
        // Each hold is one: also that at the end of a wait for a condition variable, and a
        // recursive one as a whole.
        let of = |counts: &Counts| match counts.holds {
            0 => counts.count,
            holds => holds,
        };
        let (acquisitions, read) = (of(sum), of(&reads).min(of(sum)));
        let written = (acquisitions - read) as f64;
        let held = written * section.mean + read as f64 * read_section.mean;
        let (idle, waits) = idle(self.profile, &lock.by_thread);
        // What is waited for inside a section is a part of that.
        let nested = nested_in(self.profile, lock);
        let inside: f64 = nested.iter().map(|nest| nest.waited as f64 * ns).sum();
        let elsewhere = ((self.waited - own) * part - inside).max(0.0) + idle;
        let (asleep, sleeps, lost) = match self.off {
            Off::Hardly => (0.0, 0.0, 0.0),
            Off::Asleep(off, times) => {
                let (inside, slept) = asleep_inside(lock);
                (
                    (off * part - inside * ns).max(0.0),
                    (times * part - slept).max(0.0),
                    0.0,
                )
            }
            Off::Preempted(off) => (0.0, 0.0, off * part),
        };
        let n = acquisitions.max(1) as f64;
        let whole_rate = n / self.profile.seconds.max(1e-9);
        let rate = n * threads * 1e9 / (time - lost).max(1.0);
        let idle = (idle + asleep, waits + sleeps);
        Demand {
            name,
            kind: match lock.kind() {
                "rwlock" => Kind::RwLock,
                "spinlock" => Kind::Spinlock,
                _ => Kind::Mutex,
            },
            acquisitions,
            of_waiting: own / self.waited.max(1.0),
            threads,
            rate: match reads.count {
                _ if lock.held_beyond => rate.max(whole_rate),
                // Who lost its CPU is an estimate; sections come one after another all the same.
                0 => rate.min(1e9 / section.mean.max(1e-3)).max(whole_rate),
                _ => rate,
            },
            whole_rate,
            held: held / time,
            reads: reads.count as f64 / n,
            held_beyond: lock.held_beyond,
            read_section: (reads.count > 0).then_some(read_section),
            section,
            think: Times {
                mean: ((time - own - elsewhere - asleep - lost - held) / n).max(0.0),
                classes: thinking(&sum.away_times, ns),
            },
            sleep: (idle.0 > 0.01 * time).then(|| {
                let sleeps = idle.1.clamp(1.0, n);
                (sleeps / n, idle.0 / sleeps)
            }),
            left_out: left_out.or(of_reads),
            partner: None,
        }
    }
}

/// How long, in ticks, and how often threads slept in its sections: in all those of the call sites
/// whose holders sleep in every second one or more.
fn asleep_inside(lock: &Lock) -> (f64, f64) {
    let counts = lock.sites.iter().map(|site| &site.counts);
    let each = counts.map(|c| (c.held, c.holds, mean(c.holds_slept as f64, c.holds_asked)));
    each.filter(|(_, _, sleeps)| *sleeps >= 0.5)
        .fold((0.0, 0.0), |(ticks, all), (held, holds, sleeps)| {
            (ticks + held, all + holds as f64 * sleeps)
        })
}

/// Of those call sites that use the lock in one of these ways.
fn counts<'a>(lock: &'a Lock, uses: &[Use]) -> Vec<&'a Counts> {
    let sites = lock.sites.iter();
    let such = sites.filter(|site| uses.contains(&site.how));
    such.map(|site| &site.counts).collect()
}

/// A class of [`Times`].
type Class = (f64, f64, u64);

fn classes(histogram: &Histogram, ns_per_tick: f64) -> Vec<Class> {
    let ns = |ticks: u64| ticks as f64 * ns_per_tick;
    let all = histogram.buckets();
    all.map(|(from, to, n)| (ns(from), ns(to), n)).collect()
}

/// Those times in which a thread most likely lost its CPU: long ones, if they are rare. A call site
/// where they are not is one whose times are long, and is left aside.
fn lost_cpu(sites: &[&Histogram], ns_per_tick: f64) -> Vec<Class> {
    let number = |of: &[Class]| of.iter().map(|class| class.2).sum::<u64>();
    let (mut rare, mut total) = (Vec::new(), 0);
    for site in sites {
        let all = classes(site, ns_per_tick);
        let may_be = |c: &Class| (LOST_CPU_NS..LOST_AT_MOST_NS).contains(&c.0);
        let long: Vec<Class> = all.iter().copied().filter(may_be).collect();
        if (number(&long) as f64) < OWN * number(&all) as f64 {
            total += number(&all);
            rare.extend(long);
        }
    }
    match (number(&rare) as f64) < RARE * total as f64 {
        true => rare,
        false => Vec::new(),
    }
}

/// Takes `rare`, which are some of `all`, out of it.
fn take_out(all: &mut Vec<Class>, rare: &[Class]) {
    for class in all.iter_mut() {
        let same = rare.iter().filter(|gone| gone.0 == class.0);
        class.2 -= same.map(|gone| gone.2).sum::<u64>();
    }
    all.retain(|class| class.2 > 0);
}

/// How long threads were away, without when they most likely lost their CPU.
fn thinking(away: &Histogram, ns_per_tick: f64) -> Vec<Class> {
    let mut all = classes(away, ns_per_tick);
    take_out(&mut all, &lost_cpu(&[away], ns_per_tick));
    all
}

/// How long the holds of these call sites took, without those whose holder most likely lost
/// its CPU; and how many those are, with their share of the time.
fn times(sites: &[&Counts], ns_per_tick: f64) -> (Times, Option<(u64, f64)>) {
    let mut all = Counts::default();
    sites.iter().for_each(|site| all += site);
    let held = all.held * ns_per_tick;
    let mean = all.mean_hold() * ns_per_tick;
    let mut classes = classes(&all.hold_times, ns_per_tick);
    let each: Vec<&Histogram> = sites.iter().map(|site| &site.hold_times).collect();
    let rare = lost_cpu(&each, ns_per_tick);
    if rare.is_empty() {
        return (Times { mean, classes }, None);
    }
    take_out(&mut classes, &rare);
    let sum = |at: fn(&Class) -> f64, of: &[Class]| -> f64 {
        of.iter().map(|class| at(class) * class.2 as f64).sum()
    };
    let number = sum(|_| 1.0, &rare);
    let away = sum(|class| (class.0 + class.1) / 2.0, &rare);
    // The rest of the time, as far as its own classes allow.
    let rest = (held - away) / (all.holds as f64 - number).max(1.0);
    let timed = sum(|_| 1.0, &classes).max(1.0);
    let (least, most) = (
        sum(|c| c.0, &classes) / timed,
        sum(|c| c.1, &classes) / timed,
    );
    let times = Times {
        mean: rest.clamp(least, most),
        classes,
    };
    let share = (away / held.max(1.0)).min(1.0);
    (times, Some((number as u64, share)))
}

#[cfg(test)]
#[path = "demand_tests.rs"]
mod tests;
