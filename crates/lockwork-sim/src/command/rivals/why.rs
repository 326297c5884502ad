// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Why one lock is faster than another, or has its waiters wait longer: by rules over what
//! the simulator counted. A cause is said only if a counter has it.

use super::counters::Counter;
use lockwork_report::text::{number, percent};

/// A counter that is lower where a lock is faster.
struct Cost {
    of: fn(&Counter) -> f64,
    /// Less of a difference says nothing.
    least: f64,
    /// What is said of the faster lock's figure and of ours.
    text: fn(f64, f64) -> String,
}

/// A smaller share of a difference is no cause.
const SHARE: f64 = 0.05;
/// So many causes are said.
const MOST: usize = 2;

/// In the order of what they cost: what keeps a lock from a CPU, then ways of the lock, then
/// ways of lines, then steps.
const COSTS: [Cost; 6] = [
    Cost {
        of: |counter| counter.off,
        least: 0.02,
        text: |its, ours| {
            format!(
                "the holder or the next one is off its CPU in {} of the waits (ours: {})",
                percent(its),
                percent(ours)
            )
        },
    },
    Cost {
        of: |counter| counter.wakeups,
        least: 0.02,
        text: |its, ours| format!("it makes {its:.2} wake-ups an acquisition (ours: {ours:.2})"),
    },
    Cost {
        of: |counter| counter.across,
        least: 0.01,
        text: |its, ours| {
            format!(
                "{} of its hand-overs leave the cluster (ours: {})",
                percent(its),
                percent(ours)
            )
        },
    },
    Cost {
        of: |counter| counter.far_lines,
        least: 0.05,
        text: |its, ours| {
            format!("{its:.2} lines an acquisition come from another cluster (ours: {ours:.2})")
        },
    },
    Cost {
        of: |counter| counter.lines,
        least: 0.2,
        text: |its, ours| {
            format!(
                "it moves {} lines an acquisition (ours: {})",
                number(its),
                number(ours)
            )
        },
    },
    Cost {
        of: |counter| counter.rmws,
        least: 0.1,
        text: |its, ours| {
            format!("it makes {its:.2} read-modify-writes an acquisition (ours: {ours:.2})")
        },
    },
];

/// Waiters that are overtaken so much more often, and by a tenth, are served in another order.
const REORDERED: f64 = 0.1;
/// Batches: so much less of the hand-overs leave the cluster.
const BATCHED: f64 = 0.05;

/// Why `rival` has more throughput than `ours`: a sentence.
pub(super) fn faster(rival: &Counter, ours: &Counter) -> String {
    let lower = |cost: &&Cost| {
        let (its, own) = ((cost.of)(rival), (cost.of)(ours));
        own - its > cost.least.max(SHARE * own)
    };
    let all = COSTS.iter().filter(lower).take(MOST);
    let mut causes: Vec<String> = all
        .map(|cost| (cost.text)((cost.of)(rival), (cost.of)(ours)))
        .collect();
    if rival.overtaken > 1.1 * ours.overtaken + REORDERED {
        causes.push(format!(
            "a waiter is overtaken {:.2} times on average (ours: {:.2})",
            rival.overtaken, ours.overtaken
        ));
    }
    match causes.is_empty() {
        true => "no counter is lower than ours by 5 %".to_owned(),
        false => causes.join("; "),
    }
}

/// Why a waiter of `ours` waits longer at most than one of `rival`: a sentence.
pub(super) fn longer(rival: &Counter, ours: &Counter) -> String {
    let mut causes = Vec::new();
    if rival.across > ours.across + BATCHED {
        causes.push(format!(
            "a waiter waits for the batches of other clusters: {} of our hand-overs leave the \
             cluster (its: {})",
            percent(ours.across),
            percent(rival.across)
        ));
    }
    if ours.most_overtaken as f64 > 1.1 * rival.most_overtaken as f64 + 1.0 {
        causes.push(format!(
            "a waiter of ours is overtaken up to {} times (its: {})",
            ours.most_overtaken, rival.most_overtaken
        ));
    }
    match causes.is_empty() {
        true => faster(rival, ours),
        false => causes.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter() -> Counter {
        Counter {
            lines: 14.0,
            far_lines: 2.0,
            rmws: 2.0,
            across: 0.1,
            overtaken: 0.0,
            most_overtaken: 3,
            off: 0.0,
            wakeups: 0.0,
        }
    }

    #[test]
    fn what_is_lower_is_a_cause_and_what_is_as_high_is_none() {
        let rival = Counter {
            lines: 8.0,
            ..counter()
        };
        let text = faster(&rival, &counter());
        assert_eq!(text, "it moves 8.000 lines an acquisition (ours: 14.00)");
        let text = faster(&counter(), &rival);
        assert_eq!(text, "no counter is lower than ours by 5 %");
    }

    #[test]
    fn the_costliest_two_are_said_and_the_order_of_service() {
        let rival = Counter {
            lines: 8.0,
            far_lines: 1.0,
            rmws: 1.0,
            overtaken: 1.0,
            ..counter()
        };
        let text = faster(&rival, &counter());
        assert!(text.starts_with("1.00 lines an acquisition come"), "{text}");
        assert!(
            text.contains("moves 8.000") && !text.contains("read-"),
            "{text}"
        );
        assert!(
            text.ends_with("1.00 times on average (ours: 0.00)"),
            "{text}"
        );
    }

    #[test]
    fn who_waits_longer_waits_for_batches_or_is_overtaken() {
        let fair = Counter {
            across: 0.5,
            most_overtaken: 1,
            ..counter()
        };
        let text = longer(&fair, &counter());
        assert!(text.contains("10.0 % of our hand-overs"), "{text}");
        assert!(text.contains("up to 3 times (its: 1)"), "{text}");
        let rival = Counter {
            rmws: 1.0,
            ..counter()
        };
        assert!(longer(&rival, &counter()).contains("read-modify-writes"));
    }
}
