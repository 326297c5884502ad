// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Rust's side of the C tables; and which tests of the installed library can run here.
use lockwork_build::{mirrors, needs, watch};

fn main() {
    watch(&["locks/catalogue.h", "platform/knobs.h"]);
    mirrors(&[
        ("locks/catalogue.h", "lk_ops", "RawOps"),
        ("platform/knobs.h", "lk_knob", "RawKnob"),
    ]);
    println!("cargo::rerun-if-env-changed=CXX");
    let cpp = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    needs::declare("cmake", &needs::program("cmake"));
    needs::declare("pkg_config", &needs::program("pkg-config"));
    needs::declare("cpp", &needs::program(&cpp));
}
