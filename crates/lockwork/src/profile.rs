// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names of locks for `lockwork profile`.

use core::ffi::{c_char, c_void};

/// The recorder keeps no more.
const LONGEST: usize = 63;

/// Has reports of `lockwork profile` call the lock at `lock` by this name from now on. Without the
/// recorder it does nothing.
///
/// The recorder sees pthread locks, so `lock` is one of these, where the calls get it: a
/// `pthread_mutex_t`. The locks of this crate it does not see. The first 63 bytes of the name
/// count, without a character that they cut, up to a zero.
pub fn name<T: ?Sized>(lock: *const T, name: &str) {
    let mut text = [0_u8; LONGEST + 1];
    let whole = |end: &usize| name.is_char_boundary(*end);
    let end = (0..=name.len().min(LONGEST)).rev().find(whole);
    let bytes = &name.as_bytes()[..end.unwrap_or(0)];
    text[..bytes.len()].copy_from_slice(bytes);
    if let Some(record) = recorder() {
        // SAFETY: the text ends by a zero; the recorder reads it, and nothing of the lock.
        unsafe { record(lock.cast(), text.as_ptr().cast()) };
    }
}

type Record = unsafe extern "C" fn(*const c_void, *const c_char);

/// The recorder's function; none: it is not loaded.
#[cfg(target_arch = "x86_64")]
fn recorder() -> Option<Record> {
    let found: *const ();
    // SAFETY: reads the address of a symbol that may be absent, and is null then.
    unsafe {
        core::arch::asm!(
            ".weak rec_name_lock",
            "mov {}, qword ptr [rip + rec_name_lock@GOTPCREL]",
            out(reg) found,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    // SAFETY: a function of this type, as include/lockwork/profile.h has it, or null.
    unsafe { core::mem::transmute::<*const (), Option<Record>>(found) }
}

#[cfg(not(target_arch = "x86_64"))]
fn recorder() -> Option<Record> {
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn without_the_recorder_a_name_goes_nowhere() {
        super::name(
            &0_u64,
            "a name that has more than the sixty-three bytes which are kept of it",
        );
        super::name(core::ptr::null::<u64>(), "");
    }
}
