// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Ctrl-C and its relatives, as something to poll for beside a program's end.

use std::cell::Cell;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The signals that end a measurement, noted as they come.
pub struct Interrupt {
    wake: UnixStream,
    last: Arc<AtomicUsize>,
    seen: Cell<Option<i32>>,
}

impl Interrupt {
    /// Takes the signals over. A hang-up that is ignored stays ignored (nohup).
    pub fn listen() -> io::Result<Interrupt> {
        let (wake, sender) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let last = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if signal == SIGHUP && is_ignored(signal) {
                continue;
            }
            signal_hook::flag::register_usize(signal, Arc::clone(&last), signal as usize)?;
            signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
        }
        Ok(Interrupt {
            wake,
            last,
            seen: Cell::new(None),
        })
    }

    /// The signal that came since the last call, if any.
    pub fn take(&self) -> Option<i32> {
        let mut buffer = [0; 64];
        while (&self.wake).read(&mut buffer).is_ok_and(|n| n > 0) {}
        let signal = self.last.swap(0, Ordering::Relaxed);
        let signal = (signal != 0).then_some(signal as i32);
        self.seen.set(signal.or(self.seen.get()));
        signal
    }

    /// The last signal that came at all.
    pub fn seen(&self) -> Option<i32> {
        self.take();
        self.seen.get()
    }
}

impl AsRawFd for Interrupt {
    fn as_raw_fd(&self) -> RawFd {
        self.wake.as_raw_fd()
    }
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: with a null new action, sigaction only reads.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}
