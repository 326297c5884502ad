// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Locks that are taken inside the sections of others.

use crate::model::{mean, Lock, Profile};

/// Two locks of which one is taken inside the other's sections.
#[derive(Clone, Copy, Debug)]
pub struct Nest<'a> {
    /// The one that is held meanwhile; of several, the last that was taken.
    pub outer: &'a Lock,
    /// The other.
    pub inner: &'a Lock,
    /// How often, estimated from the acquisitions whose holds were timed.
    pub count: u64,
    /// Ticks of waits for the inner lock meanwhile, estimated from watched and long ones.
    pub waited: u64,
}

impl Nest<'_> {
    /// The share of the inner lock's acquisitions.
    pub fn of_inner(&self) -> f64 {
        mean(self.count as f64, self.inner.sum.count).min(1.0)
    }

    /// How often the inner lock is taken in a section of the outer one, on average.
    pub fn by_section(&self) -> f64 {
        mean(self.count as f64, self.outer.sum.count)
    }
}

/// The locks that are taken inside `lock`'s sections; what happens most often comes first.
pub fn nested_in<'a>(profile: &'a Profile, lock: &'a Lock) -> Vec<Nest<'a>> {
    let mut all = nests(profile, lock);
    all.retain(|nest| nest.outer.address == lock.address);
    all
}

/// All that the profile has of `lock`, as the inner and as the outer one; what happens most
/// often comes first. A recursive acquisition is not one of these.
pub fn nests<'a>(profile: &'a Profile, lock: &'a Lock) -> Vec<Nest<'a>> {
    let others = || {
        profile
            .locks
            .iter()
            .filter(|other| other.address != lock.address)
    };
    let nest = |outer: &'a Lock, inner: &'a Lock| {
        let mut all = inner.inside.iter();
        let found = all.find(|inside| inside.outer == outer.address)?;
        Some(Nest {
            outer,
            inner,
            count: found.count,
            waited: found.waited,
        })
    };
    let as_inner = others().filter_map(|outer| nest(outer, lock));
    let as_outer = others().filter_map(|inner| nest(lock, inner));
    let mut all: Vec<Nest<'a>> = as_inner.chain(as_outer).collect();
    all.sort_by_key(|nest| {
        (
            u64::MAX - nest.count,
            nest.outer.address,
            nest.inner.address,
        )
    });
    all
}
