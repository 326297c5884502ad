// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What this process was given and changes: Rust's start-up code ignores
//! SIGPIPE and opens /dev/null on standard descriptors that are closed, and
//! `main` heeds SIGCHLD. A program run by us must get what we got, so this is
//! noted before `main` and put back before exec.

use std::sync::atomic::{AtomicBool, Ordering};

static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);
static CHILDREN_IGNORED: AtomicBool = AtomicBool::new(false);
static CLOSED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

/// Runs before Rust's own start-up code, from the dynamic linker's list.
extern "C" fn note() {
    // SAFETY: sigaction with a null new action and fcntl(F_GETFD) only read.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        for (signal, ignored) in [
            (libc::SIGPIPE, &PIPE_IGNORED),
            (libc::SIGCHLD, &CHILDREN_IGNORED),
        ] {
            if libc::sigaction(signal, std::ptr::null(), &mut action) == 0 {
                ignored.store(action.sa_sigaction == libc::SIG_IGN, Ordering::Relaxed);
            }
        }
        for (fd, closed) in (0..).zip(&CLOSED) {
            closed.store(libc::fcntl(fd, libc::F_GETFD) < 0, Ordering::Relaxed);
        }
    }
}

#[used]
#[link_section = ".init_array"]
static NOTE: extern "C" fn() = note;

/// Gives SIGPIPE back the meaning it had when this process was started, so
/// that `lockwork locks | head -1` ends quietly.
pub fn restore_sigpipe() {
    let action = if PIPE_IGNORED.load(Ordering::Relaxed) {
        libc::SIG_IGN
    } else {
        libc::SIG_DFL
    };
    // SAFETY: neither disposition runs code of ours.
    unsafe { libc::signal(libc::SIGPIPE, action) };
}

/// Lets children be waited for. Where SIGCHLD is ignored, the kernel forgets a child as soon as it
/// ends: nobody learns its exit status, and another process may get its number.
pub fn heed_children() {
    // SAFETY: the usual disposition runs no code of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Has a program that this process becomes, or starts, ignore the end of its children if this process
/// was started so. Async-signal-safe.
pub fn restore_children() {
    if CHILDREN_IGNORED.load(Ordering::Relaxed) {
        // SAFETY: to ignore a signal runs no code of ours.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    }
}

/// Whether standard output was closed at the start.
pub fn stdout_was_closed() -> bool {
    CLOSED[1].load(Ordering::Relaxed)
}

/// Closes the standard descriptors that were closed at the start.
pub fn restore_descriptors() {
    for (fd, closed) in (0..).zip(&CLOSED) {
        if closed.load(Ordering::Relaxed) {
            // SAFETY: only exec follows; nothing of ours uses these any more.
            unsafe { libc::close(fd) };
        }
    }
}
