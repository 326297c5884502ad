// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Times by powers of two: each bucket is twice as wide as the one before it.

/// How many buckets there are, as in the file.
pub const BUCKETS: usize = 40;

/// How often times were seen, by the power of two of ticks that they reach.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: [u64; BUCKETS],
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram {
            counts: [0; BUCKETS],
        }
    }
}

impl Histogram {
    /// Adds what the file has.
    pub fn add(&mut self, counts: &[u32; BUCKETS]) {
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            *sum += u64::from(*count);
        }
    }

    /// Adds another one.
    pub fn merge(&mut self, other: &Histogram) {
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
    }

    /// How many times it has.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The time in ticks that the share `q` of all does not exceed: the upper end of its
    /// bucket, so at most twice what it was. 0: there is nothing.
    pub fn quantile(&self, q: f64) -> u64 {
        let wanted = (self.total() as f64 * q).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (at, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return 2 << at;
            }
        }
        0
    }

    /// Each bucket that is not empty: its lower and upper end in ticks, and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let all = self.counts.iter().enumerate();
        all.filter(|(_, count)| **count > 0)
            .map(|(at, count)| (if at == 0 { 0 } else { 1 << at }, 2 << at, *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_upper_ends_of_buckets() {
        let mut counts = [0; BUCKETS];
        counts[3] = 98; // 8 to 16 ticks
        counts[10] = 2; // 1024 to 2048
        let mut histogram = Histogram::default();
        histogram.add(&counts);
        assert_eq!(histogram.total(), 100);
        assert_eq!(histogram.quantile(0.5), 16);
        assert_eq!(histogram.quantile(0.99), 2048);
        assert_eq!(Histogram::default().quantile(0.5), 0);
        let buckets: Vec<_> = histogram.buckets().collect();
        assert_eq!(buckets, [(8, 16, 98), (1024, 2048, 2)]);
    }
}
