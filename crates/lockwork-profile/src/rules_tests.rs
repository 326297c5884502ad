// SPDX-License-Identifier: MIT OR GPL-2.0-only
use super::*;
use crate::model::{Blame, Inside, Kept, Waiter};
use crate::starving::starving;

/// The rule that speaks of a mutex that was used so. A tick is a nanosecond.
fn rule(sum: Counts) -> &'static str {
    rule_of_sites(vec![sum])
}

fn rule_of_sites(all: Vec<Counts>) -> &'static str {
    rules_of_sites(all)[0]
}

/// The same, with the others that hold.
fn rules_of_sites(all: Vec<Counts>) -> Vec<&'static str> {
    rules_of_locks(vec![lock_of_sites(all)])
}

/// A mutex with call sites from 1 on.
fn lock_of_sites(all: Vec<Counts>) -> Lock {
    let mut sum = Counts::default();
    for counts in &all {
        sum += counts;
    }
    let sites = all.into_iter().enumerate().map(|(at, counts)| Site {
        address: at as u64 + 1,
        how: Use::Mutex,
        counts,
    });
    Lock {
        address: 64,
        sites: sites.collect(),
        sum,
        ..Lock::default()
    }
}

fn profile_of(locks: Vec<Lock>) -> Profile {
    Profile {
        ns_per_tick: 1.0,
        seconds: 10.0,
        locks,
        ..Profile::default()
    }
}

/// Of the first lock.
fn case<'a>(profile: &'a Profile, names: &'a Names<'a>) -> Case<'a> {
    Case {
        profile,
        names,
        lock: &profile.locks[0],
        program: "./program",
        ends: true,
    }
}

/// The rules that hold of the first of these locks.
fn rules_of_locks(locks: Vec<Lock>) -> Vec<&'static str> {
    let profile = profile_of(locks);
    let (found, also) = why(&case(&profile, &Names::new(&profile)));
    let also = also.iter().map(|other| other.rule);
    std::iter::once(found.rule).chain(also).collect()
}

/// 100 holds of `hold` nanoseconds, and half as many waits of the same length.
fn used(hold: u64) -> Counts {
    Counts {
        count: 100,
        contended: 50,
        waited: 50 * hold,
        held: 100.0 * hold as f64,
        holds: 100,
        longest_hold: hold,
        watched: 50,
        handovers: 50,
        handover: 50 * 5_000,
        holds_asked: 100,
        asked_held: 100 * hold,
        asked_cpu: 100 * hold,
        ..Counts::default()
    }
}

/// The same; its holders were off their CPU for so many percent of the time.
fn off_cpu(hold: u64, times: u64, percent: u64) -> Counts {
    Counts {
        holds_preempted: times,
        asked_cpu: (100 - percent) * hold,
        ..used(hold)
    }
}

#[test]
fn what_holders_do_comes_before_how_long_they_hold() {
    assert_eq!(rule(used(20_000_000)), "long-sections");
    assert_eq!(rule(used(500)), "short-but-many");
    let asleep = Counts {
        holds_slept: 50,
        ..used(20_000_000)
    };
    assert_eq!(rule(asleep), "holder-sleeps");
    assert_eq!(rule(off_cpu(1_000_000, 30, 60)), "holder-preempted");
    assert_eq!(rule(off_cpu(1_000_000, 20, 60)), "long-sections");
    // However often they lost their CPU, they had it back at once.
    assert_eq!(rule(off_cpu(1_000_000, 300, 3)), "long-sections");
    assert_eq!(rule(off_cpu(20_000_000, 500, 60)), "holder-preempted");
    // Short holds at another site, which nobody watched, do not make it short.
    let short = Counts {
        count: 1_000_000,
        held: 1e8,
        holds: 1_000_000,
        contended: 1_000_000,
        waited: 100_000_000_000,
        ..Counts::default()
    };
    let both = vec![off_cpu(20_000_000, 100, 10), short];
    assert_ne!(rule_of_sites(both), "holder-preempted");
}

