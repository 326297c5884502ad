// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The kernel's own torture of its locks, locktorture: a module of a kernel that was built
//! with it, or built for one that was not, from the kernel's sources.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::linux::Linux;
use crate::series;
use crate::work::{self, Work};

/// What it calls the locks, and whether they have readers.
pub(crate) const KINDS: &[(&str, bool)] = &[
    ("lock_busted", false),
    ("spin_lock", false),
    ("spin_lock_irq", false),
    ("rw_lock", true),
    ("rw_lock_irq", true),
    ("mutex_lock", false),
    ("ww_mutex_lock", false),
    ("rtmutex_lock", false),
    ("rwsem_lock", true),
    ("percpu_rwsem_lock", true),
];

/// What is tortured in a patched kernel: the locks that the patches are about.
pub(crate) const PATCHED: &[&str] = &[
    "mutex_lock",
    "rwsem_lock",
    "spin_lock",
    "spin_lock_irq",
    "rw_lock",
    "rw_lock_irq",
];

/// In a kernel's build directory, in the order of loading.
const BUILT: &[&str] = &["kernel/torture.ko", "kernel/locking/locktorture.ko"];
/// What they are built from.
const SOURCES: &[&str] = &[
    "kernel/torture.c",
    "kernel/locking/locktorture.c",
    "kernel/rcu/rcu.h",
];

/// The modules for `linux`, in the order of loading.
pub(crate) fn modules(linux: &Linux, work: &Work) -> Result<Vec<PathBuf>> {
    let built: Vec<PathBuf> = BUILT.iter().map(|name| linux.headers.join(name)).collect();
    if built.iter().all(|file| file.is_file()) {
        return Ok(built);
    }
    let compiler = crate::module::compiler(&linux.headers)?;
    let key = crate::module::key_of(linux, &compiler)?;
    let target = work.cache.join(format!("locktorture-{}", key.name()));
    let files = ["torture.ko", "locktorture.ko"].map(|name| target.join(name));
    if files.iter().all(|file| file.is_file()) {
        return Ok(files.to_vec());
    }
    work.progress
        .step(&format!("building locktorture for Linux {}", linux.release));
    let room = tempfile::tempdir_in(&work.cache)
        .with_context(|| format!("cannot write to {}", work.cache.display()))?;
    let names: Vec<String> = SOURCES.iter().map(|name| (*name).to_owned()).collect();
    let sources = room.path().join("sources");
    series::unpack(&sources, &names, work)?;
    let flat = room.path().join("build");
    fs::create_dir(&flat)?;
    for name in SOURCES {
        let file = sources.join(name);
        let name = file.file_name().context("a source has no name")?;
        // One file includes another by its place in the kernel's tree.
        let text = fs::read_to_string(&file)?.replace("\"../rcu/rcu.h\"", "\"rcu.h\"");
        fs::write(flat.join(name), text.replace("\"rcu/rcu.h\"", "\"rcu.h\""))?;
    }
    fs::write(
        flat.join("Kbuild"),
        "obj-m := torture.o locktorture.o\nccflags-y := -DCONFIG_TORTURE_TEST_MODULE=1\n",
    )?;
    let mut make = Command::new("make");
    make.arg("-C").arg(&linux.headers);
    make.arg(format!("M={}", flat.display()));
    make.arg(format!("CC={compiler}"));
    make.arg(work::jobs()).arg("modules");
    work::run(&mut make, "make", work)?;
    // Another run may have been quicker.
    let renamed = fs::rename(&flat, &target);
    if !files.iter().all(|file| file.is_file()) {
        renamed.with_context(|| format!("cannot write to {}", target.display()))?;
    }
    Ok(files.to_vec())
}
