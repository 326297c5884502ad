// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Signals are for the whole process, so this test has one of its own.

use lockwork_report::interrupt::Interrupt;
use signal_hook::consts::{SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::low_level::raise;
use std::os::fd::AsRawFd;

/// Whether poll(2) would return at once.
fn is_readable(interrupt: &Interrupt) -> bool {
    let mut fd = libc::pollfd {
        fd: interrupt.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one structure, which is ours.
    unsafe { libc::poll(&mut fd, 1, 0) == 1 }
}

/// The second one hears what comes, though the first one is gone, and none of three that come
/// together is lost.
#[test]
fn no_signal_hides_another_one() {
    for signal in [SIGUSR1, SIGUSR2] {
        // SAFETY: no handler is set. Whoever started this may have had it ignored.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    drop(Interrupt::listen_for_a_program().expect("listens"));
    let interrupt = Interrupt::listen_for_a_program().expect("listens");
    assert!(!is_readable(&interrupt));
    for signal in [SIGTERM, SIGUSR1, SIGUSR2] {
        raise(signal).expect("raised");
    }
    let mut came = Vec::new();
    while is_readable(&interrupt) {
        came.extend(interrupt.take());
    }
    assert_eq!(came, [SIGUSR2, SIGUSR1, SIGTERM]);
    assert_eq!(interrupt.take(), None);
    assert_eq!(interrupt.seen(), Some(SIGTERM));
}