#[test]
fn waits_that_timed_out_are_told_apart_from_acquisitions() {
    let sum = Counts {
        contended: 50 + 700,
        timeouts: 700,
        ..used(500)
    };
    let profile = profile_of(vec![lock_of_sites(vec![sum])]);
    let (found, _) = why(&case(&profile, &Names::new(&profile)));
    let rate = "100 acquisitions, 50.0 % of them contended; 700 waits timed out";
    assert_eq!(found.evidence[0], rate);
    let report = crate::summary::render(&profile, None);
    assert!(report.contains(rate), "{report}");
}

#[test]
fn a_few_long_sections_are_not_hidden_by_many_short_ones() {
    // A call site with 100 holds of 2 ms, for which another one waits that holds 100,000 times for
    // 20 ns.
    let short = Counts {
        count: 100_000,
        contended: 90,
        waited: 90 * 2_000_000,
        held: 2e6,
        holds: 100_000,
        watched: 90,
        slept: 90,
        handovers: 90,
        handover: 90 * 20_000,
        ..Counts::default()
    };
    let long = Counts {
        handovers: 0,
        handover: 0,
        ..used(2_000_000)
    };
    let of = |for_long: u64| {
        let blame = |holder_site, count| Blame {
            site: 2,
            holder_site,
            holder: None,
            count,
            waited: count * 2_000_000,
        };
        rules_of_locks(vec![Lock {
            blames: vec![blame(1, for_long), blame(2, 90 - for_long)],
            ..lock_of_sites(vec![long.clone(), short.clone()])
        }])[0]
    };
    assert_eq!(of(90), "long-sections");
    assert_eq!(of(30), "long-sections");
    // Hardly anybody waited for the long ones, or nobody.
    assert_eq!(of(4), "convoy");
    assert_eq!(of(0), "convoy");
    assert_eq!(rule(short), "convoy");
}

#[test]
fn a_lock_of_one_thread_that_waits_is_held_elsewhere() {
    let of = |by_thread: &[(u64, u64)], holder_site| {
        let blame = Blame {
            site: 1,
            holder_site,
            holder: None,
            count: 50,
            waited: 50 * 500,
        };
        rules_of_locks(vec![Lock {
            by_thread: by_thread.to_vec(),
            blames: vec![blame],
            ..lock_of_sites(vec![used(500)])
        }])[0]
    };
    assert_eq!(of(&[(0, 100)], 0), "held-elsewhere");
    assert_eq!(of(&[(0, 50), (1, 50)], 0), "short-but-many");
    // A number of a thread is used again, and so one may have held it for another one.
    assert_eq!(of(&[(0, 100)], 1), "short-but-many");
}

#[test]
fn a_shared_mutex_of_one_thread_is_held_elsewhere_whatever_its_own_holds_are() {
    let asleep = Counts {
        holds_slept: 100,
        ..used(20_000_000)
    };
    let of = |sum: &Counts, kept, by_thread: &[(u64, u64)]| {
        rules_of_locks(vec![Lock {
            by_thread: by_thread.to_vec(),
            kept: Kept(kept),
            ..lock_of_sites(vec![sum.clone()])
        }])
    };
    for (sum, own) in [
        (asleep, "holder-sleeps"),
        (with_one_long(110_000_000), "few-long-holds"),
    ] {
        let few = Counts {
            contended: 3,
            ..sum
        };
        let found = of(&few, crate::raw::SHARED, &[(0, 100)]);
        assert_eq!(found, ["held-elsewhere"]);
        let found = of(&few, crate::raw::SHARED, &[(0, 50), (1, 50)]);
        assert_eq!(found[0], own);
        assert_eq!(of(&few, 0, &[(0, 100)])[0], own);
    }
}

