// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the samples support, in a sentence or two. Nothing else in lockwork
//! says that one lock is better than another.

use super::report::Summary;
use super::stats;
use super::summary::{plural, Setup};
use crate::policy::{BASELINE, CONTROL};

/// The verdict on `arms`, which are glibc, the control and then the locks.
pub fn verdict(setup: &Setup, arms: &[Summary]) -> String {
    let locks: Vec<&Summary> = arms
        .iter()
        .filter(|a| a.arm != BASELINE && a.arm != CONTROL)
        .collect();
    let mut sentences = vec![on_locks(setup, &locks)];
    sentences.extend(on_control(arms));
    sentences.extend(on_stopped(&locks));
    sentences.join(" ")
}

fn on_locks(setup: &Setup, locks: &[&Summary]) -> String {
    let mut judged: Vec<(&Summary, f64, (f64, f64))> = locks
        .iter()
        .filter_map(|a| Some((*a, a.improve?, a.verdict_interval?)))
        .collect();
    judged.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some(&(best, improve, interval)) = judged.first() else {
        return nothing(setup, locks);
    };
    if interval.0 > 0.0 {
        let mut text = format!(
            "{} does better than glibc here, by {} ({}).",
            best.arm,
            percent(improve),
            range(interval, judged.len())
        );
        text += &ties(setup, best, &judged[1..]);
        return text;
    }
    let worse: Vec<&str> = judged
        .iter()
        .filter(|(_, _, interval)| interval.1 < 0.0)
        .map(|(a, _, _)| a.arm.as_str())
        .collect();
    let n = best.samples;
    if worse.is_empty() {
        return no_difference(locks, n);
    }
    if worse.len() == judged.len() {
        return format!(
            "glibc does better here than every lock that finished; the closest, {}, loses {} ({}).",
            best.arm,
            percent(-improve),
            range((-interval.1, -interval.0), judged.len())
        );
    }
    format!(
        "No lock can be shown to do better than glibc with {n} runs of each; worse than glibc: {}.",
        worse.join(", ")
    )
}

/// No lock's adjusted interval excludes zero. An unadjusted one may, and the
/// table shows it.
fn no_difference(locks: &[&Summary], n: usize) -> String {
    let alone = |a: &&&Summary| a.interval.is_some_and(|i| i.0 > 0.0 || i.1 < 0.0);
    let seen: Vec<&str> = locks.iter().filter(alone).map(|a| a.arm.as_str()).collect();
    let text = format!("No difference from glibc can be shown with {n} runs of each lock.");
    if seen.is_empty() {
        return text;
    }
    format!(
        "{text} (By itself the interval of {} excludes 0; among {} locks chance does that too \
         often for a claim.)",
        seen.join(", "),
        locks.len()
    )
}

/// Why nothing can be said.
fn nothing(setup: &Setup, locks: &[&Summary]) -> String {
    let running: Vec<&&Summary> = locks.iter().filter(|a| !a.stopped).collect();
    if running.is_empty() && !locks.is_empty() {
        return "glibc does better here: no other lock finished in time.".into();
    }
    let rounds = |a: &&&Summary| setup.pairs(&a.arm, BASELINE).len();
    let n = running.iter().map(rounds).max().unwrap_or(0);
    if n < stats::MIN_ROUNDS {
        let are = if n == 1 { "is" } else { "are" };
        return format!(
            "{n} round{} {are} too few to claim anything; {} are the least, and 10 are usual.",
            plural(n),
            stats::MIN_ROUNDS
        );
    }
    "Nothing can be claimed: the numbers have no ratio to glibc's.".into()
}

/// Which other locks cannot be told apart from the best one.
fn ties(setup: &Setup, best: &Summary, others: &[(&Summary, f64, (f64, f64))]) -> String {
    let same: Vec<&str> = others
        .iter()
        .map(|(other, _, _)| other.arm.as_str())
        .filter(|other| {
            let pairs = setup.pairs(&best.arm, other);
            stats::interval(&pairs, setup.verdict_confidence, setup.seed)
                .is_none_or(|interval| interval.0 <= 0.0)
        })
        .collect();
    if same.is_empty() {
        return String::new();
    }
    format!(" It cannot be told apart from {}.", same.join(", "))
}

/// What interposition costs by itself, if that shows.
fn on_control(arms: &[Summary]) -> Option<String> {
    let control = arms.iter().find(|a| a.arm == CONTROL)?;
    let (improve, interval) = (control.improve?, control.interval?);
    if interval.0 <= 0.0 && interval.1 >= 0.0 {
        return None;
    }
    let (cost, interval) = (-improve, (-interval.1, -interval.0));
    if cost > 0.0 {
        let (cost, range) = (percent(cost), range(interval, 1));
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

fn percent(improve: f64) -> String {
    format!("{:.1} %", improve * 100.0)
}

fn range(interval: (f64, f64), locks: usize) -> String {
    let (low, high) = (interval.0 * 100.0, interval.1 * 100.0);
    let together = match locks {
        1 => String::new(),
        n => format!(", for {n} locks together"),
    };
    format!("95 % interval {low:.1} to {high:.1} %{together}")
}
