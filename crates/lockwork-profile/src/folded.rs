// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Stacks of waits in the format of flame graphs: `outermost;…;innermost NUMBER`, where
//! the number is microseconds waited. The last frame is the lock.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::model::{Profile, Stack};
use crate::names::Names;

/// The lines of one process. Where only some waits have a stack, each stack stands for
/// its share of the lock's whole waiting.
pub fn render(profile: &Profile) -> String {
    let names = Names::new(profile);
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for lock in profile.locks.iter().filter(|lock| lock.is_lock()) {
        let stacks: Vec<&Stack> = profile
            .stacks
            .iter()
            .filter(|stack| stack.lock == lock.address)
            .collect();
        let sampled: u64 = stacks.iter().map(|stack| stack.waited).sum();
        let name = clean(&format!("{} {}", lock.kind(), names.lock(lock)));
        for stack in stacks {
            let share = stack.waited as f64 / sampled.max(1) as f64;
            let waited = profile.ns(lock.sum.waited as f64 * share) / 1000;
            let line = format!("{};{name}", frames(&names, stack));
            *lines.entry(line).or_default() += waited;
        }
    }
    let mut text = String::new();
    for (line, waited) in lines.iter().filter(|(_, waited)| **waited > 0) {
        let _ = writeln!(text, "{line} {waited}");
    }
    text
}

fn frames(names: &Names<'_>, stack: &Stack) -> String {
    let mut all: Vec<String> = Vec::new();
    for address in stack.frames.iter().rev() {
        let inlined = names.frames(*address);
        all.extend(inlined.iter().rev().map(|frame| clean(&frame.function)));
    }
    all.join(";")
}

/// The format's own separator does not occur in a name.
fn clean(name: &str) -> String {
    name.replace(';', ":")
}
