// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the locks count.
use core::ffi::{c_char, CStr};
use lockwork_sys::{lw_event_help, lw_event_name, lw_event_sum, lw_events_reset};

/// An event that locks count in their slow paths while the knob `count_events` is
/// not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name.
    pub name: &'static CStr,
    /// What it is, in one line.
    pub help: &'static CStr,
    /// How often it was counted.
    pub sum: u64,
}

/// All events, counted or not.
///
/// ```
/// for event in lockwork::events().filter(|event| event.sum > 0) {
///     println!("{:?}: {}", event.name, event.sum);
/// }
/// ```
pub fn events() -> impl Iterator<Item = Event> {
    (0..).map_while(|n| {
        // SAFETY: any number will do.
        let (name, help) = unsafe { (text(lw_event_name(n))?, text(lw_event_help(n))?) };
        let mut sum = 0;
        // SAFETY: a C string and a number to write.
        unsafe { lw_event_sum(name.as_ptr(), &raw mut sum) };
        Some(Event { name, help, sum })
    })
}

/// # Safety
/// `chars` is null or a C string that is constant.
unsafe fn text(chars: *const c_char) -> Option<&'static CStr> {
    // SAFETY: the caller's promise.
    (!chars.is_null()).then(|| unsafe { CStr::from_ptr(chars) })
}

/// Counts all events from 0 again. What other threads count meanwhile may be lost
/// or stay.
pub fn reset_events() {
    // SAFETY: no precondition.
    unsafe { lw_events_reset() }
}
