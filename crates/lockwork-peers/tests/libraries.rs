// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks of each library that may be missing. Where one is, its test is listed as
//! ignored, and no test of this crate meets its locks.

use lockwork_peers::peers;

/// All locks of `library` are present, so that `promises.rs` meets them.
fn present(library: &str) {
    let peers = peers();
    let absent: Vec<_> = peers.absent.iter().collect();
    assert!(
        !absent.iter().any(|peer| peer.library == library),
        "{absent:?}"
    );
    assert!(peers.present.iter().any(|peer| peer.library == library));
}

#[test]
#[cfg_attr(
    not(has_absl),
    ignore = "libabsl-dev or a C++ compiler is missing: Abseil's locks are not tested; scripts/install-deps installs both"
)]
fn absl_is_tested() {
    present("absl");
}

#[test]
#[cfg_attr(
    not(has_ck),
    ignore = "libck-dev is missing: Concurrency Kit's locks are not tested; scripts/install-deps installs it"
)]
fn ck_is_tested() {
    present("ck");
}

#[test]
#[cfg_attr(
    not(has_nsync),
    ignore = "libnsync-dev is missing: nsync's locks are not tested; scripts/install-deps installs it"
)]
fn nsync_is_tested() {
    present("nsync");
}

#[test]
#[cfg_attr(
    not(has_tbb),
    ignore = "libtbb-dev or a C++ compiler is missing: oneTBB's locks are not tested; scripts/install-deps installs both"
)]
fn tbb_is_tested() {
    present("tbb");
}