#[test]
fn holders_that_wait_for_an_inner_lock_are_told_so() {
    let of = |waited| {
        let lock = |address, sum: Counts, inside| Lock {
            address,
            inside,
            ..lock_of_sites(vec![sum])
        };
        let inside = Inside {
            outer: 64,
            count: 100,
            waited,
        };
        let locks = vec![
            lock(64, used(1_000_000), Vec::new()),
            lock(4096, used(500_000), vec![inside]),
        ];
        rules_of_locks(locks)[0]
    };
    assert_eq!(of(60_000_000), "holder-waits");
    assert_eq!(of(40_000_000), "long-sections");
}

#[test]
fn no_reason_rests_on_holds_that_cannot_be() {
    let of = |sum: Counts| {
        let mut lock = lock_of_sites(vec![sum]);
        lock.held_beyond = true;
        let profile = profile_of(vec![lock]);
        let report = crate::summary::render(&profile, None);
        assert!(report.contains("cut off there"), "{report}");
        let (found, also) = why(&case(&profile, &Names::new(&profile)));
        assert!(also.is_empty(), "{also:?}");
        found
    };
    for hold in [500, 20_000_000] {
        let found = of(used(hold));
        assert_eq!(found.rule, "unclear");
        let of_holds = |said: &String| said.starts_with("a hold takes");
        assert!(!found.evidence.iter().any(of_holds), "{found:?}");
    }
    let asleep = of(Counts {
        holds_slept: 100,
        ..used(20_000_000)
    });
    assert_eq!(asleep.rule, "holder-sleeps");
    assert_eq!(asleep.evidence.len(), 1, "{asleep:?}");
}

#[test]
fn names_in_the_advice_are_abbreviated() {
    let inside = Inside {
        outer: 64,
        count: 100,
        waited: 60_000_000,
    };
    let inner = Lock {
        address: 4096,
        inside: vec![inside],
        named: Some("a name that is longer than ".repeat(3)),
        ..lock_of_sites(vec![used(500_000)])
    };
    let profile = profile_of(vec![lock_of_sites(vec![used(1_000_000)]), inner]);
    let (found, _) = why(&case(&profile, &Names::new(&profile)));
    assert_eq!(found.rule, "holder-waits");
    assert!(found.advice.contains("… first, or"), "{}", found.advice);
}

#[test]
fn many_short_holds_of_few_acquisitions_are_short() {
    // A consumer that keeps its mutex but for its waits for a condition variable.
    let consumer = Counts {
        holds: 10_000,
        held: 10_000.0 * 3_000.0,
        longest_hold: 5_000,
        ..used(1)
    };
    assert_eq!(consumer.mean_hold(), 3_000.0);
    assert_eq!(rule(consumer), "short-but-many");
}

#[test]
fn who_sleeps_is_named_if_threads_wait_for_that() {
    let hammers = Counts {
        count: 100_000,
        held: 1e9,
        holds: 100_000,
        ..used(5_000)
    };
    let sleeper = Counts {
        holds_asked: 50,
        holds_slept: 50,
        ..used(150_000)
    };
    let rule = |of_sleeper| {
        let sites = vec![hammers.clone(), sleeper.clone()];
        let mut lock = lock_of_sites(sites);
        let blame = |holder_site, waited| Blame {
            site: 1,
            holder_site,
            holder: None,
            count: 1,
            waited,
        };
        lock.blames = vec![blame(1, 100), blame(2, of_sleeper), blame(0, 1_000)];
        let profile = profile_of(vec![lock]);
        let names = Names::new(&profile);
        why(&case(&profile, &names)).0
    };
    assert_ne!(rule(20).rule, "holder-sleeps");
    let found = rule(50);
    assert_eq!(found.rule, "holder-sleeps");
    assert!(found.advice.ends_with("in 0x2."), "{}", found.advice);
    assert_eq!(found.evidence[1], "a hold in 0x2 takes 150 µs on average");
}

