// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a spinner looked at since its last pause.

/// Lines of a round that are remembered; with more it is not parked.
const MOST: usize = 6;

/// The lines that a thread found in its own cache, each once.
#[derive(Clone, Copy, Default)]
pub(super) struct Round {
    lines: [u32; MOST],
    /// How many; more than [`MOST`]: too many.
    count: u8,
}

impl Round {
    #[inline]
    pub(super) fn add(&mut self, line: u32) {
        if self.lines().contains(&line) {
            return;
        }
        if let Some(free) = self.lines.get_mut(usize::from(self.count)) {
            *free = line;
        }
        self.count = (self.count + 1).min(MOST as u8 + 1);
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Whether it has lines, and not too many to wait for them.
    pub(super) fn can_wait(&self) -> bool {
        (1..=MOST).contains(&usize::from(self.count))
    }

    /// The first lines.
    #[inline]
    pub(super) fn lines(&self) -> &[u32] {
        &self.lines[..MOST.min(self.count.into())]
    }
}
