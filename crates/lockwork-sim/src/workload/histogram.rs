// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Times as a profile has them: how many fell into each class.

use std::sync::Arc;

/// Times by classes. Within a class all times are as likely.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    classes: Arc<[Class]>,
    /// What each time is multiplied by.
    scale: f64,
}

/// Some of the times, ns.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Class {
    from: f64,
    to: f64,
    /// The share of all times that are in the classes before this one.
    before: f64,
    share: f64,
}

impl Histogram {
    /// Of classes (from, to, count), times in ns, in rising order. They may leave gaps.
    ///
    /// # Errors
    /// What is wrong with the classes, as the end of a sentence about them.
    pub fn new(classes: &[(f64, f64, u64)]) -> Result<Histogram, String> {
        let total: f64 = classes.iter().map(|class| class.2 as f64).sum();
        if total == 0.0 {
            return Err("must have a time in some class".to_owned());
        }
        let (mut all, mut before, mut end) = (Vec::new(), 0.0, 0.0);
        for &(from, to, count) in classes {
            if !(from >= end && to >= from && to.is_finite()) {
                return Err(format!(
                    "must be [from, to, count] in rising order; [{from}, {to}, {count}] is not"
                ));
            }
            let share = count as f64 / total;
            all.push(Class {
                from,
                to,
                before,
                share,
            });
            (before, end) = (before + share, to);
        }
        all.retain(|class| class.share > 0.0);
        Ok(Histogram {
            classes: all.into(),
            scale: 1.0,
        })
    }

    /// The mean, ns.
    pub fn mean(&self) -> f64 {
        let all = self.classes.iter();
        let mean: f64 = all.map(|c| c.share * (c.from + c.to) / 2.0).sum();
        mean * self.scale
    }

    /// The same form with another mean, ns: all times are longer or shorter by one factor.
    pub fn with_mean(&self, ns: f64) -> Histogram {
        let mean = self.mean();
        Histogram {
            classes: Arc::clone(&self.classes),
            scale: match mean > 0.0 {
                true => self.scale * ns / mean,
                false => self.scale,
            },
        }
    }

    /// The time that the share `q` of all is below, ns. With a `q` from 0 to 1 by chance, a
    /// time by chance.
    pub fn quantile(&self, q: f64) -> f64 {
        let at = self.classes.partition_point(|class| class.before <= q);
        let class = &self.classes[at.saturating_sub(1)];
        let within = ((q - class.before) / class.share).clamp(0.0, 1.0);
        (class.from + within * (class.to - class.from)) * self.scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Histogram {
        Histogram::new(&[(0.0, 100.0, 3), (1000.0, 2000.0, 1)]).expect("right")
    }

    #[test]
    fn quantiles_are_of_the_classes() {
        let times = two();
        assert_eq!(times.mean(), 0.75 * 50.0 + 0.25 * 1500.0);
        for (q, ns) in [
            (0.0, 0.0),
            (0.375, 50.0),
            (0.75, 1000.0),
            (0.875, 1500.0),
            (1.0, 2000.0),
        ] {
            assert!((times.quantile(q) - ns).abs() < 1e-9, "{q}");
        }
    }

    #[test]
    fn another_mean_keeps_the_form() {
        let (times, longer) = (two(), two().with_mean(825.0));
        assert!((longer.mean() - 825.0).abs() < 1e-9);
        assert!((longer.quantile(0.9) - 2.0 * times.quantile(0.9)).abs() < 1e-9);
        let nothing = Histogram::new(&[(0.0, 0.0, 1)]).expect("no time at all");
        assert_eq!(nothing.with_mean(5.0).mean(), 0.0);
    }

    /// Many times by chance are distributed as the classes are.
    #[test]
    fn times_by_chance_are_distributed_so() {
        let (times, mut random) = (two(), fastrand::Rng::with_seed(1));
        let drawn: Vec<f64> = (0..100_000).map(|_| times.quantile(random.f64())).collect();
        let short = drawn.iter().filter(|&&ns| ns < 100.0).count();
        let gap = drawn.iter().filter(|&&ns| ns > 100.0 && ns < 1000.0);
        assert_eq!(gap.count(), 0);
        assert!((74_000..=76_000).contains(&short), "{short}");
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        assert!((mean / times.mean() - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn wrong_classes_are_refused() {
        for (classes, part) in [
            (&[][..], "some class"),
            (&[(0.0, 1.0, 0)], "some class"),
            (&[(2.0, 1.0, 1)], "rising"),
            (&[(0.0, 4.0, 1), (2.0, 8.0, 1)], "rising"),
            (&[(-1.0, 4.0, 1)], "rising"),
            (&[(0.0, f64::INFINITY, 1)], "rising"),
        ] {
            let error = Histogram::new(classes).expect_err(part);
            assert!(error.contains(part), "{error}");
        }
    }
}
