// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the samples support, in a sentence or two. Nothing else in lockwork
//! says that one lock is better than another.

use super::report::{Fault, Summary};
use super::summary::Setup;
use crate::policy::{BASELINE, CONTROL};
use lockwork_report::stats;
use lockwork_report::text::counted;

/// What is said of the locks of a program that calls none.
pub const UNUSED: &str =
    "No verdict on the locks: a warm-up run called none that is replaced, so a difference \
                      from glibc cannot come from them.";

/// And of those of a program that goes on in the background.
pub const BEHIND: &str = "No verdict on the locks: the program went on in the background when the \
                          process that was started had ended, and what it does there is not measured.";

/// And where nothing was measured at all.
pub const EARLY: &str = "No verdict on the locks: the comparison ended before a run that counts.";

/// The verdict on `arms`, which are glibc, the control and then the locks. `none`: why none is given
/// on the locks.
pub fn verdict(setup: &Setup, arms: &[Summary], none: Option<&str>) -> String {
    let locks: Vec<&Summary> = arms
        .iter()
        .filter(|a| a.arm != BASELINE && a.arm != CONTROL)
        .collect();
    let base = arms.iter().find(|a| a.arm == BASELINE);
    let mut sentences = vec![match none {
        Some(why) => why.to_owned(),
        None => on_locks(setup, base, &locks),
    }];
    sentences.extend(on_control(setup, arms));
    sentences.extend(on_stopped(&locks));
    sentences.extend(base.and_then(|base| on_faults(setup, base, &locks)));
    sentences.join(" ")
}

fn is_faulty(setup: &Setup, base: Option<&Summary>, lock: &Summary) -> bool {
    base.is_some_and(|base| lock.fault(base, setup.better).is_some())
}

/// A lock that can be judged, its improvement, and the verdict's interval.
type Judged<'a> = (&'a Summary, f64, (f64, f64));

fn on_locks(setup: &Setup, base: Option<&Summary>, locks: &[&Summary]) -> String {
    let mut judged: Vec<Judged<'_>> = locks
        .iter()
        .filter(|a| !is_faulty(setup, base, a))
        .filter_map(|a| Some((*a, a.improve?, a.verdict_interval?)))
        .collect();
    judged.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some(&(first, improve, interval)) = judged.first() else {
        return nothing(setup, base, locks);
    };
    // What the control does too is not the lock's doing.
    let better = judged.iter().filter(|(_, _, i)| i.0 > 0.0);
    let (forwarded, better): (Vec<_>, Vec<_>) = better.partition(|(a, _, _)| a.like_control);
    // Not simply the first: one that varies much may be ahead by chance.
    if let Some(&&(best, improve, interval)) = better.first() {
        let others = judged.iter().filter(|(other, _, _)| other.arm != best.arm);
        let too = match forwarded.is_empty() {
            true => String::new(),
            false => format!(
                " Better than glibc, but not shown to do better than the control: {}.",
                names(&forwarded)
            ),
        };
        return format!(
            "{} does better than glibc here, by {} ({}).{}{too}",
            best.arm,
            percent(improve),
            range(setup, interval),
            ties(setup, best, others)
        );
    }
    if !forwarded.is_empty() {
        return no_merit(setup, "better", "credited to", &forwarded);
    }
    let worse = judged.iter().filter(|(_, _, i)| i.1 < 0.0);
    let (forwarded, worse): (Vec<_>, Vec<_>) = worse.partition(|(a, _, _)| a.like_control);
    let n = first.samples;
    let lead = match forwarded.is_empty() {
        true => String::new(),
        false => no_merit(setup, "worse", "blamed on", &forwarded) + " ",
    };
    if worse.is_empty() {
        return match lead.is_empty() {
            true => no_difference(setup, locks, n),
            false => lead.trim_end().to_owned(),
        };
    }
    if worse.len() == judged.len() {
        return format!(
            "glibc does better here than every lock that can be judged; the closest, {}, loses {} \
             ({}).",
            first.arm,
            percent(-improve),
            range(setup, (-interval.1, -interval.0))
        );
    }
    format!(
        "{lead}No lock can be shown to do better than glibc with {n} runs of each; worse than glibc: {}.",
        names(&worse)
    )
}

