// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Two archives that define the same names, in one C program.

use std::env::consts::ARCH;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lockwork_build::{c_files, isolate_with};

/// All that two worlds have in common, with another value: a function, data, a
/// thread's variable, a common symbol, a weak definition and a COMDAT group.
/// `absent` is weak and defined nowhere, `host` is the program's.
const WORLD: &str = r#"
int value = VALUE;
_Thread_local int own = VALUE;
int tentative __attribute__((common));
extern int absent __attribute__((weak));
int host(void), other_file(void), once(void);

__asm__(".section .data.once,\"awG\",@progbits,once_data,comdat\n"
        ".weak once_data\n.type once_data,@object\n"
        "once_data: .long " TEXT "\n.size once_data, 4\n.text\n");
extern int once_data __attribute__((visibility("hidden")));

__attribute__((weak, noinline)) int weak(void)
{
	return VALUE;
}

int ENTRY(void)
{
	tentative += VALUE;
	if (&absent)
		return -1;
	return value + own + tentative + weak() + once_data + other_file() + host();
}
"#;

const OTHER_FILE: &str = "extern int value; int other_file(void) { return value; }\n";

/// Six values of each world, and what the program adds.
const PROGRAM: &str = r"
int one(void), two(void);
int value = 7, own;
int host(void) { return 1000; }
int other_file(void) { return 7; }
int main(void) { return one() == 1000 + 6 * 1 && two() == 1000 + 6 * 20 ? value : 1; }
";

/// A compilation outside of a build script.
fn build(compiler: &str, out: &Path) -> cc::Build {
    let target = format!("{ARCH}-unknown-linux-gnu");
    let mut build = cc::Build::new();
    build.compiler(compiler).cargo_metadata(false).out_dir(out);
    build.host(&target).target(&target).opt_level(2);
    build
}

/// The objects of one world, whose function `entry` adds `value` up.
fn world(compiler: &str, dir: &Path, entry: &str, value: &str) -> Vec<PathBuf> {
    let dir = dir.join(entry);
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("world.c"), WORLD).unwrap();
    fs::write(dir.join("other.c"), OTHER_FILE).unwrap();
    build(compiler, &dir)
        .files(c_files(&dir))
        .define("ENTRY", entry)
        .define("VALUE", value)
        .define("TEXT", format!("\"{value}\"").as_str())
        .compile_intermediates()
}

fn worlds_live_side_by_side(compiler: &str) {
    let room = tempfile::tempdir().unwrap();
    let dir = room.path();
    for (entry, value) in [("one", "1"), ("two", "20")] {
        let objects = world(compiler, dir, entry, value);
        let out = dir.join(format!("lib{entry}.a"));
        let build = build(compiler, dir);
        isolate_with(&build, OsStr::new("objcopy"), &objects, &[entry], &out).unwrap();
    }
    fs::write(dir.join("program.c"), PROGRAM).unwrap();
    let linked = Command::new(compiler)
        .current_dir(dir)
        .args(["program.c", "-L.", "-lone", "-ltwo", "-o", "program"])
        .status();
    assert!(linked.unwrap().success());
    let status = Command::new(dir.join("program")).status().unwrap();
    assert_eq!(status.code(), Some(7));
}

#[test]
fn worlds_live_side_by_side_by_cc() {
    worlds_live_side_by_side("cc");
}

#[test]
#[cfg_attr(
    not(has_clang),
    ignore = "clang is missing: worlds that it compiles are not tested; scripts/install-deps installs it"
)]
fn worlds_live_side_by_side_by_clang() {
    worlds_live_side_by_side("clang");
}

#[test]
fn a_missing_or_failing_tool_is_one_sentence() {
    let room = tempfile::tempdir().unwrap();
    let dir = room.path();
    let objects = world("cc", dir, "one", "1");
    let refused = |objcopy: &str, objects: &[PathBuf]| {
        let (build, out) = (build("cc", dir), dir.join("libone.a"));
        let message = isolate_with(&build, OsStr::new(objcopy), objects, &["one"], &out);
        let message = message.unwrap_err();
        assert!(message.contains("binutils"), "{message}");
        assert!(!message.contains('\n'), "{message}");
        assert!(!out.exists());
        message
    };
    assert!(refused("no-objcopy-here", &objects).starts_with("cannot run no-objcopy-here: "));
    assert!(refused("false", &objects).starts_with("false failed (exit status: 1); "));
    assert!(refused("objcopy", &[dir.join("none.o")]).contains("cc failed (exit status: 1); "));
}

#[test]
fn something_must_be_visible() {
    let build = build("cc", Path::new("."));
    let refused = |keep: &[&str], out: &str| {
        isolate_with(&build, OsStr::new("objcopy"), &[], keep, Path::new(out)).unwrap_err()
    };
    assert!(refused(&[], "libone.a").contains("nothing would be visible"));
    assert!(refused(&["one"], "one.o").contains("lib….a"));
}
