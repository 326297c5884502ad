// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Reads what the recorder wrote about a program's locks, and says which of them matter,
//! why, and what to try: `lockwork report`, and the end of `lockwork profile`.

mod callers;
mod clock;
mod command;
mod cycles;
mod deadlock;
mod debug_files;
pub mod demand;
mod end;
mod events;
mod files;
mod flame;
mod folded;
mod futexes;
mod held;
mod herd;
mod histogram;
mod html;
mod json;
mod limits;
mod locking;
mod model;
mod modules;
mod names;
mod nesting;
mod now;
mod processes;
mod program;
mod rare;
mod raw;
mod read;
mod rules;
mod sampler;
mod shards;
mod share;
mod sharing;
mod speedscope;
mod starving;
mod summary;
mod symbols;
mod tables;
mod timeline;
mod unrecorded;
mod unseen;
mod users;
mod verdict;

pub use clock::{note_sleeps, Clock};
pub use command::{report, text, ReportArgs, AFTER_HELP, HELP};
pub use end::recorded_by;
pub use files::{children, is_profile};
pub use locking::{explained, locking, Locking};
pub use raw::LEAST;
pub use sampler::Sampler;
pub use unseen::{Unseen, NOTHING};
