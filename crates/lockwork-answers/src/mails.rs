// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The threads in which the questions were asked, as far as data/published/ and the locks'
//! pages know them.

use crate::question::Asked;

/// On the queued read/write lock.
pub(crate) const QRWLOCK: Asked = Asked {
    who: "Thomas Gleixner",
    thread: "“Re: [PATCH RFC 1/2] qrwlock”, to Waiman Long, July 2013",
    open: "",
};

/// On the NUMA-aware OSQ.
pub(crate) const NUMA_OSQ: Asked = Asked {
    who: "Waiman Long or Bizjak",
    thread: "review of yongli-oc's “locking/osq_lock” series (v1 of 2024-09-14, v2 of 2024-09-30, \
             Message-ID family 20240930072355.2892-\\*)",
    open: " Which of the two asked, and the date of the reply, are not in this project's sources.",
};

const UNFAIR_THREAD: &str =
    "review of Waiman Long's “[PATCH v10 10/19] qspinlock, x86: Allow unfair \
                             spinlock in a virtual guest”, 2014-05-07";

/// On the unfair lock.
pub(crate) const UNFAIR: Asked = Asked {
    who: "Krčmář or Zijlstra",
    thread: UNFAIR_THREAD,
    open: " Which of the two asked, and the date of the reply, are not in this project's sources.",
};

/// On the unfair lock, the alternative.
pub(crate) const TEST_AND_SET: Asked = Asked {
    who: "Peter Zijlstra, whose answer for virtual machines a test-and-set lock was",
    thread: UNFAIR_THREAD,
    open: " The date of the reply is not in this project's sources.",
};
