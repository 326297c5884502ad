// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The steps of the running thread: each is made once it is the earliest, and
//! again after each wait, until there is a result.

use super::caches::Kind;
use super::memory::{read, write};
use super::request::Agent;
use super::state::{Asked, Engine, Parked, Site, Store, NOBODY};
use super::tree::{Ps, NEVER};
use crate::rules::Rule;

/// A step was made, or the thread has to be suspended and to make it again.
pub(crate) enum Step<T> {
    Made(T),
    Wait,
}

/// What a read-modify-write does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Exchange(u64),
    Add(u64),
    Or(u64),
    AndNot(u64),
    /// If it is the first, the second.
    Compare(u64, u64),
}

/// Quiet rounds after which a spinner is parked: more than any loop of
/// `cpu_relax()` that ends by a count has (`owner_rounds()` is 4).
const QUIET_ROUNDS: u32 = 6;
/// Rounds after which one that counts them looks again.
const COUNTED_ROUNDS: Ps = 64;

impl Engine {
    /// Whether nobody else is earlier than the running CPU; if not, it is planned.
    #[inline]
    pub(super) fn is_first(&mut self) -> bool {
        let cpu = self.current;
        let now = self.cpus[cpu].now;
        let agent = Agent::of(cpu, 0).0.into();
        let earliest = self.tree.would_be_first(agent, now) && self.next_timer > now;
        if earliest {
            self.time = now;
        }
        // One that spins alone would else never come back to where that is looked at.
        let first = earliest && !self.over && self.tally.makes_progress();
        if !first {
            self.tree.set(agent, now);
        }
        first
    }

    /// The running thread has computed ahead: waits until all others are as far. What it tells
    /// of itself then is told in the order of time.
    pub fn catch_up(&mut self) -> Step<()> {
        match self.is_first() {
            true => Step::Made(()),
            false => Step::Wait,
        }
    }

    /// What `cpu` pays for what its own cache serves.
    #[inline]
    fn hit(&mut self, cpu: usize, kind: Kind) -> Ps {
        let hit = self.clocks.scaled(cpu, self.caches.hit(kind));
        let computed = std::mem::take(&mut self.cpus[cpu].computed);
        match kind {
            // Its address was known before: it was made beside what the thread computed.
            Kind::Load if self.rules.has(Rule::EarlyLoad) => hit.saturating_sub(computed),
            _ => hit,
        }
    }

    /// The running CPU waits for its stores until at most `left` are.
    pub(super) fn drain(&mut self, left: usize) -> bool {
        let cpu = self.current;
        if self.cpus[cpu].stores.len() <= left {
            return false;
        }
        self.cpus[cpu].draining = Some(left);
        self.tree.set(Agent::of(cpu, 0).0.into(), NEVER);
        true
    }

    /// The line at `addr` is here; or it has been asked for.
    fn have(&mut self, addr: usize, kind: Kind) -> bool {
        let cpu = self.current;
        let place = self.cpus[cpu].place;
        let line = self.caches.line_of(addr, place);
        if std::mem::take(&mut self.cpus[cpu].granted) {
            self.cpus[cpu].round_hit = false;
            return true;
        }
        if self.caches.has(line, place, kind) {
            let hit = self.hit(cpu, kind);
            let state = &mut self.cpus[cpu];
            state.now += hit;
            state.round.add(line);
            return true;
        }
        let now = self.cpus[cpu].now;
        self.cpus[cpu].computed = 0;
        self.ask(Agent::of(cpu, 0), line, kind, now);
        false
    }

    /// A load of the `size` bytes at `addr`.
    #[inline]
    pub fn load(&mut self, addr: usize, size: u32) -> Step<u64> {
        if self.direct {
            return Step::Made(read(addr, size));
        }
        if !self.is_first() {
            return Step::Wait;
        }
        if !self.cpus[self.current].stores.is_empty() {
            if let Some(step) = self.forward(addr, size) {
                return step;
            }
        }
        if !self.have(addr, Kind::Load) {
            return Step::Wait;
        }
        self.tally.counts.loads += 1;
        self.tally.operation();
        Step::Made(read(addr, size))
    }

