// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the commands that measure share: the statistics, the machine that the
//! numbers are from, numbers, tables and plots as people read them, settings,
//! mistakes in the command line, and Ctrl-C.

pub mod bars;
pub mod interrupt;
pub mod machine;
pub mod plot;
pub mod settings;
pub mod stats;
pub mod table;
pub mod text;
pub mod usage;
