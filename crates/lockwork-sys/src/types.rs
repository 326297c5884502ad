// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The lock objects, opaque.

// INIT is a constant because a static item needs one; each use is a new lock.
#![allow(clippy::declare_interior_mutable_const)]
use crate::layout::{
    COND_ALIGN, COND_SIZE, MUTEX_ALIGN, MUTEX_SIZE, RWLOCK_ALIGN, RWLOCK_SIZE, SPIN_ALIGN,
    SPIN_RWLOCK_ALIGN, SPIN_RWLOCK_SIZE, SPIN_SIZE,
};
use core::cell::UnsafeCell;

/// `lw_mutex_t`.
#[repr(C)]
pub struct lw_mutex_t(UnsafeCell<[u64; MUTEX_SIZE / 8]>);

/// `lw_cond_t`.
#[repr(C)]
pub struct lw_cond_t(UnsafeCell<[u64; COND_SIZE / 8]>);

/// `lw_spinlock_t`.
#[repr(C)]
pub struct lw_spinlock_t(UnsafeCell<[u32; SPIN_SIZE / 4]>);

/// `lw_rwlock_t`.
#[repr(C)]
pub struct lw_rwlock_t(UnsafeCell<[u64; RWLOCK_SIZE / 8]>);

/// `lw_spin_rwlock_t`.
#[repr(C)]
pub struct lw_spin_rwlock_t(UnsafeCell<[u32; SPIN_RWLOCK_SIZE / 4]>);

impl lw_mutex_t {
    /// A free mutex.
    pub const INIT: Self = Self(UnsafeCell::new([0; MUTEX_SIZE / 8]));

    /// The C object.
    #[inline]
    pub const fn get(&self) -> *mut Self {
        UnsafeCell::raw_get(&raw const self.0).cast()
    }
}

impl lw_cond_t {
    /// A condition variable that nobody waits on.
    pub const INIT: Self = Self(UnsafeCell::new([0; COND_SIZE / 8]));

    /// The C object.
    #[inline]
    pub const fn get(&self) -> *mut Self {
        UnsafeCell::raw_get(&raw const self.0).cast()
    }
}

impl lw_spinlock_t {
    /// A free spinlock.
    pub const INIT: Self = Self(UnsafeCell::new([0; SPIN_SIZE / 4]));

    /// The C object.
    #[inline]
    pub const fn get(&self) -> *mut Self {
        UnsafeCell::raw_get(&raw const self.0).cast()
    }
}

impl lw_rwlock_t {
    /// A free read/write lock.
    pub const INIT: Self = Self(UnsafeCell::new([0; RWLOCK_SIZE / 8]));

    /// The C object.
    #[inline]
    pub const fn get(&self) -> *mut Self {
        UnsafeCell::raw_get(&raw const self.0).cast()
    }
}

impl lw_spin_rwlock_t {
    /// A free read/write spinlock.
    pub const INIT: Self = Self(UnsafeCell::new([0; SPIN_RWLOCK_SIZE / 4]));

    /// The C object.
    #[inline]
    pub const fn get(&self) -> *mut Self {
        UnsafeCell::raw_get(&raw const self.0).cast()
    }
}

// SAFETY: a lock is made to be used by several threads.
unsafe impl Sync for lw_mutex_t {}
// SAFETY: as above.
unsafe impl Sync for lw_cond_t {}
// SAFETY: as above.
unsafe impl Sync for lw_spinlock_t {}
// SAFETY: as above.
unsafe impl Sync for lw_rwlock_t {}
// SAFETY: as above.
unsafe impl Sync for lw_spin_rwlock_t {}

// The storage is chosen by hand: it must be what C says.
const _: () = assert!(size_of::<lw_mutex_t>() == MUTEX_SIZE);
const _: () = assert!(align_of::<lw_mutex_t>() == MUTEX_ALIGN);
const _: () = assert!(size_of::<lw_cond_t>() == COND_SIZE);
const _: () = assert!(align_of::<lw_cond_t>() == COND_ALIGN);
const _: () = assert!(size_of::<lw_spinlock_t>() == SPIN_SIZE);
const _: () = assert!(align_of::<lw_spinlock_t>() == SPIN_ALIGN);
const _: () = assert!(size_of::<lw_rwlock_t>() == RWLOCK_SIZE);
const _: () = assert!(align_of::<lw_rwlock_t>() == RWLOCK_ALIGN);
const _: () = assert!(size_of::<lw_spin_rwlock_t>() == SPIN_RWLOCK_SIZE);
const _: () = assert!(align_of::<lw_spin_rwlock_t>() == SPIN_RWLOCK_ALIGN);
