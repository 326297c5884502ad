// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Damaged numbers must not overflow when they are added. What no true number exceeds is cut off,
//! and said to be.

/// No recording takes so many ticks: 41 days at 2.5 GHz.
pub const MOST_TICKS: u64 = 1 << 53;
/// Nothing happens so often.
const MOST: u64 = 1 << 48;
/// All times together, or all counts, are at most this.
const ALL: u64 = 1 << 63;

/// What is left of these sums, while a file is read.
pub struct Limits {
    ticks: u64,
    counts: u64,
    exceeded: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            ticks: ALL,
            counts: ALL,
            exceeded: false,
        }
    }
}

impl Limits {
    /// A time, in ticks.
    pub fn time(&mut self, ticks: u64) -> u64 {
        let sane = ticks.min(MOST_TICKS).min(self.ticks);
        self.ticks -= sane;
        self.exceeded |= sane != ticks;
        sane
    }

    /// A number of things.
    pub fn count(&mut self, count: u64) -> u64 {
        let sane = count.min(MOST).min(self.counts);
        self.counts -= sane;
        self.exceeded |= sane != count;
        sane
    }

    /// What is said if a number was cut off.
    pub fn warning(&self) -> Option<String> {
        self.exceeded.then(|| {
            "the file has a time of more than 2^53 ticks, a count of more than 2^48, or too many of \
             them: it is damaged, or the recording was too long"
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_days_are_no_damage() {
        let mut limits = Limits::default();
        // Of a counter of 3 GHz.
        let two_days = 2 * 86_400 * 3_000_000_000;
        assert_eq!(limits.time(two_days), two_days);
        assert_eq!(limits.count(1 << 40), 1 << 40);
        assert_eq!(limits.warning(), None);
    }

    #[test]
    fn what_is_cut_off_is_said_and_never_overflows() {
        let mut limits = Limits::default();
        let sum: u64 = (0..5_000).map(|_| limits.time(u64::MAX)).sum();
        assert_eq!(sum, ALL);
        let sum: u64 = (0..70_000).map(|_| limits.count(u64::MAX)).sum();
        assert_eq!(sum, ALL);
        assert!(limits.warning().is_some());
    }
}