    /// A load that its own stores, not visible yet, have to do with.
    fn forward(&mut self, addr: usize, size: u32) -> Option<Step<u64>> {
        let stores = &self.cpus[self.current].stores;
        let store = stores
            .iter()
            .rev()
            .find(|store| store.overlaps(addr, size))?;
        if store.has_all(addr, size) {
            let value = store.value.unwrap_or_else(|| read(addr, size));
            let hit = self.hit(self.current, Kind::Load);
            let cpu = &mut self.cpus[self.current];
            cpu.now += hit;
            cpu.round_hit = false;
            self.tally.counts.loads += 1;
            self.tally.operation();
            return Some(Step::Made(value));
        }
        self.drain(0);
        Some(Step::Wait)
    }

    /// A store.
    pub fn store(&mut self, addr: usize, size: u32, value: u64) -> Step<()> {
        if self.direct {
            write(addr, size, value);
            return Step::Made(());
        }
        if !self.is_first() || self.drain(self.fixed.store_buffer - 1) {
            return Step::Wait;
        }
        self.tally.counts.stores += 1;
        self.tally.operation();
        let cpu = self.current;
        let place = self.cpus[cpu].place;
        let line = self.caches.line_of(addr, place);
        let hit = self.hit(cpu, Kind::Store);
        let state = &mut self.cpus[cpu];
        state.round_hit = false;
        state.now += hit;
        let now = state.now;
        if state.stores.is_empty() && self.caches.has(line, place, Kind::Store) {
            write(addr, size, value);
            self.wake_spinners(line, now);
            return Step::Made(());
        }
        state.stores.push_back(Store {
            addr,
            line,
            size,
            value: Some(value),
        });
        self.commit_stores(cpu, now);
        Step::Made(())
    }

    /// A read-modify-write: what was there.
    pub fn rmw(&mut self, addr: usize, size: u32, change: Change) -> Step<u64> {
        if !self.is_first() || self.drain(0) || !self.have(addr, Kind::Rmw) {
            return Step::Wait;
        }
        self.tally.counts.rmws += 1;
        self.tally.operation();
        self.cpus[self.current].round_hit = false;
        let mask = u64::MAX >> (64 - 8 * size);
        let old = read(addr, size);
        let new = match change {
            Change::Exchange(value) => value,
            Change::Add(value) => old.wrapping_add(value),
            Change::Or(bits) => old | bits,
            Change::AndNot(bits) => old & !bits,
            Change::Compare(want, value) if old == want & mask => value,
            Change::Compare(..) => return Step::Made(old),
        };
        write(addr, size, new & mask);
        let line = self.caches.line_of(addr, self.cpus[self.current].place);
        self.wake_spinners(line, self.time);
        Step::Made(old)
    }

    /// The running thread uses a resource, whose server takes `time` for it: how long until
    /// that is over.
    pub fn use_resource(&mut self, resource: usize, time: Ps) -> Step<Ps> {
        if !self.is_first() {
            return Step::Wait;
        }
        let (now, node) = (self.now(), self.caches.node(self.cpus[self.current].place));
        let end = self.resources.serve(resource, node.into(), now, time);
        Step::Made(end - now)
    }

    /// A full fence.
    pub fn fence(&mut self) -> Step<()> {
        if !self.is_first() || self.drain(0) {
            return Step::Wait;
        }
        let fence = self.clocks.scaled(self.current, self.fixed.fence);
        let cpu = &mut self.cpus[self.current];
        cpu.now += fence;
        cpu.computed = 0;
        Step::Made(())
    }

    /// A pause. True: the thread is parked, and has to be suspended once.
    pub fn relax(&mut self, counted: bool, site: *const Site) -> bool {
        let relax = self.clocks.scaled(self.current, self.fixed.relax);
        let leaves = self.leaves();
        let cpu = &mut self.cpus[self.current];
        cpu.now += relax;
        cpu.computed = 0;
        cpu.site = site;
        let quiet = cpu.round_hit && cpu.round.can_wait();
        cpu.quiet = if quiet { cpu.quiet + 1 } else { 0 };
        let park = cpu.quiet >= QUIET_ROUNDS && !leaves;
        let round = std::mem::take(&mut cpu.round);
        let asked = cpu.asked.take();
        cpu.round_hit = true;
        let parked = park && self.park(round.lines(), Parked::Relax);
        if parked && counted {
            let until = self.cpus[self.current].now + COUNTED_ROUNDS * relax;
            self.tree.set(Agent::of(self.current, 0).0.into(), until);
        }
        if parked && asked.is_some() {
            self.cpus[self.current].asked = asked;
            self.askers.push(self.current as u32);
        }
        parked
    }

