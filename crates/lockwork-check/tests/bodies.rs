// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is checked is what ships: every world compiles the same lock code.
//!
//! The preprocessor says what is left of `locks/` in each world. Equal have to
//! be: the functions, by file, name and lines, and they have to be those of the
//! sources; likewise the types; the initialised data; the macros that `locks/`
//! defines; and, inside each body, which functions of `locks/` are named once
//! the world's macros are expanded. No function or type may have a directive
//! inside: then, where it is compiled, all its lines are.
//!
//! Not compared: what a world's macros make of their arguments, but for the
//! functions named there, and what they add, such as `LK_MUTEX_EMBED`; and the
//! kernel's world, whose preprocessor needs the headers of a kernel.

#[path = "bodies/c.rs"]
mod c;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use c::{expanded, without_comments, Code, Reader};

/// The files of `dir` whose names end in one of `endings`.
fn files(dir: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap_or_else(|err| panic!("{}: {err}", dir.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        let ending = path.extension().unwrap_or_default();
        endings.iter().any(|one| ending == *one)
    });
    files.sort();
    files
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// The definitions in the text of `locks`, with no regard to conditions.
fn written(locks: &Path, complaints: &mut Vec<String>) -> Code {
    let mut code = Code::default();
    for path in files(locks, &["c", "h"]) {
        let file = name_of(&path);
        let text = without_comments(&fs::read_to_string(&path).unwrap());
        let mut reader = Reader::default();
        let mut directive = false;
        for (line, text) in (1..).zip(text.lines()) {
            let name = text.trim_start().strip_prefix('#').map(str::trim_start);
            if let Some((name, inside)) = name.zip(reader.inside()) {
                // The catalogue includes its lines in mid-table.
                if inside.kind != "data" || name.starts_with("if") {
                    let what = format!("{} {}", inside.kind, inside.name);
                    complaints.push(format!("locks/{file}:{line}: a directive in {what}"));
                }
            }
            directive |= name.is_some();
            if !directive {
                reader.line(&file, line, text);
            }
            directive &= text.ends_with('\\');
        }
        // Counted in another way, lest all the readings share a mistake.
        let bodies = text.lines().filter(|line| line.starts_with('{')).count();
        let read = reader.code.of_kind("function").len();
        if bodies != read {
            complaints.push(format!("locks/{file}: {bodies} bodies, {read} functions"));
        }
        code.merge(reader.code);
    }
    code
}

/// One way to compile the locks: its name, and the preprocessor's flags.
struct World {
    name: &'static str,
    flags: Vec<String>,
}

/// All of them, in the checkout `root`.
fn worlds(root: &Path) -> [World; 4] {
    let include = |dir: &str| format!("-I{}", root.join(dir).display());
    let world = |name, folders: &[&str]| {
        let flags = folders.iter().chain(&["platform"]).map(|dir| include(dir));
        let flags = flags.collect();
        World { name, flags }
    };
    [
        world("user", &["platform/library", "platform/user"]),
        world("interposer", &["platform/preload", "platform/user"]),
        world("check", &["platform/check"]),
        world("sim", &["platform/sim"]),
    ]
}

/// The code of the directory `locks` in `world`.
fn compiled(locks: &Path, world: &World, complaints: &mut Vec<String>) -> Code {
    let cc = env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut code = Code::default();
    for path in files(locks, &["c"]) {
        let mut command = Command::new(&cc);
        command.args(["-E", "-dD", "-std=gnu11"]).args(&world.flags);
        let output = command.arg("-I").arg(locks).arg(&path).output();
        let output = output.unwrap_or_else(|err| panic!("cannot run {cc}: {err}; set CC"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {errors}", world.name);

        let new = expanded(&String::from_utf8_lossy(&output.stdout), locks);
        let file = name_of(&path);
        if !new.definitions.keys().any(|d| d.file == file) {
            complaints.push(format!("locks/{file} defines nothing in {}", world.name));
        }
        code.merge(new);
    }
    code
}

/// What some of `sets` hold and others do not, and which.
fn partial<T: Ord + Display>(sets: &[(&str, BTreeSet<T>)]) -> Vec<String> {
    let all: BTreeSet<&T> = sets.iter().flat_map(|(_, set)| set).collect();
    let mut complaints = Vec::new();
    for item in all {
        let names = |has: bool| {
            let those = sets.iter().filter(|(_, set)| set.contains(item) == has);
            those.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
        };
        let without = names(false);
        if !without.is_empty() {
            complaints.push(format!("{item}: in {}; not in {without}", names(true)));
        }
    }
    complaints
}

/// All that `worlds` do not have in common of the directory `locks`.
fn differences(locks: &Path, worlds: &[World]) -> Vec<String> {
    let mut complaints = Vec::new();
    let source = written(locks, &mut complaints);
    let functions = source.of_kind("function");
    if functions.is_empty() {
        complaints.push(format!("{} has no functions", locks.display()));
    }
    let names: BTreeSet<String> = functions.iter().map(|d| d.name.clone()).collect();
    let mut bodies = vec![("the sources", functions)];
    let mut types = vec![("the sources", source.of_kind("type"))];
    let (mut data, mut uses, mut macros) = (vec![], vec![], vec![]);
    for world in worlds {
        let code = compiled(locks, world, &mut complaints);
        bodies.push((world.name, code.of_kind("function")));
        types.push((world.name, code.of_kind("type")));
        data.push((world.name, code.of_kind("data")));
        uses.push((world.name, code.uses(&names)));
        macros.push((world.name, code.macros));
    }
    complaints.extend(partial(&bodies));
    complaints.extend(partial(&types));
    complaints.extend(partial(&data));
    complaints.extend(partial(&uses));
    complaints.extend(partial(&macros));
    complaints
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

#[test]
fn all_worlds_compile_the_same_code() {
    let root = root();
    let found = differences(&root.join("locks"), &worlds(&root));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The differences once `edits` (from, to) are made in `file` of a copy of
/// `locks/`, where the macro `ONLY(x)` is x, but nothing in the check world.
fn after(file: &str, edits: &[(&str, &str)]) -> String {
    let root = root();
    let room = tempfile::tempdir().unwrap();
    let copy = room.path().canonicalize().unwrap();
    for path in files(&root.join("locks"), &["c", "h", "def"]) {
        fs::copy(&path, copy.join(name_of(&path))).unwrap();
    }
    let mut text = fs::read_to_string(copy.join(file)).unwrap();
    for (from, to) in edits {
        assert!(text.contains(from), "{file} has no {from:?} to edit");
        text = text.replacen(from, to, 1);
    }
    fs::write(copy.join(file), text).unwrap();

    let mut worlds = worlds(&root);
    for world in &mut worlds {
        let kept = if world.name == "check" { "" } else { "x" };
        world.flags.push(format!("-DONLY(x)={kept}"));
    }
    differences(&copy, &worlds).join("\n")
}

#[track_caller]
fn must_say(found: &str, words: &str) {
    assert!(found.contains(words), "no {words:?} in:\n{found}");
}

#[test]
fn a_copy_alone_is_no_difference() {
    assert_eq!(after("tas_lock.h", &[]), "");
}

/// The differences with a header's last function under `condition`.
fn hidden_where_not(condition: &str) -> String {
    let head = "static inline void lk_ring_remove";
    let hidden = format!("{condition}\n{head}");
    let end = ("#endif\n", "#endif\n#endif\n");
    after("wait_ring.h", &[(head, &hidden), end])
}

#[test]
fn a_missing_function_is_found() {
    let found = hidden_where_not("#ifndef LKP_CHECK_ATOMIC_H");
    must_say(
        &found,
        "lk_ring_remove: in the sources, user, interposer, sim; not in check",
    );
    let found = hidden_where_not("#ifndef LKP_PRELOAD_HOST_H");
    must_say(
        &found,
        "lk_ring_remove: in the sources, user, check, sim; not in interposer",
    );
    let found = hidden_where_not("#if 0");
    must_say(
        &found,
        "lk_ring_remove: in the sources; not in user, interposer, check, sim",
    );
}

#[test]
fn a_missing_type_and_a_missing_table_are_found() {
    let hide = |file, head: &str| {
        let hidden = format!("#ifndef LKP_CHECK_ATOMIC_H\n{head}");
        after(file, &[(head, &hidden), ("\n};\n", "\n};\n#endif\n")])
    };
    let found = hide("tas_lock.h", "struct lk_tas {");
    must_say(&found, "type lk_tas: in the sources, user, ");
    let found = hide("tas_lock.c", "const struct lk_ops lk_tas_ops");
    must_say(&found, "data lk_tas_ops: in user, ");
}

#[test]
fn two_versions_of_a_function_are_found() {
    let head = "static inline u8 lk_epoch_today(void)\n";
    let other = format!("#ifdef LKP_CHECK_ATOMIC_H\n{head}{{\n\treturn 0;\n}}\n#else\n{head}");
    let next = "static inline bool lk_epoch_is_old";
    let ended = format!("#endif\n{next}");
    let found = after("epoch.h", &[(head, &other), (next, &ended)]);
    must_say(&found, "lk_epoch_today: in the sources, check; not in user");
    must_say(
        &found,
        "lk_epoch_today: in the sources, user, interposer, sim; not in check",
    );
}

#[test]
fn a_missing_line_is_found() {
    let hide = |line: &str| {
        let hidden = format!("#ifndef LKP_CHECK_ATOMIC_H\n{line}#endif\n");
        after("tas_lock.h", &[(line, &hidden)])
    };
    let found = hide("\tsmp_store_release(&lock->locked, 0);\n");
    must_say(&found, ": a directive in function lk_tas_unlock");
    let found = hide("\tu8 locked;\n");
    must_say(&found, ": a directive in type lk_tas");
}

#[test]
fn a_call_that_a_macro_drops_is_found() {
    let call = "lk_tas_unlock(lock);";
    let found = after("tas_lock.c", &[(call, &format!("ONLY({call})"))]);
    must_say(&found, "function unlock uses lk_tas_unlock: in user, ");
    must_say(&found, "; not in check");
}

#[test]
fn another_table_of_operations_is_found() {
    let line = "\t.trylock = trylock,\n";
    let hidden = format!("#ifndef LKP_CHECK_ATOMIC_H\n{line}#endif\n");
    let found = after("tas_lock.c", &[(line, &hidden)]);
    must_say(&found, "data lk_tas_ops uses trylock: in user, ");
}

#[test]
fn another_value_of_a_macro_is_found() {
    let line = "#define LK_EPOCH_MASK 0x7fu\n";
    let other =
        format!("#ifdef LKP_CHECK_ATOMIC_H\n#define LK_EPOCH_MASK 0x3fu\n#else\n{line}#endif\n");
    let found = after("epoch.h", &[(line, &other)]);
    must_say(&found, "LK_EPOCH_MASK 0x3fu: in check; not in user, ");
}
