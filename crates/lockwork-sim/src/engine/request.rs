// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a CPU asks of a line, and which part of the CPU asks.

use super::caches::Kind;
use super::tree::Ps;

/// Requests that a CPU may have under way: its thread's, and its stores'.
pub(super) const PARTS: usize = 4;

/// A part of a CPU that asks for lines: its thread (part 0), or a place in its store buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Agent(pub u16);

impl Agent {
    pub fn of(cpu: usize, part: usize) -> Self {
        Agent((PARTS * cpu + part) as u16)
    }

    pub fn cpu(self) -> usize {
        usize::from(self.0) / PARTS
    }

    pub fn part(self) -> usize {
        usize::from(self.0) % PARTS
    }
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub line: u32,
    pub kind: Kind,
    pub(super) asked: Ps,
    pub(super) arrived: Ps,
    /// Of the line, when it was granted.
    pub(super) version: u32,
    /// The line's changes when it was asked for: while there are no more, the price is the same.
    pub(super) changes: u32,
}
