// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Requests for lines: they travel, arrive, are chosen, and done.
//!
//! ```text
//! ask --request--> Arrive --line busy--> pending --Choose--+
//!                    |                                     |
//!                    +-------------- grant <---------------+
//!                                      | the line leaves who has it
//!                                      +--rest of the way--> Done --hold--> free
//! ```
//! The new owner keeps a line for `hold` after `Done`: until then the next
//! request is on its way between the owner and where requests are ordered.

use super::caches::{Kind, Price};
use super::line::{Pending, Rank, NONE};
use super::memory::write;
use super::request::{Agent, Request, PARTS};
use super::state::{Action, Engine, Parked, Store};
use super::time::{float, times, whole};
use super::tree::{Ps, NEVER};
use crate::machine::Distance;
use crate::rules::Rule;

/// How long after a read-modify-write a store may come that was in the CPU's window when it
/// missed: 128 operations (the reorder buffer of Nehalem and Westmere; later ones are larger)
/// at two a cycle of 2.5 GHz.
const WINDOW: Ps = 25_000;

impl Engine {
    /// `agent` sends for `line`, at `time`.
    pub(super) fn ask(&mut self, agent: Agent, line: u32, kind: Kind, time: Ps) {
        self.ask_since(agent, line, kind, time, time);
    }

    /// The same; it did so at `since` already, but only knows it at `time`.
    fn ask_since(&mut self, agent: Agent, line: u32, kind: Kind, since: Ps, time: Ps) {
        let cpu = &mut self.cpus[agent.cpu()];
        let price = self.caches.price(line, cpu.place, kind);
        let at = &mut self.caches.lines[line as usize];
        at.wanted_by(cpu.place);
        let arrived = since + times(price.cost, self.fixed.request);
        cpu.requests[agent.part()] = Some(Request {
            line,
            kind,
            asked: since,
            arrived,
            version: 0,
            changes: at.changes,
        });
        self.prices[usize::from(agent.0)] = price;
        self.plan(agent, Action::Arrive, arrived.max(time));
    }

    pub(super) fn plan(&mut self, agent: Agent, action: Action, time: Ps) {
        self.cpus[agent.cpu()].actions[agent.part()] = action;
        self.tree.set(agent.0.into(), time);
    }

    fn request(&self, agent: Agent) -> Request {
        self.cpus[agent.cpu()].requests[agent.part()].expect("an agent that waits has asked")
    }

    pub(super) fn arrive(&mut self, agent: Agent) {
        let request = self.request(agent);
        let ordered = self.rules.has(Rule::CacheOrder);
        if ordered && self.served_in_cluster(agent, &request) {
            return;
        }
        let line = &mut self.caches.lines[request.line as usize];
        if line.pending.is_empty() && line.free_at <= self.time {
            self.grant(agent, &request, ordered);
            return;
        }
        line.pending.push(Pending {
            arrived: request.arrived,
            rank: Rank::MAX,
            agent: agent.0,
            place: self.cpus[agent.cpu()].place,
            kind: request.kind,
        });
        // The first of those that wait has the line's next choice in its place.
        let free_at = line.free_at.max(self.time);
        let (action, time) = match line.pending.len() {
            1 => (Action::Choose, free_at),
            _ => (Action::Arrive, NEVER),
        };
        self.plan(agent, action, time);
    }

