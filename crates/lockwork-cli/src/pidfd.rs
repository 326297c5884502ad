// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Waiting for a child beside other things, and killing a process that may end meanwhile.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Instant;

/// A descriptor that is ready once the process `pid` has ended.
pub fn open(pid: libc::pid_t) -> io::Result<OwnedFd> {
    // SAFETY: returns a new descriptor that is ours, or fails.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// Kills the process behind this descriptor.
pub fn kill(process: &OwnedFd) -> io::Result<()> {
    let none = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: a descriptor of ours; without information about the signal.
    let done = unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            process.as_raw_fd(),
            libc::SIGKILL,
            none,
            0,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Which of `fds` are ready; none of them once `deadline` has passed.
pub fn poll<const N: usize>(fds: [RawFd; N], deadline: Option<Instant>) -> io::Result<[bool; N]> {
    let mut polled = fds.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    let timeout = match deadline {
        None => -1,
        Some(at) => {
            let left = at.saturating_duration_since(Instant::now()).as_millis() + 1;
            libc::c_int::try_from(left).unwrap_or(libc::c_int::MAX)
        }
    };
    // SAFETY: polled has as many entries as its length says.
    let n = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout) };
    if n < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
        return Ok([false; N]);
    }
    Ok(polled.map(|p| p.revents != 0))
}
