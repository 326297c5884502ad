// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The report for programs: docs/profile.md has the schema.

use serde::Serialize;

use crate::callers;
use crate::herd::Herd;
use crate::histogram::Histogram;
use crate::model::{Counts, Fate, Lock, Profile, Stack};
use crate::names::Names;
use crate::sharing;
use crate::starving::starving;
use crate::summary;

/// One process.
#[derive(Serialize)]
pub struct Process {
    pid: u64,
    parent: u64,
    from_fork: bool,
    command: Vec<String>,
    lock: String,
    seconds: f64,
    at_least: bool,
    threads: u64,
    cpus: Option<u64>,
    cpu_seconds: Option<f64>,
    ended: bool,
    end: String,
    dropped: u64,
    unrecorded_threads: u64,
    refused: u64,
    own_futex_ns: u64,
    other_futex_ns: u64,
    unrecorded_processes: u64,
    silent_processes: u64,
    own_futex_site: Option<String>,
    locks: Vec<OneLock>,
    false_sharing: Vec<Shared>,
    waiting_now: Vec<Waiting>,
    warnings: Vec<String>,
}

/// Two locks in one cache line, or in a pair of lines.
#[derive(Serialize)]
struct Shared {
    addresses: [String; 2],
    names: [String; 2],
    bytes: u64,
    different_threads: bool,
}

#[derive(Serialize)]
struct OneLock {
    name: String,
    address: String,
    kind: &'static str,
    not_replaced: Vec<&'static str>,
    left_by_tid: Option<u64>,
    made_at: Option<String>,
    held_beyond_run: bool,
    counts: Numbers,
    sites: Vec<OneSite>,
    holders: Vec<Holder>,
    inside: Vec<Outer>,
    callers: Vec<Caller>,
    why: Option<Why>,
}

/// A stack by which the lock was taken.
#[derive(Serialize)]
struct Caller {
    stack: Vec<String>,
    cut: bool,
    acquisitions: u64,
    waited_ns: u64,
}

#[derive(Serialize)]
struct OneSite {
    site: String,
    address: String,
    r#use: &'static str,
    counts: Numbers,
}

#[derive(Serialize)]
struct Holder {
    waiter: String,
    holder: String,
    holder_thread: Option<u64>,
    holder_tid: Option<u64>,
    waits: u64,
    waited_ns: u64,
}

/// A lock that was held when the lock was taken.
#[derive(Serialize)]
struct Outer {
    address: String,
    acquisitions: u64,
    waited_ns: u64,
}

#[derive(Serialize)]
struct Why {
    rule: &'static str,
    sentence: String,
    evidence: Vec<String>,
    also: Vec<&'static str>,
    advice: String,
}

#[derive(Serialize)]
struct Waiting {
    thread: u64,
    tid: Option<u64>,
    lock: String,
    site: String,
    holder_thread: Option<u64>,
    holder_tid: Option<u64>,
    holds: Vec<String>,
    for_ns: u64,
}

#[derive(Serialize)]
struct Numbers {
    count: u64,
    contended: u64,
    taken_back: u64,
    waited_ns: u64,
    longest_wait_ns: u64,
    failed: u64,
    timeouts: u64,
    queue_sum: u64,
    longest_queue: u64,
    held_ns: u64,
    holds: u64,
    longest_hold_ns: u64,
    handovers: u64,
    handover_ns: u64,
    waits_watched: u64,
    waits_voluntary_switches: u64,
    waits_involuntary_switches: u64,
    holds_watched: u64,
    holds_voluntary_switches: u64,
    holds_involuntary_switches: u64,
    holds_watched_ns: u64,
    holds_watched_cpu_ns: u64,
    holds_met: u64,
    holds_met_ns: u64,
    useless_waits: u64,
    wait_histogram: Vec<Bucket>,
    hold_histogram: Vec<Bucket>,
    handover_histogram: Vec<Bucket>,
    away_histogram: Vec<Bucket>,
}

#[derive(Serialize)]
struct Bucket {
    from_ns: u64,
    to_ns: u64,
    count: u64,
}

