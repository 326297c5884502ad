// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Lockwork's C locks for user space, compiled once into a program.
//!
//! This crate is the one place of a program that holds the C code and its state
//! (thread slots, knobs): it says `links = "lockwork"`, so cargo refuses a second
//! one. Use the crate `lockwork` for locks, `lockwork-catalogue` for the catalogue.
//!
//! - The types are opaque: size and alignment are C's. All zero is a free lock.
//! - The constants are C's as well: the build reads them out of a compiled C
//!   file, so that Rust never repeats a struct. Sizes, alignments and offsets are
//!   in bytes.
//! - The functions starting with `lw_` are those of `<lockwork/lockwork.h>`; the
//!   rest are the slow paths behind its inline functions (`locks/*.h`) and what
//!   `lib/lib.h` adds for callers like this.
//!
//! A crate with C code of its own finds `<lockwork/lockwork.h>` by the variable
//! `DEP_LOCKWORK_INCLUDE`, if it depends on this crate directly.
#![no_std]
#![allow(non_camel_case_types)]

mod functions;
mod layout;
mod types;

pub use functions::*;
pub use layout::*;
pub use types::*;
