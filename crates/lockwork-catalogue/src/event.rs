// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the locks count, and clusters of CPUs, as `platform/user/user.h` offers
//! them.
use crate::text::text;
use std::collections::BTreeMap;
use std::ffi::{c_char, CString};
use std::fmt;

extern "C" {
    fn lkp_user_event_name(event: u32) -> *const c_char;
    fn lkp_user_event_help(event: u32) -> *const c_char;
    fn lkp_user_event_sum(event: u32) -> u64;
    fn lkp_user_events_reset();
    fn lkp_user_set_clusters(map: *const c_char) -> *const c_char;
    fn lkp_user_cluster_count() -> u32;
    fn lk_numa_osq_divided() -> u32;
}

/// An event that locks count in their slow paths, if the knob `count_events` says
/// so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name, as in `platform/events.def`.
    pub name: &'static str,
    /// One line: what it is.
    pub help: &'static str,
    /// How often it was counted, by all threads of the process.
    pub sum: u64,
}

/// All events in the order of `platform/events.def`, counted or not.
pub fn events() -> Vec<Event> {
    // SAFETY: any number will do; names and helps are null or constant.
    let event = |n| unsafe {
        let name = lkp_user_event_name(n);
        (!name.is_null()).then(|| Event {
            name: text(name),
            help: text(lkp_user_event_help(n)),
            sum: lkp_user_event_sum(n),
        })
    };
    (0..).map_while(event).collect()
}

/// Those that were counted at least once: sums by name.
pub fn counted() -> BTreeMap<String, u64> {
    let counted = events().into_iter().filter(|event| event.sum > 0);
    counted
        .map(|event| (event.name.to_owned(), event.sum))
        .collect()
}

/// Counts all events from 0 again. What other threads count meanwhile may be lost
/// or stay.
pub fn reset_events() {
    // SAFETY: no precondition.
    unsafe { lkp_user_events_reset() }
}

/// How many locks that divide themselves by clusters are divided just now.
pub fn divided() -> u32 {
    // SAFETY: no precondition.
    unsafe { lk_numa_osq_divided() }
}

/// A text that says no clusters; nothing changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClustersError {
    /// The text.
    pub map: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl fmt::Display for ClustersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { map, why } = self;
        write!(
            f,
            "'{map}' says no clusters of CPUs, as {why}; write them as in 0-3,8;4-7"
        )
    }
}

impl std::error::Error for ClustersError {}

/// Says which CPUs are a cluster: lists of CPUs, one a cluster, with ';' between
/// them. CPUs that are not named are in the first. Empty: as the system says.
///
/// # Errors
/// [`ClustersError`], and nothing has changed.
pub fn set_clusters(map: &str) -> Result<(), ClustersError> {
    let refused = |why| ClustersError {
        map: map.to_owned(),
        why,
    };
    let map = CString::new(map).map_err(|_| refused("it has a zero byte"))?;
    // SAFETY: a C string.
    let why = unsafe { lkp_user_set_clusters(map.as_ptr()) };
    if why.is_null() {
        Ok(())
    } else {
        Err(refused(text(why)))
    }
}

/// How many clusters of CPUs there are, at least 1.
pub fn cluster_count() -> u32 {
    // SAFETY: no precondition.
    unsafe { lkp_user_cluster_count() }
}
