// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Simulated time as a floating-point number, and back.
//!
//! By way of signed integers: x86-64 has an instruction for these, and many for unsigned ones.

use super::tree::Ps;

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