/// Six mutexes of one making at these addresses. The first one has so many of the acquisitions, and so
/// many waits; the others have 100 acquisitions and one wait each.
fn shards_of(count: u64, waits: u64, hold: u64, address: fn(u64) -> u64) -> Vec<Lock> {
    let lock = |n: u64| {
        let (count, waits) = if n == 0 { (count, waits) } else { (100, 1) };
        Lock {
            address: address(n),
            made: Some(1),
            ..lock_of_sites(vec![Counts {
                count,
                contended: waits,
                waited: waits * hold,
                ..used(hold)
            }])
        }
    };
    (0..6).map(lock).collect()
}

#[test]
fn a_hot_shard_comes_behind_what_its_holders_do() {
    let of = |hold, address| rules_of_locks(shards_of(500, 50, hold, address));
    let (array, apart) = (|n| 4096 + n * 48, |n| 4096 + n * n * 48);
    assert_eq!(of(500, array), ["hot-shard", "short-but-many"]);
    assert_eq!(of(20_000_000, array), ["long-sections", "hot-shard"]);
    assert_eq!(of(500, apart), ["short-but-many"]);
}

#[test]
fn a_shard_that_is_used_no_more_than_others_is_not_hot() {
    let is_hot = |locks| rules_of_locks(locks).contains(&"hot-shard");
    let array = |n| 4096 + n * 48;
    assert!(is_hot(shards_of(200, 50, 500, array)));
    // It has most of the waiting by chance.
    assert!(!is_hot(shards_of(100, 50, 500, array)));
    assert!(!is_hot(shards_of(30, 50, 500, array)));
    // One or two unlucky waits say nothing.
    let mut few = shards_of(200, 2, 500, array);
    few[0].sum.waited = 1_000_000;
    assert!(!is_hot(few));
}

#[test]
fn waits_that_holds_do_not_explain() {
    let sleepers = Counts {
        slept: 25,
        ..used(1_000)
    };
    assert_eq!(rules_of_sites(vec![sleepers]), ["convoy", "short-but-many"]);
    let late = Counts {
        waited: 50 * 20_000,
        ..used(1_000)
    };
    assert_eq!(rule(late), "off-cpu");
    let late_hand_overs = Counts {
        handover: 50 * 60_000_000,
        ..used(50_000_000)
    };
    assert_eq!(rule(late_hand_overs), "unclear");
}

/// As of a mutex that main holds once, and that another thread only fails to unlock.
#[test]
fn a_hold_that_was_not_timed_has_no_mean() {
    let untimed = Counts {
        count: 1,
        contended: 1,
        waited: 50_000_000,
        longest_wait: 50_000_000,
        ..Counts::default()
    };
    let profile = profile_of(vec![lock_of_sites(vec![untimed])]);
    let (found, _) = why(&case(&profile, &Names::new(&profile)));
    let unknown = "how long a hold takes is not known: none was timed";
    assert!(found.evidence.contains(&unknown.to_owned()), "{found:?}");
    assert!(
        !found.evidence.iter().any(|line| line.contains("0 ns")),
        "{found:?}"
    );
}

/// A read/write lock that readers hold in turns for 10 s, and for which a writer waits.
fn read_and_wanted(waited: u64, reads: Counts) -> Profile {
    let site = |address, how, counts: &Counts| Site {
        address,
        how,
        counts: counts.clone(),
    };
    let lock = Lock {
        address: 64,
        sites: vec![
            site(1, Use::Read, &reads),
            site(2, Use::Write, &Counts::default()),
        ],
        sum: reads,
        ..Lock::default()
    };
    let mut profile = profile_of(vec![lock]);
    profile.waiters = vec![Waiter {
        thread: 1,
        lock: 64,
        site: 2,
        holder: None,
        since: waited,
        holds: Vec::new(),
    }];
    profile
}

