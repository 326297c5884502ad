// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The clocks of a recording, read now.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::raw::RawFile;

/// Nanoseconds since the recording began, by the clock of the day.
pub fn since_start(head: &RawFile) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_nanos() as u64);
    now.saturating_sub(head.start_unix_ns)
}

/// The time-stamp counter.
#[cfg(target_arch = "x86_64")]
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 CPU has it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// No other machine's recorder writes a profile.
#[cfg(not(target_arch = "x86_64"))]
pub fn ticks() -> u64 {
    0
}
