// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The C tables' entries, made from `locks/catalogue.h` and `platform/knobs.h` by the
//! build script.

include!(concat!(env!("OUT_DIR"), "/mirrors.rs"));

// SAFETY: a table is constant data and functions that any thread may call.
unsafe impl Sync for RawOps {}
