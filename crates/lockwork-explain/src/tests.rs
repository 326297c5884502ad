// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Figures that are known exactly, and what the rules make of figures.

use crate::account::{Account, Seen};
use crate::quantity::{Quantity, Unit};
use crate::{event_sums, rules, sim, user, Ran};
use clap::{Args, FromArgMatches};
use lockwork_profile::{Locking, Unseen};
use lockwork_report::finding::Finding;
use lockwork_report::resources::Resources;
use lockwork_sim::{SimArgs, Simulator};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// The accounts of a command of `lockwork sim`.
fn simulated(command: &str) -> Vec<Account> {
    let cli = SimArgs::augment_args(clap::Command::new("sim"));
    let matches = cli.get_matches_from(command.split(' '));
    let args = SimArgs::from_arg_matches(&matches).expect("arguments");
    let simulator = Simulator::new(Some(1)).expect("the locks");
    match simulator.run_args(&args, "a test").expect("a simulation") {
        ControlFlow::Continue(all) => sim::accounts(&all, "a test"),
        ControlFlow::Break(_) => panic!("interrupted or stuck"),
    }
}

#[test]
fn a_ticket_lock_takes_one_locked_instruction_and_never_sleeps() {
    let all = simulated("sim --lock ticket_lock --threads 1,4 --seeds 2 --machine dl980");
    assert_eq!(all.len(), 2);
    for account in &all {
        let rmws = account.value(Quantity::LockedInstructions).expect("seen");
        // One that the end of the measured time cuts off is one of very many.
        assert!((rmws - 1.0).abs() < 0.01, "{}: {rmws}", account.setting);
        for none in [Quantity::Sleeps, Quantity::Wakeups, Quantity::Voluntary] {
            assert_eq!(account.value(none), Some(0.0));
        }
        assert_eq!(account.get(Quantity::UsefulWakeups), Seen::OfNothing);
        let shares = Quantity::HANDOVERS.map(|one| account.value(one).expect("seen"));
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
    let (alone, four) = (&all[0], &all[1]);
    assert_eq!(alone.value(Quantity::Contended), Some(0.0));
    assert_eq!(rules::why(alone).rule, "uncontended");
    assert!(four.value(Quantity::Contended).expect("seen") > 0.9);
    assert_eq!(alone.value(Quantity::HandoverCore), Some(1.0));
}

#[test]
fn a_crowd_of_sleepers_sleeps_and_is_woken() {
    let command = "sim --lock mutex_xchg --threads 8 --cpus 2 --seeds 1 --section-ns 20000";
    let all = simulated(command);
    let value = |one| all[0].value(one).expect("seen");
    assert!(value(Quantity::Sleeps) > 0.0);
    assert!(value(Quantity::Wakeups) > 0.0);
    assert!(value(Quantity::Voluntary) > 0.0);
    let shares = value(Quantity::UsefulWakeups) + value(Quantity::FutileWakeups);
    assert!((0.0..=1.0).contains(&shares), "{shares}");
}

#[test]
fn what_user_space_counts_is_shared_out_over_the_acquisitions() {
    let text = "7 slept 30\n7 slept_again 5\n7 woke 15\n7 woke_nobody 5\n8 slept 10\n8 woke 5\n";
    let sums = event_sums(text).expect("two processes");
    assert_eq!((sums["slept"], sums["woke"]), (40, 20));
    let mut account = user::account("bench", "mutex", "a test".to_owned());
    user::put_events(&mut account, &sums, true, 100.0);
    assert_eq!(account.value(Quantity::Sleeps), Some(0.4));
    assert_eq!(account.value(Quantity::Wakeups), Some(0.25));
    assert_eq!(account.value(Quantity::UsefulWakeups), Some(0.6));
    assert_eq!(account.value(Quantity::FutileWakeups), Some(0.2));
    assert_eq!(event_sums(""), None);
    assert_eq!(event_sums("7 slept many\n"), None);
}

#[test]
fn what_is_not_seen_is_never_a_number() {
    let account = user::account("bench", "std.mutex", "a test".to_owned());
    let unseen = [
        Quantity::LockedInstructions,
        Quantity::LinesRemote,
        Quantity::HandoverCore,
        Quantity::Sleeps,
        Quantity::PreemptedHolders,
    ];
    for one in unseen {
        assert_eq!(account.get(one).text(one.unit()), "not seen here");
    }
    let text = crate::rendered(std::slice::from_ref(&account), false);
    assert!(
        text.contains("not seen here (sleeps … found nobody"),
        "{text}"
    );
    let json = crate::rendered(&[account], true);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert!(json["figures"]["sleeps"].is_null());
    assert!(json["not_seen"]["sleeps"].is_string());
    assert!(json["not_seen"].get("acquisitions").is_some());
}

#[test]
fn a_small_figure_is_not_written_as_0() {
    assert_eq!(Seen::Value(0.0001).text(Unit::Each), "<0.001");
    assert_eq!(Seen::Value(0.0).text(Unit::Each), "0");
    assert_eq!(Seen::Value(0.25).text(Unit::Share), "25.0 %");
}

/// An account that sees nothing but these.
fn with(figures: &[(Quantity, f64)]) -> Account {
    let mut account = Account::new("test", "lock", "a test", "nobody looked");
    for &(one, value) in figures {
        account.put(one, Seen::Value(value));
    }
    account
}

#[test]
fn each_rule_speaks_where_its_figures_say_so_and_shows_them() {
    let lines = |remote, near| {
        let mut all = Quantity::LINES.map(|one| (one, 0.0)).to_vec();
        all[1].1 = near;
        all[3].1 = remote;
        all
    };
    let cases = [
        ("unused", vec![(Quantity::Acquisitions, 0.0)]),
        ("uncontended", vec![(Quantity::Contended, 0.001)]),
        ("holder-preempted", vec![(Quantity::PreemptedHolders, 0.01)]),
        (
            "wakes-nobody",
            vec![(Quantity::Wakeups, 1.0), (Quantity::FutileWakeups, 0.9)],
        ),
        (
            "woken-for-nothing",
            vec![(Quantity::Wakeups, 0.2), (Quantity::UsefulWakeups, 0.1)],
        ),
        ("convoy", vec![(Quantity::Sleeps, 0.9)]),
        ("convoy", vec![(Quantity::Voluntary, 0.9)]),
        ("remote-lines", lines(1.5, 1.0)),
        ("off-cpu", vec![(Quantity::Involuntary, 0.1)]),
        (
            "taken-again",
            vec![(Quantity::HandoverCore, 0.9), (Quantity::Waited, 0.5)],
        ),
        ("short-but-many", lines(0.1, 2.0)),
        ("unclear", vec![]),
    ];
    let mut asked = BTreeSet::new();
    for (rule, figures) in cases {
        let found = rules::why(&with(&figures));
        assert_eq!(found.rule, rule, "{figures:?}");
        assert_eq!(found.evidence.is_empty(), figures.is_empty(), "{rule}");
        asked.insert(rule);
    }
    assert_eq!(asked.len(), 11);
    // Where lines are seen, it does not send the reader to where he is.
    let elsewhere = |figures: &[_]| rules::why(&with(figures)).advice.contains("explain sim");
    assert!(elsewhere(&[]) && !elsewhere(&lines(0.1, 0.2)));
    // Threads that wait for half of their time are not uncontended, however seldom they wait.
    let rare = [(Quantity::Contended, 0.001), (Quantity::Waited, 0.5)];
    assert_eq!(rules::why(&with(&rare)).rule, "unclear");
    let brief = [(Quantity::Contended, 0.001), (Quantity::Waited, 0.004)];
    let found = rules::why(&with(&brief));
    assert_eq!((found.rule, found.evidence.len()), ("uncontended", 2));
    // Sleeps that are seen to be few are no convoy, whatever the switches are for.
    let few = with(&[(Quantity::Sleeps, 0.0), (Quantity::Voluntary, 0.9)]);
    assert_eq!(rules::why(&few).rule, "unclear");
}

#[test]
fn a_lock_whose_waiters_sleep_is_not_advised_to_sleep() {
    for figure in [
        (Quantity::Involuntary, 0.2),
        (Quantity::PreemptedHolders, 0.2),
    ] {
        let mut account = with(&[figure]);
        for (sleeps, word) in [
            (None, "or a lock whose waiters sleep"),
            (Some(false), "or a lock whose waiters sleep"),
            (Some(true), "sleep already"),
        ] {
            account.sleeps = sleeps;
            let found = rules::why(&account);
            assert!(
                found.advice.contains(word),
                "{}: {}",
                found.rule,
                found.advice
            );
        }
    }
    let command = "sim --lock mutex,ticket_lock --threads 1 --seeds 1";
    let sleeps: Vec<_> = simulated(command).iter().map(|one| one.sleeps).collect();
    assert_eq!(sleeps, [Some(true), Some(false)]);
}

#[test]
fn of_a_program_the_recorder_says_why() {
    let convoy = Finding {
        rule: "convoy",
        why: "Each hand-over wakes a thread that sleeps.".to_owned(),
        evidence: Vec::new(),
        advice: String::new(),
    };
    let of = |acquisitions, failed, taken_back, why| {
        let account = Ran {
            program: "./program".to_owned(),
            lock: "mutex".to_owned(),
            is_ours: true,
            locking: Locking {
                locks: 1,
                acquisitions,
                contended: acquisitions / 2,
                failed,
                not_seen: Unseen {
                    taken_back,
                    ..Unseen::default()
                },
                waited: 0.2,
                ..Locking::default()
            },
            why,
            events: None,
            // As if all was lost by its switches: they may be of anything that it did.
            used: Resources {
                cpu: 1.0,
                voluntary: acquisitions,
                involuntary: acquisitions,
            },
        };
        rules::why(&account.account()).rule
    };
    let rule = |acquisitions, why| of(acquisitions, 0, 0, why);
    assert_eq!(of(100, 400, 0, None), "tries");
    assert_eq!(of(100, 0, 4_000, None), "unseen");
    assert_eq!(rule(0, None), "unused");
    assert_eq!(rule(100, None), "uncontended");
    assert_eq!(rule(100, Some(convoy)), "convoy");
}

#[test]
fn what_is_said_of_preempted_holders_does_not_contradict_the_reason() {
    let preempted = Finding {
        rule: "holder-preempted",
        why: "Its holders lose their CPU to other threads while they hold it.".to_owned(),
        evidence: Vec::new(),
        advice: String::new(),
    };
    let ran = Ran {
        program: "./program".to_owned(),
        lock: "glibc".to_owned(),
        is_ours: false,
        locking: Locking {
            acquisitions: 100,
            contended: 50,
            waited: 0.2,
            ..Locking::default()
        },
        why: Some(preempted),
        events: None,
        used: Resources::default(),
    };
    let text = crate::rendered(&[ran.account()], false);
    assert!(text.contains("lose their CPU"), "{text}");
    assert!(!text.contains("does not tell user space"), "{text}");
    assert!(text.contains("in long holds only"), "{text}");
}

#[test]
fn keys_and_labels_name_one_quantity_each() {
    let keys: BTreeSet<&str> = Quantity::ALL.iter().map(|one| one.key()).collect();
    let labels: BTreeMap<&str, Quantity> = Quantity::ALL
        .iter()
        .map(|one| (one.label(), *one))
        .collect();
    assert_eq!((keys.len(), labels.len()), (21, 21));
}
