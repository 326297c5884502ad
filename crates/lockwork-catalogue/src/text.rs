// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Text that C gives.
use std::ffi::{c_char, CStr};

/// Text of the C tables: constant, and ASCII by convention.
pub(crate) fn text(chars: *const c_char) -> &'static str {
    // SAFETY: the tables hold C string literals.
    unsafe { CStr::from_ptr(chars) }.to_str().unwrap_or("?")
}
