// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! When the measured time begins, and when it is over.

use super::measured::Mark;
use super::state::{Engine, Thread, Timer};
use super::tree::{Ps, NEVER};
use crate::settle::{judge, Threads, Verdict, BATCHES, ROUNDS};
use std::cmp::Reverse;

/// Times that the measured time is lengthened, at most: with these it is a thousand times
/// as long as the workload says.
const MOST_TIMES: u32 = 10;

impl Engine {
    /// What was so far was warm-up.
    pub(super) fn begin_measuring(&mut self) {
        let time = self.time;
        self.tally.restart(time);
        self.resources.restart(time);
        for thread in &mut self.threads {
            thread.tally.restart(time);
        }
        self.measured.before = self.tally.operations();
        self.measured.marks = vec![self.mark()];
        self.set_timer(self.measured.next(), Timer::Batch);
    }

    fn mark(&self) -> Mark {
        let time = self.time;
        let threads = || self.threads.iter().map(|thread| &thread.tally);
        Mark {
            time,
            acquisitions: threads().map(|of| of.acquisitions).sum(),
            in_lock: self.tally.in_lock + threads().map(|of| of.unfinished(time)).sum::<Ps>(),
            busy: threads().map(|of| of.busy_until(time)).sum(),
            rounds: self.rounds(),
            queues: self.tally.queues.clone(),
        }
    }

    /// By role: the rounds of its threads so far.
    fn rounds(&self) -> Vec<u64> {
        let roles = &self.measured.roles;
        let mut rounds = vec![0; roles.iter().max().map_or(0, |last| last + 1)];
        for (role, thread) in roles.iter().zip(&self.threads) {
            rounds[*role] += thread.tally.rounds;
        }
        rounds
    }

    /// A part of the measured time is over.
    pub(super) fn batch_is_over(&mut self) {
        let wakes = |timer: &Reverse<(Ps, u64, Timer)>| self.lets_run(&timer.0 .2);
        if self.tree.first().1 == NEVER && !self.timers.iter().any(wakes) {
            // Nobody will run again: it is not the time that ends it.
            self.timers.clear();
            self.next_timer = NEVER;
            return;
        }
        let mark = self.mark();
        self.measured.marks.push(mark);
        if self.measured.marks.len() <= BATCHES {
            self.set_timer(self.measured.next(), Timer::Batch);
            return;
        }
        let verdict = judge(
            &self.measured.batches(),
            &self.turns(),
            &self.measured.parts(),
        );
        self.measured.verdict = Some(verdict);
        let of_this = self.tally.operations() - self.measured.before;
        match verdict {
            Verdict::Drifts if self.may_go_on(2 * of_this) => {
                self.measured.length *= 2;
                self.begin_measuring();
            }
            Verdict::Short if self.may_go_on(of_this) => {
                // Two batches become one.
                let mut at = 0;
                self.measured.marks.retain(|_| {
                    at += 1;
                    at % 2 == 1
                });
                self.measured.length *= 2;
                self.set_timer(self.measured.next(), Timer::Batch);
            }
            _ => self.over = true,
        }
    }

    /// Which threads have gone round in the measured time, and how long their turns take.
    fn turns(&self) -> Threads {
        let went_round = |thread: &&Thread| thread.tally.acquisitions >= ROUNDS;
        Threads {
            all: self.threads.len(),
            went_round: self.threads.iter().filter(went_round).count(),
            two_turns: self.measured.two_turns as f64 / 1000.0,
        }
    }

    /// Whether somebody may run because of it who would not without it.
    fn lets_run(&self, timer: &Timer) -> bool {
        let real = |place: u16| Some(&self.guests.as_ref()?.real[usize::from(place)]);
        match *timer {
            Timer::Measure | Timer::Batch => false,
            Timer::Slice(cpu) => !self.cpus[cpu as usize].ready.is_empty(),
            Timer::GuestSlice(place) => real(place).is_some_and(|real| !real.ready.is_empty()),
            _ => true,
        }
    }

    /// Whether so many operations more are worth it.
    fn may_go_on(&mut self, more: u64) -> bool {
        let measured = &mut self.measured;
        measured.lengthened += 1;
        let most = measured.limit.unwrap_or(0);
        measured.lengthened <= MOST_TIMES && self.tally.operations() + more <= most
    }

    /// One more acquisition, in a workload that ends after a number of them.
    pub(super) fn count_acquisition(&mut self, now: Ps) {
        let measured = &mut self.measured;
        let Some(each) = measured.each else { return };
        measured.acquisitions += 1;
        if measured.acquisitions % each == 0 && measured.marks.len() <= BATCHES {
            measured.marks.push(Mark {
                time: now,
                acquisitions: measured.acquisitions,
                ..Mark::default()
            });
        }
    }
}