#[test]
fn a_writer_that_never_gets_it_starves() {
    let reads = Counts {
        count: 50_000,
        held: 1e10,
        holds: 50_000,
        ..Counts::default()
    };
    let mut profile = read_and_wanted(9_000_000_000, reads.clone());
    let (found, _) = why(&case(&profile, &Names::new(&profile)));
    assert_eq!(found.rule, "writers-starve");
    assert!(found.evidence[0].starts_with("a writer had waited for 9.00 s"));
    // A lock that nobody is seen to have waited for has a reason.
    assert_eq!(crate::summary::contended(&profile).count(), 1);
    let report = crate::summary::render(&profile, None);
    assert!(report.contains("new readers pass them"), "{report}");
    // Readers that wait, too, pass nobody.
    let reader = Waiter {
        site: 1,
        ..profile.waiters[0].clone()
    };
    profile.waiters.push(reader);
    assert_eq!(starving(&profile, &profile.locks[0]), 0);
    // The wait has only begun, and a single reader that does not end.
    let begun = read_and_wanted(1_000_000, reads);
    assert_eq!(starving(&begun, &begun.locks[0]), 0);
    let one = read_and_wanted(9_000_000_000, Counts::default());
    assert_eq!(starving(&one, &one.locks[0]), 0);
}

/// A read/write lock that sleeping readers hold for 400 µs each, 5 ms at most, and one writer.
fn read_asleep(writes: Counts) -> Lock {
    let reads = Counts {
        count: 70_000,
        held: 70_000.0 * 400_000.0,
        holds: 70_000,
        longest_hold: 5_000_000,
        holds_asked: 70_000,
        holds_slept: 70_000,
        ..Counts::default()
    };
    let mut sum = reads.clone();
    sum += &writes;
    let site = |address, how, counts| Site {
        address,
        how,
        counts,
    };
    Lock {
        address: 64,
        sites: vec![site(1, Use::Read, reads), site(2, Use::Write, writes)],
        sum,
        ..Lock::default()
    }
}

fn one_wait(waited: u64) -> Counts {
    Counts {
        count: 1,
        contended: 1,
        waited,
        longest_wait: waited,
        ..Counts::default()
    }
}

#[test]
fn one_very_long_wait_of_a_writer_is_enough() {
    let profile = profile_of(vec![read_asleep(one_wait(4_000_000_000))]);
    let (found, also) = why(&case(&profile, &Names::new(&profile)));
    assert_eq!(found.rule, "writers-starve");
    assert_eq!(found.evidence[0], "one wait of a writer took 4.00 s");
    assert!(found.evidence[1].contains("5.00 ms at most"), "{found:?}");
    assert!(found.advice.contains("lockwork compare"), "{found:?}");
    // Another lock does help.
    assert!(also.iter().any(|other| other.rule == "holder-sleeps"));
    for other in also {
        assert!(!other.advice.contains("No other lock"), "{other:?}");
        assert!(!other.advice.contains("hardly how long"), "{other:?}");
    }
}

/// Two call sites that sleep: one rarely and long, the other often and not as long. Of the waiting, so much
/// is for each.
fn two_sleepers(for_long: u64, for_short: u64) -> Finding {
    let sleeper = |count, hold: u64| Counts {
        count,
        held: count as f64 * hold as f64,
        holds: count,
        holds_asked: count,
        holds_slept: count,
        ..used(hold)
    };
    let blame = |holder_site, waited| Blame {
        site: 1,
        holder_site,
        holder: None,
        count: 1,
        waited,
    };
    let sites = vec![sleeper(100, 300_000), sleeper(1_000, 100_000)];
    let profile = profile_of(vec![Lock {
        blames: vec![blame(1, for_long), blame(2, for_short)],
        ..lock_of_sites(sites)
    }]);
    let (found, _) = why(&case(&profile, &Names::new(&profile)));
    assert_eq!(found.rule, "holder-sleeps");
    found
}

