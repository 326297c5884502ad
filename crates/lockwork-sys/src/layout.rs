// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Sizes and alignments, as the C compiler says them.

include!(concat!(env!("OUT_DIR"), "/constants.rs"));