    /// The line of `agent`'s request is free, and several may want it.
    pub(super) fn choose(&mut self, agent: Agent) {
        let line = self.request(agent).line;
        let mut pending = std::mem::take(&mut self.caches.lines[line as usize].pending);
        if pending.len() == 1 {
            pending.clear();
            self.caches.lines[line as usize].pending = pending;
            self.grant(agent, &self.request(agent), false);
            return;
        }
        // Loads that come before the first of the others are served together.
        let mut loads = std::mem::take(&mut self.ranked);
        let mut first = (Rank::MAX, 0);
        for one in &mut pending {
            // It comes no sooner than it arrived.
            let matters = one.arrived <= first.0.due;
            one.rank = if matters {
                self.rank(line, one)
            } else {
                Rank::MAX
            };
            if one.kind != Kind::Load {
                first = first.min((one.rank, one.agent));
            } else if matters {
                loads.push((one.rank, one.agent));
            }
        }
        loads.retain(|&load| load < first);
        if loads.is_empty() {
            loads.push(first);
            pending.retain(|one| one.agent != first.1);
        } else {
            pending.retain(|one| one.kind != Kind::Load || (one.rank, one.agent) >= first);
        }
        loads.sort_unstable();
        for &(_, agent) in &loads {
            self.grant(Agent(agent), &self.request(Agent(agent)), false);
        }
        loads.clear();
        self.ranked = loads;
        self.wait_on(line, pending);
    }

    /// When a request is served.
    fn rank(&self, line: u32, one: &Pending) -> Rank {
        let price = self.caches.price(line, one.place, one.kind);
        let turn = one.arrived + times(price.cost, self.fixed.near_bias);
        let until = self.caches.lines[line as usize].stays;
        let waits = turn < until && !self.caches.in_island(line, one.place);
        let due = if waits { until } else { turn };
        Rank { due, turn }
    }

    /// Puts those that are left behind `line`. The first has its next choice; the others have
    /// nothing planned since they came.
    fn wait_on(&mut self, line: u32, left: Vec<Pending>) {
        let free_at = self.caches.lines[line as usize].free_at.max(self.time);
        if let Some(first) = left.first() {
            self.plan(Agent(first.agent), Action::Choose, free_at);
        }
        self.caches.lines[line as usize].pending = left;
    }

    /// The line is free for `request`, which the cache of its cluster did not serve just now if
    /// that was `tried`.
    fn grant(&mut self, agent: Agent, request: &Request, tried: bool) {
        let (line, kind) = (request.line, request.kind);
        let place = self.cpus[agent.cpu()].place;
        let free_at = self.caches.lines[line as usize].free_at;
        let now = self.time.max(free_at);
        if self.caches.has(line, place, kind) {
            // Its other half, or its neighbour on this CPU, has got it meanwhile.
            self.finish_at(agent, line, now + self.caches.hit(kind));
            return;
        }
        if !tried && self.served_in_cluster(agent, request) {
            return;
        }
        let price = match self.caches.lines[line as usize].changes == request.changes {
            true => self.prices[usize::from(agent.0)],
            false => self.caches.price(line, place, kind),
        };
        let cost = self.vary(price.cost);
        let rest = times(cost, 1.0 - self.fixed.request);
        // One that was asked for early has been on its way since then, if the line was free.
        let under_way = request.arrived.max(free_at).min(now);
        let done = (request.asked + cost).max(under_way + rest).max(now);
        self.tally.moved(&price, self.caches.socket(place));
        if kind == Kind::Load {
            self.grant_load(line, place, &price, (now, done));
        } else {
            let hold = self.hold(kind, cost);
            self.caches.take_away(line);
            let crossed = price.distance == Distance::Controller;
            let at = &mut self.caches.lines[line as usize];
            (at.coming, at.free_at) = (place, done + hold);
            if crossed && self.rules.has(Rule::IslandFirst) {
                at.stays = done + price.cost;
            }
            self.wake_spinners(line, now);
        }
        self.finish_at(agent, line, done);
    }

    /// How long the new owner keeps a line that cost so much.
    fn hold(&mut self, kind: Kind, cost: Ps) -> Ps {
        let hold = match kind {
            Kind::Rmw => float(cost) * self.fixed.hold * self.share(self.fixed.hold_varies),
            _ => float(cost) * self.fixed.store_hold,
        };
        whole(hold).max(self.fixed.hold_min)
    }

