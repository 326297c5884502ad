// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The statistics of measurements: small, and nothing that the samples do not
//! carry.

/// How often rounds are drawn anew for an interval.
pub const RESAMPLES: usize = 10_000;
/// Fewer rounds than this give no interval.
pub const MIN_ROUNDS: usize = 3;

/// The arithmetic mean; 0 for no samples.
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len().max(1) as f64
}

/// The sample standard deviation; 0 for fewer than two samples.
pub fn deviation(samples: &[f64]) -> f64 {
    if samples.len() < 2 {
        return 0.0;
    }
    let centre = mean(samples);
    let squares: f64 = samples.iter().map(|x| (x - centre).powi(2)).sum();
    (squares / (samples.len() - 1) as f64).sqrt()
}

/// Half the width of Student's interval of the mean of independent samples. `None` for
/// fewer than [`MIN_ROUNDS`].
pub fn half_width(samples: &[f64], confidence: f64) -> Option<f64> {
    let n = samples.len() as f64;
    let quantile = || student_quantile(0.5 + confidence / 2.0, n - 1.0);
    (samples.len() >= MIN_ROUNDS).then(|| quantile() * deviation(samples) / n.sqrt())
}

/// The coefficient of variation: deviation over mean. `None` around zero.
pub fn variation(samples: &[f64]) -> Option<f64> {
    let centre = mean(samples);
    (samples.len() >= 2 && centre != 0.0).then(|| deviation(samples) / centre.abs())
}

/// Jain's fairness index: 1 if all are equal, 1/n if one of n has all. 1 for
/// nothing at all.
pub fn jain(counts: &[f64]) -> f64 {
    let sum: f64 = counts.iter().sum();
    let squares: f64 = counts.iter().map(|x| x * x).sum();
    if squares == 0.0 {
        return 1.0;
    }
    sum * sum / (counts.len() as f64 * squares)
}

/// How many samples lie more than three scaled median absolute deviations from
/// the median. Needs five samples to mean anything.
pub fn outliers(samples: &[f64]) -> usize {
    if samples.len() < 5 {
        return 0;
    }
    let centre = median(samples);
    let distance: Vec<f64> = samples.iter().map(|x| (x - centre).abs()).collect();
    let scale = 1.4826 * median(&distance);
    // Most samples are equal: any other one would count.
    if scale == 0.0 {
        return 0;
    }
    distance.iter().filter(|d| **d > 3.0 * scale).count()
}

/// The middle sample, or the mean of the two in the middle; 0 for none.
pub fn median(samples: &[f64]) -> f64 {
    quantile(samples, 0.5)
}

/// The value below which the share `q` (0 to 1) of the samples lies, on a line
/// between the two next to it; 0 for no samples.
pub fn quantile(samples: &[f64], q: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = q.clamp(0.0, 1.0) * sorted.len().saturating_sub(1) as f64;
    let (below, part) = (place as usize, place.fract());
    match (sorted.get(below), sorted.get(below + 1)) {
        (Some(low), Some(high)) if part > 0.0 => low + (high - low) * part,
        (Some(low), _) => *low,
        (None, _) => 0.0,
    }
}

/// The mean without the lowest and the highest quarter of the samples, so that a few
/// samples that are far off do not decide; the plain mean of fewer than five.
pub fn middle_mean(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = left_out(sorted.len());
    mean(&sorted[cut..sorted.len() - cut])
}

/// How many of `n` samples a middle mean leaves out at each end: three at least are left,
/// because fewer have no interval.
fn left_out(n: usize) -> usize {
    if n < 5 {
        0
    } else {
        n / 4
    }
}

/// The geometric mean; `None` for no samples or one that is not positive.
pub fn geometric_mean(samples: &[f64]) -> Option<f64> {
    let usable = !samples.is_empty() && samples.iter().all(|x| *x > 0.0);
    let logs: Vec<f64> = samples.iter().map(|x| x.ln()).collect();
    usable.then(|| mean(&logs).exp())
}

/// One round's two values: what is compared, and what it is compared with.
pub type Pair = (f64, f64);

/// The ratio of the two means, minus one. `None` unless both are positive.
pub fn improve(pairs: &[Pair]) -> Option<f64> {
    let (over, under) = sums(pairs.iter());
    (over > 0.0 && under > 0.0).then(|| over / under - 1.0)
}

fn sums<'a>(pairs: impl Iterator<Item = &'a Pair>) -> Pair {
    pairs.fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1))
}

