// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The kit of the lab's commands. For the command line: settings, names to choose from,
//! and mistakes. While a command works: Ctrl-C and Ctrl-Z, work on several threads, and the line of
//! progress. For what is printed: numbers, tables and plots as people read them. And for
//! measurements the statistics, and the machine that the numbers are from.

pub mod bars;
pub mod child;
pub mod choice;
pub mod finding;
pub mod html;
pub mod input;
pub mod interrupt;
pub mod machine;
pub mod page;
pub mod plot;
pub mod pool;
pub mod progress;
pub mod ratios;
pub mod resources;
pub mod rows;
pub mod settings;
pub mod spare;
pub mod stats;
pub mod stops;
pub mod strips;
pub mod table;
pub mod target;
pub mod text;
pub mod toml_fault;
pub mod usage;