    /// A load of a line of which the cluster has a copy, or gets one: done when that is
    /// there, and has served those before.
    #[inline]
    fn served_in_cluster(&mut self, agent: Agent, request: &Request) -> bool {
        let may = request.kind == Kind::Load && self.rules.has(Rule::ClusterFill);
        may && self.load_in_cluster(agent, request)
    }

    fn load_in_cluster(&mut self, agent: Agent, request: &Request) -> bool {
        let line = request.line;
        let place = self.cpus[agent.cpu()].place;
        if self.caches.has(line, place, Kind::Load) {
            return false;
        }
        let ordered = self.rules.has(Rule::CacheOrder);
        let by_line = self.caches.lines[line as usize].free_at;
        let (time, busy) = (self.time, self.fixed.hold_min);
        let Some(fill) = self.caches.fill_of(line, place) else {
            return false;
        };
        let before = if ordered { fill.free_at } else { by_line };
        let now = time.max(fill.ready).max(before);
        fill.free_at = now + busy;
        if !ordered {
            self.caches.lines[line as usize].free_at = now + busy;
        }
        let price = self.caches.price_in_cluster(place);
        let cost = self.vary(price.cost);
        let rest = times(cost, 1.0 - self.fixed.request);
        self.tally.moved(&price, self.caches.socket(place));
        self.finish_at(agent, line, (request.asked + cost).max(now + rest));
        true
    }

    /// Copies of a copy follow each other closely; the first one is a transfer.
    fn grant_load(&mut self, line: u32, place: u16, price: &Price, (now, done): (Ps, Ps)) {
        let owner = self.caches.lines[line as usize].owner;
        let was_alone = owner != NONE;
        self.caches.share(line);
        if was_alone {
            self.caches.fill(line, owner, now);
        }
        if !price.from_memory {
            // A line that comes from memory may stay alone.
            self.caches.fill(line, place, done);
        }
        let at = &mut self.caches.lines[line as usize];
        at.free_at = if was_alone || price.from_memory {
            done
        } else {
            let busy = if price.distance > Distance::Cluster {
                times(price.cost, self.fixed.occupancy)
            } else {
                0
            };
            now + busy.max(self.fixed.hold_min)
        };
    }

    fn finish_at(&mut self, agent: Agent, line: u32, time: Ps) {
        let version = self.caches.lines[line as usize].version;
        if let Some(request) = &mut self.cpus[agent.cpu()].requests[agent.part()] {
            request.version = version;
        }
        self.plan(agent, Action::Done, time);
    }

    fn vary(&mut self, cost: Ps) -> Ps {
        let share = self.share(self.fixed.price_varies);
        times(cost, share)
    }

    /// 1, but for so much up and down.
    fn share(&mut self, varies: f64) -> f64 {
        1.0 + varies * (2.0 * self.random.f64() - 1.0)
    }

    /// The line that `agent` asked for has arrived.
    fn take(&mut self, agent: Agent) -> Request {
        let request = self.request(agent);
        let place = self.cpus[agent.cpu()].place;
        self.cpus[agent.cpu()].requests[agent.part()] = None;
        let line = &self.caches.lines[request.line as usize];
        let untouched = line.owner == NONE && line.copies == 0;
        let still = line.version == request.version;
        let coming = untouched && line.coming == place;
        if self.caches.has(request.line, place, request.kind) {
            return request;
        }
        match request.kind {
            // From memory, with nobody else: alone.
            Kind::Load if untouched && still => self.caches.give_alone(request.line, place),
            Kind::Load if still => self.caches.give_copy(request.line, place),
            // Taken back while it was under way: good for this one load.
            Kind::Load => {}
            _ if coming => self.caches.give_alone(request.line, place),
            // It had the line when that was granted, and has lost it since: a
            // read-modify-write is made, and a store asks again.
            _ => {}
        }
        request
    }

