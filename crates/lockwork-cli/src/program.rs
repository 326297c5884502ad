// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Finds the program that execvp(3) would run, and says beforehand, in one
//! sentence, why an interposer could not work in it.

use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::elf::{self, Linkage, Target};
use crate::error::{Exit, CANNOT_EXECUTE, NOT_FOUND, OWN_ERROR};

/// Scripts may name scripts as their interpreters; the kernel stops at five.
const MAX_SCRIPTS: u32 = 5;
/// How much of a `#!` line the kernel reads.
const SCRIPT_HEAD: usize = 256;

/// The file that execvp would run for `name`.
pub fn find(name: &OsStr) -> Result<PathBuf> {
    if name.is_empty() {
        return Err(Exit::with(NOT_FOUND, "the program's name is empty"));
    }
    if name.as_bytes().contains(&b'/') {
        return executable(PathBuf::from(name));
    }
    let path = env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    let mut refused = None;
    for dir in env::split_paths(&path) {
        let file = dir.join(name);
        if !file.exists() {
            continue;
        }
        match executable(file) {
            Ok(file) => return Ok(file),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| {
        let message = format!(
            "there is no program '{}' in PATH",
            Path::new(name).display()
        );
        Exit::with(NOT_FOUND, message)
    }))
}

fn executable(file: PathBuf) -> Result<PathBuf> {
    let shown = file.display();
    let found = match fs::metadata(&file) {
        Ok(found) => found,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let message = format!("there is no program '{shown}'");
            return Err(Exit::with(NOT_FOUND, message));
        }
        Err(e) => {
            let message = format!("cannot execute '{shown}': {e}");
            return Err(Exit::with(CANNOT_EXECUTE, message));
        }
    };
    if found.is_dir() {
        let message = format!("'{shown}' is a directory, not a program");
        return Err(Exit::with(CANNOT_EXECUTE, message));
    }
    if !may_execute(&file) {
        let message = format!("'{shown}' is not executable; chmod +x would make it so");
        return Err(Exit::with(CANNOT_EXECUTE, message));
    }
    Ok(file)
}

fn may_execute(file: &Path) -> bool {
    let Ok(path) = CString::new(file.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: path is a C string.
    unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::X_OK, libc::AT_EACCESS) == 0 }
}

/// Checks that an interposer works in `file`. Follows a script to the
/// interpreter that will run it.
pub fn validate(file: &Path) -> Result<()> {
    match elf_behind(file)? {
        Some((elf, target)) => validate_elf(&elf, target),
        None => Ok(()),
    }
}

/// Checks that `file` is not built with a sanitizer that makes all lock calls itself.
/// AddressSanitizer leaves them to the program.
pub fn check_sanitizers(file: &Path) -> Result<()> {
    let Some((elf, _)) = elf_behind(file)? else {
        return Ok(());
    };
    match elf::linkage(&elf)
        .ok()
        .and_then(|linkage| linkage.sanitizer)
    {
        None | Some("AddressSanitizer") => Ok(()),
        Some(sanitizer) => {
            let message = format!(
                "cannot profile '{}': it is built with {sanitizer}, from which all lock calls \
                 would seem to come; profile a build without it",
                elf.display()
            );
            Err(Exit::with(OWN_ERROR, message))
        }
    }
}

/// The ELF file that runs in the end: `file`, or its script interpreter.
/// `None` for one that may be executed but not read.
pub fn elf_behind(file: &Path) -> Result<Option<(PathBuf, Target)>> {
    let mut current = file.to_path_buf();
    for _ in 0..MAX_SCRIPTS {
        let Ok(head) = head(&current) else {
            return Ok(None);
        };
        if let Some(target) = Target::of(&head) {
            return Ok(Some((current, target)));
        }
        let wanted = script_interpreter(&head).unwrap_or_else(|| "/bin/sh".into());
        current = find(&wanted).map_err(|error| {
            let message = format!("'{}' is a script, but {error}", current.display());
            Exit::with(crate::error::code_of(&error), message)
        })?;
    }
    let message = format!("'{}': too many scripts in scripts", file.display());
    Err(Exit::with(CANNOT_EXECUTE, message))
}

/// The sanitizers' runtimes among the shared objects of `file`. One that is part of the
/// program itself is not among them, and needs no care.
pub fn sanitizers(file: &Path) -> Vec<PathBuf> {
    let Ok(Some((elf, _))) = elf_behind(file) else {
        return Vec::new();
    };
    let interpreter = elf::linkage(&elf).ok().and_then(|l| l.interpreter);
    let mut found = interpreter.map_or_else(Vec::new, |i| elf::libraries(&elf, &i));
    found.retain(|path| is_sanitizer(path));
    found
}

/// By the names that GCC and Clang give them.
fn is_sanitizer(library: &Path) -> bool {
    const RUNTIMES: [&[u8]; 4] = [b"asan", b"tsan", b"lsan", b"hwasan"];
    let name = library.file_name().unwrap_or_default().as_bytes();
    let Some(rest) = name.strip_prefix(b"lib") else {
        return false;
    };
    let rest = rest.strip_prefix(b"clang_rt.").unwrap_or(rest);
    RUNTIMES.iter().any(|runtime| {
        rest.strip_prefix(*runtime)
            .is_some_and(|end| end.starts_with(b".so") || end.starts_with(b"-"))
    })
}

fn head(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(file)?
        .take(SCRIPT_HEAD as u64)
        .read_to_end(&mut head)?;
    Ok(head)
}

