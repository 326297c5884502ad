// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Ctrl-C and its relatives: noted, so that workers are stopped and what is
//! known so far is not lost.
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// The signals that end a check.
pub(crate) struct Interrupt {
    last: Arc<AtomicUsize>,
}

/// A signal came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interrupted(pub i32);

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stopped by {}", name(self.0))
    }
}

impl std::error::Error for Interrupted {}

impl Interrupt {
    /// Takes the signals over. A hang-up that is ignored stays ignored (nohup).
    pub fn listen() -> io::Result<Self> {
        let last = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if signal != SIGHUP || !is_ignored(signal) {
                signal_hook::flag::register_usize(signal, Arc::clone(&last), signal as usize)?;
            }
        }
        Ok(Interrupt { last })
    }

    /// An error if a signal came.
    pub fn check(&self) -> Result<(), Interrupted> {
        match self.last.load(Ordering::Relaxed) {
            0 => Ok(()),
            signal => Err(Interrupted(signal as i32)),
        }
    }
}

/// `SIGSEGV` for 11.
pub(crate) fn name(signal: i32) -> String {
    let name = signal_hook::low_level::signal_name(signal);
    name.map_or_else(|| format!("signal {signal}"), str::to_owned)
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: with a null new action, sigaction only reads.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}
