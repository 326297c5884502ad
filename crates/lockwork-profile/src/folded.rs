// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Stacks of waits or of all calls, and their form for flame graphs: `outermost;…;innermost NUMBER`.
//! The number is microseconds waited, or calls. The last frame is the lock.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use crate::callers;
use crate::model::{Lock, Profile, Stack};
use crate::names::Names;

/// What waited where.
pub struct Waits {
    /// Functions, the outermost first; the lock is the last.
    pub stack: Vec<String>,
    /// Nanoseconds waited.
    pub ns: u64,
}

/// The stacks of one process, each once. All waits of a call site are known, and only some of them
/// have a stack. So each stack stands for its share of the site's whole waiting for the lock, and a
/// site without one is a stack of its own.
pub fn stacks(profile: &Profile, names: &Names<'_>) -> Vec<Waits> {
    let mut of: HashMap<(u64, u64), Vec<&Stack>> = HashMap::new();
    for stack in profile.stacks.iter().filter(|stack| stack.waited > 0) {
        let site = stack.frames.first().copied().unwrap_or(0);
        of.entry((stack.lock, site)).or_default().push(stack);
    }
    let mut all: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for lock in profile.locks.iter().filter(|lock| lock.is_lock()) {
        let name = format!("{} {}", lock.kind(), names.lock(lock));
        for (site, waited) in waited(lock) {
            let alone = Stack::alone(lock.address, site);
            let stacks = of.remove(&(lock.address, site));
            let stacks = stacks.unwrap_or_else(|| vec![&alone]);
            let sampled: f64 = stacks.iter().map(|stack| stack.waited as f64).sum();
            for stack in stacks {
                let share = stack.waited as f64 / sampled;
                let mut frames = frames(names, stack);
                frames.push(name.clone());
                *all.entry(frames).or_default() += profile.ns(waited as f64 * share);
            }
        }
    }
    let all = all.into_iter().filter(|(_, ns)| *ns > 0);
    all.map(|(stack, ns)| Waits { stack, ns }).collect()
}

/// The calls that waited for this lock, and how many ticks.
fn waited(lock: &Lock) -> BTreeMap<u64, u64> {
    let mut all = BTreeMap::new();
    for site in lock.sites.iter().filter(|site| site.how.acquires()) {
        *all.entry(site.address).or_default() += site.counts.waited;
    }
    all
}

/// The lines of one process.
pub fn render(profile: &Profile) -> String {
    let names = Names::new(profile);
    let mut text = String::new();
    for Waits { stack, ns } in stacks(profile, &names) {
        let stack: Vec<String> = stack.iter().map(|name| clean(name)).collect();
        if ns >= 1000 {
            let _ = writeln!(text, "{} {}", stack.join(";"), ns / 1000);
        }
    }
    text
}

/// The lines of one process of which each acquisition has its stack; their number is that of its
/// acquisitions.
pub fn render_calls(profile: &Profile) -> String {
    let names = Names::new(profile);
    let mut all: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    let locks = profile.locks.iter().filter(|lock| lock.is_lock());
    for lock in locks {
        let name = format!("{} {}", lock.kind(), names.lock(lock));
        for stack in callers::of(profile, lock) {
            let mut frames = frames(&names, stack);
            frames.push(name.clone());
            *all.entry(frames).or_default() += stack.count;
        }
    }
    let line = |(stack, calls): (&Vec<String>, &u64)| {
        let stack: Vec<String> = stack.iter().map(|name| clean(name)).collect();
        format!("{} {calls}\n", stack.join(";"))
    };
    all.iter().map(line).collect()
}

fn frames(names: &Names<'_>, stack: &Stack) -> Vec<String> {
    let mut all: Vec<String> = stack.rest().into_iter().collect();
    for address in stack.frames.iter().rev() {
        let inlined = names.frames(*address);
        all.extend(inlined.iter().rev().map(|frame| frame.function.clone()));
    }
    all
}

/// The format's own separator does not occur in a name; two names that differ still do.
fn clean(name: &str) -> String {
    name.replace(';', "\\x3b")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Counts, Site, Use};

    fn site(address: u64, waited: u64) -> Site {
        Site {
            address,
            how: Use::Mutex,
            counts: Counts {
                waited,
                ..Counts::default()
            },
        }
    }

    fn stack(frames: &[u64], waited: u64) -> Stack {
        Stack {
            lock: 0x100,
            frames: frames.to_vec(),
            cut: false,
            count: 1,
            waited,
        }
    }

    #[test]
    fn a_call_has_its_own_waiting_whatever_its_stacks_saw() {
        let profile = Profile {
            ns_per_tick: 1.0,
            locks: vec![Lock {
                address: 0x100,
                sites: vec![site(0x1, 900), site(0x2, 100), site(0x3, 50)],
                ..Lock::default()
            }],
            // The second call has one wait in its sample, as long as all of the first one's.
            stacks: vec![
                stack(&[0x1, 0x7], 10),
                stack(&[0x1, 0x8], 20),
                Stack {
                    cut: true,
                    ..stack(&[0x2, 0x7], 30)
                },
            ],
            ..Profile::default()
        };
        let found = stacks(&profile, &Names::new(&profile));
        let of = |frames: &[&str]| {
            let found = found.iter().find(|one| {
                let (_lock, stack) = one.stack.split_last().expect("a lock");
                stack == frames
            });
            found.map(|one| one.ns)
        };
        assert_eq!(of(&["0x7", "0x1"]), Some(300));
        assert_eq!(of(&["0x8", "0x1"]), Some(600));
        assert_eq!(of(&["[cut at 2 frames]", "0x7", "0x2"]), Some(100));
        assert_eq!(of(&["0x3"]), Some(50), "it has no stack");
        assert_eq!(found.len(), 4);
    }
}