/// A ratio by its logarithm: a mean of independent samples, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogRatio {
    /// The mean of the logarithms.
    pub log: f64,
    /// Its standard error.
    pub error: f64,
    /// The error's degrees of freedom.
    pub freedom: f64,
}

impl LogRatio {
    /// The [`middle_mean`] of `logs`, with the standard error that Tukey and McLaughlin
    /// (Sankhya A 25, 1963) give it: that of the winsorized samples, in which those that
    /// the mean leaves out have the value of the last one that it keeps. `None` for fewer
    /// than two, which have no error.
    pub fn of(logs: &[f64]) -> Option<LogRatio> {
        if logs.len() < 2 || logs.iter().any(|log| !log.is_finite()) {
            return None;
        }
        let mut sorted = logs.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (n, cut) = (sorted.len(), left_out(sorted.len()));
        let (least, most) = (sorted[cut], sorted[n - 1 - cut]);
        let winsorized: Vec<f64> = sorted.iter().map(|log| log.clamp(least, most)).collect();
        let kept = (n - 2 * cut) as f64;
        Some(LogRatio {
            log: middle_mean(logs),
            error: deviation(&winsorized) * (n as f64).sqrt() / kept,
            freedom: kept - 1.0,
        })
    }

    /// The ratio of the two means of `pairs`, with the standard error that the delta
    /// method gives it. `None` for fewer than two pairs and for values that are not
    /// positive.
    pub fn of_means(pairs: &[Pair]) -> Option<LogRatio> {
        if pairs.len() < 2 || pairs.iter().any(|p| p.0 <= 0.0 || p.1 <= 0.0) {
            return None;
        }
        let n = pairs.len() as f64;
        let (over, under) = sums(pairs.iter());
        let ratio = over / under;
        let residuals: Vec<f64> = pairs
            .iter()
            .map(|p| (p.0 - ratio * p.1) * n / over)
            .collect();
        Some(LogRatio {
            log: ratio.ln(),
            error: deviation(&residuals) / n.sqrt(),
            freedom: n - 1.0,
        })
    }

    /// The geometric mean of several ratios that were measured independently. The
    /// degrees of freedom are those of Welch and Satterthwaite. `None` for no ratios.
    pub fn together(all: &[LogRatio]) -> Option<LogRatio> {
        let n = all.len() as f64;
        let logs: Vec<f64> = all.iter().map(|one| one.log).collect();
        let variance: f64 = all.iter().map(|one| one.error.powi(2)).sum();
        let terms = all.iter().map(|one| one.error.powi(4) / one.freedom);
        let fewest = all.iter().map(|one| one.freedom).fold(f64::MAX, f64::min);
        let freedom = variance.powi(2) / terms.sum::<f64>();
        (!all.is_empty()).then(|| LogRatio {
            log: mean(&logs),
            error: variance.sqrt() / n,
            freedom: if freedom.is_finite() { freedom } else { fewest },
        })
    }

    /// The ratio itself.
    pub fn ratio(&self) -> f64 {
        self.log.exp()
    }

    /// Student's interval of the ratio. `None` with fewer than [`MIN_ROUNDS`] rounds'
    /// degrees of freedom.
    pub fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        if self.freedom < (MIN_ROUNDS - 1) as f64 {
            return None;
        }
        let reach = student_quantile(0.5 + confidence / 2.0, self.freedom) * self.error;
        Some(((self.log - reach).exp(), (self.log + reach).exp()))
    }

    /// The smallest change between two runs like this one that a test of `confidence`
    /// finds with probability `power`: 0.05 is a change by 5 %.
    pub fn detectable(&self, confidence: f64, power: f64) -> f64 {
        let freedom = 2.0 * self.freedom;
        let quantile = |p| student_quantile(p, freedom);
        let reach = quantile(0.5 + confidence / 2.0) + quantile(power);
        (reach * std::f64::consts::SQRT_2 * self.error).exp_m1()
    }
}

/// An interval that holds the true improvement with the given confidence.
///
/// Rounds are resampled whole (a paired percentile bootstrap), so that what
/// disturbed all runs of a round cancels. With few rounds that alone claims too
/// much: with three, "all on one side" happens in one of four comparisons of a
/// lock with itself. So each end is moved out to Student's t interval on the
/// same rounds, where that is wider.
pub fn interval(pairs: &[Pair], confidence: f64, seed: u64) -> Option<(f64, f64)> {
    if pairs.len() < MIN_ROUNDS || pairs.iter().any(|p| p.0 <= 0.0 || p.1 <= 0.0) {
        return None;
    }
    let resampled = bootstrap(pairs, confidence, seed);
    let student = student_interval(pairs, confidence)?;
    Some((resampled.0.min(student.0), resampled.1.max(student.1)))
}

