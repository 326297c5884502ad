// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A workload with one lock: think, lock, section, unlock, and again.

use super::guarded::{Guarded, Nesting, LINE};
use super::outside::{sleep, Chance};
use crate::calls;
use crate::engine::caches::ps;
use crate::memory::{Layout, Memory, PAGE};
use crate::setup::Setup;
use crate::workload::Workload;
use crate::world::Ops;
use std::ffi::c_void;

/// The bits of the locks' hash of addresses that choose an entry, all of its bits, and its factor:
/// locks/kick.h.
const KICK_BITS: u32 = 8;
const KICK_ALL_BITS: u32 = 55;
const KICK_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
/// Entries of that table that share a line, and one more: hashes that are so far apart never
/// do, wherever the memory is.
const APART: u64 = 9;

/// The virtual machines, or the one machine that there is.
pub(crate) struct Machines {
    vms: Vec<OneLock>,
    _memory: Memory,
}

impl Machines {
    /// Locks and their data, new.
    pub fn new(setup: &Setup, ops: &'static Ops) -> Self {
        let vms = setup.vms();
        let workload = &setup.workload;
        let threads = setup.threads.div_ceil(vms);
        let mut layout = Layout::default();
        let (size, lines) = (ops.size as usize, workload.lines as usize * LINE);
        let (lock, data) = match workload.embedded {
            true => {
                let after = size.next_multiple_of(8);
                let lock = layout.take(after + lines, PAGE);
                (lock, lock + after)
            }
            false => (layout.take(size, PAGE), layout.take(lines, PAGE)),
        };
        let entries = layout.take(threads * workload.entry_bytes as usize, PAGE);
        let stride = stride(layout.bytes, vms);
        let memory = Memory::new((vms - 1) * stride + layout.bytes);
        let one = |vm| {
            let at = |offset| memory.at(vm * stride + offset);
            let places = (at(lock), at(data));
            OneLock {
                lock: Guarded::new(ops, places, workload.lines, vm, workload.preemptible),
                workload: (*workload).clone(),
                threads: (vm..setup.threads).step_by(vms).len() as f64,
                vms,
                call: ps(setup.machine.cpu.call),
                entries: at(entries),
            }
        };
        Machines {
            vms: (0..vms).map(one).collect(),
            _memory: memory,
        }
    }

    /// Initialises the locks.
    pub fn init(&self) {
        self.vms.iter().for_each(|vm| vm.lock.init());
    }

    /// Runs a thread.
    pub fn run(&self, thread: usize, chance: &mut Chance) {
        self.vms[thread % self.vms.len()].run(chance);
    }
}

/// Of an address, or of the distance of two of them: that of the distance is the difference of theirs.
fn kick_hash(address: usize) -> u64 {
    (address as u64 >> 2).wrapping_mul(KICK_FACTOR) & ((1 << KICK_ALL_BITS) - 1)
}

/// How far apart the memory of virtual machines is that need so many bytes. Each real guest has
/// a table of halted waiters of its own. Here all share one, in which a lock's entry depends on
/// its address: locks are so far apart that their entries share no line of it.
fn stride(bytes: usize, vms: usize) -> usize {
    let apart = |stride: &usize| {
        let far = |vms: usize| {
            let hash = kick_hash(vms * stride);
            hash.min((1 << KICK_ALL_BITS) - hash) >> (KICK_ALL_BITS - KICK_BITS) >= APART
        };
        (1..vms).all(far)
    };
    let least = bytes.next_multiple_of(PAGE).max(PAGE);
    let mut all = (least..).step_by(PAGE);
    all.find(apart).expect("some multiple of a page will do")
}

/// A lock, and what the threads that use it share.
struct OneLock {
    lock: Guarded,
    workload: Workload,
    /// How many these are; and of how many virtual machines theirs is one.
    threads: f64,
    vms: usize,
    call: u64,
    /// Where the threads' entries begin.
    entries: *mut c_void,
}

impl OneLock {
    /// A thread's own entry.
    fn entry(&self, thread: usize) -> *mut c_void {
        let bytes = self.workload.entry_bytes as usize;
        // SAFETY: there is room for as many entries as there are threads.
        unsafe {
            self.entries
                .cast::<u8>()
                .add(thread / self.vms * bytes)
                .cast()
        }
    }

    /// Runs a thread.
    fn run(&self, chance: &mut Chance) {
        let mut loops = 0;
        while self.workload.loops.is_none_or(|limit| loops < limit) {
            self.once(chance);
            loops += 1;
        }
    }

    fn once(&self, chance: &mut Chance) {
        let workload = &self.workload;
        let shared = workload.reads > 0.0 && chance.share() < workload.reads;
        calls::work(chance.work(&workload.think));
        if let Some(length) = &workload.sleep {
            sleep(chance.time(length));
        }
        let mut nesting = Nesting::default();
        self.lock.take(&mut nesting, shared, self.call);
        self.section(chance, shared);
        #[cfg(test)]
        if crate::tests::forgets() {
            return;
        }
        self.lock.give_back(&mut nesting, shared);
    }

    fn section(&self, chance: &mut Chance, shared: bool) {
        let workload = &self.workload;
        self.lock.use_data(shared);
        if workload.entry_bytes > 0 {
            let entry = self.entry(calls::with(|engine| engine.thread()));
            let value = calls::load(entry, 8);
            calls::store(entry, 8, value + 1);
        }
        let length = if shared {
            &workload.read_section
        } else {
            &workload.section
        };
        calls::work(chance.work(length));
        for (one_in, ns) in workload.long_hold.into_iter().chain(workload.short_hold) {
            if chance.share() * one_in * self.threads < 1.0 {
                // A busy wait by a clock that always runs alike.
                calls::delay(ps(ns));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_machines_share_no_line_of_the_table_of_halted_waiters() {
        let line = |lock: usize| kick_hash(lock) >> (KICK_ALL_BITS - KICK_BITS + 3);
        for vms in 2..=16 {
            for bytes in [100, 3 * PAGE, 50 * PAGE + 1] {
                let stride = stride(bytes, vms);
                assert!(stride >= bytes && stride % PAGE == 0, "{stride}");
                // Wherever the first one is.
                for first in (0..4000).map(|page| page * PAGE) {
                    let mut lines: Vec<u64> =
                        (0..vms).map(|vm| line(first + vm * stride)).collect();
                    lines.sort_unstable();
                    lines.dedup();
                    assert_eq!(lines.len(), vms, "{stride} bytes apart");
                }
            }
        }
    }

    #[test]
    fn the_hash_is_that_of_the_locks() {
        let text = include_str!("../../../../locks/kick.h");
        assert!(text.contains(&format!("LK_KICK_BITS {KICK_BITS}")));
        assert!(text.contains(&format!("{KICK_FACTOR:#x}ull")));
        assert!(text.contains(&format!("((1ull << {KICK_ALL_BITS}) - 1)")));
        assert!(text.contains("address_of(lock) >> 2;"));
    }
}
