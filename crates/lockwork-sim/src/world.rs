// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks, compiled against the sim world.
//!
//! They are a shared object inside this program, loaded once by each OS thread
//! that simulates: what the locks keep in static memory is then each thread's own.

use crate::calls::{Calls, CALLS};
use crate::knobs::{Knob, Setting};
use anyhow::{anyhow, bail, Context, Result};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use object::{Object, ObjectSection, ObjectSymbol};
use rustix::fs::{memfd_create, MemfdFlags};
use std::cell::OnceCell;
use std::ffi::{c_char, c_void, CStr};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/lockwork_sim_world.so"));

/// The entries of the C tables, made from their headers by the build script.
mod mirrors {
    include!(concat!(env!("OUT_DIR"), "/mirrors.rs"));
}
pub(crate) use mirrors::{Condition, Ops};
use mirrors::{RawEvent, RawKnob, LK_CLUSTERS, LK_SLEEPS};

impl Ops {
    /// What users type.
    pub fn name(&self) -> &'static str {
        text(self.name)
    }

    /// One line.
    pub fn summary(&self) -> &'static str {
        text(self.summary)
    }

    /// Waiters leave the CPU.
    pub fn sleeps(&self) -> bool {
        self.flags & LK_SLEEPS != 0
    }

    /// It serves waiters by clusters of CPUs.
    pub fn needs_clusters(&self) -> bool {
        self.flags & LK_CLUSTERS != 0
    }

    /// Waiters leave the queue when their CPU is wanted: they must be able to.
    pub fn may_leave(&self) -> bool {
        self.attempt.is_some()
    }

    /// It has shared acquisitions.
    pub fn is_rw(&self) -> bool {
        self.read_lock.is_some()
    }
}

impl RawKnob {
    fn described(&self) -> Knob {
        let words = (!self.words.is_null()).then(|| text(self.words));
        Knob {
            name: text(self.name),
            help: text(self.help),
            words: words.map_or_else(Vec::new, |words| words.split(',').collect()),
            min: self.min,
            max: self.max,
            default: self.dflt,
        }
    }
}

fn text(text: *const c_char) -> &'static str {
    // SAFETY: a string constant of the world, which is never unloaded.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
}

/// This OS thread's copy of the locks.
pub(crate) struct World {
    locks: Vec<&'static Ops>,
    baselines: Vec<&'static Ops>,
    knobs: Vec<&'static RawKnob>,
    events: Vec<&'static str>,
    divided: unsafe extern "C" fn() -> u32,
    /// Condition variables, for programs.
    pub condition: &'static Condition,
    /// Writable memory of the locks: address, and what was there at first.
    data: Vec<(usize, Vec<u8>)>,
    zeros: Vec<(usize, usize)>,
}

thread_local! {
    static WORLD: OnceCell<World> = const { OnceCell::new() };
}

/// The world of this OS thread, loaded if need be.
///
/// # Errors
/// It cannot be loaded.
pub(crate) fn with<R>(f: impl FnOnce(&World) -> R) -> Result<R> {
    WORLD.with(|cell| {
        if cell.get().is_none() {
            let world = World::load().context(
                "cannot load the simulated locks; is memory that can be executed forbidden here?",
            )?;
            let _ = cell.set(world);
        }
        Ok(f(cell.get().ok_or_else(|| anyhow!("no world"))?))
    })
}

