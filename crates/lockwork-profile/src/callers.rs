// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What calls each lock, where a profile has the stack of each acquisition.

use std::collections::BTreeMap;
use std::fmt::Write;

use lockwork_report::text::{counted, cut, percent, whole};

use crate::model::{Lock, Profile, Stack};
use crate::names::{Names, NAME};

/// Locks that are listed, stacks of each, and functions of each.
const LOCKS: usize = 5;
const STACKS: usize = 3;
const FRAMES: usize = 4;

/// The stacks of the locks that are taken most; empty: the profile does not have them.
pub fn render(profile: &Profile, names: &Names<'_>) -> String {
    let locks = profile.locks.iter().filter(|lock| lock.is_lock());
    let mut locks: Vec<&Lock> = locks.filter(|lock| lock.sum.count > 0).collect();
    if !profile.all_stacks || locks.is_empty() {
        return String::new();
    }
    locks.sort_by_key(|lock| (u64::MAX - lock.sum.count, lock.address));
    let mut text = "\nWhat takes the locks, of those that are taken most:\n".to_owned();
    for lock in locks.iter().take(LOCKS) {
        text += &of_lock(profile, names, lock);
    }
    if let Some(missing) = missing(profile) {
        let _ = writeln!(text, "{missing}");
    }
    text
}

/// The acquisitions without a stack, as a sentence; none: each has one.
pub fn missing(profile: &Profile) -> Option<String> {
    let sum = profile.sum();
    let all = sum.count + sum.timeouts + profile.dropped;
    let seen: u64 = profile.stacks.iter().map(|stack| stack.count).sum();
    let missing = all.saturating_sub(seen);
    (profile.all_stacks && missing > 0).then(|| {
        format!(
            "{} of {} have no stack: the file had no room for it, or it could not be followed.",
            whole(missing),
            counted(all as usize, "acquisition")
        )
    })
}

/// Those of one lock, the most frequent first.
pub fn of<'a>(profile: &'a Profile, lock: &Lock) -> Vec<&'a Stack> {
    let address = lock.address;
    let stacks = profile.stacks.iter();
    let mut all: Vec<&Stack> = stacks.filter(|s| s.lock == address).collect();
    all.sort_by_key(|stack| u64::MAX - stack.count);
    all
}

fn of_lock(profile: &Profile, names: &Names<'_>, lock: &Lock) -> String {
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    for stack in of(profile, lock) {
        *all.entry(shown(names, stack)).or_default() += stack.count;
    }
    let mut all: Vec<(String, u64)> = all.into_iter().collect();
    all.sort_by_key(|(_, count)| u64::MAX - count);
    let mut text = format!(
        "   {} {}: {} by {}\n",
        lock.kind(),
        cut(&names.lock(lock), NAME),
        counted(lock.sum.count as usize, "acquisition"),
        counted(all.len(), "stack")
    );
    let calls = (lock.sum.count + lock.sum.timeouts).max(1) as f64;
    for (stack, count) in all.iter().take(STACKS) {
        let share = percent(*count as f64 / calls);
        let _ = writeln!(text, "      {share} of them: {stack}");
    }
    text
}

/// Its innermost functions. Stacks that differ beyond these, or in the place in a line, are one.
fn shown(names: &Names<'_>, stack: &Stack) -> String {
    let call = stack.frames.first().map(|at| names.site(*at));
    let all = call.into_iter().chain(names.callers(&stack.frames));
    first_of(&all.collect::<Vec<String>>(), FRAMES, stack.rest())
}

/// "called by" and the first `room` callers in the stack of this call that waited longest; none: no caller
/// is known.
pub fn called_by(
    profile: &Profile,
    names: &Names<'_>,
    (lock, site): (u64, u64),
    room: usize,
) -> Option<String> {
    let mut stacks = profile.stacks.iter();
    let stack = stacks.find(|stack| stack.lock == lock && stack.frames.first() == Some(&site))?;
    let callers = names.callers(&stack.frames);
    (!callers.is_empty()).then(|| format!("called by {}", first_of(&callers, room, stack.rest())))
}

/// The first `room` of these functions, each of which is called by the next one; a mark stands for the
/// others. `rest`: what stands for those that nobody knows.
fn first_of(functions: &[String], room: usize, rest: Option<String>) -> String {
    let shown = functions.iter().take(room).map(|name| cut(name, NAME));
    let mut text = shown.collect::<Vec<String>>().join(", by ");
    if functions.len() > room {
        text += ", …";
    }
    match rest {
        Some(rest) => format!("{text} {rest}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_are_left_out_have_a_mark() {
        let all = ["put", "serve", "run"].map(str::to_owned);
        assert_eq!(first_of(&all, 3, None), "put, by serve, by run");
        assert_eq!(first_of(&all, 2, None), "put, by serve, …");
        assert_eq!(first_of(&[], 2, None), "");
        let rest = || Some("[cut]".to_owned());
        assert_eq!(first_of(&all, 2, rest()), "put, by serve, … [cut]");
        assert_eq!(first_of(&all, 3, rest()), "put, by serve, by run [cut]");
    }

    #[test]
    fn what_has_no_stack_is_counted() {
        let lock = Lock::used_by(100, &[(1, 10)]);
        let mut profile = Profile {
            locks: vec![lock],
            ..Profile::default()
        };
        assert_eq!(missing(&profile), None, "none was wanted");
        profile.all_stacks = true;
        profile.dropped = 2;
        profile.stacks.push(Stack {
            lock: 100,
            frames: vec![2, 3],
            cut: false,
            count: 7,
            waited: 0,
        });
        let text = missing(&profile).expect("some have none");
        assert!(text.starts_with("5 of 12 acquisitions have no"), "{text}");
        profile.dropped = 0;
        profile.stacks[0].count = 10;
        assert_eq!(missing(&profile), None);
    }
}
