// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From the command line to a plan. A preset gives defaults; what is asked for
//! wins over them.
use crate::args::BenchArgs;
use crate::contender::{bare, select, Contender, Selection};
use crate::named;
use crate::plan::{Form, Plan};
use crate::presets::Defaults;
use crate::sample::{Calls, Case};
use crate::work::{Outside, Work};
use anyhow::Result;
use lockwork_report::{bail_usage, usage};

/// Seconds without any operation that are a hang.
const PATIENCE: u64 = 60;

/// What to measure, and with which locks.
pub(crate) struct Planned {
    pub plan: Plan,
    /// Those of the plan, in its order.
    pub locks: Vec<Contender>,
}

/// Reads the arguments.
pub(crate) fn planned(args: &BenchArgs) -> Result<Planned> {
    let defaults = named::defaults(args)?;
    let mut selection = choose(args, &defaults)?;
    if defaults.form == Form::SingleThread {
        selection.locks.push(bare());
    }
    let cases = match defaults.form {
        Form::SingleThread => single_cases(args, &defaults)?,
        _ => cases(args, &defaults, &selection)?,
    };
    cases.iter().try_for_each(fits)?;
    let baseline = baseline(args, &defaults, &selection)?;
    let mut plan = Plan {
        form: defaults.form,
        cases,
        locks: selection.locks.iter().map(|c| c.name().into()).collect(),
        under_test: selection.under_test,
        missing: defaults.missing,
        baseline,
        rounds: args.rounds.unwrap_or(defaults.rounds),
        pin: args.pin,
        patience: args.patience.unwrap_or(PATIENCE),
        seed: args.seed,
        knobs: knobs(args),
    };
    if let (None, Some(seconds)) = (args.rounds, defaults.seconds) {
        plan.rounds = fitting(&plan, seconds);
    }
    let locks = selection.locks;
    Ok(Planned { plan, locks })
}

/// Refuses a case in which a round ends before a thread could acquire once and do what is outside.
/// Such a round takes as long as the work does, and not `--time`.
fn fits(case: &Case) -> Result<()> {
    let ns = |work: Work| match work {
        Work::Ns(ns) => ns,
        Work::Lines(_) | Work::Torture => 0,
    };
    let timed = case.loops.is_none() && case.calls.is_none();
    let once = ns(case.inside).saturating_add(ns(case.outside));
    if timed && once > case.time_ms.saturating_mul(1_000_000) {
        bail_usage!(
            "a round of {} ms is too short for one acquisition with {} inside and {} outside; \
             give a longer --time, or shorter --inside and --outside",
            case.time_ms,
            case.inside,
            case.outside
        );
    }
    Ok(())
}

/// More rounds than these bring nothing.
pub(crate) const MOST_ROUNDS: u32 = 40;

/// The number of rounds of `plan` that fit into `seconds`. It is even, because one half of
/// the rounds is compared with the other.
fn fitting(plan: &Plan, seconds: f64) -> u32 {
    let all = plan.seconds().unwrap_or(f64::INFINITY);
    let two = 2.0 * all / f64::from(plan.rounds);
    let pairs = (seconds / two) as u32; // saturates
    2 * pairs.clamp(1, MOST_ROUNDS / 2)
}

/// What is to be set, as KNOB=VALUE.
fn knobs(args: &BenchArgs) -> Vec<String> {
    let mut knobs = args.set.clone();
    if args.events {
        knobs.push("count_events=1".to_owned());
    }
    knobs
}

fn choose(args: &BenchArgs, defaults: &Defaults) -> Result<Selection> {
    let shared = args.reads.iter().any(|reads| *reads > 0);
    let words = match (args.locks.is_empty(), shared) {
        (false, _) => args.locks.clone(),
        (true, true) => vec!["rw".to_owned()],
        (true, false) => defaults.locks.clone(),
    };
    let mut selection = select(&words)?;
    if !shared {
        return Ok(selection);
    }
    let named = |c: &&Contender| !c.kind.has_read() && selection.named.contains(&c.name());
    if let Some(lock) = selection.locks.iter().find(named) {
        bail_usage!(
            "{} has no readers, so --reads does not apply to it; choose read/write locks, as \
             --locks rw, or leave --reads out",
            lock.name()
        );
    }
    selection.locks.retain(|c| c.kind.has_read());
    if selection.locks.is_empty() {
        bail_usage!(
            "none of these locks has readers; with --reads choose read/write locks, as --locks rw"
        );
    }
    Ok(selection)
}

