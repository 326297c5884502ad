// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Waits by futex calls that are not pthread's, as of the locks of Rust's standard library.

use std::cmp::Reverse;

use lockwork_report::text::{counted, duration, whole};

use crate::model::{Counts, Lock, Profile, Use};
use crate::names::Names;

/// Words that are listed.
const LISTED: usize = 3;

/// What is said of them.
pub struct Futexes {
    /// How long, and how often, in all.
    pub sum: String,
    /// The words that were waited for longest, by where.
    pub sites: Vec<String>,
}

/// Where the program waits in futex calls that it makes itself; none: it was not seen to.
pub fn own(profile: &Profile, names: &Names<'_>) -> Option<String> {
    let (ns, at) = profile.own_futex;
    (ns > 0).then(|| {
        format!(
            "Threads waited {} in futex calls that no interposer sees, by samples; most of that at {}",
            duration(ns),
            names.site(at)
        )
    })
}

/// None: there were none.
pub fn of(profile: &Profile, names: &Names<'_>) -> Option<Futexes> {
    let all = profile.locks.iter().filter(|lock| lock.has(Use::Futex));
    let words = all.map(|lock| (lock, lock.of(Use::Futex)));
    // A word that has changed before a thread could wait for it is none.
    let mut words: Vec<(&Lock, Counts)> = words.filter(|(_, sum)| sum.count > 0).collect();
    if words.is_empty() {
        return None;
    }
    words.sort_by_key(|(_, sum)| Reverse(sum.waited));
    let time = |ticks: u64| duration(profile.ns(ticks as f64));
    let waited: u64 = words.iter().map(|(_, sum)| sum.waited).sum();
    let count: u64 = words.iter().map(|(_, sum)| sum.count).sum();
    let one = |(lock, sum): &(&Lock, Counts)| {
        let site = lock.sites.iter().find(|site| site.how == Use::Futex);
        format!(
            "{} times, {}: {}",
            whole(sum.count),
            time(sum.waited),
            names.site(site.map_or(0, |site| site.address))
        )
    };
    Some(Futexes {
        sum: format!(
            "Threads waited {} in {} of locks, or of other waits, that are not pthread's",
            time(waited),
            counted(count as usize, "futex call")
        ),
        sites: words.iter().take(LISTED).map(one).collect(),
    })
}
