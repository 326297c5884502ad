// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How much CPU time a process has used. Limits are in CPU time: an exploration fails because
//! it is long, and not because the machine has other work.
use std::time::Duration;

/// The CPU time of all threads of the process `pid`; 0: this one. `None`: it is gone.
pub(crate) fn cpu_time(pid: u32) -> Option<Duration> {
    let pid = libc::pid_t::try_from(pid).ok()?;
    let mut clock = 0;
    // SAFETY: `clock` is there to be written.
    if unsafe { libc::clock_getcpuclockid(pid, &mut clock) } != 0 {
        return None;
    }
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is there to be written.
    if unsafe { libc::clock_gettime(clock, &mut time) } != 0 {
        return None;
    }
    let seconds = u64::try_from(time.tv_sec).ok()?;
    Some(Duration::new(seconds, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn work_counts_and_sleep_does_not() {
        let own = cpu_time(0).expect("this process");
        while cpu_time(0).expect("this process") < own + Duration::from_millis(5) {}
        let mut child = Command::new("sleep").arg("1000").spawn().expect("sleep");
        let used = cpu_time(child.id());
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert!(used.expect("a child") < Duration::from_secs(1));
        assert_eq!(cpu_time(child.id()), None);
    }
}
