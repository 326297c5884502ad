// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is counted of one lock: its waiters and holders, and whether its holder runs.

use super::of_thread::OfThread;
use super::tree::Ps;
use super::turns::Turns;

/// Of one lock.
#[derive(Default)]
pub(crate) struct OfLock {
    pub(super) turns: Turns,
    /// Holders now, and acquisitions so far with those of the warm-up: exclusive, shared.
    pub(super) holding: [u32; 2],
    pub(super) got: [u64; 2],
    /// The last that got it, while it holds it; the time that holders were off their CPU.
    pub(super) holder: Option<usize>,
    holder_off: Ps,
    holder_off_since: Option<Ps>,
    /// The time that it was free, and the next holder off its CPU.
    pub(super) next_off: Ps,
    /// When it was last given back.
    pub(super) released: Ps,
    /// Where it was last held.
    pub(super) last_place: Option<u16>,
}

impl OfLock {
    /// Whether somebody holds it whom a shared acquisition, or any, has to wait for.
    pub(super) fn is_held(&self, shared: bool) -> bool {
        let [writers, readers] = self.holding;
        writers > 0 || (readers > 0 && !shared)
    }

    /// Acquisitions so far that exclude a shared one, or any.
    pub(super) fn excluding(&self, shared: bool) -> u64 {
        match shared {
            true => self.got[0],
            false => self.got.iter().sum(),
        }
    }

    /// Whether the wait that `of` is in had to be: the lock was held, or others came before.
    pub(super) fn is_contended(&self, of: &OfThread) -> bool {
        of.met || self.excluding(of.wait_for.1) > of.before
    }

    /// The time of that wait since `from`, if it had to be.
    pub(super) fn contended_wait(&self, of: &OfThread, from: Ps, time: Ps) -> Ps {
        match self.is_contended(of) {
            true => time.saturating_sub(of.wait_from.max(from)),
            false => 0,
        }
    }

    /// For how long holders were off their CPU, until `time`.
    pub(super) fn holder_off_total(&self, time: Ps) -> Ps {
        let now = self
            .holder_off_since
            .map_or(0, |since| time.saturating_sub(since));
        self.holder_off + now
    }

    /// Its holder runs again.
    pub(super) fn holder_is_back(&mut self, time: Ps) {
        if let Some(since) = self.holder_off_since.take() {
            self.holder_off += time.saturating_sub(since);
        }
    }

    /// Its holder runs no more.
    pub(super) fn holder_is_off(&mut self, time: Ps) {
        self.holder_off_since = Some(time);
    }
}
