// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Finds out which tests of the installed library can run here.
use lockwork_build::needs;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CXX");
    let cpp = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    needs::declare("cmake", &needs::program("cmake"));
    needs::declare("pkg_config", &needs::program("pkg-config"));
    needs::declare("cpp", &needs::program(&cpp));
}
