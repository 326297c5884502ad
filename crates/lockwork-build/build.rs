// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Finds out which tests of this crate can run here.

#[allow(dead_code)] // a build script uses its part
#[path = "src/needs.rs"]
mod needs;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/needs.rs");
    needs::declare("clang", &needs::program("clang"));
}