fn names(judged: &[&Judged<'_>]) -> String {
    let all: Vec<&str> = judged.iter().map(|(a, _, _)| a.arm.as_str()).collect();
    all.join(", ")
}

/// On locks that differ from glibc, but not from an interposer that has no lock of its own.
fn no_merit(setup: &Setup, how: &str, owed: &str, locks: &[&Judged<'_>]) -> String {
    let (arm, improve, interval) = match how {
        "better" => (&locks[0].0.arm, locks[0].1, locks[0].2),
        _ => {
            let (a, improve, i) = locks[locks.len() - 1];
            (&a.arm, -improve, (-i.1, -i.0))
        }
    };
    let (are, they) = match locks.len() {
        1 => ("is", "it does"),
        _ => ("are", "they do"),
    };
    let most = match locks.len() {
        1 => String::new(),
        _ => format!("{arm} "),
    };
    format!(
        "{} {are} not shown to do {how} than the control, {CONTROL}, which only forwards each call to \
         glibc: that {they} {how} than glibc, {most}by {} ({}), cannot be {owed} the lock.",
        names(locks),
        percent(improve),
        range(setup, interval)
    )
}

/// Whether some lock is said to differ from glibc.
pub fn claims(setup: &Setup, arms: &[Summary]) -> bool {
    let base = arms.iter().find(|a| a.arm == BASELINE);
    let locks = arms
        .iter()
        .filter(|a| a.arm != BASELINE && a.arm != CONTROL);
    locks
        .filter(|a| !is_faulty(setup, base, a))
        .filter_map(|a| a.verdict_interval)
        .any(|interval| interval.0 > 0.0 || interval.1 < 0.0)
}

/// No lock's adjusted interval excludes zero. An unadjusted one may, and the
/// table shows it.
fn no_difference(setup: &Setup, locks: &[&Summary], n: usize) -> String {
    let alone = |a: &&&Summary| a.interval.is_some_and(|i| i.0 > 0.0 || i.1 < 0.0);
    let seen: Vec<&str> = locks.iter().filter(alone).map(|a| a.arm.as_str()).collect();
    let text = format!("No difference from glibc can be shown with {n} runs of each lock.");
    if seen.is_empty() {
        return text;
    }
    format!(
        "{text} (By itself the interval of {} excludes 0; among {} comparisons chance does \
         that too often for a claim.)",
        seen.join(", "),
        setup.comparisons
    )
}

/// Why nothing can be said.
fn nothing(setup: &Setup, base: Option<&Summary>, locks: &[&Summary]) -> String {
    let running: Vec<&&Summary> = locks
        .iter()
        .filter(|a| !a.stopped && (a.samples > 0 || a.crashed == 0))
        .collect();
    if running.is_empty() && !locks.is_empty() {
        return if base.is_none_or(|base| base.samples == 0) {
            "Nothing can be claimed: no run under glibc came to its end.".into()
        } else if locks.iter().all(|a| a.stopped) {
            "glibc does better here: no other lock finished in time.".into()
        } else {
            "No run of another lock came to its end.".into()
        };
    }
    if !locks.is_empty() && locks.iter().all(|a| is_faulty(setup, base, a)) {
        return "glibc does better here: runs fail under every other lock, and not under it."
            .into();
    }
    if locks.is_empty() {
        return "There is no lock to judge but glibc's own.".into();
    }
    let rounds = |a: &&&Summary| setup.pairs(&a.arm, BASELINE).len();
    let n = running.iter().map(rounds).max().unwrap_or(0);
    if n < stats::MIN_ROUNDS {
        return too_few(n);
    }
    if running.iter().any(|a| a.improve.is_some()) {
        return "Nothing can be claimed: the numbers do not vary, so they may be rounded.".into();
    }
    "Nothing can be claimed: the numbers have no ratio to glibc's.".into()
}

/// What is said where there are fewer rounds than an interval needs.
pub fn too_few(rounds: usize) -> String {
    let are = if rounds == 1 { "is" } else { "are" };
    format!(
        "{} {are} too few to claim anything; {} are the least, and 10 are usual.",
        counted(rounds, "round"),
        stats::MIN_ROUNDS
    )
}

/// Which other locks cannot be told apart from the best one.
fn ties<'a>(setup: &Setup, best: &Summary, others: impl Iterator<Item = &'a Judged<'a>>) -> String {
    let same: Vec<&str> = others
        .map(|(other, _, _)| other.arm.as_str())
        .filter(|other| {
            let pairs = setup.pairs(&best.arm, other);
            stats::interval(&pairs, setup.verdict_confidence(), setup.seed)
                .is_none_or(|interval| interval.0 <= 0.0)
        })
        .collect();
    if same.is_empty() {
        return String::new();
    }
    format!(" It cannot be told apart from {}.", same.join(", "))
}

/// What interposition costs by itself, if that shows.
fn on_control(setup: &Setup, arms: &[Summary]) -> Option<String> {
    let control = arms.iter().find(|a| a.arm == CONTROL)?;
    let (improve, interval) = (control.improve?, control.verdict_interval?);
    if interval.0 <= 0.0 && interval.1 >= 0.0 {
        return None;
    }
    let (cost, interval) = (-improve, (-interval.1, -interval.0));
    if cost > 0.0 {
        let (cost, range) = (percent(cost), range(setup, interval));
        return Some(format!("Interposition itself costs {cost} ({range})."));
    }
    Some(format!(
        "glibc's own locks do {} better behind an interposer, which cannot be the locks' doing: \
         take differences of this size as noise.",
        percent(improve)
    ))
}

fn on_stopped(locks: &[&Summary]) -> Option<String> {
    let stopped: Vec<&str> = locks
        .iter()
        .filter(|a| a.stopped)
        .map(|a| a.arm.as_str())
        .collect();
    let list = stopped.join(", ");
    (!stopped.is_empty()).then(|| format!("Stopped because it took too long: {list}."))
}

/// What locks do that glibc's do not.
fn on_faults(setup: &Setup, base: &Summary, locks: &[&Summary]) -> Option<String> {
    let all: Vec<String> = locks
        .iter()
        .filter_map(|a| Some((a, a.fault(base, setup.better)?)))
        .map(|(a, fault)| match fault {
            Fault::Crashed(k) => {
                format!(
                    "Ended by a signal, and not counted: {} of {}.",
                    counted(k, "run"),
                    a.arm
                )
            }
            Fault::Failed(k) => format!(
                "{} failed in {}, glibc in {}: that is no comparison.",
                a.arm,
                counted(k, "run"),
                base.failed
            ),
            Fault::Zero(k) => format!(
                "{} gave 0 in {k} of {}, and glibc in none.",
                a.arm,
                counted(a.samples, "run")
            ),
        })
        .collect();
    (!all.is_empty()).then(|| all.join(" "))
}

fn percent(improve: f64) -> String {
    format!("{:.1} %", improve * 100.0)
}

fn range(setup: &Setup, interval: (f64, f64)) -> String {
    let (low, high) = (interval.0 * 100.0, interval.1 * 100.0);
    let adjusted = match setup.comparisons {
        1 => String::new(),
        n => format!(", adjusted for {n} comparisons with glibc"),
    };
    format!("95 % interval {low:.1} to {high:.1} %{adjusted}")
}

#[cfg(test)]
mod tests {
    use super::super::metric::Better;
    use super::super::report::{Outcome, Sample};
    use super::*;

    /// Ten rounds, in which the arm is better by `percent`, give or take 2 %.
    fn samples(arm: &str, percent: f64) -> Vec<Sample> {
        let sample = |round: i64| Sample {
            arm: arm.to_string(),
            round,
            order: 1,
            outcome: Outcome::Ok,
            counted: true,
            wall: 1.0,
            user: 0.0,
            sys: 0.0,
            voluntary: 0,
            involuntary: 0,
            max_rss_kib: 0,
            behind: 0,
            metric: Some(100.0 + percent + if round % 2 == 0 { 2.0 } else { -2.0 }),
            contended: None,
            exit_code: Some(0),
            signal: None,
        };
        (1..=10).map(sample).collect()
    }

    fn verdict_on(arms: &[(&str, f64)]) -> (String, Vec<Summary>) {
        let all = arms
            .iter()
            .flat_map(|(arm, percent)| samples(arm, *percent));
        let names: Vec<&str> = arms.iter().map(|arm| arm.0).collect();
        verdict_of(&all.collect::<Vec<_>>(), &names, None)
    }

    /// On these samples of `arms`, beside glibc's, which are all 100.
    fn verdict_of(others: &[Sample], arms: &[&str], none: Option<&str>) -> (String, Vec<Summary>) {
        let base: Vec<Sample> = (samples(BASELINE, 0.0).into_iter())
            .map(|sample| Sample {
                metric: Some(100.0),
                ..sample
            })
            .collect();
        let samples: Vec<Sample> = base.into_iter().chain(others.iter().cloned()).collect();
        let setup = Setup {
            samples: &samples,
            better: Better::Higher,
            seed: 1,
            confidence: 0.95,
            comparisons: arms.len(),
        };
        let names = [BASELINE].into_iter().chain(arms.iter().copied());
        let summaries: Vec<Summary> = names
            .map(|arm| setup.summary(arm, BASELINE, false))
            .collect();
        (verdict(&setup, &summaries, none), summaries)
    }

    /// The standard error is 0.67 %, so that the interval by itself reaches 1.5 % down
    /// and the one adjusted for two comparisons 1.8 %.
    #[test]
    fn the_control_is_one_of_the_comparisons() {
        let (text, arms) = verdict_on(&[(CONTROL, 0.0), ("mutex", 1.65)]);
        let mutex = &arms[2];
        assert!(mutex.interval.expect("interval").0 > 0.0);
        assert!(mutex.verdict_interval.expect("interval").0 < 0.0);
        let claim = "By itself the interval of mutex excludes 0; among 2 comparisons";
        assert!(text.contains(claim), "{text}");
        assert!(text.starts_with("No difference from glibc can be shown"));

        let (text, _) = verdict_on(&[(CONTROL, 0.0), ("mutex", 5.0)]);
        assert!(text.starts_with("mutex does better"), "{text}");
        let adjusted = " %, adjusted for 2 comparisons with glibc).";
        assert!(text.contains(adjusted), "{text}");
    }

    #[test]
    fn what_the_control_does_too_is_not_the_locks_doing() {
        let (text, arms) = verdict_on(&[(CONTROL, 5.0), ("mutex", 5.0)]);
        let start = "mutex is not shown to do better than the control, glibc_passthrough, which \
                     only forwards each call to glibc: that it does better than glibc, by 5.0 % (95 %";
        assert!(text.starts_with(start), "{text}");
        assert!(arms[2].like_control && !arms[1].like_control);
        let (text, _) = verdict_on(&[(CONTROL, 5.0), ("mutex", 5.0), ("other", 20.0)]);
        assert!(text.starts_with("other does better than glibc here, by 20.0 %"));
        let too = "Better than glibc, but not shown to do better than the control: mutex.";
        assert!(text.contains(too), "{text}");

        let (text, arms) = verdict_on(&[(CONTROL, -5.0), ("mutex", -5.0), ("other", -5.0)]);
        let start = "mutex, other are not shown to do worse than the control, glibc_passthrough";
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains("other by 5.0 % (95 %"), "{text}");
        assert!(text.contains("cannot be blamed on the lock."), "{text}");
        assert!(arms[2].like_control);
        let (text, _) = verdict_on(&[(CONTROL, -5.0), ("mutex", -5.0), ("other", -30.0)]);
        assert!(text.starts_with("mutex is not shown to do worse"), "{text}");
        assert!(text.contains("worse than glibc: other."), "{text}");
        // A lock that makes good a part of what interposition costs is not worse than it.
        let (_, arms) = verdict_on(&[(CONTROL, -30.0), ("mutex", -5.0)]);
        assert!(arms[2].like_control);
        // And without a control nothing is said of it.
        let (text, arms) = verdict_on(&[("mutex", 5.0)]);
        assert!(text.starts_with("mutex does better") && !arms[1].like_control);
    }

    /// One that varies much is ahead by chance, and does not hide the other one.
    #[test]
    fn a_noisy_lock_hides_nothing() {
        let mut noisy = samples("noisy", 0.0);
        for (sample, value) in noisy
            .iter_mut()
            .zip([110.0, 160.0, 70.0, 130.0, 90.0, 150.0])
        {
            sample.metric = Some(value);
        }
        let (text, _) = verdict_of(
            &[noisy, samples("mutex", 5.0)].concat(),
            &["noisy", "mutex"],
            None,
        );
        assert!(
            text.starts_with("mutex does better than glibc here"),
            "{text}"
        );
        assert!(text.contains("told apart from noisy"), "{text}");
        let mut noisy = samples("noisy", 0.0);
        noisy[0].metric = Some(200.0);
        let (text, _) = verdict_of(
            &[noisy, samples("mutex", -5.0)].concat(),
            &["noisy", "mutex"],
            None,
        );
        assert!(text.contains("worse than glibc: mutex"), "{text}");
    }

    #[test]
    fn a_lock_that_fails_is_not_better() {
        let mut fails = samples("mutex", 50.0);
        for sample in &mut fails {
            sample.outcome = Outcome::Failed;
            sample.exit_code = Some(1);
        }
        let (text, _) = verdict_of(&fails, &["mutex"], None);
        assert!(text.starts_with("glibc does better here"), "{text}");
        assert!(
            text.contains("mutex failed in 10 runs, glibc in 0"),
            "{text}"
        );
        let mut zero = samples("mutex", 0.0);
        zero[3].metric = Some(0.0);
        let (text, _) = verdict_of(&zero, &["mutex"], None);
        assert!(text.contains("mutex gave 0 in 1 of 10 runs"), "{text}");
    }

    #[test]
    fn a_program_that_calls_no_lock_gives_no_verdict_on_locks() {
        for percent in [-5.0, 5.0] {
            let (text, _) = verdict_of(&samples("mutex", percent), &["mutex"], Some(UNUSED));
            assert!(text.starts_with("No verdict on the locks"), "{text}");
            assert!(!text.contains("does better"), "{text}");
        }
    }

    #[test]
    fn numbers_that_do_not_vary_may_be_rounded() {
        let mut coarse = samples("mutex", 0.0);
        for sample in &mut coarse {
            sample.metric = Some(101.0);
        }
        let (text, arms) = verdict_of(&coarse, &["mutex"], None);
        assert!(text.contains("may be rounded"), "{text}");
        assert!(arms[1].verdict_interval.is_none());
    }

    #[test]
    fn what_is_said_of_the_control_is_adjusted_too() {
        let (text, arms) = verdict_on(&[(CONTROL, -1.65), ("mutex", 0.0)]);
        assert!(arms[1].interval.expect("interval").1 < 0.0);
        assert!(!text.contains("Interposition"), "{text}");
        let (text, _) = verdict_on(&[(CONTROL, -5.0), ("mutex", 0.0)]);
        assert!(text.contains("Interposition itself costs 5.0 %"), "{text}");
        let (text, _) = verdict_on(&[(CONTROL, -1.65)]);
        assert!(text.contains("Interposition itself costs"), "{text}");
        assert!(!text.contains("adjusted"), "{text}");
    }
}
