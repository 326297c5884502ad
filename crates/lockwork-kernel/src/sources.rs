// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The sources that this program carries: of the module, of the patches, of the loads.

include!(concat!(env!("OUT_DIR"), "/sources.rs"));
