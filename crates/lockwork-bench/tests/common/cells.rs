// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A cell of a table that nobody measures.
use lockwork_bench::{Cell, Work};

/// One with this number of threads.
pub fn cell(threads: u32) -> Cell {
    Cell {
        threads,
        inside: Work::Ns(100),
        outside: Work::Ns(200),
        reads: 0,
        objects: 1,
        time_ms: 10,
        loops: None,
        calls: None,
    }
}
