// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The few facts about an ELF file that decide whether LD_PRELOAD reaches it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use object::read::elf::ElfFile;
use object::read::ReadCache;
use object::{Object, ObjectSymbol};

#[cfg(target_pointer_width = "64")]
type Header = object::elf::FileHeader64<object::Endianness>;
#[cfg(target_pointer_width = "32")]
type Header = object::elf::FileHeader32<object::Endianness>;

/// What the start of an ELF file says about the machine it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    class: u8,
    data: u8,
    machine: u16,
}

impl Target {
    /// Reads the first bytes of an ELF file; `None` if it is no ELF file.
    pub fn of(head: &[u8]) -> Option<Target> {
        let head: &[u8; 20] = head.get(..20)?.try_into().ok()?;
        if !head.starts_with(b"\x7fELF") {
            return None;
        }
        let machine = [head[18], head[19]];
        Some(Target {
            class: head[4],
            data: head[5],
            machine: match head[5] {
                2 => u16::from_be_bytes(machine),
                _ => u16::from_le_bytes(machine),
            },
        })
    }

    /// The machine that this process runs on.
    pub fn ours() -> io::Result<Target> {
        let mut head = [0; 20];
        File::open("/proc/self/exe")?.read_exact(&mut head)?;
        Target::of(&head).ok_or_else(|| io::Error::other("/proc/self/exe is no ELF file"))
    }

    /// A name for messages: `x86-64`, `32-bit x86`, `AArch64`.
    pub fn name(self) -> String {
        let machine = match object::elf::Machine(self.machine) {
            object::elf::EM_386 | object::elf::EM_X86_64 => "x86",
            object::elf::EM_ARM => "Arm",
            object::elf::EM_AARCH64 => "AArch64",
            object::elf::EM_RISCV => "RISC-V",
            object::elf::EM_PPC64 => "POWER",
            object::elf::EM_S390 => "s390",
            object::elf::EM_LOONGARCH => "LoongArch",
            _ => return format!("ELF machine {}", self.machine),
        };
        let bits = if self.class == 1 { 32 } else { 64 };
        format!("{bits}-bit {machine}")
    }
}

/// What the rest of an ELF file for this machine says.
#[derive(Debug, Default)]
pub struct Linkage {
    /// The dynamic linker that it names; `None`: it runs without one.
    pub interpreter: Option<String>,
    /// Does it import functions that the interposer replaces?
    pub imports_locks: bool,
    /// The sanitizer that it is built with, if that replaces lock calls too.
    pub sanitizer: Option<&'static str>,
}

/// Reads the linkage of the ELF file at `path`, which is for our machine.
pub fn linkage(path: &Path) -> Result<Linkage, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let cache = ReadCache::new(file);
    let elf = ElfFile::<Header, _>::parse(&cache).map_err(|e| e.to_string())?;
    Ok(Linkage {
        interpreter: interpreter(&elf),
        imports_locks: elf
            .dynamic_symbols()
            .any(|symbol| symbol.is_undefined() && symbol.name_bytes().is_ok_and(is_lock_function)),
        // A run-time that is a part of the program may show nothing to others.
        sanitizer: elf
            .dynamic_symbols()
            .chain(elf.symbols().filter(|symbol| symbol.is_global()))
            .find_map(|symbol| sanitizer(symbol.name_bytes().ok()?)),
    })
}

/// The shared objects that the dynamic linker would load for the program at
/// `path`, as it says itself; empty where it does not.
pub fn libraries(path: &Path, interpreter: &str) -> Vec<PathBuf> {
    let output = Command::new(interpreter)
        .arg("--list")
        .arg(path)
        .env_remove("LD_PRELOAD")
        .output();
    let listed = output.map(|o| o.stdout).unwrap_or_default();
    // "  libfoo.so.1 => /lib/libfoo.so.1 (0x…)"
    String::from_utf8_lossy(&listed)
        .lines()
        .filter_map(|line| line.split_once("=> ")?.1.split_whitespace().next())
        .map(PathBuf::from)
        .collect()
}

fn interpreter<'d>(elf: &ElfFile<'d, Header, &'d ReadCache<File>>) -> Option<String> {
    use object::read::elf::ProgramHeader;
    let endian = elf.endian();
    let headers = elf.elf_program_headers();
    let bytes = headers
        .iter()
        .find_map(|h| h.interpreter(endian, elf.data()).ok().flatten())?;
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// The sanitizer whose start-up function this is.
fn sanitizer(name: &[u8]) -> Option<&'static str> {
    match name {
        b"__asan_init" => Some("AddressSanitizer"),
        b"__tsan_init" => Some("ThreadSanitizer"),
        b"__msan_init" => Some("MemorySanitizer"),
        _ => None,
    }
}

fn is_lock_function(name: &[u8]) -> bool {
    const PREFIXES: [&[u8]; 6] = [
        b"pthread_mutex_",
        b"pthread_cond_",
        b"pthread_rwlock_",
        b"pthread_spin_",
        b"mtx_",
        b"cnd_",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
