// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The clocks of a recording, read now.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::raw::RawFile;

/// So many ticks between two readings are a few microseconds: nothing came between.
const CLOSE: u64 = 10_000;
/// The clocks are read so often at most; the closest pair counts.
const READINGS: usize = 100;

/// The time-stamp counter, and what `clock` says at the same moment. A thread may lose its CPU between
/// two readings, so a pair that is far apart is read again.
pub fn with_ticks<T>(clock: impl Fn() -> T) -> (u64, T) {
    let read = || {
        let before = ticks();
        let at = clock();
        let apart = ticks().saturating_sub(before);
        (apart, (before + apart / 2, at))
    };
    let mut best = read();
    for _ in 1..READINGS {
        if best.0 < CLOSE {
            break;
        }
        let other = read();
        if other.0 < best.0 {
            best = other;
        }
    }
    best.1
}

/// Nanoseconds since the recording of a process of this machine began. The clock of the day may have
/// been set meanwhile; it counts only where the other one is that of another time namespace.
pub fn since_start(head: &RawFile) -> u64 {
    monotonic().checked_sub(head.start_ns).unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_nanos() as u64);
        now.saturating_sub(head.start_unix_ns)
    })
}

/// Nanoseconds of CLOCK_MONOTONIC, which std's `Instant` does not tell.
fn monotonic() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: fills the structure. This clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
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