fn cases(args: &BenchArgs, defaults: &Defaults, selection: &Selection) -> Result<Vec<Case>> {
    let only_shared = selection.locks.iter().all(|c| c.kind.has_read());
    let mixed = only_shared && defaults.form == Form::Cases;
    let reads = or(&args.reads, &[if mixed { 90 } else { 0 }]);
    let mut cases = Vec::new();
    for threads in or(&args.threads, &defaults.threads) {
        for inside in or(&args.inside, &defaults.inside) {
            for outside in outsides(args, defaults, inside)? {
                for &reads in &reads {
                    let case = Case {
                        threads,
                        inside,
                        outside,
                        reads,
                        objects: args.objects,
                        time_ms: args.time.unwrap_or((defaults.time_ms)(threads)),
                        loops: args
                            .loops
                            .filter(|_| defaults.loops.is_some())
                            .or(defaults.loops),
                        calls: None,
                    };
                    if !cases.contains(&case) {
                        cases.push(case);
                    }
                }
            }
        }
    }
    Ok(cases)
}

fn outsides(args: &BenchArgs, defaults: &Defaults, inside: Work) -> Result<Vec<Work>> {
    let all = or(&args.outside, &(defaults.outside)(inside));
    let resolve = |outside: Outside| {
        outside.beside(inside).ok_or_else(|| {
            usage::error(format!(
                "--outside cannot be a multiple of {inside}; give it a time"
            ))
        })
    };
    all.into_iter().map(resolve).collect()
}

/// Uncontended pairs: exclusive and shared, by each way to call them.
fn single_cases(args: &BenchArgs, defaults: &Defaults) -> Result<Vec<Case>> {
    let given = [
        (!args.threads.is_empty(), "--threads"),
        (!args.inside.is_empty(), "--inside"),
        (!args.outside.is_empty(), "--outside"),
        (!args.reads.is_empty(), "--reads"),
        (args.objects != 1, "--objects"),
        (args.time.is_some(), "--time"),
    ];
    if let Some((_, option)) = given.iter().find(|(given, _)| *given) {
        bail_usage!("{option} does not apply to this preset, in which one thread locks and unlocks one free lock; leave it out");
    }
    let calls = or(&args.calls, &[Calls::Pointer, Calls::Inlined]);
    let case = |calls, reads| Case {
        threads: 1,
        inside: Work::Ns(0),
        outside: Work::Ns(0),
        reads,
        objects: 1,
        time_ms: 0,
        loops: args.loops.or(defaults.loops),
        calls: Some(calls),
    };
    let both = |calls| [case(calls, 0), case(calls, 100)];
    Ok(calls.into_iter().flat_map(both).collect())
}

fn baseline(
    args: &BenchArgs,
    defaults: &Defaults,
    selection: &Selection,
) -> Result<Option<String>> {
    let names: Vec<&str> = selection.locks.iter().map(Contender::name).collect();
    match (&args.baseline, defaults.form) {
        (None, Form::Locktorture) => Ok(names.first().map(|name| (*name).to_owned())),
        (None, _) => Ok(None),
        (Some(name), Form::Locktorture) => {
            let own = name.strip_prefix("lockwork.").unwrap_or(name);
            match names.iter().find(|n| **n == own || *n == name) {
                Some(found) => Ok(Some((*found).to_owned())),
                None => bail_usage!(
                    "the baseline '{name}' is not among the locks; choose one of: {}",
                    names.join(", ")
                ),
            }
        }
        (Some(_), _) => bail_usage!("--baseline is for --preset locktorture; leave it out"),
    }
}

fn or<T: Clone>(given: &[T], default: &[T]) -> Vec<T> {
    match given {
        [] => default.to_vec(),
        some => some.to_vec(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: BenchArgs,
    }

    /// What the command line `lockwork bench WORDS` plans.
    pub(crate) fn plan(words: &str) -> Result<Planned> {
        let words = ["bench"].into_iter().chain(words.split_whitespace());
        planned(&Line::parse_from(words).args)
    }

    #[test]
    fn a_round_has_room_for_an_acquisition() {
        for words in [
            "--inside 5000ms --time 1",
            "--inside 0 --outside 2ms --time 1",
            "--inside 600us --outside 401us --time 1",
            "--inside 100ms",
            "--preset sweep --inside 1us,200ms",
        ] {
            let error = plan(words).err().expect(words).to_string();
            assert!(error.contains("a longer --time"), "{words}: {error}");
        }
        for words in [
            "--inside 600us --outside 400us --time 1",
            "--inside 4lines --outside 1ms --time 1",
            "--preset spin-micro --inside 5ms --time 1",
            "--preset spin-micro",
            "--preset locktorture --time 1",
            "--preset single-thread",
            "--preset sweep",
            "--preset sweep --quick",
        ] {
            assert!(plan(words).is_ok(), "{words}");
        }
    }
}
