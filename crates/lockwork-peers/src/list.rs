// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which peers there are to be: present or absent, none may be forgotten.
use crate::peer::Family::{self, Mutex, Rw, Spin};

/// Every peer's name and family, in the order of lists.
pub(crate) const NAMES: &[(&str, Family)] = &[
    ("glibc.mutex", Mutex),
    ("glibc.adaptive", Mutex),
    ("glibc.rwlock", Rw),
    ("glibc.rwlock_writer", Rw),
    ("glibc.spin", Spin),
    ("std.mutex", Mutex),
    ("std.rwlock", Rw),
    ("parking_lot.mutex", Mutex),
    ("parking_lot.fair_mutex", Mutex),
    ("parking_lot.rwlock", Rw),
    ("absl.mutex", Mutex),
    ("absl.mutex_rw", Rw),
    ("nsync.mu", Mutex),
    ("nsync.mu_rw", Rw),
    ("tbb.mutex", Mutex),
    ("tbb.rw_mutex", Rw),
    ("tbb.spin_mutex", Spin),
    ("tbb.queuing_mutex", Spin),
    ("tbb.spin_rw_mutex", Rw),
    ("tbb.queuing_rw_mutex", Rw),
    ("ck.fas", Spin),
    ("ck.cas", Spin),
    ("ck.ticket", Spin),
    ("ck.mcs", Spin),
    ("ck.rwlock", Rw),
    ("ck.pflock", Rw),
];

/// The part of a peer's name before the dot.
pub(crate) fn library(name: &'static str) -> &'static str {
    name.split_once('.').map_or(name, |(library, _)| library)
}
