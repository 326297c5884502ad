// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What was mapped where, from the lines of `/proc/PID/maps` that the recorder kept.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::{fs, io};

use lockwork_report::text::{self, plain};

/// A file that was mapped into the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its path.
    pub path: PathBuf,
    /// Where its first byte is mapped.
    pub start: u64,
    /// Where its last mapping ends.
    pub end: u64,
    /// Its build id in hexadecimal; empty: it has none.
    pub build_id: String,
    /// Whether code of it runs; else it is data, which has no names.
    pub runs: bool,
}

impl Module {
    /// `offset` bytes into it, as `NAME+0xOFFSET`.
    pub fn place(&self, offset: u64) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        format!("{}+{offset:#x}", plain(name.as_bytes()))
    }

    /// Its path, to be read.
    pub fn shown(&self) -> String {
        text::path(&self.path)
    }
}

/// What process `pid` has mapped now, with what is no UTF-8 in names replaced.
///
/// # Errors
/// It may not be read, or the process has ended.
pub(crate) fn maps(pid: u64) -> io::Result<String> {
    let bytes = fs::read(format!("/proc/{pid}/maps"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct Modules {
    by_start: BTreeMap<u64, Module>,
}

impl Modules {
    /// Adds what is mapped according to `text`. A later text wins where two differ.
    pub fn add(&mut self, text: &[u8]) {
        let mut last: Option<u64> = None;
        for line in text.split(|&byte| byte == b'\n') {
            if let Some(id) = line.strip_prefix(b"id ") {
                self.identify(&String::from_utf8_lossy(id));
            } else if let Some(Mapping {
                from,
                to,
                offset,
                path,
                runs,
            }) = mapping(line)
            {
                let known = last.and_then(|start| self.by_start.get_mut(&start));
                match known {
                    Some(module) if offset != 0 && module.path == path => {
                        module.end = module.end.max(to);
                        module.runs |= runs;
                    }
                    _ if offset == 0 => {
                        last = Some(from);
                        // A process that has changed its user cannot read its ids again.
                        let known = self.by_start.remove(&from);
                        let known = known.filter(|module| module.path == path);
                        let module = Module {
                            path,
                            start: from,
                            end: to,
                            build_id: known.map_or_else(String::new, |module| module.build_id),
                            runs,
                        };
                        self.by_start.insert(from, module);
                    }
                    _ => last = None,
                }
            }
        }
    }

    /// `START HEX`, of a module that has been read before.
    fn identify(&mut self, id: &str) {
        let Some((start, hex)) = id.split_once(' ') else {
            return;
        };
        let start = u64::from_str_radix(start, 16).unwrap_or(0);
        if let Some(module) = self.by_start.get_mut(&start) {
            module.build_id = hex.to_owned();
        }
    }

    /// The last module that begins at or before `address`. Its data may reach beyond what
    /// is mapped from the file, so whether the address belongs to it is not known here.
    pub fn before(&self, address: u64) -> Option<&Module> {
        let (_, module) = self.by_start.range(..=address).next_back()?;
        Some(module)
    }

    /// The module whose file is mapped at `address`.
    pub fn at(&self, address: u64) -> Option<&Module> {
        self.before(address).filter(|module| address < module.end)
    }
}

/// The name in maps of shared memory without a file.
const SHARED: &[u8] = b"/dev/zero (deleted)";
/// How maps writes the end of a line that is in a file's name.
const LINE_END: &[u8] = b"\\012";

/// `from-to perms offset device inode path`
struct Mapping {
    from: u64,
    to: u64,
    offset: u64,
    path: PathBuf,
    runs: bool,
}

fn mapping(line: &[u8]) -> Option<Mapping> {
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (head, path) = line.split_at(line.iter().position(|&byte| byte == b'/')?);
    if path == SHARED {
        return None;
    }
    let mut words = std::str::from_utf8(head).ok()?.split_whitespace();
    let (from, to) = words.next()?.split_once('-')?;
    let runs = words.next()?.contains('x');
    let offset = words.next()?;
    Some(Mapping {
        from: hex(from)?,
        to: hex(to)?,
        offset: hex(offset)?,
        path: named(path),
        runs,
    })
}

/// The path that maps writes so.
fn named(mut written: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(written.len());
    while let Some((&first, rest)) = written.split_first() {
        let end = written.strip_prefix(LINE_END);
        path.push(if end.is_some() { b'\n' } else { first });
        written = end.unwrap_or(rest);
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn an_id_that_cannot_be_read_again_is_kept() {
        let mut modules = Modules::default();
        let id = |modules: &Modules| modules.at(0x1010).map(|module| module.build_id.clone());
        modules.add(b"1000-2000 r-xp 0 fe:00 1 /lib/a.so\nid 1000 abcd\n");
        modules.add(b"1000-3000 r-xp 0 fe:00 1 /lib/a.so\n");
        assert_eq!(id(&modules).as_deref(), Some("abcd"));
        assert_eq!(modules.at(0x2010).map(|module| module.end), Some(0x3000));
        modules.add(b"1000-3000 r-xp 0 fe:00 2 /lib/b.so\n");
        assert_eq!(id(&modules).as_deref(), Some(""));
    }

    #[test]
    fn lines_of_one_file_are_one_module() {
        let text = b"5500-5600 r--p 00000000 fe:01 12 /bin/a b\nid 5500 c0ffee\n\
                    5600-5700 r-xp 00000100 fe:01 12 /bin/a b\n\
                    7000-7100 r--p 00000000 fe:01 13 /lib/c.so\n";
        let mut modules = Modules::default();
        modules.add(text);
        let found = modules.at(0x5680).expect("a module");
        assert_eq!(
            (found.path.as_path(), found.start),
            (Path::new("/bin/a b"), 0x5500)
        );
        assert_eq!(found.build_id, "c0ffee");
        assert!(found.runs, "its second line does");
        assert!(modules.at(0x7000).is_some_and(|data| !data.runs));
        assert_eq!(modules.at(0x5800), None);
        assert_eq!(modules.before(0x5800), Some(found));
        assert_eq!(
            modules.at(0x7000).map(|m| m.path.as_path()),
            Some(Path::new("/lib/c.so"))
        );
    }

    #[test]
    fn names_may_have_any_bytes() {
        let mut modules = Modules::default();
        modules.add(b"1000-2000 r-xp 0 fe:00 1 /bin/a\\012b\xff\n");
        let found = modules.at(0x1000).expect("a module");
        assert_eq!(found.path.as_os_str().as_bytes(), b"/bin/a\nb\xff");
        assert_eq!(found.place(16), "a\\nb\\xff+0x10");
    }
}
