// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the kernel accounts a thread, a process, or its children, for.

/// CPU time and context switches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resources {
    /// CPU seconds, in user space and in the kernel.
    pub cpu: f64,
    /// Context switches because a thread slept.
    pub voluntary: u64,
    /// Context switches because a thread was preempted, or yielded.
    pub involuntary: u64,
}

impl Resources {
    /// Of all threads of this process, those that ended too, since it began.
    pub fn now() -> Resources {
        Resources::of(libc::RUSAGE_SELF)
    }

    /// Of the calling thread, since it began.
    pub fn of_thread() -> Resources {
        Resources::of(libc::RUSAGE_THREAD)
    }

    /// Of the children that ended and were waited for, and of theirs.
    pub fn of_children() -> Resources {
        Resources::of(libc::RUSAGE_CHILDREN)
    }

    fn of(whom: libc::c_int) -> Resources {
        // SAFETY: all zero is a valid rusage, and getrusage writes one.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(whom, &mut usage);
            usage
        };
        let seconds = |t: libc::timeval| t.tv_sec as f64 + 1e-6 * t.tv_usec as f64;
        Resources {
            cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
        }
    }

    /// What came since `before`.
    #[must_use]
    pub fn since(&self, before: &Resources) -> Resources {
        Resources {
            cpu: self.cpu - before.cpu,
            voluntary: self.voluntary - before.voluntary,
            involuntary: self.involuntary - before.involuntary,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Resources;
    use std::time::Duration;

    #[test]
    fn a_sleep_is_a_voluntary_switch_and_work_takes_cpu() {
        let before = Resources::now();
        std::thread::sleep(Duration::from_millis(1));
        while Resources::now().since(&before).cpu <= 0.0 {
            std::hint::spin_loop();
        }
        assert!(Resources::now().since(&before).voluntary > 0);
    }
}
