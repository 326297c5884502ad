// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How much a prediction is worth: what it depends on, and how wide its band is.

use lockwork_profile::demand::{Demand, Kind, Program};
use lockwork_profile::NOTHING;

/// What simulated throughput was off by at most in `lockwork reproduce`'s table
/// `osq-locktorture`, the mutex by numbers of threads against published measurements ("worst
/// 28 %" in docs/fidelity.md). Not the median: that table was in sight when its workload was
/// written.
pub const SIMULATOR_ERROR: f64 = 0.28;

/// What the simulated `glibc_rwlock` was off by at most, where glibc's read/write lock was measured
/// by numbers of threads (the table in docs/predict.md).
pub const RWLOCK_ERROR: f64 = 0.35;

/// The error of a band, unless the simulation of the profiled run is further off.
pub fn least_error(kind: Kind) -> f64 {
    match kind {
        Kind::RwLock => SIMULATOR_ERROR.max(RWLOCK_ERROR),
        Kind::Mutex | Kind::Spinlock => SIMULATOR_ERROR,
    }
}

/// A lock that is held for less than this share of the time, with all threads that may run
/// at once, makes nobody wait much.
pub const HALF_HELD: f64 = 0.5;

/// The error of a band: the simulator's own, or, if that is greater, how far its simulation of
/// the profiled run is from the profile. 0.5: the one is half as much again as the other.
pub fn error(kind: Kind, profiled: f64, simulated: Option<f64>) -> f64 {
    let simulated = simulated.filter(|rate| *rate > 0.0 && profiled > 0.0);
    let off = simulated.map_or(0.0, |rate| (rate / profiled).max(profiled / rate) - 1.0);
    off.max(least_error(kind))
}

/// Where a profile had no room for this share of the acquisitions, nobody knows how the threads
/// use their locks.
pub const TOO_MANY_DROPPED: f64 = 0.1;

/// About what a futex call takes before it looks at its word and sleeps, ns: an assumption. The
/// model of glibc's mutex does both at once.
const SYSTEM_CALL_NS: f64 = 1000.0;

/// From `least` to `greatest`, widened by an error: the true value may be as many times less
/// or more.
pub fn band(least: f64, greatest: f64, error: f64) -> (f64, f64) {
    (least / (1.0 + error), greatest * (1.0 + error))
}

/// The greatest share of their time that threads wait: the thread that holds the lock does not
/// wait. A greater share is an error of measurement.
const MOST_WAITED: f64 = 0.99;

/// How much faster the program would be, with the threads that it was profiled with, if
/// nobody waited for a lock that a policy replaces: 0.5 is half as much again. What lock calls cost the CPUs is not
/// in that.
pub fn most(program: &Program) -> f64 {
    let waited = (program.waited - program.kept).clamp(0.0, MOST_WAITED);
    1.0 / (1.0 - waited) - 1.0
}

/// Whether there is anything to predict, if up to `threads` threads run at once.
pub fn is_worth_it(program: &Program, threads: usize) -> bool {
    let held = |lock: &Demand| lock.held * threads as f64;
    let busiest = program.locks.iter().map(held).fold(0.0, f64::max);
    let known = !program.locks.is_empty() && !program.stuck;
    known && (program.waited - program.kept >= NOTHING || busiest >= HALF_HELD)
}

