// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Waits by futex calls that are not pthread's, as of the locks of Rust's standard library.

use std::collections::HashMap;

use lockwork_report::text::{counted, duration};

use crate::callers::called_by;
use crate::model::{Counts, Profile, Use};
use crate::names::Names;

/// Call sites that are listed, and functions that called one.
const LISTED: usize = 3;
const CALLERS: usize = 3;

/// What is said of them.
pub struct Futexes {
    /// How long, and how often, in all.
    pub sum: String,
    /// The call sites that waited longest, and how many more there are.
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

/// A call, which may be in a lock of the program's or of its language, and who called that.
fn place(profile: &Profile, names: &Names<'_>, word: u64, site: u64) -> String {
    let call = names.site(site);
    match called_by(profile, names, (word, site), CALLERS) {
        Some(callers) => format!("{call}, {callers}"),
        None => call,
    }
}

/// None: there were none.
pub fn of(profile: &Profile, names: &Names<'_>) -> Option<Futexes> {
    let all = profile.locks.iter().filter(|lock| lock.has(Use::Futex));
    let words = all.map(|lock| (lock, lock.of(Use::Futex)));
    // A word that has changed before a thread could wait for it is none.
    let mut by_site = HashMap::<String, Counts>::new();
    for (lock, sum) in words.filter(|(_, sum)| sum.count > 0) {
        let site = lock.sites.iter().find(|site| site.how == Use::Futex);
        let name = place(
            profile,
            names,
            lock.address,
            site.map_or(0, |site| site.address),
        );
        *by_site.entry(name).or_default() += &sum;
    }
    if by_site.is_empty() {
        return None;
    }
    let mut sites: Vec<(String, Counts)> = by_site.into_iter().collect();
    sites.sort_by(|(a, one), (b, other)| other.waited.cmp(&one.waited).then(a.cmp(b)));
    let time = |ticks: u64| duration(profile.ns(ticks as f64));
    let waited: u64 = sites.iter().map(|(_, sum)| sum.waited).sum();
    let count: u64 = sites.iter().map(|(_, sum)| sum.count).sum();
    let one = |(name, sum): &(String, Counts)| {
        let calls = counted(sum.count as usize, "call");
        format!("{calls}, {}: {name}", time(sum.waited))
    };
    let mut lines: Vec<String> = sites.iter().take(LISTED).map(one).collect();
    if sites.len() > LISTED {
        let more = counted(sites.len() - LISTED, "more place");
        lines.push(format!("… and at {more}"));
    }
    Some(Futexes {
        sum: format!(
            "Threads waited {} in {} of locks, or of other waits, that are not pthread's",
            time(waited),
            counted(count as usize, "futex call")
        ),
        sites: lines,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Lock, Site, Stack};

    /// A word for which the call at 1 waited so long.
    fn word(address: u64, waited: u64) -> Lock {
        let counts = Counts {
            count: 1,
            waited,
            ..Counts::default()
        };
        Lock {
            address,
            sites: vec![Site {
                address: 1,
                how: Use::Futex,
                counts,
            }],
            ..Lock::default()
        }
    }

    #[test]
    fn words_are_told_apart_by_who_waits_for_them() {
        let stack = |lock, caller| Stack {
            lock,
            frames: vec![1, caller],
            cut: false,
            count: 1,
            waited: 1,
        };
        let profile = Profile {
            ns_per_tick: 1.0,
            locks: vec![word(100, 7), word(200, 5), word(300, 1)],
            stacks: vec![stack(100, 0x10), stack(200, 0x20)],
            ..Profile::default()
        };
        let found = of(&profile, &Names::new(&profile)).expect("waits");
        let lines = [
            "1 call, 7 ns: 0x1, called by 0x10",
            "1 call, 5 ns: 0x1, called by 0x20",
            "1 call, 1 ns: 0x1",
        ];
        assert_eq!(found.sites, lines);
    }
}
