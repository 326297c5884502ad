// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a thread has while it is in a section that excludes others.
use loom::sync::{Mutex, MutexGuard};
use std::mem::ManuallyDrop;
use std::rc::Rc;

/// A lock that all sections of one object take. loom does not run a thread that waits for
/// it. It orders memory as the section's own lock does: acquire and release.
pub(super) type Section = Mutex<()>;

/// A section that a thread is in. Nothing gives it back where an execution ends early:
/// loom's execution is gone by then.
pub(super) struct Inside {
    pub(super) guard: ManuallyDrop<MutexGuard<'static, ()>>,
    /// The guard borrows from it.
    pub(super) _section: Rc<Section>,
}