impl World {
    fn load() -> Result<World> {
        let file = in_memory()?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // SAFETY: its constructors do nothing (platform/plain.h).
        let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) }?;
        // SAFETY: no symbol is used as anything but an address here.
        let address = |name| unsafe {
            library
                .get::<*const c_void>(name)
                .map(|found| found.into_raw())
        };
        let calls = address(b"lws\0")?.cast::<Calls>();
        let catalogue = address(b"lk_catalogue\0")?.cast::<*const Ops>();
        let baselines = address(b"lk_baselines\0")?.cast::<*const Ops>();
        let knobs = address(b"lk_knobs\0")?.cast::<RawKnob>();
        let events = address(b"lk_events\0")?.cast::<RawEvent>();
        let condition = address(b"lws_condition\0")?.cast::<Condition>();
        // SAFETY: locks/numa_pool.c defines it so.
        let divided =
            *unsafe { library.get::<unsafe extern "C" fn() -> u32>(b"lk_numa_osq_divided\0") }?;
        // SAFETY: platform/sim/world.c defines it so.
        unsafe { calls.write(CALLS) };
        // It is never unloaded. The file stays open, because the loader takes
        // what has the same path for the same object.
        std::mem::forget(library);
        std::mem::forget(file);
        // SAFETY: both lists end with a null pointer.
        let [locks, baselines] = [catalogue, baselines].map(|list| {
            let all = (0..).map_while(|i| unsafe { (*list.add(i)).as_ref() });
            all.collect::<Vec<&'static Ops>>()
        });
        // SAFETY: platform/knobs.c ends them with one whose name is null.
        let knobs = (0..).map_while(|i| {
            let knob: &'static RawKnob = unsafe { &*knobs.add(i) };
            (!knob.name.is_null()).then_some(knob)
        });
        let count = size_of_symbol("lk_events")? / std::mem::size_of::<RawEvent>();
        // SAFETY: the object says how long platform/events.c made the table.
        let events = unsafe { std::slice::from_raw_parts(events, count) };
        let (data, zeros) = memory(calls as usize)?;
        Ok(World {
            locks,
            baselines,
            knobs: knobs.collect(),
            events: events.iter().map(|event| text(event.name)).collect(),
            divided,
            // SAFETY: program/condition.c defines it so.
            condition: unsafe { &*condition },
            data,
            zeros,
        })
    }

    /// All locks of the catalogue, in its order, and after them the baselines.
    pub fn locks(&self) -> impl Iterator<Item = &'static Ops> + '_ {
        self.locks.iter().chain(&self.baselines).copied()
    }

    /// The lock of that name, which is one of them.
    pub fn named(&self, name: &str) -> &'static Ops {
        let found = self.locks().find(|ops| ops.name() == name);
        found.expect("the setup was looked at before")
    }

    /// Whether a lock is only here to be compared with.
    pub fn is_baseline(&self, ops: &Ops) -> bool {
        self.baselines.iter().any(|known| std::ptr::eq(*known, ops))
    }

    /// All knobs, in the order of their table.
    pub fn knobs(&self) -> impl Iterator<Item = Knob> + '_ {
        self.knobs.iter().map(|knob| knob.described())
    }

    /// The names of all events, in the order of their table.
    pub fn events(&self) -> &[&'static str] {
        &self.events
    }

    /// Locks that are divided by clusters now. Called in a simulation, when accesses
    /// go to memory directly.
    pub fn divided(&self) -> u32 {
        // SAFETY: it reads the locks' memory; no simulated thread runs meanwhile.
        unsafe { (self.divided)() }
    }

    /// Sets a knob until the next [`World::reset`].
    ///
    /// # Errors
    /// There is no such knob, or it does not take the value.
    pub fn set(&self, setting: Setting) -> Result<()> {
        let takes = |knob: &&&RawKnob| (knob.min..=knob.max).contains(&setting.value);
        let Some(knob) = self.knob(setting.knob).filter(takes) else {
            bail!("no knob {} takes the value {}", setting.knob, setting.value);
        };
        // SAFETY: a variable of the world; no simulation runs.
        unsafe { knob.value.write(setting.value) };
        Ok(())
    }

    fn knob(&self, name: &str) -> Option<&&RawKnob> {
        self.knobs.iter().find(|knob| text(knob.name) == name)
    }

    /// What a knob is now.
    #[cfg(test)]
    pub fn value(&self, name: &str) -> Option<u32> {
        // SAFETY: as above.
        self.knob(name).map(|knob| unsafe { knob.value.read() })
    }

    /// Makes the locks' memory as it was at first.
    pub fn reset(&self) {
        for (addr, bytes) in &self.data {
            // SAFETY: writable memory of the object; no simulation runs.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), *addr as *mut u8, bytes.len()) };
        }
        for &(addr, len) in &self.zeros {
            // SAFETY: as above.
            unsafe { std::ptr::write_bytes(addr as *mut u8, 0, len) };
        }
    }
}

fn in_memory() -> io::Result<File> {
    let name = "lockwork-sim-world";
    let flags = MemfdFlags::CLOEXEC;
    // Linux 6.3 wants to be told; before, it was always so, and no flag for it.
    let fd = memfd_create(name, flags | MemfdFlags::EXEC).or_else(|_| memfd_create(name, flags));
    let mut file = File::from(fd?);
    file.write_all(OBJECT)?;
    Ok(file)
}

/// How many bytes of the object are the symbol's.
fn size_of_symbol(name: &str) -> Result<usize> {
    let file = object::File::parse(OBJECT)?;
    let mut symbols = file.dynamic_symbols();
    let symbol = symbols.find(|symbol| symbol.name() == Ok(name));
    let symbol = symbol.with_context(|| format!("the object has no {name}"))?;
    Ok(symbol.size() as usize)
}

/// Address and content of `.data`, addresses and sizes of `.bss`: where the loader
/// has put them is known from `lws`.
#[allow(clippy::type_complexity)]
fn memory(calls: usize) -> Result<(Vec<(usize, Vec<u8>)>, Vec<(usize, usize)>)> {
    let file = object::File::parse(OBJECT)?;
    let mut symbols = file.dynamic_symbols();
    let symbol = symbols.find(|symbol| symbol.name() == Ok("lws"));
    let base = calls - symbol.context("the object has no lws")?.address() as usize;
    let (mut data, mut zeros) = (Vec::new(), Vec::new());
    for section in file.sections() {
        let (addr, size) = (base + section.address() as usize, section.size() as usize);
        match section.name()? {
            ".data" => {
                // SAFETY: a section of an object that is loaded.
                let bytes = unsafe { std::slice::from_raw_parts(addr as *const u8, size) };
                data.push((addr, bytes.to_vec()));
            }
            ".bss" => {
                // `lws` itself keeps its value.
                let end = calls + std::mem::size_of::<Calls>();
                zeros.push((addr, calls.saturating_sub(addr)));
                zeros.push((end, (addr + size).saturating_sub(end)));
            }
            _ => {}
        }
    }
    Ok((data, zeros))
}
