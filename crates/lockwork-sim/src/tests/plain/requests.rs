// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What becomes of requests: "A request" of docs/sim.md.

use super::line::{State, Who};
use super::state::{Plain, Request, What};
use crate::engine::caches::{ps, Kind};
use crate::engine::Ps;
use crate::rules::Rule;

impl Plain<'_> {
    fn share(&self, of: Ps, share: f64) -> Ps {
        (of as f64 * share) as Ps
    }

    /// `who` asks at `asked`, and knows it at `now`.
    pub fn ask(&mut self, who: Who, line: usize, kind: Kind, asked: Ps, now: Ps) {
        let price = self.prices.price(&self.lines[&line], who.0, kind);
        let at = self.line(line, who.0);
        at.only = at.only.filter(|&only| only == who.0);
        let travel = self.share(price.cost, self.prices.machine.line.request);
        let request = Request {
            line,
            kind,
            asked,
            arrived: asked + travel,
            granted: false,
            taken_back: false,
        };
        self.requests.insert(who, request);
        self.plan(request.arrived.max(now), who, What::Arrive);
    }

    pub fn arrive(&mut self, who: Who) {
        let line = self.requests[&who].line;
        if self.rules.has(Rule::CacheOrder) && self.cluster_serves(who) {
            return;
        }
        let time = self.time;
        let at = self.line(line, who.0);
        if at.waiting.is_empty() && at.free_at <= time {
            self.grant(who);
            return;
        }
        at.waiting.push(who);
        if at.waiting.len() == 1 {
            self.plan_choice(line);
        }
    }

    fn plan_choice(&mut self, line: usize) {
        let at = &self.lines[&line];
        if let Some(&first) = at.waiting.first() {
            self.plan(at.free_at.max(self.time), first, What::Choose(line));
        }
    }

    /// The first by arrival and price; with a load, all loads before the first of the others.
    pub fn choose(&mut self, line: usize) {
        let at = &self.lines[&line];
        let bias = self.prices.machine.line.near_bias;
        let rank = |&who: &Who| {
            let request = &self.requests[&who];
            let price = self.prices.price(at, who.0, request.kind);
            let turn = request.arrived + self.share(price.cost, bias);
            let waits = !self.prices.in_island(at, who.0);
            (if waits { turn.max(at.stays) } else { turn }, turn, who)
        };
        let mut ranked: Vec<(Ps, Ps, Who)> = at.waiting.iter().map(rank).collect();
        ranked.sort_unstable();
        let loads = |ranked: &&(Ps, Ps, Who)| self.requests[&ranked.2].kind == Kind::Load;
        let together = ranked.iter().take_while(loads).count();
        let chosen: Vec<Who> = ranked.iter().map(|ranked| ranked.2).collect();
        let chosen = &chosen[..together.max(1)];
        let at = self.line(line, chosen[0].0);
        at.waiting.retain(|who| !chosen.contains(who));
        for &who in chosen {
            self.grant(who);
        }
        self.plan_choice(line);
    }

    fn grant(&mut self, who: Who) {
        let (cpu, request) = (who.0, self.requests[&who]);
        let (line, kind) = (request.line, request.kind);
        let free_at = self.lines[&line].free_at;
        let now = self.time.max(free_at);
        if self.serves(line, cpu, kind) {
            self.plan_done(who, now + self.prices.own(kind));
            return;
        }
        if self.cluster_serves(who) {
            return;
        }
        let price = self.prices.price(&self.lines[&line], cpu, kind);
        let costs = self.prices.machine.line;
        let cost = self.vary(price.cost, 0.05);
        // One that was asked for early may have got it before it was known.
        let got = request.arrived.max(free_at).min(now);
        let rest = self.share(cost, 1.0 - costs.request);
        let done = (request.asked + cost).max(got + rest).max(now);
        let min = ps(costs.hold_min);
        if kind != Kind::Load {
            let hold = match kind {
                Kind::Rmw => self.vary_hold(cost),
                _ => self.share(cost, costs.store_hold),
            };
            self.take(line, cpu, now);
            let stays = price.over_controller && self.rules.has(Rule::IslandFirst);
            let at = self.line(line, cpu);
            at.free_at = done + hold.max(min);
            if stays {
                at.stays = done + price.cost;
            }
        } else if let State::Alone(owner) = self.lines[&line].state {
            let at = self.line(line, cpu);
            let mut all = std::mem::take(&mut at.beside);
            all.insert(owner);
            at.state = State::Copies(all);
            self.shared_by(line, owner, now);
            self.shared_by(line, cpu, done);
            self.line(line, cpu).free_at = done;
        } else if price.from_memory {
            self.line(line, cpu).free_at = done;
        } else {
            let busy = match price.from_far {
                true => self.share(price.cost, costs.occupancy),
                false => 0,
            };
            self.shared_by(line, cpu, done);
            self.line(line, cpu).free_at = now + busy.max(min);
        }
        self.plan_done(who, done);
    }

    fn plan_done(&mut self, who: Who, done: Ps) {
        self.requests.get_mut(&who).expect("a request").granted = true;
        self.plan(done, who, What::Done);
    }

    /// The cluster of `cpu` has a copy from `ready` on.
    fn shared_by(&mut self, line: usize, cpu: usize, ready: Ps) {
        let cluster = self.prices.place(cpu).cluster;
        let shared = &mut self.line(line, cpu).shared;
        shared.entry(cluster).or_insert((ready, 0));
    }

    /// A load of a line that is shared, and that its cluster has, or is about to get.
    fn cluster_serves(&mut self, who: Who) -> bool {
        let (cpu, request) = (who.0, self.requests[&who]);
        if request.kind != Kind::Load || !self.rules.has(Rule::ClusterFill) {
            return false;
        }
        let cluster = self.prices.place(cpu).cluster;
        let min = ps(self.prices.machine.line.hold_min);
        let by_cache = self.rules.has(Rule::CacheOrder);
        let time = self.time;
        let at = self.line(request.line, cpu);
        let there = at.shared.get(&cluster).copied();
        let Some((ready, next)) = there.filter(|_| !at.serves(cpu, Kind::Load)) else {
            return false;
        };
        let next = if by_cache { next } else { at.free_at };
        let got = time.max(ready).max(next);
        at.shared.insert(cluster, (ready, got + min));
        if !by_cache {
            at.free_at = got + min;
        }
        let cost = self.vary(self.prices.in_cluster(), 0.05);
        let rest = self.share(cost, 1.0 - self.prices.machine.line.request);
        self.plan_done(who, (request.asked + cost).max(got + rest));
        true
    }

    /// `line` is taken from all who have it, and from those to whom a copy is under way.
    fn take(&mut self, line: usize, by: usize, now: Ps) {
        let at = self.line(line, by);
        at.state = State::Coming(by);
        at.beside.clear();
        at.shared.clear();
        for request in self.requests.values_mut() {
            request.taken_back |= request.granted && request.line == line;
        }
        self.wake_spinners(line, now);
    }

    /// What `who` asked for is here.
    pub fn done(&mut self, who: Who) {
        let request = self.requests.remove(&who).expect("a request");
        let (cpu, line) = (who.0, request.line);
        if !self.serves(line, cpu, request.kind) {
            let at = self.line(line, cpu);
            match (&mut at.state, request.kind) {
                (State::Coming(to), Kind::Store | Kind::Rmw) if *to == cpu => {
                    at.state = State::Alone(cpu);
                }
                // It had the line when that was granted: good for this one access.
                (_, Kind::Store | Kind::Rmw) => {}
                (_, Kind::Load) if request.taken_back => {}
                (State::Nowhere, Kind::Load) => at.state = State::Alone(cpu),
                (State::Copies(all), Kind::Load) => {
                    all.insert(cpu);
                }
                (State::Alone(_), Kind::Load) => {
                    at.beside.insert(cpu);
                }
                (State::Coming(_), Kind::Load) => unreachable!("it was taken back"),
            }
        }
        match who.1 {
            0 => self.thread_goes_on(cpu, request),
            _ => self.commit(cpu, self.time),
        }
    }

    fn vary(&mut self, cost: Ps, by: f64) -> Ps {
        let chance = self.random.f64();
        match self.chance {
            true => self.share(cost, 1.0 + by * (2.0 * chance - 1.0)),
            false => cost,
        }
    }

    fn vary_hold(&mut self, cost: Ps) -> Ps {
        let hold = cost as f64 * self.prices.machine.line.hold;
        let chance = self.random.f64();
        match self.chance {
            true => (hold * (0.5 + chance)) as Ps,
            false => hold as Ps,
        }
    }
}
