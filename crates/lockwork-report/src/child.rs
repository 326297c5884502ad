// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Children that must not outlive this process.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has the kernel kill the process that `command` starts when the thread that starts it ends, as it does
/// if somebody kills this process.
pub fn die_with_us(command: &mut Command) {
    let parent = std::process::id() as libc::pid_t;
    // SAFETY: only async-signal-safe calls between fork and exec.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            // It may have ended before the kernel knew.
            if libc::getppid() != parent {
                libc::_exit(1);
            }
            Ok(())
        });
    }
}
