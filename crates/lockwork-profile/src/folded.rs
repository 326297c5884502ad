// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Stacks of waits or of all calls, and their form for flame graphs: `outermost;…;innermost NUMBER`.
//! The number is microseconds waited, or calls. The last frame is the lock.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use crate::callers;
use crate::model::{Profile, Stack};
use crate::names::Names;

/// What waited where.
pub struct Waits {
    /// Functions, the outermost first; the lock is the last.
    pub stack: Vec<String>,
    /// Nanoseconds waited.
    pub ns: u64,
}

/// The stacks of one process, each once. Where only some waits have a stack, each stack
/// stands for its share of the lock's whole waiting.
pub fn stacks(profile: &Profile, names: &Names<'_>) -> Vec<Waits> {
    let mut of: HashMap<u64, Vec<&Stack>> = HashMap::new();
    for stack in &profile.stacks {
        of.entry(stack.lock).or_default().push(stack);
    }
    let mut all: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for lock in profile.locks.iter().filter(|lock| lock.is_lock()) {
        let Some(stacks) = of.get(&lock.address) else {
            continue;
        };
        let sampled: u64 = stacks.iter().map(|stack| stack.waited).sum();
        let name = format!("{} {}", lock.kind(), names.lock(lock));
        for stack in stacks {
            let share = stack.waited as f64 / sampled.max(1) as f64;
            let waited = profile.ns(lock.sum.waited as f64 * share);
            let mut frames = frames(names, stack);
            frames.push(name.clone());
            *all.entry(frames).or_default() += waited;
        }
    }
    let all = all.into_iter().filter(|(_, ns)| *ns > 0);
    all.map(|(stack, ns)| Waits { stack, ns }).collect()
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
    let mut all: Vec<String> = Vec::new();
    for address in stack.frames.iter().rev() {
        let inlined = names.frames(*address);
        all.extend(inlined.iter().rev().map(|frame| frame.function.clone()));
    }
    all
}

/// The format's own separator does not occur in a name.
fn clean(name: &str) -> String {
    name.replace(';', ":")
}
