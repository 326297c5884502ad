// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Settings of the whole process.
use core::ffi::{c_uint, CStr};
use core::fmt;
use lockwork_sys::{
    lw_cluster_count, lw_numa_divided, lw_set_clusters, lw_set_knob, lw_set_queue,
    lw_spin_set_mode, QUEUE_NUMA_OSQ, QUEUE_OSQ, SPIN_MODE_AUTO, SPIN_MODE_FAIR, SPIN_MODE_PV,
    SPIN_MODE_STEAL, SPIN_MODE_TAS,
};

/// How all [`SpinLock`](crate::SpinLock)s of the process wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpinMode {
    /// FIFO queue.
    Fair,
    /// An arriving thread may take a free lock ahead of the queue.
    Steal,
    /// Test-and-set: no queue, unfair.
    Tas,
    /// For more threads than CPUs: an arriving thread tries for a while before it
    /// queues, and a waiter that has spun for long sleeps.
    Pv,
    /// `Pv` while the process has more threads than CPUs; otherwise `Steal` on a
    /// virtual machine and `Fair` on others. The default.
    Auto,
}

/// Sets the mode of all spinlocks of the process. It may be called at any time, also
/// while spinlocks are held and waited for.
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

/// The queue in which spinning waiters of a [`Mutex`](crate::Mutex) or an
/// [`RwLock`](crate::RwLock) wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Queue {
    /// One FIFO queue. The default.
    Osq,
    /// A FIFO queue that divides into one queue per cluster of CPUs while it is long;
    /// see [`set_clusters`].
    NumaOsq,
}

/// Sets the queue of all mutexes and read/write locks of the process. Call it before any
/// thread waits for one, best at the start of `main`.
///
/// ```
/// use lockwork::Queue;
///
/// lockwork::set_queue(Queue::NumaOsq)?;
/// assert!(lockwork::set_queue(Queue::Osq).is_err());
/// # Ok::<(), lockwork::QueueError>(())
/// ```
///
/// # Errors
/// [`QueueError`] if another queue is already in use or set. Nothing changes then.
pub fn set_queue(queue: Queue) -> Result<(), QueueError> {
    let queue = match queue {
        Queue::Osq => QUEUE_OSQ,
        Queue::NumaOsq => QUEUE_NUMA_OSQ,
    };
    // SAFETY: a queue.
    match unsafe { lw_set_queue(queue as c_uint) } {
        0 => Ok(()),
        _ => Err(QueueError(())),
    }
}

/// The locks of this process already have another queue. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueError(());

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the locks already have another queue; set it once, at the start of main")
    }
}

impl core::error::Error for QueueError {}

/// A knob could not be set. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnobError {
    /// There is no knob of this name.
    Unknown,
    /// The knob does not take this value.
    Range,
}

impl fmt::Display for KnobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "there is no such knob; `lockwork locks` lists them",
            Self::Range => "the knob does not take this value; `lockwork locks` lists the ranges",
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
/// [`KnobError`]. Nothing changes then.
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

/// Sets which CPUs form a cluster. A lock that knows clusters prefers hand-overs
/// inside a cluster. `map` has one list of CPUs for each cluster; CPUs in none of the
/// lists belong to the first cluster. With an empty `map`, the clusters follow the
/// system's topology, and the knob `clusters` selects the level. Until this function
/// is called, the environment variable `LOCKWORK_CLUSTERS` is used; it has the same
/// form.
///
/// ```
/// lockwork::set_clusters(c"0-3,8;4-7")?;
/// assert_eq!(lockwork::cluster_count(), 2);
/// assert!(lockwork::set_clusters(c"3-0").is_err());
/// # Ok::<(), lockwork::ClustersError>(())
/// ```
///
/// # Errors
/// [`ClustersError`]. Nothing changes then.
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

/// Returns the number of clusters of CPUs, at least 1.
pub fn cluster_count() -> u32 {
    // SAFETY: no precondition.
    unsafe { lw_cluster_count() }
}

/// Returns the number of locks whose queue is divided by clusters at the moment; see
/// [`set_queue`].
pub fn numa_divided() -> u32 {
    // SAFETY: no precondition.
    unsafe { lw_numa_divided() }
}

/// The text does not describe clusters. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClustersError(&'static str);

impl fmt::Display for ClustersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(why) = self;
        write!(f, "{why}; write clusters as in 0-3,8;4-7")
    }
}

impl core::error::Error for ClustersError {}