/// What a prediction depends on: a sentence each.
pub fn assumptions(locks: &[&Demand], crowded: bool) -> Vec<String> {
    let mut all = vec![
        "Threads are alike and live as long as the program. More threads each do as much as \
         before: the work grows with them, and is not divided."
            .to_owned(),
        "Locks are predicted one by one, or with the one of the same kind with which they are \
         nested most; the others cost nothing. A wait for one of the others inside a section is \
         part of the section, as it was in the profile."
            .to_owned(),
        "Sections take as long as in the profile. That more CPUs share the data inside, and how \
         much more it moves between them, is not in it."
            .to_owned(),
        "Thinking times are as far apart as a sample of them in the profile, one after another \
         by chance. Where there is no sample, exponential and equal ones are both simulated."
            .to_owned(),
        "Nothing else runs on the machine. What its file assumes: `lockwork machine show NAME`."
            .to_owned(),
        format!(
            "The band reaches from the least simulation to the greatest, and {:.0} % further: \
             the simulator's worst error where a mutex was measured by numbers of threads \
             (docs/fidelity.md, osq-locktorture). It is no confidence interval: other programs \
             may be further off. Where the simulation of the profiled run is further from the \
             profile, the band is wider by as much.",
            SIMULATOR_ERROR * 100.0
        ),
    ];
    let short = |lock: &&Demand| lock.kind == Kind::Mutex && lock.section.mean < SYSTEM_CALL_NS;
    if locks.iter().any(short) {
        all.push(
            "Sections are shorter than a system call takes to put a thread to sleep. There the \
             simulated glibc sleeps too often and is too slow (by a quarter or more in the check of \
             docs/predict.md), so the ratios to it are too high."
                .to_owned(),
        );
    }
    if crowded {
        all.push(
            "Locks that only spin are not predicted with more threads than CPUs: their waiters \
             yield the CPU now and then, which the model does not have."
                .to_owned(),
        );
    }
    if locks.iter().any(|lock| lock.kind == Kind::RwLock) {
        all.push(format!(
            "For read/write locks the band reaches {:.0} % further instead: the worst error of the \
             simulated glibc where its read/write lock was measured (docs/predict.md). That one is \
             of the default kind, which prefers readers; what kind the program asked for is not in \
             the profile.",
            least_error(Kind::RwLock) * 100.0
        ));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page, whose tables are checked against the program.
    const FIDELITY: &str = include_str!("../../../docs/fidelity.md");

    /// The worst error of a table, in percent.
    fn worst(table: &str) -> &str {
        let (_, table) = FIDELITY
            .split_once(&format!("### `{table}`"))
            .expect("the table");
        let line = table.lines().find(|line| line.contains("error median"));
        let (_, worst) = line
            .and_then(|line| line.split_once("worst "))
            .expect("its error");
        worst.split(' ').next().expect("a number")
    }

    #[test]
    fn the_error_is_the_one_that_is_published() {
        let said = format!("{:.0}", SIMULATOR_ERROR * 100.0);
        assert_eq!(worst("osq-locktorture"), said);
        let page = include_str!("../../../docs/predict.md");
        assert!(page.contains(&format!("**The error of the band** is {said} %")));
        for table in ["fxmark", "osq-macro", "mutex-nodes"] {
            let error = format!("{} % (`{table}`)", worst(table));
            assert!(page.contains(&error), "{error}");
        }
    }

    #[test]
    fn the_error_of_read_write_locks_is_the_worst_that_was_measured() {
        let page = include_str!("../../../docs/predict.md");
        let (_, table) = page.split_once("### Read/write locks").expect("a part");
        let rows = table
            .lines()
            .filter(|line| line.starts_with("| 0.5 µs") || line.starts_with("| 5 µs"));
        let errors: Vec<f64> = rows
            .map(|row| {
                let error = row.split('|').nth(5).expect("the error of glibc");
                let percent = error.trim().trim_end_matches(" %").parse::<f64>();
                let off = 1.0 + percent.expect("a number") / 100.0;
                off.max(1.0 / off) - 1.0
            })
            .collect();
        assert_eq!(errors.len(), 12, "two sections, six numbers of threads");
        let worst = errors.into_iter().fold(0.0, f64::max);
        assert!((worst - RWLOCK_ERROR).abs() < 0.005, "{worst}");
        let said = format!("For read/write locks it is {:.0} %", RWLOCK_ERROR * 100.0);
        assert!(page.contains(&said), "{said}");
    }

    #[test]
    fn who_misses_the_profile_is_trusted_less() {
        for (kind, least) in [(Kind::Mutex, SIMULATOR_ERROR), (Kind::RwLock, RWLOCK_ERROR)] {
            let error = |simulated| error(kind, 100.0, simulated);
            assert_eq!(error(None), least);
            assert_eq!(error(Some(0.0)), least);
            assert_eq!(error(Some(110.0)), least);
            assert_eq!(error(Some(300.0)), 2.0);
            assert_eq!(error(Some(25.0)), 3.0);
        }
    }

    #[test]
    fn the_bound_is_a_number_even_if_all_time_was_waited() {
        let most = |waited, kept| {
            most(&Program {
                waited,
                kept,
                ..Program::default()
            })
        };
        assert_eq!(most(0.5, 0.0), 1.0);
        assert_eq!(most(1.0, 0.5), 1.0);
        assert!((most(1.0, 0.0) - 99.0).abs() < 1e-6);
    }

    #[test]
    fn a_program_that_is_stuck_is_not_predicted() {
        let mut program = Program {
            waited: 0.5,
            locks: vec![crate::workload::tests::lock()],
            still_waiting: 1,
            ..Program::default()
        };
        assert!(is_worth_it(&program, 2));
        program.stuck = true;
        assert!(!is_worth_it(&program, 2));
        assert!(crate::report::nothing(&program, 2).contains("for which locks those threads wait"));
    }

    #[test]
    fn short_sections_are_warned_of() {
        let short = crate::workload::tests::lock();
        let mut long = short.clone();
        long.section.mean = 5000.0;
        let says = |lock: &Demand| assumptions(&[lock], false).join(" ").contains("too high");
        assert!(says(&short) && !says(&long));
    }

    #[test]
    fn a_band_is_as_wide_both_ways() {
        let (low, high) = band(1.0, 1.0, SIMULATOR_ERROR);
        assert!((low * high - 1.0).abs() < 1e-12 && high == 1.0 + SIMULATOR_ERROR);
    }
}
