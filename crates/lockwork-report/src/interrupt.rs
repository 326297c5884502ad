// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Ctrl-C and its relatives, as something to poll for beside other work.

use std::cell::Cell;
use std::error::Error;
use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::SigId;

/// The signals that end a command, noted as they come. While there is none of these, the signals
/// do what they do to any program.
pub struct Interrupt {
    wake: UnixStream,
    sender: UnixStream,
    /// Which of the signals have come. Each has a flag of its own, so that none hides another one.
    came: Vec<(i32, Arc<AtomicBool>)>,
    seen: Cell<Option<i32>>,
    actions: Vec<SigId>,
}

/// The signals that are listened for.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// Those that end a program which does not know them, and tell another one to do something.
const TOLD: [i32; 3] = [SIGUSR1, SIGUSR2, SIGALRM];

/// What all of them share.
struct Shared {
    /// How many there are.
    listening: usize,
    /// Whether there is none: then signal-hook does what the system would do.
    idle: Arc<AtomicBool>,
    /// Of which signals it does so. That stays for good, because signal-hook never gives a signal
    /// back to the system.
    kept: Vec<i32>,
}

static SHARED: Mutex<Option<Shared>> = Mutex::new(None);

/// Does `what` with it; a panic elsewhere changes nothing here.
fn with_shared<R>(what: impl FnOnce(&mut Shared) -> R) -> R {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    what(shared.get_or_insert_with(|| Shared {
        listening: 0,
        idle: Arc::new(AtomicBool::new(true)),
        kept: Vec::new(),
    }))
}

/// A signal ended the command: its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted(pub i32);

impl Interrupt {
    /// Takes the signals over that end a command. A hang-up that is ignored stays ignored (nohup).
    ///
    /// # Errors
    /// The system has no room for it.
    pub fn listen() -> io::Result<Interrupt> {
        Interrupt::listen_for(&SIGNALS)
    }

    /// The same, and Ctrl-\, for a command that has something to clean up or to print in the end.
    ///
    /// # Errors
    /// The system has no room for it.
    pub fn listen_for_quit_too() -> io::Result<Interrupt> {
        Interrupt::listen_for(&[&SIGNALS[..], &[SIGQUIT]].concat())
    }

    /// The same as `listen`, for a command that stands for a program which it has started: also the signals
    /// that tell that one to do something.
    ///
    /// # Errors
    /// The system has no room for it.
    pub fn listen_for_a_program() -> io::Result<Interrupt> {
        Interrupt::listen_for(&[&SIGNALS[..], &TOLD].concat())
    }

    fn listen_for(signals: &[i32]) -> io::Result<Interrupt> {
        let (wake, sender) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let mut interrupt = Interrupt {
            wake,
            sender,
            came: Vec::new(),
            seen: Cell::new(None),
            actions: Vec::new(),
        };
        with_shared(|shared| {
            // From here on the drop of `interrupt` counts it off again.
            shared.listening += 1;
            shared.idle.store(false, Ordering::SeqCst);
            for &signal in signals {
                if signal != SIGINT && signal != SIGTERM && is_ignored(signal) {
                    continue;
                }
                if !shared.kept.contains(&signal) {
                    let idle = Arc::clone(&shared.idle);
                    signal_hook::flag::register_conditional_default(signal, idle)?;
                    shared.kept.push(signal);
                }
                let came = Arc::new(AtomicBool::new(false));
                let sender = interrupt.sender.try_clone()?;
                interrupt.actions.extend([
                    signal_hook::flag::register(signal, Arc::clone(&came))?,
                    signal_hook::low_level::pipe::register(signal, sender)?,
                ]);
                interrupt.came.push((signal, came));
            }
            io::Result::Ok(())
        })?;
        Ok(interrupt)
    }

    /// Whether this signal asks a program to end.
    pub fn ends(signal: i32) -> bool {
        SIGNALS.contains(&signal)
    }

    /// A signal that came since the last call, if any. If there is another one, the descriptor stays
    /// readable. Those that tell a program something come before those that end it.
    pub fn take(&self) -> Option<i32> {
        let mut buffer = [0; 64];
        while (&self.wake).read(&mut buffer).is_ok_and(|n| n > 0) {}
        let mut came = self.came.iter().rev();
        let signal = came.find(|(_, came)| came.swap(false, Ordering::Relaxed));
        if came.any(|(_, came)| came.load(Ordering::Relaxed)) {
            let _ = (&self.sender).write(&[0]); // a full pipe is readable anyway
        }
        let signal = signal.map(|&(signal, _)| signal);
        self.seen.set(signal.or(self.seen.get()));
        signal
    }

    /// The last signal that was taken, or came.
    pub fn seen(&self) -> Option<i32> {
        while self.take().is_some() {}
        self.seen.get()
    }

    /// An error if a signal came at all.
    pub fn poll(&self) -> Result<(), Interrupted> {
        match self.seen() {
            None => Ok(()),
            Some(signal) => Err(Interrupted(signal)),
        }
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        // First, or a signal that comes in between would do nothing at all.
        with_shared(|shared| {
            shared.listening -= 1;
            shared.idle.store(shared.listening == 0, Ordering::SeqCst);
        });
        for action in self.actions.drain(..) {
            signal_hook::low_level::unregister(action);
        }
    }
}

impl AsRawFd for Interrupt {
    fn as_raw_fd(&self) -> RawFd {
        self.wake.as_raw_fd()
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stopped by {}", signal_name(self.0))
    }
}

impl Error for Interrupted {}

impl Interrupted {
    /// The exit status that shells give to a command that the signal ended.
    pub fn status(self) -> u8 {
        128 + self.0 as u8
    }
}

impl From<Interrupted> for ExitCode {
    fn from(interrupted: Interrupted) -> ExitCode {
        ExitCode::from(interrupted.status())
    }
}

/// The name of the signal with this number: `SIGSEGV` for 11.
pub fn signal_name(signal: i32) -> String {
    let name = signal_hook::low_level::signal_name(signal);
    name.map_or_else(|| format!("signal {signal}"), str::to_owned)
}

/// Whether this process ignores the signal.
pub(crate) fn is_ignored(signal: i32) -> bool {
    // SAFETY: with a null new action, sigaction only reads.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_names_and_statuses() {
        assert_eq!(Interrupted(SIGINT).to_string(), "stopped by SIGINT");
        assert_eq!(Interrupted(SIGINT).status(), 130);
        assert_eq!(signal_name(1000), "signal 1000");
    }
}
