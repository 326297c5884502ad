// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Stacks as a tree of callers and callees, and the tree laid out as a flame graph: a box for
//! each function, below its caller's, as wide as the time that threads waited there.

use std::collections::BTreeMap;

/// Functions that the same function called, and what was waited in them.
#[derive(Default)]
pub struct Branch {
    /// The time, in the unit of what was added.
    pub waited: u64,
    callees: BTreeMap<String, Branch>,
}

impl Branch {
    /// Adds a stack; its outermost frame is the first.
    pub fn add(&mut self, stack: impl IntoIterator<Item = String>, waited: u64) {
        self.waited += waited;
        let mut at = self;
        for name in stack {
            at = at.callees.entry(name).or_default();
            at.waited += waited;
        }
    }

    /// What it called; the one that waited longest comes first.
    pub fn callees(&self) -> Vec<(&str, &Branch)> {
        let names = self.callees.iter();
        let mut all: Vec<_> = names
            .map(|(name, callee)| (name.as_str(), callee))
            .collect();
        all.sort_by_key(|(_, callee)| u64::MAX - callee.waited);
        all
    }
}

/// A box.
#[derive(Debug, PartialEq)]
pub struct Frame<'a> {
    /// The function, or the lock.
    pub name: &'a str,
    /// How many boxes are above it.
    pub depth: usize,
    /// What was waited left of it.
    pub from: u64,
    /// What was waited in it.
    pub waited: u64,
    /// It calls nothing: the last frame of a stack.
    pub last: bool,
}

/// The boxes of a tree, callers before what they called, from left to right. `little` is what
/// a box must have to be there. The second value counts those that are left out.
pub fn lay_out(root: &Branch, little: u64) -> (Vec<Frame<'_>>, usize) {
    let (mut frames, mut left_out) = (Vec::new(), 0);
    place(root, 0, 0, little, &mut frames, &mut left_out);
    (frames, left_out)
}

fn place<'a>(
    branch: &'a Branch,
    depth: usize,
    mut from: u64,
    little: u64,
    frames: &mut Vec<Frame<'a>>,
    left_out: &mut usize,
) {
    for (name, callee) in branch.callees() {
        if callee.waited < little {
            *left_out += count(callee);
            continue;
        }
        frames.push(Frame {
            name,
            depth,
            from,
            waited: callee.waited,
            last: callee.callees.is_empty(),
        });
        place(callee, depth + 1, from, little, frames, left_out);
        from += callee.waited;
    }
}

/// A branch and all that it has.
fn count(branch: &Branch) -> usize {
    1 + branch.callees.values().map(count).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(stacks: &[(&str, u64)]) -> Branch {
        let mut root = Branch::default();
        for (stack, waited) in stacks {
            root.add(stack.split(';').map(str::to_owned), *waited);
        }
        root
    }

    #[test]
    fn a_box_is_below_its_caller_and_beside_its_siblings() {
        let root = tree(&[("main;a;lock", 10), ("main;b;lock", 30), ("start;lock", 5)]);
        let (frames, left_out) = lay_out(&root, 0);
        assert_eq!((root.waited, left_out), (45, 0));
        let seen: Vec<_> = frames
            .iter()
            .map(|f| (f.name, f.depth, f.from, f.waited, f.last))
            .collect();
        assert_eq!(
            seen,
            [
                ("main", 0, 0, 40, false),
                ("b", 1, 0, 30, false),
                ("lock", 2, 0, 30, true),
                ("a", 1, 30, 10, false),
                ("lock", 2, 30, 10, true),
                ("start", 0, 40, 5, false),
                ("lock", 1, 40, 5, true),
            ]
        );
    }

    #[test]
    fn little_boxes_are_counted_and_their_place_stays_empty() {
        let root = tree(&[("main;a;lock", 97), ("main;b;lock", 3)]);
        let (frames, left_out) = lay_out(&root, 4);
        assert_eq!(left_out, 2);
        assert_eq!(frames.len(), 3);
        assert_eq!((frames[0].waited, frames[1].waited), (100, 97));
    }
}
