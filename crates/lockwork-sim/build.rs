// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Compiles the locks, the baselines that only simulations have, and what simulated
//! programs need beside them, against the sim world, into a shared object that the crate carries inside itself.
use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    let root = lockwork_build::root();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let baselines = "crates/lockwork-sim/baselines";
    let program = "crates/lockwork-sim/program";
    lockwork_build::watch(&["locks", "platform", "data", baselines, program]);
    lockwork_build::mirrors(&[
        ("locks/catalogue.h", "lk_ops", "Ops"),
        ("platform/knobs.h", "lk_knob", "RawKnob"),
        (
            "crates/lockwork-sim/program/condition.h",
            "lws_condition",
            "Condition",
        ),
        ("platform/events.h", "lk_event_name", "RawEvent"),
    ]);
    let mut build = lockwork_build::world("sim");
    build.pic(true).debug(false);
    let world = build
        .clone()
        .files(lockwork_build::platform_files("sim"))
        .compile_intermediates();
    let locks = build
        .clone()
        .files(lockwork_build::c_files(&root.join("locks")))
        .files(lockwork_build::c_files(&root.join(baselines)))
        .files(lockwork_build::c_files(&root.join(program)))
        // Reports each plain access of a lock; see platform/sim/tsan.c.
        .flag("-fsanitize=thread")
        // Not where functions begin and end.
        .flag_if_supported("--param=tsan-instrument-func-entry-exit=0")
        .compile_intermediates();
    let mut link = build.get_compiler().to_command();
    link.args(["-shared", "-nostdlib", "-Wl,-z,defs", "-o"])
        .arg(out.join("lockwork_sim_world.so"))
        .args(world)
        .args(locks);
    link_with(&mut link);
}

fn link_with(link: &mut Command) {
    let tool = link.get_program().to_string_lossy().into_owned();
    let advice = "to link the simulated locks needs gcc or clang, and binutils: install them";
    match link.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{tool} failed ({status}); {advice}"),
        Err(err) => panic!("cannot run {tool}: {err}; {advice}"),
    }
}