/// Everything that is known of a process.
pub fn process(profile: &Profile) -> Process {
    let names = Names::new(profile);
    let locks = profile
        .locks
        .iter()
        .map(|l| lock(profile, &names, l))
        .collect();
    let waiting_now = profile.waiters.iter().map(|waiter| Waiting {
        thread: waiter.thread,
        tid: profile.tid(waiter.thread),
        lock: format!("{:#x}", waiter.lock),
        site: names.site(waiter.site),
        holder_thread: waiter.holder,
        holder_tid: waiter.holder.and_then(|holder| profile.tid(holder)),
        holds: waiter
            .holds
            .iter()
            .map(|lock| format!("{lock:#x}"))
            .collect(),
        for_ns: profile.ns(waiter.since as f64),
    });
    let shared = sharing::pairs(profile).into_iter();
    let false_sharing = shared.map(|pair| {
        let both = [pair.first, pair.second];
        Shared {
            addresses: both.map(|lock| format!("{:#x}", lock.address)),
            names: both.map(|lock| names.lock(lock)),
            bytes: pair.bytes,
            different_threads: pair.apart,
        }
    });
    Process {
        pid: profile.pid,
        parent: profile.parent,
        from_fork: profile.from_fork,
        command: profile.command.clone(),
        lock: match profile.policy.as_str() {
            "" => "glibc".to_owned(),
            policy => policy.to_owned(),
        },
        seconds: profile.seconds,
        at_least: profile.at_least,
        threads: profile.threads,
        cpus: profile.cpus,
        cpu_seconds: profile.usage.map(|usage| usage.cpu),
        ended: profile.ended,
        end: match profile.fate {
            _ if profile.replaced => "exec".to_owned(),
            Fate::Ended => "by itself".to_owned(),
            Fate::Runs => "runs".to_owned(),
            Fate::Stopped(signal) => format!("signal {signal}"),
            Fate::Gone => "not seen".to_owned(),
        },
        dropped: profile.dropped,
        unrecorded_threads: profile.bare + profile.unseen,
        refused: profile.refused,
        own_futex_ns: profile.own_futex.0,
        other_futex_ns: profile.other_futex_ns,
        unrecorded_processes: profile.unrecorded,
        silent_processes: profile.silent,
        own_futex_site: (profile.own_futex.0 > 0).then(|| names.site(profile.own_futex.1)),
        locks,
        false_sharing: false_sharing.collect(),
        waiting_now: waiting_now.collect(),
        warnings: [profile.warnings.clone(), names.warnings()].concat(),
    }
}

fn lock(profile: &Profile, names: &Names<'_>, lock: &Lock) -> OneLock {
    let sites = lock.sites.iter().map(|site| OneSite {
        site: names.site(site.address),
        address: format!("{:#x}", site.address),
        r#use: site.how.name(),
        counts: numbers(profile, &site.counts),
    });
    let holders = lock.blames.iter().map(|blame| Holder {
        waiter: names.site(blame.site),
        holder: names.site(blame.holder_site),
        holder_thread: blame.holder,
        holder_tid: blame.holder.and_then(|holder| profile.tid(holder)),
        waits: blame.count,
        waited_ns: profile.ns(blame.waited as f64),
    });
    let inside = lock.inside.iter().map(|inside| Outer {
        address: format!("{:#x}", inside.outer),
        acquisitions: inside.count,
        waited_ns: profile.ns(inside.waited as f64),
    });
    let why = match lock.is_lock() {
        true => {
            let waited = lock.sum.waited > 0 || starving(profile, lock) > 0;
            waited.then(|| summary::why(profile, names, lock))
        }
        false => Herd::of(lock).map(|herd| (herd.finding(profile), Vec::new())),
    };
    OneLock {
        name: names.lock(lock),
        address: format!("{:#x}", lock.address),
        kind: lock.kind(),
        not_replaced: lock.kept.reasons(),
        left_by_tid: lock.left_by,
        made_at: names.maker(lock),
        held_beyond_run: lock.held_beyond,
        counts: numbers(profile, &lock.sum),
        sites: sites.collect(),
        holders: holders.collect(),
        inside: inside.collect(),
        callers: callers(profile, names, lock),
        why: why.map(|(found, also)| Why {
            rule: found.rule,
            sentence: found.why,
            evidence: found.evidence,
            also: also.iter().map(|other| other.rule).collect(),
            advice: found.advice,
        }),
    }
}

