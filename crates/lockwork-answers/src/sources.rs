// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How large a lock is, counted in the sources that the program carries.

use lockwork_check::tags::{index, Index};
use lockwork_check::{clients, logic_mutants, SOURCES};

/// What was counted of some files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Size {
    pub(crate) files: usize,
    /// Lines that have more than space and comment.
    pub(crate) lines: usize,
    /// Accesses to shared memory: calls of primitives.
    pub(crate) accesses: usize,
    /// Orderings with a tag.
    pub(crate) orderings: usize,
    /// Clients of the model checker.
    pub(crate) clients: usize,
    /// Mistakes in logic that these must find.
    pub(crate) mistakes: usize,
}

impl Size {
    /// Of the files in `locks/` that `has` selects by their stem, and of the clients of
    /// the same stems.
    pub(crate) fn of(has: impl Fn(&str) -> bool) -> Size {
        let index: Index = index(SOURCES);
        let own = |file: &str| has(stem(file));
        let texts = SOURCES.iter().filter(|(name, _)| own(name));
        let (mut files, mut lines) = (0, 0);
        for (_, text) in texts {
            files += 1;
            lines += code_lines(text);
        }
        Size {
            files,
            lines,
            accesses: index.sites.iter().filter(|site| own(&site.file)).count(),
            orderings: index.tags.values().filter(|tag| own(&tag.file)).count(),
            clients: clients().iter().filter(|one| has(one.stem())).count(),
            mistakes: logic_mutants().iter().filter(|one| has(one.stem)).count(),
        }
    }
}

/// `numa_osq` of `locks/numa_osq.c`.
fn stem(file: &str) -> &str {
    let base = file.rsplit('/').next().unwrap_or(file);
    base.rsplit_once('.').map_or(base, |(stem, _)| stem)
}

/// Lines of the published NUMA-aware OSQ as the simulator has it, written from its mails.
pub(crate) fn lines_of_published() -> usize {
    let files = [
        include_str!("../../lockwork-sim/baselines/numa_osq_2024.c"),
        include_str!("../../lockwork-sim/baselines/numa_osq_2024.h"),
    ];
    files.into_iter().map(code_lines).sum()
}

/// Lines of code: without those that are empty, or nothing but comment.
fn code_lines(text: &str) -> usize {
    let mut inside = false;
    let mut count = 0;
    for line in text.lines() {
        let mut rest = line;
        let mut code = false;
        while !rest.is_empty() {
            let mark = if inside { "*/" } else { "/*" };
            let (before, behind) = rest.split_once(mark).unwrap_or((rest, ""));
            let is_comment_only = before.trim().is_empty() || before.trim_start().starts_with("//");
            code |= !inside && !is_comment_only;
            if !rest.contains(mark) {
                break;
            }
            inside = !inside;
            rest = behind;
        }
        count += usize::from(code);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_are_no_code() {
        let text =
            "/* one */\n\nint a; /* two\n * three\n */\n/* four */ int b;\n// five\n\tc();\n";
        assert_eq!(code_lines(text), 3);
    }

    #[test]
    fn a_lock_has_files_orderings_and_clients() {
        let tas = Size::of(|stem| stem == "tas_lock");
        assert_eq!((tas.files, tas.orderings, tas.clients), (2, 2, 3));
        assert!(lines_of_published() > 100);
        let nothing = Size::of(|_| false);
        assert_eq!(nothing, Size::default());
    }
}
