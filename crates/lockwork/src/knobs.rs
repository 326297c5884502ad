// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is set for the whole process.
use core::ffi::{c_uint, CStr};
use core::fmt;
use lockwork_sys::{
    lw_cluster_count, lw_mutex_set_queue, lw_numa_divided, lw_set_clusters, lw_set_knob,
    lw_spin_set_mode, MUTEX_QUEUE_NUMA_OSQ, MUTEX_QUEUE_OSQ, SPIN_MODE_AUTO, SPIN_MODE_FAIR,
    SPIN_MODE_PV, SPIN_MODE_STEAL, SPIN_MODE_TAS,
};

/// How all [`SpinLock`](crate::SpinLock)s of the process wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpinMode {
    /// In order of arrival.
    Fair,
    /// An arrival may take a lock that is free, past the queue.
    Steal,
    /// Test-and-set: no queue, unfair.
    Tas,
    /// For more threads than CPUs: arrivals try for a while before they queue, and
    /// who waits long sleeps.
    Pv,
    /// `Pv` while CPUs are short, otherwise `Steal` on a virtual machine and `Fair`
    /// elsewhere. The default.
    Auto,
}

/// Sets the mode of all spinlocks of the process, at any time, also while some are
/// held and waited for.
///
/// ```
/// lockwork::set_spin_mode(lockwork::SpinMode::Steal);
/// ```
pub fn set_spin_mode(mode: SpinMode) {
    let mode = match mode {
        SpinMode::Fair => SPIN_MODE_FAIR,
        SpinMode::Steal => SPIN_MODE_STEAL,
        SpinMode::Tas => SPIN_MODE_TAS,
        SpinMode::Pv => SPIN_MODE_PV,
        SpinMode::Auto => SPIN_MODE_AUTO,
    };
    // SAFETY: a mode.
    unsafe { lw_spin_set_mode(mode as c_uint) };
}

/// In what those queue that spin for a [`Mutex`](crate::Mutex).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MutexQueue {
    /// One queue, in order of arrival. The default.
    Osq,
    /// One that divides itself by clusters of CPUs while it is long; see
    /// [`set_clusters`].
    NumaOsq,
}

/// Sets the queue of all mutexes of the process, before any of them is waited for:
/// best at the start of `main`.
///
/// ```
/// use lockwork::MutexQueue;
///
/// lockwork::set_mutex_queue(MutexQueue::NumaOsq)?;
/// assert!(lockwork::set_mutex_queue(MutexQueue::Osq).is_err());
/// # Ok::<(), lockwork::MutexQueueError>(())
/// ```
///
/// # Errors
/// [`MutexQueueError`]: another one is in use already, or was set; nothing has
/// changed.
pub fn set_mutex_queue(queue: MutexQueue) -> Result<(), MutexQueueError> {
    let queue = match queue {
        MutexQueue::Osq => MUTEX_QUEUE_OSQ,
        MutexQueue::NumaOsq => MUTEX_QUEUE_NUMA_OSQ,
    };
    // SAFETY: a queue.
    match unsafe { lw_mutex_set_queue(queue as c_uint) } {
        0 => Ok(()),
        _ => Err(MutexQueueError(())),
    }
}

/// The mutexes of this process have another queue; nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MutexQueueError(());

impl fmt::Display for MutexQueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mutexes have another queue already; set it once, at the start of main")
    }
}

impl core::error::Error for MutexQueueError {}

/// A knob was not set; nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnobError {
    /// There is no knob of that name.
    Unknown,
    /// The knob cannot have that value.
    Range,
}

impl fmt::Display for KnobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "there is no such knob; `lockwork locks` lists them",
            Self::Range => "not a value of this knob; `lockwork locks` lists their ranges",
        })
    }
}

impl core::error::Error for KnobError {}

/// Sets a knob of all locks of the process from text. `lockwork locks` lists the
/// knobs with their units, ranges and defaults.
///
/// ```
/// use lockwork::KnobError;
///
/// lockwork::set_knob(c"spin_budget", c"500")?;
/// assert_eq!(lockwork::set_knob(c"spin_budget", c"much"), Err(KnobError::Range));
/// # Ok::<(), KnobError>(())
/// ```
///
/// # Errors
/// [`KnobError`], and nothing has changed.
pub fn set_knob(name: &CStr, value: &CStr) -> Result<(), KnobError> {
    /// `ENOENT` of Linux.
    const NO_ENTRY: i32 = 2;
    // SAFETY: both are C strings.
    match unsafe { lw_set_knob(name.as_ptr(), value.as_ptr()) } {
        0 => Ok(()),
        NO_ENTRY => Err(KnobError::Unknown),
        _ => Err(KnobError::Range),
    }
}

/// Says which CPUs are a cluster, for locks that pass themselves on near by: lists
/// of CPUs, one a cluster. CPUs that are not named are in the first one. An empty
/// text: as the system says, by the knob `clusters`. Until this is called, the
/// environment variable `LOCKWORK_CLUSTERS` counts, in the same form.
///
/// ```
/// lockwork::set_clusters(c"0-3,8;4-7")?;
/// assert_eq!(lockwork::cluster_count(), 2);
/// assert!(lockwork::set_clusters(c"3-0").is_err());
/// # Ok::<(), lockwork::ClustersError>(())
/// ```
///
/// # Errors
/// [`ClustersError`], and nothing has changed.
pub fn set_clusters(map: &CStr) -> Result<(), ClustersError> {
    // SAFETY: a C string.
    let why = unsafe { lw_set_clusters(map.as_ptr()) };
    if why.is_null() {
        return Ok(());
    }
    // SAFETY: a constant C string.
    let why = unsafe { CStr::from_ptr(why) };
    Err(ClustersError(why.to_str().unwrap_or("?")))
}

/// How many clusters of CPUs there are, at least 1.
pub fn cluster_count() -> u32 {
    // SAFETY: no precondition.
    unsafe { lw_cluster_count() }
}

/// How many mutexes are divided by clusters just now; see [`set_mutex_queue`].
pub fn numa_divided() -> u32 {
    // SAFETY: no precondition.
    unsafe { lw_numa_divided() }
}

/// A text that says no clusters; nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClustersError(&'static str);

impl fmt::Display for ClustersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(why) = self;
        write!(f, "{why}; write clusters as in 0-3,8;4-7")
    }
}

impl core::error::Error for ClustersError {}
