// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Sampled holds that are far longer than the others. One that stands for 256 holds and in which the
//! thread lost its CPU would be more than all of these. Several say how many such holds there were.

/// So many samples may be weighted.
const SEVERAL: u64 = 8;

/// Those of a call site, less what they have in common with the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rare {
    /// Samples.
    pub samples: u64,
    /// Their ticks, each as often as the sample stands for.
    pub weighted: f64,
    /// Their ticks.
    pub once: f64,
}

impl Rare {
    /// More of them.
    pub fn add(&mut self, other: &Rare) {
        self.samples += other.samples;
        self.weighted += other.weighted;
        self.once += other.once;
    }

    /// What they add to the time for which the lock was held.
    pub fn held(&self) -> f64 {
        match self.samples {
            SEVERAL.. => self.weighted,
            _ => self.once,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_long_holds_stand_for_themselves() {
        let one = Rare {
            samples: 1,
            weighted: 25_600.0,
            once: 100.0,
        };
        let mut all = Rare::default();
        for _ in 1..SEVERAL {
            all.add(&one);
        }
        assert_eq!(all.held(), 700.0);
        all.add(&one);
        assert_eq!(all.held(), 8.0 * 25_600.0);
    }
}
