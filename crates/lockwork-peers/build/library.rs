// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The libraries whose locks are loaded when a program runs.

/// A library, and what its shim `peers/NAME.c` or `peers/NAME.cc` needs.
pub struct Library {
    /// The first part of its peers' names.
    pub name: &'static str,
    /// A header by which it is found.
    pub header: &'static str,
    /// The Debian package that has it.
    pub package: &'static str,
    /// Its shim is C++.
    pub cpp: bool,
    /// What the linker needs. Only what the shim itself calls: a library
    /// finds those that it needs in turn.
    pub link: &'static [&'static str],
}

/// All of them.
pub const LIBRARIES: &[Library] = &[
    Library {
        name: "absl",
        header: "absl/synchronization/mutex.h",
        package: "libabsl-dev",
        cpp: true,
        link: &["-labsl_synchronization"],
    },
    Library {
        name: "ck",
        header: "ck_spinlock.h",
        package: "libck-dev",
        cpp: false,
        // Its locks are inline functions.
        link: &[],
    },
    Library {
        name: "nsync",
        header: "nsync.h",
        package: "libnsync-dev",
        cpp: false,
        link: &["-lnsync"],
    },
    Library {
        name: "tbb",
        header: "oneapi/tbb/mutex.h",
        package: "libtbb-dev",
        cpp: true,
        link: &["-ltbb"],
    },
];
