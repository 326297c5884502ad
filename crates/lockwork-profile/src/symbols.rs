// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names for addresses: functions and lines of code, variables of data. A file that is not
//! the one that ran, by its build id, gives none.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::rc::Rc;

use addr2line::Loader;
use lockwork_report::text::{self, plain};
use object::read::elf::ProgramHeader;
use object::{Object, ObjectSymbol, SymbolKind};

use crate::debug_files::{self, hex, Elf};
use crate::modules::{Module, Modules};

/// A function that was running, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name; without symbols, the module and the offset in it.
    pub function: String,
    /// The source file's last part and the line; empty: unknown.
    pub line: String,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line.as_str() {
            "" => f.write_str(&self.function),
            line => write!(f, "{} ({line})", self.function),
        }
    }
}

/// The place of a variable or a function.
struct Place {
    from: u64,
    to: u64,
    /// As the file has it, in one line.
    name: String,
    /// Of what is local to a source file: that file's name without its folders, where known.
    source: Option<Rc<str>>,
}

/// What one file says.
struct Symbols {
    /// Added to an address of the file, gives one of the process.
    bias: u64,
    /// Where the module's memory ends, with what is not in the file.
    end: u64,
    /// Pages of the process with which segments begin.
    segments: Vec<u64>,
    loader: Option<Loader>,
    variables: Vec<Place>,
    functions: Vec<Place>,
    /// Of its debug files, what is missing.
    warning: Option<String>,
}

/// Looks names up, each file once.
pub struct Symbolizer<'a> {
    modules: &'a Modules,
    files: RefCell<HashMap<u64, Rc<Symbols>>>,
    warnings: RefCell<Vec<String>>,
}

