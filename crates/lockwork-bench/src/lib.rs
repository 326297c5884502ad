// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Every lock of the catalogue, and the locks of other libraries, measured in
//! one process by one loop through one table of functions.
//!
//! `docs/bench.md` says what is measured, how, and what each figure means.
mod again;
mod args;
mod command;
mod comparison;
mod contender;
mod counts;
mod inlined;
mod journal;
mod list;
mod named;
mod object;
mod pareto;
mod plan;
mod planning;
mod plots;
mod presets;
mod round;
mod sample;
mod score;
mod scoring;
mod seats;
mod session;
mod single;
mod slow;
mod summary;
mod table;
mod tools;
mod waits;
mod work;
mod worker;
mod yardstick;

pub use args::{BenchArgs, AFTER_HELP, HELP};
pub use command::{run, samples};
pub use contender::{contenders, flagships, select, Contender, Selection, BARE, LOCKWORK};
pub use journal::{AbsentInfo, Data, End, Ended, Header, Journal, LockInfo, SCHEMA};
pub use pareto::{dominators, Point};
pub use plan::{Form, Plan};
pub use plots::draw;
pub use round::{measure, Conditions, Trouble};
pub use sample::{Calls, Case, Measured, Sample};
pub use score::{CaseScore, Known, Score};
pub use scoring::{score_of, scores, Ahead};
pub use session::Session;
pub use slow::left_out;
pub use summary::{summaries, Line, Ratio, Summary};
pub use table::render;
pub use tools::{spin, Calibration, Clock, Tools};
pub use waits::Waits;
pub use work::{Outside, Work};
pub use yardstick::{half, yardstick, Yardstick, CONFIDENCE};
