// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Loads a shim that the program carries inside itself.
use std::ffi::{c_char, CStr};
use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::os::fd::AsRawFd;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rustix::fs::{memfd_create, MemfdFlags};

use crate::entry::{entries, Entry};

/// What a shim exports.
pub(crate) struct Loaded {
    pub(crate) entries: Vec<Entry>,
    pub(crate) version: String,
}

/// Loads `object`, the shim of `library`, for good.
///
/// # Errors
/// The loader's reason, or the kernel's: say, that the library itself is not
/// there, or that memory may not be made executable.
pub(crate) fn load(library: &str, object: &[u8]) -> Result<Loaded, String> {
    let file = in_memory(library, object)
        .map_err(|err| format!("its shim cannot be put into memory: {err}"))?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    // SAFETY: the shim's and its library's constructors need nothing of us.
    let shim = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
    let shim = shim.map_err(|err| {
        format!("it was there when lockwork was built, and cannot be loaded now: {err}")
    })?;
    let loaded = exports(library, &shim).map_err(|err| format!("its shim is broken: {err}"))?;
    // Threads may be inside at any time: it is never closed. Nor is the file,
    // because the loader takes what has the same path for the same object.
    mem::forget(shim);
    mem::forget(file);
    Ok(loaded)
}

/// A file without a name that holds `object`.
fn in_memory(library: &str, object: &[u8]) -> io::Result<File> {
    let name = format!("lockwork-peers-{library}");
    let flags = MemfdFlags::CLOEXEC;
    // Linux 6.3 wants to be told; before, it was always so, and no flag for it.
    let fd = memfd_create(&name, flags | MemfdFlags::EXEC).or_else(|_| memfd_create(&name, flags));
    let mut file = File::from(fd?);
    file.write_all(object)?;
    Ok(file)
}

fn exports(library: &str, shim: &Library) -> Result<Loaded, libloading::Error> {
    let table = format!("peers_{library}\0");
    let version = format!("peers_{library}_version\0");
    // SAFETY: the build script's shims declare them so, see peers/peer.h.
    unsafe {
        let table = shim.get::<*const Entry>(table.as_bytes())?.into_raw();
        let version = shim.get::<*const c_char>(version.as_bytes())?.into_raw();
        Ok(Loaded {
            entries: entries(table.cast()),
            version: CStr::from_ptr(version.cast())
                .to_string_lossy()
                .into_owned(),
        })
    }
}
