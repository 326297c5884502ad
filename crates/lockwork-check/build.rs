// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Compiles the locks and their clients against the check world.
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Where the rest of the crate and its C code meet; all else stays local, so
/// that another world's copy of the locks may be in the same program.
const ENTRIES: &[&str] = &[
    "lwc_files",
    "lwc_rivals",
    "check_lock_name",
    "check_frame_begin",
    "check_world_reset",
    "check_world_end",
    "check_world_spurious",
    "check_world_naps",
];

fn main() {
    let root = lockwork_build::root();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let locks = root.join("locks");
    let clients = root.join("tests/check");
    let rivals = root.join("crates/lockwork-sim/baselines");
    let rival_clients = clients.join("rivals");
    lockwork_build::watch(&["locks", "platform", "tests/check"]);
    lockwork_build::watch(&[&rivals]);

    let table = out.join("clients.c");
    let tables = String::from("#include \"frame.h\"\n")
        + &client_table("lwc_files", &clients)
        + &client_table("lwc_rivals", &rival_clients);
    fs::write(&table, tables).expect("OUT_DIR can be written");
    for (name, dir) in [("sources.rs", &locks), ("rival_sources.rs", &rivals)] {
        fs::write(out.join(name), sources(dir)).expect("OUT_DIR can be written");
    }

    let world = build("world", &clients)
        .files(lockwork_build::platform_files("check"))
        .file(table)
        .compile_intermediates();
    let locks = build("locks", &clients)
        .files(lockwork_build::c_files(&locks))
        .files(lockwork_build::c_files(&clients))
        .include(&rivals)
        .files(lockwork_build::c_files(&rivals))
        .files(lockwork_build::c_files(&rival_clients))
        // Reports each plain access of a lock or a client; see tsan.c.
        .flag("-fsanitize=thread")
        .compile_intermediates();
    let objects = [world, locks].concat();
    lockwork_build::isolate(&objects, ENTRIES, &out.join("liblockwork_check_world.a"));
}

/// An execution that ends early unwinds through C; a race is reported by line.
fn build(part: &str, clients: &Path) -> cc::Build {
    let mut build = lockwork_build::world("check");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join(part);
    fs::create_dir_all(&out).expect("OUT_DIR can be written");
    build
        .out_dir(out)
        .include(clients)
        .debug(true)
        .flag("-fexceptions");
    build
}

/// A C table, named `table`, of what the files `STEM_client.c` of `dir` define. They
/// have names of their own, so that a trace tells them from the locks.
fn client_table(table: &str, dir: &Path) -> String {
    let files = lockwork_build::c_files(dir);
    let stems = files.iter().filter_map(|file| file.file_stem()?.to_str());
    let stems: Vec<&str> = stems
        .filter_map(|stem| stem.strip_suffix("_client"))
        .collect();
    let mut text = String::new();
    for stem in &stems {
        text += &format!("extern const struct check_client check_{stem}[];\n");
        text += &format!("extern const struct check_mutant mutants_{stem}[];\n");
    }
    text += &format!("const struct check_file {table}[] = {{\n");
    for stem in &stems {
        text += &format!("\t{{ \"{stem}\", check_{stem}, mutants_{stem} }},\n");
    }
    text + "\t{ 0 },\n};\n"
}

/// The text of the locks, for traces and tags wherever the program runs.
fn sources(locks: &Path) -> String {
    let files = fs::read_dir(locks).expect("locks/ is part of a checkout");
    let mut names: Vec<String> = files
        .filter_map(|file| file.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".c") || name.ends_with(".h"))
        .collect();
    names.sort();
    let mut text = String::from("&[\n");
    for name in names {
        let path = locks.join(&name);
        text += &format!("    ({name:?}, include_str!({path:?})),\n");
    }
    text + "]\n"
}
