// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Several worlds' copies of the locks in one program.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Joins `objects` into the archive `out`, whose name is `lib….a`, with only
/// the symbols in `keep` visible outside; then tells cargo to link it.
///
/// Two such archives may define the same names. What the objects do not define
/// they still get from the rest of the program. A weak definition becomes this
/// archive's own, like any other. A name in `keep` that no object defines is
/// not noticed here, but where it is used.
///
/// Uses the compiler that `cc` finds and `objcopy`, or what `OBJCOPY` names.
///
/// # Panics
/// Outside of a build script, and with one sentence if a tool is missing or
/// fails.
pub fn isolate(objects: &[PathBuf], keep: &[&str], out: &Path) {
    println!("cargo::rerun-if-env-changed=OBJCOPY");
    let objcopy = env::var_os("OBJCOPY").unwrap_or_else(|| "objcopy".into());
    isolate_with(&cc::Build::new(), &objcopy, objects, keep, out)
        .unwrap_or_else(|message| panic!("{message}"));
}

/// [`isolate`] by the tools of `build`, which has no files, and by `objcopy`.
///
/// # Errors
/// One sentence: what went wrong, and what to install.
pub fn isolate_with(
    build: &cc::Build,
    objcopy: &OsStr,
    objects: &[PathBuf],
    keep: &[&str],
    out: &Path,
) -> Result<(), String> {
    let (dir, name) = place(out)?;
    // Without a name to keep, objcopy would keep all.
    if keep.is_empty() {
        return Err(format!("{}: nothing would be visible", out.display()));
    }
    let joined = dir.join(format!("{name}-joined.o"));
    let single = dir.join(format!("{name}.o"));
    join(build, objects, &joined)?;

    let mut command = Command::new(objcopy);
    command.args(keep.iter().map(|k| format!("--keep-global-symbol={k}")));
    command.args([&joined, &single]);
    run(&mut command, "install binutils, or name it in OBJCOPY")?;

    let mut archive = build.clone();
    archive.object(&single).out_dir(dir);
    archive
        .try_compile(name)
        .map_err(|err| format!("cannot make {}: {err}; install binutils", out.display()))
}

/// The directory and the library's name in `dir/libname.a`.
fn place(out: &Path) -> Result<(&Path, &str), String> {
    let name = out.file_name().and_then(OsStr::to_str);
    let name = name.and_then(|name| name.strip_prefix("lib")?.strip_suffix(".a"));
    out.parent()
        .zip(name)
        .ok_or_else(|| format!("{} is not the path of a lib….a", out.display()))
}

/// Links `objects` into the relocatable object `joined`.
fn join(build: &cc::Build, objects: &[PathBuf], joined: &Path) -> Result<(), String> {
    let compiler = build
        .try_get_compiler()
        .map_err(|err| format!("no C compiler: {err}; install gcc or clang"))?;
    let mut command = compiler.to_command();
    command.args(["-r", "-nostdlib"]);
    // COMDAT groups are one in a program by their name, however local it is:
    // the second world would lose what it refers to. So each keeps its own.
    command.arg("-Wl,--force-group-allocation");
    // A common symbol is not yet defined, and could not be made local.
    command.arg("-Wl,-d");
    command.args(objects).arg("-o").arg(joined);
    run(
        &mut command,
        "joining objects needs the linker ld of binutils: install it",
    )
}

/// Runs `command`; if that fails, says so in one sentence that ends in `advice`.
fn run(command: &mut Command, advice: &str) -> Result<(), String> {
    let tool = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{tool} failed ({status}); {advice}")),
        Err(err) => Err(format!("cannot run {tool}: {err}; {advice}")),
    }
}
