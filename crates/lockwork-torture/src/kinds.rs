// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What can be tortured: the catalogue, and the canaries beside it.
use lockwork_catalogue::{catalogue, LockKind, RawOps, UnknownLock};

extern "C" {
    /// Ended by a null pointer.
    static lk_canaries: [*const RawOps; 0];
}

/// Locks that are broken on purpose; torture must fail each of them.
pub fn canaries() -> Vec<LockKind> {
    let mut kinds = Vec::new();
    // SAFETY: the table ends with NULL; its entries are constants.
    unsafe {
        let mut entry = (&raw const lk_canaries).cast::<*const RawOps>();
        while !(*entry).is_null() {
            kinds.push(LockKind::from_raw(*entry));
            entry = entry.add(1);
        }
    }
    kinds
}

/// The catalogue for `all`, or the one lock or canary of that name.
pub fn choose(name: &str) -> Result<Vec<LockKind>, UnknownLock> {
    if name == "all" {
        return Ok(catalogue());
    }
    if let Some(kind) = canaries().into_iter().find(|kind| kind.name() == name) {
        return Ok(vec![kind]);
    }
    lockwork_catalogue::by_name(name)
        .map(|kind| vec![kind])
        .map_err(|mut err| {
            err.known.push("all");
            err.known.extend(canaries().iter().map(LockKind::name));
            err
        })
}
