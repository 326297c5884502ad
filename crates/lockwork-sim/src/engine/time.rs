// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Simulated time: how long threads take to begin; as a floating-point number, and back.
//!
//! That is by way of signed integers: x86-64 has an instruction for these, and many for unsigned
//! ones.

use super::tree::Ps;
use crate::rules::Rule;
use crate::setup::Setup;

/// Within so much time a thread begins, ps: long enough for it to come to the lock before the
/// next one.
const START: Ps = 1_000_000;

/// Within so much time all threads begin. Not all at once, by any rule: nobody starts in step.
pub(super) fn starts(setup: &Setup) -> Ps {
    match setup.rules.has(Rule::AnyOrder) {
        true => START * setup.threads as u64,
        false => START,
    }
}

#[inline]
pub(super) fn float(time: Ps) -> f64 {
    time as i64 as f64
}

/// The fraction is dropped; what is negative becomes 0.
#[inline]
pub(super) fn whole(time: f64) -> Ps {
    (time as i64).max(0) as Ps
}

/// So many times `time`.
#[inline]
pub(super) fn times(time: Ps, by: f64) -> Ps {
    whole(float(time) * by)
}
