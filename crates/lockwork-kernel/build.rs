// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Carries the module's sources inside the program, and reads what its torture can be
//! told from the same file as the module does.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use lockwork_build::{root, watch};

/// The folders whose files the module, the patches and the kernels are made of.
const FOLDERS: &[&str] = &["kernel", "platform/kernel", "locks", "tests/canaries"];

/// The folder whose files are for all worlds; not those below it.
const COMMON: &str = "platform";

/// The folder of which every file is for the patches.
const TREE: &str = "kernel/series/tree";

/// How the names of the other folders' files end.
const ENDS: &[&str] = &[".c", ".h", ".def", ".toml", ".config", ".txt"];

fn main() -> Result<(), Box<dyn Error>> {
    let root = root();
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    watch(FOLDERS);
    watch(&[COMMON]);
    fs::write(out.join("sources.rs"), sources(&root)?)?;
    let options = table(&root.join("kernel/options.def"), "LKM_OPTION")?;
    let knobs = table(&root.join("platform/knobs.def"), "LK_KNOB")?;
    let modes = constant(&root.join("kernel/torture.h"), "LKM_TORTURE_MODES")?;
    fs::write(
        out.join("settings.rs"),
        format!(
            "/// What `kernel/options.def` lists.\n\
             pub const OPTIONS: &[(&str, u32, u32)] = &[{options}];\n\
             /// What `platform/knobs.def` lists.\n\
             pub const KNOBS: &[(&str, u32, u32)] = &[{knobs}];\n\
             /// Locks that can take turns on one object: `LKM_TORTURE_MODES`.\n\
             const MODES: usize = {modes};\n"
        ),
    )?;
    Ok(())
}

/// Each file with its path, as Rust.
fn sources(root: &Path) -> Result<String, Box<dyn Error>> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        find(root, Path::new(folder), true, &mut files)?;
    }
    find(root, Path::new(COMMON), false, &mut files)?;
    files.sort();
    let lines = files.iter().map(|(name, path)| {
        let path = path.display().to_string();
        format!("    ({name:?}, include_bytes!({path:?})),\n")
    });
    Ok(format!(
        "/// All files: paths below the top, and contents.\n\
         pub const SOURCES: &[(&str, &[u8])] = &[\n{}];\n",
        lines.collect::<String>()
    ))
}

/// The files in a folder, and, if `deep`, in those below it.
fn find(
    root: &Path,
    folder: &Path,
    deep: bool,
    files: &mut Vec<(String, PathBuf)>,
) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().ok_or("a source's name is not UTF-8")?;
        let path = folder.join(name);
        if entry.file_type()?.is_dir() {
            if deep {
                find(root, &path, true, files)?;
            }
        } else if name == "Kbuild"
            || path.starts_with(TREE)
            || ENDS.iter().any(|end| name.ends_with(end))
        {
            let path = path.to_str().ok_or("a source's path is not UTF-8")?;
            files.push((path.to_owned(), root.join(path)));
        }
    }
    Ok(())
}

/// The name, least and greatest value of each `MACRO(name, min, max, …` of a file.
fn table(file: &Path, name: &str) -> Result<String, Box<dyn Error>> {
    let text = fs::read_to_string(file)?;
    let start = format!("\n{name}(");
    let mut rows = String::new();
    for line in text.split(&start).skip(1) {
        let mut fields = line.split(',').map(str::trim);
        let (Some(name), Some(min), Some(max)) = (fields.next(), fields.next(), fields.next())
        else {
            return Err(format!("{}: a line is too short: {line}", file.display()).into());
        };
        rows += &format!("({name:?}, {min}, {max}), ");
    }
    if rows.is_empty() {
        return Err(format!("{} has no line of {name}", file.display()).into());
    }
    Ok(rows)
}

/// The number that a file defines as `name`.
fn constant(file: &Path, name: &str) -> Result<u32, Box<dyn Error>> {
    let text = fs::read_to_string(file)?;
    let start = format!("#define {name} ");
    let value = text.lines().find_map(|line| line.strip_prefix(&start));
    let digits = value.and_then(|value| value.split_whitespace().next());
    let number = digits.and_then(|digits| digits.trim_end_matches('u').parse().ok());
    number.ok_or_else(|| format!("{} defines no number {name}", file.display()).into())
}
