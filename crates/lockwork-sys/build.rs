// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Compiles the C locks against the user world, and asks the compiler what Rust
//! may know of their layout: c/layout.c is compiled, not run, and its constants
//! are read from the object file.
use lockwork_build::{c_files, platform_files, root, watch, world};
use object::{Object, ObjectSection, ObjectSymbol};
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = root();
    watch(&["locks", "platform", "lib", "include"]);
    println!("cargo::rerun-if-changed=c");
    world("user")
        .files(c_files(&root.join("locks")))
        .files(platform_files("user"))
        .files(c_files(&root.join("lib")))
        .include(root.join("include"))
        .compile("lockwork_sys");
    println!("cargo::rustc-link-lib=pthread");
    // DEP_LOCKWORK_INCLUDE: for C files of crates that depend on this one.
    println!("cargo::metadata=include={}", root.join("include").display());

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let objects = world("user")
        .file("c/layout.c")
        .include(root.join("include"))
        .compile_intermediates();
    let rust = constants(&objects[0]).unwrap_or_else(|message| panic!("{message}"));
    fs::write(out.join("constants.rs"), rust).expect("OUT_DIR can be written");
}

/// The constants in `object` as Rust items.
fn constants(object: &Path) -> Result<String, String> {
    let failed = |err: &dyn std::fmt::Display| {
        format!(
            "{}: {err}; compile C to ELF objects, without -flto in CFLAGS",
            object.display()
        )
    };
    let bytes = fs::read(object).map_err(|err| failed(&err))?;
    let file = object::File::parse(&*bytes).map_err(|err| failed(&err))?;
    let mut items = Vec::new();
    for symbol in file.symbols() {
        let name = symbol.name().map_err(|err| failed(&err))?;
        let Some(name) = name.strip_prefix("layout_") else {
            continue;
        };
        let section = symbol.section_index().ok_or_else(|| failed(&name))?;
        let section = file.section_by_index(section).map_err(|err| failed(&err))?;
        let data = section
            .data_range(symbol.address(), symbol.size())
            .map_err(|err| failed(&err))?
            .ok_or_else(|| failed(&name))?;
        items.push(item(name, data).ok_or_else(|| failed(&name))?);
    }
    items.sort();
    if items.is_empty() {
        return Err(failed(&"no constants in it"));
    }
    Ok(items.concat())
}

/// `struct layout` of c/layout.c, as a Rust constant.
fn item(name: &str, data: &[u8]) -> Option<String> {
    let (kind, name) = name.split_once('_')?;
    let (value, text) = data.split_first_chunk()?;
    let value = u64::from_le_bytes(*value);
    let text = std::str::from_utf8(text).ok()?.trim_end_matches('\0');
    Some(format!(
        "/// `{text}`, in C.\npub const {name}: {kind} = {value};\n"
    ))
}
