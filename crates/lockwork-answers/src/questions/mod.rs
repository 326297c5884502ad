// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The questions, in the order of the page.

mod osq_coexistence;
mod osq_complexity;
mod osq_low_end;
mod osq_vendors;
mod rwlock_bias;
mod rwlock_faster;
mod rwlock_merely_bad;
mod rwlock_rare_writers;
mod rwlock_readers;
mod rwlock_small;
mod rwlock_smt;
mod rwlock_spinlocks;
mod unfair_bound;
mod unfair_tas;
mod unfair_yield;

use crate::question::Question;

/// All.
pub(crate) const QUESTIONS: [&Question; 15] = [
    &rwlock_faster::QUESTION,
    &rwlock_readers::QUESTION,
    &rwlock_small::QUESTION,
    &rwlock_rare_writers::QUESTION,
    &rwlock_spinlocks::QUESTION,
    &rwlock_merely_bad::QUESTION,
    &rwlock_smt::QUESTION,
    &rwlock_bias::QUESTION,
    &osq_vendors::QUESTION,
    &osq_complexity::QUESTION,
    &osq_coexistence::QUESTION,
    &osq_low_end::QUESTION,
    &unfair_bound::QUESTION,
    &unfair_yield::QUESTION,
    &unfair_tas::QUESTION,
];
