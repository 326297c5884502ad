// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Lock kinds, and locks made of them.
use crate::mirrors::RawOps;
use crate::ops::{lk_catalogue, Promises};
use crate::text::text;
use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error, Layout};
use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;
use std::time::Duration;

/// Two lines: neighbours are fetched in pairs.
const LINES: usize = 128;

/// One kind of lock: an entry of the catalogue.
#[derive(Clone, Copy)]
pub struct LockKind(&'static RawOps);

/// All kinds, in the order of the catalogue.
pub fn catalogue() -> Vec<LockKind> {
    let mut kinds = Vec::new();
    // SAFETY: the table ends with NULL; its entries are constants.
    unsafe {
        let mut entry = (&raw const lk_catalogue).cast::<*const RawOps>();
        while let Some(ops) = (*entry).as_ref() {
            kinds.push(LockKind(ops));
            entry = entry.add(1);
        }
    }
    kinds
}

/// The kind of that name.
pub fn by_name(name: &str) -> Result<LockKind, UnknownLock> {
    let kinds = catalogue();
    match kinds.iter().find(|kind| kind.name() == name) {
        Some(kind) => Ok(*kind),
        None => Err(UnknownLock {
            name: name.to_owned(),
            known: kinds.iter().map(LockKind::name).collect(),
        }),
    }
}

/// No lock has that name; displayed with the names that exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLock {
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub known: Vec<&'static str>,
}

impl fmt::Display for UnknownLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.known.join(", ");
        write!(
            f,
            "there is no lock named '{}'; choose one of: {known}",
            self.name
        )
    }
}

impl std::error::Error for UnknownLock {}

impl LockKind {
    /// The kind that a C `struct lk_ops` outside the catalogue describes.
    ///
    /// # Safety
    /// `ops` points to a complete table that is never changed or freed.
    pub unsafe fn from_raw(ops: *const RawOps) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { &*ops })
    }

    /// The name that users type.
    pub fn name(&self) -> &'static str {
        text(self.0.name)
    }

    /// One line for lists.
    pub fn summary(&self) -> &'static str {
        text(self.0.summary)
    }

    /// What it promises.
    pub fn flags(&self) -> Promises {
        Promises::from_bits_retain(self.0.flags)
    }

    /// Bytes of one lock.
    pub fn size(&self) -> usize {
        self.0.size as usize
    }

    /// Alignment of one lock, a power of two.
    pub fn align(&self) -> usize {
        self.0.align as usize
    }

    /// Both are modes of one lock: threads may use them on one object at a time.
    pub fn is_mode_beside(&self, other: &Self) -> bool {
        let calls = |kind: &Self| (kind.0.init as usize, kind.0.unlock as usize);
        calls(self) == calls(other)
    }

    /// It can be tried without waiting.
    pub fn has_try(&self) -> bool {
        self.0.trylock.is_some()
    }

    /// Waiting for it can be limited in time.
    pub fn has_timed(&self) -> bool {
        self.0.timedlock.is_some()
    }

    /// It has an attempt that may be cancelled while queued.
    pub fn has_attempt(&self) -> bool {
        self.0.attempt.is_some()
    }

    /// It can be held shared.
    pub fn has_read(&self) -> bool {
        self.0.read_lock.is_some() && self.0.read_unlock.is_some()
    }

    /// It can be tried shared.
    pub fn has_read_try(&self) -> bool {
        self.0.read_trylock.is_some()
    }

    /// Waiting for it shared can be limited in time.
    pub fn has_read_timed(&self) -> bool {
        self.0.read_timedlock.is_some()
    }

    /// A thread that holds it alone can go on holding it shared.
    pub fn has_downgrade(&self) -> bool {
        self.0.downgrade.is_some()
    }

    /// It says who queued last.
    pub fn has_last_waiter(&self) -> bool {
        self.0.last_waiter.is_some()
    }

    /// A free lock of this kind, on cache lines of its own.
    pub fn create(&self) -> Lock {
        let layout = Layout::from_size_align(self.size().max(1), self.align().max(LINES))
            .map(|layout| layout.pad_to_align())
            .expect("the catalogue states sizes of bytes, not of the address space");
        // SAFETY: the size is not zero.
        let Some(mem) = NonNull::new(unsafe { alloc_zeroed(layout) }) else {
            handle_alloc_error(layout)
        };
        // SAFETY: zeroed memory of the stated size and alignment.
        unsafe { (self.0.init)(mem.as_ptr().cast()) };
        Lock {
            kind: *self,
            mem,
            layout,
        }
    }
}

