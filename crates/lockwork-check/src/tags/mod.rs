// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tags of the locks' memory orderings: which comment names which ordering,
//! what it pairs with, and whether code, comments and pages agree.
//!
//! In `locks/` every ordering is under a comment such as
//! `/* [mcs.C] ACQUIRE, pairs with mcs.D: see the last holder's writes. */`.
//! Here such comments are read by a small scanner of the locks' own style of C.
mod comment;
mod index;
mod order;
mod pages;
mod pairs;
mod read;
mod scan;
mod site;
mod sites;
#[cfg(test)]
mod tests;

pub use index::{index, Index, Problem, Tag};
pub use order::{order_of, Order, LOADS, STORES};
pub use pages::page_problems;
pub use pairs::problems;
pub use read::{read_pages, read_tree};
pub use site::Site;