#[test]
fn the_call_that_threads_waited_for_is_named_with_its_own_mean() {
    let found = two_sleepers(800, 200);
    assert!(found.advice.ends_with("section in 0x1."), "{found:?}");
    assert_eq!(found.evidence[1], "a hold in 0x1 takes 300 µs on average");
    assert_eq!(found.evidence.len(), 2);
    let found = two_sleepers(400, 600);
    assert!(found.advice.ends_with("in 0x2 and in 0x1."), "{found:?}");
    assert_eq!(found.evidence[1], "a hold in 0x2 takes 100 µs on average");
    assert_eq!(found.evidence[2], "a hold in 0x1 takes 300 µs on average");
    // Nobody is known to be waited for: the one that holds it longest in all.
    assert!(two_sleepers(0, 0).advice.ends_with("section in 0x2."));
}

#[test]
fn a_wait_that_holds_explain_does_not_starve() {
    let rules = |lock| rules_of_locks(vec![lock]);
    // No more than three of the longest holds, or no longer than a thread is off its CPU.
    assert_eq!(rules(read_asleep(one_wait(15_000_000)))[0], "holder-sleeps");
    let mut brief = read_asleep(one_wait(9_000_000));
    brief.sites[0].counts.longest_hold = 1_000_000;
    assert_eq!(rules(brief)[0], "holder-sleeps");
    // A writer holds for most of it.
    let mut written = read_asleep(one_wait(4_000_000_000));
    written.sites[1].counts.longest_hold = 3_000_000_000;
    assert_eq!(rules(written)[0], "holder-sleeps");
    // Readers were there for a small part of it.
    let mut idle = read_asleep(one_wait(4_000_000_000));
    idle.sites[0].counts.held = 1e9;
    assert_eq!(rules(idle)[0], "holder-sleeps");
}

#[test]
fn writers_that_are_a_part_of_the_waiting_come_behind_what_holders_do() {
    let mut lock = read_asleep(one_wait(4_000_000_000));
    lock.sites[0].counts.contended = 60_000;
    lock.sites[0].counts.waited = 60_000 * 100_000;
    lock.sum.waited += 60_000 * 100_000;
    let profile = profile_of(vec![lock]);
    let (found, also) = why(&case(&profile, &Names::new(&profile)));
    assert_eq!(found.rule, "holder-sleeps");
    assert!(!found.advice.contains("No other lock"), "{found:?}");
    assert!(also.iter().any(|other| other.rule == "writers-starve"));
}

/// What the first rule that holds advises for a mutex that so many threads use on two CPUs.
fn advice(sum: Counts, threads: u64) -> (&'static str, String) {
    let mut profile = profile_of(vec![Lock {
        by_thread: (0..threads).map(|thread| (thread, 100)).collect(),
        ..lock_of_sites(vec![sum])
    }]);
    profile.cpus = Some(2);
    let (found, _) = why(&case(&profile, &Names::new(&profile)));
    (found.rule, found.advice)
}

#[test]
fn what_is_advised_depends_on_how_many_threads_there_are_for_the_cpus() {
    let late = Counts {
        waited: 50 * 20_000,
        ..used(1_000)
    };
    let (rule, fits) = advice(late.clone(), 2);
    assert_eq!(rule, "off-cpu");
    assert!(!fits.contains("no more threads than CPUs"), "{fits}");
    assert!(
        fits.contains("about 2 threads at work, on 2 CPUs"),
        "{fits}"
    );
    let (_, more) = advice(late, 16);
    assert!(
        more.starts_with("Use no more threads than CPUs (about 16 threads"),
        "{more}"
    );
    // Locks that only spin need a CPU for each thread.
    assert!(!more.contains("qspinlock") && fits.contains("qspinlock"));
    let preempted = off_cpu(1_000_000, 30, 60);
    let (rule, fits) = advice(preempted.clone(), 2);
    assert_eq!(rule, "holder-preempted");
    assert!(!fits.contains("fewer threads"), "{fits}");
    assert!(advice(preempted, 3).1.starts_with("Use fewer threads"));
}

