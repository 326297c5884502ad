// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Time that passes by the workload's word.

use crate::calls;
use crate::engine::caches::ps;
use crate::workload::Time;

/// One length by chance, ps.
pub(super) fn draw(random: &mut fastrand::Rng, length: &Time) -> u64 {
    ps(length.draw(random))
}

/// Who sleeps for no time at all does not switch.
pub(super) fn sleep(time: u64) {
    if time > 0 {
        calls::sleep_for(time);
    }
}
