// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a comparison's runs come to: its report.
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use lockwork_profile::Locking;
use lockwork_report::machine::Machine;
use lockwork_report::stats;
use lockwork_report::text::{counted, duration, percent};

use super::arms::Arm;
use super::metric::Metric;
use super::report::{Ended, Outcome, Plan, Report, Sample, Step, Summary, SCHEMA};
use super::rules::Rules;
use super::session::Program;
use super::summary::{vary, Setup};
use super::verdict;
use crate::policy::BASELINE;
use crate::workload;

/// What the JSON calls a metric that is no expression.
const WALL: &str = "wall";
/// Of all intervals.
pub const CONFIDENCE: f64 = 0.95;

/// Seconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// What a session leaves.
type Left = (
    Vec<Arm>,
    Vec<Sample>,
    Option<Result<Locking, String>>,
    Ended,
);

/// The report on a session of `program`.
pub fn conclude(
    rules: &Rules,
    metric: &Metric,
    machine: Machine,
    program: &Program,
    (arms, samples, locking, ended): Left,
    started: u64,
) -> Report {
    let own = arms.iter().filter(|arm| !arm.is_baseline()).count();
    let setup = Setup {
        samples: &samples,
        better: metric.better,
        seed: rules.seed,
        confidence: CONFIDENCE,
        comparisons: rules.comparisons.unwrap_or(own),
    };
    let summary: Vec<_> = arms
        .iter()
        .map(|arm| Summary {
            limit: arm.limit.map(|limit| limit.as_secs_f64()),
            ..setup.summary(arm.label(), BASELINE, arm.stopped)
        })
        .collect();
    let (locking, unrecorded) = match locking {
        Some(Ok(seen)) => (Some(seen), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    let mut warnings = machine.warnings();
    warnings.extend(unrecorded.map(|why| {
        format!(
            "the warm-up run was not recorded in {}, so that nothing is known of its locks: {why}; \
             the environment variable TMPDIR names another folder",
            std::env::temp_dir().display()
        )
    }));
    // What it starts may use locks though it does not.
    if locking.as_ref().is_none_or(|seen| seen.acquisitions == 0) {
        warnings.extend(program.warnings());
    }
    if let Some(seen) = &locking {
        warnings.extend(same_rwlock(&rwlocks(&arms), seen));
    }
    warnings.extend(cold(rules, &samples));
    warnings.extend(repeated(paused(&samples)));
    let plan = plan(rules, metric, setup.verdict_confidence());
    warnings.extend(short(&plan, &samples).map(|mean| {
        format!(
            "runs take {} under {BASELINE}: below 50 ms, starting the program and loading the \
             interposer may be most of what is measured; give it more to do",
            duration((mean * 1e9) as u64)
        )
    }));
    warnings.extend(fixed_time(&plan, &samples));
    warnings.extend(cut_short(&ended, samples.len()));
    warnings.extend(vary(&summary));
    warnings.extend(summary.iter().flat_map(|s| setup.warnings(s)));
    let behind = behind(&samples);
    let unused = locking.as_ref().is_some_and(Locking::is_unused);
    let early = !matches!(ended, Ended::Completed) && !samples.iter().any(|s| s.counted);
    let none = match unused {
        _ if early => Some(verdict::EARLY),
        _ if behind.is_some() => Some(verdict::BEHIND),
        true => Some(verdict::UNUSED),
        false => None,
    };
    let verdict = verdict::verdict(&setup, &summary, none);
    let note = setup.contended(BASELINE).map(workload::note);
    let note = note.or(behind);
    let differs = none.is_none() && verdict::claims(&setup, &summary);
    let note = note.or_else(|| {
        let seen = locking.as_ref().filter(|_| !early)?;
        Some(seen.sentence_beside("a warm-up run", differs))
    });
    Report {
        schema: SCHEMA,
        lockwork: env!("CARGO_PKG_VERSION"),
        started,
        machine,
        command: program.shown(),
        embedded: rules.embedded,
        plan,
        arms: arms.iter().map(Arm::report).collect(),
        samples,
        summary,
        verdict,
        note,
        locking,
        warnings,
        ended,
    }
}

/// What is said where half of the runs that ended by themselves left processes behind.
fn behind(samples: &[Sample]) -> Option<String> {
    let by_itself = |s: &&Sample| matches!(s.outcome, Outcome::Ok | Outcome::Failed);
    let ended = samples.iter().filter(by_itself);
    let left = ended.clone().filter(|sample| sample.behind > 0).count();
    let all = ended.count();
    (left > 0 && left * 2 >= all).then(|| {
        format!(
            "{left} of {} left processes behind that went on in the background; they were ended with \
             the run. A program that is measured has to stay in the foreground: many daemons have \
             an option for that.",
            counted(all, "run")
        )
    })
}

/// Runs that say nothing, because lockwork itself was stopped meanwhile.
pub fn paused(samples: &[Sample]) -> usize {
    let paused = |sample: &&Sample| sample.outcome == Outcome::Paused;
    samples.iter().filter(paused).count()
}

/// A sentence on them; none if there are none.
pub fn repeated(runs: usize) -> Option<String> {
    (runs > 0).then(|| {
        let were = if runs == 1 { "was" } else { "were" };
        format!(
            "lockwork was stopped during {}, as by Ctrl-Z, which {were} not counted but made again",
            counted(runs, "run")
        )
    })
}

/// Where runs take less than so many seconds, starting them is much of it.
const SHORT: f64 = 0.05;

/// The mean wall time under glibc in seconds, where that is what is measured and so short that
/// starting the program dominates.
pub fn short(report: &Plan, samples: &[Sample]) -> Option<f64> {
    let base = samples.iter().filter(|s| s.counted && s.arm == BASELINE);
    let walls: Vec<f64> = base.map(|sample| sample.wall).collect();
    let mean = stats::mean(&walls);
    (report.metric == WALL && !walls.is_empty() && mean < SHORT).then_some(mean)
}

/// Runs whose wall times are within so large a share of each other seem to end at a fixed time.
const SAME_TIME: f64 = 0.005;
/// If they last so many seconds.
const TIMED: f64 = 0.5;

/// That the wall time shows nothing, where it is measured and is the same under all locks.
fn fixed_time(report: &Plan, samples: &[Sample]) -> Option<String> {
    let mut arms: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for sample in samples.iter().filter(|s| s.counted) {
        arms.entry(&sample.arm).or_default().push(sample.wall);
    }
    let means: Vec<f64> = arms.values().map(|walls| stats::mean(walls)).collect();
    let least = means.iter().copied().fold(f64::INFINITY, f64::min);
    let most = means.iter().copied().fold(0.0, f64::max);
    let steady = |walls: &Vec<f64>| {
        walls.len() > 1 && stats::variation(walls).is_some_and(|varies| varies < SAME_TIME)
    };
    let same = most - least < SAME_TIME * least && least > TIMED;
    (report.metric == WALL && arms.len() > 1 && same && arms.values().all(steady)).then(|| {
        format!(
            "all runs take {}: the program seems to end at a fixed time, so its wall time shows nothing \
             of the locks; compare a figure that it prints, with --metric",
            duration((most * 1e9) as u64)
        )
    })
}

/// The first run of all is glibc's, because its time limits the others'.
fn cold(rules: &Rules, samples: &[Sample]) -> Option<String> {
    let mut whole = samples.iter().filter(|s| s.outcome != Outcome::Paused);
    let first = whole.next()?;
    (rules.warmup == 0 && !rules.embedded && first.counted).then(|| {
        format!(
            "no warm-up: the first run of all counts, and is always {BASELINE}'s; files that it \
             found in no cache make it slow"
        )
    })
}

/// The arms that replace read/write locks, and by which one.
fn rwlocks(arms: &[Arm]) -> Vec<(&str, &'static str)> {
    arms.iter()
        .filter_map(|arm| Some((arm.label(), arm.spec.policy.rwlock()?)))
        .collect()
}

/// Where mostly read/write locks are contended, policies whose read/write lock is the same differ
/// by chance. `arms`: a label, and the read/write lock, of each.
fn same_rwlock(arms: &[(&str, &'static str)], seen: &Locking) -> Vec<String> {
    if seen.contended_rwlocks * 2 <= seen.contended {
        return Vec::new();
    }
    let share = percent(seen.contended_rwlocks as f64 / seen.contended as f64);
    let mut by_lock: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (label, rwlock) in arms {
        by_lock.entry(rwlock).or_default().push(label);
    }
    by_lock.retain(|_, labels| labels.len() > 1);
    let line = |(rwlock, labels): (&str, Vec<&str>)| {
        format!(
            "{share} of the contended acquisitions were of read/write locks, which are the same \
             lock, {rwlock}, under {}",
            labels.join(" and ")
        )
    };
    by_lock.into_iter().map(line).collect()
}

/// A comparison that did not run to its end says so beside its numbers.
fn cut_short(ended: &Ended, runs: usize) -> Option<String> {
    match ended {
        Ended::Completed => None,
        Ended::Failed { what, .. } => Some(match what {
            Step::Setup => "ended before the first run: --setup failed".to_owned(),
            Step::Prepare => format!("ended after {}: --prepare failed", counted(runs, "run")),
            Step::Run => format!("ended after {}: the last one failed", counted(runs, "run")),
            Step::Cleanup => format!(
                "--cleanup failed after {}, which are complete",
                counted(runs, "run")
            ),
        }),
        Ended::Interrupted { signal } => Some(format!(
            "stopped by {signal} after {}",
            counted(runs, "run")
        )),
    }
}

fn plan(rules: &Rules, metric: &Metric, verdict_confidence: f64) -> Plan {
    let pattern = metric.pattern.as_ref();
    Plan {
        metric: pattern.map_or_else(|| WALL.into(), ToString::to_string),
        better: metric.better,
        rounds: rules.runs,
        warmup: rules.warmup,
        seed: rules.seed,
        timeout_factor: rules.timeout_factor,
        timeout: rules.limit.map(|limit| limit.as_secs_f64()),
        confidence: CONFIDENCE,
        verdict_confidence,
        resamples: stats::RESAMPLES,
    }
}

#[cfg(test)]
mod tests {
    use super::super::metric::Better;
    use super::*;

    fn sample(arm: &str, wall: f64, counted: bool) -> Sample {
        Sample {
            arm: arm.to_owned(),
            round: 1,
            order: 1,
            outcome: Outcome::Ok,
            counted,
            wall,
            user: 0.0,
            sys: 0.0,
            voluntary: 0,
            involuntary: 0,
            max_rss_kib: 0,
            behind: 0,
            metric: None,
            contended: None,
            exit_code: Some(0),
            signal: None,
        }
    }

    fn plan(metric: &str) -> Plan {
        Plan {
            metric: metric.to_owned(),
            better: Better::Lower,
            rounds: 2,
            warmup: 0,
            seed: 1,
            timeout_factor: 10.0,
            timeout: None,
            confidence: CONFIDENCE,
            verdict_confidence: CONFIDENCE,
            resamples: 1,
        }
    }

    #[test]
    fn runs_of_a_fixed_time_are_warned_of() {
        let runs = |walls: [f64; 4]| {
            let arms = [BASELINE, "mutex", BASELINE, "mutex"];
            let all = arms.iter().zip(walls);
            all.map(|(arm, wall)| sample(arm, wall, true))
                .collect::<Vec<_>>()
        };
        let timed = runs([10.001, 10.003, 10.002, 10.004]);
        let text = fixed_time(&plan(WALL), &timed).expect("a warning");
        assert!(text.contains("--metric"), "{text}");
        assert_eq!(fixed_time(&plan("rate: (.*)"), &timed), None);
        // They vary; one lock is slower; too short to tell; nothing to compare.
        assert_eq!(
            fixed_time(&plan(WALL), &runs([10.0, 10.3, 10.3, 10.0])),
            None
        );
        assert_eq!(
            fixed_time(&plan(WALL), &runs([10.0, 10.1, 10.0, 10.1])),
            None
        );
        assert_eq!(fixed_time(&plan(WALL), &runs([0.4, 0.4, 0.4, 0.4])), None);
        assert_eq!(fixed_time(&plan(WALL), &timed[..1]), None);
    }

    #[test]
    fn only_wall_times_can_be_too_short() {
        let sample = |wall, counted| sample(BASELINE, wall, counted);
        let runs = [sample(9.0, false), sample(0.02, true), sample(0.04, true)];
        assert_eq!(short(&plan(WALL), &runs), Some(0.03));
        assert_eq!(short(&plan("rate: (.*)"), &runs), None);
        assert_eq!(short(&plan(WALL), &[sample(0.06, true)]), None);
        assert_eq!(short(&plan(WALL), &runs[..1]), None);
    }

    #[test]
    fn policies_with_one_read_write_lock_are_named() {
        let arms = [
            ("mutex", "rwsem"),
            ("mutex_numa", "rwsem_numa"),
            ("qspinlock_steal", "rwsem"),
        ];
        let mut seen = Locking {
            locks: 2,
            acquisitions: 1_000,
            contended: 100,
            contended_rwlocks: 80,
            waited: 0.5,
            ..Locking::default()
        };
        let said = same_rwlock(&arms, &seen);
        assert_eq!(
            said,
            [
                "80.0 % of the contended acquisitions were of read/write locks, which are the same \
                 lock, rwsem, under mutex and qspinlock_steal"
            ]
        );
        assert!(same_rwlock(&arms[..2], &seen).is_empty());
        seen.contended_rwlocks = 50;
        assert!(same_rwlock(&arms, &seen).is_empty());
    }
}
