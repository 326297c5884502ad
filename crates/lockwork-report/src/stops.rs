// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Ctrl-Z, and what follows it. A time that was measured while this process was stopped is wrong,
//! and a program that it measures must not go on meanwhile.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use signal_hook::consts::{SIGCONT, SIGSTOP, SIGTSTP};
use signal_hook::SigId;

use crate::interrupt::is_ignored;

/// Requests to stop, and stops, noted as they come.
pub struct Stops {
    wake: UnixStream,
    /// The last one of SIGTSTP and SIGCONT that nobody has asked for.
    last: Arc<AtomicUsize>,
    /// SIGCONT came: this process was stopped, and goes on.
    continued: Arc<AtomicBool>,
    actions: Vec<SigId>,
    /// It has taken Ctrl-Z over.
    listens: bool,
}

/// How many listen for SIGTSTP. Whether there are any is noted in `IDLE` before another thread
/// changes it.
static LISTENING: Mutex<usize> = Mutex::new(0);
/// Whether nobody does: then it stops this process, as any other one.
static IDLE: OnceLock<Arc<AtomicBool>> = OnceLock::new();

impl Stops {
    /// Takes Ctrl-Z over, unless it is ignored: [`Stops::stop`] stops this process then.
    ///
    /// # Errors
    /// The system has no room for it.
    pub fn listen() -> io::Result<Stops> {
        Stops::new(!is_ignored(SIGTSTP))
    }

    /// Leaves Ctrl-Z alone, which stops all threads of this process, and notes only that it was
    /// stopped.
    ///
    /// # Errors
    /// The system has no room for it.
    pub fn watch() -> io::Result<Stops> {
        Stops::new(false)
    }

    fn new(takes_over: bool) -> io::Result<Stops> {
        let (wake, sender) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let mut stops = Stops {
            wake,
            last: Arc::default(),
            continued: Arc::default(),
            actions: Vec::new(),
            listens: false,
        };
        // No stop can be missed: a process that was stopped, in whatever way, goes on by SIGCONT.
        let continued = Arc::clone(&stops.continued);
        stops
            .actions
            .push(signal_hook::flag::register(SIGCONT, continued)?);
        if !takes_over {
            return Ok(stops);
        }
        let mut listening = LISTENING.lock().unwrap_or_else(PoisonError::into_inner);
        if IDLE.get().is_none() {
            let idle = Arc::clone(IDLE.get_or_init(Arc::default));
            signal_hook::flag::register_conditional_default(SIGTSTP, idle)?;
        }
        for signal in [SIGTSTP, SIGCONT] {
            let last = Arc::clone(&stops.last);
            stops.actions.extend([
                signal_hook::flag::register_usize(signal, last, signal as usize)?,
                signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?,
            ]);
        }
        *listening += 1;
        set_idle(*listening);
        stops.listens = true;
        drop(listening);
        Ok(stops)
    }

    /// Whether this process is to stop, and has not been continued since.
    pub fn is_asked(&self) -> bool {
        let mut buffer = [0; 64];
        while (&self.wake).read(&mut buffer).is_ok_and(|n| n > 0) {}
        self.last.load(Ordering::SeqCst) == SIGTSTP as usize
    }

    /// Stops this process until SIGCONT comes.
    pub fn stop(&self) {
        self.last.store(0, Ordering::SeqCst);
        // To this thread: when the call returns, it was stopped.
        let _ = signal_hook::low_level::raise(SIGSTOP);
        self.continued.store(true, Ordering::SeqCst);
    }

    /// Whether this process was stopped since the last call.
    pub fn was_stopped(&self) -> bool {
        self.continued.swap(false, Ordering::SeqCst)
    }
}

/// So many listen for SIGTSTP.
fn set_idle(listening: usize) {
    if let Some(idle) = IDLE.get() {
        idle.store(listening == 0, Ordering::SeqCst);
    }
}

impl Drop for Stops {
    fn drop(&mut self) {
        if self.listens {
            let mut listening = LISTENING.lock().unwrap_or_else(PoisonError::into_inner);
            *listening -= 1;
            set_idle(*listening);
        }
        for action in self.actions.drain(..) {
            signal_hook::low_level::unregister(action);
        }
    }
}

impl AsRawFd for Stops {
    fn as_raw_fd(&self) -> RawFd {
        self.wake.as_raw_fd()
    }
}
