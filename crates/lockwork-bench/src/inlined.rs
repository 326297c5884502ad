// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Our locks' inlined loops, from `c/inlined.c`.
use lockwork_catalogue::{LockKind, RawOps};
use lockwork_peers::Inlined;
use std::ffi::{c_char, c_void, CStr};

/// Runs that many uncontended pairs of lock and unlock on a free lock.
type Pairs = unsafe extern "C" fn(*mut c_void, u64);

/// The mirror of `struct bench_loop`.
#[repr(C)]
struct Loop {
    name: *const c_char,
    pairs: Option<Pairs>,
    read_pairs: Option<Pairs>,
}

extern "C" {
    /// Ended by one without a name.
    static bench_loops: [Loop; 0];
    static bench_bare_ops: RawOps;
    fn bench_bare_pairs(word: *mut c_void, n: u64);
}

/// The loops of all locks that have any, with the locks' names.
fn loops() -> Vec<(&'static str, Inlined)> {
    let mut found = Vec::new();
    let first = (&raw const bench_loops).cast::<Loop>();
    // SAFETY: the table is constant and ends with an entry without a name.
    unsafe {
        while let Some(entry) = first.add(found.len()).as_ref() {
            let (false, Some(pairs)) = (entry.name.is_null(), entry.pairs) else {
                break;
            };
            let name = CStr::from_ptr(entry.name).to_str().unwrap_or("?");
            let read_pairs = entry.read_pairs;
            found.push((name, Inlined { pairs, read_pairs }));
        }
    }
    found
}

/// One compare-and-exchange and one store, as a kind of lock.
pub(crate) fn bare() -> (LockKind, Inlined) {
    // SAFETY: a complete table that is constant.
    let kind = unsafe { LockKind::from_raw(&raw const bench_bare_ops) };
    let pairs = bench_bare_pairs as Pairs;
    let read_pairs = None;
    (kind, Inlined { pairs, read_pairs })
}

/// The loops of the lock of that name.
pub(crate) fn of(name: &str) -> Option<Inlined> {
    let mut all = loops().into_iter();
    all.find(|(own, _)| *own == name).map(|(_, loops)| loops)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork_catalogue::by_name;

    #[test]
    fn every_loop_is_of_a_lock() {
        assert!(!loops().is_empty());
        for (name, inlined) in loops() {
            let kind = by_name(name).expect("a loop of a lock");
            let lock = kind.create();
            // SAFETY: nobody else uses the lock; the loops unlock what they lock.
            unsafe { (inlined.pairs)(lock.as_ptr(), 10) };
            assert_eq!(inlined.read_pairs.is_some(), kind.has_read(), "{name}");
            if let Some(read_pairs) = inlined.read_pairs {
                // SAFETY: as above.
                unsafe { read_pairs(lock.as_ptr(), 10) };
            }
        }
    }
}
