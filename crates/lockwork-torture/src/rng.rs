// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Small random numbers (xorshift64*), the same in each run.

pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: usize) -> Self {
        Self((seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Below `n`.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        ((bits * u64::from(n)) >> 32) as u32
    }

    /// True once in `n`.
    pub(crate) fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}
