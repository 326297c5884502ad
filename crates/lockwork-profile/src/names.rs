// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What to call a lock and a call site in a report.

use std::collections::HashSet;

use crate::model::{Lock, Profile};
use crate::symbols::{Frame, Symbolizer};

/// Wrappers of the lock calls: their callers say more.
const WRAPPERS: &[&str] = &[
    "std::",
    "__gthread_",
    "__glibcxx_",
    "boost::",
    "core::",
    "alloc::",
    "absl::",
];

fn is_wrapper(frame: &Frame) -> bool {
    let name = qualified(&frame.function);
    WRAPPERS.iter().any(|w| name.starts_with(w))
}

/// The name in a signature, `R N::f<T>(A) const`: without what stands before it, nor the `<` of
/// `<T as Trait>::f`.
fn qualified(signature: &str) -> &str {
    let (mut depth, mut last) = (0_usize, ' ');
    let mut words = signature.split(|c| {
        let arrow = last == '-';
        last = c;
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if arrow => {}
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ' ' && depth == 0
    });
    let first = words.next().unwrap_or_default();
    let named = words.find(|word| word.contains('('));
    let name = match named {
        Some(name) if !first.contains('(') => name,
        _ => first,
    };
    name.trim_start_matches('<')
}

/// Names of one process's locks and call sites.
pub struct Names<'a> {
    symbols: Symbolizer<'a>,
    /// Names that the program gave to several locks.
    shared: HashSet<&'a str>,
}

impl<'a> Names<'a> {
    /// Of the process of this profile.
    pub fn new(profile: &'a Profile) -> Names<'a> {
        let given = profile.locks.iter().filter_map(|l| l.named.as_deref());
        let mut seen = HashSet::new();
        let shared = given.filter(|name| !seen.insert(*name)).collect();
        Names {
            symbols: Symbolizer::new(&profile.modules),
            shared,
        }
    }

    /// Files that gave no names, and why.
    pub fn warnings(&self) -> Vec<String> {
        self.symbols.warnings()
    }

    /// The functions of a call, inlined ones first.
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        self.symbols.frames(address)
    }

    /// The function that calls, past the wrappers that are inlined into it. Unknown: 0.
    pub fn site(&self, address: u64) -> String {
        if address == 0 {
            return "unknown".to_owned();
        }
        let frames = self.frames(address);
        let own = frames.iter().find(|frame| !is_wrapper(frame));
        own.or(frames.last())
            .map_or_else(|| format!("{address:#x}"), Frame::to_string)
    }

    /// Whether all functions of a call are wrappers: who called it says more.
    pub fn is_wrapper(&self, address: u64) -> bool {
        self.frames(address).iter().all(is_wrapper)
    }

    /// A lock by the name that the program gave it, else by its variable, else by where it was
    /// initialized, else by its address and where it is used.
    pub fn lock(&self, lock: &Lock) -> String {
        match lock.named.as_deref() {
            Some(name) if self.shared.contains(name) => {
                return format!("{name} {:#x}", lock.address);
            }
            Some(name) => return name.to_owned(),
            None => {}
        }
        if let Some(variable) = self.symbols.variable(lock.address) {
            return variable;
        }
        if let Some(made) = lock.made {
            return format!("{:#x} made by {}", lock.address, self.site(made));
        }
        let used = lock.sites.first().map(|site| self.site(site.address));
        format!(
            "{:#x} used by {}",
            lock.address,
            used.unwrap_or_else(|| "nobody".to_owned())
        )
    }
}

#[cfg(test)]
mod tests {
    use super::qualified;

    #[test]
    fn a_name_is_found_in_its_signature() {
        for (signature, name) in [
            ("main", "main"),
            (
                "void std::__invoke_impl<void, A>(A)",
                "std::__invoke_impl<void, A>(A)",
            ),
            (
                "std::vector<int> shop::sell<int>(int)",
                "shop::sell<int>(int)",
            ),
            ("std::mutex::lock()", "std::mutex::lock()"),
            ("shop::Till::open(int) const", "shop::Till::open(int)"),
            (
                "(anonymous namespace)::f(int)",
                "(anonymous namespace)::f(int)",
            ),
            (
                "<std::sync::Mutex<T> as Lock>::lock",
                "std::sync::Mutex<T> as Lock>::lock",
            ),
            (
                "<impl Fn(A) -> B for C>::call",
                "impl Fn(A) -> B for C>::call",
            ),
        ] {
            assert_eq!(qualified(signature), name, "{signature}");
        }
    }
}