/// Where each acquisition has its stack.
fn callers(profile: &Profile, names: &Names<'_>, lock: &Lock) -> Vec<Caller> {
    if !profile.all_stacks {
        return Vec::new();
    }
    let caller = |stack: &Stack| Caller {
        stack: frames(names, stack),
        cut: stack.cut,
        acquisitions: stack.count,
        waited_ns: profile.ns(stack.waited as f64),
    };
    let stacks = callers::of(profile, lock);
    stacks.into_iter().map(caller).collect()
}

/// The functions of a stack, the one that calls first, with those that are inlined.
fn frames(names: &Names<'_>, stack: &Stack) -> Vec<String> {
    let calls = stack.frames.iter();
    let frames = calls.flat_map(|at| names.frames(*at));
    frames.map(|frame| frame.to_string()).collect()
}

fn numbers(profile: &Profile, counts: &Counts) -> Numbers {
    let ns = |ticks: u64| profile.ns(ticks as f64);
    Numbers {
        count: counts.count,
        contended: counts.contended,
        taken_back: counts.backs,
        waited_ns: ns(counts.waited),
        longest_wait_ns: ns(counts.longest_wait),
        failed: counts.failed,
        timeouts: counts.timeouts,
        queue_sum: counts.queue,
        longest_queue: counts.longest_queue,
        held_ns: profile.ns(counts.held),
        holds: counts.holds,
        longest_hold_ns: ns(counts.longest_hold),
        handovers: counts.handovers,
        handover_ns: ns(counts.handover),
        waits_watched: counts.watched,
        waits_voluntary_switches: counts.slept,
        waits_involuntary_switches: counts.preempted,
        holds_watched: counts.holds_asked,
        holds_voluntary_switches: counts.holds_slept,
        holds_involuntary_switches: counts.holds_preempted,
        holds_watched_ns: ns(counts.asked_held),
        holds_watched_cpu_ns: counts.asked_cpu,
        holds_met: counts.met,
        holds_met_ns: ns(counts.met_held),
        useless_waits: counts.at_once,
        wait_histogram: buckets(profile, &counts.wait_times),
        hold_histogram: buckets(profile, &counts.hold_times),
        handover_histogram: buckets(profile, &counts.handover_times),
        away_histogram: buckets(profile, &counts.away_times),
    }
}

fn buckets(profile: &Profile, histogram: &Histogram) -> Vec<Bucket> {
    let all = histogram.buckets();
    all.map(|(from, to, count)| Bucket {
        from_ns: profile.ns(from as f64),
        to_ns: profile.ns(to as f64),
        count,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn false_sharing_is_there_for_programs_too() {
        let used = |address, thread| Lock::used_by(address, &[(thread, 100_000)]);
        let profile = Profile {
            locks: vec![used(64, 0), used(104, 1)],
            ..Profile::default()
        };
        let found = serde_json::to_value(process(&profile)).expect("JSON");
        let pair = &found["false_sharing"][0];
        assert_eq!(pair["addresses"][1], "0x68");
        assert_eq!(pair["bytes"], 64);
        assert_eq!(pair["different_threads"], true);
    }

    #[test]
    fn a_condition_variable_that_wakes_a_herd_has_a_reason() {
        let profile = Profile {
            ns_per_tick: 1.0,
            seconds: 1.0,
            locks: vec![crate::herd::tests::condvar(16, 90)],
            ..Profile::default()
        };
        let found = serde_json::to_value(process(&profile)).expect("JSON");
        assert_eq!(found["locks"][0]["why"]["rule"], "herd");
        let page = crate::html::render(&[profile]);
        assert!(page.contains("wake many threads together"), "{page}");
    }
}