/// What a `#!` line names; through env(1), the program that env would run.
fn script_interpreter(head: &[u8]) -> Option<OsString> {
    let line = head.strip_prefix(b"#!")?.split(|&b| b == b'\n').next()?;
    let mut words = line
        .split(|b| b" \t\r".contains(b))
        .filter(|word| !word.is_empty());
    let first = words.next()?;
    let is_env = first.rsplit(|&b| b == b'/').next() == Some(b"env");
    let program = if is_env {
        words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?
    } else {
        first
    };
    Some(OsString::from_vec(program.to_vec()))
}

fn validate_elf(file: &Path, target: Target) -> Result<()> {
    let refuse = |why: String| {
        let message = format!("cannot put a lock under '{}': {why}", file.display());
        Err(Exit::with(OWN_ERROR, message))
    };
    let ours = Target::ours()?;
    if target != ours {
        let (theirs, ours) = (target.name(), ours.name());
        return refuse(format!(
            "it is built for {theirs}, and this lockwork for {ours}; use a lockwork built for {theirs}"
        ));
    }
    match elf::linkage(file) {
        Err(e) => refuse(format!("its ELF headers cannot be read ({e})")),
        Ok(linkage) => match unreachable(file, &linkage)? {
            Some(why) => refuse(why),
            None => Ok(()),
        },
    }
}

/// Why LD_PRELOAD does not reach a program with this linkage.
fn unreachable(file: &Path, linkage: &Linkage) -> Result<Option<String>> {
    let Some(interpreter) = &linkage.interpreter else {
        let is_loader = is_glibc_loader(file);
        let why = "it is statically linked, so nothing can be loaded into it; link it dynamically";
        return Ok((!is_loader).then(|| why.to_string()));
    };
    if !is_glibc_loader(Path::new(interpreter)) {
        return Ok(Some(format!(
            "its dynamic linker is {interpreter}, and the interposer needs glibc; build it against glibc"
        )));
    }
    if !Path::new(interpreter).exists() {
        let message = format!(
            "'{}' needs the dynamic linker {interpreter}, which is not there",
            file.display()
        );
        return Err(Exit::with(NOT_FOUND, message));
    }
    Ok(gains_privilege(file))
}

/// Is this the name of glibc's dynamic linker, on any machine?
fn is_glibc_loader(file: &Path) -> bool {
    let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    [file, target.as_path()].iter().any(|path| {
        let name = path.file_name().unwrap_or_default().as_bytes();
        name.starts_with(b"ld-linux") || name == b"ld64.so.1" || name == b"ld64.so.2"
    })
}

/// The dynamic linker drops LD_PRELOAD from programs that gain privilege.
fn gains_privilege(file: &Path) -> Option<String> {
    let found = fs::metadata(file).ok()?;
    let path = CString::new(file.as_os_str().as_bytes()).ok()?;
    if exec_gains_nothing(&path) {
        return None;
    }
    // SAFETY: these cannot fail and touch no memory.
    let (uid, gid) = unsafe { (libc::getuid(), libc::getgid()) };
    let setuid = found.mode() & libc::S_ISUID != 0 && found.uid() != uid;
    let group_bits = libc::S_ISGID | libc::S_IXGRP;
    let setgid = found.mode() & group_bits == group_bits && found.gid() != gid;
    let what = if setuid {
        "is setuid"
    } else if setgid {
        "is setgid"
    } else if uid != 0 && has_capabilities(&path) {
        "has file capabilities"
    } else {
        return None;
    };
    Some(format!(
        "it {what}, and the dynamic linker loads nothing else into privileged programs; run a \
         copy without privileges, or run it as the user it switches to"
    ))
}

/// A nosuid mount, or a process that may not gain privileges.
fn exec_gains_nothing(path: &CString) -> bool {
    // SAFETY: path is a C string; statvfs fills the struct on success.
    unsafe {
        let mut facts: libc::statvfs = std::mem::zeroed();
        let nosuid =
            libc::statvfs(path.as_ptr(), &mut facts) == 0 && facts.f_flag & libc::ST_NOSUID != 0;
        nosuid || libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1
    }
}

fn has_capabilities(path: &CString) -> bool {
    let name = c"security.capability";
    // SAFETY: both are C strings; a null buffer of size 0 asks for the size.
    unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), std::ptr::null_mut(), 0) > 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interpreter(line: &str) -> Option<String> {
        script_interpreter(line.as_bytes()).map(|s| s.to_string_lossy().into_owned())
    }

    #[test]
    fn reads_script_lines() {
        assert_eq!(interpreter("#!/bin/sh\n"), Some("/bin/sh".into()));
        assert_eq!(interpreter("#! /bin/sh -e\nx"), Some("/bin/sh".into()));
        assert_eq!(
            interpreter("#!/usr/bin/env python3\n"),
            Some("python3".into())
        );
        assert_eq!(
            interpreter("#!/usr/bin/env -S A=1 python3 -u\n"),
            Some("python3".into())
        );
        assert_eq!(interpreter("echo hi\n"), None);
    }

    #[test]
    fn knows_sanitizers() {
        for name in ["libasan.so.8", "libtsan.so", "libclang_rt.asan-x86_64.so"] {
            assert!(is_sanitizer(&Path::new("/usr/lib").join(name)), "{name}");
        }
        for name in ["libtsanity.so", "libubsan.so.1", "asan.so", "libc.so.6"] {
            assert!(!is_sanitizer(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn knows_glibc_loaders() {
        assert!(is_glibc_loader(Path::new("/lib64/ld-linux-x86-64.so.2")));
        assert!(is_glibc_loader(Path::new(
            "/nix/x/lib/ld-linux-aarch64.so.1"
        )));
        assert!(!is_glibc_loader(Path::new("/lib/ld-musl-x86_64.so.1")));
    }
}