impl<'a> Symbolizer<'a> {
    /// For the process that has these modules.
    pub fn new(modules: &'a Modules) -> Symbolizer<'a> {
        Symbolizer {
            modules,
            files: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    /// What went wrong until now.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.borrow().clone()
    }

    /// The functions at a call that returns to `address`: inlined ones first, the one that
    /// they are inlined into last. Never empty.
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        let Some(module) = self.modules.at(address).map(|module| self.whole(module)) else {
            return vec![unnamed(format!("{address:#x}"))];
        };
        let symbols = self.symbols(module);
        // The call is before the address to which it returns.
        let probe = address.wrapping_sub(symbols.bias).wrapping_sub(1);
        let named = at(&symbols.functions, probe).map(|function| demangled(&function.name));
        let loader = symbols.loader.as_ref();
        let found = loader.map(|loader| frames_of(loader, probe, named.as_deref()));
        match found {
            Some(frames) if !frames.is_empty() => frames,
            _ => vec![unnamed(
                named.unwrap_or_else(|| module.place(address - module.start)),
            )],
        }
    }

    /// The variable at `address`, and how far into it that is; and the name of the source file that
    /// it is local to, as a static one is in C.
    pub fn variable(&self, address: u64) -> Option<(String, Option<Rc<str>>)> {
        let module = self.whole(self.modules.before(address)?);
        let symbols = self.symbols(module);
        if address >= symbols.end {
            return None;
        }
        let place = address.wrapping_sub(symbols.bias);
        let Some(found) = at(&symbols.variables, place) else {
            return Some((module.place(address - module.start), None));
        };
        let name = demangled(&found.name);
        let name = match place - found.from {
            0 => name,
            inside => format!("{name}+{inside:#x}"),
        };
        Some((name, found.source.clone()))
    }

    /// The module of which `part` is. In a small file, the first page has the header and what
    /// another segment begins with, and is mapped for both.
    fn whole<'b>(&'b self, part: &'b Module) -> &'b Module {
        let earlier = part.start.checked_sub(1);
        let earlier = earlier.and_then(|end| self.modules.before(end));
        match earlier.filter(|module| module.path == part.path) {
            Some(module) if self.symbols(module).segments.contains(&part.start) => {
                self.whole(module)
            }
            _ => part,
        }
    }

    fn symbols(&self, module: &Module) -> Rc<Symbols> {
        if let Some(known) = self.files.borrow().get(&module.start) {
            return Rc::clone(known);
        }
        let symbols = Symbols::read(module).unwrap_or_else(|why| {
            if module.runs {
                let warning = format!("no names from {}: {why}", module.shown());
                self.warnings.borrow_mut().push(warning);
            }
            Symbols {
                bias: module.start,
                end: module.end,
                segments: Vec::new(),
                loader: None,
                variables: Vec::new(),
                functions: Vec::new(),
                warning: None,
            }
        });
        let warning = symbols.warning.clone().filter(|_| module.runs);
        self.warnings.borrow_mut().extend(warning);
        let symbols = Rc::new(symbols);
        let mut files = self.files.borrow_mut();
        files.insert(module.start, Rc::clone(&symbols));
        symbols
    }
}

impl Symbols {
    fn read(module: &Module) -> Result<Symbols, String> {
        let path = module.path.as_path();
        let bytes = fs::read(path).map_err(|e| e.to_string())?;
        let elf = Elf::parse(&*bytes).map_err(|e| e.to_string())?;
        let id = elf.build_id().ok().flatten().unwrap_or_default();
        if !module.build_id.is_empty() && hex(id) != module.build_id {
            return Err("it has changed since".to_owned());
        }
        let Memory { first, last, pages } = memory(&elf).ok_or("it has no memory")?;
        let bias = module.start.wrapping_sub(first);
        let (debug, refused) = debug_files::of(path, &elf);
        let debug_elf = debug
            .as_ref()
            .and_then(|file| Elf::parse(&*file.bytes).ok());
        let places = |kind| {
            let debug = debug_elf.iter().flat_map(|debug| places(debug, kind));
            let mut all: Vec<Place> = places(&elf, kind).into_iter().chain(debug).collect();
            all.sort_by_key(|place| (place.from, place.to));
            all
        };
        let described = debug.as_ref().map_or(path, |file| &file.path);
        let described_elf = debug_elf.as_ref().unwrap_or(&elf);
        let (shared, unshared) = match debug_files::shared(described, described_elf) {
            Ok(shared) => (shared, None),
            Err(why) => (None, Some(why)),
        };
        let loader = Loader::new_with_sup(described, shared).or_else(|_| Loader::new(path));
        let missing = debug_files::missing_part(described, described_elf);
        let missing = missing.map(|part| {
            format!(
                "inlined functions of {} are in split debug files, of which {} is not there",
                module.shown(),
                text::path(&part)
            )
        });
        Ok(Symbols {
            bias,
            end: last.wrapping_add(bias),
            segments: pages.iter().map(|page| page.wrapping_add(bias)).collect(),
            loader: loader.ok(),
            variables: places(SymbolKind::Data),
            functions: places(SymbolKind::Text),
            warning: refused.or(unshared).or(missing),
        })
    }
}

/// Where a file has its memory.
struct Memory {
    first: u64,
    /// The end, with what is not in the file.
    last: u64,
    /// Those with which segments begin.
    pages: Vec<u64>,
}

/// The size of a page of x86-64.
const PAGE: u64 = 4096;

fn memory(elf: &Elf<'_>) -> Option<Memory> {
    let endian = elf.endian();
    let loads = || {
        let all = elf.elf_program_headers().iter();
        all.filter(|header| header.p_type(endian) == object::elf::PT_LOAD)
    };
    let first = loads()
        .map(|h| h.p_vaddr(endian) - h.p_offset(endian))
        .next()?;
    let last = loads()
        .map(|h| h.p_vaddr(endian) + h.p_memsz(endian))
        .max()?;
    let pages = loads().map(|h| h.p_vaddr(endian) / PAGE * PAGE).collect();
    Some(Memory { first, last, pages })
}

/// Symbols of a kind. One without a size says nothing about what is behind it: in a stripped
/// file that may be another function. The local ones of a source file come after the symbol that
/// has its name.
fn places(elf: &Elf<'_>, kind: SymbolKind) -> Vec<Place> {
    let mut places = Vec::new();
    let mut source = None;
    for symbol in elf.symbols().chain(elf.dynamic_symbols()) {
        if symbol.kind() == SymbolKind::File {
            source = symbol.name_bytes().ok().and_then(source_name);
        }
        if symbol.kind() != kind || symbol.size() == 0 {
            continue;
        }
        let Ok(name) = symbol.name_bytes() else {
            continue;
        };
        places.push(Place {
            from: symbol.address(),
            to: symbol.address() + symbol.size(),
            name: plain(name),
            source: source.clone().filter(|_| symbol.is_local()),
        });
    }
    places
}

/// None: the linker or link-time optimization made that up.
fn source_name(name: &[u8]) -> Option<Rc<str>> {
    let name = plain(name);
    let name = file_name(&name);
    let made_up = name.is_empty() || name.starts_with('<') || name.contains(".ltrans");
    (!made_up).then(|| name.into())
}

/// What is at `address`, of places that are sorted.
fn at(places: &[Place], address: u64) -> Option<&Place> {
    let candidates = places.partition_point(|place| place.from <= address);
    let mut near = places[..candidates].iter().rev().take(8);
    near.find(|place| address < place.to)
}

/// The functions at `probe`. Where debug information lacks the name of the outermost, as of what
/// is in a split file that is not there, that is `named`.
fn frames_of(loader: &Loader, probe: u64, named: Option<&str>) -> Vec<Frame> {
    let mut frames = Vec::new();
    if let Ok(mut found) = loader.find_frames(probe) {
        while let Ok(Some(frame)) = found.next() {
            let name = frame.function.as_ref();
            let name = name.and_then(|name| Some(plain(demangled(&name.raw_name().ok()?))));
            let line = frame.location.map(|at| {
                let file = plain(file_name(at.file.unwrap_or("?")));
                at.line
                    .map_or(file.clone(), |line| format!("{file}:{line}"))
            });
            if let Some(function) = name.or_else(|| named.map(str::to_owned)) {
                frames.push(Frame {
                    function,
                    line: line.unwrap_or_default(),
                });
            }
        }
    }
    frames
}

/// A name of C++ or Rust as written; a name of C, such as `m`, is none of those.
fn demangled(name: &str) -> String {
    match name.starts_with("_Z") || name.starts_with("_R") {
        true => addr2line::demangle_auto(name.into(), None).into_owned(),
        false => name.to_owned(),
    }
}

fn unnamed(function: String) -> Frame {
    Frame {
        function,
        line: String::new(),
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