    /// The thread's line has arrived.
    pub(super) fn line_is_here(&mut self, cpu: usize) {
        let request = self.take(Agent::of(cpu, 0));
        let time = self.time;
        let thread = self.cpus[cpu].thread as usize;
        self.threads[thread].tally.transfer(time - request.asked);
        let state = &mut self.cpus[cpu];
        if request.kind == Kind::Rmw {
            state.ahead = (request.asked, time);
        }
        state.actions[0] = Action::Run;
        if state.paused {
            state.rest = Some(0);
            self.tree.set(Agent::of(cpu, 0).0.into(), NEVER);
        } else {
            // A spinner's line was asked for in its place: it looks by itself.
            state.granted = state.parked == Parked::No;
        }
    }

    /// The line of a store has arrived: what is first in the buffer, and has its
    /// line, is visible now.
    pub(super) fn store_done(&mut self, agent: Agent) {
        self.take(agent);
        self.tree.set(agent.0.into(), NEVER);
        self.cpus[agent.cpu()].actions[agent.part()] = Action::Run;
        self.commit_stores(agent.cpu(), self.time);
    }

    /// Stores become visible in their order; their lines are asked for before.
    pub(super) fn commit_stores(&mut self, cpu: usize, time: Ps) {
        let place = self.cpus[cpu].place;
        while let Some(store) = self.cpus[cpu].stores.front() {
            let &Store {
                addr,
                line,
                size,
                value,
            } = store;
            if !self.caches.has(line, place, Kind::Store) {
                break;
            }
            self.cpus[cpu].stores.pop_front();
            if let Some(value) = value {
                write(addr, size, value);
            }
            self.wake_spinners(line, time);
        }
        for oldest in 0..self.cpus[cpu].stores.len().min(PARTS - 1) {
            self.ask_for_store(cpu, oldest, time);
        }
        let state = &mut self.cpus[cpu];
        if state
            .draining
            .is_some_and(|left| state.stores.len() <= left)
        {
            state.draining = None;
            let time = state.now.max(time);
            self.run_at(cpu, time);
        }
    }

    /// Sends for the line of a store, if that is not done and there is room for it.
    fn ask_for_store(&mut self, cpu: usize, which: usize, time: Ps) {
        let place = self.cpus[cpu].place;
        let line = self.cpus[cpu].stores[which].line;
        let requests = &self.cpus[cpu].requests[1..];
        let asked = requests
            .iter()
            .flatten()
            .any(|request| request.line == line);
        if asked || self.caches.has(line, place, Kind::Store) {
            return;
        }
        if let Some(free) = requests.iter().position(Option::is_none) {
            let agent = Agent::of(cpu, 1 + free);
            let (asked, done) = self.cpus[cpu].ahead;
            let since = match time.checked_sub(done) {
                Some(later) if later <= WINDOW && self.rules.has(Rule::EarlyStore) => asked + later,
                _ => time,
            };
            self.ask_since(agent, line, Kind::Store, since, time);
        }
    }

    /// `line` is taken from its spinners: they ask for it again.
    pub(super) fn wake_spinners(&mut self, line: u32, time: Ps) {
        if self.caches.lines[line as usize].waiters.is_empty() {
            return;
        }
        let waiters = self.caches.lines[line as usize].take_waiters();
        for &(cpu, wait) in &waiters {
            let state = &mut self.cpus[usize::from(cpu)];
            if state.parked == Parked::No || state.wait != wait {
                continue;
            }
            let cpu = usize::from(cpu);
            let again = time + self.fixed.respin;
            state.wait += 1;
            state.now = state.now.max(again);
            if state.paused {
                state.rest = Some(0);
            } else if self.caches.has(line, state.place, Kind::Load) {
                self.run_at(cpu, again);
            } else {
                self.ask(Agent::of(cpu, 0), line, Kind::Load, again);
            }
        }
        self.caches.lines[line as usize].reuse(waiters);
    }
}