#[test]
fn long_sections_are_not_worth_spinning_for_where_cpus_are_short() {
    let sleepers = |hold| Counts {
        slept: 50,
        handover: 50 * 4 * hold,
        ..used(hold)
    };
    let (rule, text) = advice(sleepers(400_000), 16);
    assert_eq!(rule, "convoy");
    assert!(
        text.contains("too long to spin for") && text.contains("spin_budget=0"),
        "{text}"
    );
    let (_, text) = advice(sleepers(400_000), 2);
    assert!(text.contains("spin before they sleep"), "{text}");
    let (_, text) = advice(sleepers(1_000), 16);
    assert!(text.contains("spin before they sleep"), "{text}");
}

#[test]
fn long_sections_are_named_and_not_short_ones_that_take_more_time_in_all() {
    let short = Counts {
        count: 1_000_000,
        holds: 1_000_000,
        held: 1e9,
        ..Counts::default()
    };
    let profile = profile_of(vec![Lock {
        blames: vec![Blame {
            site: 1,
            holder_site: 2,
            holder: None,
            count: 50,
            waited: 50 * 2_000_000,
        }],
        ..lock_of_sites(vec![short, used(2_000_000)])
    }]);
    let names = Names::new(&profile);
    let (found, _) = why(&case(&profile, &names));
    assert_eq!(found.rule, "long-sections");
    let said = "threads waited longest for those of 0x2, which take 2.00 ms on average.";
    assert!(found.advice.contains(said), "{}", found.advice);
}

#[test]
fn a_lock_that_holds_threads_back_is_no_long_section() {
    let keeper = Counts {
        count: 20,
        held: 20.0 * 400e6,
        holds: 20,
        longest_hold: 500_000_000,
        ..Counts::default()
    };
    let guest = |hold: u64| Counts {
        count: 20,
        contended: 20,
        waited: 20 * 390_000_000,
        held: 20.0 * hold as f64,
        holds: 20,
        longest_hold: hold,
        ..Counts::default()
    };
    let gate_of = |guest: Counts, holder_site: u64, threads: u64| {
        let blame = Blame {
            site: 2,
            holder_site,
            holder: Some(0),
            count: 20,
            waited: guest.waited,
        };
        let lock = Lock {
            blames: vec![blame],
            by_thread: (0..threads).map(|thread| (thread, 20)).collect(),
            ..lock_of_sites(vec![keeper.clone(), guest])
        };
        rules_of_locks(vec![lock])[0]
    };
    let gate = |guest: Counts, holder_site: u64| gate_of(guest, holder_site, 2);
    assert_eq!(gate(guest(500), 1), "gate");
    assert_ne!(gate(guest(500), 2), "gate", "they wait for each other");
    assert_ne!(
        gate(guest(10_000_000), 1),
        "gate",
        "they do something inside"
    );
    // One that mostly finds it free, as redis' threads for input and output; and several.
    let often = Counts {
        count: 50_000,
        ..guest(500)
    };
    assert_eq!(gate_of(often.clone(), 1, 2), "gate");
    assert_ne!(
        gate_of(often, 1, 4),
        "gate",
        "a checkpoint under a data lock"
    );
    assert_eq!(gate_of(guest(500), 1, 4), "gate");
}