impl fmt::Debug for LockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LockKind").field(&self.name()).finish()
    }
}

/// One lock. Operations that its kind does not offer return `None`.
#[derive(Debug)]
pub struct Lock {
    kind: LockKind,
    mem: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a lock is made to be used by several threads.
unsafe impl Send for Lock {}
// SAFETY: as above.
unsafe impl Sync for Lock {}

impl Lock {
    /// Its kind.
    pub fn kind(&self) -> LockKind {
        self.kind
    }

    /// The C object, at its kind's alignment.
    pub fn as_ptr(&self) -> *mut c_void {
        self.mem.as_ptr().cast()
    }

    /// Waits until this thread holds the lock alone.
    ///
    /// # Safety
    /// This thread does not hold it.
    pub unsafe fn lock(&self) {
        // SAFETY: initialised by create(); the rest is the caller's promise.
        unsafe { (self.kind.0.lock)(self.as_ptr()) }
    }

    /// Gives up what [`lock`](Self::lock) or a successful try acquired.
    ///
    /// # Safety
    /// This thread holds it exclusively.
    pub unsafe fn unlock(&self) {
        // SAFETY: the caller's promise.
        unsafe { (self.kind.0.unlock)(self.as_ptr()) }
    }

    /// Takes the lock if it is free.
    ///
    /// # Safety
    /// As for [`lock`](Self::lock).
    pub unsafe fn try_lock(&self) -> Option<bool> {
        // SAFETY: the caller's promise.
        self.kind.0.trylock.map(|op| unsafe { op(self.as_ptr()) })
    }

    /// Waits at most `limit`; `Some(false)`: timed out, not held.
    ///
    /// # Safety
    /// As for [`lock`](Self::lock).
    pub unsafe fn timed_lock(&self, limit: Duration) -> Option<bool> {
        let ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the caller's promise.
        self.kind
            .0
            .timedlock
            .map(|op| unsafe { op(self.as_ptr(), ns) })
    }

    /// One try that may be cancelled while queued.
    ///
    /// # Safety
    /// As for [`lock`](Self::lock).
    pub unsafe fn attempt(&self) -> Option<bool> {
        // SAFETY: the caller's promise.
        self.kind.0.attempt.map(|op| unsafe { op(self.as_ptr()) })
    }

    /// Waits until this thread holds the lock with other readers.
    ///
    /// # Safety
    /// As for [`lock`](Self::lock).
    pub unsafe fn read_lock(&self) -> Option<()> {
        // SAFETY: the caller's promise.
        self.kind.0.read_lock.map(|op| unsafe { op(self.as_ptr()) })
    }

    /// Gives up what [`read_lock`](Self::read_lock) acquired.
    ///
    /// # Safety
    /// This thread holds it shared.
    pub unsafe fn read_unlock(&self) -> Option<()> {
        // SAFETY: the caller's promise.
        self.kind
            .0
            .read_unlock
            .map(|op| unsafe { op(self.as_ptr()) })
    }

    /// Takes the lock shared if no writer holds it or waits for it.
    ///
    /// # Safety
    /// As for [`lock`](Self::lock).
    pub unsafe fn read_try_lock(&self) -> Option<bool> {
        // SAFETY: the caller's promise.
        self.kind
            .0
            .read_trylock
            .map(|op| unsafe { op(self.as_ptr()) })
    }

    /// Waits at most `limit` until this thread holds the lock with other readers.
    ///
    /// # Safety
    /// As for [`lock`](Self::lock).
    pub unsafe fn read_timed_lock(&self, limit: Duration) -> Option<bool> {
        let ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the caller's promise.
        self.kind
            .0
            .read_timedlock
            .map(|op| unsafe { op(self.as_ptr(), ns) })
    }

    /// Makes a lock that is held alone one that is held with other readers.
    ///
    /// # Safety
    /// This thread holds it alone.
    pub unsafe fn downgrade(&self) -> Option<()> {
        // SAFETY: the caller's promise.
        self.kind.0.downgrade.map(|op| unsafe { op(self.as_ptr()) })
    }

    /// Names the waiter that queued last, `Some(0)` when nobody is queued.
    pub fn last_waiter(&self) -> Option<u64> {
        // SAFETY: it only reads the lock.
        self.kind
            .0
            .last_waiter
            .map(|op| unsafe { op(self.as_ptr()) })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // SAFETY: allocated in create() with this layout.
        unsafe { dealloc(self.mem.as_ptr(), self.layout) }
    }
}