fn bootstrap(pairs: &[Pair], confidence: f64, seed: u64) -> (f64, f64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut ratios: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let (over, under) = sums((0..pairs.len()).map(|_| &pairs[random.usize(..pairs.len())]));
            over / under - 1.0
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    let below = (tail * RESAMPLES as f64).floor() as usize;
    let below = below.min(RESAMPLES / 2 - 1);
    (ratios[below], ratios[RESAMPLES - 1 - below])
}

/// Student's t on the logarithm of the ratio of means.
fn student_interval(pairs: &[Pair], confidence: f64) -> Option<(f64, f64)> {
    let found = LogRatio::of_means(pairs)?;
    let reach = student_quantile(0.5 + confidence / 2.0, found.freedom) * found.error;
    let ratio = found.ratio();
    let (low, high) = (ratio * (-reach).exp() - 1.0, ratio * reach.exp() - 1.0);
    (low.is_finite() && !high.is_nan()).then_some((low, high))
}

/// The quantile `p` (above one half) of Student's t distribution.
///
/// With t = sqrt(freedom) tan(angle) the density is cos(angle)^(freedom - 1),
/// which needs no gamma function: the quantile is found by adding up slices.
fn student_quantile(p: f64, freedom: f64) -> f64 {
    const SLICES: usize = 20_000;
    let width = std::f64::consts::FRAC_PI_2 / SLICES as f64;
    let density = |i: usize| ((i as f64 + 0.5) * width).cos().powf(freedom - 1.0);
    let half: f64 = (0..SLICES).map(density).sum();
    let mut left = (p - 0.5) * 2.0 * half;
    for i in 0..SLICES {
        let slice = density(i);
        if left <= slice {
            let angle = (i as f64 + left / slice) * width;
            return freedom.sqrt() * angle.tan();
        }
        left -= slice;
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_t_table() {
        for (p, freedom, t) in [
            (0.975, 1.0, 12.706),
            (0.975, 2.0, 4.303),
            (0.975, 9.0, 2.262),
            (0.995, 9.0, 3.250),
            (0.975, 99.0, 1.984),
        ] {
            let got = student_quantile(p, freedom);
            assert!((got - t).abs() < 0.002 * t, "{p} {freedom}: {got}");
        }
    }

    #[test]
    fn a_mean_has_the_interval_of_its_samples() {
        assert_eq!(half_width(&[1.0, 2.0], 0.95), None);
        assert_eq!(half_width(&[2.0; 4], 0.95), Some(0.0));
        // t(0.975, 2) = 4.303.
        let half = half_width(&[1.0, 2.0, 3.0], 0.95).expect("three samples");
        assert!((half - 4.303 / 3f64.sqrt()).abs() < 0.005, "{half}");
    }

    #[test]
    fn a_geometric_mean_is_known_better_than_its_parts() {
        let part = LogRatio::of(&[0.1, 0.2, 0.3]).expect("three samples");
        assert!((part.log - 0.2).abs() < 1e-12 && part.freedom == 2.0);
        assert!((part.error - 0.1 / 3f64.sqrt()).abs() < 1e-12);
        let four = LogRatio::together(&[part; 4]).expect("parts");
        assert!((four.log - 0.2).abs() < 1e-12 && (four.freedom - 8.0).abs() < 1e-9);
        assert!((four.error - part.error / 2.0).abs() < 1e-12);
        // t(0.975, 8) = 2.306 and t(0.975, 16) + t(0.8, 16) = 2.120 + 0.865.
        let (low, high) = four.interval(0.95).expect("an interval");
        let reach = 2.306 * four.error;
        assert!((low.ln() - (0.2 - reach)).abs() < 1e-4);
        assert!((high.ln() - (0.2 + reach)).abs() < 1e-4);
        let change = four.detectable(0.95, 0.8).ln_1p();
        assert!((change / (2.985 * 2f64.sqrt() * four.error) - 1.0).abs() < 0.002);
    }

    #[test]
    fn a_middle_mean_leaves_out_what_is_far_off() {
        let eight = [1.0, -90.0, 3.0, 4.0, 2.0, 900.0, 2.0, 3.0];
        assert_eq!(middle_mean(&eight), 2.5);
        assert_eq!(middle_mean(&[1.0, 2.0, 9.0, 0.0]), 3.0);
        for rounds in MIN_ROUNDS..20 {
            let logs: Vec<f64> = (0..rounds).map(|i| i as f64).collect();
            let found = LogRatio::of(&logs).expect("rounds");
            assert!(found.interval(0.95).is_some(), "{rounds}");
        }
        assert_eq!(middle_mean(&[]), 0.0);
        let found = LogRatio::of(&eight).expect("eight samples");
        assert_eq!((found.log, found.freedom), (2.5, 3.0));
        // The winsorized samples are four times 2 and four times 3.
        let error = (2.0f64 / 7.0).sqrt() * 8f64.sqrt() / 4.0;
        assert!((found.error - error).abs() < 1e-12);
    }

    #[test]
    fn too_little_has_no_error_and_no_interval() {
        assert_eq!(LogRatio::of(&[0.1]), None);
        assert_eq!(LogRatio::of(&[0.1, f64::NEG_INFINITY]), None);
        assert_eq!(LogRatio::together(&[]), None);
        assert_eq!(LogRatio::of_means(&[(1.0, 1.0)]), None);
        assert_eq!(LogRatio::of_means(&[(1.0, 0.0), (1.0, 1.0)]), None);
        let two = LogRatio::of(&[0.1, 0.2]).expect("two samples");
        assert_eq!(two.interval(0.95), None);
        let same = LogRatio::of(&[0.5; 3]).expect("three samples");
        let all = LogRatio::together(&[same, same]).expect("parts");
        assert!((all.ratio() - 0.5f64.exp()).abs() < 1e-12 && all.freedom == 2.0);
    }

    #[test]
    fn knows_the_middle_and_the_quarters() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[]), 0.0);
        let five = [5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!((quantile(&five, 0.25), quantile(&five, 0.75)), (2.0, 4.0));
        assert_eq!((quantile(&five, 0.0), quantile(&five, 1.0)), (1.0, 5.0));
        let mean = geometric_mean(&[2.0, 8.0]).expect("positive");
        assert!((mean - 4.0).abs() < 1e-9);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn finds_outliers() {
        assert_eq!(outliers(&[1.0, 1.1, 0.9, 1.0, 1.05, 5.0]), 1);
        assert_eq!(outliers(&[1.0, 1.1, 0.9, 1.0, 1.05]), 0);
        assert_eq!(outliers(&[1.0, 1.0, 9.0]), 0);
    }

    #[test]
    fn sees_a_clear_difference() {
        let pairs: Vec<Pair> = (0..10).map(|i| (200.0 + f64::from(i), 100.0)).collect();
        let (low, high) = interval(&pairs, 0.95, 1).expect("interval");
        assert!(low > 1.0 && low < 1.045 && high > 1.045 && high < 1.1);
        assert_eq!(interval(&pairs, 0.95, 1), interval(&pairs, 0.95, 1));
        assert_eq!(interval(&pairs[..2], 0.95, 1), None);
        assert_eq!(interval(&[(0.0, 1.0); 5], 0.95, 1), None);
    }

    /// A lock compared with itself: an honest 95 % interval misses zero in at
    /// most one of twenty comparisons, however few the rounds.
    #[test]
    fn does_not_see_what_is_not_there() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut noisy = || 100.0 + (0..12).map(|_| random.f64() - 0.5).sum::<f64>() * 5.0;
        for rounds in [3, 5, 10] {
            let mut missed = 0;
            for seed in 0..100 {
                let pairs: Vec<Pair> = (0..rounds).map(|_| (noisy(), noisy())).collect();
                let (low, high) = interval(&pairs, 0.95, seed).expect("interval");
                missed += u32::from(low > 0.0 || high < 0.0);
            }
            assert!(missed <= 12, "{rounds} rounds: {missed} of 100");
        }
    }

    #[test]
    fn jain_is_one_if_fair_and_one_nth_if_not() {
        assert_eq!(jain(&[5.0, 5.0, 5.0]), 1.0);
        assert_eq!(jain(&[9.0, 0.0, 0.0]), 1.0 / 3.0);
        assert!((jain(&[1.0, 2.0, 3.0]) - 36.0 / 42.0).abs() < 1e-12);
        assert_eq!(jain(&[0.0, 0.0]), 1.0);
        assert_eq!(jain(&[]), 1.0);
    }
}