    /// The thread has just seen a value at `addr` that is not what it waits for.
    /// True: it is parked, and has to be suspended once.
    pub fn wait_line(&mut self, addr: usize, site: *const Site) -> bool {
        let place = self.cpus[self.current].place;
        let line = self.caches.line_of(addr, place);
        let cpu = &mut self.cpus[self.current];
        cpu.site = site;
        cpu.round.clear();
        if !self.leaves() && self.park(&[line], Parked::Line) {
            return true;
        }
        self.cpus[self.current].now += self.clocks.scaled(self.current, self.fixed.relax);
        false
    }

    /// Whether the running thread loses its CPU as soon as it waits: then it is not parked.
    fn leaves(&self) -> bool {
        self.cpus[self.current].resched && !self.threads[self.running].keeps_cpu()
    }

    /// Waits until one of `lines` is taken away; false: that has happened.
    fn park(&mut self, lines: &[u32], parked: Parked) -> bool {
        let cpu = self.current;
        let place = self.cpus[cpu].place;
        let has = |&line: &u32| self.caches.has(line, place, Kind::Load);
        if !lines.iter().all(has) {
            return false;
        }
        let state = &mut self.cpus[cpu];
        state.wait += 1;
        state.parked = parked;
        for &line in lines {
            self.caches.lines[line as usize].add_waiter(cpu as u16, state.wait);
        }
        self.tree.set(Agent::of(cpu, 0).0.into(), NEVER);
        true
    }

    /// The time since `then`, in pauses.
    pub fn pauses_since(&self, then: Ps) -> u32 {
        let relax = self.clocks.scaled(self.current, self.fixed.relax);
        ((self.now() - then) / relax.max(1)) as u32
    }

    /// The spinner on `cpu` looks again now, if it waits for nothing but a change.
    pub(super) fn look_again(&mut self, cpu: usize) {
        let state = &mut self.cpus[cpu];
        let waits = state.parked != Parked::No && state.thread != NOBODY;
        if !waits || state.requests[0].is_some() {
            return;
        }
        state.wait += 1;
        state.quiet = 0;
        let time = state.now.max(self.time);
        self.run_at(cpu, time);
    }

    /// What spinners asked about has changed: they look again.
    pub(super) fn changed(&mut self, what: Asked) {
        if self.askers.is_empty() {
            return;
        }
        let askers = std::mem::take(&mut self.askers);
        for cpu in askers {
            let state = &self.cpus[cpu as usize];
            if state.parked != Parked::Relax || state.asked.is_none() {
                continue;
            }
            if state.asked == Some(what) {
                self.look_again(cpu as usize);
            } else {
                self.askers.push(cpu);
            }
        }
    }

    /// Whether the thread should leave its CPU.
    pub fn need_resched(&self) -> bool {
        self.cpus[self.current].resched
    }

    /// Notes that the running thread looks at the state of `what`.
    fn asks(&mut self, what: Asked) {
        self.cpus[self.current].asked = Some(what);
    }

    /// Whether the holder that left `owner` is off its CPU.
    pub fn owner_is_preempted(&mut self, owner: u32) -> bool {
        self.asks(Asked::Thread(owner));
        let known = (owner as usize) < self.threads.len();
        known && !self.is_running(owner as usize)
    }

    /// Whether `cpu` is virtual and has lost its real one.
    pub fn vcpu_is_preempted(&mut self, cpu: u32) -> bool {
        if self.guests.is_none() {
            return false;
        }
        self.asks(Asked::Cpu(cpu));
        let state = self.cpus.get(cpu as usize);
        state.is_some_and(|state| state.paused && !state.halted)
    }
}