#[test]
fn no_other_lock_is_advised_where_no_policy_replaces_it() {
    let sums = [
        used(500),
        used(20_000_000),
        Counts {
            contended: 3,
            ..used(500)
        },
    ];
    for sum in sums {
        let mut lock = lock_of_sites(vec![sum]);
        let advised = |lock: &Lock| {
            let profile = profile_of(vec![lock.clone()]);
            let (found, _) = why(&case(&profile, &Names::new(&profile)));
            (found.rule, found.advice)
        };
        let (rule, usual) = advised(&lock);
        lock.kept = Kept(0xa0);
        let (same, advice) = advised(&lock);
        assert_eq!(rule, same);
        assert!(!advice.contains("compare"), "{advice}");
        if usual.contains("compare") {
            let kind = "No policy replaces a process-shared mutex with priority inheritance.";
            assert!(advice.contains(kind), "{advice}");
        }
    }
}

/// A site with a million holds of 50 ns and a single one of so many ns, for which three threads wait.
fn with_one_long(longest: u64) -> Counts {
    let histogram = |times: &[(u64, u32)]| {
        let mut counts = [0; crate::histogram::BUCKETS];
        for (ns, n) in times {
            counts[ns.ilog2() as usize] += n;
        }
        let mut histogram = crate::histogram::Histogram::default();
        histogram.add(&counts);
        histogram
    };
    let waits = 3 * (longest - longest / 16);
    Counts {
        count: 1_000_000,
        contended: 13,
        waited: waits + 10 * 5_000,
        longest_wait: longest - longest / 16,
        held: 5e7 + longest as f64,
        holds: 1_000_000,
        longest_hold: longest,
        watched: 13,
        slept: 13,
        handovers: 13,
        handover: 13 * 50_000,
        wait_times: histogram(&[(5_000, 10), (longest - longest / 16, 3)]),
        hold_times: histogram(&[(50, 1_000_000), (longest, 1)]),
        ..Counts::default()
    }
}

#[test]
fn one_long_hold_that_causes_the_waiting_is_found_among_short_ones() {
    assert_eq!(rule(with_one_long(110_000_000)), "few-long-holds");
    // A holder that lost its CPU on a busy machine may come back so late.
    assert_ne!(rule(with_one_long(20_000_000)), "few-long-holds");
    let (rule_found, text) = advice(with_one_long(20_000_000), 2);
    assert_eq!(rule_found, "few-long-holds");
    assert!(text.contains("had lost its CPU"), "{text}");
    // Waits that are far longer than any hold have another cause.
    let late = Counts {
        longest_wait: 900_000_000,
        ..with_one_long(110_000_000)
    };
    assert_ne!(rule(late), "few-long-holds");
    // Nor is it the cause where most of the waiting is short.
    let short = Counts {
        waited: 10_000_000_000,
        ..with_one_long(110_000_000)
    };
    assert_ne!(rule(short), "few-long-holds");
}

#[test]
fn threads_that_wait_for_locks_are_at_work() {
    // One makes nearly all lock calls; six others wait for another lock.
    let mut profile = profile_of(vec![Lock {
        by_thread: (0..7)
            .map(|n| (n, if n == 0 { 1_000_000 } else { 50 }))
            .collect(),
        ..lock_of_sites(vec![off_cpu(1_000_000, 30, 60)])
    }]);
    profile.cpus = Some(2);
    profile.lock_waits = (1..7).map(|n| (n, 5_000_000_000)).collect();
    let (found, _) = why(&case(&profile, &Names::new(&profile)));
    assert!(
        found
            .advice
            .starts_with("Use fewer threads than CPUs (about 7 threads at work"),
        "{}",
        found.advice
    );
}

#[test]
fn no_share_of_the_run_is_more_than_all_of_it() {
    let mut profile = profile_of(vec![lock_of_sites(vec![used(20_000_000)])]);
    let busy = |profile: &Profile| case(profile, &Names::new(profile)).busy();
    profile.seconds = 1.0;
    profile.fate = crate::model::Fate::Gone;
    assert_eq!(
        busy(&profile),
        "it is held for 2.00 s in all; when the run ended is not known"
    );
    profile.fate = crate::model::Fate::Ended;
    assert_eq!(busy(&profile), "it is held for 100.0 % of the run");
}
