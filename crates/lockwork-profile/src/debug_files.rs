// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Debug information that is not in a program's own file: a file that its build id or its
//! `.gnu_debuglink` names, what several of these share, and the parts of split DWARF.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use addr2line::gimli;
use lockwork_report::text;
use object::{Object, ObjectSection};

/// Where distributions put debug files.
const FOLDER: &str = "/usr/lib/debug";

/// A program's file, or a library's.
pub type Elf<'a> = object::read::elf::ElfFile64<'a>;
type Reader<'a> = gimli::EndianSlice<'a, gimli::LittleEndian>;

/// A debug file.
pub struct DebugFile {
    /// Where it is.
    pub path: PathBuf,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// The debug file of the program at `path`; and what is said of one that is of another build.
pub fn of(path: &Path, elf: &Elf<'_>) -> (Option<DebugFile>, Option<String>) {
    let id = elf.build_id().ok().flatten().map(hex).unwrap_or_default();
    if let Some(found) = by_build_id(&id) {
        return (Some(found), None);
    }
    let mut refused = None;
    let Ok(Some((name, crc))) = elf.gnu_debuglink() else {
        return (None, None);
    };
    for candidate in linked(path, OsStr::from_bytes(name)) {
        let Ok(bytes) = fs::read(&candidate) else {
            continue;
        };
        let found = DebugFile {
            path: candidate,
            bytes,
        };
        if crc32fast::hash(&found.bytes) == crc {
            return (Some(found), None);
        }
        refused.get_or_insert_with(|| {
            format!(
                "{} is the debug file of another build of {}, so it is not read",
                text::path(&found.path),
                text::path(path)
            )
        });
    }
    (None, refused)
}

/// The file in which `dwz` has put what `elf`, the file at `path`, shares with others:
/// `.gnu_debugaltlink` names it. Without it names and inlined functions are missing, so if it
/// is not there, or of another build, the error says so.
pub fn shared(path: &Path, elf: &Elf<'_>) -> Result<Option<PathBuf>, String> {
    let Ok(Some((name, id))) = elf.gnu_debugaltlink() else {
        return Ok(None);
    };
    let name = Path::new(OsStr::from_bytes(name));
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let named = path.parent().unwrap_or(Path::new("/")).join(name);
    let is_right = |file: &PathBuf| {
        let bytes = fs::read(file).unwrap_or_default();
        let elf = Elf::parse(&*bytes);
        elf.is_ok_and(|elf| elf.build_id().ok().flatten() == Some(id))
    };
    let found = [Some(named.clone()), build_id_path(&hex(id))];
    let found = found.into_iter().flatten().find(is_right);
    found.map(Some).ok_or_else(|| {
        let fault = match named.exists() {
            true => "of another build",
            false => "not there",
        };
        format!(
            "the debug information of {} has a part in {}, which is {fault}: some functions have no names",
            text::path(&path),
            text::path(&named)
        )
    })
}

fn build_id_path(id: &str) -> Option<PathBuf> {
    let (start, rest) = id.split_at_checked(2)?;
    let folder = Path::new(FOLDER).join(".build-id").join(start);
    Some(folder.join(format!("{rest}.debug")))
}

fn by_build_id(id: &str) -> Option<DebugFile> {
    let path = build_id_path(id)?;
    let bytes = fs::read(&path).ok()?;
    Some(DebugFile { path, bytes })
}

/// Where a debugger looks for what a program names.
fn linked(path: &Path, name: &OsStr) -> Vec<PathBuf> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let Some(folder) = path.parent() else {
        return Vec::new();
    };
    let below = folder.strip_prefix("/").unwrap_or(folder);
    let folders = [
        folder.to_owned(),
        folder.join(".debug"),
        Path::new(FOLDER).join(below),
    ];
    let all = folders.iter().map(|folder| folder.join(name));
    all.filter(|candidate| *candidate != path).collect()
}

/// The first part of the split debug information of `elf`, the file at `path`, that is not there;
/// none: it is not split, or all of it is there. `addr2line` reads the parts, or `PATH.dwp`.
pub fn missing_part(path: &Path, elf: &Elf<'_>) -> Option<PathBuf> {
    // Where there is none of these, nothing is split.
    elf.section_by_name(".debug_addr")?;
    let mut package = path.as_os_str().to_owned();
    package.push(".dwp");
    if Path::new(&package).exists() {
        return None;
    }
    let sections = gimli::DwarfSections::load(|id| section(elf, id)).ok()?;
    let dwarf = sections.borrow(|bytes| Reader::new(bytes, gimli::LittleEndian));
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else {
            continue;
        };
        let name = unit.dwo_name().ok().flatten();
        let Some(name) = name.and_then(|name| dwarf.attr_string(&unit, name).ok()) else {
            continue;
        };
        let folder = unit.comp_dir.map_or(&[][..], |folder| folder.slice());
        let part = Path::new(OsStr::from_bytes(folder)).join(OsStr::from_bytes(name.slice()));
        if !part.exists() {
            return Some(part);
        }
    }
    None
}

fn section<'a>(elf: &Elf<'a>, id: gimli::SectionId) -> Result<Cow<'a, [u8]>, object::Error> {
    match elf.section_by_name(id.name()) {
        Some(section) => section.uncompressed_data(),
        None => Ok(Cow::Borrowed(&[])),
    }
}

/// Bytes as text.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
