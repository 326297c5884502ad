// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Compiles the locks, the files of the user world that need no system call, and the
//! clients of both against the check world.
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

/// Files of the user world that clients run. Those in C are compiled here, the others
/// by the clients that include them.
const SHARED: &[&str] = &[
    "platform/library/waits.c",
    "platform/user/cluster.h",
    "platform/user/forks.h",
    "platform/user/once.h",
    "platform/user/slots.h",
];
/// Where orderings have tags, besides `locks/`.
const TAGGED: &[&str] = &["platform/library", "platform/preload", "platform/user"];

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
    let shared: Vec<PathBuf> = SHARED.iter().map(|file| root.join(file)).collect();
    let mut checked = sources_of(&locks);
    checked.extend(shared.iter().cloned());
    let mut others: Vec<PathBuf> = TAGGED
        .iter()
        .flat_map(|dir| sources_of(&root.join(dir)))
        .collect();
    others.retain(|path| !shared.contains(path));
    let rival_files = sources_of(&rivals);
    for (name, files) in [
        ("sources.rs", checked),
        ("others.rs", others),
        ("rival_sources.rs", rival_files),
    ] {
        fs::write(out.join(name), texts(files)).expect("OUT_DIR can be written");
    }

    let world = build("world", &clients)
        .files(lockwork_build::platform_files("check"))
        .file(table)
        .compile_intermediates();
    let locks = build("locks", &clients)
        .files(lockwork_build::c_files(&locks))
        .files(shared.iter().filter(|path| is(path, "c")))
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

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// The C in a folder.
fn sources_of(dir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(dir).expect("it is part of a checkout");
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    paths
        .filter(|path| is(path, "c") || is(path, "h"))
        .collect()
}

/// The text of files, for traces and tags wherever the program runs.
fn texts(mut files: Vec<PathBuf>) -> String {
    files.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    let mut text = String::from("&[\n");
    for path in files {
        let name = path.file_name().and_then(|name| name.to_str());
        text += &format!(
            "    ({:?}, include_str!({path:?})),\n",
            name.expect("a name")
        );
    }
    text + "]\n"
}
