// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The fast paths: what the inline functions of `locks/*.h` do, in Rust, so that
//! they are inlined into Rust code. All else is a call into C.
//!
//! Each function does what its C original does, access by access and ordering by
//! ordering, and names that original's tags (`[mutex.A]` …); `locks/` has the
//! arguments. Offsets and values come from C. On other targets than x86-64, and
//! with the feature `out-of-line`, `call.rs` takes their place.

#[cfg(not(all(target_arch = "x86_64", not(feature = "out-of-line"))))]
mod call;
pub(crate) mod state;
#[cfg(not(all(target_arch = "x86_64", not(feature = "out-of-line"))))]
pub(crate) use call::{mutex, rw, spin, spin_rw};

#[cfg(all(target_arch = "x86_64", not(feature = "out-of-line")))]
pub(crate) mod mutex;
#[cfg(all(target_arch = "x86_64", not(feature = "out-of-line")))]
pub(crate) mod rw;
#[cfg(all(target_arch = "x86_64", not(feature = "out-of-line")))]
pub(crate) mod spin;
#[cfg(all(target_arch = "x86_64", not(feature = "out-of-line")))]
pub(crate) mod spin_rw;
#[cfg(all(target_arch = "x86_64", not(feature = "out-of-line")))]
mod x86_64;
